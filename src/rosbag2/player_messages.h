/* The messages of rosbag2_interfaces that concern a player, as C structs and their CDR types. */
#ifndef TB_ROSBAG2_PLAYER_MESSAGES_H
#define TB_ROSBAG2_PLAYER_MESSAGES_H

#include "wire/messages.h"

typedef struct tb__is_paused_response {
  bool paused;
} tb__is_paused_response_t;

typedef struct tb__success_response {
  bool success;
} tb__success_response_t;

typedef struct tb__rate_message {
  double rate;
} tb__rate_message_t;

typedef struct tb__burst_request {
  uint64_t num_messages;
} tb__burst_request_t;

typedef struct tb__burst_response {
  uint64_t actually_burst;
} tb__burst_response_t;

typedef struct tb__seek_request {
  tb__time_message_t time;
} tb__seek_request_t;

typedef struct tb__play_request {
  tb__time_message_t start_offset, playback_duration, playback_until_timestamp;
} tb__play_request_t;

typedef struct tb__split_event {
  const char *closed_file, *opened_file, *node_name;
} tb__split_event_t;

extern const tb__cdr_type_t tb__player_empty_type;
extern const tb__cdr_type_t tb__is_paused_response_type;
extern const tb__cdr_type_t tb__player_success_type; /* PlayNext, SetRate, Seek, Play */
extern const tb__cdr_type_t tb__player_rate_type;    /* GetRate_Response, SetRate_Request */
extern const tb__cdr_type_t tb__burst_request_type, tb__burst_response_type;
extern const tb__cdr_type_t tb__seek_request_type, tb__play_request_type;
extern const tb__cdr_type_t tb__split_event_type; /* ReadSplitEvent, WriteSplitEvent */

#endif

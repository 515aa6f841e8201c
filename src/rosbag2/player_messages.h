/* The messages of rosbag2_interfaces that a player and a recorder exchange, as C structs and their
 * CDR types. */
#ifndef TB_ROSBAG2_PLAYER_MESSAGES_H
#define TB_ROSBAG2_PLAYER_MESSAGES_H

#include <timebase/ros2_service.h>

#include "wire/messages.h"

typedef struct tb__is_paused_response {
  bool paused;
} tb__is_paused_response_t;

/* std_srvs/srv/Trigger */
typedef struct tb__trigger_response {
  bool success;
  const char *message;
} tb__trigger_response_t;

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
  tb__time_message_t start_time; /* of rolling; 0: at once */
} tb__play_request_t;

/* Resume and SplitBagfile of rolling: resume_time or split_time and so on; zeros where the request
 * is in an older form. */
typedef struct tb__timed_request {
  uint8_t structure_needs_at_least_one_member; /* the only field of the oldest form */
  tb__time_message_t time;                     /* 0: at once */
  int32_t mode;
  const char *tracking_topic_name;
} tb__timed_request_t;

/* Modes: times of the node, of publishing, of receiving. */
#define TB__TIMED_REQUEST_MODES 3

typedef struct tb__result_response {
  int32_t return_code; /* 0: done */
  const char *error_string;
} tb__result_response_t;

typedef struct tb__split_event {
  const char *closed_file, *opened_file, *node_name;
} tb__split_event_t;

/* Codes of results other than 0. */
#define TB__STOP_FAILED         1 /* also: it was stopped already */
#define TB__PLAY_FAILED         1
#define TB__RESUME_INVALID_MODE 1
#define TB__RESUME_FAILED       3
#define TB__SPLIT_NOT_RECORDING 1
#define TB__SPLIT_INVALID_MODE  2
#define TB__SPLIT_FAILED        4

extern const tb__cdr_type_t tb__player_empty_type;
extern const tb__cdr_type_t tb__is_paused_response_type;
extern const tb__cdr_type_t tb__trigger_response_type;
extern const tb__cdr_type_t tb__player_success_type; /* PlayNext, SetRate, Seek, Play */
extern const tb__cdr_type_t tb__player_rate_type;    /* GetRate_Response, SetRate_Request */
extern const tb__cdr_type_t tb__burst_request_type, tb__burst_response_type;
extern const tb__cdr_type_t tb__seek_request_type, tb__play_request_type;
extern const tb__cdr_type_t tb__untimed_request_type; /* Resume and SplitBagfile of jazzy */
extern const tb__cdr_type_t tb__result_response_type; /* Stop, Resume and SplitBagfile of rolling */
extern const tb__cdr_type_t tb__split_event_type;     /* ReadSplitEvent, WriteSplitEvent */

/* Rolling has added fields to Stop, Resume, SplitBagfile and Play; in jazzy the first three have
 * none. A form is one definition of a service; lists of them begin with the newest and end with
 * zeros. */
typedef struct tb__service_form {
  const tb__cdr_type_t *request, *response;
  const char *response_hash; /* what its clients announce; NULL: the request shows the form */
} tb__service_form_t;

extern const tb__service_form_t tb__stop_forms[], tb__timed_forms[], tb__play_forms[];

/* Decodes a request in the newest form that fits: a new struct, to be freed, and the type of the
 * response. A client on Fast DDS refuses a response that is larger than its form of it, so the
 * newest form is not for all: `response_hash` is the client's, NULL if that announces none. What
 * tb__cdr_decode returns for the oldest form. */
TB_WARN_UNUSED tb_status_t tb__service_form_decode(const tb__service_form_t *forms,
                                                   const tb_ros2_request_t *request,
                                                   void *out_request,
                                                   const tb__cdr_type_t **out_response);

#endif

#include "rosbag2/player_messages.h"

#include "wire/message_tables.h"

#define SERVICE "rosbag2_interfaces/srv/"

const tb__cdr_type_t tb__player_empty_type =
    TYPE(SERVICE "Pause_Request", tb__empty_message_t, tb__empty_message_fields);

static const tb__cdr_field_t paused_fields[] = {
    BOOL(tb__is_paused_response_t, paused),
};
const tb__cdr_type_t tb__is_paused_response_type =
    TYPE(SERVICE "IsPaused_Response", tb__is_paused_response_t, paused_fields);

static const tb__cdr_field_t success_fields[] = {
    BOOL(tb__success_response_t, success),
};
const tb__cdr_type_t tb__player_success_type =
    TYPE(SERVICE "Seek_Response", tb__success_response_t, success_fields);

static const tb__cdr_field_t rate_fields[] = {
    FLOAT(tb__rate_message_t, rate),
};
const tb__cdr_type_t tb__player_rate_type =
    TYPE(SERVICE "SetRate_Request", tb__rate_message_t, rate_fields);

static const tb__cdr_field_t burst_request_fields[] = {
    UINT(tb__burst_request_t, num_messages),
};
const tb__cdr_type_t tb__burst_request_type =
    TYPE(SERVICE "Burst_Request", tb__burst_request_t, burst_request_fields);

static const tb__cdr_field_t burst_response_fields[] = {
    UINT(tb__burst_response_t, actually_burst),
};
const tb__cdr_type_t tb__burst_response_type =
    TYPE(SERVICE "Burst_Response", tb__burst_response_t, burst_response_fields);

static const tb__cdr_field_t seek_fields[] = {
    STRUCT(tb__seek_request_t, time, &tb__time_message_type),
};
const tb__cdr_type_t tb__seek_request_type =
    TYPE(SERVICE "Seek_Request", tb__seek_request_t, seek_fields);

static const tb__cdr_field_t play_fields[] = {
    STRUCT(tb__play_request_t, start_offset, &tb__time_message_type),
    STRUCT(tb__play_request_t, playback_duration, &tb__time_message_type),
    STRUCT(tb__play_request_t, playback_until_timestamp, &tb__time_message_type),
};
const tb__cdr_type_t tb__play_request_type =
    TYPE(SERVICE "Play_Request", tb__play_request_t, play_fields);

static const tb__cdr_field_t split_fields[] = {
    STRING(tb__split_event_t, closed_file, 0),
    STRING(tb__split_event_t, opened_file, 0),
    STRING(tb__split_event_t, node_name, 0),
};
const tb__cdr_type_t tb__split_event_type =
    TYPE("rosbag2_interfaces/msg/ReadSplitEvent", tb__split_event_t, split_fields);

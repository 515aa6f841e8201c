#include "rosbag2/player_messages.h"

#include <string.h>

#include "wire/message_tables.h"

#define SERVICE "rosbag2_interfaces/srv/"

const tb__cdr_type_t tb__player_empty_type =
    TYPE(SERVICE "Pause_Request", tb__empty_message_t, tb__empty_message_fields);

static const tb__cdr_field_t paused_fields[] = {
    BOOL(tb__is_paused_response_t, paused),
};
const tb__cdr_type_t tb__is_paused_response_type =
    TYPE(SERVICE "IsPaused_Response", tb__is_paused_response_t, paused_fields);

static const tb__cdr_field_t trigger_fields[] = {
    BOOL(tb__trigger_response_t, success),
    STRING(tb__trigger_response_t, message, 0),
};
const tb__cdr_type_t tb__trigger_response_type =
    TYPE("std_srvs/srv/Trigger_Response", tb__trigger_response_t, trigger_fields);

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

static const tb__cdr_field_t timed_play_fields[] = {
    STRUCT(tb__play_request_t, start_time, &tb__time_message_type),
    STRUCT(tb__play_request_t, start_offset, &tb__time_message_type),
    STRUCT(tb__play_request_t, playback_duration, &tb__time_message_type),
    STRUCT(tb__play_request_t, playback_until_timestamp, &tb__time_message_type),
};
static const tb__cdr_type_t timed_play_request_type =
    TYPE(SERVICE "Play_Request", tb__play_request_t, timed_play_fields);

static const tb__cdr_field_t untimed_fields[] = {
    UINT(tb__timed_request_t, structure_needs_at_least_one_member),
};
const tb__cdr_type_t tb__untimed_request_type =
    TYPE(SERVICE "Resume_Request", tb__timed_request_t, untimed_fields);

static const tb__cdr_field_t time_fields[] = {
    STRUCT(tb__timed_request_t, time, &tb__time_message_type),
};
static const tb__cdr_type_t time_request_type =
    TYPE(SERVICE "Resume_Request", tb__timed_request_t, time_fields);

static const tb__cdr_field_t timed_fields[] = {
    STRUCT(tb__timed_request_t, time, &tb__time_message_type),
    INT(tb__timed_request_t, mode),
    STRING(tb__timed_request_t, tracking_topic_name, 0),
};
static const tb__cdr_type_t timed_request_type =
    TYPE(SERVICE "Resume_Request", tb__timed_request_t, timed_fields);

static const tb__cdr_field_t result_fields[] = {
    INT(tb__result_response_t, return_code),
    STRING(tb__result_response_t, error_string, 0),
};
const tb__cdr_type_t tb__result_response_type =
    TYPE(SERVICE "Stop_Response", tb__result_response_t, result_fields);

static const tb__cdr_field_t split_fields[] = {
    STRING(tb__split_event_t, closed_file, 0),
    STRING(tb__split_event_t, opened_file, 0),
    STRING(tb__split_event_t, node_name, 0),
};
const tb__cdr_type_t tb__split_event_type =
    TYPE("rosbag2_interfaces/msg/ReadSplitEvent", tb__split_event_t, split_fields);

const tb__service_form_t tb__stop_forms[] = {
    {&tb__player_empty_type, &tb__result_response_type,
     "RIHS01_983be924a9344f450ec0b34695bab924df6f01a7380084a239f5748614c18a04"},
    {&tb__player_empty_type, &tb__player_empty_type, NULL},
    {NULL, NULL, NULL},
};

const tb__service_form_t tb__play_forms[] = {
    {&timed_play_request_type, &tb__result_response_type, NULL},
    {&tb__play_request_type, &tb__player_success_type, NULL},
    {NULL, NULL, NULL},
};

/* Rolling had the time alone for a while; such clients read the first byte of the response. */
const tb__service_form_t tb__timed_forms[] = {
    {&timed_request_type, &tb__result_response_type, NULL},
    {&time_request_type, &tb__result_response_type, NULL},
    {&tb__untimed_request_type, &tb__player_empty_type, NULL},
    {NULL, NULL, NULL},
};

tb_status_t tb__service_form_decode(const tb__service_form_t *forms,
                                    const tb_ros2_request_t *request, void *out_request,
                                    const tb__cdr_type_t **out_response)
{
  const char *hash = request->response_type_hash;
  tb_status_t status = TB_ERR_INVALID;
  for (; forms->request; forms++) {
    if (forms->response_hash && (!hash || strcmp(forms->response_hash, hash) != 0)) continue;
    status = tb__cdr_decode(forms->request, request->cdr, request->size, out_request);
    *out_response = forms->response;
    if (!status || status == TB_ERR_NO_MEMORY) return status;
  }
  return status;
}

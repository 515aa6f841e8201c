/* lifecycle_msgs */
#include "wire/message_tables.h"

#define SERVICE "lifecycle_msgs/srv/"
#define MESSAGE "lifecycle_msgs/msg/"

/* State and Transition have the same fields. */
static const tb__cdr_field_t label_fields[] = {
    UINT(tb__lifecycle_label_t, id),
    STRING(tb__lifecycle_label_t, label, 0),
};
static const tb__cdr_type_t state_type = TYPE(MESSAGE "State", tb__lifecycle_label_t, label_fields);
static const tb__cdr_type_t transition_type =
    TYPE(MESSAGE "Transition", tb__lifecycle_label_t, label_fields);

static const tb__cdr_field_t description_fields[] = {
    STRUCT(tb__transition_description_t, transition, &transition_type),
    STRUCT(tb__transition_description_t, start_state, &state_type),
    STRUCT(tb__transition_description_t, goal_state, &state_type),
};
static const tb__cdr_type_t description_type =
    TYPE(MESSAGE "TransitionDescription", tb__transition_description_t, description_fields);

static const tb__cdr_field_t event_fields[] = {
    UINT(tb__transition_event_t, timestamp),
    STRUCT(tb__transition_event_t, transition, &transition_type),
    STRUCT(tb__transition_event_t, start_state, &state_type),
    STRUCT(tb__transition_event_t, goal_state, &state_type),
};
const tb__cdr_type_t tb__transition_event_type =
    TYPE(MESSAGE "TransitionEvent", tb__transition_event_t, event_fields);

static const tb__cdr_field_t change_state_request_fields[] = {
    STRUCT(tb__change_state_request_t, transition, &transition_type),
};
const tb__cdr_type_t tb__change_state_request_type =
    TYPE(SERVICE "ChangeState_Request", tb__change_state_request_t, change_state_request_fields);
static const tb__cdr_field_t change_state_response_fields[] = {
    BOOL(tb__change_state_response_t, success),
};
const tb__cdr_type_t tb__change_state_response_type =
    TYPE(SERVICE "ChangeState_Response", tb__change_state_response_t, change_state_response_fields);

const tb__cdr_type_t tb__get_state_request_type =
    TYPE(SERVICE "GetState_Request", tb__empty_message_t, tb__empty_message_fields);
static const tb__cdr_field_t get_state_response_fields[] = {
    STRUCT(tb__get_state_response_t, current_state, &state_type),
};
const tb__cdr_type_t tb__get_state_response_type =
    TYPE(SERVICE "GetState_Response", tb__get_state_response_t, get_state_response_fields);

const tb__cdr_type_t tb__get_available_states_request_type =
    TYPE(SERVICE "GetAvailableStates_Request", tb__empty_message_t, tb__empty_message_fields);
static const tb__cdr_field_t states_fields[] = {
    LIST(tb__get_available_states_response_t, available_states, TB__CDR_STRUCT, 0, &state_type),
};
const tb__cdr_type_t tb__get_available_states_response_type =
    TYPE(SERVICE "GetAvailableStates_Response", tb__get_available_states_response_t, states_fields);

const tb__cdr_type_t tb__get_available_transitions_request_type =
    TYPE(SERVICE "GetAvailableTransitions_Request", tb__empty_message_t, tb__empty_message_fields);
static const tb__cdr_field_t transitions_fields[] = {
    LIST(tb__get_available_transitions_response_t, available_transitions, TB__CDR_STRUCT, 0,
         &description_type),
};
const tb__cdr_type_t tb__get_available_transitions_response_type =
    TYPE(SERVICE "GetAvailableTransitions_Response", tb__get_available_transitions_response_t,
         transitions_fields);

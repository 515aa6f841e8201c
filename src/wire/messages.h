/* The ROS 2 messages and services that nodes exchange, as C structs and their CDR types
 * (cdr_type.h). Fields have the names of ROS. In received messages fields may have any value: only
 * lengths are checked. */
#ifndef TB_ROS2_MESSAGES_H
#define TB_ROS2_MESSAGES_H

#include "wire/cdr_type.h"

typedef TB__CDR_SEQUENCE(const char *) tb__strings_t;
typedef TB__CDR_SEQUENCE(bool) tb__bools_t;
typedef TB__CDR_SEQUENCE(uint8_t) tb__octets_t;
typedef TB__CDR_SEQUENCE(uint16_t) tb__uint16s_t;
typedef TB__CDR_SEQUENCE(int64_t) tb__int64s_t;
typedef TB__CDR_SEQUENCE(double) tb__doubles_t;

/* A message without fields has one byte on the wire. */
typedef struct tb__empty_message {
  uint8_t structure_needs_at_least_one_member;
} tb__empty_message_t;
extern TB_PRIVATE_API const tb__cdr_field_t tb__empty_message_fields[1];

/* builtin_interfaces/msg/Time, in its wire form. */
typedef struct tb__time_message {
  int32_t sec;
  uint32_t nanosec;
} tb__time_message_t;
extern TB_PRIVATE_API const tb__cdr_type_t tb__time_message_type;

/* std_msgs/msg/Header */
typedef struct tb__header_message {
  tb__time_message_t stamp;
  const char *frame_id;
} tb__header_message_t;

/* diagnostic_msgs */
typedef struct tb__key_value {
  const char *key, *value;
} tb__key_value_t;

typedef struct tb__diagnostic_status {
  uint8_t level; /* as tb_level_t */
  const char *name, *message, *hardware_id;
  TB__CDR_SEQUENCE(tb__key_value_t) values;
} tb__diagnostic_status_t;

typedef struct tb__diagnostic_array {
  tb__header_message_t header;
  TB__CDR_SEQUENCE(tb__diagnostic_status_t) status;
} tb__diagnostic_array_t;

/* statistics_msgs */
enum {
  TB__STATISTIC_AVERAGE = 1,
  TB__STATISTIC_MINIMUM,
  TB__STATISTIC_MAXIMUM,
  TB__STATISTIC_DEVIATION,
  TB__STATISTIC_COUNT,
};

typedef struct tb__statistic_data_point {
  uint8_t data_type;
  double data; /* NaN: none */
} tb__statistic_data_point_t;

typedef struct tb__metrics_message {
  const char *measurement_source_name, *metrics_source, *unit;
  tb__time_message_t window_start, window_stop;
  TB__CDR_SEQUENCE(tb__statistic_data_point_t) statistics;
} tb__metrics_message_t;

/* rcl_interfaces/msg/ParameterType */
enum {
  TB__PARAMETER_NOT_SET,
  TB__PARAMETER_BOOL,
  TB__PARAMETER_INTEGER,
  TB__PARAMETER_DOUBLE,
  TB__PARAMETER_STRING,
  TB__PARAMETER_BYTE_ARRAY,
  TB__PARAMETER_BOOL_ARRAY,
  TB__PARAMETER_INTEGER_ARRAY,
  TB__PARAMETER_DOUBLE_ARRAY,
  TB__PARAMETER_STRING_ARRAY,
};

/* All fields are sent, whatever the `type`. */
typedef struct tb__parameter_value {
  uint8_t type;
  bool bool_value;
  int64_t integer_value;
  double double_value;
  const char *string_value;
  tb__octets_t byte_array_value;
  tb__bools_t bool_array_value;
  tb__int64s_t integer_array_value;
  tb__doubles_t double_array_value;
  tb__strings_t string_array_value;
} tb__parameter_value_t;

typedef struct tb__parameter {
  const char *name;
  tb__parameter_value_t value;
} tb__parameter_t;

typedef TB__CDR_SEQUENCE(tb__parameter_t) tb__parameters_t;

typedef struct tb__parameter_event {
  tb__time_message_t stamp;
  const char *node; /* full name */
  tb__parameters_t new_parameters;
  tb__parameters_t changed_parameters;
  tb__parameters_t deleted_parameters;
} tb__parameter_event_t;

typedef struct tb__floating_point_range {
  double from_value, to_value, step;
} tb__floating_point_range_t;

typedef struct tb__integer_range {
  int64_t from_value, to_value;
  uint64_t step;
} tb__integer_range_t;

typedef struct tb__parameter_descriptor {
  const char *name;
  uint8_t type;
  const char *description;
  const char *additional_constraints;
  bool read_only;
  bool dynamic_typing;
  TB__CDR_SEQUENCE(tb__floating_point_range_t) floating_point_range; /* at most 1 */
  TB__CDR_SEQUENCE(tb__integer_range_t) integer_range;               /* at most 1 */
} tb__parameter_descriptor_t;

typedef struct tb__set_parameters_result {
  bool successful;
  const char *reason;
} tb__set_parameters_result_t;

typedef struct tb__list_parameters_result {
  tb__strings_t names;
  tb__strings_t prefixes;
} tb__list_parameters_result_t;

/* Requests and responses of rcl_interfaces/srv. Three requests are a list of names, two are a list
 * of parameters. */
typedef struct tb__names_request {
  tb__strings_t names;
} tb__names_request_t;

typedef struct tb__parameters_request {
  tb__parameters_t parameters;
} tb__parameters_request_t;

typedef struct tb__list_parameters_request {
  tb__strings_t prefixes;
  uint64_t depth; /* 0: all levels */
} tb__list_parameters_request_t;

typedef struct tb__get_parameters_response {
  TB__CDR_SEQUENCE(tb__parameter_value_t) values;
} tb__get_parameters_response_t;

typedef struct tb__get_parameter_types_response {
  tb__octets_t types;
} tb__get_parameter_types_response_t;

typedef struct tb__set_parameters_response {
  TB__CDR_SEQUENCE(tb__set_parameters_result_t) results;
} tb__set_parameters_response_t;

typedef struct tb__set_parameters_atomically_response {
  tb__set_parameters_result_t result;
} tb__set_parameters_atomically_response_t;

typedef struct tb__describe_parameters_response {
  TB__CDR_SEQUENCE(tb__parameter_descriptor_t) descriptors;
} tb__describe_parameters_response_t;

typedef struct tb__list_parameters_response {
  tb__list_parameters_result_t result;
} tb__list_parameters_response_t;

/* rmw_dds_common. A gid has 16 bytes on the wire since iron, before that 24, the last 8 of them 0.
 */
typedef struct tb__gid {
  uint8_t data[24];
} tb__gid_t;

typedef TB__CDR_SEQUENCE(tb__gid_t) tb__gids_t;

typedef struct tb__node_entities_info {
  const char *node_namespace; /* at most 256 characters, as the name */
  const char *node_name;
  tb__gids_t reader_gid_seq;
  tb__gids_t writer_gid_seq;
} tb__node_entities_info_t;

typedef struct tb__participant_entities_info {
  tb__gid_t gid;
  TB__CDR_SEQUENCE(tb__node_entities_info_t) node_entities_info_seq;
} tb__participant_entities_info_t;

/* simulation_interfaces */
enum {
  TB__SIMULATION_STOPPED,
  TB__SIMULATION_PLAYING,
  TB__SIMULATION_PAUSED,
  TB__SIMULATION_QUITTING,
  TB__SIMULATION_NO_WORLD,
  TB__SIMULATION_LOADING_WORLD,
};

enum {
  TB__RESULT_FEATURE_UNSUPPORTED,
  TB__RESULT_OK,
  TB__RESULT_NOT_FOUND,
  TB__RESULT_INCORRECT_STATE,
  TB__RESULT_OPERATION_FAILED,
  TB__RESULT_ALREADY_IN_TARGET_STATE = 101, /* SetSimulationState */
  TB__RESULT_STATE_TRANSITION_ERROR = 102,
  TB__RESULT_INCORRECT_TRANSITION = 103,
};

typedef struct tb__simulation_result {
  uint8_t result;
  const char *error_message;
} tb__simulation_result_t;

typedef struct tb__simulation_state {
  uint8_t state;
} tb__simulation_state_t;

typedef struct tb__simulator_features {
  tb__uint16s_t features;
  tb__strings_t spawn_formats;
  const char *custom_info;
} tb__simulator_features_t;

typedef struct tb__get_simulator_features_response {
  tb__simulator_features_t features;
} tb__get_simulator_features_response_t;

typedef struct tb__get_simulation_state_response {
  tb__simulation_state_t state;
  tb__simulation_result_t result;
} tb__get_simulation_state_response_t;

typedef struct tb__set_simulation_state_request {
  tb__simulation_state_t state;
} tb__set_simulation_state_request_t;

typedef struct tb__step_simulation_request {
  uint64_t steps;
} tb__step_simulation_request_t;

typedef struct tb__reset_simulation_request {
  uint8_t scope;
} tb__reset_simulation_request_t;

/* The response of SetSimulationState, StepSimulation and ResetSimulation. */
typedef struct tb__simulation_response {
  tb__simulation_result_t result;
} tb__simulation_response_t;

/* lifecycle_msgs: a state or a transition */
typedef struct tb__lifecycle_label {
  uint8_t id;
  const char *label;
} tb__lifecycle_label_t;

typedef struct tb__transition_description {
  tb__lifecycle_label_t transition;
  tb__lifecycle_label_t start_state;
  tb__lifecycle_label_t goal_state;
} tb__transition_description_t;

typedef struct tb__transition_event {
  uint64_t timestamp;
  tb__lifecycle_label_t transition;
  tb__lifecycle_label_t start_state;
  tb__lifecycle_label_t goal_state;
} tb__transition_event_t;

typedef struct tb__change_state_request {
  tb__lifecycle_label_t transition;
} tb__change_state_request_t;

typedef struct tb__change_state_response {
  bool success;
} tb__change_state_response_t;

typedef struct tb__get_state_response {
  tb__lifecycle_label_t current_state;
} tb__get_state_response_t;

typedef struct tb__get_available_states_response {
  TB__CDR_SEQUENCE(tb__lifecycle_label_t) available_states;
} tb__get_available_states_response_t;

/* Also that of ~/get_transition_graph. */
typedef struct tb__get_available_transitions_response {
  TB__CDR_SEQUENCE(tb__transition_description_t) available_transitions;
} tb__get_available_transitions_response_t;

/* Name in C, ROS name, C struct. */
#define TB__MESSAGE_LIST(X)                                                                        \
  X(parameter_event, "rcl_interfaces/msg/ParameterEvent", tb__parameter_event_t)                   \
  X(get_parameters_request, "rcl_interfaces/srv/GetParameters_Request", tb__names_request_t)       \
  X(get_parameters_response, "rcl_interfaces/srv/GetParameters_Response",                          \
    tb__get_parameters_response_t)                                                                 \
  X(diagnostic_array, "diagnostic_msgs/msg/DiagnosticArray", tb__diagnostic_array_t)               \
  X(metrics_message, "statistics_msgs/msg/MetricsMessage", tb__metrics_message_t)                  \
  X(get_parameter_types_request, "rcl_interfaces/srv/GetParameterTypes_Request",                   \
    tb__names_request_t)                                                                           \
  X(get_parameter_types_response, "rcl_interfaces/srv/GetParameterTypes_Response",                 \
    tb__get_parameter_types_response_t)                                                            \
  X(set_parameters_request, "rcl_interfaces/srv/SetParameters_Request", tb__parameters_request_t)  \
  X(set_parameters_response, "rcl_interfaces/srv/SetParameters_Response",                          \
    tb__set_parameters_response_t)                                                                 \
  X(set_parameters_atomically_request, "rcl_interfaces/srv/SetParametersAtomically_Request",       \
    tb__parameters_request_t)                                                                      \
  X(set_parameters_atomically_response, "rcl_interfaces/srv/SetParametersAtomically_Response",     \
    tb__set_parameters_atomically_response_t)                                                      \
  X(describe_parameters_request, "rcl_interfaces/srv/DescribeParameters_Request",                  \
    tb__names_request_t)                                                                           \
  X(describe_parameters_response, "rcl_interfaces/srv/DescribeParameters_Response",                \
    tb__describe_parameters_response_t)                                                            \
  X(list_parameters_request, "rcl_interfaces/srv/ListParameters_Request",                          \
    tb__list_parameters_request_t)                                                                 \
  X(list_parameters_response, "rcl_interfaces/srv/ListParameters_Response",                        \
    tb__list_parameters_response_t)                                                                \
  X(participant_entities_info, "rmw_dds_common/msg/ParticipantEntitiesInfo",                       \
    tb__participant_entities_info_t)                                                               \
  X(participant_entities_info_humble, "rmw_dds_common/msg/ParticipantEntitiesInfo",                \
    tb__participant_entities_info_t)                                                               \
  X(get_simulator_features_request, "simulation_interfaces/srv/GetSimulatorFeatures_Request",      \
    tb__empty_message_t)                                                                           \
  X(get_simulator_features_response, "simulation_interfaces/srv/GetSimulatorFeatures_Response",    \
    tb__get_simulator_features_response_t)                                                         \
  X(get_simulation_state_request, "simulation_interfaces/srv/GetSimulationState_Request",          \
    tb__empty_message_t)                                                                           \
  X(get_simulation_state_response, "simulation_interfaces/srv/GetSimulationState_Response",        \
    tb__get_simulation_state_response_t)                                                           \
  X(set_simulation_state_request, "simulation_interfaces/srv/SetSimulationState_Request",          \
    tb__set_simulation_state_request_t)                                                            \
  X(set_simulation_state_response, "simulation_interfaces/srv/SetSimulationState_Response",        \
    tb__simulation_response_t)                                                                     \
  X(step_simulation_request, "simulation_interfaces/srv/StepSimulation_Request",                   \
    tb__step_simulation_request_t)                                                                 \
  X(step_simulation_response, "simulation_interfaces/srv/StepSimulation_Response",                 \
    tb__simulation_response_t)                                                                     \
  X(reset_simulation_request, "simulation_interfaces/srv/ResetSimulation_Request",                 \
    tb__reset_simulation_request_t)                                                                \
  X(reset_simulation_response, "simulation_interfaces/srv/ResetSimulation_Response",               \
    tb__simulation_response_t)                                                                     \
  X(transition_event, "lifecycle_msgs/msg/TransitionEvent", tb__transition_event_t)                \
  X(change_state_request, "lifecycle_msgs/srv/ChangeState_Request", tb__change_state_request_t)    \
  X(change_state_response, "lifecycle_msgs/srv/ChangeState_Response", tb__change_state_response_t) \
  X(get_state_request, "lifecycle_msgs/srv/GetState_Request", tb__empty_message_t)                 \
  X(get_state_response, "lifecycle_msgs/srv/GetState_Response", tb__get_state_response_t)          \
  X(get_available_states_request, "lifecycle_msgs/srv/GetAvailableStates_Request",                 \
    tb__empty_message_t)                                                                           \
  X(get_available_states_response, "lifecycle_msgs/srv/GetAvailableStates_Response",               \
    tb__get_available_states_response_t)                                                           \
  X(get_available_transitions_request, "lifecycle_msgs/srv/GetAvailableTransitions_Request",       \
    tb__empty_message_t)                                                                           \
  X(get_available_transitions_response, "lifecycle_msgs/srv/GetAvailableTransitions_Response",     \
    tb__get_available_transitions_response_t)

/* tb__parameter_event_type and so on. */
#define TB__MESSAGE_DECLARE(name, ros_name, struct_type)                                           \
  extern const tb__cdr_type_t tb__##name##_type;
TB__MESSAGE_LIST(TB__MESSAGE_DECLARE)
#undef TB__MESSAGE_DECLARE

extern const tb__cdr_type_t tb__parameter_value_type; /* rcl_interfaces/msg/ParameterValue */

/* A sample of ros_discovery_info in either form, as *out_humble reports. Errors as tb__cdr_decode,
 * for the newer form. */
TB_WARN_UNUSED tb_status_t tb__participant_entities_info_decode(
    const void *cdr, size_t size, tb__participant_entities_info_t **out, bool *out_humble);

#endif

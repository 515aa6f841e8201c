/* simulation_interfaces */
#include "wire/message_tables.h"

#define SERVICE "simulation_interfaces/srv/"
#define MESSAGE "simulation_interfaces/msg/"

const tb__cdr_type_t tb__get_simulator_features_request_type =
    TYPE(SERVICE "GetSimulatorFeatures_Request", tb__empty_message_t, tb__empty_message_fields);
const tb__cdr_type_t tb__get_simulation_state_request_type =
    TYPE(SERVICE "GetSimulationState_Request", tb__empty_message_t, tb__empty_message_fields);

static const tb__cdr_field_t result_fields[] = {
    UINT(tb__simulation_result_t, result),
    STRING(tb__simulation_result_t, error_message, 0),
};
static const tb__cdr_type_t result_type =
    TYPE(MESSAGE "Result", tb__simulation_result_t, result_fields);

static const tb__cdr_field_t state_fields[] = {
    UINT(tb__simulation_state_t, state),
};
static const tb__cdr_type_t state_type =
    TYPE(MESSAGE "SimulationState", tb__simulation_state_t, state_fields);

static const tb__cdr_field_t features_fields[] = {
    LIST(tb__simulator_features_t, features, TB__CDR_UINT, 0, NULL),
    LIST(tb__simulator_features_t, spawn_formats, TB__CDR_STRING, 0, NULL),
    STRING(tb__simulator_features_t, custom_info, 0),
};
static const tb__cdr_type_t features_type =
    TYPE(MESSAGE "SimulatorFeatures", tb__simulator_features_t, features_fields);

static const tb__cdr_field_t features_response_fields[] = {
    STRUCT(tb__get_simulator_features_response_t, features, &features_type),
};
const tb__cdr_type_t tb__get_simulator_features_response_type =
    TYPE(SERVICE "GetSimulatorFeatures_Response", tb__get_simulator_features_response_t,
         features_response_fields);

static const tb__cdr_field_t get_state_response_fields[] = {
    STRUCT(tb__get_simulation_state_response_t, state, &state_type),
    STRUCT(tb__get_simulation_state_response_t, result, &result_type),
};
const tb__cdr_type_t tb__get_simulation_state_response_type =
    TYPE(SERVICE "GetSimulationState_Response", tb__get_simulation_state_response_t,
         get_state_response_fields);

static const tb__cdr_field_t set_state_request_fields[] = {
    STRUCT(tb__set_simulation_state_request_t, state, &state_type),
};
const tb__cdr_type_t tb__set_simulation_state_request_type =
    TYPE(SERVICE "SetSimulationState_Request", tb__set_simulation_state_request_t,
         set_state_request_fields);

static const tb__cdr_field_t step_request_fields[] = {
    UINT(tb__step_simulation_request_t, steps),
};
const tb__cdr_type_t tb__step_simulation_request_type =
    TYPE(SERVICE "StepSimulation_Request", tb__step_simulation_request_t, step_request_fields);

static const tb__cdr_field_t reset_request_fields[] = {
    UINT(tb__reset_simulation_request_t, scope),
};
const tb__cdr_type_t tb__reset_simulation_request_type =
    TYPE(SERVICE "ResetSimulation_Request", tb__reset_simulation_request_t, reset_request_fields);

static const tb__cdr_field_t response_fields[] = {
    STRUCT(tb__simulation_response_t, result, &result_type),
};
const tb__cdr_type_t tb__set_simulation_state_response_type =
    TYPE(SERVICE "SetSimulationState_Response", tb__simulation_response_t, response_fields);
const tb__cdr_type_t tb__step_simulation_response_type =
    TYPE(SERVICE "StepSimulation_Response", tb__simulation_response_t, response_fields);
const tb__cdr_type_t tb__reset_simulation_response_type =
    TYPE(SERVICE "ResetSimulation_Response", tb__simulation_response_t, response_fields);

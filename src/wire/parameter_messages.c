/* rcl_interfaces */
#include "wire/message_tables.h"

static const tb__cdr_field_t value_fields[] = {
    UINT(tb__parameter_value_t, type),
    BOOL(tb__parameter_value_t, bool_value),
    INT(tb__parameter_value_t, integer_value),
    FLOAT(tb__parameter_value_t, double_value),
    STRING(tb__parameter_value_t, string_value, 0),
    LIST(tb__parameter_value_t, byte_array_value, TB__CDR_UINT, 0, NULL),
    LIST(tb__parameter_value_t, bool_array_value, TB__CDR_BOOL, 0, NULL),
    LIST(tb__parameter_value_t, integer_array_value, TB__CDR_INT, 0, NULL),
    LIST(tb__parameter_value_t, double_array_value, TB__CDR_FLOAT, 0, NULL),
    LIST(tb__parameter_value_t, string_array_value, TB__CDR_STRING, 0, NULL),
};
const tb__cdr_type_t tb__parameter_value_type =
    TYPE("rcl_interfaces/msg/ParameterValue", tb__parameter_value_t, value_fields);

static const tb__cdr_field_t parameter_fields[] = {
    STRING(tb__parameter_t, name, 0),
    STRUCT(tb__parameter_t, value, &tb__parameter_value_type),
};
static const tb__cdr_type_t parameter_type =
    TYPE("rcl_interfaces/msg/Parameter", tb__parameter_t, parameter_fields);

static const tb__cdr_field_t event_fields[] = {
    STRUCT(tb__parameter_event_t, stamp, &tb__time_message_type),
    STRING(tb__parameter_event_t, node, 0),
    LIST(tb__parameter_event_t, new_parameters, TB__CDR_STRUCT, 0, &parameter_type),
    LIST(tb__parameter_event_t, changed_parameters, TB__CDR_STRUCT, 0, &parameter_type),
    LIST(tb__parameter_event_t, deleted_parameters, TB__CDR_STRUCT, 0, &parameter_type),
};
const tb__cdr_type_t tb__parameter_event_type =
    TYPE("rcl_interfaces/msg/ParameterEvent", tb__parameter_event_t, event_fields);

static const tb__cdr_field_t floating_point_range_fields[] = {
    FLOAT(tb__floating_point_range_t, from_value),
    FLOAT(tb__floating_point_range_t, to_value),
    FLOAT(tb__floating_point_range_t, step),
};
static const tb__cdr_type_t floating_point_range_type =
    TYPE("rcl_interfaces/msg/FloatingPointRange", tb__floating_point_range_t,
         floating_point_range_fields);

static const tb__cdr_field_t integer_range_fields[] = {
    INT(tb__integer_range_t, from_value),
    INT(tb__integer_range_t, to_value),
    UINT(tb__integer_range_t, step),
};
static const tb__cdr_type_t integer_range_type =
    TYPE("rcl_interfaces/msg/IntegerRange", tb__integer_range_t, integer_range_fields);

static const tb__cdr_field_t descriptor_fields[] = {
    STRING(tb__parameter_descriptor_t, name, 0),
    UINT(tb__parameter_descriptor_t, type),
    STRING(tb__parameter_descriptor_t, description, 0),
    STRING(tb__parameter_descriptor_t, additional_constraints, 0),
    BOOL(tb__parameter_descriptor_t, read_only),
    BOOL(tb__parameter_descriptor_t, dynamic_typing),
    LIST(tb__parameter_descriptor_t, floating_point_range, TB__CDR_STRUCT, 1,
         &floating_point_range_type),
    LIST(tb__parameter_descriptor_t, integer_range, TB__CDR_STRUCT, 1, &integer_range_type),
};
static const tb__cdr_type_t descriptor_type =
    TYPE("rcl_interfaces/msg/ParameterDescriptor", tb__parameter_descriptor_t, descriptor_fields);

static const tb__cdr_field_t set_result_fields[] = {
    BOOL(tb__set_parameters_result_t, successful),
    STRING(tb__set_parameters_result_t, reason, 0),
};
static const tb__cdr_type_t set_result_type =
    TYPE("rcl_interfaces/msg/SetParametersResult", tb__set_parameters_result_t, set_result_fields);

static const tb__cdr_field_t list_result_fields[] = {
    LIST(tb__list_parameters_result_t, names, TB__CDR_STRING, 0, NULL),
    LIST(tb__list_parameters_result_t, prefixes, TB__CDR_STRING, 0, NULL),
};
static const tb__cdr_type_t list_result_type = TYPE(
    "rcl_interfaces/msg/ListParametersResult", tb__list_parameters_result_t, list_result_fields);

static const tb__cdr_field_t names_fields[] = {
    LIST(tb__names_request_t, names, TB__CDR_STRING, 0, NULL),
};
const tb__cdr_type_t tb__get_parameters_request_type =
    TYPE("rcl_interfaces/srv/GetParameters_Request", tb__names_request_t, names_fields);
const tb__cdr_type_t tb__get_parameter_types_request_type =
    TYPE("rcl_interfaces/srv/GetParameterTypes_Request", tb__names_request_t, names_fields);
const tb__cdr_type_t tb__describe_parameters_request_type =
    TYPE("rcl_interfaces/srv/DescribeParameters_Request", tb__names_request_t, names_fields);

static const tb__cdr_field_t parameters_fields[] = {
    LIST(tb__parameters_request_t, parameters, TB__CDR_STRUCT, 0, &parameter_type),
};
const tb__cdr_type_t tb__set_parameters_request_type =
    TYPE("rcl_interfaces/srv/SetParameters_Request", tb__parameters_request_t, parameters_fields);
const tb__cdr_type_t tb__set_parameters_atomically_request_type =
    TYPE("rcl_interfaces/srv/SetParametersAtomically_Request", tb__parameters_request_t,
         parameters_fields);

static const tb__cdr_field_t list_request_fields[] = {
    LIST(tb__list_parameters_request_t, prefixes, TB__CDR_STRING, 0, NULL),
    UINT(tb__list_parameters_request_t, depth),
};
const tb__cdr_type_t tb__list_parameters_request_type =
    TYPE("rcl_interfaces/srv/ListParameters_Request", tb__list_parameters_request_t,
         list_request_fields);

static const tb__cdr_field_t get_response_fields[] = {
    LIST(tb__get_parameters_response_t, values, TB__CDR_STRUCT, 0, &tb__parameter_value_type),
};
const tb__cdr_type_t tb__get_parameters_response_type =
    TYPE("rcl_interfaces/srv/GetParameters_Response", tb__get_parameters_response_t,
         get_response_fields);

static const tb__cdr_field_t types_response_fields[] = {
    LIST(tb__get_parameter_types_response_t, types, TB__CDR_UINT, 0, NULL),
};
const tb__cdr_type_t tb__get_parameter_types_response_type =
    TYPE("rcl_interfaces/srv/GetParameterTypes_Response", tb__get_parameter_types_response_t,
         types_response_fields);

static const tb__cdr_field_t set_response_fields[] = {
    LIST(tb__set_parameters_response_t, results, TB__CDR_STRUCT, 0, &set_result_type),
};
const tb__cdr_type_t tb__set_parameters_response_type =
    TYPE("rcl_interfaces/srv/SetParameters_Response", tb__set_parameters_response_t,
         set_response_fields);

static const tb__cdr_field_t atomic_response_fields[] = {
    STRUCT(tb__set_parameters_atomically_response_t, result, &set_result_type),
};
const tb__cdr_type_t tb__set_parameters_atomically_response_type =
    TYPE("rcl_interfaces/srv/SetParametersAtomically_Response",
         tb__set_parameters_atomically_response_t, atomic_response_fields);

static const tb__cdr_field_t describe_response_fields[] = {
    LIST(tb__describe_parameters_response_t, descriptors, TB__CDR_STRUCT, 0, &descriptor_type),
};
const tb__cdr_type_t tb__describe_parameters_response_type =
    TYPE("rcl_interfaces/srv/DescribeParameters_Response", tb__describe_parameters_response_t,
         describe_response_fields);

static const tb__cdr_field_t list_response_fields[] = {
    STRUCT(tb__list_parameters_response_t, result, &list_result_type),
};
const tb__cdr_type_t tb__list_parameters_response_type =
    TYPE("rcl_interfaces/srv/ListParameters_Response", tb__list_parameters_response_t,
         list_response_fields);

/* diagnostic_msgs and statistics_msgs */
#include "wire/message_tables.h"

static const tb__cdr_field_t header_fields[] = {
    STRUCT(tb__header_message_t, stamp, &tb__time_message_type),
    STRING(tb__header_message_t, frame_id, 0),
};
static const tb__cdr_type_t header_type =
    TYPE("std_msgs/msg/Header", tb__header_message_t, header_fields);

static const tb__cdr_field_t key_value_fields[] = {
    STRING(tb__key_value_t, key, 0),
    STRING(tb__key_value_t, value, 0),
};
static const tb__cdr_type_t key_value_type =
    TYPE("diagnostic_msgs/msg/KeyValue", tb__key_value_t, key_value_fields);

static const tb__cdr_field_t status_fields[] = {
    UINT(tb__diagnostic_status_t, level),
    STRING(tb__diagnostic_status_t, name, 0),
    STRING(tb__diagnostic_status_t, message, 0),
    STRING(tb__diagnostic_status_t, hardware_id, 0),
    LIST(tb__diagnostic_status_t, values, TB__CDR_STRUCT, 0, &key_value_type),
};
static const tb__cdr_type_t status_type =
    TYPE("diagnostic_msgs/msg/DiagnosticStatus", tb__diagnostic_status_t, status_fields);

static const tb__cdr_field_t array_fields[] = {
    STRUCT(tb__diagnostic_array_t, header, &header_type),
    LIST(tb__diagnostic_array_t, status, TB__CDR_STRUCT, 0, &status_type),
};
const tb__cdr_type_t tb__diagnostic_array_type =
    TYPE("diagnostic_msgs/msg/DiagnosticArray", tb__diagnostic_array_t, array_fields);

static const tb__cdr_field_t point_fields[] = {
    UINT(tb__statistic_data_point_t, data_type),
    FLOAT(tb__statistic_data_point_t, data),
};
static const tb__cdr_type_t point_type =
    TYPE("statistics_msgs/msg/StatisticDataPoint", tb__statistic_data_point_t, point_fields);

static const tb__cdr_field_t metrics_fields[] = {
    STRING(tb__metrics_message_t, measurement_source_name, 0),
    STRING(tb__metrics_message_t, metrics_source, 0),
    STRING(tb__metrics_message_t, unit, 0),
    STRUCT(tb__metrics_message_t, window_start, &tb__time_message_type),
    STRUCT(tb__metrics_message_t, window_stop, &tb__time_message_type),
    LIST(tb__metrics_message_t, statistics, TB__CDR_STRUCT, 0, &point_type),
};
const tb__cdr_type_t tb__metrics_message_type =
    TYPE("statistics_msgs/msg/MetricsMessage", tb__metrics_message_t, metrics_fields);

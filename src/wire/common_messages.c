/* Types that messages of several packages use. */
#include "wire/message_tables.h"

const tb__cdr_field_t tb__empty_message_fields[1] = {
    UINT(tb__empty_message_t, structure_needs_at_least_one_member),
};

static const tb__cdr_field_t time_fields[] = {
    INT(tb__time_message_t, sec),
    UINT(tb__time_message_t, nanosec),
};
const tb__cdr_type_t tb__time_message_type =
    TYPE("builtin_interfaces/msg/Time", tb__time_message_t, time_fields);

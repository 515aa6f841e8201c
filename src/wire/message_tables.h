/* Macros for tables of cdr_type.h: one line per field, with the C struct and the field. */
#ifndef TB_ROS2_MESSAGE_TABLES_H
#define TB_ROS2_MESSAGE_TABLES_H

#include "wire/messages.h"

#define MEMBER(owner, member) (((owner *)0)->member)

#define FIELD(owner, member, field_kind, ...)                                                      \
  {                                                                                                \
    .name = #member, .offset = offsetof(owner, member), .size = sizeof(MEMBER(owner, member)),     \
    .kind = (field_kind), __VA_ARGS__                                                              \
  }
#define UINT(owner, member)        FIELD(owner, member, TB__CDR_UINT, .bound = 0)
#define INT(owner, member)         FIELD(owner, member, TB__CDR_INT, .bound = 0)
#define BOOL(owner, member)        FIELD(owner, member, TB__CDR_BOOL, .bound = 0)
#define FLOAT(owner, member)       FIELD(owner, member, TB__CDR_FLOAT, .bound = 0)
#define STRING(owner, member, max) FIELD(owner, member, TB__CDR_STRING, .bound = (max))
#define OCTETS(owner, member, n)   FIELD(owner, member, TB__CDR_OCTETS, .bound = (n))
#define STRUCT(owner, member, of)  FIELD(owner, member, TB__CDR_STRUCT, .type = (of))

#define LIST(owner, member, field_kind, max, of)                                                   \
  {                                                                                                \
    .name = #member, .offset = offsetof(owner, member),                                            \
    .size = sizeof(*MEMBER(owner, member).items), .bound = (max), .kind = (field_kind),            \
    .is_sequence = true, .type = (of)                                                              \
  }

#define TYPE(type_name, struct_type, field_list)                                                   \
  {                                                                                                \
    .name = (type_name), .size = sizeof(struct_type), .fields = (field_list),                      \
    .field_count = sizeof(field_list) / sizeof((field_list)[0])                                    \
  }

#endif

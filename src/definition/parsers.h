/* One parser for each encoding of definitions; and what both read. */
#ifndef TB_DEFINITION_PARSERS_H
#define TB_DEFINITION_PARSERS_H

#include <string.h>

#include "definition/schema_builder.h"

/* Each adds the types of a part of the builder's text. What is before the first line of '=' and a
 * name is of the builder's type. */
tb_status_t tb__msg_parse(tb__schema_builder_t *builder, size_t begin, size_t end) TB_WARN_UNUSED;
tb_status_t tb__idl_parse(tb__schema_builder_t *builder, size_t begin, size_t end) TB_WARN_UNUSED;
/* After the parts: what the text of a service or an action leaves out, if the builder's type is a
 * message that ROS 2 makes of one. */
tb_status_t tb__msg_add_made(tb__schema_builder_t *builder) TB_WARN_UNUSED;

static inline bool tb__is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static inline bool tb__is_name_char(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || tb__is_digit(c) || c == '_';
}

/* A line of '=', as it is between the definitions of types. `length` is that of the line. */
static inline bool tb__is_rule(const char *line, size_t length)
{
  size_t count = 0;
  while (count < length && line[count] == '=')
    count++;
  while (length > count && (line[length - 1] == '\r' || line[length - 1] == ' '))
    length--;
  return count >= 10 && count == length;
}

#endif

#include "definition/parse.h"

#include <stdio.h>
#include <string.h>

#include "definition/message_definition.h"
#include "definition/parsers.h"

bool tb__definition_full_name(const char *type, char out[TB__DEFINITION_NAME_SIZE])
{
  const char *slash = strchr(type, '/');
  int length =
      slash && !strchr(slash + 1, '/')
          ? snprintf(out, TB__DEFINITION_NAME_SIZE, "%.*s/msg%s", (int)(slash - type), type, slash)
          : snprintf(out, TB__DEFINITION_NAME_SIZE, "%s", type);
  return slash && length > 0 && length < TB__DEFINITION_NAME_SIZE;
}

bool tb__definition_is_of(const char *type, const char *name)
{
  char full[TB__DEFINITION_NAME_SIZE];
  return tb__definition_full_name(type, full) && strcmp(full, name) == 0;
}

/* Where the texts of .msg files begin: at the line of '=' before the first "MSG: ". */
static size_t find_msg(const char *text, size_t size)
{
  const char *at = text, *found;
  while ((found = memmem(at, size - (size_t)(at - text), "=\nMSG: ", 7))) {
    const char *line = found;
    while (line > text && line[-1] != '\n')
      line--;
    if (tb__is_rule(line, (size_t)(found + 1 - line))) return (size_t)(line - text);
    at = found + 1;
  }
  return size;
}

static tb_status_t parse_mixed(tb__schema_builder_t *builder)
{
  size_t begin = find_msg(builder->text->text, builder->text->size);
  tb_status_t status = tb__idl_parse(builder, begin);
  return status ? status : tb__msg_parse(builder, begin);
}

tb_status_t tb__schema_parse(const char *type, const char *encoding, const char *text, size_t size,
                             tb__schema_t **out, tb_error_t *error)
{
  char name[TB__DEFINITION_NAME_SIZE];
  bool is_unknown = strcmp(encoding, TB__MESSAGE_UNKNOWN_ENCODING) == 0 && size > 0,
       is_msg = is_unknown || strcmp(encoding, TB__MESSAGE_DEFINITION_ENCODING) == 0,
       is_idl = strcmp(encoding, TB__MESSAGE_IDL_ENCODING) == 0,
       is_mixed = strcmp(encoding, TB__MESSAGE_MIXED_ENCODING) == 0,
       is_ros1 = strcmp(encoding, TB__MESSAGE_ROS1_ENCODING) == 0;
  tb__schema_builder_t builder;
  if (!tb__definition_full_name(type, name))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "definition of %.150s: not a type's name: expected package/msg/Name", type);
  if (!is_msg && !is_idl && !is_mixed && !is_ros1)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "definition of %.150s: its encoding, '%.40s', is none of ros2msg, "
                        "ros2idl and ros1msg",
                        type, encoding);
  if (size > TB__SCHEMA_TEXT_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "definition of %.150s: longer than %zu bytes", type,
                        TB__SCHEMA_TEXT_MAX);
  tb__definition_text_t definition = {.type = name, .text = text, .size = size};
  tb_status_t status = tb__schema_builder_init(&builder, &definition, error);
  if (!status && is_mixed) status = parse_mixed(&builder);
  builder.is_ros1 = is_ros1;
  if (!status && (is_msg || is_ros1)) status = tb__msg_parse(&builder, 0);
  if (!status && is_idl) status = tb__idl_parse(&builder, size);
  if (!status) status = tb__schema_builder_finish(&builder, out);
  tb__schema_builder_fini(&builder);
  return status;
}

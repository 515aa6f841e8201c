#include "definition/parse.h"

#include <stdio.h>
#include <string.h>

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

tb_status_t tb__schema_parse(const char *type, const char *encoding, const char *text, size_t size,
                             tb__schema_t **out, tb_error_t *error)
{
  char name[TB__DEFINITION_NAME_SIZE];
  bool is_msg = strcmp(encoding, "ros2msg") == 0, is_idl = strcmp(encoding, "ros2idl") == 0;
  tb__schema_builder_t builder;
  if (!tb__definition_full_name(type, name))
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "definition of %.150s: not a type's name: expected package/msg/Name", type);
  if (!is_msg && !is_idl)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "definition of %.150s: its encoding, '%.40s', is neither ros2msg nor "
                        "ros2idl",
                        type, encoding);
  if (size > TB__SCHEMA_TEXT_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "definition of %.150s: longer than %zu bytes", type,
                        TB__SCHEMA_TEXT_MAX);
  tb__definition_text_t definition = {.type = name, .text = text, .size = size};
  tb_status_t status = tb__schema_builder_init(&builder, &definition, error);
  if (!status) status = is_msg ? tb__msg_parse(&builder) : tb__idl_parse(&builder);
  if (!status) status = tb__schema_builder_finish(&builder, out);
  tb__schema_builder_fini(&builder);
  return status;
}

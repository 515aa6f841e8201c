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

static size_t next_line(const tb__definition_text_t *text, size_t at)
{
  const char *end = memchr(text->text + at, '\n', text->size - at);
  return end ? (size_t)(end + 1 - text->text) : text->size;
}

/* The line of '=' before the next "MSG: " and so on, from the line at `at` on; the size: there is
 * none. *out_is_idl: it is "IDL: ". */
static size_t find_heading(const tb__definition_text_t *text, size_t at, bool *out_is_idl)
{
  static const char *const kinds[] = {"IDL:", "MSG:", "SRV:", "ACTION:"};
  while (at < text->size) {
    size_t next = next_line(text, at), left = text->size - next;
    bool is_rule = tb__is_rule(text->text + at, next - 1 - at);
    for (size_t i = 0; is_rule && i < sizeof kinds / sizeof *kinds; i++) {
      size_t length = strlen(kinds[i]);
      if (left < length || memcmp(text->text + next, kinds[i], length) != 0) continue;
      *out_is_idl = i == 0;
      return at;
    }
    at = next;
  }
  return text->size;
}

/* A type without fields has no text before the first heading. If it is there, this one counts for
 * nothing. */
static tb_status_t add_empty(tb__schema_builder_t *builder)
{
  const char *root = builder->text->type;
  uint32_t name = 0;
  tb_status_t status = tb__schema_builder_name(builder, 0, root, strlen(root), 0, &name);
  return status ? status : tb__schema_builder_type(builder, name, 0);
}

/* Texts of .msg and of .idl files, in any order; the first begins with its own kind, or a heading.
 */
static tb_status_t parse_parts(tb__schema_builder_t *builder, bool is_idl)
{
  const tb__definition_text_t *text = builder->text;
  tb_status_t status = TB_OK;
  bool may_be_empty = !is_idl;
  size_t begin = 0;
  do {
    bool is_next_idl = is_idl;
    size_t end = find_heading(text, begin, &is_next_idl);
    if (end == begin) is_idl = is_next_idl; /* it begins this part */
    while (end < text->size && is_next_idl == is_idl)
      end = find_heading(text, next_line(text, end), &is_next_idl);
    status = is_idl ? tb__idl_parse(builder, begin, end) : tb__msg_parse(builder, begin, end);
    begin = end;
  } while (!status && begin < text->size);
  if (!status) status = tb__msg_add_made(builder);
  return status || !may_be_empty ? status : add_empty(builder);
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
  builder.is_ros1 = is_ros1;
  if (!status)
    status = is_ros1 ? tb__msg_parse(&builder, 0, size) : parse_parts(&builder, is_idl || is_mixed);
  if (!status) status = tb__schema_builder_finish(&builder, out);
  tb__schema_builder_fini(&builder);
  return status;
}

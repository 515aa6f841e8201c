#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "definition/message_head.h"
#include "definition/resolve.h"

struct tb_message_definition {
  tb__schema_t *schema;
  tb_message_definition_origin_t origin;
  tb__message_head_t head;
};

struct tb_message_field {
  const tb_message_definition_t *definition;
  tb__field_path_t *path;
};

/* --- definitions --- */

/* Takes the schema. */
static tb_status_t make(tb__schema_t *schema, tb_message_definition_origin_t origin,
                        tb_message_definition_t **out, tb_error_t *error)
{
  tb_message_definition_t *definition = calloc(1, sizeof *definition);
  if (!definition) {
    tb__schema_destroy(schema);
    return tb__no_memory_for(error, "message definition");
  }
  *definition = (tb_message_definition_t){.schema = schema, .origin = origin};
  tb_status_t status = tb__message_head_init(&definition->head, schema, error);
  if (status)
    tb_message_definition_destroy(definition);
  else
    *out = definition;
  return status;
}

tb_status_t tb_message_definition_parse(const char *type, const char *encoding, const char *text,
                                        tb_message_definition_t **out, tb_error_t *error)
{
  tb__schema_t *schema = NULL;
  if (!type || !encoding || !text || !out) return tb__null_argument(error, __func__);
  tb_status_t status = tb__schema_parse(type, encoding, text, strlen(text), &schema, error);
  return status ? status : make(schema, TB_MESSAGE_DEFINITION_GIVEN, out, error);
}

static tb_message_definition_origin_t origin_of(tb__definition_origin_t origin)
{
  return origin == TB__DEFINITION_INSTALLED ? TB_MESSAGE_DEFINITION_INSTALLED
         : origin == TB__DEFINITION_FOLDER  ? TB_MESSAGE_DEFINITION_FOLDER
                                            : TB_MESSAGE_DEFINITION_BUILT_IN;
}

tb_status_t tb_message_definition_find(const char *type, const char *const *folders,
                                       size_t folder_count, tb_message_definition_t **out,
                                       tb_error_t *error)
{
  tb__definition_t found;
  if (!type || (!folders && folder_count > 0) || !out) return tb__null_argument(error, __func__);
  tb__definition_request_t request = {.type = type,
                                      .places = {.prefixes = getenv("AMENT_PREFIX_PATH"),
                                                 .folders = folders,
                                                 .folder_count = folder_count}};
  tb_status_t status = tb__definition_resolve(&request, &found, error);
  return status ? status : make(found.schema, origin_of(found.origin), out, error);
}

void tb_message_definition_destroy(tb_message_definition_t *definition)
{
  if (!definition) return;
  tb__message_head_fini(&definition->head);
  tb__schema_destroy(definition->schema);
  free(definition);
}

tb_message_definition_origin_t
tb_message_definition_origin(const tb_message_definition_t *definition)
{
  return definition ? definition->origin : (tb_message_definition_origin_t)0;
}

/* --- messages --- */

tb_status_t tb_message_definition_header_stamp(const tb_message_definition_t *definition,
                                               const void *data, size_t size, int64_t *out_ns)
{
  tb__message_t message;
  if (!definition || !data || !out_ns) return TB_ERR_INVALID;
  int64_t stamp_ns = 0;
  tb_status_t status = tb__message_open(&message, definition->schema, data, size);
  if (!status) status = tb__message_head_stamp(&definition->head, &message, &stamp_ns);
  if (!status && tb__is_no_time(stamp_ns)) status = TB_ERR_CORRUPT;
  if (!status) *out_ns = stamp_ns;
  return status;
}

tb_status_t tb_message_definition_check(const tb_message_definition_t *definition, const void *data,
                                        size_t size, tb_error_t *error)
{
  tb__message_t message;
  if (!definition || !data) return tb__null_argument(error, __func__);
  const char *type = definition->schema->types[definition->schema->root].name;
  tb_status_t status = tb__message_open(&message, definition->schema, data, size);
  if (status == TB_ERR_TRUNCATED)
    return tb_error_set(error, status, "message of %.150s: fewer than 4 bytes", type);
  if (status)
    return tb_error_set(error, status, "message of %.150s: its encapsulation is not that of CDR",
                        type);
  return tb__message_walk(&message, NULL, NULL, error);
}

/* --- fields --- */

tb_status_t tb_message_field_create(const tb_message_definition_t *definition, const char *path,
                                    tb_message_field_t **out, tb_error_t *error)
{
  if (!definition || !path || !out) return tb__null_argument(error, __func__);
  tb_message_field_t *field = calloc(1, sizeof *field);
  if (!field) return tb__no_memory_for(error, "message field");
  field->definition = definition;
  tb_status_t status = tb__field_path_create(definition->schema, path, &field->path, error);
  if (status)
    free(field);
  else
    *out = field;
  return status;
}

void tb_message_field_destroy(tb_message_field_t *field)
{
  if (!field) return;
  tb__field_path_destroy(field->path);
  free(field);
}

static tb_status_t find(const tb_message_field_t *field, const void *data, size_t size,
                        tb__message_t *message, size_t *out_at)
{
  tb_status_t status = tb__message_open(message, field->definition->schema, data, size);
  return status ? status : tb__field_path_find(field->path, message, 0, out_at);
}

tb_status_t tb_message_field_time(const tb_message_field_t *field, const void *data, size_t size,
                                  int64_t *out_ns)
{
  tb__message_t message;
  size_t at = 0;
  if (!field || !data || !out_ns || !tb__field_path_is_time(field->path)) return TB_ERR_INVALID;
  tb_status_t status = find(field, data, size, &message, &at);
  return status ? status : tb__message_time(&message, &at, out_ns);
}

tb_status_t tb_message_field_number(const tb_message_field_t *field, const void *data, size_t size,
                                    double *out)
{
  tb__message_t message;
  size_t at = 0;
  if (!field || !data || !out) return TB_ERR_INVALID;
  const tb__field_type_t *type = tb__field_path_type(field->path);
  if (type->shape != TB__FIELD_SINGLE || tb__field_width(type->kind) == 0) return TB_ERR_INVALID;
  tb_status_t status = find(field, data, size, &message, &at);
  return status ? status : tb__message_number(&message, type->kind, &at, out);
}

tb_status_t tb_message_field_string(const tb_message_field_t *field, const void *data, size_t size,
                                    const char **out, size_t *out_length)
{
  tb__message_t message;
  size_t at = 0;
  if (!field || !data || !out || !out_length) return TB_ERR_INVALID;
  const tb__field_type_t *type = tb__field_path_type(field->path);
  if (type->shape != TB__FIELD_SINGLE || type->kind != TB__FIELD_STRING) return TB_ERR_INVALID;
  tb_status_t status = find(field, data, size, &message, &at);
  return status ? status : tb__message_string(&message, &at, out, out_length);
}

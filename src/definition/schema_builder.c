#include "definition/schema_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

tb_status_t tb__definition_error(const tb__definition_text_t *text, size_t at, tb_error_t *error,
                                 tb_status_t status, const char *format, ...)
{
  char what[256];
  unsigned line = 1, column = 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  for (size_t i = 0; i < at && i < text->size; i++) {
    column = text->text[i] == '\n' ? 1 : column + 1;
    line += text->text[i] == '\n';
  }
  return tb_error_set(error, status, "definition of %.150s, line %u, column %u: %s", text->type,
                      line, column, what);
}

/* Room for one more; the arrays double, so that what is added costs little on average. */
static tb_status_t grow(tb__schema_builder_t *builder, void **array, size_t *room, size_t count,
                        size_t more, size_t size)
{
  if (count + more <= *room) return TB_OK;
  size_t wanted = *room * 2 > count + more ? *room * 2 : count + more + 16;
  void *grown = reallocarray(*array, wanted, size);
  if (!grown) return tb__no_memory_for(builder->error, "message definition");
  *array = grown;
  *room = wanted;
  return TB_OK;
}

tb_status_t tb__schema_builder_init(tb__schema_builder_t *builder,
                                    const tb__definition_text_t *text, tb_error_t *error)
{
  uint32_t empty = 0;
  *builder = (tb__schema_builder_t){.text = text, .error = error};
  return tb__schema_builder_name(builder, 0, "", 0, 0, &empty);
}

void tb__schema_builder_fini(tb__schema_builder_t *builder)
{
  free(builder->types);
  free(builder->fields);
  free(builder->aliases);
  free(builder->names);
}

tb_status_t tb__schema_builder_name(tb__schema_builder_t *builder, uint32_t scope, const char *name,
                                    size_t length, size_t at, uint32_t *out)
{
  size_t scope_length = scope ? strlen(builder->names + scope) : 0;
  size_t size = scope_length + (scope_length > 0) + length + 1;
  if (size > TB__SCHEMA_NAME_MAX + 1)
    return tb__definition_error(builder->text, at, builder->error, TB_ERR_LIMIT,
                                "a name of more than %d characters", TB__SCHEMA_NAME_MAX);
  if (size > TB__SCHEMA_NAMES_MAX - builder->names_size)
    return tb__definition_error(builder->text, at, builder->error, TB_ERR_LIMIT, "too many names");
  tb_status_t status =
      grow(builder, (void **)&builder->names, &builder->names_room, builder->names_size, size, 1);
  if (status) return status;
  char *to = builder->names + builder->names_size;
  memcpy(to, builder->names + scope, scope_length);
  if (scope_length > 0) to[scope_length++] = '/';
  memcpy(to + scope_length, name, length);
  to[scope_length + length] = '\0';
  *out = (uint32_t)builder->names_size;
  builder->names_size += size;
  return TB_OK;
}

tb_status_t tb__schema_builder_type(tb__schema_builder_t *builder, uint32_t name, size_t at)
{
  if (builder->type_count == TB__SCHEMA_TYPES_MAX)
    return tb__definition_error(builder->text, at, builder->error, TB_ERR_LIMIT,
                                "more than %d types", TB__SCHEMA_TYPES_MAX);
  tb_status_t status = grow(builder, (void **)&builder->types, &builder->type_room,
                            builder->type_count, 1, sizeof *builder->types);
  if (status) return status;
  builder->types[builder->type_count++] =
      (tb__built_type_t){.name = name, .first_field = (uint32_t)builder->field_count};
  return TB_OK;
}

tb_status_t tb__schema_builder_field(tb__schema_builder_t *builder, const char *name, size_t length,
                                     const tb__written_type_t *type)
{
  tb__built_type_t *of = &builder->types[builder->type_count - 1];
  uint32_t noted = 0;
  if (builder->field_count == TB__SCHEMA_FIELDS_MAX)
    return tb__definition_error(builder->text, type->at, builder->error, TB_ERR_LIMIT,
                                "more than %d fields", TB__SCHEMA_FIELDS_MAX);
  for (uint32_t i = 0; i < of->field_count; i++) {
    const char *other = builder->names + builder->fields[of->first_field + i].name;
    if (strlen(other) == length && memcmp(other, name, length) == 0)
      return tb__definition_error(builder->text, type->at, builder->error, TB_ERR_CORRUPT,
                                  "a second field '%s'", other);
  }
  tb_status_t status = grow(builder, (void **)&builder->fields, &builder->field_room,
                            builder->field_count, 1, sizeof *builder->fields);
  if (!status) status = tb__schema_builder_name(builder, 0, name, length, type->at, &noted);
  if (status) return status;
  builder->fields[builder->field_count++] = (tb__built_field_t){.name = noted, .type = *type};
  of->field_count++;
  return TB_OK;
}

tb_status_t tb__schema_builder_alias(tb__schema_builder_t *builder, uint32_t name,
                                     const tb__written_type_t *type)
{
  if (builder->alias_count == TB__SCHEMA_ALIASES_MAX)
    return tb__definition_error(builder->text, type->at, builder->error, TB_ERR_LIMIT,
                                "more than %d typedefs", TB__SCHEMA_ALIASES_MAX);
  tb_status_t status = grow(builder, (void **)&builder->aliases, &builder->alias_room,
                            builder->alias_count, 1, sizeof *builder->aliases);
  if (!status)
    builder->aliases[builder->alias_count++] = (tb__built_field_t){.name = name, .type = *type};
  return status;
}

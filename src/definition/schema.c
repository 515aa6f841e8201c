#include "definition/schema.h"

#include <stdlib.h>
#include <string.h>

void tb__schema_destroy(tb__schema_t *schema)
{
  if (!schema) return;
  free(schema->types);
  free(schema->fields);
  free(schema->skips);
  free(schema->names);
  free(schema);
}

const tb__schema_field_t *tb__schema_find_field(const tb__schema_t *schema, uint32_t type,
                                                const char *name, size_t length)
{
  const tb__schema_type_t *of = &schema->types[type];
  for (uint32_t i = 0; i < of->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[of->first_field + i];
    if (strlen(field->name) == length && memcmp(field->name, name, length) == 0) return field;
  }
  return NULL;
}

uint32_t tb__field_width(tb__field_kind_t kind)
{
  static const uint8_t widths[] = {
      [TB__FIELD_BOOL] = 1,    [TB__FIELD_INT8] = 1,    [TB__FIELD_UINT8] = 1,
      [TB__FIELD_INT16] = 2,   [TB__FIELD_UINT16] = 2,  [TB__FIELD_INT32] = 4,
      [TB__FIELD_UINT32] = 4,  [TB__FIELD_INT64] = 8,   [TB__FIELD_UINT64] = 8,
      [TB__FIELD_FLOAT32] = 4, [TB__FIELD_FLOAT64] = 8, [TB__FIELD_STRUCT] = 0};
  return widths[kind];
}

const char *tb__field_kind_name(tb__field_kind_t kind)
{
  static const char *const names[] = {
      [TB__FIELD_BOOL] = "bool",       [TB__FIELD_INT8] = "int8",
      [TB__FIELD_UINT8] = "uint8",     [TB__FIELD_INT16] = "int16",
      [TB__FIELD_UINT16] = "uint16",   [TB__FIELD_INT32] = "int32",
      [TB__FIELD_UINT32] = "uint32",   [TB__FIELD_INT64] = "int64",
      [TB__FIELD_UINT64] = "uint64",   [TB__FIELD_FLOAT32] = "float32",
      [TB__FIELD_FLOAT64] = "float64", [TB__FIELD_STRING] = "string",
      [TB__FIELD_WSTRING] = "wstring", [TB__FIELD_STRUCT] = ""};
  return names[kind];
}

bool tb__field_extent(const tb__schema_t *schema, const tb__field_type_t *field,
                      tb__extent_t *out_element)
{
  uint32_t width = tb__field_width(field->kind);
  if (width > 0) {
    *out_element = tb__extent_of_number(width, schema->is_ros1);
    return true;
  }
  if (field->kind != TB__FIELD_STRUCT || !schema->types[field->type].is_fixed) return false;
  *out_element = schema->types[field->type].extent;
  return true;
}

bool tb__skip_of_field(const tb__schema_t *schema, const tb__field_type_t *field,
                       tb__skip_t *previous, tb__skip_t *out)
{
  bool is_sequence = field->shape == TB__FIELD_SEQUENCE;
  if (field->kind == TB__FIELD_STRUCT && !is_sequence && schema->types[field->type].is_empty)
    return true; /* no byte stands for it */
  *out = (tb__skip_t){.is_sequence = is_sequence,
                      .count = field->shape == TB__FIELD_SINGLE ? 1 : field->count,
                      .type = field->type};
  if (!tb__field_extent(schema, field, &out->extent)) {
    out->kind = field->kind == TB__FIELD_STRING    ? TB__SKIP_STRING
                : field->kind == TB__FIELD_WSTRING ? TB__SKIP_WSTRING
                                                   : TB__SKIP_STRUCT;
    return false;
  }
  out->kind = TB__SKIP_FIXED;
  if (is_sequence) return false;
  if (previous && previous->kind == TB__SKIP_FIXED && !previous->is_sequence) {
    tb__extent_append(&previous->extent, &out->extent, out->count);
    return true;
  }
  tb__extent_t run = {{0}};
  tb__extent_append(&run, &out->extent, out->count);
  out->extent = run;
  out->count = 1;
  return false;
}

/* Resolves names and computes sizes, from the root down. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/schema_builder.h"

typedef enum visit {
  NEW,
  BUSY, /* it is being resolved: whoever comes to it again is in it */
  DONE,
} visit_t;

typedef struct finish {
  tb__schema_builder_t *builder;
  tb__schema_t *schema;
  visit_t visits[TB__SCHEMA_TYPES_MAX];
  unsigned heights[TB__SCHEMA_TYPES_MAX]; /* of those that are done: the levels of types in them */
} finish_t;

static tb_status_t use_type(finish_t *finish, uint32_t index, unsigned depth, size_t at);

static tb_status_t fail_at(const finish_t *finish, size_t at, tb_status_t status, const char *what,
                           const char *name)
{
  return tb__definition_error(finish->builder->text, at, finish->builder->error, status, "%s%s",
                              name, what);
}

/* --- names --- */

static bool find_type(const finish_t *finish, const char *name, uint32_t *out)
{
  for (uint32_t i = 0; i < finish->schema->type_count; i++) {
    *out = i;
    if (strcmp(finish->schema->types[i].name, name) == 0) return true;
  }
  return false;
}

static const tb__written_type_t *find_alias(const finish_t *finish, const char *name)
{
  const tb__schema_builder_t *builder = finish->builder;
  for (size_t i = 0; i < builder->alias_count; i++)
    if (strcmp(builder->names + builder->aliases[i].name, name) == 0)
      return &builder->aliases[i].type;
  return NULL;
}

/* A name in its scope, and in the scopes around that. False: there is none. */
static bool look_up(const finish_t *finish, const tb__written_type_t *written, uint32_t *out_type,
                    const tb__written_type_t **out_alias)
{
  char path[2 * TB__SCHEMA_NAME_MAX + 2];
  const char *scope = finish->builder->names + written->scope;
  const char *name = finish->builder->names + written->name;
  size_t length = strlen(scope), name_size = strlen(name) + 1;
  memcpy(path, scope, length + 1);
  for (;;) {
    size_t begin = length;
    if (length > 0) path[begin++] = '/';
    memcpy(path + begin, name, name_size);
    *out_alias = NULL;
    if (find_type(finish, path, out_type)) return true;
    *out_alias = find_alias(finish, path);
    if (*out_alias) return true;
    if (length == 0) return false;
    while (length > 0 && path[length - 1] != '/')
      length--;
    if (length > 0) length--;
  }
}

/* Of ROS 1, and of tools that still have it: a header needs no package. */
static bool is_old_header(const finish_t *finish, const tb__written_type_t *written, uint32_t *out)
{
  const char *name = finish->builder->names + written->name;
  const char *last = strrchr(name, '/');
  return last && strcmp(last, "/Header") == 0 && find_type(finish, "std_msgs/msg/Header", out);
}

/* --- types of fields --- */

/* `outer` is what is made of another type, `inner` that one. */
static tb_status_t combine(const finish_t *finish, const tb__written_type_t *outer,
                           const tb__field_type_t *inner, tb__field_type_t *out)
{
  tb__field_type_t is = *inner;
  if (outer->is.shape != TB__FIELD_SINGLE) {
    bool is_grid = outer->is.shape == TB__FIELD_ARRAY && inner->shape == TB__FIELD_ARRAY;
    if (inner->shape != TB__FIELD_SINGLE && !is_grid)
      return fail_at(finish, outer->at, TB_ERR_UNSUPPORTED,
                     "sequences of sequences or of arrays, which ROS 2 has not", "");
    is.count = outer->is.count;
    if (is_grid && __builtin_mul_overflow(outer->is.count, inner->count, &is.count))
      return fail_at(finish, outer->at, TB_ERR_LIMIT, "an array of too many elements", "");
    is.shape = outer->is.shape;
  }
  *out = is;
  return TB_OK;
}

static tb_status_t resolve(finish_t *finish, const tb__written_type_t *written, unsigned depth,
                           tb__field_type_t *out)
{
  const tb__written_type_t *alias = NULL;
  tb__field_type_t inner;
  uint32_t type = 0;
  *out = written->is;
  if (written->is.kind == TB__FIELD_WSTRING) finish->schema->has_wide = true;
  if (written->is.kind != TB__FIELD_STRUCT) return TB_OK;
  const char *name = finish->builder->names + written->name;
  if (depth > TB__SCHEMA_DEPTH_MAX)
    return fail_at(finish, written->at, TB_ERR_LIMIT, ": types too deep within types", name);
  if (!look_up(finish, written, &type, &alias) && !is_old_header(finish, written, &type))
    return fail_at(finish, written->at, TB_ERR_CORRUPT, " is not defined", name);
  if (alias) {
    tb_status_t status = resolve(finish, alias, depth + 1, &inner);
    return status ? status : combine(finish, written, &inner, out);
  }
  out->type = type;
  return use_type(finish, type, depth + 1, written->at);
}

/* --- types --- */

static void add_skips(tb__schema_t *schema, tb__schema_type_t *type)
{
  type->first_skip = schema->skip_count;
  for (uint32_t i = 0; i < type->field_count; i++) {
    tb__skip_t *previous = type->skip_count > 0 ? &schema->skips[schema->skip_count - 1] : NULL;
    tb__skip_t skip;
    if (tb__skip_of_field(schema, &schema->fields[type->first_field + i].is, previous, &skip))
      continue;
    schema->skips[schema->skip_count++] = skip;
    type->skip_count++;
  }
  const tb__skip_t *first = &schema->skips[type->first_skip];
  type->is_fixed = type->skip_count == 1 && first->kind == TB__SKIP_FIXED && !first->is_sequence;
  if (type->is_fixed) type->extent = first->extent;
}

static void add_only_byte(finish_t *finish, tb__schema_type_t *type)
{
  tb__schema_t *schema = finish->schema;
  type->first_field = schema->field_count;
  type->field_count = 1;
  schema->fields[schema->field_count++] =
      (tb__schema_field_t){.name = TB__NO_FIELDS, .is = {.kind = TB__FIELD_UINT8, .count = 1}};
}

/* Raises *height to what the field's type needs. */
static tb_status_t resolve_field(finish_t *finish, uint32_t field, unsigned depth, unsigned *height)
{
  tb__field_type_t *is = &finish->schema->fields[field].is;
  tb_status_t status = resolve(finish, &finish->builder->fields[field].type, depth, is);
  if (status || is->kind != TB__FIELD_STRUCT) return status;
  if (is->shape != TB__FIELD_SINGLE && finish->schema->types[is->type].is_empty)
    return fail_at(finish, finish->builder->fields[field].type.at, TB_ERR_UNSUPPORTED,
                   ": many of a type that has no fields", finish->schema->types[is->type].name);
  if (finish->heights[is->type] >= *height) *height = finish->heights[is->type] + 1;
  return TB_OK;
}

static bool is_empty(const tb__schema_t *schema, const tb__schema_type_t *type)
{
  for (uint32_t i = type->first_field; i < type->first_field + type->field_count; i++) {
    const tb__field_type_t *is = &schema->fields[i].is;
    if (is->kind != TB__FIELD_STRUCT || is->shape == TB__FIELD_SEQUENCE ||
        !schema->types[is->type].is_empty)
      return false;
  }
  return true;
}

static tb_status_t use_type(finish_t *finish, uint32_t index, unsigned depth, size_t at)
{
  tb__schema_t *schema = finish->schema;
  tb__schema_type_t *type = &schema->types[index];
  tb_status_t status = TB_OK;
  if (finish->visits[index] == DONE && depth + finish->heights[index] > TB__SCHEMA_DEPTH_MAX + 1)
    return fail_at(finish, at, TB_ERR_LIMIT, ": types too deep within types", type->name);
  if (finish->visits[index] == DONE) return TB_OK;
  if (finish->visits[index] == BUSY)
    return fail_at(finish, at, TB_ERR_CORRUPT, " contains itself", type->name);
  finish->visits[index] = BUSY;
  if (type->field_count == 0 && !schema->is_ros1)
    add_only_byte(finish, type);
  else
    for (uint32_t i = type->first_field; !status && i < type->first_field + type->field_count; i++)
      status = resolve_field(finish, i, depth, &finish->heights[index]);
  if (status) return status;
  finish->visits[index] = DONE;
  type->is_used = true;
  type->is_empty = is_empty(schema, type);
  add_skips(schema, type);
  return TB_OK;
}

static tb_status_t copy(finish_t *finish)
{
  const tb__schema_builder_t *builder = finish->builder;
  tb__schema_t *schema = finish->schema;
  size_t fields = builder->field_count + builder->type_count + 1; /* with those of empty types */
  schema->types = calloc(builder->type_count + 1, sizeof *schema->types);
  schema->fields = calloc(fields, sizeof *schema->fields);
  schema->skips = calloc(fields, sizeof *schema->skips);
  schema->names = malloc(builder->names_size);
  if (!schema->types || !schema->fields || !schema->skips || !schema->names)
    return tb__no_memory_for(builder->error, "message definition");
  memcpy(schema->names, builder->names, builder->names_size);
  for (size_t i = 0; i < builder->type_count; i++)
    schema->types[i] = (tb__schema_type_t){.name = schema->names + builder->types[i].name,
                                           .first_field = builder->types[i].first_field,
                                           .field_count = builder->types[i].field_count};
  for (size_t i = 0; i < builder->field_count; i++) {
    uint32_t initial = builder->fields[i].type.initial;
    schema->fields[i].name = schema->names + builder->fields[i].name;
    schema->fields[i].initial = initial ? schema->names + initial : NULL;
  }
  schema->type_count = (uint32_t)builder->type_count;
  schema->field_count = (uint32_t)builder->field_count;
  return TB_OK;
}

tb_status_t tb__schema_builder_finish(tb__schema_builder_t *builder, tb__schema_t **out)
{
  finish_t *finish = calloc(1, sizeof *finish);
  tb__schema_t *schema = calloc(1, sizeof *schema);
  tb_status_t status = TB_OK;
  if (!finish || !schema) {
    free(finish);
    free(schema);
    return tb__no_memory_for(builder->error, "message definition");
  }
  *finish = (finish_t){.builder = builder, .schema = schema};
  schema->is_ros1 = builder->is_ros1;
  status = copy(finish);
  if (!status && !find_type(finish, builder->text->type, &schema->root))
    status = fail_at(finish, 0, TB_ERR_CORRUPT, " is not defined", builder->text->type);
  if (!status) status = use_type(finish, schema->root, 0, 0);
  free(finish);
  if (status)
    tb__schema_destroy(schema);
  else
    *out = schema;
  return status;
}

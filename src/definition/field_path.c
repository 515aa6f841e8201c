#include "definition/field_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/parsers.h"

#define LEVELS_MAX 4 /* "[]" in one path, and one */

/* To a field, or to the elements of one. */
typedef struct level {
  uint32_t first_skip, skip_count;
  tb__skip_t element; /* of the level that follows: an array or a sequence of them */
} level_t;

struct tb__field_path {
  const tb__schema_t *schema;
  tb__skip_t *skips;
  uint32_t skip_count;
  level_t levels[LEVELS_MAX];
  uint32_t level_count;
  tb__field_type_t is;
};

typedef struct path_parser {
  tb__field_path_t *path;
  const char *text;
  size_t at;
  uint32_t type; /* in which the next name is */
  tb_error_t *error;
} path_parser_t;

static tb_status_t fail(const path_parser_t *parser, tb_status_t status, const char *what)
{
  return tb_error_set(parser->error, status, "field path '%.150s', character %zu: %s", parser->text,
                      parser->at + 1, what);
}

/* One step more, joined with the one before it where both are of fixed size. */
static tb_status_t add_step(path_parser_t *parser, const tb__field_type_t *field)
{
  tb__field_path_t *path = parser->path;
  level_t *level = &path->levels[path->level_count - 1];
  tb__skip_t skip;
  tb__skip_t *previous = level->skip_count > 0 ? &path->skips[path->skip_count - 1] : NULL;
  if (tb__skip_of_field(path->schema, field, previous, &skip)) return TB_OK;
  tb__skip_t *grown = reallocarray(path->skips, path->skip_count + 1, sizeof *grown);
  if (!grown) return tb__no_memory_for(parser->error, "field path");
  path->skips = grown;
  path->skips[path->skip_count++] = skip;
  level->skip_count++;
  return TB_OK;
}

static tb_status_t add_enter(path_parser_t *parser, uint32_t index, uint32_t bound)
{
  tb__field_path_t *path = parser->path;
  tb__skip_t *grown = reallocarray(path->skips, path->skip_count + 1, sizeof *grown);
  if (!grown) return tb__no_memory_for(parser->error, "field path");
  path->skips = grown;
  path->skips[path->skip_count++] =
      (tb__skip_t){.kind = TB__SKIP_ENTER, .is_sequence = true, .count = bound, .type = index};
  path->levels[path->level_count - 1].skip_count++;
  return TB_OK;
}

/* What is before the field in its type. */
static tb_status_t take_name(path_parser_t *parser)
{
  const tb__schema_t *schema = parser->path->schema;
  const tb__schema_type_t *type = &schema->types[parser->type];
  size_t begin = parser->at, length = 0;
  while (tb__is_name_char(parser->text[begin + length]))
    length++;
  if (length == 0) return fail(parser, TB_ERR_INVALID, "a field's name was expected");
  const tb__schema_field_t *field =
      tb__schema_find_field(schema, parser->type, parser->text + begin, length);
  if (!field)
    return tb_error_set(parser->error, TB_ERR_NOT_FOUND,
                        "field path '%.150s': %.150s has no field '%.*s'", parser->text, type->name,
                        (int)(length < 100 ? length : 100), parser->text + begin);
  tb_status_t status = TB_OK;
  for (uint32_t i = type->first_field; !status && &schema->fields[i] != field; i++)
    status = add_step(parser, &schema->fields[i].is);
  parser->at += length;
  parser->path->is = field->is;
  return status;
}

static tb_status_t take_all(path_parser_t *parser)
{
  tb__field_path_t *path = parser->path;
  tb__field_type_t element = path->is;
  if (path->level_count == LEVELS_MAX)
    return fail(parser, TB_ERR_LIMIT, "more than three times []");
  element.shape = TB__FIELD_SINGLE;
  element.count = 1;
  level_t *level = &path->levels[path->level_count - 1];
  (void)tb__skip_of_field(path->schema, &element, NULL, &level->element);
  level->element.is_sequence = path->is.shape == TB__FIELD_SEQUENCE;
  level->element.count = path->is.count;
  path->levels[path->level_count++] = (level_t){.first_skip = path->skip_count};
  path->is = element;
  return TB_OK;
}

static tb_status_t take_index(path_parser_t *parser, uint64_t index)
{
  tb__field_path_t *path = parser->path;
  tb__field_type_t before = path->is;
  tb_status_t status = TB_OK;
  if (before.count > 0 && index >= before.count)
    return fail(parser, TB_ERR_INVALID, "there are never so many elements");
  if (index > UINT32_MAX) return fail(parser, TB_ERR_INVALID, "an index above 4294967295");
  if (before.shape == TB__FIELD_SEQUENCE) status = add_enter(parser, (uint32_t)index, before.count);
  before.shape = TB__FIELD_ARRAY;
  before.count = (uint32_t)index;
  if (!status && index > 0) status = add_step(parser, &before);
  path->is.shape = TB__FIELD_SINGLE;
  path->is.count = 1;
  return status;
}

static tb_status_t take_brackets(path_parser_t *parser)
{
  uint64_t index = 0;
  if (parser->path->is.shape == TB__FIELD_SINGLE)
    return fail(parser, TB_ERR_INVALID, "neither an array nor a sequence");
  size_t begin = ++parser->at;
  for (; tb__is_digit(parser->text[parser->at]) && index <= UINT32_MAX; parser->at++)
    index = index * 10 + (uint64_t)(parser->text[parser->at] - '0');
  bool is_all = parser->at == begin;
  if (parser->text[parser->at] != ']') return fail(parser, TB_ERR_INVALID, "']' was expected");
  parser->at++;
  return is_all ? take_all(parser) : take_index(parser, index);
}

static tb_status_t take_path(path_parser_t *parser)
{
  for (;;) {
    tb_status_t status = take_name(parser);
    if (!status && parser->text[parser->at] == '[') status = take_brackets(parser);
    if (status || !parser->text[parser->at]) return status;
    if (parser->text[parser->at] != '.') return fail(parser, TB_ERR_INVALID, "'.' was expected");
    if (parser->path->is.kind != TB__FIELD_STRUCT)
      return fail(parser, TB_ERR_NOT_FOUND, "what is before has no fields");
    if (parser->path->is.shape != TB__FIELD_SINGLE)
      return fail(parser, TB_ERR_INVALID, "[] or the number of an element was expected");
    parser->type = parser->path->is.type;
    parser->at++;
  }
}

tb_status_t tb__field_path_create_in(const tb__schema_t *schema, uint32_t type, const char *path,
                                     tb__field_path_t **out, tb_error_t *error)
{
  tb__field_path_t *made = calloc(1, sizeof *made);
  if (!made) return tb__no_memory_for(error, "field path");
  *made = (tb__field_path_t){.schema = schema, .level_count = 1};
  path_parser_t parser = {.path = made, .text = path, .type = type, .error = error};
  tb_status_t status = take_path(&parser);
  if (status)
    tb__field_path_destroy(made);
  else
    *out = made;
  return status;
}

tb_status_t tb__field_path_create(const tb__schema_t *schema, const char *path,
                                  tb__field_path_t **out, tb_error_t *error)
{
  return tb__field_path_create_in(schema, schema->root, path, out, error);
}

void tb__field_path_destroy(tb__field_path_t *path)
{
  if (!path) return;
  free(path->skips);
  free(path);
}

const tb__field_type_t *tb__field_path_type(const tb__field_path_t *path)
{
  return &path->is;
}

bool tb__field_path_is_time(const tb__field_path_t *path)
{
  return path->is.kind == TB__FIELD_STRUCT && path->is.shape == TB__FIELD_SINGLE &&
         strcmp(path->schema->types[path->is.type].name, "builtin_interfaces/msg/Time") == 0;
}

/* --- finding --- */

typedef struct search {
  const tb__field_path_t *path;
  const tb__message_t *message;
  tb__found_fn found;
  void *user;
  bool is_over;
} search_t;

static tb_status_t search_level(search_t *search, uint32_t index, size_t at)
{
  const level_t *level = &search->path->levels[index];
  uint32_t count = level->element.count;
  const tb__skip_t *skips = level->skip_count > 0 ? &search->path->skips[level->first_skip]
                                                  : NULL; /* there may be none */
  tb_status_t status = tb__message_skip(search->message, skips, level->skip_count, &at);
  if (status) return status;
  if (index + 1 == search->path->level_count) {
    search->is_over = !search->found(search->user, search->message, at);
    return TB_OK;
  }
  if (level->element.is_sequence)
    status = tb__message_length(search->message, level->element.count, &at, &count);
  tb__skip_t element = level->element;
  element.is_sequence = false;
  element.count = 1;
  for (uint32_t i = 0; i < count && !status && !search->is_over; i++) {
    status = search_level(search, index + 1, at);
    if (!status && !search->is_over && i + 1 < count)
      status = tb__message_skip(search->message, &element, 1, &at);
  }
  return status;
}

tb_status_t tb__field_path_each(const tb__field_path_t *path, const tb__message_t *message,
                                size_t base, tb__found_fn found, void *user)
{
  search_t search = {.path = path, .message = message, .found = found, .user = user};
  return base > message->size ? TB_ERR_TRUNCATED : search_level(&search, 0, base);
}

static bool take_first(void *user, const tb__message_t *message, size_t at)
{
  (void)message;
  *(size_t *)user = at;
  return false;
}

tb_status_t tb__field_path_find(const tb__field_path_t *path, const tb__message_t *message,
                                size_t base, size_t *out_at)
{
  size_t at = base;
  if (path->level_count == 1) {
    tb_status_t status = base > message->size
                             ? TB_ERR_TRUNCATED
                             : tb__message_skip(message, path->skips, path->skip_count, &at);
    if (!status) *out_at = at;
    return status;
  }
  at = SIZE_MAX;
  tb_status_t status = tb__field_path_each(path, message, base, take_first, &at);
  if (status) return status;
  if (at == SIZE_MAX) return TB_ERR_NOT_FOUND;
  *out_at = at;
  return TB_OK;
}

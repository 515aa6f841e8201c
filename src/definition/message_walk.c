/* A message, field by field to its end, with a note of where in it that is. */
#include <stdio.h>

#include "definition/message.h"
#include "definition/schema_builder.h"

#define PADDING_MAX 3

typedef struct place {
  const tb__schema_field_t *field;
  bool is_inside; /* an array or a sequence */
  uint32_t index; /* of the element then */
} place_t;

typedef struct walk {
  const tb__message_t *message;
  tb__visit_fn visit;
  void *user;
  size_t at;
  place_t places[TB__SCHEMA_DEPTH_MAX + 2];
  uint32_t depth;
  uint64_t steps_left;
  const char *what; /* is wrong */
} walk_t;

static tb_status_t walk_type(walk_t *walk, uint32_t index);

static void report(walk_t *walk, tb__visited_kind_t kind, const tb__schema_field_t *field,
                   size_t at, uint32_t count)
{
  tb__visited_t visited = {.kind = kind, .field = field, .at = at, .count = count};
  if (walk->visit) walk->visit(walk->user, &visited);
}

static tb_status_t wrong(walk_t *walk, tb_status_t status, const char *what)
{
  if (status) walk->what = status == TB_ERR_TRUNCATED ? "the message ends before it does" : what;
  return status;
}

/* Of the text that was just read. */
static size_t text_begin(const walk_t *walk, size_t length)
{
  size_t nul = length > 0 && !walk->message->schema->is_ros1;
  return walk->at - length - nul;
}

static tb_status_t walk_text(walk_t *walk, const tb__schema_field_t *field)
{
  const char *text = NULL;
  size_t length = 0;
  tb_status_t status = wrong(walk, tb__message_string(walk->message, &walk->at, &text, &length),
                             "a string without a NUL at its end");
  if (status) return status;
  if (field->is.text_max > 0 && length > field->is.text_max)
    return wrong(walk, TB_ERR_CORRUPT, "a string that is longer than its bound");
  report(walk, TB__VISITED_TEXT, field, text_begin(walk, length), (uint32_t)length);
  return TB_OK;
}

static tb_status_t walk_wide(walk_t *walk, const tb__schema_field_t *field)
{
  static const tb__skip_t skip = {.kind = TB__SKIP_WSTRING, .count = 1};
  size_t begin = (walk->at + 3) & ~(size_t)3;
  tb_status_t status = wrong(walk, tb__message_skip(walk->message, &skip, 1, &walk->at),
                             "a wide string of half a character");
  if (status) return status;
  size_t size = walk->at - begin - 4;
  size_t characters = size / (walk->message->has_short_wide ? 2 : 4);
  if (field->is.text_max > 0 && characters > field->is.text_max)
    return wrong(walk, TB_ERR_CORRUPT, "a string that is longer than its bound");
  report(walk, TB__VISITED_TEXT, field, walk->at - size, (uint32_t)size);
  return TB_OK;
}

static tb_status_t walk_numbers(walk_t *walk, const tb__schema_field_t *field, uint32_t count)
{
  tb__extent_t extent =
      tb__extent_of_number(tb__field_width(field->is.kind), walk->message->schema->is_ros1);
  uint64_t size = tb__extent_times(&extent, walk->at, count);
  if (size > walk->message->size - walk->at) return wrong(walk, TB_ERR_TRUNCATED, "");
  walk->at += (size_t)size;
  report(walk, TB__VISITED_NUMBERS, field,
         walk->at - (size_t)count * tb__field_width(field->is.kind), count);
  return TB_OK;
}

static tb_status_t walk_elements(walk_t *walk, place_t *place, uint32_t count)
{
  const tb__schema_field_t *field = place->field;
  tb_status_t status = TB_OK;
  place->is_inside = field->is.shape != TB__FIELD_SINGLE;
  for (uint32_t i = 0; i < count && !status; i++) {
    place->index = i;
    status = field->is.kind == TB__FIELD_STRING    ? walk_text(walk, field)
             : field->is.kind == TB__FIELD_WSTRING ? walk_wide(walk, field)
                                                   : walk_type(walk, field->is.type);
  }
  return status;
}

static tb_status_t walk_field(walk_t *walk, const tb__schema_field_t *field)
{
  uint32_t count = field->is.shape == TB__FIELD_SINGLE ? 1 : field->is.count;
  tb_status_t status = TB_OK;
  if (walk->depth >= sizeof walk->places / sizeof *walk->places)
    return wrong(walk, TB_ERR_LIMIT, "types within types, more than can be read,");
  if (walk->steps_left-- == 0)
    return wrong(walk, TB_ERR_LIMIT, "far more fields than bytes, most without any");
  place_t *place = &walk->places[walk->depth++];
  *place = (place_t){.field = field};
  if (field->is.shape == TB__FIELD_SEQUENCE) {
    status = wrong(walk, tb__message_length(walk->message, field->is.count, &walk->at, &count),
                   "a sequence that is longer than its bound");
    if (status) return status;
    report(walk, TB__VISITED_LENGTH, field, walk->at, count);
  }
  if (tb__field_width(field->is.kind) > 0)
    status = walk_numbers(walk, field, count);
  else
    status = walk_elements(walk, place, count);
  if (!status) walk->depth--;
  return status;
}

/* One that no byte stands for is not entered: of types within types there can be any number in it.
 * Every other has a byte at least; how many fields of no bytes come with it is bounded by steps. */
static tb_status_t walk_type(walk_t *walk, uint32_t index)
{
  const tb__schema_type_t *type = &walk->message->schema->types[index];
  tb_status_t status = TB_OK;
  if (type->is_empty) return TB_OK;
  for (uint32_t i = 0; i < type->field_count && !status; i++)
    status = walk_field(walk, &walk->message->schema->fields[type->first_field + i]);
  return status;
}

/* "transforms[2].header.frame_id" */
static void write_path(const walk_t *walk, char *out, size_t size)
{
  size_t used = 0;
  out[0] = '\0';
  for (uint32_t i = 0; i < walk->depth && used < size; i++) {
    const place_t *place = &walk->places[i];
    char element[16] = "";
    if (place->is_inside) snprintf(element, sizeof element, "[%u]", (unsigned)place->index);
    int length =
        snprintf(out + used, size - used, "%s%s%s", i > 0 ? "." : "", place->field->name, element);
    used += length > 0 ? (size_t)length : 0;
  }
}

tb_status_t tb__message_walk(const tb__message_t *message, tb__visit_fn visit, void *user,
                             tb_error_t *error)
{
  walk_t walk = {.message = message,
                 .visit = visit,
                 .user = user,
                 .steps_left = tb__message_steps_max(message)};
  const char *type = message->schema->types[message->schema->root].name;
  char path[200];
  tb_status_t status = walk_type(&walk, message->schema->root);
  if (!status && message->size - walk.at <= (message->schema->is_ros1 ? 0 : PADDING_MAX))
    return TB_OK;
  if (!status)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "message of %.150s: %zu bytes after its last field: it is of another "
                        "definition",
                        type, message->size - walk.at);
  write_path(&walk, path, sizeof path);
  return tb_error_set(error, status, "message of %.150s, field %s, byte %zu: %s", type, path,
                      walk.at + (message->schema->is_ros1 ? 0 : 4), walk.what);
}

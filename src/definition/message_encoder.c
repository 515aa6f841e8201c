#include "definition/message_encoder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "yaml/yaml_tree.h"

#define ENCAPSULATION_SIZE 4
#define MESSAGE_MAX        ((size_t)64 << 20)
#define TEXT_MAX           ((size_t)16 << 20)
#define VALUES_MAX         1000000
#define NS_PER_S           1000000000
#define TIME_NAME          "builtin_interfaces/msg/Time"
#define HEADER_NAME        "std_msgs/msg/Header"

struct tb__message_encoder {
  const tb__schema_t *schema;
  tb__yaml_t yaml;
  uint8_t *data;
  size_t size, room;
  int64_t now_ns;
  bool needs_time;
  tb_error_t *error;
};

typedef struct tb__message_encoder encoder_t;
typedef const tb__yaml_node_t *value_t; /* NULL: the default */

static tb_status_t put_struct(encoder_t *encoder, uint32_t type, value_t value);

/* --- failures --- */

static tb_status_t wrong(const encoder_t *encoder, value_t value, const tb__field_type_t *is,
                         const char *what)
{
  bool is_text = value->kind == TB__YAML_SCALAR;
  return tb_error_set(encoder->error, TB_ERR_INVALID, "line %zu, column %zu: %s%.100s%s%s%s%s",
                      value->line, value->column, is_text ? "'" : "",
                      is_text      ? value->text
                      : value->key ? value->key
                                   : "the value",
                      is_text ? "' " : " ", what, is ? " " : "",
                      !is                            ? ""
                      : is->kind == TB__FIELD_STRUCT ? encoder->schema->types[is->type].name
                                                     : tb__field_kind_name(is->kind));
}

static tb_status_t no_field(const encoder_t *encoder, const tb__schema_type_t *type, value_t value)
{
  char fields[300] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < type->field_count && used < sizeof fields; i++)
    used += (size_t)snprintf(fields + used, sizeof fields - used, "%s%s", i ? ", " : "",
                             encoder->schema->fields[type->first_field + i].name);
  return tb_error_set(encoder->error, TB_ERR_INVALID,
                      "line %zu, column %zu: %.150s has no field '%.80s'; it has %s",
                      value->key_line, value->key_column, type->name, value->key, fields);
}

/* --- bytes --- */

/* Room for `size` bytes at a multiple of `width`, with zeros before it. NULL: *status says why. */
static uint8_t *put(encoder_t *encoder, uint32_t width, uint64_t size, tb_status_t *status)
{
  size_t base = encoder->schema->is_ros1 ? 0 : ENCAPSULATION_SIZE;
  size_t before = encoder->schema->is_ros1 ? 0 : (0 - (encoder->size - base)) & (width - 1);
  uint64_t needed = encoder->size + before + size;
  if (needed > MESSAGE_MAX) {
    *status = tb_error_set(encoder->error, TB_ERR_LIMIT, "a message of more than %zu MiB",
                           MESSAGE_MAX >> 20);
    return NULL;
  }
  if (!encoder->data || needed > encoder->room) {
    size_t room = (size_t)needed + (size_t)needed / 2 + 64;
    uint8_t *data = realloc(encoder->data, room);
    if (!data) {
      *status = tb__no_memory_for(encoder->error, "message");
      return NULL;
    }
    encoder->data = data;
    encoder->room = room;
  }
  uint8_t *at = encoder->data + encoder->size;
  memset(at, 0, before);
  encoder->size = (size_t)needed;
  return at + before;
}

static tb_status_t put_bits(encoder_t *encoder, uint32_t width, uint64_t bits)
{
  tb_status_t status = TB_OK;
  uint8_t *to = put(encoder, width, width, &status);
  for (uint32_t i = 0; to && i < width; i++)
    to[i] = (uint8_t)(bits >> (8 * i));
  return status;
}

/* --- scalars --- */

static bool is_one_of(const char *text, const char *const *words)
{
  while (*words && strcmp(text, *words) != 0)
    words++;
  return *words != NULL;
}

static bool read_bool(const char *text, uint64_t *out)
{
  static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                    "on",   "On",   "ON",   "1",   NULL};
  static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
                                   "off",   "Off",   "OFF",   "0",  NULL};
  *out = is_one_of(text, yes);
  return *out || is_one_of(text, no);
}

/* Within `bits`; 0x and 0b as Python reads them, and no octal. */
static bool read_integer(const char *text, unsigned bits, bool is_signed, uint64_t *out)
{
  char *end;
  bool is_negative = *text == '-';
  const char *digits = text + (is_negative || *text == '+');
  int base = !strncmp(digits, "0x", 2) ? 16 : !strncmp(digits, "0b", 2) ? 2 : 10;
  if (base != 10) digits += 2;
  uint64_t most =
      is_signed ? (UINT64_C(1) << (bits - 1)) - !is_negative : UINT64_MAX >> (64 - bits);
  if (!strchr("0123456789abcdefABCDEF", *digits) || !*digits) return false;
  errno = 0;
  uint64_t number = strtoull(digits, &end, base);
  if (*end || errno || number > most || (is_negative && !is_signed && number)) return false;
  *out = is_negative ? 0 - number : number;
  return true;
}

static bool read_real(const char *text, double *out)
{
  static const char *const nan[] = {".nan", ".NaN", ".NAN", "nan", NULL};
  static const char *const infinite[] = {".inf", ".Inf", ".INF", "inf", NULL};
  const char *digits = text + (*text == '-' || *text == '+');
  char *end;
  if (is_one_of(text, nan)) {
    *out = (double)NAN;
    return true;
  }
  if (is_one_of(digits, infinite)) {
    *out = *text == '-' ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  if (!*digits || !strchr("0123456789.", *digits)) return false;
  *out = strtod(text, &end);
  return !*end;
}

/* False: the text is no such number. */
static bool read_number(tb__field_kind_t kind, const char *text, uint64_t *out)
{
  double wide = 0;
  float single;
  uint32_t low;
  switch (kind) {
  case TB__FIELD_BOOL:
    return read_bool(text, out);
  case TB__FIELD_FLOAT32:
    if (!read_real(text, &wide)) return false;
    single = (float)wide;
    if (isinf(single) && isfinite(wide)) return false;
    memcpy(&low, &single, sizeof low);
    *out = low;
    return true;
  case TB__FIELD_FLOAT64:
    if (!read_real(text, &wide)) return false;
    memcpy(out, &wide, sizeof wide);
    return true;
  default:
    return read_integer(text, 8 * tb__field_width(kind),
                        kind == TB__FIELD_INT8 || kind == TB__FIELD_INT16 ||
                            kind == TB__FIELD_INT32 || kind == TB__FIELD_INT64,
                        out);
  }
}

static tb_status_t put_text(encoder_t *encoder, const char *text, size_t length)
{
  size_t nul = !encoder->schema->is_ros1;
  tb_status_t status = put_bits(encoder, 4, length + nul);
  uint8_t *to = status ? NULL : put(encoder, 1, length + nul, &status);
  if (to) memcpy(to, text, length);
  if (to && nul) to[length] = 0;
  return status;
}

/* The character at *text, of UTF-8, which moves on; bytes that are none as they are. */
static uint32_t next_character(const char **text)
{
  const unsigned char *at = (const unsigned char *)*text;
  unsigned more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : *at >= 0xC0 ? 1 : 0;
  uint32_t code = more ? *at & (0x3Fu >> more) : *at;
  for (unsigned i = 1; i <= more; i++) {
    if ((at[i] & 0xC0) != 0x80) {
      *text += 1;
      return *at;
    }
    code = code << 6 | (at[i] & 0x3F);
  }
  *text += more + 1;
  return code;
}

/* A number of characters, and 4 bytes for each, which are units of UTF-16. */
static tb_status_t put_wide(encoder_t *encoder, const char *text, uint32_t *out_count)
{
  size_t at = encoder->size, base = encoder->schema->is_ros1 ? 0 : ENCAPSULATION_SIZE;
  uint32_t count = 0;
  tb_status_t status = put_bits(encoder, 4, 0);
  at = base + ((at - base + 3) & ~(size_t)3);
  while (!status && *text) {
    uint32_t code = next_character(&text);
    if (code > 0xFFFF) {
      status = put_bits(encoder, 4, 0xD7C0 + (code >> 10));
      code = 0xDC00 | (code & 0x3FF);
      count++;
    }
    if (!status) status = put_bits(encoder, 4, code);
    count++;
  }
  for (int i = 0; !status && i < 4; i++)
    encoder->data[at + (size_t)i] = (uint8_t)(count >> (8 * i));
  *out_count = count;
  return status;
}

static tb_status_t put_string(encoder_t *encoder, const tb__field_type_t *is, value_t value)
{
  const char *text = value ? value->text : "";
  uint32_t count = (uint32_t)strlen(text);
  tb_status_t status = is->kind == TB__FIELD_WSTRING ? put_wide(encoder, text, &count)
                                                     : put_text(encoder, text, count);
  if (!status && value && is->text_max && count > is->text_max)
    return wrong(encoder, value, is, "is longer than the bound of the");
  return status;
}

/* --- fields --- */

static tb_status_t put_element(encoder_t *encoder, const tb__field_type_t *is, value_t value)
{
  uint64_t bits = 0;
  if (is->kind == TB__FIELD_STRUCT) return put_struct(encoder, is->type, value);
  if (value && value->kind != TB__YAML_SCALAR)
    return wrong(encoder, value, is, "is a list or a mapping, and not a");
  if (is->kind == TB__FIELD_STRING || is->kind == TB__FIELD_WSTRING)
    return put_string(encoder, is, value);
  if (value && !read_number(is->kind, value->text, &bits))
    return wrong(encoder, value, is, "is no");
  return put_bits(encoder, tb__field_width(is->kind), bits);
}

static size_t count_items(value_t list)
{
  size_t count = 0;
  for (value_t item = list->first; item; item = item->next)
    count++;
  return count;
}

/* Zeros of an array that is not named, at once. */
static tb_status_t put_zeros(encoder_t *encoder, uint32_t width, uint64_t count)
{
  tb_status_t status = TB_OK;
  uint8_t *to = put(encoder, width, width * count, &status);
  if (to) memset(to, 0, (size_t)(width * count));
  return status;
}

static tb_status_t put_many(encoder_t *encoder, const tb__field_type_t *is, value_t value)
{
  bool is_sequence = is->shape == TB__FIELD_SEQUENCE;
  if (value && value->kind != TB__YAML_SEQUENCE) return wrong(encoder, value, is, "is no list of");
  size_t given = value ? count_items(value) : 0, count = is_sequence ? given : is->count;
  if (is_sequence ? is->count && given > is->count : value && given != is->count)
    return tb_error_set(encoder->error, TB_ERR_INVALID,
                        "line %zu, column %zu: %.100s has %zu elements, %s %" PRIu32, value->line,
                        value->column, value->key ? value->key : "the list", given,
                        is_sequence ? "at most" : "and not", is->count);
  tb_status_t status = is_sequence ? put_bits(encoder, 4, count) : TB_OK;
  uint32_t width = tb__field_width(is->kind);
  if (!value && width && !is_sequence) return put_zeros(encoder, width, count);
  value_t item = value ? value->first : NULL;
  for (size_t i = 0; !status && i < count; i++) {
    status = put_element(encoder, is, tb__yaml_is_null(item) ? NULL : item);
    if (item) item = item->next;
  }
  return status;
}

static tb_status_t put_value(encoder_t *encoder, const tb__field_type_t *is, value_t value)
{
  return is->shape == TB__FIELD_SINGLE ? put_element(encoder, is, value)
                                       : put_many(encoder, is, value);
}

/* What the definition has as the default; one that is not of the field's type counts for nothing.
 */
static tb_status_t put_default(encoder_t *encoder, const tb__schema_field_t *field)
{
  tb__yaml_t yaml = {0};
  tb_error_t *error = encoder->error, ignored = TB_ERROR_INIT;
  size_t size = encoder->size;
  uint64_t bits = 0;
  tb_status_t status = TB_ERR_INVALID;
  if (field->initial && field->is.shape == TB__FIELD_SINGLE && tb__field_width(field->is.kind) &&
      read_number(field->is.kind, field->initial, &bits))
    return put_bits(encoder, tb__field_width(field->is.kind), bits);
  const tb__yaml_limits_t limits = {TEXT_MAX, VALUES_MAX, true, NULL};
  if (field->initial && field->is.kind != TB__FIELD_STRUCT)
    status = tb__yaml_parse(field->initial, strlen(field->initial), &limits, &yaml, &ignored);
  encoder->error = &ignored;
  if (!status && yaml.root) status = put_value(encoder, &field->is, yaml.root);
  encoder->error = error;
  bool is_put = !status && yaml.root;
  tb__yaml_fini(&yaml);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message");
  if (is_put) return TB_OK;
  encoder->size = size;
  return put_value(encoder, &field->is, NULL);
}

/* --- structs --- */

static bool is_named(const encoder_t *encoder, uint32_t type, const char *name)
{
  return strcmp(encoder->schema->types[type].name, name) == 0;
}

/* With the two fields that it should have: definitions may be anything. */
static bool is_time(const encoder_t *encoder, uint32_t type)
{
  const tb__schema_type_t *of = &encoder->schema->types[type];
  const tb__schema_field_t *fields = &encoder->schema->fields[of->first_field];
  if (!is_named(encoder, type, TIME_NAME) || of->field_count != 2) return false;
  for (int i = 0; i < 2; i++)
    if (fields[i].is.shape != TB__FIELD_SINGLE || tb__field_width(fields[i].is.kind) != 4)
      return false;
  return true;
}

/* The time now, in the two fields of a time. */
static tb_status_t put_now(encoder_t *encoder)
{
  int64_t seconds = encoder->now_ns / NS_PER_S;
  encoder->needs_time = true;
  if (seconds < 0 || seconds > (encoder->schema->is_ros1 ? (int64_t)UINT32_MAX : INT32_MAX))
    return tb_error_set(encoder->error, TB_ERR_RANGE, "the time now fits no stamp");
  tb_status_t status = put_bits(encoder, 4, (uint64_t)seconds);
  return status ? status : put_bits(encoder, 4, (uint64_t)(encoder->now_ns % NS_PER_S));
}

/* "now" of a time, and the stamp of "auto" of a header. False: it is another value. */
static bool put_named(encoder_t *encoder, uint32_t type, value_t value, tb_status_t *status)
{
  if (!value || value->kind != TB__YAML_SCALAR) return false;
  const tb__schema_type_t *of = &encoder->schema->types[type];
  if (is_time(encoder, type) && !strcmp(value->text, "now")) {
    *status = put_now(encoder);
    return true;
  }
  if (!is_named(encoder, type, HEADER_NAME) || strcmp(value->text, "auto") != 0) return false;
  for (uint32_t i = 0; !*status && i < of->field_count; i++) {
    const tb__schema_field_t *field = &encoder->schema->fields[of->first_field + i];
    bool is_stamp = field->is.kind == TB__FIELD_STRUCT && field->is.shape == TB__FIELD_SINGLE &&
                    is_time(encoder, field->is.type);
    *status = is_stamp ? put_now(encoder) : put_default(encoder, field);
  }
  return true;
}

static tb_status_t check_keys(const encoder_t *encoder, uint32_t type, value_t value)
{
  const tb__schema_type_t *of = &encoder->schema->types[type];
  for (value_t one = value->first; one; one = one->next) {
    if (!tb__schema_find_field(encoder->schema, type, one->key, strlen(one->key)))
      return no_field(encoder, of, one);
    if (tb__yaml_find(value, one->key) != one)
      return tb_error_set(encoder->error, TB_ERR_INVALID, "line %zu, column %zu: a second '%.80s'",
                          one->key_line, one->key_column, one->key);
  }
  return TB_OK;
}

static tb_status_t put_struct(encoder_t *encoder, uint32_t type, value_t value)
{
  const tb__schema_type_t *of = &encoder->schema->types[type];
  const tb__field_type_t is = {.kind = TB__FIELD_STRUCT, .type = type};
  tb_status_t status = TB_OK;
  if (put_named(encoder, type, value, &status)) return status;
  if (!value && of->is_empty)
    return TB_OK; /* of types within types there can be any number in it */
  if (value && value->kind != TB__YAML_MAPPING)
    return wrong(encoder, value, &is, "is no mapping of the fields of");
  if (value) status = check_keys(encoder, type, value);
  for (uint32_t i = 0; !status && i < of->field_count; i++) {
    const tb__schema_field_t *field = &encoder->schema->fields[of->first_field + i];
    value_t given = value ? tb__yaml_find(value, field->name) : NULL;
    if (given && tb__yaml_is_null(given)) given = NULL; /* "~": the default */
    status = given ? put_value(encoder, &field->is, given) : put_default(encoder, field);
  }
  return status;
}

/* --- the encoder --- */

bool tb__message_encoder_needs_time(const tb__message_encoder_t *encoder)
{
  return encoder->needs_time;
}

tb_status_t tb__message_encoder_run(tb__message_encoder_t *encoder, int64_t now_ns,
                                    const uint8_t **out, size_t *out_size, tb_error_t *error)
{
  static const uint8_t little[ENCAPSULATION_SIZE] = {0, 1, 0, 0};
  tb_status_t status = TB_OK;
  encoder->now_ns = now_ns;
  encoder->error = error;
  size_t base = encoder->schema->is_ros1 ? 0 : ENCAPSULATION_SIZE;
  encoder->size = base; /* places count from after it */
  uint8_t *end = put(encoder, 1, 0, &status);
  if (end) memcpy(end - base, little, base);
  if (!status) status = put_struct(encoder, encoder->schema->root, encoder->yaml.root);
  encoder->error = NULL;
  if (status) return status;
  *out = encoder->data;
  *out_size = encoder->size;
  return TB_OK;
}

tb_status_t tb__message_encoder_create(const tb__schema_t *schema, const char *yaml, size_t size,
                                       tb__message_encoder_t **out, tb_error_t *error)
{
  const tb__yaml_limits_t limits = {TEXT_MAX, VALUES_MAX, true, NULL};
  const uint8_t *data;
  encoder_t *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return tb__no_memory_for(error, "message");
  encoder->schema = schema;
  tb_status_t status = tb__yaml_parse(yaml, size, &limits, &encoder->yaml, error);
  if (!status) status = tb__message_encoder_run(encoder, 0, &data, &size, error);
  if (status) {
    tb__message_encoder_destroy(encoder);
    return status == TB_ERR_CORRUPT ? TB_ERR_INVALID : status;
  }
  *out = encoder;
  return TB_OK;
}

void tb__message_encoder_destroy(tb__message_encoder_t *encoder)
{
  if (!encoder) return;
  tb__yaml_fini(&encoder->yaml);
  free(encoder->data);
  free(encoder);
}

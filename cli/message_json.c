#include "message_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

typedef struct decoder {
  tb__message_t message;
  size_t at;
  size_t items_max; /* 0: all */
  uint64_t steps_left;
  unsigned lists; /* with "[]" around what is read, one in the other */
} decoder_t;

/* --- numbers and texts --- */

/* The shortest text that is this number again: 0.1 and not 0.10000000149011612. */
static double nearest(float value)
{
  char text[32];
  for (int digits = 6; digits < 9; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, (double)value);
    double read = strtod(text, NULL);
    float again = (float)read;
    if (!(again < value) && !(again > value)) return read;
  }
  return (double)value;
}

static json_t *double_json(double value)
{
  if (isfinite(value)) return json_real(value);
  return json_string(isnan(value) ? ".nan" : value > 0 ? ".inf" : "-.inf");
}

static json_t *unsigned_json(uint64_t value)
{
  char text[24];
  if (value <= INT64_MAX) return json_integer((json_int_t)value);
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return json_string(text);
}

static json_t *number_json(tb__field_kind_t kind, uint64_t bits)
{
  uint32_t low = (uint32_t)bits;
  float single;
  double wide;
  switch (kind) {
  case TB__FIELD_BOOL:
    return json_boolean(bits != 0);
  case TB__FIELD_INT8:
    return json_integer((int8_t)low);
  case TB__FIELD_INT16:
    return json_integer((int16_t)low);
  case TB__FIELD_INT32:
    return json_integer((int32_t)low);
  case TB__FIELD_INT64:
    return json_integer((int64_t)bits);
  case TB__FIELD_FLOAT32:
    memcpy(&single, &low, sizeof single);
    return double_json(isfinite(single) ? nearest(single) : (double)single);
  case TB__FIELD_FLOAT64:
    memcpy(&wide, &bits, sizeof wide);
    return double_json(wide);
  default:
    return unsigned_json(bits);
  }
}

/* NULL: no memory. */
static json_t *text_value(const char *text, size_t length)
{
  char *copy = strndup(text, length);
  json_t *out = copy ? text_json(copy) : NULL;
  free(copy);
  return out;
}

static void put_utf8(char *out, size_t *length, uint32_t code)
{
  if (code < 0x80) {
    out[(*length)++] = (char)code;
  } else if (code < 0x800) {
    out[(*length)++] = (char)(0xC0 | code >> 6);
    out[(*length)++] = (char)(0x80 | (code & 0x3F));
  } else {
    if (code > 0xFFFF) out[(*length)++] = (char)(0xF0 | code >> 18);
    out[(*length)++] = (char)(code > 0xFFFF ? 0x80 | (code >> 12 & 0x3F) : 0xE0 | code >> 12);
    out[(*length)++] = (char)(0x80 | (code >> 6 & 0x3F));
    out[(*length)++] = (char)(0x80 | (code & 0x3F));
  }
}

/* U+FFFD for what is no character. */
static uint32_t character_of(uint32_t high, uint32_t unit)
{
  if (high && unit >> 10 == 0x37) return 0x10000 + ((high & 0x3FF) << 10 | (unit & 0x3FF));
  return unit > 0x10FFFF || unit >> 11 == 0x1B ? 0xFFFD : unit;
}

/* Above U+FFFF there are two units of UTF-16, also in the form of 4 bytes, or the number. */
static tb_status_t wide_json(decoder_t *decoder, json_t **out)
{
  uint64_t length, unit;
  uint32_t high = 0; /* the first of two units */
  bool is_short = decoder->message.has_short_wide;
  tb_status_t status = tb__message_bits(&decoder->message, 4, &decoder->at, &length);
  if (status) return status;
  size_t count = (size_t)(is_short ? length / 2 : length), used = 0;
  if (count > decoder->message.size) return TB_ERR_TRUNCATED;
  char *text = malloc(4 * count + 1);
  if (!text) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; !status && i < count; i++) {
    status = tb__message_bits(&decoder->message, is_short ? 2 : 4, &decoder->at, &unit);
    if (status) break;
    bool is_second = high && unit >> 10 == 0x37;
    if (high && !is_second) put_utf8(text, &used, 0xFFFD);
    bool is_first = unit >> 10 == 0x36;
    if (!is_first) put_utf8(text, &used, character_of(high, (uint32_t)unit));
    high = is_first ? (uint32_t)unit : 0;
  }
  if (high) put_utf8(text, &used, 0xFFFD);
  if (!status) *out = text_value(text, used);
  free(text);
  return status;
}

/* --- fields --- */

static tb_status_t struct_json(decoder_t *decoder, uint32_t type, bool is_shown, json_t **out);

/* *out stays as it is unless `is_shown`; NULL in it: no memory. */
static tb_status_t element_json(decoder_t *decoder, const tb__field_type_t *is, bool is_shown,
                                json_t **out)
{
  const char *text;
  size_t length;
  uint64_t bits;
  tb_status_t status;
  if (is->kind == TB__FIELD_STRUCT) return struct_json(decoder, is->type, is_shown, out);
  if (is->kind == TB__FIELD_STRING) {
    status = tb__message_string(&decoder->message, &decoder->at, &text, &length);
    if (!status && is_shown) *out = text_value(text, length);
    return status;
  }
  if (is->kind == TB__FIELD_WSTRING) {
    json_t *value = NULL;
    status = wide_json(decoder, &value);
    if (is_shown)
      *out = value;
    else
      json_decref(value);
    return status;
  }
  status = tb__message_bits(&decoder->message, tb__field_width(is->kind), &decoder->at, &bits);
  if (!status && is_shown) *out = number_json(is->kind, bits);
  return status;
}

/* Numbers that are not shown are not read one by one. */
static bool skip_numbers(decoder_t *decoder, const tb__field_type_t *is, size_t count)
{
  size_t width = tb__field_width(is->kind), left = decoder->message.size - decoder->at;
  if (!width || count > left / width) return false;
  decoder->at += count * width;
  return true;
}

static tb_status_t elements_json(decoder_t *decoder, const tb__field_type_t *is, size_t count,
                                 bool is_shown, json_t **out)
{
  json_t *list = is_shown ? json_array() : NULL;
  size_t shown = decoder->items_max && count > decoder->items_max ? decoder->items_max : count;
  tb_status_t status = TB_OK;
  if (!is_shown) shown = 0;
  for (size_t i = 0; !status && i < count; i++) {
    json_t *item = NULL;
    if (i > shown && skip_numbers(decoder, is, count - i)) break;
    status = element_json(decoder, is, i < shown, &item);
    if (!status && i < shown) json_push(list, item);
  }
  if (!status && is_shown && shown < count) json_push(list, json_string("..."));
  if (status)
    json_decref(list);
  else if (is_shown)
    *out = list;
  return status;
}

/* Elements of an array or a sequence. */
static tb_status_t take_count(decoder_t *decoder, const tb__field_type_t *is, size_t *out)
{
  uint64_t count = is->count;
  tb_status_t status = TB_OK;
  if (is->shape == TB__FIELD_SEQUENCE) {
    status = tb__message_bits(&decoder->message, 4, &decoder->at, &count);
    /* Each element has a byte at least. */
    if (!status && count > decoder->message.size - decoder->at) status = TB_ERR_TRUNCATED;
    if (!status && is->count && count > is->count) status = TB_ERR_CORRUPT;
  }
  *out = (size_t)count;
  return status;
}

static tb_status_t field_json(decoder_t *decoder, const tb__field_type_t *is, bool is_shown,
                              json_t **out)
{
  size_t count = 0;
  if (is->shape == TB__FIELD_SINGLE) return element_json(decoder, is, is_shown, out);
  tb_status_t status = take_count(decoder, is, &count);
  return status ? status : elements_json(decoder, is, count, is_shown, out);
}

/* Within a message, one that no byte stands for is not entered: of types within types there can be
 * any number in it. */
static bool is_entered(const decoder_t *decoder, uint32_t type)
{
  const tb__schema_t *schema = decoder->message.schema;
  return type == schema->root || !schema->types[type].is_empty;
}

static tb_status_t struct_json(decoder_t *decoder, uint32_t type, bool is_shown, json_t **out)
{
  const tb__schema_t *schema = decoder->message.schema;
  const tb__schema_type_t *of = &schema->types[type];
  json_t *object = is_shown ? json_object() : NULL;
  uint64_t filler;
  tb_status_t status = TB_OK;
  if (!of->field_count && !schema->is_ros1)
    status = tb__message_bits(&decoder->message, 1, &decoder->at, &filler);
  uint32_t count = is_entered(decoder, type) ? of->field_count : 0;
  for (uint32_t i = 0; !status && i < count; i++) {
    const tb__schema_field_t *field = &schema->fields[of->first_field + i];
    json_t *value = NULL;
    bool is_value = is_shown && strcmp(field->name, TB__NO_FIELDS) != 0;
    status = decoder->steps_left-- > 0 ? field_json(decoder, &field->is, is_value, &value)
                                       : TB_ERR_LIMIT;
    if (!status && is_value) json_put(object, field->name, value);
  }
  if (status)
    json_decref(object);
  else if (is_shown)
    *out = object;
  return status;
}

tb_status_t message_json(const tb__schema_t *schema, const void *data, size_t size,
                         size_t items_max, json_t **out)
{
  decoder_t decoder = {.items_max = items_max};
  tb_status_t status = tb__message_open(&decoder.message, schema, data, size);
  decoder.steps_left = status ? 0 : tb__message_steps_max(&decoder.message);
  json_t *object = NULL;
  if (!status) status = struct_json(&decoder, schema->root, true, &object);
  if (!status && !object) status = TB_ERR_NO_MEMORY;
  if (!status) *out = object;
  return status;
}

/* --- some fields of a message --- */

static tb_status_t path_in_struct(decoder_t *decoder, uint32_t type, const char *path,
                                  json_t **out);
static tb_status_t path_in_field(decoder_t *decoder, const tb__field_type_t *is, const char *path,
                                 json_t **out);

/* "[]": what `path` leads to in each element. */
static tb_status_t path_in_all(decoder_t *decoder, const tb__field_type_t *is, size_t count,
                               const char *path, json_t **out)
{
  tb__field_type_t element = *is;
  size_t shown = decoder->items_max && count > decoder->items_max ? decoder->items_max : count;
  json_t *list = json_array();
  tb_status_t status = list ? TB_OK : TB_ERR_NO_MEMORY;
  element.shape = TB__FIELD_SINGLE;
  decoder->lists++;
  for (size_t i = 0; !status && i < shown; i++) {
    json_t *item = NULL;
    status = path_in_field(decoder, &element, path, &item);
    if (!status) json_push(list, item);
  }
  decoder->lists--;
  if (!status && shown < count) json_push(list, json_string("..."));
  if (!status && decoder->lists) status = elements_json(decoder, is, count - shown, false, NULL);
  if (status)
    json_decref(list);
  else
    *out = list;
  return status;
}

/* null: there are not so many elements. */
static tb_status_t path_in_one(decoder_t *decoder, const tb__field_type_t *is, size_t count,
                               size_t index, const char *path, json_t **out)
{
  tb__field_type_t element = *is;
  element.shape = TB__FIELD_SINGLE;
  tb_status_t status = elements_json(decoder, is, index < count ? index : count, false, NULL);
  if (status) return status;
  if (index >= count) {
    *out = json_null();
    return TB_OK;
  }
  status = path_in_field(decoder, &element, path, out);
  if (!status && decoder->lists)
    status = elements_json(decoder, is, count - index - 1, false, NULL);
  return status;
}

/* What follows the name of the field. */
static tb_status_t path_in_field(decoder_t *decoder, const tb__field_type_t *is, const char *path,
                                 json_t **out)
{
  char *end;
  size_t count = 0;
  if (!*path) return field_json(decoder, is, true, out);
  if (*path == '.') return path_in_struct(decoder, is->type, path + 1, out);
  tb_status_t status = take_count(decoder, is, &count);
  if (status) return status;
  if (path[1] == ']') return path_in_all(decoder, is, count, path + 2, out);
  size_t index = strtoul(path + 1, &end, 10);
  return path_in_one(decoder, is, count, index, end + 1, out);
}

/* In a list the next element follows, so all of this one is passed. */
static tb_status_t path_in_struct(decoder_t *decoder, uint32_t type, const char *path, json_t **out)
{
  const tb__schema_t *schema = decoder->message.schema;
  const tb__schema_type_t *of = &schema->types[type];
  size_t length = strcspn(path, ".[");
  bool is_found = false;
  tb_status_t status = TB_OK;
  for (uint32_t i = 0; !status && i < of->field_count && (!is_found || decoder->lists); i++) {
    const tb__schema_field_t *field = &schema->fields[of->first_field + i];
    bool is_it = !is_found && strlen(field->name) == length && !memcmp(field->name, path, length);
    status = is_it ? path_in_field(decoder, &field->is, path + length, out)
                   : field_json(decoder, &field->is, false, NULL);
    is_found |= is_it;
  }
  return status;
}

tb_status_t message_json_fields(const tb__schema_t *schema, const void *data, size_t size,
                                const message_fields_t *fields, json_t **out)
{
  decoder_t decoder = {.items_max = fields->items_max};
  tb_status_t status = tb__message_open(&decoder.message, schema, data, size);
  decoder.steps_left = status ? 0 : tb__message_steps_max(&decoder.message);
  json_t *object = status ? NULL : json_object();
  if (!status && !object) status = TB_ERR_NO_MEMORY;
  for (size_t i = 0; !status && i < fields->count; i++) {
    json_t *value = NULL;
    decoder.at = 0;
    status = path_in_struct(&decoder, schema->root, fields->paths[i], &value);
    if (status)
      json_decref(value);
    else
      json_put(object, fields->paths[i], value);
  }
  if (status)
    json_decref(object);
  else
    *out = object;
  return status;
}

/* --- YAML --- */

static bool is_word(const char *text)
{
  static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE", "yes",
                                      "Yes",  "YES",  "no",   "No",    "NO",    "on",    "On",
                                      "ON",   "off",  "Off",  "OFF",   "null",  "Null",  "NULL",
                                      "y",    "Y",    "n",    "N"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(text, words[i])) return true;
  return false;
}

/* A text that YAML reads as one without quotes; numbers as texts begin with ".inf" at most. */
static bool is_plain(const char *text)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-";
  bool is_special = !strcmp(text, ".nan") || !strcmp(text, ".inf") || !strcmp(text, "-.inf");
  if (is_special) return true;
  return *text && (strchr(letters, *text) || *text == '/') && !text[strspn(text, others)] &&
         !is_word(text);
}

/* With as few digits as make it the same number. */
static void print_real(double value)
{
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    double again = strtod(text, NULL);
    if (!(again < value) && !(again > value)) break;
  }
  text_out("%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void print_scalar(const json_t *value)
{
  if (json_is_real(value)) {
    print_real(json_real_value(value));
    return;
  }
  if (json_is_string(value) && is_plain(json_string_value(value))) {
    text_out("%s", json_string_value(value));
    return;
  }
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
  text_out("%s", text ? text : "null");
  free(text);
}

static bool has_items(const json_t *value)
{
  return json_is_object(value) ? json_object_size(value) > 0
                               : json_is_array(value) && json_array_size(value) > 0;
}

static bool is_flat(const json_t *list)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    if (has_items(json_array_get(list, i))) return false;
  return true;
}

static void print_object(const json_t *object, int indent, bool is_first_placed);

static void print_flat(const json_t *list)
{
  text_out("[");
  for (size_t i = 0; i < json_array_size(list); i++) {
    text_out("%s", i ? ", " : "");
    print_scalar(json_array_get(list, i));
  }
  text_out("]\n");
}

static void print_list(const json_t *list, int indent)
{
  if (is_flat(list)) {
    print_flat(list);
    return;
  }
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    text_out("%*s- ", indent, "");
    if (has_items(item) && json_is_object(item)) {
      print_object(item, indent + 2, true);
    } else if (json_is_array(item)) { /* of a path with "[]" */
      print_flat(item);
    } else {
      print_scalar(item);
      text_out("\n");
    }
  }
}

/* After "key:". */
static void print_value(const json_t *value, int indent)
{
  if (json_is_object(value) && has_items(value)) {
    text_out("\n");
    print_object(value, indent + 2, false);
  } else if (json_is_array(value)) {
    text_out(is_flat(value) ? " " : "\n");
    print_list(value, indent);
  } else {
    text_out(" ");
    print_scalar(value);
    text_out("\n");
  }
}

/* `is_first_placed`: the place of the first key has been printed, as "- ". */
static void print_object(const json_t *object, int indent, bool is_first_placed)
{
  json_t *entries = json_to_iterate(object), *value;
  const char *key;
  json_object_foreach(entries, key, value)
  {
    text_out("%*s%s:", is_first_placed ? 0 : indent, "", key);
    is_first_placed = false;
    print_value(value, indent);
  }
}

void message_print_yaml(const json_t *message)
{
  if (json_is_object(message) && has_items(message)) {
    print_object(message, 0, false);
  } else if (json_is_array(message)) {
    print_list(message, 0);
  } else if (json_is_object(message)) {
    text_out("{}\n");
  } else {
    print_scalar(message);
    text_out("\n");
  }
}

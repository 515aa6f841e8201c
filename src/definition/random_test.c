/* Random definitions, messages of them, and what is read of those: all of it, each field by its
 * path, and what is left when bytes are changed or cut off. */
#include <stdlib.h>
#include <string.h>

#include "definition/field_path.h"
#include "definition/parse.h"
#include "seed.h"

#define TYPES_MAX   6
#define FIELDS_MAX  7
#define EVENTS_MAX  65536
#define SAMPLES_MAX 24
#define SIZE_MAX_   (1 << 17)
#define RULE        "================================================================================\n"

typedef struct made_field {
  tb__field_kind_t kind;
  tb__field_shape_t shape;
  uint32_t count, text_max, type;
} made_field_t;

typedef struct made_type {
  made_field_t fields[FIELDS_MAX];
  uint32_t field_count;
} made_type_t;

typedef struct event {
  tb__visited_kind_t kind;
  size_t at;
  uint32_t count;
} event_t;

typedef struct sample {
  char path[256];
  size_t at;
} sample_t;

typedef struct made {
  uint64_t random;
  made_type_t types[TYPES_MAX];
  uint32_t type_count;
  char text[1 << 16];
  size_t text_size;
  uint8_t bytes[SIZE_MAX_ + 4096];
  size_t size; /* of the body */
  bool big_endian;
  event_t events[EVENTS_MAX];
  size_t event_count, events_seen;
  sample_t samples[SAMPLES_MAX];
  size_t sample_count, samples_offered;
  char path[512];
} made_t;

static made_t made;

static const struct {
  const char *msg, *idl;
  uint32_t width;
} kinds[] = {
    [TB__FIELD_BOOL] = {"bool", "boolean", 1},
    [TB__FIELD_INT8] = {"int8", "int8", 1},
    [TB__FIELD_UINT8] = {"char", "octet", 1},
    [TB__FIELD_INT16] = {"int16", "short", 2},
    [TB__FIELD_UINT16] = {"uint16", "unsigned short", 2},
    [TB__FIELD_INT32] = {"int32", "long", 4},
    [TB__FIELD_UINT32] = {"uint32", "uint32", 4},
    [TB__FIELD_INT64] = {"int64", "long long", 8},
    [TB__FIELD_UINT64] = {"uint64", "unsigned long long", 8},
    [TB__FIELD_FLOAT32] = {"float32", "float", 4},
    [TB__FIELD_FLOAT64] = {"float64", "double", 8},
    [TB__FIELD_STRING] = {"string", "string", 0},
    [TB__FIELD_WSTRING] = {"wstring", "wstring", 0},
};

static uint32_t below(uint32_t bound)
{
  return (uint32_t)(test_random(&made.random) >> 16) % bound;
}

/* --- definitions --- */

static void make_types(void)
{
  made.type_count = 1 + below(TYPES_MAX);
  for (uint32_t t = 0; t < made.type_count; t++) {
    made_type_t *type = &made.types[t];
    type->field_count = below(FIELDS_MAX + 1);
    for (uint32_t f = 0; f < type->field_count; f++) {
      made_field_t *field = &type->fields[f];
      *field = (made_field_t){.kind = (tb__field_kind_t)below(TB__FIELD_STRUCT + 1)};
      if (field->kind == TB__FIELD_WSTRING && below(3) > 0) field->kind = TB__FIELD_STRING;
      if (t + 1 == made.type_count && field->kind == TB__FIELD_STRUCT)
        field->kind = TB__FIELD_FLOAT64;
      if (field->kind == TB__FIELD_STRUCT) field->type = t + 1 + below(made.type_count - t - 1);
      if (field->kind == TB__FIELD_STRING && below(3) == 0) field->text_max = 1 + below(8);
      field->shape = (tb__field_shape_t)(below(2) ? 0 : below(3));
      if (field->shape == TB__FIELD_ARRAY) field->count = 1 + below(5);
      if (field->shape == TB__FIELD_SEQUENCE && below(2)) field->count = 1 + below(6);
    }
  }
}

__attribute__((format(printf, 1, 2))) static void write_text(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length =
      vsnprintf(made.text + made.text_size, sizeof made.text - made.text_size, format, arguments);
  va_end(arguments);
  made.text_size += (size_t)length;
  assert_true(made.text_size < sizeof made.text);
}

static void write_msg_field(const made_field_t *field, uint32_t index)
{
  static const char *const ends[] = {"\n", " # a comment\n", " 1 # default\n", "\r\n", "\t\n\n"};
  if (below(4) == 0) write_text("%suint8 K%u=%u\n", below(2) ? "  " : "", index, index);
  if (field->kind == TB__FIELD_STRUCT)
    write_text("%sT%u", below(2) ? "" : below(2) ? "p/" : "p/msg/", field->type);
  else
    write_text("%s", kinds[field->kind].msg);
  if (field->text_max) write_text("<=%u", field->text_max);
  if (field->shape == TB__FIELD_ARRAY) write_text("[%u]", field->count);
  if (field->shape == TB__FIELD_SEQUENCE) write_text(field->count ? "[<=%u]" : "[]", field->count);
  write_text(" f%u%s", index, ends[below(5)]);
}

static void write_msg(void)
{
  for (uint32_t t = 0; t < made.type_count; t++) {
    if (t > 0) write_text(RULE "MSG: p/T%u\n", t);
    for (uint32_t f = 0; f < made.types[t].field_count; f++)
      write_msg_field(&made.types[t].fields[f], f);
  }
}

static void write_idl_type(const made_field_t *field)
{
  char element[64], bound[16] = "";
  if (field->text_max) snprintf(bound, sizeof bound, "<%u>", field->text_max);
  if (field->kind == TB__FIELD_STRUCT)
    snprintf(element, sizeof element, "%sT%u",
             below(2)   ? "p::msg::"
             : below(2) ? "::p::msg::"
                        : "",
             field->type);
  else
    snprintf(element, sizeof element, "%s%s", kinds[field->kind].idl, bound);
  if (field->shape != TB__FIELD_SEQUENCE)
    write_text("%s", element);
  else if (field->count)
    write_text("sequence<%s, %u>", element, field->count);
  else
    write_text("sequence<%s>", element);
}

/* An array has a typedef before the struct, or its number after the name. */
static void write_idl_struct(uint32_t t)
{
  const made_type_t *type = &made.types[t];
  bool has_typedef[FIELDS_MAX] = {false};
  for (uint32_t f = 0; f < type->field_count; f++) {
    const made_field_t *field = &type->fields[f];
    has_typedef[f] = field->shape == TB__FIELD_ARRAY && below(2);
    if (!has_typedef[f]) continue;
    write_text("typedef ");
    write_idl_type(field);
    write_text(" A%u_%u[%u];\n", t, f, field->count);
  }
  write_text("%sstruct T%u {\n",
             below(2) ? "@verbatim (language=\"comment\", text=\"{(\" \";\")\n" : "", t);
  for (uint32_t f = 0; f < type->field_count; f++) {
    const made_field_t *field = &type->fields[f];
    write_text(below(3) ? "  " : "  @unit(value=\"m\") /* ; */ ");
    if (has_typedef[f])
      write_text("A%u_%u", t, f);
    else
      write_idl_type(field);
    write_text(" f%u", f);
    if (field->shape == TB__FIELD_ARRAY && !has_typedef[f]) write_text("[%u]", field->count);
    write_text(";%s\n", below(3) ? "" : " // }");
  }
  write_text("};\n");
}

static void write_idl(void)
{
  for (uint32_t t = 0; t < made.type_count; t++) {
    write_text(RULE "IDL: p/msg/T%u\n#include \"p/msg/T%u.idl\"\nmodule p { module msg {\n", t, t);
    write_text("module T%u_Constants { const uint8 K = 1; const string S = \"};\"; };\n", t);
    write_idl_struct(t);
    write_text("}; };\n");
  }
}

/* --- messages --- */

static void put(uint64_t bits, uint32_t width)
{
  while (made.size % width != 0)
    made.bytes[4 + made.size++] = (uint8_t)below(256); /* padding may be anything */
  for (uint32_t i = 0; i < width; i++)
    made.bytes[4 + made.size + i] = (uint8_t)(bits >> (8 * (made.big_endian ? width - 1 - i : i)));
  made.size += width;
}

static void note(tb__visited_kind_t kind, size_t at, uint32_t count)
{
  assert_true(made.event_count < EVENTS_MAX);
  made.events[made.event_count++] = (event_t){kind, at, count};
}

/* Some of the fields, wherever they are. */
static void offer_sample(void)
{
  size_t index = made.samples_offered++;
  if (index >= SAMPLES_MAX) {
    index = below((uint32_t)made.samples_offered);
    if (index >= SAMPLES_MAX) return;
  } else {
    made.sample_count++;
  }
  snprintf(made.samples[index].path, sizeof made.samples[index].path, "%.250s", made.path);
  made.samples[index].at = made.size;
}

static void put_string(const made_field_t *field)
{
  uint32_t length = below(field->text_max ? field->text_max + 1 : 12);
  if (length == 0 && below(2)) {
    put(0, 4); /* as some write an empty one */
    note(TB__VISITED_TEXT, made.size, 0);
    return;
  }
  put(length + 1, 4);
  note(TB__VISITED_TEXT, length ? made.size : made.size + 1, length);
  for (uint32_t i = 0; i < length; i++)
    made.bytes[4 + made.size++] = (uint8_t)(1 + below(255));
  made.bytes[4 + made.size++] = 0;
}

static void put_wide_string(void)
{
  uint32_t length = below(6);
  put(length, 4);
  note(TB__VISITED_TEXT, made.size, length * 4);
  for (uint32_t i = 0; i < length; i++)
    put(below(0x10000), 4);
}

static void put_type(uint32_t t);

static void put_element(const made_field_t *field)
{
  if (field->kind == TB__FIELD_STRUCT) {
    put_type(field->type);
    return;
  }
  offer_sample();
  if (field->kind == TB__FIELD_STRING)
    put_string(field);
  else if (field->kind == TB__FIELD_WSTRING)
    put_wide_string();
  else
    put(test_random(&made.random), kinds[field->kind].width);
}

static void put_field(const made_field_t *field, uint32_t f)
{
  size_t length = strlen(made.path);
  uint32_t count = field->shape == TB__FIELD_SINGLE ? 1 : field->count;
  snprintf(made.path + length, sizeof made.path - length, "%sf%u", length ? "." : "", f);
  size_t with_name = strlen(made.path);
  if (field->shape == TB__FIELD_SEQUENCE) {
    count = below(field->count ? field->count + 1 : made.size > SIZE_MAX_ / 64 ? 1 : 40);
    put(count, 4);
    note(TB__VISITED_LENGTH, made.size, count);
  }
  uint32_t width = field->kind == TB__FIELD_STRUCT ? 0 : kinds[field->kind].width;
  if (width) {
    size_t at = count ? (made.size + width - 1) / width * width : made.size;
    note(TB__VISITED_NUMBERS, at, count);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (field->shape != TB__FIELD_SINGLE)
      snprintf(made.path + with_name, sizeof made.path - with_name, "[%u]", i);
    put_element(field);
  }
  made.path[length] = '\0';
}

static void put_type(uint32_t t)
{
  const made_type_t *type = &made.types[t];
  for (uint32_t f = 0; f < type->field_count; f++)
    put_field(&type->fields[f], f);
  if (type->field_count == 0) {
    note(TB__VISITED_NUMBERS, made.size, 1);
    put(0, 1);
  }
}

static void make_message(void)
{
  made.size = made.event_count = made.sample_count = made.samples_offered = 0;
  made.path[0] = '\0';
  made.big_endian = below(2);
  made.bytes[0] = made.bytes[2] = made.bytes[3] = 0;
  made.bytes[1] = !made.big_endian;
  put_type(0);
  assert_true(made.size < SIZE_MAX_);
}

/* --- what is read --- */

static void expect_event(void *user, const tb__visited_t *visited)
{
  (void)user;
  assert_true(made.events_seen < made.event_count);
  const event_t *event = &made.events[made.events_seen++];
  if (event->kind != visited->kind || event->at != visited->at || event->count != visited->count)
    fail_msg("event %zu: kind %d at %zu, %u; expected kind %d at %zu, %u", made.events_seen - 1,
             (int)visited->kind, visited->at, visited->count, (int)event->kind, event->at,
             event->count);
}

static void check_paths(const tb__schema_t *schema, const tb__message_t *message)
{
  for (size_t i = 0; i < made.sample_count; i++) {
    tb__field_path_t *path = NULL;
    tb_error_t error = TB_ERROR_INIT;
    size_t at = SIZE_MAX;
    if (tb__field_path_create(schema, made.samples[i].path, &path, &error))
      fail_msg("%s", error.text);
    assert_ok(tb__field_path_find(path, message, 0, &at));
    if (at != made.samples[i].at)
      fail_msg("%s: found at %zu, is at %zu", made.samples[i].path, at, made.samples[i].at);
    tb__field_path_destroy(path);
  }
}

/* In a block of its exact size, so that sanitizers see a read past its end. */
static void check_hostile(const tb__schema_t *schema)
{
  size_t size = 4 + (below(2) ? made.size : below((uint32_t)made.size + 1));
  uint8_t *copy = malloc(size);
  assert_non_null(copy);
  memcpy(copy, made.bytes, size);
  bool is_changed = below(3) > 0;
  for (uint32_t i = below(4); is_changed && i > 0 && size > 4; i--)
    copy[4 + below((uint32_t)size - 4)] = (uint8_t)below(below(2) ? 4 : 256);
  tb__message_t message;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__message_open(&message, schema, copy, size));
  tb_status_t status = tb__message_walk(&message, NULL, NULL, &error);
  if (status) assert_non_null(strstr(error.text, "message of p/msg/T0"));
  if (!is_changed && size < made.size + 4 && !schema->has_wide)
    assert_status(status, TB_ERR_TRUNCATED);
  const tb__schema_type_t *root = &schema->types[schema->root];
  size_t at = 0;
  tb_status_t skipped =
      tb__message_skip(&message, &schema->skips[root->first_skip], root->skip_count, &at);
  assert_true(at <= message.size);
  if (!status) assert_true(skipped == TB_OK && message.size - at < 4);
  for (size_t i = 0; i < made.sample_count; i++) {
    tb__field_path_t *path = NULL;
    assert_ok(tb__field_path_create(schema, made.samples[i].path, &path, NULL));
    if (tb__field_path_find(path, &message, 0, &at) == TB_OK) assert_true(at <= message.size);
    tb__field_path_destroy(path);
  }
  free(copy);
}

static void run(bool is_idl)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  make_types();
  made.text_size = 0;
  if (is_idl)
    write_idl();
  else
    write_msg();
  if (tb__schema_parse("p/msg/T0", is_idl ? "ros2idl" : "ros2msg", made.text, made.text_size,
                       &schema, &error))
    fail_msg("%s in:\n%s", error.text, made.text);
  for (int round = 0; round < 4; round++) {
    tb__message_t message;
    make_message();
    assert_ok(tb__message_open(&message, schema, made.bytes, made.size + 4 + below(4)));
    assert_false(message.has_short_wide);
    made.events_seen = 0;
    if (tb__message_walk(&message, expect_event, NULL, &error))
      fail_msg("%s in:\n%s", error.text, made.text);
    assert_int_equal(made.events_seen, made.event_count);
    check_paths(schema, &message);
    for (int i = 0; i < 8; i++)
      check_hostile(schema);
  }
  tb__schema_destroy(schema);
}

static void test_random_messages_of_random_definitions(void **state)
{
  (void)state;
  do {
    made.random = test_seed();
    for (int i = 0; i < 300; i++)
      run(i % 2);
  } while (test_goes_on());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_messages_of_random_definitions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

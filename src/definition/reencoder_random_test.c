/* Random definitions of ROS 1, and random messages of them, to ROS 2 and back: both sides are read
 * by the code that reads messages, and hold the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/reencoder.h>

#include "definition/message.h"
#include "definition/parse.h"
#include "seed.h"

#define RULE       "================================================================================\n"
#define TYPES_MAX  5
#define FIELDS_MAX 6
#define BYTES_MAX  (1 << 16)
#define PARTS_MAX  16384

typedef struct part {
  tb__visited_kind_t kind;
  uint32_t count, width;
  size_t at;
} part_t;

typedef struct parts {
  part_t items[PARTS_MAX];
  size_t count;
} parts_t;

static struct made {
  uint64_t random;
  char text[1 << 14];
  size_t text_size;
  uint8_t bytes[BYTES_MAX + 4096], turned[2 * BYTES_MAX + 8192];
  size_t size;
  parts_t ros1, ros2;
} made;

static uint32_t below(uint32_t bound)
{
  return (uint32_t)(test_random(&made.random) >> 16) % bound;
}

/* --- definitions --- */

static void put(const char *text)
{
  size_t length = strlen(text);
  assert_true(made.text_size + length < sizeof made.text);
  memcpy(made.text + made.text_size, text, length + 1);
  made.text_size += length;
}

static void put_field(uint32_t type, uint32_t type_count, uint32_t number)
{
  static const char *const kinds[] = {"bool",    "byte",   "char",   "int8",   "uint8",   "int16",
                                      "uint16",  "int32",  "uint32", "int64",  "uint64",  "float32",
                                      "float64", "string", "time",   "string", "duration"};
  char line[64];
  uint32_t kind = below(24), shape = below(6);
  bool has_inner = kind >= 18 && type + 1 < type_count;
  char name[32];
  if (has_inner)
    snprintf(name, sizeof name, "p/N%u", (unsigned)(type + 1 + below(type_count - type - 1)));
  else
    snprintf(name, sizeof name, "%s", kinds[kind % 17]);
  if (number == 0 && below(4) == 0) snprintf(name, sizeof name, "Header");
  char count[16] = "";
  if (shape == 0) snprintf(count, sizeof count, "[]");
  if (shape == 1) snprintf(count, sizeof count, "[%u]", (unsigned)(1 + below(3)));
  snprintf(line, sizeof line, "%s%s f%u%s\n", name, count, (unsigned)number,
           below(8) == 0 ? " # a field" : "");
  put(line);
}

static void make_definition(void)
{
  uint32_t types = 1 + below(TYPES_MAX);
  made.text_size = 0;
  for (uint32_t type = 0; type < types; type++) {
    char heading[sizeof RULE + 32];
    uint32_t fields = type + 1 == types ? 1 + below(FIELDS_MAX) : below(FIELDS_MAX) + 1;
    snprintf(heading, sizeof heading, RULE "MSG: p/N%u\n", (unsigned)type);
    if (type > 0) put(heading);
    if (below(3) == 0) put("string S=a # b\nint32 C = 7 # c\n");
    for (uint32_t i = 0; i < fields; i++)
      put_field(type, types, i);
  }
  put(RULE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n");
}

/* --- messages of ROS 1 --- */

static void put_number(uint64_t number, uint32_t width)
{
  for (uint32_t i = 0; i < width && made.size < BYTES_MAX; i++, number >>= 8)
    made.bytes[made.size++] = (uint8_t)number;
}

static void put_type(const tb__schema_t *schema, uint32_t type);

static void put_value(const tb__schema_t *schema, const tb__schema_field_t *field)
{
  uint32_t width = tb__field_width(field->is.kind);
  bool is_zero = strcmp(field->name, "seq") == 0;
  uint64_t number = is_zero ? 0 : test_random(&made.random);
  if (field->is.kind == TB__FIELD_BOOL) number &= 1;
  if (field->is.kind == TB__FIELD_STRING) {
    uint32_t length = below(12);
    put_number(length, 4);
    for (uint32_t i = 0; i < length; i++)
      put_number(below(256), 1);
  } else if (field->is.kind == TB__FIELD_STRUCT) {
    put_type(schema, field->is.type);
  } else {
    put_number(number, width);
  }
}

static void put_type(const tb__schema_t *schema, uint32_t index)
{
  const tb__schema_type_t *type = &schema->types[index];
  bool is_duration = strcmp(type->name, "builtin_interfaces/msg/Duration") == 0;
  if (is_duration || strcmp(type->name, "builtin_interfaces/msg/Time") == 0) {
    put_number(is_duration ? test_random(&made.random) : below(0x7fffffff), 4);
    put_number(below(1000000000), 4);
    return;
  }
  for (uint32_t i = 0; i < type->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[type->first_field + i];
    uint32_t count = field->is.shape == TB__FIELD_SINGLE  ? 1
                     : field->is.shape == TB__FIELD_ARRAY ? field->is.count
                                                          : below(4);
    if (field->is.shape == TB__FIELD_SEQUENCE) put_number(count, 4);
    for (uint32_t k = 0; k < count; k++)
      put_value(schema, field);
  }
}

/* --- what is in them --- */

static void note(void *user, const tb__visited_t *visited)
{
  parts_t *parts = user;
  if (strcmp(visited->field->name, "seq") == 0) return;
  assert_true(parts->count < PARTS_MAX);
  uint32_t width =
      visited->kind == TB__VISITED_NUMBERS ? tb__field_width(visited->field->is.kind) : 1;
  parts->items[parts->count++] = (part_t){visited->kind, visited->count, width, visited->at};
}

static tb__schema_t *read_all(const tb_reencoder_type_t *type, const void *bytes, size_t size,
                              tb__message_t *message, parts_t *parts)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  parts->count = 0;
  if (tb__schema_parse(type->name, type->encoding, type->definition, strlen(type->definition),
                       &schema, &error) ||
      tb__message_open(message, schema, bytes, size) ||
      tb__message_walk(message, note, parts, &error))
    fail_msg("%s\n%s", error.text, type->definition);
  return schema;
}

static void assert_same(const tb_reencoder_t *reencoder, const void *cdr, size_t cdr_size)
{
  tb__message_t one, two;
  tb__schema_t *ros1 =
      read_all(tb_reencoder_ros1(reencoder), made.bytes, made.size, &one, &made.ros1);
  tb__schema_t *ros2 = read_all(tb_reencoder_ros2(reencoder), cdr, cdr_size, &two, &made.ros2);
  assert_int_equal(made.ros1.count, made.ros2.count);
  for (size_t i = 0; i < made.ros1.count; i++) {
    const part_t *a = &made.ros1.items[i], *b = &made.ros2.items[i];
    assert_true(a->kind == b->kind && a->count == b->count && a->width == b->width);
    if (a->kind != TB__VISITED_LENGTH)
      assert_memory_equal(one.body + a->at, two.body + b->at, (size_t)a->count * a->width);
  }
  tb__schema_destroy(ros1);
  tb__schema_destroy(ros2);
}

/* The same message in big endian, by what was visited. */
static void turn(const uint8_t *cdr, size_t size)
{
  const uint8_t *body = cdr + 4;
  memcpy(made.turned, cdr, size);
  made.turned[1] = 0;
  for (size_t i = 0; i < made.ros2.count; i++) {
    const part_t *part = &made.ros2.items[i];
    uint32_t width = part->kind == TB__VISITED_NUMBERS ? part->width : 4;
    uint32_t count = part->kind == TB__VISITED_NUMBERS ? part->count : 1;
    size_t at = part->kind == TB__VISITED_NUMBERS ? part->at : part->at - 4;
    if (part->kind == TB__VISITED_TEXT && part->count == 0) at = part->at - 5 + 0;
    for (uint32_t k = 0; k < count; k++)
      for (uint32_t b = 0; b < width; b++)
        made.turned[4 + at + k * width + b] = body[at + k * width + width - 1 - b];
  }
}

static void assert_back(tb_reencoder_t *back, const void *cdr, size_t size, bool is_counted)
{
  const void *out = NULL;
  size_t out_size = 0;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_reencoder_run(back, cdr, size, &out, &out_size, &error)) fail_msg("%s", error.text);
  assert_int_equal(out_size, made.size);
  uint8_t *seen = malloc(out_size + 1);
  memcpy(seen, out, out_size);
  if (is_counted) memset(seen, 0, 4);
  assert_memory_equal(seen, made.bytes, out_size);
  free(seen);
  for (size_t left = 0; left < 16 && left < size; left++)
    if (tb_reencoder_run(back, cdr, left, &out, &out_size, NULL)) continue;
}

/* As the first field: then seq counts. */
static bool has_header(const tb__schema_t *schema)
{
  const tb__schema_field_t *first = &schema->fields[schema->types[schema->root].first_field];
  return first->is.kind == TB__FIELD_STRUCT && first->is.shape == TB__FIELD_SINGLE &&
         strcmp(schema->types[first->is.type].name, "std_msgs/msg/Header") == 0;
}

static void test_random_round_trip(void **state)
{
  (void)state;
  do {
    made.random = test_seed();
    for (int i = 0; i < 300; i++) {
      tb_error_t error = TB_ERROR_INIT;
      tb_reencoder_t *to = NULL, *back = NULL;
      tb__schema_t *schema = NULL;
      const void *cdr = NULL;
      size_t size = 0;
      make_definition();
      const tb_reencoder_type_t type = {"p/T", "ros1msg", made.text, NULL};
      if (tb_reencoder_find(&type, NULL, 0, &to, &error)) fail_msg("%s\n%s", error.text, made.text);
      assert_true(tb_reencoder_is_derived(to));
      if (tb_reencoder_find(tb_reencoder_ros2(to), NULL, 0, &back, &error))
        fail_msg("%s\n%s", error.text, tb_reencoder_ros2(to)->definition);
      assert_string_equal(tb_reencoder_md5sum(to), tb_reencoder_md5sum(back));
      assert_ok(tb__schema_parse("p/T", "ros1msg", made.text, made.text_size, &schema, NULL));
      made.size = 0;
      put_type(schema, schema->root);
      if (made.size < BYTES_MAX) {
        if (tb_reencoder_run(to, made.bytes, made.size, &cdr, &size, &error))
          fail_msg("%s\n%s", error.text, made.text);
        assert_same(to, cdr, size);
        assert_back(back, cdr, size, has_header(schema));
        turn(cdr, size);
        assert_back(back, made.turned, size, has_header(schema));
      }
      tb__schema_destroy(schema);
      tb_reencoder_destroy(to);
      tb_reencoder_destroy(back);
    }
  } while (test_goes_on());
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

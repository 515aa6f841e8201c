/* Messages by their definition, through the public calls; and edges of frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/message_definition.h>

#include "counted_allocations.h"
#include "definition/message_head.h"
#include "definition/parse.h"
#include "test.h"

#define RULE         "================================================================================\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A message in the making, in either byte order. */
typedef struct message {
  uint8_t bytes[1024];
  size_t size;
  bool big_endian;
} message_t;

static void begin(message_t *message, bool big_endian)
{
  *message = (message_t){.size = 4, .big_endian = big_endian};
  message->bytes[1] = !big_endian;
}

static void put(message_t *message, uint64_t bits, size_t width)
{
  while ((message->size - 4) % width != 0)
    message->size++;
  for (size_t i = 0; i < width; i++)
    message->bytes[message->size++] =
        (uint8_t)(bits >> (8 * (message->big_endian ? width - 1 - i : i)));
}

static void put_text(message_t *message, const char *text)
{
  put(message, strlen(text) + 1, 4);
  memcpy(message->bytes + message->size, text, strlen(text) + 1);
  message->size += strlen(text) + 1;
}

static void put_double(message_t *message, double number)
{
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  put(message, bits, 8);
}

static void put_header(message_t *message, int32_t seconds, uint32_t ns, const char *frame)
{
  put(message, (uint32_t)seconds, 4);
  put(message, ns, 4);
  put_text(message, frame);
}

static tb_message_definition_t *find(const char *type)
{
  tb_message_definition_t *definition = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_message_definition_find(type, NULL, 0, &definition, &error)) fail_msg("%s", error.text);
  return definition;
}

static tb_message_definition_t *parse(const char *text)
{
  tb_message_definition_t *definition = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_message_definition_parse("p/msg/T", "ros2msg", text, &definition, &error))
    fail_msg("%s", error.text);
  return definition;
}

static tb_message_field_t *field_of(const tb_message_definition_t *definition, const char *path)
{
  tb_message_field_t *field = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_message_field_create(definition, path, &field, &error)) fail_msg("%s", error.text);
  return field;
}

static double number_in(const tb_message_definition_t *definition, const char *path,
                        const message_t *message)
{
  double number = NAN;
  tb_message_field_t *field = field_of(definition, path);
  assert_ok(tb_message_field_number(field, message->bytes, message->size, &number));
  tb_message_field_destroy(field);
  return number;
}

static void assert_text_in(const tb_message_definition_t *definition, const char *path,
                           const message_t *message, const char *expected)
{
  const char *text = NULL;
  size_t length = 0;
  tb_message_field_t *field = field_of(definition, path);
  assert_ok(tb_message_field_string(field, message->bytes, message->size, &text, &length));
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
  tb_message_field_destroy(field);
}

static void put_odometry(message_t *message, bool big_endian)
{
  begin(message, big_endian);
  put_header(message, -3, 500000000, "odom");
  put_text(message, "base");
  for (int i = 0; i < 7 + 36; i++)
    put_double(message, i);
  for (int i = 0; i < 6 + 36; i++)
    put_double(message, 100 + i);
}

static void test_fields_in_both_byte_orders(void **state)
{
  (void)state;
  tb_message_definition_t *definition = find("nav_msgs/msg/Odometry");
  assert_int_equal(tb_message_definition_origin(definition), TB_MESSAGE_DEFINITION_BUILT_IN);
  for (int big_endian = 0; big_endian < 2; big_endian++) {
    message_t message;
    int64_t stamp_ns = 0;
    put_odometry(&message, big_endian);
    assert_ok(tb_message_definition_check(definition, message.bytes, message.size, NULL));
    assert_ok(
        tb_message_definition_header_stamp(definition, message.bytes, message.size, &stamp_ns));
    assert_int_equal(stamp_ns, -2500000000);
    assert_text_in(definition, "header.frame_id", &message, "odom");
    assert_text_in(definition, "child_frame_id", &message, "base");
    assert_true(number_in(definition, "header.stamp.sec", &message) == -3);
    assert_true(number_in(definition, "header.stamp.nanosec", &message) == 5e8);
    assert_true(number_in(definition, "pose.pose.position.x", &message) == 0);
    assert_true(number_in(definition, "pose.pose.orientation.w", &message) == 6);
    assert_true(number_in(definition, "pose.covariance[35]", &message) == 42);
    assert_true(number_in(definition, "pose.covariance[]", &message) == 7);
    assert_true(number_in(definition, "twist.covariance[35]", &message) == 141);
  }
  tb_message_definition_destroy(definition);
}

static void test_every_kind_of_number(void **state)
{
  (void)state;
  tb_message_definition_t *definition =
      parse("bool a\nint8 b\nint16 c\nint32 d\nint64 e\nuint8 f\nuint16 g\nuint32 h\nuint64 i\n"
            "float32 j\nfloat64 k\n");
  message_t message;
  begin(&message, true);
  put(&message, 1, 1);
  put(&message, (uint8_t)-2, 1);
  put(&message, (uint16_t)-3, 2);
  put(&message, (uint32_t)-4, 4);
  put(&message, (uint64_t)-5, 8);
  put(&message, 250, 1);
  put(&message, 65000, 2);
  put(&message, 4000000000, 4);
  put(&message, (uint64_t)1 << 60, 8);
  put(&message, 0x3fc00000, 4);
  put_double(&message, -0.25);
  static const double expected[] = {1,   -2,   -3, -4, -5, 250, 65000, 4e9, 1152921504606846976.0,
                                    1.5, -0.25};
  for (size_t i = 0; i < COUNT(expected); i++) {
    char name[2] = {(char)('a' + i), '\0'};
    assert_true(number_in(definition, name, &message) == expected[i]);
  }
  tb_message_definition_destroy(definition);
}

static void test_elements_of_sequences(void **state)
{
  (void)state;
  tb_message_definition_t *definition =
      parse("string[] names\nU[<=3] u\nuint8 after\n" RULE "MSG: p/U\nuint8 a\nfloat64[] b\n");
  message_t message;
  double number = 0;
  begin(&message, false);
  put(&message, 2, 4);
  put_text(&message, "one");
  put_text(&message, "");
  put(&message, 2, 4);
  put(&message, 11, 1);
  put(&message, 0, 4);
  put(&message, 12, 1);
  put(&message, 2, 4);
  put_double(&message, 13);
  put_double(&message, 14);
  put(&message, 15, 1);
  assert_ok(tb_message_definition_check(definition, message.bytes, message.size, NULL));
  assert_text_in(definition, "names[0]", &message, "one");
  assert_text_in(definition, "names[1]", &message, "");
  assert_true(number_in(definition, "u[1].a", &message) == 12);
  assert_true(number_in(definition, "u[1].b[1]", &message) == 14);
  assert_true(number_in(definition, "u[].b[]", &message) == 13);
  assert_true(number_in(definition, "after", &message) == 15);
  static const char *const absent[] = {"u[2].a", "u[0].b[0]", "u[1].b[2]"};
  for (size_t i = 0; i < COUNT(absent); i++) {
    tb_message_field_t *field = field_of(definition, absent[i]);
    assert_status(tb_message_field_number(field, message.bytes, message.size, &number),
                  TB_ERR_NOT_FOUND);
    tb_message_field_destroy(field);
  }
  tb_message_definition_destroy(definition);
}

static void test_wrong_paths(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    tb_status_t status;
    const char *text;
  } cases[] = {
      {"", TB_ERR_INVALID, "field path '', character 1: a field's name was expected"},
      {"header.", TB_ERR_INVALID, "field path 'header.', character 8: a field's name was expected"},
      {"header.x", TB_ERR_NOT_FOUND, "field path 'header.x': std_msgs/msg/Header has no field 'x'"},
      {"child_frame_id.x", TB_ERR_NOT_FOUND,
       "field path 'child_frame_id.x', character 15: what is before has no fields"},
      {"header[0]", TB_ERR_INVALID,
       "field path 'header[0]', character 7: neither an array nor a sequence"},
      {"pose.covariance[36]", TB_ERR_INVALID,
       "field path 'pose.covariance[36]', character 20: there are never so many elements"},
      {"pose.covariance[1", TB_ERR_INVALID,
       "field path 'pose.covariance[1', character 18: ']' was expected"},
      {"pose.covariance[1]x", TB_ERR_INVALID,
       "field path 'pose.covariance[1]x', character 19: '.' was expected"},
  };
  tb_message_definition_t *definition = find("nav_msgs/msg/Odometry");
  for (size_t i = 0; i < COUNT(cases); i++) {
    tb_message_field_t *field = NULL;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_message_field_create(definition, cases[i].path, &field, &error),
                  cases[i].status);
    assert_string_equal(error.text, cases[i].text);
  }
  tb_message_definition_destroy(definition);
}

static void test_a_field_of_another_type(void **state)
{
  (void)state;
  tb_message_definition_t *definition = find("nav_msgs/msg/Odometry");
  message_t message;
  double number;
  int64_t time_ns;
  const char *text;
  size_t length;
  put_odometry(&message, false);
  tb_message_field_t *field = field_of(definition, "header");
  assert_status(tb_message_field_number(field, message.bytes, message.size, &number),
                TB_ERR_INVALID);
  assert_status(tb_message_field_time(field, message.bytes, message.size, &time_ns),
                TB_ERR_INVALID);
  assert_status(tb_message_field_string(field, message.bytes, message.size, &text, &length),
                TB_ERR_INVALID);
  tb_message_field_destroy(field);
  field = field_of(definition, "pose.covariance");
  assert_status(tb_message_field_number(field, message.bytes, message.size, &number),
                TB_ERR_INVALID);
  tb_message_field_destroy(field);
  tb_message_definition_destroy(definition);
}

/* --- headers --- */

static void test_which_header_counts(void **state)
{
  (void)state;
#define HEADER                                                                                     \
  RULE "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" RULE               \
       "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
  static const struct {
    const char *text;
    tb_status_t status;
    int64_t stamp_s;
  } cases[] = {
      {"std_msgs/Header a\nstd_msgs/Header header\n" HEADER, TB_OK, 2},
      {"std_msgs/Header a\nstd_msgs/Header b\n" HEADER, TB_OK, 1},
      {"std_msgs/Header[2] header\n" HEADER, TB_ERR_NOT_FOUND, 0},
      {"q/Header header\n" RULE "MSG: q/Header\nbuiltin_interfaces/Time stamp\n" HEADER,
       TB_ERR_NOT_FOUND, 0},
      {"std_msgs/Header header\n" RULE "MSG: std_msgs/Header\nuint32 stamp\n", TB_ERR_NOT_FOUND, 0},
  };
  message_t message;
  begin(&message, false);
  put_header(&message, 1, 0, "abc");
  put_header(&message, 2, 0, "abc");
  for (size_t i = 0; i < COUNT(cases); i++) {
    tb_message_definition_t *definition = parse(cases[i].text);
    int64_t stamp_ns = 0;
    assert_status(
        tb_message_definition_header_stamp(definition, message.bytes, message.size, &stamp_ns),
        cases[i].status);
    assert_int_equal(stamp_ns, cases[i].stamp_s * 1000000000);
    tb_message_definition_destroy(definition);
  }
}

static void test_wrong_stamps(void **state)
{
  (void)state;
  static const uint8_t good[] = {0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
  uint8_t bytes[sizeof good];
  int64_t stamp_ns = -5;
  tb_message_definition_t *definition = find("std_msgs/msg/Header");
  for (size_t size = 0; size < 12; size++)
    assert_status(tb_message_definition_header_stamp(definition, good, size, &stamp_ns),
                  TB_ERR_TRUNCATED);
  memcpy(bytes, good, sizeof good);
  static const uint8_t second[] = {0, 0xca, 0x9a, 0x3b};
  memcpy(bytes + 8, second, sizeof second);
  assert_status(tb_message_definition_header_stamp(definition, bytes, sizeof bytes, &stamp_ns),
                TB_ERR_CORRUPT);
  memcpy(bytes, good, sizeof good);
  bytes[1] = 7; /* XCDR2 */
  assert_status(tb_message_definition_header_stamp(definition, bytes, sizeof bytes, &stamp_ns),
                TB_ERR_UNSUPPORTED);
  assert_int_equal(stamp_ns, -5);
  tb_message_definition_destroy(definition);
}

/* --- messages that are wrong --- */

static void test_an_element_of_a_sequence_beyond_its_bound(void **state)
{
  (void)state;
  tb_message_definition_t *definition = parse("int32[<=2] x\nint32[] y\n");
  tb_message_field_t *x = NULL, *y = NULL;
  message_t message;
  double number = -5;
  assert_ok(tb_message_field_create(definition, "x[1]", &x, NULL));
  assert_ok(tb_message_field_create(definition, "y[1]", &y, NULL));
  begin(&message, false);
  for (uint64_t length = 2; length <= 3; length++) {
    begin(&message, false);
    put(&message, length, 4);
    for (uint64_t i = 0; i < length; i++)
      put(&message, 10 + i, 4);
    tb_status_t status = tb_message_field_number(x, message.bytes, message.size, &number);
    assert_status(status, length == 2 ? TB_OK : TB_ERR_CORRUPT);
  }
  assert_true(number == 11);
  assert_status(tb_message_field_number(y, message.bytes, message.size, &number), TB_ERR_CORRUPT);
  tb_message_field_destroy(x);
  tb_message_field_destroy(y);
  tb_message_definition_destroy(definition);
}

static void assert_wrong(const tb_message_definition_t *definition, const message_t *message,
                         tb_status_t status, const char *text)
{
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_message_definition_check(definition, message->bytes, message->size, &error),
                status);
  assert_string_equal(error.text, text);
}

static void test_what_is_wrong_is_named(void **state)
{
  (void)state;
  tb_message_definition_t *definition =
      parse("U[<=2] u\nstring<=3 s\n" RULE "MSG: p/U\nstring[2] t\nuint32[] n\n");
  message_t message;
  begin(&message, false);
  message.size = 3;
  assert_wrong(definition, &message, TB_ERR_TRUNCATED, "message of p/msg/T: fewer than 4 bytes");
  begin(&message, false);
  message.bytes[1] = 3;
  assert_wrong(definition, &message, TB_ERR_UNSUPPORTED,
               "message of p/msg/T: its encapsulation is not that of CDR");
  begin(&message, false);
  put(&message, 3, 4);
  put(&message, 0, 4);
  assert_wrong(definition, &message, TB_ERR_CORRUPT,
               "message of p/msg/T, field u, byte 8: a sequence that is longer than its bound");
  begin(&message, false);
  put(&message, 1, 4);
  put_text(&message, "abc");
  put(&message, 3, 4);
  memcpy(message.bytes + message.size, "abc", 3);
  message.size += 3;
  assert_wrong(definition, &message, TB_ERR_CORRUPT,
               "message of p/msg/T, field u[0].t[1], byte 16: a string without a NUL at its end");
  begin(&message, false);
  put(&message, 1, 4);
  put_text(&message, "abc");
  put_text(&message, "abc");
  put(&message, 4000000000, 4);
  assert_wrong(definition, &message, TB_ERR_TRUNCATED,
               "message of p/msg/T, field u[0].n, byte 28: the message ends before it does");
  begin(&message, false);
  put(&message, 0, 4);
  put_text(&message, "abcd");
  assert_wrong(definition, &message, TB_ERR_CORRUPT,
               "message of p/msg/T, field s, byte 17: a string that is longer than its bound");
  begin(&message, false);
  put(&message, 0, 4);
  put_text(&message, "abc");
  message.size += 4;
  assert_wrong(definition, &message, TB_ERR_CORRUPT,
               "message of p/msg/T: 4 bytes after its last field: it is of another definition");
  tb_message_definition_destroy(definition);
}

/* Lengths of which the product is beyond 64 bits, and elements that cost nothing to count. */
static void test_sizes_that_no_message_has(void **state)
{
  (void)state;
  tb_message_definition_t *definition =
      parse("U[] u\n" RULE "MSG: p/U\nV[4294967295] v\n" RULE "MSG: p/V\nfloat64[4294967295] x\n");
  message_t message;
  begin(&message, false);
  put(&message, 8, 4);
  for (int i = 0; i < 16; i++)
    put(&message, 0, 8);
  tb_message_field_t *field = field_of(definition, "u[7].v[4294967294].x[4294967294]");
  double number;
  assert_status(tb_message_field_number(field, message.bytes, message.size, &number),
                TB_ERR_TRUNCATED);
  assert_status(tb_message_definition_check(definition, message.bytes, message.size, NULL),
                TB_ERR_TRUNCATED);
  tb_message_field_destroy(field);
  tb_message_definition_destroy(definition);
}

/* --- wide strings --- */

static void test_both_forms_of_wide_strings(void **state)
{
  (void)state;
  tb_message_definition_t *definition = parse("wstring a\nuint8 b\nwstring<=3 c\nuint16 d\n");
  for (uint32_t width = 2; width <= 4; width += 2) {
    message_t message;
    begin(&message, false);
    put(&message, width == 2 ? 4 : 2, 4);
    put(&message, 'x', width);
    put(&message, 'y', width);
    put(&message, 7, 1);
    put(&message, width == 2 ? 6 : 3, 4);
    for (int i = 0; i < 3; i++)
      put(&message, 'z', width);
    put(&message, 8, 2);
    assert_ok(tb_message_definition_check(definition, message.bytes, message.size, NULL));
    assert_true(number_in(definition, "b", &message) == 7);
    assert_true(number_in(definition, "d", &message) == 8);
  }
  tb_message_definition_destroy(definition);
}

/* --- edges --- */

static bool write_edge(void *user, const tb__edge_t *edge)
{
  char *out = user;
  size_t used = strlen(out);
  snprintf(out + used, 256 - used, "%lld %s->%s;", (long long)edge->stamp_ns, edge->parent,
           edge->child);
  return used < 100;
}

static void put_transforms(message_t *message, uint32_t count)
{
  begin(message, false);
  put(message, count, 4);
  for (uint32_t i = 0; i < count; i++) {
    put_header(message, (int32_t)i, i, i % 2 ? "map" : "odometry");
    put_text(message, i % 2 ? "odometry" : "base_link");
    for (int k = 0; k < 7; k++)
      put_double(message, k);
  }
}

static void test_edges(void **state)
{
  (void)state;
  static const char text[] =
      "geometry_msgs/TransformStamped[] transforms\n" RULE
      "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\n"
      "float64[7] transform\n" HEADER;
  tb__schema_t *schema = NULL;
  tb__edge_paths_t paths;
  tb__message_t opened;
  message_t message;
  char found[256] = "";
  assert_ok(
      tb__schema_parse("tf2_msgs/msg/TFMessage", "ros2msg", text, strlen(text), &schema, NULL));
  assert_ok(tb__edge_paths_init(&paths, schema, NULL));
  put_transforms(&message, 3);
  assert_ok(tb__message_open(&opened, schema, message.bytes, message.size));
  assert_ok(tb__message_walk(&opened, NULL, NULL, NULL));
  assert_ok(tb__edge_paths_each(&paths, &opened, write_edge, found));
  assert_string_equal(found, "0 odometry->base_link;1000000001 map->odometry;"
                             "2000000002 odometry->base_link;");
  found[0] = '\0'; /* cut in the last one's child */
  opened.size -= 7 * 8 + 6;
  assert_status(tb__edge_paths_each(&paths, &opened, write_edge, found), TB_ERR_TRUNCATED);
  assert_string_equal(found, "0 odometry->base_link;1000000001 map->odometry;");
  tb__edge_paths_fini(&paths);
  tb__schema_destroy(schema);
}

/* --- allocations --- */

static void test_messages_allocate_nothing(void **state)
{
  (void)state;
  tb_message_definition_t *definition = find("nav_msgs/msg/Odometry");
  tb_message_field_t *field = field_of(definition, "twist.twist.linear.x");
  message_t message;
  int64_t stamp_ns = 0;
  double number = 0;
  bool is_right = true;
  put_odometry(&message, false);
  allocations_begin();
  for (int i = 0; i < 10; i++) {
    is_right &= tb_message_definition_header_stamp(definition, message.bytes, message.size,
                                                   &stamp_ns) == TB_OK;
    is_right &= tb_message_field_number(field, message.bytes, message.size, &number) == TB_OK;
    is_right &= tb_message_definition_check(definition, message.bytes, message.size, NULL) == TB_OK;
  }
  assert_int_equal(allocations_end(), 0);
  assert_true(is_right && number == 100);
  tb_message_field_destroy(field);
  tb_message_definition_destroy(definition);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields_in_both_byte_orders),
      cmocka_unit_test(test_every_kind_of_number),
      cmocka_unit_test(test_elements_of_sequences),
      cmocka_unit_test(test_wrong_paths),
      cmocka_unit_test(test_a_field_of_another_type),
      cmocka_unit_test(test_which_header_counts),
      cmocka_unit_test(test_wrong_stamps),
      cmocka_unit_test(test_an_element_of_a_sequence_beyond_its_bound),
      cmocka_unit_test(test_what_is_wrong_is_named),
      cmocka_unit_test(test_sizes_that_no_message_has),
      cmocka_unit_test(test_both_forms_of_wide_strings),
      cmocka_unit_test(test_edges),
      cmocka_unit_test(test_messages_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

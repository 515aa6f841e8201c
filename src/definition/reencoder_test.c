/* Messages from ROS 1 to ROS 2 and back, and what does not match. */
#include <string.h>
#include <timebase/reencoder.h>

#include "test.h"

#define RULE   "================================================================================\n"
#define HEADER RULE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
#define HEADER2                                                                                    \
  RULE "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" RULE               \
       "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
#define DURATION2 RULE "MSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n"

static tb_reencoder_t *create(const char *ros1, const char *ros2, bool to_ros1)
{
  const tb_reencoder_type_t one = {"p/T", "ros1msg", ros1, NULL},
                            two = {"p/msg/T", "ros2msg", ros2, NULL};
  tb_reencoder_t *reencoder = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_reencoder_create(to_ros1 ? &two : &one, to_ros1 ? &one : &two, &reencoder, &error))
    fail_msg("%s", error.text);
  return reencoder;
}

static tb_reencoder_t *find(const char *name, const char *encoding, const char *definition)
{
  const tb_reencoder_type_t type = {name, encoding, definition, NULL};
  tb_reencoder_t *reencoder = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_reencoder_find(&type, NULL, 0, &reencoder, &error)) fail_msg("%s", error.text);
  return reencoder;
}

static void assert_run(tb_reencoder_t *reencoder, const void *bytes, size_t size,
                       const void *expected, size_t expected_size)
{
  const void *out = NULL;
  size_t out_size = 0;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_reencoder_run(reencoder, bytes, size, &out, &out_size, &error)) fail_msg("%s", error.text);
  assert_int_equal(out_size, expected_size);
  assert_memory_equal(out, expected, expected_size);
}

static void assert_run_fails(tb_reencoder_t *reencoder, const void *bytes, size_t size,
                             tb_status_t status, const char *text)
{
  const void *out = NULL;
  size_t out_size = 0;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_reencoder_run(reencoder, bytes, size, &out, &out_size, &error), status);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
  assert_null(out);
}

static void assert_refused(const char *ros1, const char *ros2, const char *text)
{
  const tb_reencoder_type_t one = {"p/T", "ros1msg", ros1, NULL},
                            two = {"p/msg/T", "ros2msg", ros2, NULL};
  tb_reencoder_t *reencoder = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_reencoder_create(&one, &two, &reencoder, &error), TB_ERR_UNSUPPORTED);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
}

/* --- bytes --- */

static const char stamped1[] =
    "Header header\nuint8 a\nfloat64 b\nstring s\nint16[] c\nbool d\nduration e\n" HEADER;
static const char stamped2[] = "std_msgs/Header header\nuint8 a\nfloat64 b\nstring s\nint16[] c\n"
                               "bool d\nbuiltin_interfaces/Duration e\n" HEADER2 DURATION2;
static const uint8_t stamped1_bytes[] = {
    0,   0,   0, 0, 1, 0, 0, 0, 2, 0,    0,    0,    3,    0,    0,    0,    'm',
    'a', 'p', 7, 0, 0, 0, 0, 0, 0, 1,    0,    2,    0,    0,    0,    'h',  'i',
    2,   0,   0, 0, 5, 0, 6, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x1d, 0xcd, 0x65, 0x00};
static const uint8_t stamped2_bytes[] = {
    0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4,    0,    0,    0,    'm',  'a',  'p',  0,   7, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,    0,    3,    0,    0,    0,    'h',  'i', 0, 0,
    2, 0, 0, 0, 5, 0, 6, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x1d, 0xcd, 0x65, 0x00};

static void test_to_ros2(void **state)
{
  (void)state;
  tb_reencoder_t *reencoder = create(stamped1, stamped2, false);
  uint8_t other[sizeof stamped1_bytes];
  memcpy(other, stamped1_bytes, sizeof other);
  other[0] = 77;   /* seq is dropped */
  other[42] = 200; /* a bool, which ROS 2 has as 1 */
  assert_run(reencoder, other, sizeof other, stamped2_bytes, sizeof stamped2_bytes);
  assert_run_fails(reencoder, other, sizeof other - 1, TB_ERR_TRUNCATED, "field e, byte 43");
  assert_run_fails(reencoder, other, 17, TB_ERR_TRUNCATED, "field header.frame_id");
  tb_reencoder_destroy(reencoder);
}

static void test_to_ros1(void **state)
{
  (void)state;
  tb_reencoder_t *reencoder = create(stamped1, stamped2, true);
  uint8_t expected[sizeof stamped1_bytes], corrupt[sizeof stamped2_bytes];
  memcpy(expected, stamped1_bytes, sizeof expected);
  for (uint8_t seq = 0; seq < 3; seq++) {
    expected[0] = seq; /* the messages are counted, not those that failed */
    assert_run(reencoder, stamped2_bytes, sizeof stamped2_bytes, expected, sizeof expected);
    assert_run_fails(reencoder, stamped2_bytes, 24, TB_ERR_TRUNCATED, "field b, byte 21");
  }
  memcpy(corrupt, stamped2_bytes, sizeof corrupt);
  corrupt[19] = 'x';
  assert_run_fails(reencoder, corrupt, sizeof corrupt, TB_ERR_CORRUPT, "without a NUL");
  corrupt[1] = 3;
  assert_run_fails(reencoder, corrupt, sizeof corrupt, TB_ERR_UNSUPPORTED, "encapsulation");
  assert_run_fails(reencoder, corrupt, 2, TB_ERR_TRUNCATED, "fewer than 4 bytes");
  tb_reencoder_destroy(reencoder);
}

static void test_big_endian(void **state)
{
  (void)state;
  static const uint8_t ros1[] = {1, 3, 0, 0, 0, 1, 0, 0, 0, 'x', 2, 0, 0, 0, 7, 0, 9, 8, 0, 9};
  const char *one = "uint8 a\nint32 b\nstring s\nP[] p\n" RULE "MSG: p/P\nint16 x\nuint8 y\n";
  tb_reencoder_t *reencoder = create(one, one, true);
  uint8_t body[64] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 'x', 0, 0, 0, 0, 0, 0, 2};
  const uint8_t points[] = {0, 7, 9, 0, 0, 8, 9};
  memcpy(body + 24, points, sizeof points);
  assert_run(reencoder, body, 24 + sizeof points, ros1, sizeof ros1);
  tb_reencoder_destroy(reencoder);
}

/* No fields are no bytes in ROS 1, and one in ROS 2. */
static void test_empty(void **state)
{
  (void)state;
  static const uint8_t nothing[] = {0, 1, 0, 0, 0}, within[] = {0, 1, 0, 0, 5, 0, 6};
  tb_reencoder_t *reencoder = create("", "", false);
  assert_run(reencoder, NULL, 0, nothing, sizeof nothing);
  assert_run_fails(reencoder, "x", 1, TB_ERR_CORRUPT, "1 bytes after");
  tb_reencoder_destroy(reencoder);
  reencoder = create("# only a comment", "", true);
  assert_run(reencoder, nothing, sizeof nothing, "", 0);
  tb_reencoder_destroy(reencoder);
  const char *around = "uint8 a\nE e\nuint8 b\n" RULE "MSG: p/E\n";
  reencoder = create(around, around, false);
  assert_run(reencoder, "\5\6", 2, within, sizeof within);
  tb_reencoder_destroy(reencoder);
}

/* No padding where there is no element. */
static void test_sequences(void **state)
{
  (void)state;
  static const uint8_t ros1[] = {0, 0, 0, 0, 9}, cdr[] = {0, 1, 0, 0, 0, 0, 0, 0, 9};
  static const uint8_t long1[] = {3, 0, 0, 0}, long2[] = {0, 1, 0, 0, 3, 0, 0, 0};
  tb_reencoder_t *reencoder = create("float64[] a\nuint8 b\n", "float64[] a\nuint8 b\n", false);
  assert_run(reencoder, ros1, sizeof ros1, cdr, sizeof cdr);
  assert_run_fails(reencoder, "\xff\xff\xff\xff\1", 5, TB_ERR_TRUNCATED, "field a[]");
  tb_reencoder_destroy(reencoder);
  reencoder = create("string[] a\n", "string[<=2] a\n", false);
  assert_run_fails(reencoder, long1, sizeof long1, TB_ERR_CORRUPT, "longer than its bound");
  tb_reencoder_destroy(reencoder);
  reencoder = create("uint8[] a\n", "uint8[<=2] a\n", true);
  assert_run_fails(reencoder, long2, sizeof long2, TB_ERR_CORRUPT, "longer than its bound");
  tb_reencoder_destroy(reencoder);
  reencoder = create("string a\n", "string<=2 a\n", false);
  assert_run_fails(reencoder, "\3\0\0\0abc", 7, TB_ERR_CORRUPT, "field a, byte 7: a string");
  tb_reencoder_destroy(reencoder);
}

/* --- times --- */

static void test_times_out_of_range(void **state)
{
  (void)state;
  static const uint8_t last[] = {0xff, 0xff, 0xff, 0x7f, 0xff, 0xc9, 0x9a, 0x3b};
  static const uint8_t late[] = {0, 0, 0, 0x80, 0, 0, 0, 0};
  static const uint8_t odd[] = {0, 0, 0, 0, 0, 0xca, 0x9a, 0x3b};
  static const uint8_t below[] = {0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  uint8_t cdr[12] = {0, 1, 0, 0};
  const char *two = "builtin_interfaces/Time t\n" RULE
                    "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";
  const char *duration2 = "builtin_interfaces/Duration t\n" DURATION2;
  tb_reencoder_t *reencoder = create("time t\n", two, false);
  memcpy(cdr + 4, last, sizeof last);
  assert_run(reencoder, last, sizeof last, cdr, sizeof cdr);
  assert_run_fails(reencoder, late, sizeof late, TB_ERR_RANGE, "field t");
  assert_run_fails(reencoder, odd, sizeof odd, TB_ERR_CORRUPT, "1e9 ns");
  tb_reencoder_destroy(reencoder);
  reencoder = create("time t\n", two, true);
  assert_run_fails(reencoder, below, sizeof below, TB_ERR_RANGE, "negative");
  tb_reencoder_destroy(reencoder);
  reencoder = create("duration t\n", duration2, true);
  assert_run(reencoder, below, sizeof below, below + 4, 8);
  tb_reencoder_destroy(reencoder);
}

/* --- matching --- */

static void test_differences_are_named(void **state)
{
  (void)state;
  assert_refused("int32 a\nfloat32 b\n", "int32 a\nfloat64 b\n",
                 "p/T does not match p/msg/T of ROS 2: field b is float32 in ROS 1, and float64");
  assert_refused("int32 a\n", "int32 a\nint32 b\n", "field b is missing in ROS 1");
  assert_refused("int32 a\nint32 b\n", "int32 a\n", "field b is named 'b' in ROS 1, and missing");
  assert_refused("float64 x\nfloat64 y\n", "float64 y\nfloat64 x\n", "field x is named 'x'");
  assert_refused("float64[9] k\n", "float64[8] k\n", "float64[9] in ROS 1, and float64[8]");
  assert_refused("float64[] k\n", "float64[8] k\n", "field k[] is float64[]");
  assert_refused("string s\n", "wstring s\n", "wstring in ROS 2");
  assert_refused("time t\n", "builtin_interfaces/Duration t\n" DURATION2, "field t.sec is uint32");
  assert_refused("Q[] q\n" RULE "MSG: p/Q\nint8 a\nuint16 z\n",
                 "Q[] q\n" RULE "MSG: p/Q\nint8 a\nint16 z\n", "field q[].z");
  assert_refused("uint8 b\n", "bool b\n", "field b is uint8");
}

/* Only what is surely the same: case and underscores of names, byte, and names of types. */
static void test_renamed_fields(void **state)
{
  (void)state;
  static const uint8_t cdr[] = {0, 1, 0, 0, 0xff, 2, 0, 0, 3, 0, 0, 0};
  tb_reencoder_t *reencoder =
      create("byte D\nchar frameId\nA k\n" RULE "MSG: p/A\nint32 X\n",
             "byte d\nchar frame_id\nB k\n" RULE "MSG: p/B\nint32 x\n", false);
  assert_run(reencoder, "\xff\2\3\0\0", 6, cdr, sizeof cdr);
  tb_reencoder_destroy(reencoder);
}

/* The number of fields is that of all types, each as often as it is there. */
static void test_too_many_fields(void **state)
{
  (void)state;
  char text[4096] = "A a\n";
  for (char name = 'A'; name <= 'T'; name++) {
    char section[160];
    snprintf(section, sizeof section, RULE "MSG: p/%c\n%c x\n%c y\n", name, name + 1, name + 1);
    strcat(text, section);
  }
  strcat(text, RULE "MSG: p/U\nint8 z\n");
  const tb_reencoder_type_t one = {"p/T0", "ros1msg", text, NULL},
                            two = {"p/msg/T0", "ros2msg", text, NULL};
  tb_reencoder_t *reencoder = NULL;
  assert_status(tb_reencoder_create(&one, &two, &reencoder, NULL), TB_ERR_LIMIT);
  assert_status(tb_reencoder_create(&one, &one, &reencoder, NULL), TB_ERR_UNSUPPORTED);
}

/* --- counterparts --- */

/* Their fields and the numbers of levels differ. */
static void test_logs(void **state)
{
  (void)state;
  static const uint8_t ros1[] = {7, 0, 0, 0,   5, 0, 0, 0, 6,   0, 0, 0,   1, 0, 0, 0, 'f', 8,   1,
                                 0, 0, 0, 'n', 1, 0, 0, 0, 'm', 0, 0, 0,   0, 1, 0, 0, 0,   'g', 9,
                                 0, 0, 0, 2,   0, 0, 0, 1, 0,   0, 0, 'a', 2, 0, 0, 0, 'b', 'c'};
  static const uint8_t ros2[] = {0, 1, 0,   0, 5, 0, 0, 0, 6,   0, 0,   0, 40, 0, 0, 0, 2, 0,
                                 0, 0, 'n', 0, 0, 0, 2, 0, 0,   0, 'm', 0, 0,  0, 1, 0, 0, 0,
                                 0, 0, 0,   0, 2, 0, 0, 0, 'g', 0, 0,   0, 9,  0, 0, 0};
  static const uint8_t back[] = {0, 0, 0, 0, 5, 0,   0,   0, 6, 0, 0, 0,   0, 0, 0,
                                 0, 8, 1, 0, 0, 0,   'n', 1, 0, 0, 0, 'm', 0, 0, 0,
                                 0, 1, 0, 0, 0, 'g', 9,   0, 0, 0, 0, 0,   0, 0};
  tb_reencoder_t *reencoder = find("rosgraph_msgs/Log", "", NULL);
  assert_string_equal(tb_reencoder_md5sum(reencoder), "acffd30cd6b6de30f120938c17c593fb");
  assert_run(reencoder, ros1, sizeof ros1, ros2, sizeof ros2);
  for (size_t size = 0; size < sizeof ros1; size++)
    assert_run_fails(reencoder, ros1, size, TB_ERR_TRUNCATED, "rosgraph_msgs/Log");
  tb_reencoder_destroy(reencoder);
  reencoder = find("rcl_interfaces/msg/Log", "", NULL);
  assert_run(reencoder, ros2, sizeof ros2, back, sizeof back);
  tb_reencoder_destroy(reencoder);
}

#define TF_SUM    "94810edda583a504dfda3829e70d7eec"
#define POINT_SUM "4a842b65f413084dc2b10fb484ea7f17"
#define EMPTY_SUM "d41d8cd98f00b204e9800998ecf8427e"

/* Connections as they are recorded: their text is empty, mangled or cut, but their sum is right. */
static void test_definitions_that_are_not_those_of_their_sum(void **state)
{
  (void)state;
  static const struct {
    tb_reencoder_type_t type;
    const char *ros2; /* NULL: TB_ERR_NOT_FOUND */
  } cases[] = {
      {{"geometry_msgs/Point", "ros1msg", "", POINT_SUM}, "geometry_msgs/msg/Point"},
      {{"geometry_msgs/Point", "ros1msg", NULL, POINT_SUM}, "geometry_msgs/msg/Point"},
      {{"geometry_msgs/Point", "ros1msg", "# x,\note y\nfloat64 x\n", POINT_SUM},
       "geometry_msgs/msg/Point"},
      {{"geometry_msgs/Point", "ros1msg", "float32 x\n", POINT_SUM}, "geometry_msgs/msg/Point"},
      {{"tf/tfMessage", "ros1msg", "", TF_SUM}, "tf2_msgs/msg/TFMessage"},
      {{"tf/tfMessage", "ros1msg", "geometry_msgs/TransformStamped[] transforms\n", TF_SUM},
       "tf2_msgs/msg/TFMessage"},
      {{"std_msgs/Empty", "ros1msg", "", EMPTY_SUM}, "std_msgs/msg/Empty"},
      {{"a/Own", "ros1msg", "int8 a\n", POINT_SUM}, "a/msg/Own"}, /* there is no other */
      {{"a/Own", "ros1msg", "", POINT_SUM}, NULL},
      {{"geometry_msgs/Point", "ros1msg", "", TF_SUM}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb_reencoder_t *reencoder = NULL;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_reencoder_find(&cases[i].type, NULL, 0, &reencoder, &error);
    if (!cases[i].ros2) {
      assert_status(status, TB_ERR_NOT_FOUND);
      assert_non_null(strstr(error.text, "none with its md5sum"));
      continue;
    }
    if (status) fail_msg("case %zu: %s", i, error.text);
    assert_string_equal(tb_reencoder_ros2(reencoder)->name, cases[i].ros2);
    if (strcmp(cases[i].type.name, "a/Own") != 0)
      assert_string_equal(tb_reencoder_md5sum(reencoder), cases[i].type.md5sum);
    tb_reencoder_destroy(reencoder);
  }
}

static void test_counterparts_are_found(void **state)
{
  (void)state;
  static const struct {
    const char *from, *text, *to, *md5sum;
    bool is_derived;
  } types[] = {
      {"roslib/Clock", "time clock", "rosgraph_msgs/msg/Clock", "a9c97c1d230cfc112e270351a944ee47",
       false},
      {"std_msgs/Time", "time data\n", "builtin_interfaces/msg/Time",
       "cd7166c74c552c311fbcc2fe5a7bc289", false},
      {"std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n", "std_msgs/msg/Header",
       "2176decaecbce78abc3b96ef049fabed", false},
      {"std_msgs/String", "string data\n", "std_msgs/msg/String",
       "992ce8a1687cec8c8bd883ec73ca41d1", false},
      {"std_msgs/Empty", "", "std_msgs/msg/Empty", "d41d8cd98f00b204e9800998ecf8427e", false},
      {"no_such_package/Odd", "time a # when\nstring S=a # b\nbyte[] Raw\nHeader h\n" HEADER,
       "no_such_package/msg/Odd", NULL, true},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tb_reencoder_t *reencoder = find(types[i].from, "ros1msg", types[i].text);
    assert_string_equal(tb_reencoder_ros2(reencoder)->name, types[i].to);
    assert_int_equal(tb_reencoder_is_derived(reencoder), types[i].is_derived);
    if (types[i].md5sum) assert_string_equal(tb_reencoder_md5sum(reencoder), types[i].md5sum);
    tb_reencoder_t *back = find(types[i].to, "ros2msg", tb_reencoder_ros2(reencoder)->definition);
    if (strcmp(types[i].from, "roslib/Clock") != 0)
      assert_string_equal(tb_reencoder_ros1(back)->name, types[i].from);
    assert_string_equal(tb_reencoder_md5sum(back), tb_reencoder_md5sum(reencoder));
    tb_reencoder_destroy(back);
    tb_reencoder_destroy(reencoder);
  }
}

/* What other tools compare: ROS 1's own md5sum of a type of which only ROS 2's text is known. */
static void test_md5sums_of_ros1(void **state)
{
  (void)state;
  static const struct {
    const char *type, *md5sum;
  } known[] = {
#include "ros1_md5sums.inc"
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    tb_reencoder_t *reencoder = find(known[i].type, NULL, NULL);
    if (strcmp(tb_reencoder_md5sum(reencoder), known[i].md5sum) != 0)
      fail_msg("%s: %s of\n%s", known[i].type, tb_reencoder_md5sum(reencoder),
               tb_reencoder_ros1(reencoder)->definition);
    tb_reencoder_destroy(reencoder);
  }
}

static void test_no_counterpart(void **state)
{
  (void)state;
  static const struct {
    tb_reencoder_type_t type;
    tb_status_t status;
  } types[] = {
      {{"no_such_package/msg/T", NULL, NULL, NULL}, TB_ERR_NOT_FOUND},
      {{"no_such_package/T", NULL, NULL, NULL}, TB_ERR_NOT_FOUND},
      {{"std_msgs/srv/T", "ros2msg", "int32 a\n", NULL}, TB_ERR_UNSUPPORTED},
      {{"std_msgs/msg/Wide", "ros2msg", "wstring a\n", NULL}, TB_ERR_CORRUPT},
      {{"rosgraph_msgs/Log", "ros1msg", "Header header\nbyte level\n" HEADER, NULL},
       TB_ERR_UNSUPPORTED},
      {{"std_msgs/String", "ros1msg", "int32 data\n", NULL}, TB_ERR_UNSUPPORTED},
      {{"std_msgs/String", "json", "{}", NULL},
       TB_OK}, /* what is wrong leaves it to the next place */
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tb_reencoder_t *reencoder = NULL;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_reencoder_find(&types[i].type, NULL, 0, &reencoder, &error);
    tb_reencoder_destroy(reencoder);
    if (status != types[i].status)
      fail_msg("%s: %s, %s", types[i].type.name, tb_status_name(status), error.text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_logs),
      cmocka_unit_test(test_definitions_that_are_not_those_of_their_sum),
      cmocka_unit_test(test_to_ros2),
      cmocka_unit_test(test_to_ros1),
      cmocka_unit_test(test_big_endian),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_sequences),
      cmocka_unit_test(test_times_out_of_range),
      cmocka_unit_test(test_differences_are_named),
      cmocka_unit_test(test_renamed_fields),
      cmocka_unit_test(test_too_many_fields),
      cmocka_unit_test(test_counterparts_are_found),
      cmocka_unit_test(test_md5sums_of_ros1),
      cmocka_unit_test(test_no_counterpart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

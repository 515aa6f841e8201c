#include "rosbag2/header_stamp.h"

#include <string.h>

#include "test.h"

static void test_both_byte_orders(void **state)
{
  (void)state;
  static const uint8_t little[] = {0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 'a', 0};
  static const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0};
  int64_t stamp_ns = 0;
  assert_true(tb__header_stamp_guess(little, sizeof little, &stamp_ns));
  assert_int_equal(stamp_ns, 7000000009);
  stamp_ns = 0;
  assert_true(tb__header_stamp_guess(big, sizeof big, &stamp_ns));
  assert_int_equal(stamp_ns, 7000000009);
}

static void test_what_is_no_header(void **state)
{
  (void)state;
  static const struct {
    uint8_t bytes[24];
    size_t size;
  } cases[] = {
      {{0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0}, 16},             /* the frame is missing */
      {{0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 20}, /* no string */
      {{0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 'a', 0}, 18},     /* longer than all */
      {{0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 0}, 19}, /* not ended */
      {{0, 1, 0, 0, 7, 0, 0, 0, 0, 0xca, 0x9a, 0x3b, 1, 0, 0, 0, 0}, 17},  /* 1e9 ns */
      {{0, 1, 0, 0, 7, 0, 0, 0x80, 9, 0, 0, 0, 1, 0, 0, 0, 0}, 17},        /* negative */
      {{0, 6, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0}, 17},           /* XCDR2 */
      {{0, 1, 0, 0, 12, 0, 0, 0, '2', '0', '2', '6', '-', '1', '1', '-', '2', '1', ' ', 'x', 0},
       24},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t stamp_ns = -5;
    if (tb__header_stamp_guess(cases[i].bytes, cases[i].size, &stamp_ns)) fail_msg("case %zu", i);
    assert_int_equal(stamp_ns, -5);
  }
}

static tb__stamp_reader_t reader_of(const char *type, const char *definition)
{
  tb_bag_topic_t topic = {
      .type = type, .definition = definition, .definition_encoding = definition ? "ros2msg" : ""};
  tb__stamp_reader_t reader;
  assert_ok(tb__stamp_reader_init(&reader, type, &topic, NULL));
  return reader;
}

static int64_t stamp_in(const tb__stamp_reader_t *reader, const void *bytes, size_t size)
{
  int64_t stamp_ns = -5;
  (void)tb__stamp_reader_read(reader, bytes, size, &stamp_ns);
  return stamp_ns;
}

/* Begins as a header does, and has one later. */
static const uint8_t late[] = {0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0,
                               0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0};

#define LATE_HEADER                                                                                \
  "uint32 a\nuint32 b\nstring c\nstd_msgs/Header h\n====================\nMSG: std_msgs/Header\n"  \
  "builtin_interfaces/Time stamp\nstring frame_id\n====================\n"                         \
  "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"

static void test_the_definition_decides(void **state)
{
  (void)state;
  tb__stamp_reader_t reader = reader_of("a/msg/B", LATE_HEADER);
  assert_true(tb__stamp_reader_may_find(&reader));
  assert_int_equal(stamp_in(&reader, late, sizeof late), 7000000009);
  assert_int_equal(stamp_in(&reader, late, 20), -5);
  tb__stamp_reader_fini(&reader);
  reader = reader_of("a/msg/B", "uint32 a\nuint32 b\nstring c\nuint32[4] d\n");
  assert_false(tb__stamp_reader_may_find(&reader));
  assert_int_equal(stamp_in(&reader, late, sizeof late), -5);
  tb__stamp_reader_fini(&reader);
}

static void test_without_a_definition_it_is_guessed(void **state)
{
  (void)state;
  static const char *const broken[] = {NULL, "", "nonsense!\n", "std_msgs/Header header\n"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    tb__stamp_reader_t reader = reader_of("a/msg/B", broken[i]);
    assert_true(tb__stamp_reader_may_find(&reader));
    assert_int_equal(stamp_in(&reader, late, sizeof late), 1000000002);
    tb__stamp_reader_fini(&reader);
  }
}

static void test_types_that_are_built_in(void **state)
{
  (void)state;
  tb__stamp_reader_t reader = reader_of("std_msgs/msg/String", NULL);
  assert_false(tb__stamp_reader_may_find(&reader));
  tb__stamp_reader_fini(&reader);
  reader = reader_of("nav_msgs/msg/Odometry", NULL);
  assert_true(tb__stamp_reader_may_find(&reader));
  assert_int_equal(stamp_in(&reader, late, sizeof late), 1000000002);
  tb__stamp_reader_fini(&reader);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_byte_orders),
      cmocka_unit_test(test_what_is_no_header),
      cmocka_unit_test(test_the_definition_decides),
      cmocka_unit_test(test_without_a_definition_it_is_guessed),
      cmocka_unit_test(test_types_that_are_built_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

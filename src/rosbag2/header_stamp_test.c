#include "rosbag2/header_stamp.h"

#include <string.h>

#include "test.h"

static void test_both_byte_orders(void **state)
{
  (void)state;
  static const uint8_t little[] = {0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 'a', 0};
  static const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0};
  int64_t stamp_ns = 0;
  assert_true(tb__header_stamp(little, sizeof little, &stamp_ns));
  assert_int_equal(stamp_ns, 7000000009);
  stamp_ns = 0;
  assert_true(tb__header_stamp(big, sizeof big, &stamp_ns));
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
    if (tb__header_stamp(cases[i].bytes, cases[i].size, &stamp_ns)) fail_msg("case %zu", i);
    assert_int_equal(stamp_ns, -5);
  }
}

static void test_definitions(void **state)
{
  (void)state;
  assert_true(tb__definition_has_header("std_msgs/msg/Header", "builtin_interfaces/Time stamp\n"));
  assert_true(tb__definition_has_header("a/msg/B", "std_msgs/Header header\nuint8 x\n"));
  assert_true(
      tb__definition_has_header("a/msg/B", "# A comment\n\n  uint8 X=1 # =\nstd_msgs/Header h"));
  assert_true(tb__definition_has_header("std_msgs/msg/B", "Header header\n"));
  assert_false(tb__definition_has_header("a/msg/B", "Header header\n"));
  assert_false(
      tb__definition_has_header("a/msg/B", "uint8 x # std_msgs/Header\nstd_msgs/Header h\n"));
  assert_false(tb__definition_has_header("a/msg/B", "std_msgs/Header[] headers\n"));
  assert_false(tb__definition_has_header("a/msg/B", ""));
  assert_false(tb__definition_has_header("a/msg/B", "# nothing"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_byte_orders),
      cmocka_unit_test(test_what_is_no_header),
      cmocka_unit_test(test_definitions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

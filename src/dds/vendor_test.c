#include "dds/vendor.h"

#include "test.h"

static const uint8_t cyclone[TB__GUID_SIZE] = {0x01, 0x10}, fast[TB__GUID_SIZE] = {0x01, 0x0f};

static void assert_name(uint8_t first, uint8_t second, const char *expected)
{
  const uint8_t guid[TB__GUID_SIZE] = {first, second, 7};
  char name[TB__VENDOR_NAME_SIZE];
  tb__vendor_name(guid, name);
  assert_string_equal(name, expected);
}

static void test_names(void **state)
{
  (void)state;
  assert_name(0x01, 0x01, "RTI Connext");
  assert_name(0x01, 0x03, "OpenDDS");
  assert_name(0x01, 0x0f, "Fast DDS");
  assert_name(0x01, 0x10, "Cyclone DDS");
  assert_name(0x01, 0x00, "vendor 01.00");
  assert_name(0x01, 0x04, "vendor 01.04");
  assert_name(0x01, 0x13, "vendor 01.13");
  assert_name(0x01, 0xff, "vendor 01.ff");
  assert_name(0x00, 0x0f, "vendor 00.0f");
  assert_name(0xff, 0xff, "vendor ff.ff");
  assert_true(tb__vendor_is_own(cyclone));
  assert_false(tb__vendor_is_own(fast));
  assert_false(tb__vendor_is_own((const uint8_t[TB__GUID_SIZE]){0x02, 0x10}));
}

static void assert_marked(const uint8_t guid[TB__GUID_SIZE], tb_qos_history_t history,
                          int32_t depth, tb_qos_history_t expected, int32_t expected_depth)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.history = history;
  qos.depth = depth;
  tb__vendor_mark_unknown(guid, &qos);
  assert_int_equal(qos.history, expected);
  assert_int_equal(qos.depth, expected_depth);
}

static void test_a_history_that_is_not_announced_is_unknown(void **state)
{
  (void)state;
  const uint8_t nameless[TB__GUID_SIZE] = {0xff};
  assert_marked(fast, TB_QOS_KEEP_LAST, 1, TB_QOS_HISTORY_UNKNOWN, 0);
  assert_marked(nameless, TB_QOS_KEEP_LAST, 1, TB_QOS_HISTORY_UNKNOWN, 0);
  assert_marked(cyclone, TB_QOS_KEEP_LAST, 1, TB_QOS_KEEP_LAST, 1);
  /* What is not the default was announced. */
  assert_marked(fast, TB_QOS_KEEP_LAST, 10, TB_QOS_KEEP_LAST, 10);
  assert_marked(fast, TB_QOS_KEEP_ALL, 0, TB_QOS_KEEP_ALL, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_a_history_that_is_not_announced_is_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <timebase/qos.h>

#include "test.h"

static const tb_qos_t base = TB_QOS_INIT_DEFAULT;

static void test_equal_qos_is_compatible(void **state)
{
  (void)state;
  static const tb_qos_t clock = TB_QOS_INIT_CLOCK, zero_durations = {.depth = 1};
  assert_int_equal(tb_qos_mismatches(&base, &base), 0);
  assert_int_equal(tb_qos_mismatches(&clock, &clock), 0);
  assert_int_equal(tb_qos_mismatches(&zero_durations, &zero_durations), 0);
}

static void assert_pair(tb_qos_t qos, uint32_t when_offered, uint32_t when_requested)
{
  assert_int_equal(tb_qos_mismatches(&qos, &base), when_offered);
  assert_int_equal(tb_qos_mismatches(&base, &qos), when_requested);
  assert_int_equal(tb_qos_mismatches(&qos, &qos), 0);
}

static void test_each_policy_mismatches_in_one_direction(void **state)
{
  (void)state;
#define WITH(field, value, when_offered, when_requested)                                           \
  do {                                                                                             \
    tb_qos_t qos = base;                                                                           \
    qos.field = value;                                                                             \
    assert_pair(qos, when_offered, when_requested);                                                \
  } while (0)
  WITH(reliability, TB_QOS_BEST_EFFORT, TB_QOS_POLICY_RELIABILITY, 0);
  WITH(durability, TB_QOS_TRANSIENT_LOCAL, 0, TB_QOS_POLICY_DURABILITY);
  WITH(deadline.ns, 1000, 0, TB_QOS_POLICY_DEADLINE);
  WITH(deadline.ns, 0, 0, 0);
  WITH(liveliness, TB_QOS_LIVELINESS_MANUAL_BY_TOPIC, 0, TB_QOS_POLICY_LIVELINESS);
  WITH(liveliness_lease.ns, 1000, 0, TB_QOS_POLICY_LIVELINESS_LEASE);
  WITH(liveliness_lease.ns, 0, 0, 0);
  WITH(history, TB_QOS_KEEP_ALL, 0, 0);
  WITH(depth, 1, 0, 0);
  WITH(lifespan.ns, 1000, 0, 0);
#undef WITH
}

static void test_all_mismatches_are_reported(void **state)
{
  (void)state;
  tb_qos_t offered = base, requested = base;
  offered.reliability = TB_QOS_BEST_EFFORT;
  offered.deadline.ns = 1001;
  requested.deadline.ns = 1000;
  requested.durability = TB_QOS_TRANSIENT_LOCAL;
  assert_int_equal(tb_qos_mismatches(&offered, &requested),
                   TB_QOS_POLICY_RELIABILITY | TB_QOS_POLICY_DURABILITY | TB_QOS_POLICY_DEADLINE);
}

static void test_every_policy_has_a_name(void **state)
{
  (void)state;
  for (unsigned bit = 0; bit < 9; bit++)
    assert_non_null(tb_qos_policy_name((tb_qos_policy_t)(1U << bit)));
  assert_string_equal(tb_qos_policy_name(TB_QOS_POLICY_RELIABILITY), "reliability");
  assert_null(tb_qos_policy_name((tb_qos_policy_t)0));
  assert_null(tb_qos_policy_name((tb_qos_policy_t)3));
  assert_null(tb_qos_policy_name((tb_qos_policy_t)512));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_qos_is_compatible),
      cmocka_unit_test(test_each_policy_mismatches_in_one_direction),
      cmocka_unit_test(test_all_mismatches_are_reported),
      cmocka_unit_test(test_every_policy_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

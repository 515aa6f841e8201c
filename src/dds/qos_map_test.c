#include "dds/qos_map.h"

#include <string.h>

#include "test.h"

static dds_qos_t *map(const tb_qos_t *qos)
{
  dds_qos_t *out = NULL;
  assert_ok(tb__qos_to_dds(qos, &out, NULL));
  return out;
}

static void assert_xcdr1_and_no_autodispose(const dds_qos_t *qos)
{
  uint32_t count = 0;
  dds_data_representation_id_t *values = NULL;
  bool autodispose = true;
  assert_true(dds_qget_data_representation(qos, &count, &values));
  assert_int_equal(count, 1);
  assert_int_equal(values[0], DDS_DATA_REPRESENTATION_XCDR1);
  dds_free(values);
  assert_true(dds_qget_writer_data_lifecycle(qos, &autodispose));
  assert_false(autodispose);
}

static void assert_history(const dds_qos_t *qos, dds_history_kind_t kind, int32_t depth)
{
  dds_history_kind_t actual_kind;
  int32_t actual_depth;
  assert_true(dds_qget_history(qos, &actual_kind, &actual_depth));
  assert_int_equal(actual_kind, kind);
  assert_int_equal(actual_depth, depth);
}

static void test_default(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  dds_qos_t *mapped = map(&qos);
  dds_reliability_kind_t reliability;
  dds_durability_kind_t durability;
  dds_liveliness_kind_t liveliness;
  dds_duration_t blocking, deadline, lifespan, lease;
  assert_xcdr1_and_no_autodispose(mapped);
  assert_history(mapped, DDS_HISTORY_KEEP_LAST, 10);
  assert_true(dds_qget_reliability(mapped, &reliability, &blocking));
  assert_int_equal(reliability, DDS_RELIABILITY_RELIABLE);
  assert_true(blocking == DDS_INFINITY);
  assert_true(dds_qget_durability(mapped, &durability));
  assert_int_equal(durability, DDS_DURABILITY_VOLATILE);
  assert_false(dds_qget_durability_service(mapped, NULL, NULL, NULL, NULL, NULL, NULL));
  assert_true(dds_qget_deadline(mapped, &deadline) && deadline == DDS_INFINITY);
  assert_true(dds_qget_lifespan(mapped, &lifespan) && lifespan == DDS_INFINITY);
  assert_true(dds_qget_liveliness(mapped, &liveliness, &lease));
  assert_int_equal(liveliness, DDS_LIVELINESS_AUTOMATIC);
  assert_true(lease == DDS_INFINITY);
  dds_delete_qos(mapped);
}

static void test_clock(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  dds_qos_t *mapped = map(&qos);
  dds_reliability_kind_t reliability;
  dds_duration_t blocking;
  assert_history(mapped, DDS_HISTORY_KEEP_LAST, 1);
  assert_true(dds_qget_reliability(mapped, &reliability, &blocking));
  assert_int_equal(reliability, DDS_RELIABILITY_BEST_EFFORT);
  assert_true(blocking == 0);
  dds_delete_qos(mapped);
}

static void assert_durability_service(const dds_qos_t *qos, dds_history_kind_t kind, int32_t depth)
{
  dds_durability_kind_t durability;
  dds_history_kind_t service_kind;
  int32_t service_depth, samples;
  assert_true(dds_qget_durability(qos, &durability));
  assert_int_equal(durability, DDS_DURABILITY_TRANSIENT_LOCAL);
  assert_true(
      dds_qget_durability_service(qos, NULL, &service_kind, &service_depth, &samples, NULL, NULL));
  assert_int_equal(service_kind, kind);
  assert_int_equal(service_depth, depth);
  assert_int_equal(samples, DDS_LENGTH_UNLIMITED);
}

static void test_transient_local_serves_the_same_history(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = 7;
  dds_qos_t *mapped = map(&qos);
  assert_durability_service(mapped, DDS_HISTORY_KEEP_LAST, 7);
  dds_delete_qos(mapped);
  qos.history = TB_QOS_KEEP_ALL;
  qos.depth = 0;
  mapped = map(&qos);
  assert_history(mapped, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  assert_durability_service(mapped, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  dds_delete_qos(mapped);
}

/* As the graph shows that of an endpoint whose middleware does not announce it. */
static void test_an_unknown_history_is_the_default(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.history = TB_QOS_HISTORY_UNKNOWN;
  qos.depth = 0;
  dds_qos_t *mapped = map(&qos);
  assert_history(mapped, DDS_HISTORY_KEEP_LAST, 10);
  assert_durability_service(mapped, DDS_HISTORY_KEEP_LAST, 10);
  dds_delete_qos(mapped);
}

static void test_durations(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.deadline.ns = 5;
  qos.lifespan.ns = 0; /* unspecified, as in bags */
  qos.liveliness = TB_QOS_LIVELINESS_MANUAL_BY_TOPIC;
  qos.liveliness_lease.ns = 6;
  dds_qos_t *mapped = map(&qos);
  dds_liveliness_kind_t liveliness;
  dds_duration_t deadline, lifespan, lease;
  assert_true(dds_qget_deadline(mapped, &deadline) && deadline == 5);
  assert_true(dds_qget_lifespan(mapped, &lifespan) && lifespan == DDS_INFINITY);
  assert_true(dds_qget_liveliness(mapped, &liveliness, &lease) && lease == 6);
  assert_int_equal(liveliness, DDS_LIVELINESS_MANUAL_BY_TOPIC);
  dds_delete_qos(mapped);
}

static void assert_refused(tb_qos_t qos, const char *policy)
{
  dds_qos_t *out = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__qos_to_dds(&qos, &out, &error), TB_ERR_INVALID);
  assert_null(out);
  assert_non_null(strstr(error.text, policy));
}

static void test_values_that_do_not_exist_are_refused(void **state)
{
  (void)state;
  const tb_qos_t good = TB_QOS_INIT_DEFAULT;
  tb_qos_t bad = good;
  bad.depth = 0;
  assert_refused(bad, "depth");
  bad = good;
  bad.history = 0;
  assert_refused(bad, "history");
  bad = good;
  bad.reliability = 9;
  assert_refused(bad, "reliability");
  bad = good;
  bad.durability = 0;
  assert_refused(bad, "durability");
  bad = good;
  bad.liveliness = 2;
  assert_refused(bad, "liveliness");
  bad = good;
  bad.deadline.ns = -1;
  assert_refused(bad, "deadline");
  bad = good;
  bad.lifespan.ns = -1;
  assert_refused(bad, "lifespan");
  bad = good;
  bad.liveliness_lease.ns = -1;
  assert_refused(bad, "lease");
}

static void assert_same(tb_qos_t qos)
{
  tb_qos_t back;
  tb_ros2_endpoint_dds_qos_t beyond;
  dds_qos_t *mapped;
  assert_ok(tb__qos_to_dds(&qos, &mapped, NULL));
  tb__qos_of_dds(mapped, &back, &beyond);
  dds_delete_qos(mapped);
  assert_int_equal(back.reliability, qos.reliability);
  assert_int_equal(back.durability, qos.durability);
  assert_int_equal(back.history, qos.history);
  assert_int_equal(back.depth, qos.history == TB_QOS_KEEP_ALL ? 0 : qos.depth);
  assert_true(back.deadline.ns == qos.deadline.ns && back.lifespan.ns == qos.lifespan.ns);
  assert_int_equal(back.liveliness, qos.liveliness);
  assert_true(back.liveliness_lease.ns == qos.liveliness_lease.ns);
  assert_int_equal(beyond.durability, qos.durability == TB_QOS_VOLATILE ? 0 : 1);
  assert_int_equal(beyond.liveliness, qos.liveliness == TB_QOS_LIVELINESS_AUTOMATIC ? 0 : 2);
  assert_int_equal(beyond.representations, 1);
  assert_false(beyond.has_partition || beyond.exclusive_ownership);
}

static void test_mapping_back(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const tb_qos_t clock = TB_QOS_INIT_CLOCK;
  assert_same(qos);
  assert_same(clock);
  qos.history = TB_QOS_KEEP_ALL;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.deadline.ns = 5;
  qos.lifespan.ns = 6;
  qos.liveliness = TB_QOS_LIVELINESS_MANUAL_BY_TOPIC;
  qos.liveliness_lease.ns = 7;
  assert_same(qos);
}

static void test_values_that_ros_does_not_have(void **state)
{
  (void)state;
  tb_qos_t qos;
  tb_ros2_endpoint_dds_qos_t beyond;
  const char *partition = "p", *none = "", *all = "*";
  const dds_data_representation_id_t xcdr2 = DDS_DATA_REPRESENTATION_XCDR2;
  dds_qos_t *other = dds_create_qos();
  dds_qset_partition(other, 1, &none);
  tb__qos_of_dds(other, &qos, &beyond); /* nothing is set: defaults of DDS */
  assert_int_equal(qos.reliability, TB_QOS_BEST_EFFORT);
  assert_int_equal(beyond.representations, 1);
  assert_false(beyond.has_partition);
  dds_qset_partition(other, 1, &all);
  tb__qos_of_dds(other, &qos, &beyond);
  assert_false(beyond.has_partition);
  dds_qset_durability(other, DDS_DURABILITY_PERSISTENT);
  dds_qset_liveliness(other, DDS_LIVELINESS_MANUAL_BY_PARTICIPANT, 9);
  dds_qset_ownership(other, DDS_OWNERSHIP_EXCLUSIVE);
  dds_qset_partition(other, 1, &partition);
  dds_qset_data_representation(other, 1, &xcdr2);
  tb__qos_of_dds(other, &qos, &beyond);
  dds_delete_qos(other);
  assert_int_equal(qos.durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(qos.liveliness, TB_QOS_LIVELINESS_AUTOMATIC);
  assert_int_equal(beyond.durability, 3);
  assert_int_equal(beyond.liveliness, 1);
  assert_true(beyond.exclusive_ownership && beyond.has_partition);
  assert_int_equal(beyond.representations, 4);
}

static void test_policy_names(void **state)
{
  (void)state;
  assert_string_equal(tb__qos_policy_name(DDS_RELIABILITY_QOS_POLICY_ID), "reliability");
  assert_string_equal(tb__qos_policy_name(DDS_DURABILITY_QOS_POLICY_ID), "durability");
  assert_string_equal(tb__qos_policy_name(9999), "other");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_default),
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_transient_local_serves_the_same_history),
      cmocka_unit_test(test_an_unknown_history_is_the_default),
      cmocka_unit_test(test_durations),
      cmocka_unit_test(test_values_that_do_not_exist_are_refused),
      cmocka_unit_test(test_mapping_back),
      cmocka_unit_test(test_values_that_ros_does_not_have),
      cmocka_unit_test(test_policy_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

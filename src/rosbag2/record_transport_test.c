/* What a recorder asks of publishers, and what it takes for lost. */
#include <stdlib.h>
#include <string.h>

#include "rosbag2/graph_recorder.h"
#include "test.h"

static tb_ros2_graph_endpoint_t publisher(tb_qos_reliability_t reliability,
                                          tb_qos_durability_t durability)
{
  tb_ros2_graph_endpoint_t endpoint = {.qos = TB_QOS_INIT_DEFAULT};
  endpoint.qos.reliability = reliability;
  endpoint.qos.durability = durability;
  endpoint.qos.deadline = (tb_duration_t){TB_NS_PER_S};
  return endpoint;
}

static void test_requests_are_what_all_publishers_offer(void **state)
{
  (void)state;
  tb_ros2_graph_endpoint_t all[] = {publisher(TB_QOS_RELIABLE, TB_QOS_TRANSIENT_LOCAL),
                                    publisher(TB_QOS_RELIABLE, TB_QOS_VOLATILE),
                                    publisher(TB_QOS_BEST_EFFORT, TB_QOS_TRANSIENT_LOCAL)};
  tb_qos_t qos = tb__record_qos(all, 1);
  assert_int_equal(qos.reliability, TB_QOS_RELIABLE);
  assert_int_equal(qos.durability, TB_QOS_TRANSIENT_LOCAL);
  qos = tb__record_qos(all, 2);
  assert_int_equal(qos.reliability, TB_QOS_RELIABLE);
  assert_int_equal(qos.durability, TB_QOS_VOLATILE);
  qos = tb__record_qos(all, 3);
  assert_int_equal(qos.reliability, TB_QOS_BEST_EFFORT);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(tb_qos_mismatches(&all[i].qos, &qos), 0);
}

static uint64_t odd_gap, before; /* of the last call */

/* UINT64_MAX: it came before. */
static uint64_t gap(tb__record_topic_t *topic, uint8_t writer, uint64_t sequence)
{
  uint64_t lost;
  tb_ros2_sample_t sample = {.sequence = sequence};
  memset(sample.writer_guid, writer, sizeof sample.writer_guid);
  return tb__record_is_new(topic, &sample, &lost, &before, &odd_gap) ? lost : UINT64_MAX;
}

static void test_gaps_are_of_one_publisher(void **state)
{
  (void)state;
  tb__record_topic_t topic = {.gap_max = 1000};
  assert_int_equal(gap(&topic, 1, 7), 0); /* what came before is counted apart */
  assert_int_equal(before, 6);
  assert_int_equal(gap(&topic, 1, 8), 0);
  assert_int_equal(before, 0);
  assert_int_equal(gap(&topic, 2, 100), 0);
  assert_int_equal(before, 99);
  assert_int_equal(gap(&topic, 3, 1), 0);
  assert_int_equal(before, 0);
  assert_int_equal(gap(&topic, 4, 1002), 0); /* not believed */
  assert_int_equal(before, 0);
  assert_int_equal(gap(&topic, 1, 12), 3);
  assert_int_equal(gap(&topic, 2, 101), 0);
  assert_true(gap(&topic, 1, 5) == UINT64_MAX);
  assert_true(gap(&topic, 1, 12) == UINT64_MAX);
  assert_int_equal(gap(&topic, 1, 13), 0);
  assert_int_equal(gap(&topic, 0, 50), 0); /* of a publisher that is gone */
  assert_int_equal(gap(&topic, 0, 60), 0);
  assert_int_equal(gap(&topic, 2, 0), 0); /* without a number */
  assert_int_equal(gap(&topic, 2, 103), 1);
  assert_int_equal(topic.writer_count, 4);
  free(topic.writers);
}

/* Among real ones from 8 on. */
static void test_forged_numbers_are_no_losses(void **state)
{
  (void)state;
  const uint64_t huge = UINT64_C(9223372036854775806);
  tb__record_topic_t topic = {.gap_max = 1000};
  assert_int_equal(gap(&topic, 1, 7), 0);
  assert_int_equal(gap(&topic, 1, huge), 0);
  assert_true(odd_gap == huge - 8);
  assert_int_equal(gap(&topic, 1, 8), 0);
  assert_int_equal(odd_gap, 0);
  assert_int_equal(gap(&topic, 1, 1009), 1000); /* as many as are believed */
  assert_int_equal(gap(&topic, 1, 2011), 0);
  assert_int_equal(odd_gap, 1001);
  assert_int_equal(gap(&topic, 1, 1010), 0);
  assert_int_equal(gap(&topic, 1, 9000), 0);
  assert_int_equal(gap(&topic, 1, 9001), 0); /* it does continue there */
  assert_int_equal(odd_gap, 0);
  assert_int_equal(gap(&topic, 1, 9004), 2);
  free(topic.writers);
}

static void test_publishers_without_end_take_bounded_memory(void **state)
{
  (void)state;
  tb__record_topic_t topic = {.gap_max = 5000};
  for (uint32_t i = 1; i < 2000; i++) {
    tb_ros2_sample_t sample = {.sequence = i};
    memcpy(sample.writer_guid, &i, sizeof i);
    uint64_t lost = 99;
    assert_true(tb__record_is_new(&topic, &sample, &lost, &before, &odd_gap));
    assert_int_equal(lost, 0);
    assert_int_equal(before, i <= 256 ? i - 1 : 0); /* the others may have been known */
  }
  assert_in_range(topic.writer_count, 1, 256);
  free(topic.writers);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_requests_are_what_all_publishers_offer),
      cmocka_unit_test(test_gaps_are_of_one_publisher),
      cmocka_unit_test(test_forged_numbers_are_no_losses),
      cmocka_unit_test(test_publishers_without_end_take_bounded_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* NULL for each pointer of libtimebase-ros1. */
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_context.h>
#include <timebase/ros1_graph.h>
#include <timebase/ros1_parameter.h>
#include <timebase/ros1_publisher.h>
#include <timebase/ros1_subscription.h>
#include <timebase/ros1_topics.h>

#include "null_arguments.h"

static void test_ros1_context(void **state)
{
  (void)state;
  REFUSED(tb_ros1_context_create(NULL, NULL, NULL));
  NOTHING(tb_ros1_context_destroy(NULL));
  NOTHING(tb_ros1_context_destroy_telling(NULL, (tb_duration_t){0}));
  ZERO(tb_ros1_context_node_name(NULL) != NULL);
  ZERO(tb_ros1_context_node_uri(NULL) != NULL);
}

static void test_ros1_clock_source(void **state)
{
  (void)state;
  tb_ros1_clock_source_status_t status;
  REFUSED(tb_ros1_clock_source_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_clock_source_create(ANY, NULL, NULL, NULL));
  REFUSED(tb_ros1_clock_source_status(NULL, &status));
  REFUSED(tb_ros1_clock_source_status(ANY, NULL));
}

static void test_ros1_publisher(void **state)
{
  (void)state;
  REFUSED(tb_ros1_publisher_create(NULL, "/a", ANY, NULL, ANY, NULL));
  REFUSED(tb_ros1_publisher_create(ANY, NULL, ANY, NULL, ANY, NULL));
  REFUSED(tb_ros1_publisher_create(ANY, "/a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_publisher_create(ANY, "/a", ANY, NULL, NULL, NULL));
  NOTHING(tb_ros1_publisher_destroy(NULL));
  REFUSED(tb_ros1_publisher_publish(NULL, ANY, 1, NULL));
  REFUSED(tb_ros1_publisher_publish(ANY, NULL, 1, NULL));
  REFUSED(tb_ros1_publisher_publish_as(NULL, "", ANY, 1, NULL));
  REFUSED(tb_ros1_publisher_publish_as(ANY, NULL, ANY, 1, NULL));
  REFUSED(tb_ros1_publisher_publish_as(ANY, "", NULL, 1, NULL));
  ZERO(tb_ros1_publisher_matched(NULL));
  ZERO(tb_ros1_publisher_dropped(NULL));
  ZERO(tb_ros1_publisher_awaited(NULL));
  ZERO(tb_ros1_publisher_waiting(NULL));
}

static void test_ros1_clock_publisher(void **state)
{
  (void)state;
  REFUSED(tb_ros1_clock_publisher_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_clock_publisher_create(ANY, NULL, NULL, NULL));
  NOTHING(tb_ros1_clock_publisher_destroy(NULL));
  REFUSED(tb_ros1_clock_publisher_publish(NULL, 1, NULL));
  tb_tick_sink_t sink = tb_ros1_clock_publisher_sink(NULL);
  REFUSED(sink.tick(sink.self, 1, TB_JUMP_REASON_TICK, NULL));
  ZERO(tb_ros1_clock_publisher_matched(NULL));
  ZERO(tb_ros1_clock_publisher_awaited(NULL));
}

static void test_ros1_subscription(void **state)
{
  (void)state;
  REFUSED(tb_ros1_subscription_create(NULL, "/a", NULL, ANY, ANY, NULL));
  REFUSED(tb_ros1_subscription_create(ANY, NULL, NULL, ANY, ANY, NULL));
  REFUSED(tb_ros1_subscription_create(ANY, "/a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_subscription_create(ANY, "/a", NULL, ANY, NULL, NULL));
  NOTHING(tb_ros1_subscription_destroy(NULL));
  ZERO(tb_ros1_subscription_matched(NULL));
}

static void on_topics(const tb_ros1_topic_t *topics, size_t count, void *user)
{
  (void)topics, (void)count, (void)user;
}

static void test_ros1_topics(void **state)
{
  (void)state;
  tb_duration_t period = {0};
  REFUSED(tb_ros1_topics_create(NULL, period, on_topics, NULL, ANY, NULL));
  REFUSED(tb_ros1_topics_create(ANY, period, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_topics_create(ANY, period, on_topics, NULL, NULL, NULL));
  NOTHING(tb_ros1_topics_destroy(NULL));
}

static void test_ros1_graph(void **state)
{
  (void)state;
  const tb_duration_t limit = {0};
  REFUSED(tb_ros1_graph_take(NULL, limit, ANY, NULL));
  REFUSED(tb_ros1_graph_take(ANY, limit, NULL, NULL));
  NOTHING(tb_ros1_graph_snapshot_release(NULL));
}

static void test_ros1_parameter(void **state)
{
  (void)state;
  tb_duration_t limit = TB_NO_LIMIT;
  REFUSED(tb_ros1_parameter_get(NULL, "/a", limit, ANY, NULL));
  REFUSED(tb_ros1_parameter_get(ANY, NULL, limit, ANY, NULL));
  REFUSED(tb_ros1_parameter_get(ANY, "/a", limit, NULL, NULL));
  NOTHING(tb_ros1_parameter_release(NULL));
  REFUSED(tb_ros1_parameter_set(NULL, "/a", ANY, limit, NULL));
  REFUSED(tb_ros1_parameter_set(ANY, NULL, ANY, limit, NULL));
  REFUSED(tb_ros1_parameter_set(ANY, "/a", NULL, limit, NULL));
  REFUSED(tb_ros1_parameter_delete(NULL, "/a", limit, NULL));
  REFUSED(tb_ros1_parameter_delete(ANY, NULL, limit, NULL));
  REFUSED(tb_ros1_parameter_read(NULL, "/a", limit, ANY, NULL));
  REFUSED(tb_ros1_parameter_read(ANY, NULL, limit, ANY, NULL));
  REFUSED(tb_ros1_parameter_read(ANY, "/a", limit, NULL, NULL));
  REFUSED(tb_ros1_parameter_write(NULL, "/a", ANY, limit, NULL));
  REFUSED(tb_ros1_parameter_write(ANY, NULL, ANY, limit, NULL));
  REFUSED(tb_ros1_parameter_write(ANY, "/a", NULL, limit, NULL));
  REFUSED(tb_ros1_parameter_names(NULL, limit, ANY, NULL));
  REFUSED(tb_ros1_parameter_names(ANY, limit, NULL, NULL));
  NOTHING(tb_ros1_value_release(NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ros1_context),      cmocka_unit_test(test_ros1_clock_source),
      cmocka_unit_test(test_ros1_publisher),    cmocka_unit_test(test_ros1_clock_publisher),
      cmocka_unit_test(test_ros1_subscription), cmocka_unit_test(test_ros1_parameter),
      cmocka_unit_test(test_ros1_topics),       cmocka_unit_test(test_ros1_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The /clock source with two publishers at a time, over DDS on loopback. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/log.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>

#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define FIRST_DOMAIN 80
#define S            TB_NS_PER_S
#define LIMIT        ((tb_duration_t){120 * S})

static int domain_id = FIRST_DOMAIN - 1;
static _Atomic int warnings;
static _Atomic bool names_both;
static char warning_thread[16], warning[600];

typedef struct stage {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *first, *second;
  tb_source_t *source;
  tb_clock_t *clock;
} stage_t;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  const char *at = strstr(message, "/clock: two publishers tick at the same time, ");
  if (level != TB_LOG_WARN || !at) return;
  char first[60], second[60];
  atomic_store(&names_both,
               sscanf(at, "/clock: two publishers tick at the same time, %47s and %47[^;];", first,
                      second) == 2 &&
                   strlen(first) == 47 && strlen(second) == 47 && strcmp(first, second) != 0);
  snprintf(warning, sizeof warning, "%s", message);
  pthread_getname_np(pthread_self(), warning_thread, sizeof warning_thread);
  atomic_fetch_add(&warnings, 1);
}

static void context_open(stage_t *stage)
{
  loopback_setup(++domain_id);
  atomic_store(&warnings, 0);
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_ros2_context_create(NULL, &stage->context, NULL));
  loopback_check(0);
}

/* The publishers are there. */
static void clock_open(stage_t *stage, const tb_ros2_clock_source_options_t *options)
{
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_ros2_clock_source_create(stage->context, options, &stage->source, &error));
  tb_clock_options_t clock_options = {TB_TIME_ROS, stage->source};
  assert_ok(tb_clock_create(&clock_options, &stage->clock));
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(stage->first, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(stage->second, 1, WITHIN(LIMIT)));
}

static void stage_open(stage_t *stage, const tb_ros2_clock_source_options_t *options)
{
  tb_error_t error = TB_ERROR_INIT;
  context_open(stage);
  assert_ok(tb_ros2_clock_publisher_create(stage->context, NULL, NULL, &stage->first, &error));
  assert_ok(tb_ros2_clock_publisher_create(stage->context, NULL, NULL, &stage->second, &error));
  clock_open(stage, options);
}

static void stage_close(stage_t *stage)
{
  assert_ok(tb_clock_destroy(stage->clock));
  assert_ok(tb_source_destroy(stage->source));
  tb_ros2_clock_publisher_destroy(stage->second);
  tb_ros2_clock_publisher_destroy(stage->first);
  tb_ros2_context_destroy(stage->context);
  tb_log_set_hook(NULL, NULL);
}

static int64_t now_ns(const stage_t *stage)
{
  tb_time_t now = {0};
  assert_ok(tb_clock_now(stage->clock, &now));
  return now.ns;
}

static tb_ros2_clock_source_status_t status_of(const stage_t *stage)
{
  tb_ros2_clock_source_status_t status;
  assert_ok(tb_ros2_clock_source_status(stage->source, &status));
  return status;
}

static void test_X8_two_publishers_are_reported_and_both_followed_by_default(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage, NULL);
  while (now_ns(&stage) != 10 * S || !status_of(&stage).faults) {
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 10 * S, NULL));
    sched_yield();
  }
  while (now_ns(&stage) != 20 * S)
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
  while (!atomic_load(&warnings))
    sched_yield();
  assert_true(names_both);
  assert_string_equal(warning_thread, "tb-clock"); /* not the receive thread of DDS */
  assert_int_equal(status_of(&stage).refused, 0);
  stage_close(&stage);
}

static tb_ros2_clock_publisher_t *node_publisher(const stage_t *stage, const char *name,
                                                 tb_ros2_node_t **out_node)
{
  tb_ros2_clock_publisher_t *publisher;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_ros2_node_create(stage->context, name, "/sim", NULL, out_node, &error));
  assert_ok(tb_ros2_node_create_clock_publisher(*out_node, NULL, NULL, &publisher, &error));
  return publisher;
}

static void test_X8_the_nodes_of_two_publishers_are_named(void **state)
{
  (void)state;
  stage_t stage;
  tb_ros2_node_t *nodes[2];
  context_open(&stage);
  stage.first = node_publisher(&stage, "first", &nodes[0]);
  stage.second = node_publisher(&stage, "second", &nodes[1]);
  clock_open(&stage, NULL);
  while (!status_of(&stage).faults) {
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 10 * S, NULL));
    sched_yield();
  }
  while (!atomic_load(&warnings))
    sched_yield();
  assert_non_null(strstr(warning, "/sim/first (01."));
  assert_non_null(strstr(warning, "/sim/second (01."));
  tb_ros2_clock_publisher_destroy(stage.first);
  tb_ros2_clock_publisher_destroy(stage.second);
  stage.first = stage.second = NULL;
  tb_ros2_node_destroy(nodes[0]);
  tb_ros2_node_destroy(nodes[1]);
  stage_close(&stage);
}

static void test_X8_a_warning_that_waits_for_names_is_not_lost(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage, NULL); /* publishers without nodes: a second is waited */
  while (!status_of(&stage).faults) {
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 10 * S, NULL));
    sched_yield();
  }
  stage_close(&stage);
  assert_int_equal(atomic_load(&warnings), 1);
}

static void test_X8_held_to_the_first_until_it_is_silent(void **state)
{
  (void)state;
  stage_t stage;
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  options.publishers = TB_ROS2_CLOCK_HOLD_TO_FIRST;
  options.hold_limit.ns = 3600 * S; /* longer than the test */
  stage_open(&stage, &options);
  while (now_ns(&stage) != 10 * S)
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 10 * S, NULL));
  while (status_of(&stage).refused < 3) {
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
    assert_int_equal(now_ns(&stage), 10 * S);
  }
  while (now_ns(&stage) != 11 * S)
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 11 * S, NULL));
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb_source_timeline(stage.source), &stats);
  assert_true(stats.dropped >= 3);
  stage_close(&stage);

  options.hold_limit.ns = 1; /* whoever ticks is the first to do so for a while */
  stage_open(&stage, &options);
  while (now_ns(&stage) != 10 * S)
    assert_ok(tb_ros2_clock_publisher_publish(stage.first, 10 * S, NULL));
  while (now_ns(&stage) != 20 * S)
    assert_ok(tb_ros2_clock_publisher_publish(stage.second, 20 * S, NULL));
  stage_close(&stage);
}

static void test_X8_bad_options_are_refused(void **state)
{
  (void)state;
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  tb_ros2_context_t *context;
  tb_source_t *source = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.hold_limit.ns = -1;
  loopback_setup(domain_id);
  assert_ok(tb_ros2_context_create(NULL, &context, &error));
  assert_status(tb_ros2_clock_source_create(context, &options, &source, &error), TB_ERR_INVALID);
  assert_null(source);
  assert_string_equal(error.text, "clock source of /clock: hold_limit is negative");
  options.hold_limit.ns = 0;
  options.publishers = 2;
  assert_status(tb_ros2_clock_source_create(context, &options, &source, &error), TB_ERR_INVALID);
  assert_string_equal(error.text, "clock source of /clock: unknown value 2 of publishers");
  tb_ros2_context_destroy(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X8_two_publishers_are_reported_and_both_followed_by_default),
      cmocka_unit_test(test_X8_the_nodes_of_two_publishers_are_named),
      cmocka_unit_test(test_X8_a_warning_that_waits_for_names_is_not_lost),
      cmocka_unit_test(test_X8_held_to_the_first_until_it_is_silent),
      cmocka_unit_test(test_X8_bad_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

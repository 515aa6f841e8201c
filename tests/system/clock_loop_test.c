/* The /clock source in the program's own loop, over DDS on loopback: all on one thread. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>

#include "system/loopback.h"
#include "test.h"
#include "waiting.h"
#include "within.h"

#define DOMAIN 82
#define S      TB_NS_PER_S
#define LIMIT  ((tb_duration_t){120 * S})

typedef struct stage {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *publisher;
  tb_source_t *source;
  tb_clock_t *clock;
} stage_t;

static void stage_open(stage_t *stage)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  loopback_setup(DOMAIN);
  assert_ok(tb_ros2_context_create(NULL, &stage->context, &error));
  loopback_check(0);
  qos.reliability = TB_QOS_RELIABLE; /* so that no tick of a loaded machine is lost */
  options.qos = &qos;
  options.own_loop = true;
  assert_ok(tb_ros2_clock_publisher_create(stage->context, NULL, &qos, &stage->publisher, &error));
  assert_ok(tb_ros2_clock_source_create(stage->context, &options, &stage->source, &error));
  assert_ok(tb_ros2_clock_source_run(stage->source, NULL)); /* no clock is on it: nothing */
  tb_clock_options_t clock = {TB_TIME_ROS, stage->source};
  assert_ok(tb_clock_create(&clock, &stage->clock));
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(stage->publisher, 1, WITHIN(LIMIT)));
}

static void stage_close(stage_t *stage)
{
  assert_ok(tb_clock_destroy(stage->clock));
  assert_ok(tb_source_destroy(stage->source));
  tb_ros2_clock_publisher_destroy(stage->publisher);
  tb_ros2_context_destroy(stage->context);
}

static tb_clock_reading_t read_clock(const stage_t *stage)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(stage->clock, &reading));
  return reading;
}

/* Publishes, and waits until the source has taken the sample. */
static void publish(stage_t *stage, int64_t time_ns, uint64_t count)
{
  tb_ros2_clock_writer_t writer = {0};
  uint32_t writers = 0;
  assert_ok(tb_ros2_clock_publisher_publish(stage->publisher, time_ns, NULL));
  while (!writers || writer.samples < count) {
    sched_yield();
    assert_ok(tb_ros2_clock_source_writers(stage->source, 1, &writer, &writers));
  }
}

static void run_until_ticks(stage_t *stage)
{
  struct pollfd descriptor = {.fd = tb_ros2_clock_source_fd(stage->source), .events = POLLIN};
  for (uint32_t ticks = 0; !ticks;) {
    assert_int_equal(poll(&descriptor, 1, 120000), 1);
    assert_ok(tb_ros2_clock_source_run(stage->source, &ticks));
  }
}

static void test_X5_one_thread_reads_is_reset_and_only_then_runs(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage);
  uint64_t epoch = read_clock(&stage).epoch;
  publish(&stage, 100 * S, 1);
  assert_int_equal(read_clock(&stage).time.ns, 0);
  run_until_ticks(&stage);
  assert_int_equal(read_clock(&stage).time.ns, 100 * S);
  publish(&stage, 50 * S, 2);
  assert_int_equal(read_clock(&stage).time.ns, 100 * S);
  assert_int_equal(read_clock(&stage).epoch, epoch);
  run_until_ticks(&stage);
  assert_int_equal(read_clock(&stage).time.ns, 50 * S);
  assert_true(read_clock(&stage).epoch > epoch);
  publish(&stage, 10 * S, 3);
  assert_ok(tb_clock_set_source(stage.clock, NULL)); /* what was left asks for nothing */
  assert_ok(tb_ros2_clock_source_run(stage.source, NULL));
  struct pollfd descriptor = {.fd = tb_ros2_clock_source_fd(stage.source), .events = POLLIN};
  assert_int_equal(poll(&descriptor, 1, 0), 0);
  stage_close(&stage);
}

static void test_X5_the_calls_are_for_sources_with_a_loop(void **state)
{
  (void)state;
  tb_ros2_context_t *context = NULL;
  tb_source_t *source = NULL;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  assert_ok(tb_ros2_context_create(NULL, &context, &error));
  assert_ok(tb_ros2_clock_source_create(context, NULL, &source, &error));
  assert_int_equal(tb_ros2_clock_source_fd(source), -1);
  assert_status(tb_ros2_clock_source_run(source, NULL), TB_ERR_INVALID);
  assert_ok(tb_source_destroy(source));
  tb_ros2_context_destroy(context);
}

static void *sleep_until_shutdown(void *argument)
{
  stage_t *stage = argument;
  tb_wait_options_t options = {.token = tb_ros2_context_token(stage->context)};
  assert_status(tb_clock_sleep_for(stage->clock, TB_SECONDS(3600), &options), TB_ERR_CANCELLED);
  return NULL;
}

/* The clock's source is stopped: only the context can end the sleep. */
static void test_S5_shutdown_wakes_sleepers(void **state)
{
  (void)state;
  stage_t stage;
  pthread_t thread;
  stage_open(&stage);
  assert_int_equal(pthread_create(&thread, NULL, sleep_until_shutdown, &stage), 0);
  wait_for_waiters(stage.clock, 1);
  tb_ros2_context_shutdown(stage.context);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(tb_cancel_token_is_cancelled(tb_ros2_context_token(stage.context)));
  sleep_until_shutdown(&stage); /* and those that begin later */
  stage_close(&stage);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X5_one_thread_reads_is_reset_and_only_then_runs),
      cmocka_unit_test(test_S5_shutdown_wakes_sleepers),
      cmocka_unit_test(test_X5_the_calls_are_for_sources_with_a_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

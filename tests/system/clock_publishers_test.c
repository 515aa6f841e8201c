/* What a clock on /clock reports of its publishers, over DDS on loopback. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/sleep.h>

#include "ros2/clock_source.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define FIRST_DOMAIN 45
#define S            TB_NS_PER_S

static int domain_id = FIRST_DOMAIN - 1;
static _Atomic int warnings, changes;
static char warning[300];

typedef struct stage {
  tb_ros2_context_t *context;
  tb_source_t *source;
  tb_clock_t *clock;
} stage_t;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  if (level != TB_LOG_WARN || !strstr(message, "its QoS does not match")) return;
  snprintf(warning, sizeof warning, "%s", message);
  atomic_fetch_add(&warnings, 1);
}

static void on_change(void *user)
{
  stage_t *stage = user;
  tb__clock_source_publishers(stage->source, NULL);
  atomic_fetch_add(&changes, 1);
}

static void stage_open(stage_t *stage, const tb_qos_t *qos)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__guid_t guid;
  loopback_setup(++domain_id);
  atomic_store(&warnings, 0);
  atomic_store(&changes, 0);
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_ros2_context_create(NULL, &stage->context, &error));
  loopback_check(0);
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  options.qos = qos;
  assert_ok(tb_ros2_clock_source_create(stage->context, &options, &stage->source, &error));
  tb__clock_source_watch(stage->source, on_change, stage);
  assert_false(tb__clock_source_reader_guid(stage->source, &guid));
  assert_int_equal(tb__clock_source_publishers(stage->source, NULL), 0);
  tb_timeline_options_t never = TB_TIMELINE_OPTIONS_INIT; /* however slow the machine is */
  never.stall_limit.ns = 0;
  assert_ok(tb_timeline_set_options(tb_source_timeline(stage->source), &never));
  tb_clock_options_t clock = {TB_TIME_ROS, stage->source};
  assert_ok(tb_clock_create(&clock, &stage->clock));
  assert_true(tb__clock_source_reader_guid(stage->source, &guid));
}

static void stage_close(stage_t *stage)
{
  tb__guid_t guid;
  assert_ok(tb_clock_destroy(stage->clock));
  assert_false(tb__clock_source_reader_guid(stage->source, &guid));
  assert_int_equal(tb__clock_source_publishers(stage->source, NULL), 0);
  assert_ok(tb_source_destroy(stage->source));
  tb_ros2_context_destroy(stage->context);
  tb_log_set_hook(NULL, NULL);
}

static tb_ros2_clock_publisher_t *publisher_of(const stage_t *stage, const tb_qos_t *qos)
{
  tb_ros2_clock_publisher_t *publisher;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_ros2_clock_publisher_create(stage->context, NULL, qos, &publisher, &error));
  return publisher;
}

static tb_clock_reading_t expect(const stage_t *stage, tb_clock_state_t state)
{
  tb_wait_options_t options = {.limit = {60 * S}};
  tb_clock_reading_t reading = {0};
  tb_status_t status =
      tb_clock_wait_for_state(stage->clock, TB_CLOCK_STATE_BIT(state), &options, &reading);
  if (status) {
    tb_clock_read(stage->clock, &reading);
    fail_msg("state %d is waited for, and it is %d", (int)state, (int)reading.state);
  }
  assert_ok(tb_clock_read(stage->clock, &reading));
  assert_int_equal(reading.state, state); /* it lasts */
  return reading;
}

static void publish(const stage_t *stage, tb_ros2_clock_publisher_t *publisher, int64_t time_ns)
{
  tb_time_t now = {0};
  while (now.ns != time_ns) {
    assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
    sched_yield();
    assert_ok(tb_clock_now(stage->clock, &now));
  }
}

static void wait_for_publishers(const stage_t *stage, uint32_t count)
{
  while (tb__clock_source_publishers(stage->source, NULL) != count)
    sched_yield();
}

static void test_C8_X5_publishers_come_and_go(void **state)
{
  (void)state;
  stage_t stage;
  stage_open(&stage, NULL);
  expect(&stage, TB_CLOCK_NO_PUBLISHER);
  tb_ros2_clock_publisher_t *first = publisher_of(&stage, NULL);
  expect(&stage, TB_CLOCK_WAITING);
  assert_true(atomic_load(&changes) > 0);
  publish(&stage, first, 10 * S);
  expect(&stage, TB_CLOCK_RUNNING);
  tb_ros2_clock_publisher_t *second = publisher_of(&stage, NULL);
  wait_for_publishers(&stage, 2);
  tb_ros2_clock_publisher_destroy(first);
  wait_for_publishers(&stage, 1);
  publish(&stage, second, 11 * S);
  expect(&stage, TB_CLOCK_RUNNING);
  tb_ros2_clock_publisher_destroy(second);
  tb_clock_reading_t reading = expect(&stage, TB_CLOCK_LOST);
  assert_int_equal(reading.time.ns, 11 * S);
  second = publisher_of(&stage, NULL);
  reading = expect(&stage, TB_CLOCK_STALLED);
  assert_int_equal(reading.time.ns, 11 * S);
  publish(&stage, second, 12 * S);
  expect(&stage, TB_CLOCK_RUNNING);
  tb_ros2_clock_publisher_destroy(second);
  expect(&stage, TB_CLOCK_LOST);
  assert_int_equal(atomic_load(&warnings), 0);
  stage_close(&stage);
}

static void test_C8_X5_a_mismatch_is_a_state_and_reported_once(void **state)
{
  (void)state;
  static const tb_qos_t best_effort = TB_QOS_INIT_CLOCK, reliable = TB_QOS_INIT_DEFAULT;
  stage_t stage;
  stage_open(&stage, &reliable);
  tb_ros2_clock_publisher_t *refused = publisher_of(&stage, &best_effort);
  expect(&stage, TB_CLOCK_QOS_MISMATCH);
  while (!atomic_load(&warnings))
    sched_yield();
  assert_string_equal(warning,
                      "/clock: receives nothing from a publisher, as its QoS does not match in "
                      "reliability; subscribe with best effort, as ROS does, or publish with "
                      "reliable");
  tb_ros2_clock_publisher_t *good = publisher_of(&stage, &reliable);
  expect(&stage, TB_CLOCK_WAITING);
  publish(&stage, good, 10 * S);
  expect(&stage, TB_CLOCK_RUNNING);
  tb_ros2_clock_publisher_destroy(good);
  expect(&stage, TB_CLOCK_QOS_MISMATCH);
  tb_ros2_clock_publisher_destroy(refused); /* of which DDS reports nothing by itself */
  expect(&stage, TB_CLOCK_LOST);
  refused = publisher_of(&stage, &best_effort);
  expect(&stage, TB_CLOCK_QOS_MISMATCH);
  assert_int_equal(atomic_load(&warnings), 1);
  tb_ros2_clock_publisher_destroy(refused);
  stage_close(&stage);
}

static void test_C8_X5_a_killed_publisher_is_lost_with_its_lease(void **state)
{
  (void)state;
  stage_t stage;
  peer_t peer;
  char config[1200];
  const char *const argv[] = {TB_ROS2_PEER, "repeat-clock", "rt/clock", "rel", "7", "5", NULL};
  stage_open(&stage, NULL);
  snprintf(config, sizeof config,
           "%s,<CycloneDDS><Domain><Discovery><LeaseDuration>4s</LeaseDuration></Discovery>"
           "</Domain></CycloneDDS>",
           getenv("CYCLONEDDS_URI"));
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  peer_start(&peer, argv);
  expect(&stage, TB_CLOCK_WAITING);
  peer_expect_line(&peer, "matched");
  loopback_check(peer.pid);
  peer_go_on(&peer);
  tb_clock_reading_t reading = expect(&stage, TB_CLOCK_RUNNING);
  assert_int_equal(reading.time.ns, 7 * S + 5);
  assert_int_equal(kill(peer.pid, SIGKILL), 0);
  peer_wait_killed(&peer);
  reading = expect(&stage, TB_CLOCK_LOST);
  assert_int_equal(reading.time.ns, 7 * S + 5);
  stage_close(&stage);
}

/* More have ticked and ended than are remembered. */
static void test_X8_dead_publishers_hide_no_live_one(void **state)
{
  (void)state;
  stage_t stage;
  tb_ros2_clock_writer_t writers[100];
  tb_ros2_clock_source_status_t status;
  uint32_t count = 0;
  stage_open(&stage, NULL);
  tb_ros2_clock_publisher_t *living = publisher_of(&stage, NULL);
  publish(&stage, living, S);
  for (int i = 0; i < 70; i++) {
    tb_ros2_clock_publisher_t *dead = publisher_of(&stage, NULL);
    publish(&stage, dead, (10 + i) * S);
    tb_ros2_clock_publisher_destroy(dead);
  }
  assert_ok(tb_ros2_clock_source_writers(stage.source, 100, writers, &count));
  assert_int_equal(count, 64);
  uint8_t last[16];
  int64_t next_ns = 200 * S;
  do { /* their times are coarse */
    publish(&stage, living, next_ns++);
    assert_ok(tb_ros2_clock_source_writers(stage.source, 100, writers, &count));
    assert_int_equal(count, 64);
  } while (writers[0].last_steady_ns == writers[1].last_steady_ns);
  memcpy(last, writers[0].guid, sizeof last);
  for (uint32_t i = 1; i < count; i++)
    assert_true(writers[i].last_steady_ns <= writers[i - 1].last_steady_ns);
  uint64_t samples = writers[0].samples;
  publish(&stage, living, 300 * S);
  assert_ok(tb_ros2_clock_source_writers(stage.source, 1, writers, &count));
  assert_memory_equal(writers[0].guid, last, sizeof last);
  assert_true(writers[0].samples > samples);
  assert_ok(tb_ros2_clock_source_status(stage.source, &status));
  assert_true(status.publishers >= 71);
  tb_ros2_clock_publisher_destroy(living);
  stage_close(&stage);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_C8_X5_publishers_come_and_go),
      cmocka_unit_test(test_C8_X5_a_mismatch_is_a_state_and_reported_once),
      cmocka_unit_test(test_X8_dead_publishers_hide_no_live_one),
      cmocka_unit_test(test_C8_X5_a_killed_publisher_is_lost_with_its_lease),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

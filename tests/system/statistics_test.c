/* Statistics of a node as others get them, on /diagnostics and /statistics. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/manual_source.h>
#include <timebase/ros2_diagnostics.h>
#include <timebase/ros2_statistics.h>
#include <unistd.h>

#include "system/loopback.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define DOMAIN 57
#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})
#define S      TB_NS_PER_S
#define POSE   "geometry_msgs/msg/PoseStamped"

static tb_ros2_context_t *context, *observer;
static tb_ros2_node_t *node;
static tb_source_t *source;
static tb_clock_t *clock_of_node;
static tb_statistics_t *statistics;
static tb_topic_statistics_t *poses;
static tb_ros2_subscription_t *diagnostics, *metrics;
static tb_ros2_statistics_publisher_t *reporting;
static tb__diagnostic_array_t *report; /* the last one */
static tb__metrics_message_t *metric;

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_context_create(NULL, &observer, &error) ||
      tb_ros2_node_create(context, "camera", "/ns", NULL, &node, &error) ||
      tb_ros2_subscription_create(observer, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray",
                                  NULL, NULL, &diagnostics, &error) ||
      tb_ros2_subscription_create(observer, "/statistics", "statistics_msgs/msg/MetricsMessage",
                                  NULL, NULL, &metrics, &error))
    fail_msg("%s", error.text);
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock_of_node));
  const tb_statistics_options_t options = {.node = "/ns/camera", .clock = clock_of_node};
  assert_ok(tb_statistics_create(&options, &statistics));
  const tb_topic_statistics_options_t of_topic = {.topic = "/pose"};
  assert_ok(tb_topic_statistics_create(statistics, &of_topic, &poses));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_statistics_publisher_destroy(reporting);
  reporting = NULL;
  tb_statistics_destroy(statistics);
  assert_ok(tb_clock_destroy(clock_of_node));
  assert_ok(tb_source_destroy(source));
  tb_ros2_subscription_destroy(diagnostics);
  tb_ros2_subscription_destroy(metrics);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(observer);
  free(report);
  free(metric);
  report = NULL;
  metric = NULL;
  return 0;
}

static void begin(const tb_ros2_statistics_options_t *options)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_statistics_publisher_create(node, statistics, options, &reporting, &error))
    fail_msg("%s", error.text);
}

static void take(tb_ros2_subscription_t *subscription, const tb__cdr_type_t *type, void *out)
{
  tb_ros2_sample_t sample;
  while (tb_ros2_subscription_take(subscription, &sample) != TB_OK)
    sched_yield();
  assert_ok(tb__cdr_decode(type, sample.cdr, sample.size, out));
  tb_ros2_sample_release(&sample);
}

static void take_report(void)
{
  free(report);
  take(diagnostics, &tb__diagnostic_array_type, &report);
}

static const tb__diagnostic_status_t *status_of(const char *name)
{
  for (size_t i = 0; i < report->status.count; i++)
    if (!strcmp(report->status.items[i].name, name)) return &report->status.items[i];
  fail_msg("no status %s", name);
  return NULL;
}

/* NULL: there is none. */
static const char *value_of(const tb__diagnostic_status_t *status, const char *key)
{
  for (size_t i = 0; i < status->values.count; i++)
    if (!strcmp(status->values.items[i].key, key)) return status->values.items[i].value;
  return NULL;
}

static const tb_ros2_statistics_options_t often = {.period = {10 * TB_NS_PER_MS},
                                                   .hardware_id = "robot"};

/* Several snapshots have been taken since. */
static void wait_for_snapshots(void)
{
  tb_clock_summary_t first, last;
  assert_ok(tb_statistics_clock(statistics, &first));
  do {
    sched_yield();
    assert_ok(tb_statistics_clock(statistics, &last));
  } while (last.from.ns <= first.to.ns);
}

/* The clock does not move, and reports go on. */
static void test_reports_go_out_while_time_is_paused(void **state)
{
  (void)state;
  begin(&often);
  assert_ok(tb_ros2_subscription_wait_for_matched(diagnostics, 1, WITHIN(LIMIT)));
  wait_for_snapshots();
  assert_ok(tb_manual_source_set(source, 100 * S + 7));
  for (int i = 0; i < 5; i++) {
    take_report();
    assert_int_equal(report->header.stamp.sec, 100); /* never 0, though it began before time did */
    assert_int_equal(report->header.stamp.nanosec, 7);
  }
  const tb__diagnostic_status_t *of_clock = status_of("/ns/camera: clock");
  assert_string_equal(of_clock->hardware_id, "robot");
  assert_string_equal(value_of(of_clock, "time_jump_count"), "0");
  assert_non_null(value_of(of_clock, "clock_rate_hz"));
  assert_int_equal(status_of("/ns/camera: /pose")->level, TB_LEVEL_OK);
  assert_null(value_of(status_of("/ns/camera: /pose"), "message_age_ms"));
  assert_ok(tb_manual_source_set(source, 50 * S));
  do
    take_report();
  while (report->header.stamp.sec != 50);
  assert_string_equal(value_of(status_of("/ns/camera: clock"), "time_jump_count"), "1");
  assert_null(value_of(status_of("/ns/camera: clock"), "real_time_factor")); /* it has none */
}

/* ---- with messages ---- */

static _Atomic int received;

static void on_pose(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  tb_ros2_topic_statistics_begin(poses, sample, true);
  tb_topic_statistics_end(poses);
  received++;
}

/* A header, 7 doubles. */
static void publish_pose(tb_ros2_publisher_t *publisher, int32_t sec, uint32_t nanosec)
{
  uint8_t message[4 + 8 + 8 + 56] = {0, 1, 0, 0};
  memcpy(message + 4, &sec, 4);
  memcpy(message + 8, &nanosec, 4);
  message[12] = 1; /* frame_id "" */
  assert_ok(tb_ros2_publisher_publish(publisher, message, sizeof message, NULL));
}

/* Ages of 0.5 s, 1 s, none and -10 s. */
static void publish_poses(tb_ros2_publisher_t *publisher)
{
  int expected = received + 4;
  publish_pose(publisher, 99, 500000000);
  publish_pose(publisher, 99, 0);
  publish_pose(publisher, 0, 0);
  publish_pose(publisher, 110, 0);
  while (received < expected)
    sched_yield();
}

static bool is_of_ages(void)
{
  return strcmp(metric->metrics_source, "message_age") == 0;
}

/* Metrics of an interval with these messages, all of them. */
static void take_ages(tb_ros2_publisher_t *publisher)
{
  int empty = 0;
  do {
    if (empty++ % 200 == 0) publish_poses(publisher);
    do {
      free(metric);
      take(metrics, &tb__metrics_message_type, &metric);
    } while (!is_of_ages());
  } while ((int)lround(metric->statistics.items[3].data) != 3);
}

static void test_latencies_are_those_of_the_messages(void **state)
{
  (void)state;
  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  const tb_ros2_subscription_options_t options = {on_pose, NULL};
  const tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  received = 0;
  assert_ok(tb_manual_source_set(source, 100 * S));
  assert_ok(
      tb_ros2_node_create_subscription(node, "/pose", POSE, &qos, &options, &subscription, NULL));
  assert_ok(tb_ros2_publisher_create(observer, "/pose", POSE, &qos, &publisher, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  publish_poses(publisher);
  begin(&often);
  do
    take_report();
  while (!value_of(status_of("/ns/camera: /pose"), "message_age_ms"));
  const tb__diagnostic_status_t *pose = status_of("/ns/camera: /pose");
  assert_string_equal(value_of(pose, "message_age_max_ms"), "1000.000000"); /* a bare number */
  assert_string_equal(value_of(pose, "message_age_min_ms"), "-10000.000000");
  assert_string_equal(value_of(pose, "zero_stamp_count"), "1");
  assert_string_equal(value_of(pose, "future_count"), "1");
  assert_string_equal(value_of(pose, "lost_count"), "0");
  assert_non_null(value_of(pose, "callback_queue_delay_ms"));
  assert_non_null(value_of(pose, "source_to_receive_ms"));
  assert_non_null(value_of(pose, "processing_ms"));
  assert_true(strtod(value_of(pose, "callback_queue_delay_ms"), NULL) >= 0);
  assert_int_equal(pose->level, TB_LEVEL_ERROR);
  assert_string_equal(pose->message, "stamps are too far in the future");
  assert_ok(tb_ros2_subscription_wait_for_matched(metrics, 1, WITHIN(LIMIT)));
  take_ages(publisher);
  assert_string_equal(metric->measurement_source_name, "/ns/camera:/pose");
  assert_string_equal(metric->unit, "ms");
  static const uint8_t order[] = {1, 3, 2, 5, 4};
  static const double data[] = {-8500.0 / 3, 1000, -10000, 3, 0};
  assert_int_equal(metric->statistics.count, 5);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(metric->statistics.items[i].data_type, order[i]);
    if (i < 4) assert_true(fabs(metric->statistics.items[i].data - data[i]) < 1e-6);
  }
  assert_int_equal(metric->window_stop.sec, 100);
  do { /* an interval without messages: NaN says "none" */
    free(metric);
    take(metrics, &tb__metrics_message_type, &metric);
  } while (!is_of_ages() || metric->statistics.items[3].data > 0);
  assert_true(isnan(metric->statistics.items[0].data) && isnan(metric->statistics.items[1].data));
  assert_true(fabs(metric->statistics.items[3].data) < 1e-9);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
}

static void test_messages_that_are_too_short_have_no_stamp(void **state)
{
  (void)state;
  static const uint8_t bytes[] = {0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
  tb_topic_summary_t summary;
  assert_ok(tb_manual_source_set(source, 100 * S));
  for (size_t size = 0; size <= sizeof bytes; size++) {
    const tb_ros2_sample_t sample = {.cdr = size ? bytes : NULL, .size = size};
    tb_ros2_topic_statistics_begin(poses, &sample, true);
  }
  const tb_ros2_sample_t foreign = {.cdr = "\xff\xff\0\0\0\0\0\5\0\0\0\0", .size = 12};
  tb_ros2_topic_statistics_begin(poses, &foreign, true);
  assert_ok(tb_statistics_snapshot(statistics));
  assert_ok(tb_topic_statistics_summary(poses, &summary));
  assert_int_equal(summary.interval.zero_stamps, sizeof bytes + 1);
  assert_int_equal(summary.interval.messages, sizeof bytes + 2);
}

/* Until a file that is replaced again and again has the text. */
static void wait_for_text(const char *path, const char *expected)
{
  static char text[1 << 16];
  do {
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file) fclose(file);
    sched_yield();
  } while (!strstr(text, expected));
}

static void test_publishers_of_the_clock_are_counted(void **state)
{
  (void)state;
  char folder[] = "/tmp/statistics.XXXXXX", path[64];
  tb_ros2_clock_publisher_t *publisher;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/node.prom", folder);
  assert_ok(tb_manual_source_set(source, 100 * S));
  begin(&(tb_ros2_statistics_options_t){.period = {10 * TB_NS_PER_MS}, .openmetrics_path = path});
  wait_for_text(path, "timebase_clock_publishers{node=\"/ns/camera\"} 0.0");
  const tb_ros2_parameter_value_t yes = tb_ros2_parameter_bool(true);
  assert_ok(tb_ros2_node_set_parameter(node, "use_sim_time", &yes, NULL));
  assert_ok(tb_ros2_clock_publisher_create(observer, NULL, NULL, &publisher, NULL));
  wait_for_text(path, "timebase_clock_publishers{node=\"/ns/camera\"} 1.0");
  tb_ros2_clock_publisher_destroy(publisher);
  wait_for_text(path, "timebase_clock_publishers{node=\"/ns/camera\"} 0.0");
  tb_ros2_statistics_publisher_destroy(reporting);
  reporting = NULL;
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void test_a_file_and_one_topic_alone(void **state)
{
  (void)state;
  char folder[] = "/tmp/statistics.XXXXXX", path[64];
  struct stat info;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/node.prom", folder);
  assert_ok(tb_manual_source_set(source, 100 * S));
  begin(&(tb_ros2_statistics_options_t){
      .period = {10 * TB_NS_PER_MS}, .openmetrics_path = path, .no_diagnostics = true});
  free(metric);
  take(metrics, &tb__metrics_message_type, &metric);
  while (stat(path, &info) != 0)
    sched_yield();
  assert_true(info.st_size > 1000);
  assert_int_equal(tb_ros2_subscription_matched(diagnostics), 0);
  tb_ros2_statistics_publisher_destroy(reporting);
  reporting = NULL;
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing is left beside it */
}

/* A time after 2038 fits no stamp, and a stamp of zero would say that there is none (T4). */
static void test_a_time_that_fits_no_stamp_is_not_reported(void **state)
{
  (void)state;
  char folder[] = "/tmp/timebase-statistics-XXXXXX", path[sizeof folder + 16];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/camera.prom", folder);
  const tb_ros2_statistics_options_t options = {.period = {10 * TB_NS_PER_MS},
                                                .openmetrics_path = path};
  assert_ok(tb_manual_source_set(source, 100 * S));
  begin(&options);
  take_report();
  assert_ok(tb_manual_source_set(source, INT64_C(3000000000) * S));
  wait_for_snapshots();
  (void)unlink(path);
  while (access(path, F_OK)) /* a file has no such limit */
    sched_yield();
  assert_ok(tb_manual_source_set(source, 200 * S));
  do {
    take_report();
    assert_true(report->header.stamp.sec > 0);
  } while (report->header.stamp.sec < 200);
  tb_ros2_statistics_publisher_destroy(reporting);
  reporting = NULL;
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void test_wrong_options_are_refused(void **state)
{
  (void)state;
  static char path[4002];
  memset(path, 'a', sizeof path - 1);
  const tb_ros2_statistics_options_t wrong[] = {{.period = {-1}}, {.openmetrics_path = path}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_status(
        tb_ros2_statistics_publisher_create(node, statistics, &wrong[i], &reporting, NULL),
        TB_ERR_INVALID);
  assert_null(reporting);
}

/* What a program measures, on /diagnostics; names and numbers as above. */
static void test_diagnostics_of_a_program(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_diagnostics_t *out = NULL;
  char key[] = "key", task[16];
  if (tb_ros2_diagnostics_create(node, "robot", &out, &error)) fail_msg("%s", error.text);
  assert_ok(tb_ros2_subscription_wait_for_matched(diagnostics, 1, WITHIN(LIMIT)));
  tb_ros2_diagnostics_begin(out, TB_LEVEL_WARN, "lidar", "it is slow");
  tb_ros2_diagnostics_add_number(out, key, 1.5);
  key[0] = 'x'; /* it was copied */
  tb_ros2_diagnostics_add_number(out, "unknown", NAN);
  tb_ros2_diagnostics_add_count(out, "packets", UINT64_MAX);
  tb_ros2_diagnostics_add_text(out, "mode", "fast");
  for (int i = 0; i < 100; i++) {
    snprintf(task, sizeof task, "task %d", i);
    tb_ros2_diagnostics_begin(out, TB_LEVEL_OK, task, "");
    for (int k = 0; k < i; k++)
      tb_ros2_diagnostics_add_count(out, task, (uint64_t)k);
  }
  assert_ok(tb_ros2_diagnostics_publish(out, (tb_time_t){12 * S + 5, TB_TIME_ROS}, &error));
  take_report();
  assert_int_equal(report->header.stamp.sec, 12);
  assert_int_equal(report->header.stamp.nanosec, 5);
  assert_int_equal(report->status.count, 101);
  const tb__diagnostic_status_t *lidar = status_of("/ns/camera: lidar");
  assert_int_equal(lidar->level, 1);
  assert_string_equal(lidar->message, "it is slow");
  assert_string_equal(lidar->hardware_id, "robot");
  assert_int_equal(lidar->values.count, 3);
  assert_string_equal(value_of(lidar, "key"), "1.500000");
  assert_string_equal(value_of(lidar, "packets"), "18446744073709551615");
  assert_string_equal(value_of(lidar, "mode"), "fast");
  const tb__diagnostic_status_t *last = status_of("/ns/camera: task 99");
  assert_int_equal(last->values.count, 99);
  assert_string_equal(last->values.items[98].value, "98");
  tb_ros2_diagnostics_destroy(out);
}

static void test_diagnostics_that_are_refused(void **state)
{
  (void)state;
  tb_ros2_diagnostics_t *out = NULL;
  const tb_time_t times[] = {{0, TB_TIME_ROS}, {-1, TB_TIME_ROS}, {INT64_MAX, TB_TIME_ROS}};
  assert_ok(tb_ros2_diagnostics_create(node, NULL, &out, NULL));
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    assert_status(tb_ros2_diagnostics_publish(out, times[i], NULL), TB_ERR_RANGE);
  tb_ros2_diagnostics_add_count(out, "before a status", 1);
  assert_status(tb_ros2_diagnostics_publish(out, (tb_time_t){1, TB_TIME_ROS}, NULL),
                TB_ERR_INVALID);
  assert_ok(tb_ros2_diagnostics_publish(out, (tb_time_t){1, TB_TIME_ROS}, NULL)); /* empty */
  tb_ros2_diagnostics_destroy(out);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(test_reports_go_out_while_time_is_paused),
      CASE(test_latencies_are_those_of_the_messages),
      CASE(test_messages_that_are_too_short_have_no_stamp),
      CASE(test_a_file_and_one_topic_alone),
      CASE(test_publishers_of_the_clock_are_counted),
      CASE(test_a_time_that_fits_no_stamp_is_not_reported),
      CASE(test_wrong_options_are_refused),
      CASE(test_diagnostics_of_a_program),
      CASE(test_diagnostics_that_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

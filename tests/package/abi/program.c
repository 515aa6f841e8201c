/* A program that takes and fills structs. It is compiled with one version of the headers and run
 * with the libraries of another: with -DTB_GROWN of structs that have a field more (abi_test). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/clock.h>
#include <timebase/clock_server.h>
#include <timebase/condition.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/rate.h>
#include <timebase/recorder.h>
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <timebase/testing.h>
#include <timebase/timeline.h>
#include <timebase/timer.h>
#ifdef TB_WITH_ROS2
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#endif

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* What a call fills, followed by bytes that are not its. */
#define GUARDED(type, name)                                                                        \
  struct {                                                                                         \
    type value;                                                                                    \
    unsigned char guard[64];                                                                       \
  } name;                                                                                          \
  memset(&(name), 0xA5, sizeof(name))

static bool is_whole(const unsigned char *guard)
{
  for (int i = 0; i < 64; i++)
    if (guard[i] != 0xA5) return false;
  return true;
}

/* A field that the libraries do not know is refused, and 0 in what they fill. */
#ifdef TB_GROWN
#define REFUSED(options, call)                                                                     \
  do {                                                                                             \
    (options).grown = 1;                                                                           \
    CHECK((call) == TB_ERR_UNSUPPORTED);                                                           \
    (options).grown = 0;                                                                           \
  } while (0)
#define CHECK_FILLED(name)                                                                         \
  CHECK(is_whole((name).guard));                                                                   \
  CHECK((name).value.grown == 0)
#else
#define REFUSED(options, call) (void)(options)
#define CHECK_FILLED(name)     CHECK(is_whole((name).guard))
#endif

static const char *folder;
static _Atomic int jumps, timer_calls;

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)user;
  CHECK(jump->kind);
  jumps++;
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)user;
  CHECK(info->scheduled.ns <= info->actual.ns);
  timer_calls++;
}

static void check_clock(void)
{
  tb_source_t *source;
  tb_clock_t *clock = NULL;
  CHECK(!tb_manual_source_create(&source));
  tb_clock_options_t options = {.kind = TB_TIME_ROS, .source = source};
  REFUSED(options, tb_clock_create(&options, &clock));
  CHECK(!tb_clock_create(&(tb_clock_options_t){.kind = TB_TIME_ROS, .source = source}, &clock));

  tb_jump_handler_t *handler;
  tb_jump_handler_options_t on_jumps = {.threshold.on_clock_change = true, .after = on_jump};
  REFUSED(on_jumps, tb_jump_handler_create(clock, &on_jumps, &handler));
  on_jumps.threshold.min_backward.ns = -1;
  CHECK(!tb_jump_handler_create(clock, &on_jumps, &handler));

  CHECK(!tb_manual_source_set(source, 1000));
  GUARDED(tb_clock_reading_t, reading);
  CHECK(!tb_clock_read(clock, &reading.value));
  CHECK(reading.value.time.ns == 1000 && reading.value.time.kind == TB_TIME_ROS);
  CHECK_FILLED(reading);
  GUARDED(tb_clock_reading_t, waited);
  CHECK(!tb_clock_wait_for_state(clock, TB_CLOCK_STATE_BIT(reading.value.state), NULL,
                                 &waited.value));
  CHECK(waited.value.epoch == reading.value.epoch);
  CHECK_FILLED(waited);

  tb_wait_options_t wait = {.limit = TB_MS(1)};
  REFUSED(wait, tb_clock_sleep_until(clock, tb_ros_time_ns(5000), &wait));
  CHECK(tb_clock_sleep_until(clock, tb_ros_time_ns(5000), &wait) == TB_ERR_TIMEOUT);
  CHECK(!tb_clock_sleep_until(clock, tb_ros_time_ns(500), &(tb_wait_options_t){.limit = TB_MS(1)}));

  GUARDED(tb_timeline_stats_t, stats);
  tb_timeline_stats(tb_source_timeline(source), &stats.value);
  CHECK_FILLED(stats);
  tb_timeline_options_t tuned = TB_TIMELINE_OPTIONS_INIT;
  REFUSED(tuned, tb_timeline_set_options(tb_source_timeline(source), &tuned));
  CHECK(!tb_timeline_set_options(tb_source_timeline(source), &tuned));

  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  tb_timer_options_t each = {.period = TB_NS(10), .callback = on_timer};
  CHECK(!tb_timer_queue_create(&queue));
  REFUSED(each, tb_clock_timer_create(queue, clock, &each, &timer));
  CHECK(!tb_clock_timer_create(queue, clock, &each, &timer));
  CHECK(!tb_timer_start(timer));
  tb_run_options_t run = {.limit = TB_SECONDS(60)};
  CHECK(!tb_timer_queue_start_thread(queue));
  REFUSED(run, tb_manual_source_advance_and_run(source, TB_NS(10), &run));
  CHECK(!tb_manual_source_advance_and_run(source, TB_NS(10), &run));
  CHECK(timer_calls == 1);

  tb_rate_t *rate;
  GUARDED(tb_rate_result_t, result);
  CHECK(!tb_clock_rate_create(clock, TB_NS(100), &rate));
  CHECK(!tb_manual_source_advance(source, TB_NS(250)));
  CHECK(!tb_rate_sleep(rate, NULL, &result.value));
  CHECK(result.value.late && result.value.late_by.ns == 150);
  CHECK_FILLED(result);
  tb_rate_destroy(rate);

  CHECK(!tb_manual_source_jump(source, 10, TB_JUMP_REASON_SEEK));
  CHECK(jumps == 2); /* the first tick, and this one */
  tb_jump_handler_destroy(handler);
  CHECK(!tb_timer_queue_destroy(queue));
  CHECK(!tb_clock_destroy(clock));
  CHECK(!tb_source_destroy(source));
}

static void check_sources(void)
{
  tb_source_t *inner, *source;
  tb_extrapolating_options_t options = TB_EXTRAPOLATING_OPTIONS_INIT;
  GUARDED(tb_extrapolating_stats_t, stats);
  CHECK(!tb_manual_source_create(&inner));
  REFUSED(options, tb_extrapolating_source_create(inner, &options, &source));
  CHECK(!tb_extrapolating_source_create(inner, &options, &source));
  CHECK(!tb_extrapolating_source_stats(source, &stats.value));
  CHECK_FILLED(stats);
  CHECK(!tb_source_destroy(source));

  tb_source_ops_t ops = {.name = "program"};
  REFUSED(ops, tb_source_create(&ops, NULL, &source));
  CHECK(!tb_source_create(&ops, NULL, &source));
  CHECK(!tb_source_destroy(source));
}

/* Room in structs that keep their size. */
static void check_room(void)
{
  tb_bag_reader_t *reader;
  tb_bag_reader_options_t read = {.limits.file_count = 5};
  read.limits.reserved[2] = 1;
  CHECK(tb_bag_reader_open(folder, &read, &reader, NULL) == TB_ERR_UNSUPPORTED);
  tb_recorder_t *recorder;
  tb_recorder_options_t record = TB_RECORDER_OPTIONS_INIT;
  ((uint64_t *)(&record.bag + 1))[-1] = 1; /* those before it have become fields */
  CHECK(tb_recorder_create("x", &record, &recorder, NULL) == TB_ERR_UNSUPPORTED);
}

static tb_status_t ignore_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                               tb_error_t *error)
{
  (void)self, (void)time_ns, (void)reason, (void)error;
  return TB_OK;
}

static void check_server(void)
{
  tb_clock_server_t *server;
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  const tb_tick_sink_t sink = {.tick = ignore_tick};
  GUARDED(tb_clock_server_status_t, status);
  REFUSED(options, tb_clock_server_create(&options, &sink, 1, &server, NULL));
  CHECK(!tb_clock_server_create(&options, &sink, 1, &server, NULL));
  tb_clock_server_status(server, &status.value);
  CHECK_FILLED(status);
  tb_clock_server_destroy(server);
}

static void check_bag(void)
{
  char path[512];
  snprintf(path, sizeof path, "%s/bag", folder);
  tb_bag_writer_t *writer;
  tb_bag_writer_options_t options = {.storage_id = "mcap"};
  REFUSED(options, tb_bag_writer_create(path, &options, &writer, NULL));
  CHECK(
      !tb_bag_writer_create(path, &(tb_bag_writer_options_t){.storage_id = "mcap"}, &writer, NULL));
  size_t topic;
  tb_bag_writer_topic_t wanted = {.name = "/a", .type = "std_msgs/msg/Bool"};
  REFUSED(wanted, tb_bag_writer_add_topic(writer, &wanted, &topic, NULL));
  CHECK(!tb_bag_writer_add_topic(writer, &wanted, &topic, NULL));
  static const uint8_t message[] = {0, 1, 0, 0, 1};
  CHECK(!tb_bag_writer_write(writer, topic, 5, 5, message, sizeof message, NULL));
  GUARDED(tb_bag_writer_info_t, info);
  tb_bag_writer_get_info(writer, &info.value);
  CHECK(info.value.message_count == 1);
  CHECK_FILLED(info);
  CHECK(!tb_bag_writer_close(writer, NULL));

  tb_bag_reader_t *reader;
  tb_bag_reader_options_t all = {.counts = TB_BAG_COUNTS_EXACT};
  REFUSED(all, tb_bag_reader_open(path, &all, &reader, NULL));
  CHECK(!tb_bag_reader_open(path, &all, &reader, NULL));
  const tb_bag_info_t *bag = tb_bag_reader_info(reader);
  CHECK(bag->topic_count == 1 && strcmp(bag->topics[0].name, "/a") == 0);
  CHECK(bag->topics[0].message_count == 1);
  GUARDED(tb_bag_message_t, read);
  CHECK(!tb_bag_reader_next(reader, &read.value, NULL));
  CHECK(read.value.log_time_ns == 5 && read.value.size == sizeof message);
  CHECK_FILLED(read);
  tb_bag_reader_close(reader);

  GUARDED(tb_bag_check_result_t, result);
  CHECK(!tb_bag_check(path, NULL, NULL, &result.value, NULL));
  CHECK(result.value.message_count == 1 && result.value.finding_count == 0);
  CHECK_FILLED(result);

  snprintf(path, sizeof path, "%s/recording", folder);
  tb_recorder_t *recorder;
  tb_recorder_options_t record = TB_RECORDER_OPTIONS_INIT;
  REFUSED(record, tb_recorder_create(path, &record, &recorder, NULL));
  CHECK(!tb_recorder_create(path, &record, &recorder, NULL));
  CHECK(!tb_recorder_add_topic(recorder, &wanted, &topic, NULL));
  tb_recorder_message_t taken = {.data = message, .size = sizeof message, .receive_ns = 7};
  REFUSED(taken, tb_recorder_take(recorder, topic, &taken));
  CHECK(!tb_recorder_take(recorder, topic, &taken));
  CHECK(!tb_recorder_stop(recorder, NULL));
  GUARDED(tb_recorder_status_t, status);
  tb_recorder_status(recorder, &status.value);
  CHECK_FILLED(status);
  tb_recorder_destroy(recorder);
}

#ifdef TB_WITH_ROS2
static void check_ros2(void)
{
  tb_ros2_context_t *context;
  tb_ros2_context_options_t options = {.keep_dds_log = false};
  tb_error_t error = TB_ERROR_INIT;
  REFUSED(options, tb_ros2_context_create(&options, &context, &error));
  if (tb_ros2_context_create(&options, &context, &error)) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  tb_ros2_node_t *node;
  tb_ros2_node_options_t of_node = TB_ROS2_NODE_OPTIONS_INIT;
  REFUSED(of_node, tb_ros2_node_create(context, "grown", "", &of_node, &node, NULL));
  CHECK(!tb_ros2_node_create(context, "grown", "", &of_node, &node, NULL));
  tb_source_t *source;
  tb_ros2_clock_source_options_t of_source = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  GUARDED(tb_ros2_clock_source_status_t, status);
  REFUSED(of_source, tb_ros2_clock_source_create(context, &of_source, &source, NULL));
  CHECK(!tb_ros2_clock_source_create(context, &of_source, &source, NULL));
  CHECK(!tb_ros2_clock_source_status(source, &status.value));
  CHECK_FILLED(status);
  CHECK(!tb_source_destroy(source));

  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  static const uint8_t message[] = {0, 1, 0, 0, 1};
  CHECK(!tb_ros2_node_create_publisher(node, "/a", "std_msgs/msg/Bool", &qos, &publisher, NULL));
  CHECK(!tb_ros2_subscription_create(context, "/a", "std_msgs/msg/Bool", &qos, NULL, &subscription,
                                     NULL));
  CHECK(!tb_ros2_publisher_wait_for_matched(publisher, 1,
                                            &(tb_wait_options_t){.limit = TB_SECONDS(60)}));
  CHECK(!tb_ros2_publisher_publish(publisher, message, sizeof message, NULL));
  GUARDED(tb_ros2_sample_t, sample);
  CHECK(!tb_ros2_subscription_take(subscription, &sample.value));
  CHECK(sample.value.size >= sizeof message);
  CHECK_FILLED(sample);
  tb_ros2_sample_release(&sample.value);
  CHECK(is_whole(sample.guard) && !sample.value.cdr);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
}
#endif

int main(int argc, char **argv)
{
  if (argc != 2) return 2;
  folder = argv[1];
  check_clock();
  check_sources();
  check_server();
  check_room();
  check_bag();
#ifdef TB_WITH_ROS2
  check_ros2();
#endif
  puts("ok");
  return 0;
}

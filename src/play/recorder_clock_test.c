/* Recording in ROS time: nothing before the first tick, and a file for each jump back. */
#include <pthread.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>

#include "play/record_fixture.h"

static tb_source_t *source;
static tb_clock_t *ros_clock;

static void start_on_clock(void)
{
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t clock_options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&clock_options, &ros_clock));
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.log_time = TB_RECORDER_TIME_ROS;
  options.clock = ros_clock;
  start(&options);
}

static void end_clock(void)
{
  tb_recorder_destroy(recorder);
  recorder = NULL;
  assert_ok(tb_clock_destroy(ros_clock));
  tb_source_destroy(source);
}

static bool metadata_says(const char *text)
{
  char *file = tb__test_path(path, "metadata.yaml");
  size_t size = 0;
  char *bytes = tb__test_read(file, &size);
  bool found = memmem(bytes, size, text, strlen(text)) != NULL;
  free(bytes);
  free(file);
  return found;
}

static const char *topic_name(const tb_bag_reader_t *reader, const tb_bag_message_t *message)
{
  return tb_bag_reader_info(reader)->topics[message->topic].name;
}

static void expect_jump(tb_bag_reader_t *reader, const char *text, int64_t log_ns, size_t file)
{
  tb_bag_message_t message;
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_string_equal(topic_name(reader, &message), TB_RECORDER_JUMPS_TOPIC);
  assert_string_equal((const char *)message.data + 8, text);
  assert_int_equal(message.size, 8 + strlen(text) + 1);
  assert_int_equal(message.data[4], strlen(text) + 1);
  assert_int_equal(message.log_time_ns, log_ns);
  assert_int_equal(message.file, file);
}

static void test_nothing_before_the_first_tick(void **state)
{
  (void)state;
  start_on_clock();
  assert_true(status_now().waits_for_clock);
  assert_status(take(0, 1), TB_ERR_NOT_SET);
  assert_ok(take_sized(1, 2, 8, 5 * S)); /* the tick itself, seen here first */
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_false(status_now().waits_for_clock);
  assert_ok(take(0, 3));
  stop_well();
  assert_int_equal(topic_now(0).skipped, 1);
  assert_true(metadata_says("kind=started"));
  tb_bag_reader_t *reader = read_back();
  expect(reader, 2, 5 * S, 0);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=5000000000 file=0", 5 * S, 0);
  expect(reader, 3, 5 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

static void test_a_jump_back_begins_a_file(void **state)
{
  (void)state;
  start_on_clock();
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take(0, 1));
  assert_ok(tb_manual_source_set(source, 11 * S));
  assert_ok(take(0, 2));
  assert_ok(tb_manual_source_jump(source, 3 * S, TB_JUMP_REASON_LOOP));
  assert_ok(take(0, 3));
  assert_ok(tb_manual_source_jump(source, 2 * S, TB_JUMP_REASON_SEEK));
  assert_ok(tb_manual_source_jump(source, 1 * S, TB_JUMP_REASON_SEEK));
  assert_ok(take(0, 4));
  stop_well();
  assert_int_equal(status_now().jumps, 3);
  assert_int_equal(status_now().file_count, 4);
  assert_true(metadata_says(
      "kind=backward reason=loop before_ns=11000000000 after_ns=3000000000 file=1 begins_file"));
  tb_bag_reader_t *reader = read_back();
  const char *loop =
      "kind=backward reason=loop before_ns=11000000000 after_ns=3000000000 file=1 begins_file";
  const char *seeks[] = {
      "kind=backward reason=seek before_ns=3000000000 after_ns=2000000000 file=2 begins_file",
      "kind=backward reason=seek before_ns=2000000000 after_ns=1000000000 file=3 begins_file"};
  expect_jump(reader, seeks[1], 1 * S, 3);
  expect(reader, 4, 1 * S, 3);
  expect_jump(reader, seeks[0], 2 * S, 2);
  expect_jump(reader, loop, 3 * S, 1);
  expect(reader, 3, 3 * S, 1);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=10000000000 file=0", 10 * S,
              0);
  expect(reader, 1, 10 * S, 0);
  expect(reader, 2, 11 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

static void *take_on_thread(void *number)
{
  assert_ok(take(0, *(const uint32_t *)number));
  return NULL;
}

/* A handler that comes after the recorder's. The thread's reading would block for ever here. */
static void take_during_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, take_on_thread, user), 0);
  pthread_join(thread, NULL);
}

static void test_messages_during_a_jump_are_of_after_it(void **state)
{
  (void)state;
  uint32_t number = 2;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.min_backward = (tb_duration_t){-1};
  options.before = take_during_jump;
  options.user = &number;
  start_on_clock();
  assert_ok(tb_jump_handler_create(ros_clock, &options, &handler));
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take(0, 1));
  assert_ok(tb_manual_source_set(source, 3 * S));
  stop_well();
  tb_bag_reader_t *reader = read_back();
  expect_jump(reader,
              "kind=backward reason=none before_ns=10000000000 after_ns=3000000000 file=1 "
              "begins_file",
              3 * S, 1);
  expect(reader, 2, 3 * S, 1);
  tb_bag_message_t started;
  assert_ok(tb_bag_reader_next(reader, &started, NULL));
  assert_string_equal(topic_name(reader, &started), TB_RECORDER_JUMPS_TOPIC);
  expect(reader, 1, 10 * S, 0);
  tb_bag_reader_close(reader);
  tb_jump_handler_destroy(handler);
  end_clock();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_BAG(test_nothing_before_the_first_tick),
      WITH_BAG(test_a_jump_back_begins_a_file),
      WITH_BAG(test_messages_during_a_jump_are_of_after_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

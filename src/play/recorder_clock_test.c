/* Recording in ROS time: nothing before the first tick, and a file for each jump back. */
#include <pthread.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/testing.h>

#include "play/record_fixture.h"

static tb_source_t *source;
static tb_clock_t *ros_clock;

static void make_clock(void)
{
  assert_ok(tb_manual_source_create(&source));
  tb_clock_options_t clock_options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&clock_options, &ros_clock));
}

static void record_clock(void)
{
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.log_time = TB_RECORDER_TIME_ROS;
  options.clock = ros_clock;
  start(&options);
}

static void start_on_clock(void)
{
  make_clock();
  record_clock();
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
  assert_int_equal(topic_now(0).skipped_early, 1);
  assert_int_equal(topic_now(0).skipped_paused, 0);
  assert_true(metadata_says("kind=started"));
  tb_bag_reader_t *reader = read_back();
  expect(reader, 2, 5 * S, 0);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=5000000000 run=1", 5 * S, 0);
  expect(reader, 3, 5 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

static void test_what_is_latched_waits_for_the_first_tick(void **state)
{
  (void)state;
  start_on_clock();
  assert_ok(take_latched(0, 1));
  assert_ok(take_latched(1, 2));
  assert_status(take(0, 3), TB_ERR_NOT_SET);
  assert_ok(take_latched(0, 4));
  assert_int_equal(topic_now(0).waiting, 2);
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_ok(take_latched(0, 5));
  assert_ok(tb_manual_source_set(source, 6 * S));
  assert_ok(take(0, 6));
  stop_well();
  assert_int_equal(topic_now(0).skipped_early, 1);
  assert_int_equal(topic_now(0).waiting, 0);
  tb_bag_reader_t *reader = read_back();
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=5000000000 run=1", 5 * S, 0);
  expect(reader, 1, 5 * S, 0);
  expect(reader, 2, 5 * S, 0);
  expect(reader, 4, 5 * S, 0);
  expect(reader, 5, 5 * S, 0);
  expect(reader, 6, 6 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

static void test_what_is_latched_waits_for_the_first_tick_and_resume(void **state)
{
  (void)state;
  start_on_clock();
  tb_recorder_pause(recorder);
  assert_ok(take_latched(0, 1));
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_ok(take_latched(0, 2));
  assert_ok(tb_manual_source_set(source, 6 * S));
  assert_int_equal(topic_now(0).waiting, 2);
  tb_recorder_resume(recorder);
  assert_ok(take(0, 3));
  stop_well();
  assert_int_equal(topic_now(0).skipped_early + topic_now(0).skipped_paused, 0);
  tb_bag_reader_t *reader = read_back();
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=5000000000 run=1", 5 * S, 0);
  for (uint32_t i = 1; i <= 3; i++)
    expect(reader, i, 6 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

/* A tick that leads back is held, with what came after it. */
static void test_what_is_latched_stays_after_what_is_held(void **state)
{
  (void)state;
  tb_bag_message_t started;
  start_on_clock();
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take_sized(1, 1, 8, 3 * S));
  assert_ok(take_latched(0, 2));
  tb_recorder_pause(recorder);
  assert_ok(take_latched(0, 3));
  tb_recorder_resume(recorder);
  assert_ok(tb_manual_source_set(source, 3 * S));
  stop_well();
  tb_bag_reader_t *reader = read_back(); /* which is in the order of time */
  expect_jump(reader, "kind=backward reason=none before_ns=10000000000 after_ns=3000000000 run=2",
              3 * S, 1);
  for (uint32_t i = 1; i <= 3; i++)
    expect(reader, i, 3 * S, 1);
  assert_ok(tb_bag_reader_next(reader, &started, NULL));
  tb_bag_reader_close(reader);
  end_clock();
}

static void test_what_is_latched_is_skipped_if_there_is_no_tick(void **state)
{
  (void)state;
  start_on_clock();
  assert_ok(take_latched(0, 1));
  stop_well();
  assert_int_equal(topic_now(0).skipped_early, 1);
  assert_int_equal(topic_now(0).waiting, 0);
  assert_int_equal(status_now().waiting_bytes, 0);
  assert_int_equal(count_in_bag(), 0);
  end_clock();
}

static void record_during_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  (void)user;
  if (recorder) return;
  record_clock();
  assert_ok(take_latched(0, 1));
}

/* A jump is reported only to handlers from before it. */
static void check_first_tick_that_has_been(bool another_comes)
{
  make_clock();
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.on_clock_change = true;
  options.before = record_during_jump;
  assert_ok(tb_jump_handler_create(ros_clock, &options, &handler));
  assert_ok(tb_manual_source_set(source, 5 * S));
  if (another_comes) assert_ok(take(0, 2));
  stop_well();
  assert_int_equal(topic_now(0).skipped_early, 0);
  tb_bag_reader_t *reader = read_back();
  expect(reader, 1, 5 * S, 0);
  if (another_comes) expect(reader, 2, 5 * S, 0);
  tb_bag_reader_close(reader);
  tb_jump_handler_destroy(handler);
  end_clock();
}

static void test_what_is_latched_does_not_wait_for_a_first_tick_that_has_been(void **state)
{
  (void)state;
  check_first_tick_that_has_been(true);
}

static void test_what_is_latched_is_written_at_the_end_if_time_has_started(void **state)
{
  (void)state;
  check_first_tick_that_has_been(false);
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
  assert_true(metadata_says("timebase_run_2: \"first_file=1\""));
  tb_bag_reader_t *reader = read_back();
  const char *loop = "kind=backward reason=loop before_ns=11000000000 after_ns=3000000000 run=2";
  const char *seeks[] = {
      "kind=backward reason=seek before_ns=3000000000 after_ns=2000000000 run=3",
      "kind=backward reason=seek before_ns=2000000000 after_ns=1000000000 run=4"};
  expect_jump(reader, seeks[1], 1 * S, 3);
  expect(reader, 4, 1 * S, 3);
  expect_jump(reader, seeks[0], 2 * S, 2);
  expect_jump(reader, loop, 3 * S, 1);
  expect(reader, 3, 3 * S, 1);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=10000000000 run=1", 10 * S, 0);
  expect(reader, 1, 10 * S, 0);
  expect(reader, 2, 11 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

/* Each run by itself is as it was; the notes list its files. */
static void test_runs_can_be_read_one_by_one(void **state)
{
  (void)state;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  start_on_clock();
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take(0, 1));
  assert_ok(tb_recorder_split(recorder, NULL, NULL)); /* a run of two files */
  assert_ok(take(0, 2));
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_ok(take(0, 3));
  assert_ok(tb_manual_source_set(source, 12 * S));
  assert_ok(take(0, 4));
  stop_well();
  options.run = 1;
  assert_ok(tb_bag_reader_open(path, &options, &reader, &error));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->run_count, 2);
  assert_int_equal(info->runs[0].file_count, 2);
  assert_int_equal(info->runs[1].first_file, 2);
  assert_int_equal(info->runs[1].start_ns, 5 * S);
  assert_int_equal(info->runs[1].end_ns, 12 * S);
  assert_int_equal(info->message_count, 3);
  assert_int_equal(info->end_ns, 10 * S);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=10000000000 run=1", 10 * S, 0);
  expect(reader, 1, 10 * S, 0);
  expect(reader, 2, 10 * S, 1);
  tb_bag_message_t message;
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  assert_ok(tb_bag_reader_seek(reader, 0));
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.log_time_ns, 10 * S);
  tb_bag_reader_close(reader);
  options.run = 3;
  assert_status(tb_bag_reader_open(path, &options, &reader, &error), TB_ERR_RANGE);
  assert_non_null(strstr(error.text, "no run 3: there are 2"));
  end_clock();
}

/* A long step may be the passing of time: of a clock that ticks rarely, for instance. */
static void test_forward_jumps_are_recorded(void **state)
{
  (void)state;
  tb_bag_message_t message;
  start_on_clock();
  assert_ok(tb_testing_hold_os_time());
  for (int64_t time = 10; time < 20; time++) { /* from which the rate is known */
    assert_ok(tb_manual_source_set(source, time * S));
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
  }
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){9 * S}));
  assert_ok(tb_manual_source_set(source, 29 * S));
  assert_ok(take(0, 1));
  assert_ok(tb_manual_source_set(source, 200 * S));
  assert_ok(take(0, 2));
  assert_ok(tb_testing_release_os_time());
  stop_well();
  assert_int_equal(status_now().jumps, 0);
  assert_int_equal(status_now().file_count, 1);
  tb_bag_reader_t *reader = read_back();
  assert_ok(tb_bag_reader_next(reader, &message, NULL)); /* of the first tick */
  expect(reader, 1, 29 * S, 0);
  expect_jump(reader, "kind=forward reason=none before_ns=29000000000 after_ns=200000000000 run=1",
              200 * S, 0);
  expect(reader, 2, 200 * S, 0);
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
  end_clock();
}

/* The tick is here first, and makes the jump only then. What comes meanwhile is of the new run. */
static void test_a_tick_that_leads_back_is_of_the_run_that_it_begins(void **state)
{
  (void)state;
  start_on_clock();
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take(0, 1));
  assert_ok(take_sized(1, 2, 8, 3 * S));
  assert_ok(take(0, 3));
  assert_ok(tb_manual_source_set(source, 3 * S));
  assert_ok(take_sized(1, 4, 8, 4 * S)); /* one that leads on may be early, too */
  assert_ok(tb_manual_source_set(source, 4 * S));
  assert_ok(take(0, 5));
  stop_well();
  tb_bag_reader_t *reader = read_back(); /* which is in the order of time */
  expect_jump(reader, "kind=backward reason=none before_ns=10000000000 after_ns=3000000000 run=2",
              3 * S, 1);
  expect(reader, 2, 3 * S, 1);
  expect(reader, 3, 3 * S, 1);
  expect(reader, 4, 4 * S, 1);
  expect(reader, 5, 4 * S, 1);
  tb_bag_reader_close(reader);
  end_clock();
}

/* The clock ignores it: what was held back is recorded with the time of its arrival. */
static void test_a_tick_that_is_dropped_holds_nothing_for_long(void **state)
{
  (void)state;
  tb_bag_message_t started;
  start_on_clock();
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_manual_source_set(source, 10 * S));
  assert_ok(take_sized(1, 1, 8, 9 * S));
  assert_ok(take(0, 2));
  assert_ok(tb_manual_source_set(source, 11 * S));
  assert_ok(take_sized(1, 3, 8, 11 * S)); /* lets it go */
  wait_until_written(4);
  assert_ok(take_sized(1, 4, 8, 9 * S));
  assert_ok(take(0, 5));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S / 2}));
  wait_until_written(6); /* so does time */
  assert_ok(take_sized(1, 6, 8, 9 * S));
  assert_ok(tb_testing_release_os_time());
  stop_well(); /* so does the end */
  tb_bag_reader_t *reader = read_back();
  assert_ok(tb_bag_reader_next(reader, &started, NULL));
  expect(reader, 1, 10 * S, 0);
  expect(reader, 2, 10 * S, 0);
  for (uint32_t i = 3; i <= 6; i++)
    expect(reader, i, 11 * S, 0);
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
  tb_bag_reader_t *reader = read_back(); /* which is in the order of time */
  expect_jump(reader, "kind=backward reason=none before_ns=10000000000 after_ns=3000000000 run=2",
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

/* In the run of the messages that it comes before. */
static void test_a_snapshot_after_a_jump_has_the_state_after_it(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  make_clock();
  options.log_time = TB_RECORDER_TIME_ROS;
  options.clock = ros_clock;
  options.snapshot_mode = true;
  start(&options);
  assert_ok(tb_manual_source_set(source, 100 * S));
  assert_ok(take_latched(1, 7));
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  assert_ok(tb_manual_source_set(source, S));
  assert_ok(take(0, 8));
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  stop_well();
  tb_bag_reader_t *reader = read_back(); /* which is in the order of time */
  expect_jump(reader, "kind=backward reason=none before_ns=100000000000 after_ns=1000000000 run=2",
              S, 1);
  expect(reader, 7, S, 1);
  expect(reader, 8, S, 1);
  expect_jump(reader, "kind=started reason=none before_ns=0 after_ns=100000000000 run=1", 100 * S,
              0);
  expect(reader, 7, 100 * S, 0);
  tb_bag_reader_close(reader);
  end_clock();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_BAG(test_nothing_before_the_first_tick),
      WITH_BAG(test_what_is_latched_waits_for_the_first_tick),
      WITH_BAG(test_what_is_latched_waits_for_the_first_tick_and_resume),
      WITH_BAG(test_what_is_latched_stays_after_what_is_held),
      WITH_BAG(test_what_is_latched_is_skipped_if_there_is_no_tick),
      WITH_BAG(test_what_is_latched_does_not_wait_for_a_first_tick_that_has_been),
      WITH_BAG(test_what_is_latched_is_written_at_the_end_if_time_has_started),
      WITH_BAG(test_a_jump_back_begins_a_file),
      WITH_BAG(test_runs_can_be_read_one_by_one),
      WITH_BAG(test_forward_jumps_are_recorded),
      WITH_BAG(test_a_tick_that_leads_back_is_of_the_run_that_it_begins),
      WITH_BAG(test_a_tick_that_is_dropped_holds_nothing_for_long),
      WITH_BAG(test_messages_during_a_jump_are_of_after_it),
      WITH_BAG(test_a_snapshot_after_a_jump_has_the_state_after_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

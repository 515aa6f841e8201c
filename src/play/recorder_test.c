/* The recorder without a graph: what arrives, what is kept, and what is reported of the rest. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <timebase/clock.h>
#include <timebase/testing.h>

#include "play/record_fixture.h"

static void test_log_times_of_receipt(void **state)
{
  (void)state;
  start(NULL);
  assert_ok(take(0, 1));
  assert_ok(take(1, 2));
  stop_well();
  assert_status(take(0, 3), TB_ERR_CLOSED);
  assert_status(tb_recorder_split(recorder, NULL, NULL), TB_ERR_CLOSED);
  tb_bag_reader_t *reader = read_back();
  assert_int_equal(tb_bag_reader_info(reader)->topic_count, 2);
  expect(reader, 1, 2000 * S + 1, 0);
  expect(reader, 2, 2000 * S + 2, 0);
  tb_bag_reader_close(reader);
  assert_int_equal(topic_now(0).written, 1);
  assert_string_equal(topic_now(1).name, "/b");
  assert_int_equal(status_now().waiting_bytes, 0);
}

static void test_log_times_of_sending(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.log_time = TB_RECORDER_TIME_SOURCE;
  start(&options);
  assert_ok(take(0, 1));
  tb_recorder_message_t unknown = {.data = "\0\1\0\0\2\0\0\0", .size = 8, .receive_ns = 3000 * S};
  assert_ok(tb_recorder_take(recorder, 0, &unknown));
  stop_well();
  tb_bag_reader_t *reader = read_back();
  expect(reader, 1, 1000 * S + 1, 0);
  expect(reader, 2, 3000 * S, 0);
  tb_bag_reader_close(reader);
}

/* Holds the writer thread at each split until it is released. */
static sem_t held, go_on;

static void hold(const char *closed, const char *opened, void *user)
{
  (void)closed;
  (void)user;
  if (!*opened) return;
  sem_post(&held);
  sem_wait(&go_on);
}

static void start_held(uint64_t cache_size)
{
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.bag.on_split = hold;
  options.cache_size = cache_size;
  sem_init(&held, 0, 0);
  sem_init(&go_on, 0, 0);
  start(&options);
  assert_ok(tb_recorder_split(recorder, NULL, NULL));
  sem_wait(&held);
}

static void test_a_full_queue_loses_what_comes_and_counts_it(void **state)
{
  (void)state;
  uint32_t kept = 0;
  start_held(10000);
  while (take_sized(0, kept, 500, 0) == TB_OK)
    kept++;
  assert_in_range(kept, 2, 20);
  assert_true(status_now().waiting_bytes <= 10000);
  assert_status(take_sized(1, 0, 500, 0), TB_ERR_LIMIT);
  assert_status(take_sized(1, 0, 500, 0), TB_ERR_LIMIT);
  assert_int_equal(topic_now(0).waiting, kept);
  assert_int_equal(topic_now(0).lost_in_queue, 1);
  assert_int_equal(topic_now(1).lost_in_queue, 2);
  tb_recorder_note_lost(recorder, 1, 5);
  tb_recorder_note_before(recorder, 1, 7);
  sem_post(&go_on);
  wait_until_written(kept);
  assert_ok(take_sized(1, kept, 500, 0)); /* there is room again */
  stop_well();
  assert_int_equal(topic_now(0).written, kept);
  assert_int_equal(topic_now(0).waiting, 0);
  assert_int_equal(topic_now(1).lost_on_the_way, 5);
  assert_int_equal(status_now().lost, 1 + 2 + 5);
  assert_int_equal(topic_now(1).sent_before, 7);
  tb_bag_reader_t *reader = read_back();
  for (uint32_t i = 0; i <= kept; i++)
    expect(reader, i, 2000 * S + i, 1);
  tb_bag_reader_close(reader);
}

/* More than the whole queue may hold. */
static void test_a_huge_message_is_lost_alone(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.cache_size = 10000;
  start(&options);
  assert_status(take_sized(0, 1, 20000, 0), TB_ERR_LIMIT);
  assert_ok(take(0, 2));
  stop_well();
  assert_int_equal(count_in_bag(), 1);
}

static void test_what_came_is_readable_in_time(void **state)
{
  (void)state;
  assert_ok(tb_testing_hold_os_time());
  start(NULL);
  assert_ok(take(0, 1));
  wait_until_written(1);
  assert_int_equal(count_in_bag(), 0);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, TB_RECORDER_FLUSH_LIMIT));
  while (count_in_bag() != 1)
    sched_yield();
  assert_ok(tb_testing_release_os_time());
}

static void test_paused_recorders_skip(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.start_paused = true;
  start(&options);
  assert_true(tb_recorder_is_paused(recorder));
  assert_status(take(0, 1), TB_ERR_NOT_SET);
  tb_recorder_resume(recorder);
  assert_false(status_now().paused);
  assert_ok(take(0, 2));
  tb_recorder_pause(recorder);
  assert_status(take(0, 3), TB_ERR_NOT_SET);
  stop_well();
  assert_int_equal(topic_now(0).skipped_paused, 2);
  assert_int_equal(topic_now(0).skipped_early, 0);
  assert_int_equal(count_in_bag(), 1);
  assert_status(tb_recorder_snapshot(recorder, NULL, NULL), TB_ERR_INVALID);
}

static void test_what_is_latched_waits_while_paused(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.start_paused = true;
  start(&options);
  for (uint32_t i = 0; i < 1002; i++)
    assert_ok(take_latched(0, i));
  assert_ok(take_latched(1, 5000));
  assert_int_equal(topic_now(0).waiting, 1000);
  tb_time_t before, after;
  tb_clock_t *system;
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &system));
  assert_ok(tb_clock_now(system, &before));
  tb_recorder_resume(recorder);
  assert_ok(tb_clock_now(system, &after));
  tb_clock_destroy(system);
  tb_recorder_pause(recorder);
  assert_ok(take_latched(1, 5001));
  stop_well();
  assert_int_equal(topic_now(0).skipped_paused, 2);
  assert_int_equal(topic_now(1).skipped_paused, 1);
  assert_int_equal(topic_now(1).waiting, 0);
  assert_int_equal(status_now().waiting_bytes, 0);
  tb_bag_reader_t *reader = read_back();
  tb_bag_message_t message;
  for (uint32_t i = 2; i < 1003; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(number_of(&message), i < 1002 ? i : 5000);
    assert_in_range(message.log_time_ns, before.ns, after.ns);
  }
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

static void start_with_cache(uint64_t size, bool snapshot_mode)
{
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.cache_size = size;
  options.snapshot_mode = snapshot_mode;
  start(&options);
}

static void expect_numbers(const uint32_t *numbers, size_t count)
{
  tb_bag_message_t message;
  tb_bag_reader_t *reader = read_back();
  for (size_t i = 0; i < count; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(number_of(&message), numbers[i]);
  }
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

/* Where there is no room for all of it, the newest of each topic. */
static void test_what_is_latched_does_not_use_up_the_room_for_what_is_newer(void **state)
{
  (void)state;
  start_with_cache(3000, false);
  tb_recorder_pause(recorder);
  assert_ok(take_message(1, 100, 500, 0, true));
  for (uint32_t i = 0; i < 20; i++)
    assert_ok(take_message(0, i, 500, 0, true));
  assert_status(take_message(0, 99, 5000, 0, true), TB_ERR_LIMIT);
  assert_ok(take_message(1, 101, 500, 0, true));
  assert_status(take(0, 21), TB_ERR_NOT_SET);
  uint64_t kept = topic_now(0).waiting;
  assert_in_range(kept, 2, 5);
  assert_int_equal(topic_now(0).lost_in_queue, 1);
  assert_int_equal(topic_now(0).skipped_paused, 20 - kept + 1);
  assert_int_equal(topic_now(1).skipped_paused, 2 - topic_now(1).waiting);
  tb_recorder_resume(recorder);
  stop_well();
  uint32_t numbers[8], count = 0;
  if (topic_now(1).written == 2) numbers[count++] = 100;
  for (uint32_t i = 0; i < kept; i++)
    numbers[count++] = 20 - (uint32_t)kept + i;
  numbers[count++] = 101;
  expect_numbers(numbers, count);
}

static void test_what_is_latched_leaves_a_snapshot_its_newest(void **state)
{
  (void)state;
  start_with_cache(3100, true);
  for (uint32_t i = 0; i < 20; i++)
    assert_ok(take_message(0, i, 500, 0, false));
  uint64_t kept = topic_now(0).waiting;
  assert_in_range(kept, 4, 5);
  tb_recorder_pause(recorder);
  for (uint32_t i = 100; i < 103; i++)
    assert_ok(take_message(1, i, 500, 0, true));
  assert_int_equal(topic_now(0).waiting, kept - 3);
  assert_int_equal(topic_now(1).waiting, 3);
  assert_status(take_message(1, 99, 5000, 0, true), TB_ERR_LIMIT);
  assert_int_equal(topic_now(1).waiting, 3);
  tb_recorder_resume(recorder);
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  stop_well();
  static const uint32_t numbers[] = {18, 19, 100, 101, 102};
  expect_numbers(numbers + (kept == 4), 5 - (kept == 4));
}

/* What a late subscription would get at their start, with its own time of publishing; once more in
 * the next one. */
static void test_snapshots_begin_with_what_is_latched(void **state)
{
  (void)state;
  start_with_cache(3000, true);
  assert_ok(take_latched(1, 5));
  assert_ok(take_latched(1, 7)); /* which takes its place: a depth of 1 */
  uint32_t number = 10, begin[2];
  for (size_t i = 0; i < 2; i++) {
    for (uint32_t end = number + 20; number < end; number++)
      assert_ok(take_message(0, number, 500, 0, false));
    begin[i] = number - (uint32_t)topic_now(0).waiting;
    uint64_t written = status_now().written;
    assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
    wait_until_written(written + 1 + number - begin[i]);
  }
  stop_well();
  tb_bag_reader_t *reader = read_back();
  tb_bag_message_t message;
  for (size_t i = 0; i < 2; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(number_of(&message), 7);
    assert_int_equal(message.log_time_ns, 2000 * S + begin[i]);
    for (uint32_t k = begin[i]; k < 30 + 20 * i; k++)
      expect(reader, k, 2000 * S + k, 0);
  }
  tb_bag_reader_close(reader);
}

/* As much as the memory of a snapshot may hold. */
static void test_the_state_of_snapshots_has_a_bound(void **state)
{
  (void)state;
  start_with_cache(3000, true);
  assert_ok(take_message(0, 5, 2000, 0, true));
  assert_ok(take_message(1, 6, 2000, 0, true));
  for (uint32_t number = 10; number < 30; number++)
    assert_ok(take_message(0, number, 500, 0, false));
  uint32_t begin = 30 - (uint32_t)topic_now(0).waiting;
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  wait_until_written(1 + 30 - begin);
  stop_well();
  tb_bag_reader_t *reader = read_back();
  expect(reader, 5, 2000 * S + begin, 0);
  for (uint32_t number = begin; number < 30; number++)
    expect(reader, number, 2000 * S + number, 0);
  tb_bag_reader_close(reader);
}

/* Whatever made it another file, and not where nothing follows; the counts have all. */
static void test_files_begin_with_what_is_latched(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.repeat_latched = true;
  options.bag.max_duration.ns = 500;
  start(&options);
  assert_ok(take_latched(1, 5));
  assert_ok(take_latched(1, 7)); /* which takes its place: a depth of 1 */
  assert_ok(tb_recorder_split(recorder, NULL, NULL));
  assert_ok(take(0, 20));
  assert_ok(take(0, 21));
  assert_ok(take(0, 1000));
  assert_ok(take_latched(1, 1001));
  assert_ok(tb_recorder_split(recorder, NULL, NULL));
  assert_ok(take_latched(1, 1002));
  assert_ok(tb_recorder_split(recorder, NULL, NULL));
  stop_well();
  assert_int_equal(topic_now(1).written, 7);
  assert_int_equal(topic_now(1).waiting, 0);
  static const uint32_t at[][2] = {{5, 5},       {7, 7},      {7, 20},      {20, 20},
                                   {21, 21},     {7, 1000},   {1000, 1000}, {1001, 1001},
                                   {1001, 1002}, {1002, 1002}};
  tb_bag_reader_t *reader = read_back();
  tb_bag_message_t message;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    assert_ok(tb_bag_reader_next(reader, &message, NULL));
    assert_int_equal(number_of(&message), at[i][0]);
    assert_int_equal(message.log_time_ns, 2000 * S + at[i][1]);
  }
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  tb_bag_reader_close(reader);
}

static void test_snapshots_hold_the_newest(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.snapshot_mode = true;
  options.cache_size = 10000;
  start(&options);
  for (uint32_t i = 0; i < 100; i++)
    assert_ok(take_sized(0, i, 500, 0));
  uint64_t kept = topic_now(0).waiting;
  assert_in_range(kept, 2, 20);
  assert_int_equal(topic_now(0).pushed_out, 100 - kept);
  assert_int_equal(topic_now(0).bytes, 100 * 500);
  assert_true(status_now().held_ns > 0);
  assert_int_equal(status_now().written, 0);
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  wait_until_written(kept);
  assert_int_equal(status_now().held_ns, 0);
  assert_ok(take(0, 100)); /* never requested */
  stop_well();
  assert_status(tb_recorder_snapshot(recorder, NULL, NULL), TB_ERR_CLOSED);
  assert_int_equal(topic_now(0).pushed_out, 101 - kept);
  assert_int_equal(status_now().lost, 0);
  tb_bag_reader_t *reader = read_back();
  for (uint32_t i = 100 - (uint32_t)kept; i < 100; i++)
    expect(reader, i, 2000 * S + i, 0);
  tb_bag_reader_close(reader);
}

/* Those within the duration of the newest, as far as there is room. */
static void test_snapshots_hold_the_last_seconds(void **state)
{
  (void)state;
  static const uint32_t numbers[] = {6, 7, 8, 9};
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.snapshot_mode = true;
  options.snapshot_duration = (tb_duration_t){3};
  start(&options);
  for (uint32_t i = 0; i < 10; i++)
    assert_ok(take(i % 2, i)); /* a nanosecond apart */
  assert_int_equal(topic_now(0).waiting + topic_now(1).waiting, 4);
  assert_int_equal(topic_now(0).pushed_out, 3);
  assert_ok(tb_recorder_snapshot(recorder, NULL, NULL));
  stop_well();
  expect_numbers(numbers, 4);
}

static void test_a_duration_is_for_snapshots(void **state)
{
  (void)state;
  tb_recorder_t *none = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.snapshot_duration = (tb_duration_t){1};
  assert_status(tb_recorder_create(path, &options, &none, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "snapshot mode"));
  options.snapshot_mode = true;
  options.snapshot_duration = (tb_duration_t){-1};
  assert_status(tb_recorder_create(path, &options, &none, &error), TB_ERR_INVALID);
}

/* Older messages are not dropped for one that is larger than the whole cache. */
static void test_a_huge_message_leaves_a_snapshot_alone(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.snapshot_mode = true;
  options.cache_size = 10000;
  start(&options);
  for (uint32_t i = 0; i < 3; i++)
    assert_ok(take_sized(0, i, 500, 0));
  assert_status(take_sized(1, 3, 20000, 0), TB_ERR_LIMIT);
  assert_int_equal(topic_now(0).waiting, 3);
  assert_int_equal(topic_now(1).lost_in_queue, 1);
  stop_well();
}

/* What was found when an order had been carried out. */
typedef struct order {
  sem_t done;
  tb_status_t status;
  uint64_t in_bag;
  size_t files;
} order_t;

static void on_done(tb_status_t status, void *user)
{
  order_t *order = user;
  order->status = status;
  order->in_bag = count_in_bag();
  order->files = status_now().file_count;
  sem_post(&order->done);
}

static void expect_done(order_t *order, uint64_t in_bag, size_t files)
{
  sem_wait(&order->done);
  assert_ok(order->status);
  assert_int_equal(order->in_bag, in_bag);
  assert_int_equal(order->files, files);
}

/* Time is stopped: nothing is flushed because it got old. */
static void test_orders_report_when_they_are_carried_out(void **state)
{
  (void)state;
  order_t order = {0};
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.bag.storage_id = "sqlite3";
  options.snapshot_mode = true;
  options.cache_size = 10000;
  sem_init(&order.done, 0, 0);
  assert_ok(tb_testing_hold_os_time());
  start(&options);
  for (uint32_t i = 0; i < 100; i++)
    assert_ok(take_sized(0, i, 500, 0));
  uint64_t kept = topic_now(0).waiting;
  assert_ok(tb_recorder_snapshot(recorder, on_done, &order));
  expect_done(&order, kept, 1);
  assert_ok(take(0, 100));
  assert_ok(tb_recorder_split(recorder, on_done, &order));
  expect_done(&order, kept, 2);
  assert_int_equal(topic_now(0).waiting, 1); /* not asked for yet */
  assert_ok(tb_recorder_snapshot(recorder, on_done, &order));
  expect_done(&order, kept + 1, 2);
  assert_ok(tb_testing_release_os_time());
  stop_well();
  assert_status(tb_recorder_split(recorder, on_done, &order), TB_ERR_CLOSED);
  assert_status(tb_recorder_snapshot(recorder, on_done, &order), TB_ERR_CLOSED);
  assert_int_equal(sem_trywait(&order.done), -1); /* not called */
  sem_destroy(&order.done);
}

/* --- failures --- */

static void limit_files(rlim_t size)
{
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = size;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void take_many(uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++)
    assert_ok(take_sized(i % 2, i, 4096, 0));
}

static void wait_until_nothing_waits(void)
{
  while (status_now().waiting_bytes > 0)
    sched_yield();
}

static void test_a_full_disk_is_reported_and_survived(void **state)
{
  (void)state;
  assert_ok(tb_testing_hold_os_time());
  start(NULL);
  take_many(0, 10);
  wait_until_nothing_waits();
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, TB_RECORDER_FLUSH_LIMIT));
  while (count_in_bag() != 10)
    sched_yield();
  limit_files(100 * 1024);
  take_many(10, 110);
  wait_until_nothing_waits();
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, TB_RECORDER_FLUSH_LIMIT));
  while (!status_now().failing)
    sched_yield();
  assert_true(status_now().failure.status != TB_OK);
  take_many(110, 115); /* too early to try again */
  wait_until_nothing_waits();
  limit_files(0);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){60 * S}));
  take_many(115, 120); /* not even another file can be made */
  wait_until_nothing_waits();
  assert_true(status_now().failing);
  limit_files(RLIM_INFINITY);
  tb_recorder_status_t lost = status_now();
  assert_true(lost.written >= 10);
  assert_int_equal(lost.written + lost.lost, 120);
  assert_int_equal(topic_now(0).lost_in_file + topic_now(1).lost_in_file, lost.lost);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){60 * S}));
  take_many(120, 130);
  wait_until_nothing_waits();
  assert_false(status_now().failing);
  assert_ok(tb_testing_release_os_time());
  tb_error_t error = TB_ERROR_INIT;
  assert_true(tb_recorder_stop(recorder, &error) != TB_OK); /* it was not a whole recording */
  assert_true(error.text[0] != '\0');
  assert_int_equal(status_now().written, lost.written + 10);
  assert_int_equal(status_now().lost, lost.lost);
  assert_int_equal(count_in_bag(), status_now().written);
}

static void test_a_folder_that_is_removed_is_reported(void **state)
{
  (void)state;
  char *elsewhere = tb__test_path(folder, "elsewhere");
  tb_error_t error = TB_ERROR_INIT;
  start(NULL);
  take_many(0, 10);
  wait_until_written(10);
  assert_int_equal(rename(path, elsewhere), 0);
  take_many(10, 20);
  assert_status(tb_recorder_stop(recorder, &error), TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, path));
  assert_int_equal(status_now().written + status_now().lost, 20);
  assert_true(status_now().failing);
  free(elsewhere);
}

#define THREADS    4
#define PER_THREAD 2000

static void *take_numbers(void *topic)
{
  for (uint32_t i = 0; i < PER_THREAD; i++)
    take((size_t)(uintptr_t)topic, i);
  return NULL;
}

static void test_each_thread_keeps_its_order(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  uint32_t next[THREADS] = {0};
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.bag.max_size = 100000;
  start(&options);
  add_topic("/c");
  add_topic("/d");
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, take_numbers, (void *)i);
  for (int i = 0; i < 100; i++)
    status_now();
  for (size_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  stop_well();
  assert_int_equal(status_now().written, THREADS * PER_THREAD);
  tb_bag_reader_t *reader = read_back();
  tb_bag_message_t message;
  while (tb_bag_reader_next(reader, &message, NULL) == TB_OK)
    assert_int_equal(number_of(&message), next[message.topic]++);
  for (size_t i = 0; i < THREADS; i++)
    assert_int_equal(next[i], PER_THREAD);
  tb_bag_reader_close(reader);
}

static void test_wrong_use(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.log_time = TB_RECORDER_TIME_ROS;
  assert_status(tb_recorder_create(path, &options, &recorder, &error), TB_ERR_INVALID);
  options = (tb_recorder_options_t)TB_RECORDER_OPTIONS_INIT;
  options.fsync_interval.ns = -1;
  assert_status(tb_recorder_create(path, &options, &recorder, &error), TB_ERR_INVALID);
  start(NULL);
  tb_recorder_t *other = NULL;
  assert_status(tb_recorder_create(path, NULL, &other, &error), TB_ERR_INVALID);
  tb_bag_writer_topic_t again = {.name = "/a", .type = "std_msgs/msg/String"};
  size_t topic = 99;
  assert_status(tb_recorder_add_topic(recorder, &again, &topic, &error), TB_ERR_INVALID);
  assert_int_equal(topic, 99);
  assert_status(take(2, 1), TB_ERR_INVALID);
  tb_recorder_topic_status_t status;
  assert_status(tb_recorder_topic_status(recorder, 2, &status), TB_ERR_NOT_FOUND);
  assert_status(tb_recorder_take(recorder, 0, NULL), TB_ERR_INVALID);
  tb_recorder_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_BAG(test_log_times_of_receipt),
      WITH_BAG(test_log_times_of_sending),
      WITH_BAG(test_a_full_queue_loses_what_comes_and_counts_it),
      WITH_BAG(test_a_huge_message_is_lost_alone),
      WITH_BAG(test_what_came_is_readable_in_time),
      WITH_BAG(test_paused_recorders_skip),
      WITH_BAG(test_what_is_latched_waits_while_paused),
      WITH_BAG(test_what_is_latched_does_not_use_up_the_room_for_what_is_newer),
      WITH_BAG(test_what_is_latched_leaves_a_snapshot_its_newest),
      WITH_BAG(test_snapshots_begin_with_what_is_latched),
      WITH_BAG(test_the_state_of_snapshots_has_a_bound),
      WITH_BAG(test_files_begin_with_what_is_latched),
      WITH_BAG(test_snapshots_hold_the_newest),
      WITH_BAG(test_snapshots_hold_the_last_seconds),
      WITH_BAG(test_a_duration_is_for_snapshots),
      WITH_BAG(test_a_huge_message_leaves_a_snapshot_alone),
      WITH_BAG(test_orders_report_when_they_are_carried_out),
      WITH_BAG(test_a_full_disk_is_reported_and_survived),
      WITH_BAG(test_a_folder_that_is_removed_is_reported),
      WITH_BAG(test_each_thread_keeps_its_order),
      WITH_BAG(test_wrong_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The area in which readers write when they want to be woken: who is woken when, and what it does
 * to others that a process writes there whatever it likes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <timebase/shm_readers.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>

#include "forking.h"
#include "platform/time.h"
#include "source/on_page.h"
#include "source/wake_area.h"
#include "waiting.h"

#define OTHER_USER 65534

static void area_path(const shared_t *f, char *out, size_t size)
{
  snprintf(out, size, "%s/timebase-wake1.test", f->directory);
}

static tb__shared_file_t open_area(const shared_t *f)
{
  char path[128];
  tb__shared_file_t file;
  area_path(f, path, sizeof path);
  assert_ok(tb__shared_file_open_existing(&file, path, TB__WAKE_AREA_SIZE, true));
  return file;
}

static bool is_woken_when_due(const shared_t *f)
{
  tb_shm_status_t status;
  assert_ok(tb_shm_source_status(f->source, &status));
  return status.is_woken_when_due;
}

static void wait_until_woken_when_due(const shared_t *f, bool expected)
{
  while (is_woken_when_due(f) != expected)
    sched_yield();
}

/* At 10 s, with a slot. */
static void begin(shared_t *f)
{
  restore_guard();
  open_first_publisher(f);
  tick(f, 10 * S);
  wait_until_woken_when_due(f, true);
  assert_int_equal(now_of(f->clock), 10 * S);
}

static int64_t wish_of(const shared_t *f)
{
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb__mutex_lock(&timeline->mutex);
  int64_t wish_ns = timeline->view->wants_ticks ? timeline->view->wish_ns : TB__WISH_NONE;
  tb__mutex_unlock(&timeline->mutex);
  return wish_ns;
}

static uint64_t ticks_followed(const shared_t *f)
{
  return atomic_load(&tb_source_timeline(f->source)->counts.ticks);
}

typedef struct sleeper {
  const shared_t *f;
  pthread_t thread;
  int64_t until_ns, for_ns;
  tb_status_t status;
  int64_t woken_ns; /* ROS time */
  _Atomic bool is_done;
} sleeper_t;

static void *sleeper_run(void *argument)
{
  sleeper_t *sleeper = argument;
  tb_clock_t *clock = sleeper->f->clock;
  tb_time_t until = {sleeper->until_ns, TB_TIME_ROS};
  tb_duration_t duration = {sleeper->for_ns};
  sleeper->status = sleeper->for_ns ? tb_clock_sleep_for(clock, duration, NULL)
                                    : tb_clock_sleep_until(clock, until, NULL);
  sleeper->woken_ns = now_of(clock);
  atomic_store(&sleeper->is_done, true);
  return NULL;
}

static void sleeper_start(sleeper_t *sleeper, const shared_t *f, int64_t until_ns, int64_t for_ns)
{
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb__mutex_lock(&timeline->mutex);
  uint32_t before = timeline->sleepers;
  tb__mutex_unlock(&timeline->mutex);
  *sleeper = (sleeper_t){.f = f, .until_ns = until_ns, .for_ns = for_ns};
  assert_int_equal(pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper), 0);
  for (bool waits = false; !waits; sched_yield()) {
    tb__mutex_lock(&timeline->mutex);
    waits = timeline->sleepers > before;
    tb__mutex_unlock(&timeline->mutex);
  }
}

static void expect_woken_at(sleeper_t *sleeper, int64_t time_ns)
{
  pthread_join(sleeper->thread, NULL);
  assert_ok(sleeper->status);
  assert_int_equal(sleeper->woken_ns, time_ns);
}

static void test_X10_ticks_before_a_waiter_is_due_are_not_followed(void **state)
{
  shared_t *f = *state;
  sleeper_t sleeper;
  begin(f);
  sleeper_start(&sleeper, f, 20 * S, 0);
  while (wish_of(f) != 20 * S)
    sched_yield();
  tick(f,
       10 * S + 1); /* what was on its way has been followed when another sleeper has been woken */
  sleeper_t nearer;
  sleeper_start(&nearer, f, 11 * S, 0);
  tick(f, 11 * S);
  expect_woken_at(&nearer, 11 * S);
  while (wish_of(f) != 20 * S)
    sched_yield();
  uint64_t before = ticks_followed(f);
  for (int64_t i = 1; i < 9000; i++)
    tick(f, 11 * S + i * TB_NS_PER_MS);
  assert_int_equal(ticks_followed(f), before);
  assert_false(atomic_load(&sleeper.is_done));
  tick(f, 20 * S);
  expect_woken_at(&sleeper, 20 * S);
}

static void test_X10_each_tick_is_followed_for_a_handler_of_forward_steps(void **state)
{
  shared_t *f = *state;
  begin(f);
  watch(f, 1);
  while (wish_of(f) != TB__WISH_EACH_TICK)
    sched_yield();
  take_trace("");
  for (int64_t i = 11; i < 15; i++) {
    int noted = atomic_load(&jumps_noted);
    tick(f, i * S);
    while (atomic_load(&jumps_noted) == noted)
      sched_yield();
  }
  assert_true(ticks_followed(f) >= 4);
  pthread_mutex_lock(&trace_mutex);
  assert_non_null(strstr(trace, "before 1 13->14"));
  trace[0] = '\0';
  pthread_mutex_unlock(&trace_mutex);
}

/* What is wished for in time moves back with it. */
static void test_S2_a_duration_is_waited_for_again_after_a_step_back(void **state)
{
  shared_t *f = *state;
  sleeper_t sleeper;
  begin(f);
  sleeper_start(&sleeper, f, 0, 5 * S);
  tick(f, 12 * S);
  tick(f, 2 * S);
  while (wish_of(f) != 5 * S)
    sched_yield();
  tick(f, 5 * S - 1);
  assert_false(atomic_load(&sleeper.is_done));
  tick(f, 5 * S);
  expect_woken_at(&sleeper, 5 * S);
}

static void test_X10_a_new_publisher_has_a_new_area(void **state)
{
  shared_t *f = *state;
  sleeper_t sleeper;
  for (int64_t i = 1; i < 5; i++) {
    if (i == 1)
      begin(f);
    else
      open_publisher(f);
    tick(f, 10 * S);
    tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
    assert_ok(tb_clock_wait_until_started(f->clock, &options));
    sleeper_start(&sleeper, f, 20 * S, 0);
    tick(f, 20 * S);
    expect_woken_at(&sleeper, 20 * S);
    tb_shm_publisher_close(f->publisher);
    f->publisher = NULL;
  }
}

#define ROUNDS 4000

static _Atomic int64_t next_ns, slept_ns;

static void *sleep_often(void *argument)
{
  const shared_t *f = argument;
  for (int64_t i = 1; i <= ROUNDS; i++) {
    while (atomic_load(&next_ns) < i)
      sched_yield();
    assert_ok(tb_clock_sleep_until(f->clock, (tb_time_t){10 * S + i, TB_TIME_ROS}, NULL));
    atomic_store(&slept_ns, i);
  }
  return NULL;
}

/* The tick that a thread waits for comes while it begins to wait, and no tick after that. One that
 * is lost is found when no wait of the source is longer. */
static void test_X10_a_tick_while_a_wish_is_written(void **state)
{
  shared_t *f = *state;
  pthread_t thread;
  unsigned spins = 1;
  begin(f);
  assert_int_equal(pthread_create(&thread, NULL, sleep_often, f), 0);
  for (int64_t i = 1; i <= ROUNDS; i++) {
    atomic_store(&next_ns, i);
    spins = spins * 1664525 + 1013904223;
    for (volatile unsigned spin = spins >> 18; spin; spin--)
      ;
    int64_t begin_ns = tb__real_steady_now_ns();
    tick(f, 10 * S + i);
    while (atomic_load(&slept_ns) < i)
      sched_yield();
    assert_true(tb__real_steady_now_ns() - begin_ns < 2 * S);
  }
  pthread_join(thread, NULL);
  assert_true(is_woken_when_due(f));
}

/* ---- processes that may write the area ---- */

static void expect_wake_ups_without_slot(shared_t *f)
{
  sleeper_t sleeper;
  sleeper_start(&sleeper, f, 50 * S, 0);
  wait_until_woken_when_due(f, false); /* the thread that follows looks when something waits */
  tick(f, 49 * S);
  tick(f, 50 * S);
  expect_woken_at(&sleeper, 50 * S);
}

static void test_X10_without_a_free_slot_each_tick_wakes(void **state)
{
  shared_t *f = *state;
  assert_ok(tb_clock_set_source(f->clock, NULL));
  open_publisher(f);
  tb__shared_file_t file = open_area(f);
  for (uint32_t i = 0; i < TB__WAKE_SLOTS; i++)
    assert_ok(tb__shared_file_lock_byte(&file, i));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  tick(f, 10 * S);
  expect_wake_ups_without_slot(f);
  tb__shared_file_close(&file);
}

/* A page that others may read, of a publisher of another user: the area is that user's alone. */
static void test_X10_a_reader_that_may_not_write_the_area_follows_ticks(void **state)
{
  shared_t *f = *state;
  uid_t user = geteuid();
  if (user != 0) skip(); /* another user may write it, or cannot be had */
  assert_ok(tb_clock_set_source(f->clock, NULL));
  open_publisher(f);
  assert_int_equal(chmod(f->directory, 0755), 0);
  assert_int_equal(seteuid(OTHER_USER), 0);
  assert_ok(tb_clock_set_source(f->clock, f->source));
  tick(f, 10 * S);
  expect_wake_ups_without_slot(f);
  assert_int_equal(seteuid(user), 0);
}

static void wreck(const shared_t *f, off_t size)
{
  char path[128];
  area_path(f, path, sizeof path);
  assert_int_equal(truncate(path, 0), 0);
  if (size) assert_int_equal(truncate(path, size), 0);
}

static void check_wrecked(shared_t *f, off_t size)
{
  sleeper_t sleeper;
  begin(f);
  sleeper_start(&sleeper, f, 20 * S, 0);
  wreck(f, size);
  tick(f, 11 * S);
  tick(f, 20 * S);
  expect_woken_at(&sleeper, 20 * S);
  expect_wake_ups_without_slot(f);
}

static void test_X10_a_truncated_area_is_given_up(void **state)
{
  check_wrecked(*state, 0);
}

static void test_X10_an_area_that_is_full_of_zeros_is_given_up(void **state)
{
  check_wrecked(*state, TB__WAKE_AREA_SIZE);
}

/* Truncated again and again, while time goes on. */
static void test_X10_an_area_may_be_truncated_at_any_moment(void **state)
{
  shared_t *f = *state;
  begin(f);
  for (int64_t round = 1; round < 200; round++) {
    sleeper_t sleeper;
    char path[128];
    area_path(f, path, sizeof path);
    sleeper_start(&sleeper, f, (10 + round) * S, 0);
    if (round % 3 == 0 && truncate(path, 0)) assert_int_equal(errno, ENOENT);
    tick(f, (10 + round) * S - 1);
    if (round % 3 == 1 && truncate(path, 4096 * (round % 4))) assert_int_equal(errno, ENOENT);
    tick(f, (10 + round) * S);
    if (round % 10 == 9) {
      tb_shm_publisher_close(f->publisher);
      open_publisher(f);
      tick(f, (10 + round) * S);
    }
    pthread_join(sleeper.thread, NULL);
    assert_true(!sleeper.status || sleeper.status == TB_ERR_CLOCK_CHANGED);
  }
}

static void test_X10_a_file_in_place_of_the_area_is_not_used(void **state)
{
  shared_t *f = *state;
  char path[128];
  tb__shared_file_t file;
  uint64_t inode;
  assert_ok(tb_clock_set_source(f->clock, NULL));
  open_publisher(f);
  area_path(f, path, sizeof path);
  assert_ok(tb__wake_area_create(&file, path, 0600, &inode, NULL));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  tick(f, 10 * S);
  expect_wake_ups_without_slot(f);
  tb__shared_file_close(&file);
}

/* A wish that another process takes away is missed once or twice, for as long as a reader waits
 * without being woken; then ticks are followed. */
static void test_X10_a_reader_whose_wishes_are_taken_away_follows_ticks(void **state)
{
  shared_t *f = *state;
  sleeper_t sleeper;
  begin(f);
  tb__shared_file_t file = open_area(f);
  tb__wake_area_t *area = file.map;
  int64_t time_ns = 10 * S;
  sleeper_start(&sleeper, f, time_ns + 1000, 0);
  while (is_woken_when_due(f)) {
    for (uint32_t i = 0; i < TB__WAKE_SLOTS; i++)
      atomic_store(&area->wish_ns[i], INT64_MAX - 1);
    tick(f, ++time_ns);
    sched_yield();
    if (!atomic_load(&sleeper.is_done)) continue;
    pthread_join(sleeper.thread, NULL);
    sleeper_start(&sleeper, f, time_ns + 1000, 0);
  }
  tick(f, time_ns += 2000);
  pthread_join(sleeper.thread, NULL); /* some tick of these has made it due */
  assert_ok(sleeper.status);
  tb__shared_file_close(&file);
}

static _Atomic bool ends;

static void *scribble(void *argument)
{
  const tb__shared_file_t *file = argument;
  _Atomic uint32_t *words = file->map;
  uint32_t random = 1;
  while (!atomic_load(&ends)) {
    for (size_t i = 16; i < TB__WAKE_AREA_SIZE / 4; i++) { /* the head stays: it is not given up */
      random = random * 1664525 + 1013904223;
      atomic_store(&words[i], random);
    }
    sched_yield();
  }
  return NULL;
}

static void test_X10_whatever_is_written_ends_no_publisher_and_no_reader(void **state)
{
  shared_t *f = *state;
  pthread_t thread;
  begin(f);
  tb__shared_file_t file = open_area(f);
  atomic_store(&ends, false);
  assert_int_equal(pthread_create(&thread, NULL, scribble, &file), 0);
  for (int64_t i = 1; i < 2000; i++)
    tick(f, 10 * S + i);
  tb_shm_readers_t *readers;
  assert_ok(tb_shm_readers_create("test", &f->options, &readers, NULL));
  assert_true(readers->count <= 1);
  tb_shm_readers_destroy(readers);
  atomic_store(&ends, true);
  pthread_join(thread, NULL);
  tb__shared_file_close(&file);
  assert_int_equal(now_of(f->clock), 10 * S + 1999);
  sleeper_t sleeper;
  sleeper_start(&sleeper, f, 20 * S, 0);
  tick(f, 20 * S);
  expect_woken_at(&sleeper, 20 * S);
}

/* ---- the list of readers ---- */

static void test_X10_readers_are_listed(void **state)
{
  shared_t *f = *state;
  tb_shm_readers_t *readers;
  assert_ok(tb_shm_readers_create("test", &f->options, &readers, NULL));
  assert_int_equal(readers->count, 0);
  tb_shm_readers_destroy(readers);
  begin(f);
  const char *const names[] = {"test", NULL};
  for (size_t i = 0; i < 2; i++) {
    assert_ok(tb_shm_readers_create(names[i], &f->options, &readers, NULL));
    assert_int_equal(readers->count, 1);
    const tb_shm_reader_t *reader = readers->readers;
    assert_string_equal(reader->name, "test");
    assert_int_equal(reader->process_id, getpid());
    assert_true(reader->in_process_namespace);
    assert_true(reader->in_time_namespace || reader->time_namespace == 0);
    tb_shm_readers_destroy(readers);
  }
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_shm_readers_create("test", &f->options, &readers, NULL));
  assert_int_equal(readers->count, 0);
  tb_shm_readers_destroy(readers);
}

/* In the child: the descriptor is closed, and its number is not closed again when it is another
 * file's. */
static int child_ends_its_clock(const shared_t *f, const char *path)
{
  struct stat area, used;
  int count = 0;
  if (stat(path, &area)) return 1;
  for (int fd = 0; fd < 256; fd++)
    if (!fstat(fd, &used) && used.st_ino == area.st_ino && used.st_dev == area.st_dev) count++;
  if (count != 1) return 2; /* that of the publisher, in the same process */
  int other = open("/dev/null", O_RDONLY);
  if (tb_clock_destroy(f->clock) || tb_source_destroy(f->source)) return 3;
  return fstat(other, &used) ? 4 : 0;
}

static void test_X10_a_forked_child_does_not_keep_the_slot(void **state)
{
  shared_t *f = *state;
  char path[128], byte;
  int lives[2], is_forked[2], status;
  begin(f);
  area_path(f, path, sizeof path);
  assert_int_equal(pipe(lives), 0);
  assert_int_equal(pipe(is_forked), 0);
  pid_t child = fork();
  if (child == 0) {
    close(lives[1]);
    int failed = child_ends_its_clock(f, path);
    if (write(is_forked[1], "", 1) != 1 || read(lives[0], &byte, 1) != 0) failed = 5;
    _exit(failed);
  }
  assert_int_equal(read(is_forked[0], &byte, 1), 1);
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* leaves the slot */
  tb__shared_file_t file = open_area(f);
  assert_false(tb__shared_file_byte_is_locked(&file, 0));
  tb__shared_file_close(&file);
  close(lives[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  close(lives[0]);
  close(is_forked[0]);
  close(is_forked[1]);
}

static void test_X10_a_copy_of_the_descriptor_does_not_keep_the_slot(void **state)
{
  shared_t *f = *state;
  tb__wake_slot_t slot;
  char path[128];
  begin(f);
  area_path(f, path, sizeof path);
  tb__shared_file_t file = open_area(f);
  assert_true(tb__wake_slot_take(&slot, path, tb__shared_file_inode(&file)));
  assert_true(tb__shared_file_byte_is_locked(&file, slot.index));
  int copy = dup(slot.file.fd); /* what a child that is forked meanwhile has */
  assert_true(copy >= 0);
  uint32_t index = slot.index;
  tb__wake_slot_leave(&slot);
  assert_false(tb__shared_file_byte_is_locked(&file, index));
  close(copy);
  tb__shared_file_close(&file);
}

static void test_a_list_of_a_name_that_is_none_fails(void **state)
{
  shared_t *f = *state;
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_readers_t *readers;
  assert_int_equal(tb_shm_readers_create("a/b", &f->options, &readers, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "a/b"));
  tb_shm_options_t options = {.directory = "/nonexistent"};
  assert_int_equal(tb_shm_readers_create(NULL, &options, &readers, &error), TB_ERR_SYSTEM);
  assert_non_null(strstr(error.text, "/nonexistent"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_PAGE(test_X10_ticks_before_a_waiter_is_due_are_not_followed),
      ON_PAGE(test_X10_each_tick_is_followed_for_a_handler_of_forward_steps),
      ON_PAGE(test_S2_a_duration_is_waited_for_again_after_a_step_back),
      ON_PAGE(test_X10_a_new_publisher_has_a_new_area),
      ON_PAGE(test_X10_a_tick_while_a_wish_is_written),
      ON_PAGE(test_X10_without_a_free_slot_each_tick_wakes),
      ON_PAGE(test_X10_a_reader_that_may_not_write_the_area_follows_ticks),
      ON_PAGE(test_X10_a_truncated_area_is_given_up),
      ON_PAGE(test_X10_an_area_that_is_full_of_zeros_is_given_up),
      ON_PAGE(test_X10_an_area_may_be_truncated_at_any_moment),
      ON_PAGE(test_X10_a_file_in_place_of_the_area_is_not_used),
      ON_PAGE(test_X10_a_reader_whose_wishes_are_taken_away_follows_ticks),
      ON_PAGE(test_X10_whatever_is_written_ends_no_publisher_and_no_reader),
      ON_PAGE(test_X10_readers_are_listed),
      ON_PAGE(test_X10_a_forked_child_does_not_keep_the_slot),
      ON_PAGE(test_X10_a_copy_of_the_descriptor_does_not_keep_the_slot),
      ON_PAGE(test_a_list_of_a_name_that_is_none_fails),
  };
  find_guard_action();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

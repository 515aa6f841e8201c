/* A time shared through a page, publisher and readers in one process. Other processes, and their
 * deaths, are in tests/system/shm_test.c. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <timebase/extrapolating_source.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>

#include "forking.h"
#include "never_falls.h"
#include "platform/futex.h"
#include "platform/time.h"
#include "source/on_page.h"
#include "waiting.h"

static tb_clock_state_t state_of(const shared_t *f)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  return reading.state;
}

static void test_X3_now_is_the_published_time_at_once(void **state)
{
  shared_t *f = *state;
  assert_int_equal(state_of(f), TB_CLOCK_NO_PUBLISHER);
  assert_int_equal(now_of(f->clock), 0);
  open_first_publisher(f);
  assert_int_equal(now_of(f->clock), 0);
  assert_int_equal(state_of(f), TB_CLOCK_WAITING);
  for (int64_t i = 1; i < 1000; i++) {
    tick(f, i * S);
    assert_int_equal(now_of(f->clock), i * S);
  }
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  uint64_t epoch = tb_clock_epoch(f->clock);
  tick(f, 5 * S); /* back */
  assert_int_equal(now_of(f->clock), 5 * S);
  assert_true(tb_clock_epoch(f->clock) > epoch);
  tick(f, 0);
  assert_int_equal(now_of(f->clock), 0);
  assert_int_equal(state_of(f), TB_CLOCK_WAITING);
  tick(f, S);
  assert_int_equal(now_of(f->clock), S);
  assert_status(tb_shm_publisher_tick(f->publisher, -1, TB_JUMP_REASON_NONE), TB_ERR_RANGE);
  assert_int_equal(now_of(f->clock), S);
}

static void test_X7_a_source_created_later_has_the_time_from_the_start(void **state)
{
  shared_t *f = *state;
  tb_source_t *source;
  tb_clock_t *clock;
  open_publisher(f);
  tick(f, 7 * S);
  assert_ok(tb_shm_source_create("test", &f->options, &source, NULL));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_int_equal(now_of(clock), 7 * S);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_clock_create(&options, &clock)); /* started again */
  assert_int_equal(now_of(clock), 7 * S);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

static void test_X3_a_second_publisher_is_refused(void **state)
{
  shared_t *f = *state;
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_publisher_t *second = NULL;
  open_publisher(f);
  assert_status(tb_shm_publisher_open("test", &f->options, &second, &error), TB_ERR_BUSY);
  assert_null(second);
  assert_non_null(strstr(error.text, "\"test\": another publisher uses it"));
  tb_shm_publisher_close(f->publisher);
  open_publisher(f);
}

static void test_X4_a_page_runs_on_by_itself_and_is_not_wrapped(void **state)
{
  shared_t *f = *state;
  tb_source_t *inner, *source = NULL;
  assert_ok(tb_shm_source_create("test", &f->options, &inner, NULL));
  assert_status(tb_extrapolating_source_create(inner, NULL, &source), TB_ERR_UNSUPPORTED);
  assert_null(source);
  assert_ok(tb_source_destroy(inner));
}

static void test_X3_wrong_names_and_files_are_refused(void **state)
{
  shared_t *f = *state;
  const char *bad[] = {"",
                       ".hidden",
                       "a/b",
                       "a b",
                       "../x",
                       NULL,
                       "01234567890123456789012345678901234567890123456789012345678901234"};
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_publisher_t *publisher = NULL;
  tb_source_t *source = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_status(tb_shm_publisher_open(bad[i], &f->options, &publisher, &error), TB_ERR_INVALID);
    assert_status(tb_shm_source_create(bad[i], &f->options, &source, &error), TB_ERR_INVALID);
  }
  char path[128];
  snprintf(path, sizeof path, "%s/timebase.other", f->directory);
  FILE *file = fopen(path, "w");
  fputs("something else", file);
  fclose(file);
  assert_status(tb_shm_source_create("other", &f->options, &source, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "it has 14 bytes instead of 4096"));
  assert_int_equal(truncate(path, 4096), 0);
  assert_status(tb_shm_publisher_open("other", &f->options, &publisher, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "not a timebase page"));
  uint64_t head[2] = {TB__PAGE_MAGIC, 99};
  file = fopen(path, "r+");
  fwrite(head, sizeof head, 1, file);
  fclose(file);
  assert_status(tb_shm_source_create("other", &f->options, &source, &error), TB_ERR_VERSION);
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0); /* blocks no reader */
  assert_status(tb_shm_source_create("other", &f->options, &source, &error), TB_ERR_CORRUPT);
  assert_status(tb_shm_publisher_open("other", &f->options, &publisher, &error), TB_ERR_CORRUPT);
  unlink(path);
  tb_shm_options_t nowhere = TB_SHM_OPTIONS_INIT;
  nowhere.directory = "/nonexistent";
  assert_status(tb_shm_source_create("x", &nowhere, &source, &error), TB_ERR_SYSTEM);
  assert_non_null(strstr(error.text, "/nonexistent/timebase.x"));
  assert_null(publisher);
  assert_null(source);
}

static void test_X3_the_file_is_private_unless_asked_otherwise(void **state)
{
  shared_t *f = *state;
  struct stat status;
  char path[128];
  path_of(f, path, sizeof path);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
  tb_shm_options_t options = f->options;
  tb_source_t *source;
  options.mode = 0666;
  mode_t mask = umask(077);
  assert_ok(tb_shm_source_create("open", &options, &source, NULL));
  umask(mask);
  snprintf(path, sizeof path, "%s/timebase.open", f->directory);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 07777, 0666);
  unlink(path);
  assert_ok(tb_source_destroy(source));
}

static void note_gone(tb_log_level_t level, const char *message, void *user)
{
  assert_int_equal(level, TB_LOG_ERROR);
  assert_non_null(strstr(message, "timebase.test was removed or replaced"));
  atomic_fetch_add((atomic_int *)user, 1);
}

static void test_X3_a_file_that_was_removed_or_replaced_is_reported_once(void **state)
{
  shared_t *f = *state;
  char path[128];
  atomic_int reports = 0;
  path_of(f, path, sizeof path);
  open_first_publisher(f);
  tb_log_set_hook(note_gone, &reports);
  for (int replaced = 0; replaced < 2; replaced++) {
    assert_int_equal(unlink(path), 0);
    if (replaced) fclose(fopen(path, "w"));
    for (int64_t time_ns = S; atomic_load(&reports) == replaced; time_ns++)
      tick(f, time_ns);
    if (replaced) break;
    assert_int_equal(now_of(f->clock) / S, 1); /* who has it is served */
    tb_shm_publisher_close(f->publisher);
    open_publisher(f);
    tick(f, S);
  }
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(atomic_load(&reports), 2);
}

/* ---- jumps ---- */

static void test_J3_readers_wait_for_the_handlers_of_this_process(void **state)
{
  shared_t *f = *state;
  watch(f, 0);
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  take_trace("before 4 0->10 now 0; after 4 now 10; ");
  tick(f, 100 * S); /* not followed */
  tick(f, 50 * S);
  assert_int_equal(now_of(f->clock), 50 * S);
  take_trace("before 2 100->50 now 100; after 2 now 50; ");
  tick(f, 0);
  assert_int_equal(now_of(f->clock), 0);
  take_trace("before 2 50->0 now 50; after 2 now 0; ");
}

static void *wait_until_started(void *argument)
{
  assert_ok(tb_clock_wait_until_started(argument, NULL));
  return NULL;
}

static void test_J1_forward_steps_reach_handlers_that_ask_for_them(void **state)
{
  shared_t *f = *state;
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S); /* the start has been reported */
  tick(f, 90 * S);
  atomic_store(&jumps_noted, 0);
  watch(f, 5 * S);
  tick(f, 96 * S); /* from here on each tick counts */
  while (!atomic_load(&jumps_noted))
    sched_yield();
  take_trace("before 1 90->96 now 90; after 1 now 96; ");
}

static void note_elapsed(const tb_jump_t *jump, void *user)
{
  const shared_t *f = user;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb__mutex_lock(&timeline->mutex);
  uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
  pthread_mutex_lock(&trace_mutex);
  TRACE("%d: %d s; ", (int)jump->kind, (int)(elapsed / (uint64_t)S));
  pthread_mutex_unlock(&trace_mutex);
  atomic_fetch_add(&jumps_noted, 1);
}

/* Readers see a forward step before its handlers are through: a sleep that begins then counts from
 * what they see. */
static void test_S1_a_sleep_begun_in_a_forward_step_counts_from_the_time_read(void **state)
{
  shared_t *f = *state;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  options.threshold.min_forward.ns = 5 * S;
  options.before = note_elapsed;
  options.user = f;
  atomic_store(&jumps_noted, 0);
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  tick(f, 30 * S);
  while (!atomic_load(&jumps_noted))
    sched_yield();
  tb_jump_handler_destroy(handler);
  take_trace("1: 20 s; ");
}

/* The page is not followed, so what is committed in this process is older. */
static void test_J3_a_clock_that_leaves_a_page_has_its_time_in_the_callback(void **state)
{
  shared_t *f = *state;
  tb_source_t *manual;
  assert_ok(tb_manual_source_create(&manual));
  assert_ok(tb_manual_source_set(manual, 7 * S));
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  watch(f, 0);
  tick(f, 100 * S);
  assert_ok(tb_clock_set_source(f->clock, manual));
  take_trace("before 3 100->7 now 100; after 3 now 7; ");
  assert_ok(tb_clock_set_source(f->clock, f->source));
  take_trace("before 3 7->100 now 7; after 3 now 100; ");
  assert_ok(tb_source_destroy(manual));
}

static bool is_among_clocks(tb_source_t *source, const tb_clock_t *clock)
{
  tb__mutex_lock(&source->mutex);
  const tb_clock_t *found = source->clocks;
  while (found && found != clock)
    found = found->source_next;
  tb__mutex_unlock(&source->mutex);
  return found;
}

static void check_clock(const tb_jump_t *jump, void *user)
{
  const shared_t *f = user;
  TRACE("%d: %d; ", (int)jump->kind, is_among_clocks(f->source, f->clock));
}

/* A publisher may come as soon as the clock has moved: its sleepers are notified through the
 * list. */
static void test_S2_a_clock_that_joins_is_known_to_its_source_before_it_moves(void **state)
{
  shared_t *f = *state;
  assert_ok(tb_clock_set_source(f->clock, NULL));
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold.on_clock_change = true;
  options.after = check_clock;
  options.user = f;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  take_trace("3: 1; ");
  tb_jump_handler_destroy(handler);
}

static void *sleep_a_while(void *argument)
{
  tb_clock_t *clock = argument;
  assert_ok(tb_clock_sleep_for(clock, (tb_duration_t){10 * S}, NULL));
  return NULL;
}

static void test_S1_sleepers_are_woken_by_the_publisher(void **state)
{
  shared_t *f = *state;
  pthread_t starter, sleeper;
  pthread_create(&starter, NULL, wait_until_started, f->clock);
  wait_for_waiters(f->clock, 1);
  open_publisher(f);
  tick(f, 5 * S);
  pthread_join(starter, NULL);
  for (int i = 1; i < 20; i++) {
    pthread_create(&sleeper, NULL, sleep_a_while, f->clock);
    wait_for_waiters(f->clock, 1);
    tick(f, (5 + i * 10) * S - 1);
    assert_int_equal(waiters_on(f->clock), 1);
    tick(f, (5 + i * 10) * S);
    pthread_join(sleeper, NULL);
  }
}

static void *sleep_thrice_as_long(void *argument)
{
  tb_clock_t *clock = argument;
  assert_ok(tb_clock_sleep_for(clock, (tb_duration_t){30 * S}, NULL));
  return NULL;
}

static void test_S7_ticks_are_still_followed_for_later_deadlines(void **state)
{
  shared_t *f = *state;
  pthread_t first, later[2];
  open_first_publisher(f);
  tick(f, 5 * S);
  pthread_create(&first, NULL, sleep_a_while, f->clock);
  for (int i = 0; i < 2; i++)
    pthread_create(&later[i], NULL, sleep_thrice_as_long, f->clock);
  wait_for_waiters(f->clock, 3);
  tick(f, 15 * S);
  pthread_join(first, NULL);
  tick(f, 35 * S - 1);
  assert_int_equal(waiters_on(f->clock), 2);
  tick(f, 35 * S);
  for (int i = 0; i < 2; i++)
    pthread_join(later[i], NULL);
}

static void *sleep_until_100(void *argument)
{
  tb_status_t *status = malloc(sizeof *status);
  *status = tb_clock_sleep_until(argument, (tb_time_t){100 * S, TB_TIME_ROS}, NULL);
  return status;
}

static void test_X3_the_next_publisher_is_a_new_source(void **state)
{
  shared_t *f = *state;
  pthread_t until, relative;
  open_first_publisher(f);
  tick(f, 50 * S);
  assert_int_equal(now_of(f->clock), 50 * S);
  watch(f, 0);
  pthread_create(&until, NULL, sleep_until_100, f->clock);
  pthread_create(&relative, NULL, sleep_a_while, f->clock);
  wait_for_waiters(f->clock, 2);
  tick(f, 56 * S);
  tb_shm_publisher_close(f->publisher);
  assert_int_equal(state_of(f), TB_CLOCK_LOST);
  assert_int_equal(now_of(f->clock), 56 * S);
  open_publisher(f);
  assert_int_equal(now_of(f->clock), 0);
  tb_status_t *status;
  pthread_join(until, (void **)&status);
  assert_status(*status, TB_ERR_CLOCK_CHANGED);
  free(status);
  take_trace("before 3 56->0 now 56; after 3 now 0; ");
  tick(f, 1000 * S);
  assert_int_equal(now_of(f->clock), 1000 * S);
  take_trace("before 4 0->1000 now 0; after 4 now 1000; ");
  wait_for_waiters(f->clock, 1);
  tick(f, 1004 * S - 1); /* four seconds were left */
  assert_int_equal(waiters_on(f->clock), 1);
  tick(f, 1004 * S);
  pthread_join(relative, NULL);
  tb_shm_status_t shm;
  assert_ok(tb_shm_source_status(f->source, &shm));
  assert_true(shm.has_publisher);
  assert_int_equal(shm.publishers, 2);
  assert_false(shm.foreign_steady);
}

static void test_X3_what_a_publisher_left_does_not_count(void **state)
{
  shared_t *f = *state;
  tb_source_t *source;
  tb_clock_t *clock;
  open_publisher(f);
  tick(f, 50 * S);
  tb_shm_publisher_close(f->publisher);
  f->publisher = NULL;
  assert_ok(tb_shm_source_create("test", &f->options, &source, NULL));
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_int_equal(now_of(clock), 0);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_NO_PUBLISHER);
  open_publisher(f);
  tick(f, 60 * S);
  assert_ok(tb_clock_wait_until_started(clock, NULL));
  assert_int_equal(now_of(clock), 60 * S);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

/* ---- two clocks ---- */

typedef struct going {
  tb_clock_t *clock;
  tb_source_t *to;
} going_t;

static void *go(void *argument)
{
  going_t *going = argument;
  assert_ok(tb_clock_set_source(going->clock, going->to));
  return NULL;
}

static uint32_t users_of(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  uint32_t users = source->users;
  tb__mutex_unlock(&source->mutex);
  return users;
}

/* One change has begun already and is blocked; the other one is done before it. */
static void test_X1_a_source_is_not_stopped_while_a_clock_has_its_time(void **state)
{
  shared_t *f = *state;
  tb_source_t *manual, *source;
  tb_clock_t *slow, *quick;
  pthread_t thread;
  assert_ok(tb_manual_source_create(&manual)); /* older: its turn is taken first */
  assert_ok(tb_shm_source_create("test", &f->options, &source, NULL));
  open_first_publisher(f);
  tick(f, 10 * S);
  tb_clock_options_t options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&options, &slow));
  assert_ok(tb_clock_create(&options, &quick));
  tick(f, 100 * S); /* not followed */
  assert_int_equal(now_of(slow), 100 * S);
  take_turn(manual);
  pthread_create(&thread, NULL, go, &(going_t){slow, manual});
  while (users_of(source) == 2)
    sched_yield();
  assert_ok(tb_clock_set_source(quick, NULL));
  assert_int_equal(now_of(slow), 100 * S);
  end_turn(manual);
  pthread_join(thread, NULL);
  assert_int_equal(now_of(slow), 0);
  assert_int_equal(atomic_load(&source->phase), TB__SOURCE_STOPPED);
  assert_ok(tb_clock_destroy(slow));
  assert_ok(tb_clock_destroy(quick));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_destroy(manual));
}

/* ---- forks ---- */

static void test_C7_a_child_leaves_the_page_alone(void **state)
{
  shared_t *f = *state;
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  tick(f, 20 * S); /* not followed */
  pid_t child = fork();
  if (child == 0) {
    tb_time_t now;
    tb_shm_publisher_t *another;
    bool right =
        !tb_clock_now(f->clock, &now) && now.ns == 20 * S &&
        tb_shm_publisher_tick(f->publisher, 30 * S, TB_JUMP_REASON_NONE) == TB_ERR_FORKED &&
        tb_shm_publisher_open("x", &f->options, &another, NULL) == TB_ERR_FORKED;
    tb_shm_publisher_close(f->publisher);
    _exit(!right);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_int_equal(now_of(f->clock), 20 * S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
}

/* ---- anchors ---- */

static void test_X3_time_runs_on_from_an_anchor(void **state)
{
  shared_t *f = *state;
  open_first_publisher(f);
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 100 * S;
  anchor.steady.ns = tb__steady_now_ns();
  anchor.rate = 1000;
  anchor.bound.ns = INT64_MAX;
  assert_status(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE),
                TB_ERR_INVALID);
  anchor.bound.ns = 100000 * S;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  int64_t before_ns = tb__steady_now_ns(), now_ns = now_of(f->clock);
  int64_t after_ns = tb__steady_now_ns();
  assert_in_range(now_ns, 100 * S + 1000 * (before_ns - anchor.steady.ns),
                  100 * S + 1000 * (after_ns - anchor.steady.ns));
  sleep_a_while(f->clock); /* no tick comes */
  assert_true(now_of(f->clock) >= now_ns + 10 * S);
  uint64_t epoch = tb_clock_epoch(f->clock);
  anchor.time_ns = now_of(f->clock) + 90000 * S; /* ahead, however late it is committed */
  anchor.rate = 0;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(f->clock), anchor.time_ns);
  assert_int_equal(tb_clock_epoch(f->clock), epoch);
  anchor.time_ns = 100 * S;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(f->clock), 100 * S);
  assert_true(tb_clock_epoch(f->clock) > epoch);
}

/* ---- input ---- */

static void test_X3_invalid_pages_are_rejected(void **state)
{
  shared_t *f = *state;
  tb__shared_file_t file;
  open_first_publisher(f);
  tick(f, 5 * S);
  assert_int_equal(now_of(f->clock), 5 * S);
  tb__page_t *page = map_page(f, &file);
  tb__page_slot_t *slot = &page->slots[atomic_load(&page->version) & 1];
  atomic_store(&slot->time_ns, -5);
  assert_int_equal(now_of(f->clock), 5 * S);
  atomic_store(&slot->time_ns, 6 * S);
  atomic_store(&slot->steady_ns, -7);
  atomic_store(&slot->rate, 1);
  assert_int_equal(now_of(f->clock), 5 * S);
  atomic_store(&slot->rate, 0 / 0.0);
  assert_int_equal(now_of(f->clock), 5 * S);
  atomic_store(&slot->rate, 0);
  atomic_store(&slot->steady_ns, 0);
  atomic_store(&slot->state, 77);
  assert_int_equal(state_of(f), TB_CLOCK_LOST);
  atomic_store(&page->magic, 1);
  assert_int_equal(state_of(f), TB_CLOCK_LOST);
  atomic_store(&page->magic, TB__PAGE_MAGIC);
  tick(f, 7 * S);
  assert_int_equal(now_of(f->clock), 7 * S);
  assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
  tb__shared_file_close(&file);
}

static void test_C8_a_paused_publisher_that_ends_is_a_stall(void **state)
{
  shared_t *f = *state;
  tb__shared_file_t file;
  open_first_publisher(f);
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = 5 * S;
  anchor.state = TB_CLOCK_PAUSED;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(now_of(f->clock), 5 * S);
  assert_int_equal(state_of(f), TB_CLOCK_PAUSED);
  tb__page_t *page = map_page(f, &file);
  atomic_store(&page->alive_ns, 1); /* long ago */
  set_stall_limit(f, S);
  assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  set_stall_limit(f, 0);
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  assert_int_equal(state_of(f), TB_CLOCK_PAUSED);
  tb__shared_file_close(&file);
}

typedef struct noise {
  tb__page_t *page;
  uint64_t seed;
  _Atomic bool stop;
} noise_t;

static uint64_t random_bits(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 16;
}

static void *scribble(void *argument)
{
  noise_t *noise = argument;
  char *bytes = (char *)noise->page;
  while (!atomic_load(&noise->stop)) {
    size_t at = random_bits(&noise->seed) % (sizeof *noise->page / 8) * 8;
    if (at < 24) continue; /* the head is looked at when the file is opened */
    atomic_store((_Atomic uint64_t *)(bytes + at), random_bits(&noise->seed));
    if (random_bits(&noise->seed) % 64 == 0) {
      tb__futex_wake_shared(&noise->page->epoch_word);
      tb__futex_wake_shared(&noise->page->tick_word);
    }
  }
  return NULL;
}

/* Readers never hang, crash or return a negative time, whatever is written. */
static void test_X3_random_pages_do_no_harm(void **state)
{
  shared_t *f = *state;
  const char *given = getenv("TB_TEST_SEED");
  tb__shared_file_t file;
  noise_t noise = {.seed = given ? strtoull(given, NULL, 10) : 1};
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)noise.seed);
  pthread_t writer;
  open_first_publisher(f);
  tick(f, 5 * S);
  noise.page = map_page(f, &file);
  pthread_create(&writer, NULL, scribble, &noise);
  for (int i = 0; i < 2000; i++) {
    tb_time_t now = {0};
    tb_status_t status = tb_clock_try_now(f->clock, &now);
    assert_true(status == TB_OK || status == TB_ERR_BUSY);
    assert_true(now.ns >= 0);
    tb_clock_epoch(f->clock);
  }
  atomic_store(&noise.stop, true);
  pthread_join(writer, NULL);
  tb_shm_publisher_close(f->publisher);
  f->publisher = NULL;
  tb__shared_file_close(&file);
}

/* The steady time of a publisher in another time namespace is meaningless. */
static void test_C8_a_foreign_publisher_that_ticks_is_not_stalled(void **state)
{
  shared_t *f = *state;
  tb__shared_file_t file;
  open_first_publisher(f);
  tick(f, 5 * S);
  tb__page_t *page = map_page(f, &file);
  atomic_store(&page->time_namespace, 1);
  tick(f, 4 * S);
  assert_int_equal(now_of(f->clock), 4 * S);
  assert_ok(tb_testing_hold_os_time());
  set_stall_limit(f, S);
  atomic_store(&page->alive_ns, INT64_MAX);
  for (int i = 0; i < 3; i++) {
    tick(f, (10 + i) * S); /* not followed */
    atomic_store(&page->alive_ns, INT64_MAX);
    assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
    assert_int_equal(state_of(f), TB_CLOCK_RUNNING);
    assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){S}));
    assert_int_equal(state_of(f), TB_CLOCK_STALLED);
  }
  assert_ok(tb_testing_release_os_time());
  tb__shared_file_close(&file);
}

/* ---- many at once ---- */

typedef struct reader {
  const tb_clock_t *clock;
  _Atomic bool *stop;
  pthread_t thread;
} reader_t;

static void *read_on(void *argument)
{
  reader_t *reader = argument;
  static never_falls_t seen = NEVER_FALLS_INIT;
  while (!atomic_load(reader->stop))
    assert_true(never_falls_check(&seen, reader->clock));
  return NULL;
}

static void *sleep_on(void *argument)
{
  reader_t *reader = argument;
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.limit.ns = S / 100;
  tb_status_t status = TB_OK; /* any */
  while (!atomic_load(reader->stop))
    status = tb_clock_sleep_for((tb_clock_t *)reader->clock, (tb_duration_t){3}, &options);
  (void)status;
  return NULL;
}

static void ignore_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  (void)user;
}

static void test_C3_readers_see_no_torn_and_no_falling_time(void **state)
{
  shared_t *f = *state;
  _Atomic bool stop = false;
  reader_t readers[3];
  uint64_t seed = 7;
  open_first_publisher(f);
  tb_jump_handler_options_t handled = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  handled.threshold = (tb_jump_threshold_t){{0}, {-1}, true};
  handled.before = ignore_jump;
  assert_ok(tb_jump_handler_create(f->clock, &handled, &handler));
  for (int i = 0; i < 3; i++) {
    readers[i] = (reader_t){.clock = f->clock, .stop = &stop};
    pthread_create(&readers[i].thread, NULL, i < 2 ? read_on : sleep_on, &readers[i]);
  }
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = S;
  for (int i = 0; i < 5000; i++) {
    uint64_t dice = random_bits(&seed) % 100;
    anchor.time_ns += dice == 0 ? -anchor.time_ns / 2 : (int64_t)dice * 1000;
    anchor.rate = dice % 3 ? 0 : (double)(dice % 7);
    anchor.steady.ns = tb__steady_now_ns();
    anchor.bound.ns = 1000;
    assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
    if (dice == 1) {
      tb_shm_publisher_close(f->publisher);
      open_publisher(f);
    }
  }
  atomic_store(&stop, true);
  for (int i = 0; i < 3; i++)
    pthread_join(readers[i].thread, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_PAGE(test_X3_now_is_the_published_time_at_once),
      ON_PAGE(test_X7_a_source_created_later_has_the_time_from_the_start),
      ON_PAGE(test_X3_a_second_publisher_is_refused),
      ON_PAGE(test_X4_a_page_runs_on_by_itself_and_is_not_wrapped),
      ON_PAGE(test_X3_wrong_names_and_files_are_refused),
      ON_PAGE(test_X3_the_file_is_private_unless_asked_otherwise),
      ON_PAGE(test_X3_a_file_that_was_removed_or_replaced_is_reported_once),
      ON_PAGE(test_J3_readers_wait_for_the_handlers_of_this_process),
      ON_PAGE(test_J1_forward_steps_reach_handlers_that_ask_for_them),
      ON_PAGE(test_J3_a_clock_that_leaves_a_page_has_its_time_in_the_callback),
      ON_PAGE(test_S1_a_sleep_begun_in_a_forward_step_counts_from_the_time_read),
      ON_PAGE(test_S2_a_clock_that_joins_is_known_to_its_source_before_it_moves),
      ON_PAGE(test_S1_sleepers_are_woken_by_the_publisher),
      ON_PAGE(test_S7_ticks_are_still_followed_for_later_deadlines),
      ON_PAGE(test_X3_the_next_publisher_is_a_new_source),
      ON_PAGE(test_X3_what_a_publisher_left_does_not_count),
      ON_PAGE(test_X1_a_source_is_not_stopped_while_a_clock_has_its_time),
      ON_PAGE(test_C7_a_child_leaves_the_page_alone),
      ON_PAGE(test_X3_time_runs_on_from_an_anchor),
      ON_PAGE(test_C8_a_paused_publisher_that_ends_is_a_stall),
      ON_PAGE(test_X3_invalid_pages_are_rejected),
      ON_PAGE(test_C8_a_foreign_publisher_that_ticks_is_not_stalled),
      ON_PAGE(test_X3_random_pages_do_no_harm),
      ON_PAGE(test_C3_readers_see_no_torn_and_no_falling_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

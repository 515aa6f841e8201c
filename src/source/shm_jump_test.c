/* Jumps on a page that follow each other before they are dispatched, as in a process that was
 * stopped meanwhile. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <timebase/sleep.h>

#include "forking.h"
#include "platform/guarded_map.h"
#include "platform/time.h"
#include "source/on_page.h"
#include "waiting.h"

#define MISSED (TB__PAGE_ENDS + 50) /* more than the page keeps */

static void note_jump(const tb_jump_t *jump, void *user)
{
  const shared_t *f = user;
  assert_int_equal(jump->epoch, tb_clock_epoch(f->clock));
  assert_int_equal(jump->delta.ns, jump->before.ns ? jump->after.ns - jump->before.ns : 0);
  pthread_mutex_lock(&trace_mutex);
  TRACE("%d/%d %lld->%lld; ", (int)jump->kind, (int)jump->reason, (long long)(jump->before.ns / S),
        (long long)(jump->after.ns / S));
  pthread_mutex_unlock(&trace_mutex);
}

static void note_jumps(shared_t *f, int64_t min_forward_ns, int64_t min_backward_ns)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold = (tb_jump_threshold_t){{min_forward_ns}, {min_backward_ns}, true};
  options.after = note_jump;
  options.user = f;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
}

/* At 100 s, which has been read and not followed; from here on nothing is dispatched. */
static uint64_t miss_from_100(shared_t *f)
{
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  take_trace(trace);
  tick(f, 100 * S);
  assert_int_equal(now_of(f->clock), 100 * S);
  uint64_t epoch = tb_clock_epoch(f->clock);
  take_turn(f->source);
  return epoch;
}

static void tick_for(const shared_t *f, int64_t time_ns, tb_jump_reason_t reason)
{
  assert_ok(tb_shm_publisher_tick(f->publisher, time_ns, reason));
}

static void expect_epoch_above(const shared_t *f, uint64_t epoch, int64_t time_ns)
{
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(f->clock, &reading));
  assert_int_equal(reading.time.ns, time_ns);
  assert_true(reading.epoch > epoch);
}

static void test_C6_two_steps_back_in_a_row_are_a_step_back(void **state)
{
  shared_t *f = *state;
  watch(f, 0);
  uint64_t epoch = miss_from_100(f);
  tick(f, 60 * S);
  tick(f, 50 * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 50 * S);
  take_trace("before 2 100->50 now 100; after 2 now 50; ");
}

/* Each of them ran on for a while. */
static void test_C6_a_step_back_starts_from_the_last_time_that_could_be_read(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 0, -1);
  uint64_t epoch = miss_from_100(f);
  tick(f, 101 * S);
  for (int64_t i = 1; i <= 30; i++)
    tick(f, i * S);
  for (int64_t i = 1; i <= 50; i++)
    tick(f, i * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 50 * S);
  take_trace("2/0 101->50; ");
}

static void test_X3_missed_jumps_have_the_reason_of_the_last_one(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 0, -1);
  uint64_t epoch = miss_from_100(f);
  tick_for(f, 60 * S, TB_JUMP_REASON_SEEK);
  tick_for(f, 40 * S, TB_JUMP_REASON_LOOP);
  tick_for(f, 41 * S, TB_JUMP_REASON_TICK);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 41 * S);
  take_trace("2/3 100->41; ");
}

/* Time has gone back, and is after where it was: handlers for such a step forward are called. */
static void test_J1_missed_jumps_go_to_handlers_whose_threshold_they_meet(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 50 * S, 0);
  note_jumps(f, 300 * S, -1);
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  wait_until_followed(f, 10 * S); /* a handler asks for forward steps */
  take_turn(f->source);
  uint64_t epoch = tb_clock_epoch(f->clock);
  take_trace("4/0 0->10; 4/0 0->10; ");
  tick_for(f, 1 * S, TB_JUMP_REASON_RESET);
  tick(f, 110 * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 110 * S);
  take_trace("1/4 10->110; ");
}

static void test_C6_time_that_is_by_chance_where_it_was_is_in_another_epoch(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 0, -1);
  uint64_t epoch = miss_from_100(f);
  tick(f, 20 * S);
  tick(f, 100 * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 100 * S);
  take_trace("");
}

static void test_C2_an_unobserved_reset_is_reported(void **state)
{
  shared_t *f = *state;
  watch(f, 0);
  uint64_t epoch = miss_from_100(f);
  tick(f, 0);
  tick(f, 170 * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 170 * S);
  take_trace("before 2 100->0 now 100; after 2 now 0; before 4 0->170 now 0; after 4 now 170; ");
}

static void test_X3_a_reset_after_missed_jumps_and_the_start_after_it_are_two(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 0, -1);
  uint64_t epoch = miss_from_100(f);
  tick_for(f, 60 * S, TB_JUMP_REASON_SEEK);
  tick(f, 0);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 0);
  take_trace("2/4 100->0; ");
  tick(f, 7 * S);
  assert_int_equal(now_of(f->clock), 7 * S);
  take_trace("4/0 0->7; ");
  take_turn(f->source);
  tick(f, 0);
  tick(f, 5 * S);
  tick_for(f, 3 * S, TB_JUMP_REASON_SEEK); /* the last one is no start */
  end_turn(f->source);
  assert_int_equal(now_of(f->clock), 3 * S);
  take_trace("2/2 7->3; ");
}

static void test_X3_a_publisher_after_missed_jumps_is_a_new_source(void **state)
{
  shared_t *f = *state;
  note_jumps(f, 0, -1);
  uint64_t epoch = miss_from_100(f);
  for (int64_t i = 1; i <= 3; i++) {
    tick(f, 50 * S);
    tb_shm_publisher_close(f->publisher);
    open_publisher(f);
    tick(f, 200 * S);
    tick(f, (110 + i) * S);
  }
  end_turn(f->source);
  expect_epoch_above(f, epoch, 113 * S);
  take_trace("3/7 100->113; ");
}

static void *sleep_10_seconds(void *argument)
{
  assert_ok(tb_clock_sleep_for(argument, (tb_duration_t){10 * S}, NULL));
  return NULL;
}

/* The page does not keep any more how the first of them began. */
static void test_S1_too_many_missed_jumps_start_from_what_was_read(void **state)
{
  shared_t *f = *state;
  pthread_t sleeper;
  note_jumps(f, 0, -1);
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  pthread_create(&sleeper, NULL, sleep_10_seconds, f->clock);
  wait_for_waiters(f->clock, 1);
  tick(f, 15 * S);
  wait_until_followed(f, 15 * S);
  take_turn(f->source);
  uint64_t epoch = tb_clock_epoch(f->clock);
  take_trace("4/0 0->10; ");
  for (int64_t i = MISSED; i > 0; i--)
    tick(f, 2 * S + i);
  tick(f, 2 * S);
  end_turn(f->source);
  expect_epoch_above(f, epoch, 2 * S);
  take_trace("2/0 15->2; ");
  tick(f, 7 * S - 1); /* five seconds were left */
  assert_int_equal(waiters_on(f->clock), 1);
  tick(f, 7 * S);
  pthread_join(sleeper, NULL);
}

/* ---- time that runs on ---- */

static void anchor(const shared_t *f, int64_t time_ns, double rate)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  anchor.steady.ns = tb__steady_now_ns();
  anchor.rate = rate;
  anchor.bound.ns = INT64_MAX / 4;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
}

/* The time that runs on in this process, where a step back has not been dispatched yet. */
static void test_S1_time_does_not_run_past_a_step_back(void **state)
{
  shared_t *f = *state;
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  tb__shared_file_t file;
  open_first_publisher(f);
  tb__page_t *page = map_page(f, &file);
  anchor(f, 100 * S, 1000000);
  assert_true(now_of(f->clock) >= 100 * S);
  take_turn(f->source);
  tick(f, 2 * S);
  int64_t before_ns = atomic_load(&page->slots[atomic_load(&page->version) & 1].before_ns);
  for (int i = 0; i < 2; i++) { /* and not past the one that this process could read */
    tb__mutex_lock(&timeline->mutex);
    int64_t reported_ns = tb__timeline_time_locked(timeline);
    tb__mutex_unlock(&timeline->mutex);
    assert_int_equal(reported_ns, before_ns);
    tick(f, S);
  }
  end_turn(f->source);
  assert_int_equal(now_of(f->clock), S);
  tb__shared_file_close(&file);
}

static int64_t told_before_ns;

static void keep_before(const tb_jump_t *jump, void *user)
{
  (void)user;
  told_before_ns = jump->before.ns;
}

static void test_C6_missed_jumps_of_time_that_ran_start_from_what_was_read(void **state)
{
  shared_t *f = *state;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold.min_backward.ns = -1, .before = keep_before};
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  open_first_publisher(f);
  anchor(f, 100 * S, 1000000);
  int64_t read_ns = now_of(f->clock);
  uint64_t epoch = tb_clock_epoch(f->clock);
  take_turn(f->source);
  for (int64_t i = 2 * TB__PAGE_MARKS; i > 0; i--)
    anchor(f, i * S, 1);
  tick(f, S / 2);
  end_turn(f->source);
  expect_epoch_above(f, epoch, S / 2);
  assert_true(told_before_ns >= read_ns);
}

/* It was killed, in a time namespace that its successor is not in: how far time ran on is not known
 * there. */
static void test_X3_time_does_not_run_on_in_foreign_steady_time(void **state)
{
  shared_t *f = *state;
  tb__shared_file_t file;
  open_first_publisher(f);
  tb__page_t *page = map_page(f, &file);
  tick(f, 30 * S);
  tb_shm_publisher_close(f->publisher);
  tb__page_slot_t *slot = &page->slots[atomic_load(&page->version) & 1];
  atomic_store(&slot->steady_ns, 1);
  atomic_store(&slot->until_ns, 900 * S);
  atomic_store(&slot->rate, 1000);
  atomic_store(&page->time_namespace, 1);
  uint64_t epoch = atomic_load(&slot->epoch);
  open_publisher(f);
  assert_int_equal(atomic_load(&page->end_ns[epoch % TB__PAGE_ENDS]), 30 * S);
  tb__shared_file_close(&file);
}

/* ---- a page that is cut ---- */

static void cut_page(const shared_t *f)
{
  char path[128];
  restore_guard();
  path_of(f, path, sizeof path);
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(truncate(path, TB__PAGE_SIZE), 0);
}

/* Its third version is that of the tick that was followed before. */
static void test_X3_a_publisher_whose_versions_were_seen_before_is_followed(void **state)
{
  shared_t *f = *state;
  open_first_publisher(f);
  tick(f, 10 * S);
  wait_until_followed(f, 10 * S);
  cut_page(f);
  tb_shm_publisher_close(f->publisher);
  open_publisher(f);
  while (now_of(f->clock) != 0)
    sched_yield();
}

static void note_before_ns(const tb_jump_t *jump, void *user)
{
  *(int64_t *)user = jump->before.ns;
}

/* The time with which the timeline continues is one that has been read. */
static void test_J3_time_that_ran_on_after_a_cut_is_the_time_before_the_next_publisher(void **state)
{
  shared_t *f = *state;
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  int64_t before_ns = 0;
  options.threshold.on_clock_change = true;
  options.before = note_before_ns;
  options.user = &before_ns;
  open_first_publisher(f);
  anchor.time_ns = 10 * S;
  anchor.steady.ns = tb__steady_now_ns();
  anchor.rate = 1000;
  anchor.bound.ns = 1000 * S;
  assert_ok(tb_shm_publisher_anchor(f->publisher, &anchor, TB_JUMP_REASON_NONE));
  int64_t first_ns = now_of(f->clock), read_ns;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  take_turn(f->source);
  cut_page(f);
  do
    read_ns = now_of(f->clock);
  while (read_ns < first_ns + 10 * S && read_ns != first_ns);
  tb_shm_publisher_close(f->publisher);
  open_publisher(f);
  end_turn(f->source);
  while (now_of(f->clock) != 0)
    sched_yield();
  assert_true(before_ns >= read_ns);
  tb_jump_handler_destroy(handler);
}

/* ---- forks ---- */

/* The page is not followed in a child, which continues to read what its parent publishes. */
static void child_look(const shared_t *f, int asked, int answer)
{
  tb_clock_reading_t last = {0}, next;
  char step;
  while (read(asked, &step, 1) == 1) {
    bool good = !tb_clock_read(f->clock, &next) && next.time.ns >= last.time.ns &&
                next.epoch == tb_clock_epoch(f->clock);
    last = next;
    if (write(answer, good ? "y" : "n", 1) != 1) break;
  }
  _exit(0);
}

static void test_C7_time_never_falls_in_a_child(void **state)
{
  shared_t *f = *state;
  int asked[2], answer[2], status;
  open_first_publisher(f);
  tick(f, 10 * S);
  assert_int_equal(now_of(f->clock), 10 * S);
  tick(f, 100 * S); /* not followed */
  assert_int_equal(pipe(asked), 0);
  assert_int_equal(pipe(answer), 0);
  pid_t child = fork();
  if (child == 0) {
    close(asked[1]);
    child_look(f, asked[0], answer[1]);
  }
  for (int64_t i = 0; i < MISSED; i++) {
    char good;
    assert_int_equal(write(asked[1], "?", 1), 1);
    assert_int_equal(read(answer[0], &good, 1), 1);
    assert_int_equal(good, 'y');
    tick(f, i % 10 < 8 ? (i % 10 + 1) * S : 0);
    tick(f, i % 3 * S);
  }
  close(asked[0]);
  close(asked[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  close(answer[0]);
  close(answer[1]);
}

int main(void)
{
  find_guard_action();
  const struct CMUnitTest tests[] = {
      ON_PAGE(test_C6_two_steps_back_in_a_row_are_a_step_back),
      ON_PAGE(test_C6_a_step_back_starts_from_the_last_time_that_could_be_read),
      ON_PAGE(test_X3_missed_jumps_have_the_reason_of_the_last_one),
      ON_PAGE(test_J1_missed_jumps_go_to_handlers_whose_threshold_they_meet),
      ON_PAGE(test_C6_time_that_is_by_chance_where_it_was_is_in_another_epoch),
      ON_PAGE(test_C2_an_unobserved_reset_is_reported),
      ON_PAGE(test_X3_a_reset_after_missed_jumps_and_the_start_after_it_are_two),
      ON_PAGE(test_X3_a_publisher_after_missed_jumps_is_a_new_source),
      ON_PAGE(test_S1_too_many_missed_jumps_start_from_what_was_read),
      ON_PAGE(test_S1_time_does_not_run_past_a_step_back),
      ON_PAGE(test_C6_missed_jumps_of_time_that_ran_start_from_what_was_read),
      ON_PAGE(test_X3_time_does_not_run_on_in_foreign_steady_time),
      ON_PAGE(test_X3_a_publisher_whose_versions_were_seen_before_is_followed),
      ON_PAGE(test_J3_time_that_ran_on_after_a_cut_is_the_time_before_the_next_publisher),
      ON_PAGE(test_C7_time_never_falls_in_a_child),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

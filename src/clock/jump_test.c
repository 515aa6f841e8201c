#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>

#include "clock/clock.h"
#include "on_manual_source.h"

static const char *kind_name(tb_jump_kind_t kind)
{
  static const char *const names[] = {"?", "forward", "backward", "change", "started"};
  return names[kind];
}

typedef struct probe {
  const char *name;
  tb_clock_t *clock;
} probe_t;

static void trace_call(const char *phase, const tb_jump_t *jump, const probe_t *probe)
{
  tb_time_t now = {0};
  tb_status_t status = tb_clock_now(probe->clock, &now);
  TRACE("%s %s %s %lld->%lld delta %lld now %lld%s\n", probe->name, phase, kind_name(jump->kind),
        (long long)(jump->before.ns / S), (long long)(jump->after.ns / S),
        (long long)(jump->delta.ns / S), (long long)(now.ns / S), status ? " FAILED" : "");
}

static void on_before(const tb_jump_t *jump, void *user)
{
  trace_call("before", jump, user);
}

static void on_after(const tb_jump_t *jump, void *user)
{
  trace_call("after", jump, user);
}

static tb_jump_handler_t *add(probe_t *probe, int64_t min_forward, int64_t min_backward,
                              bool on_clock_change)
{
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = {
      .name = probe->name,
      .threshold = {{min_forward}, {min_backward}, on_clock_change},
      .before = on_before,
      .after = on_after,
      .user = probe,
  };
  assert_ok(tb_jump_handler_create(probe->clock, &options, &handler));
  return handler;
}

static void test_J1_thresholds_are_inclusive_and_kinds_do_not_mix(void **state)
{
  fixture_t *f = *state;
  probe_t forward = {"forward", f->clock}, backward = {"backward", f->clock};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_jump_handler_t *a = add(&forward, 10 * S, 0, false);
  tb_jump_handler_t *b = add(&backward, 0, -10 * S, false);
  assert_ok(tb_manual_source_set(f->source, 110 * S - 1)); /* 1 ns below */
  assert_ok(tb_manual_source_set(f->source, 100 * S));     /* 1 ns above */
  assert_string_equal(trace, "");
  assert_ok(tb_manual_source_set(f->source, 110 * S));
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_string_equal(trace, "forward before forward 100->110 delta 10 now 100\n"
                             "forward after forward 100->110 delta 10 now 110\n"
                             "backward before backward 110->100 delta -10 now 110\n"
                             "backward after backward 110->100 delta -10 now 100\n");
  trace[0] = '\0';
  assert_ok(tb_clock_set_source(f->clock, NULL)); /* a delta of decades, but a clock change */
  assert_string_equal(trace, "");
  tb_jump_handler_destroy(a);
  tb_jump_handler_destroy(b);
}

static void test_C2_a_reset_is_a_backward_jump_for_its_handlers(void **state)
{
  fixture_t *f = *state;
  probe_t backward = {"backward", f->clock};
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  tb_jump_handler_t *handler = add(&backward, 0, -10 * S, false);
  assert_ok(tb_manual_source_set(f->source, 0));
  assert_string_equal(trace, "backward before backward 100->0 delta -100 now 100\n"
                             "backward after backward 100->0 delta -100 now 0\n");
  tb_jump_handler_destroy(handler);
}

static void test_J1_wrong_signs_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = {.before = on_before, .threshold.min_forward.ns = -1};
  assert_status(tb_jump_handler_create(f->clock, &options, &handler), TB_ERR_INVALID);
  options.threshold = (tb_jump_threshold_t){{0}, {1}, false};
  assert_status(tb_jump_handler_create(f->clock, &options, &handler), TB_ERR_INVALID);
  options.threshold = (tb_jump_threshold_t){{0}, {0}, false};
  assert_status(tb_jump_handler_create(f->clock, &options, &handler), TB_ERR_INVALID);
  options = (tb_jump_handler_options_t){.threshold.on_clock_change = true};
  assert_status(tb_jump_handler_create(f->clock, &options, &handler), TB_ERR_INVALID);
  assert_null(handler);
}

/* rcl test_time.cpp: test_ros_clock_initially_zero, roscpp sim_time_test.cpp: SimClockTest; with a
 * time that was set before it is activated: rcl_time_forward_jump_callbacks, rclpy test_clock.py:
 * test_triggered_time_jump_callbacks. */
static void test_J2_first_tick_is_started_and_has_no_time_before(void **state)
{
  fixture_t *f = *state;
  probe_t change = {"change", f->clock}, step = {"step", f->clock};
  tb_jump_handler_t *a = add(&change, 0, 0, true), *b = add(&step, 1, -1, false);
  uint64_t epoch = tb_clock_epoch(f->clock);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_string_equal(trace, "change before started 0->5 delta 0 now 0\n"
                             "change after started 0->5 delta 0 now 5\n");
  assert_int_equal(tb_clock_epoch(f->clock), epoch);
  tb_jump_handler_destroy(a);
  tb_jump_handler_destroy(b);
}

static tb_jump_t seen[4];
static int seen_count;

static void remember(const tb_jump_t *jump, void *user)
{
  (void)user;
  seen[seen_count++] = *jump;
}

static void test_J2_clock_change_has_both_times_reason_and_epoch(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold.on_clock_change = true, .after = remember};
  seen_count = 0;
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 7 * S));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_clock_set_source(f->clock, other));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_int_equal(seen_count, 3);
  assert_int_equal(seen[0].reason, TB_JUMP_REASON_SOURCE_REPLACED);
  assert_int_equal(seen[0].before.ns, 5 * S);
  assert_int_equal(seen[0].delta.ns, 2 * S);
  assert_int_equal(seen[1].reason, TB_JUMP_REASON_SOURCE_OFF);
  assert_int_equal(seen[1].delta.ns, seen[1].after.ns - 7 * S);
  assert_int_equal(seen[2].reason, TB_JUMP_REASON_SOURCE_ON);
  assert_true(seen[2].epoch > seen[1].epoch && seen[1].epoch > seen[0].epoch);
  assert_int_equal(seen[2].epoch, tb_clock_epoch(f->clock));
  tb_jump_handler_destroy(handler);
  assert_ok(tb_source_destroy(other));
}

static void test_J2_activation_before_the_first_tick_has_no_time_after(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {.threshold.on_clock_change = true, .before = remember};
  seen_count = 0;
  assert_ok(tb_clock_create(NULL, &clock));
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  assert_ok(tb_clock_set_source(clock, f->source));
  assert_int_equal(seen_count, 1);
  assert_true(seen[0].before.ns > 0);
  assert_int_equal(seen[0].after.ns, 0);
  assert_int_equal(seen[0].delta.ns, 0);
  assert_ok(tb_clock_destroy(clock));
  tb_jump_handler_destroy(handler);
}

static void test_J3_all_before_then_all_after_in_order_of_registration(void **state)
{
  fixture_t *f = *state;
  tb_clock_t *other;
  tb_clock_options_t clock_options = {TB_TIME_ROS, f->source};
  assert_ok(tb_clock_create(&clock_options, &other));
  probe_t one = {"one", f->clock}, two = {"two", other}, three = {"three", f->clock};
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  tb_jump_handler_t *a = add(&one, 0, -1, false), *b = add(&two, 0, -1, false),
                    *c = add(&three, 0, -1, false);
  assert_ok(tb_manual_source_set(f->source, 20 * S));
  assert_string_equal(trace, "one before backward 50->20 delta -30 now 50\n"
                             "two before backward 50->20 delta -30 now 50\n"
                             "three before backward 50->20 delta -30 now 50\n"
                             "one after backward 50->20 delta -30 now 20\n"
                             "two after backward 50->20 delta -30 now 20\n"
                             "three after backward 50->20 delta -30 now 20\n");
  tb_jump_handler_destroy(b);
  tb_jump_handler_destroy(a);
  tb_jump_handler_destroy(c);
  assert_ok(tb_clock_destroy(other));
}

/* ---- readers on other threads ---- */

typedef struct meeting {
  fixture_t *f;
  _Atomic int phase; /* 0 outside, 1 in "before", 2 in "after" */
  _Atomic bool go_on;
  _Atomic bool reader_done;
  int64_t read_ns;
  tb_status_t status;
} meeting_t;

static void hold(meeting_t *meeting, int phase)
{
  atomic_store(&meeting->phase, phase);
  while (!atomic_load(&meeting->go_on))
    sched_yield();
  atomic_store(&meeting->go_on, false);
}

static void hold_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  hold(user, 1);
}

static void hold_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  hold(user, 2);
}

static void *jump_back(void *argument)
{
  meeting_t *meeting = argument;
  meeting->status = tb_manual_source_set(meeting->f->source, 20 * S);
  atomic_store(&meeting->phase, 3);
  return NULL;
}

static void *read_now(void *argument)
{
  meeting_t *meeting = argument;
  tb_time_t now = {-1, 0};
  tb_clock_now(meeting->f->clock, &now);
  meeting->read_ns = now.ns;
  atomic_store(&meeting->reader_done, true);
  return NULL;
}

static void release_until(meeting_t *meeting, int next_phase)
{
  atomic_store(&meeting->go_on, true);
  while (atomic_load(&meeting->phase) != next_phase)
    sched_yield();
}

static void test_J3_J4_readers_block_during_backward_jump(void **state)
{
  fixture_t *f = *state;
  meeting_t meeting = {.f = f};
  tb_jump_handler_options_t options = {.threshold.min_backward.ns = -1,
                                       .before = hold_before,
                                       .after = hold_after,
                                       .user = &meeting};
  tb_jump_handler_t *handler;
  tb_time_t now;
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  pthread_t jumper, reader;
  pthread_create(&jumper, NULL, jump_back, &meeting);
  while (atomic_load(&meeting.phase) != 1)
    sched_yield();
  assert_status(tb_clock_try_now(f->clock, &now), TB_ERR_BUSY); /* J4 */
  (void)tb_clock_epoch(f->clock);                               /* J4: does not block */
  pthread_create(&reader, NULL, read_now, &meeting);
  release_until(&meeting, 2); /* committed, but the readers still wait for "after" */
  assert_status(tb_clock_try_now(f->clock, &now), TB_ERR_BUSY);
  assert_false(meeting.reader_done);
  release_until(&meeting, 3);
  pthread_join(reader, NULL);
  pthread_join(jumper, NULL);
  assert_int_equal(meeting.read_ns, 20 * S);
  assert_ok(meeting.status);
  assert_ok(tb_clock_try_now(f->clock, &now));
  tb_jump_handler_destroy(handler);
}

static void *tick_on(void *argument)
{
  meeting_t *meeting = argument;
  assert_ok(tb_manual_source_set(meeting->f->source, 21 * S));
  return NULL;
}

static void test_J3_ticks_during_a_jump_wait_for_its_end(void **state)
{
  fixture_t *f = *state;
  meeting_t meeting = {.f = f};
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .before = hold_before, .user = &meeting};
  tb_jump_handler_t *handler;
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  pthread_t jumper, ticker;
  pthread_create(&jumper, NULL, jump_back, &meeting);
  while (atomic_load(&meeting.phase) != 1)
    sched_yield();
  pthread_create(&ticker, NULL, tick_on, &meeting);
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  for (bool queued = false; !queued; sched_yield()) {
    tb__mutex_lock(&timeline->mutex);
    queued = timeline->turn_next - atomic_load(&timeline->turn_serving) == 2;
    tb__mutex_unlock(&timeline->mutex);
  }
  assert_status(tb_timeline_try_tick(timeline, 60 * S), TB_ERR_BUSY); /* X5: not out of order */
  release_until(&meeting, 3);
  pthread_join(ticker, NULL);
  pthread_join(jumper, NULL);
  tb_time_t now;
  assert_ok(tb_clock_now(f->clock, &now));
  assert_int_equal(now.ns, 21 * S);
  tb_jump_handler_destroy(handler);
}

static void *change_source(void *argument)
{
  meeting_t *meeting = argument;
  meeting->status = tb_clock_set_source(meeting->f->clock, NULL);
  atomic_store(&meeting->phase, 3);
  return NULL;
}

static void test_J3_a_clock_change_blocks_readers_of_that_clock_only(void **state)
{
  fixture_t *f = *state;
  meeting_t meeting = {.f = f};
  tb_clock_t *other;
  tb_clock_options_t clock_options = {TB_TIME_ROS, f->source};
  tb_jump_handler_options_t options = {.threshold.on_clock_change = true,
                                       .before = hold_before,
                                       .after = hold_after,
                                       .user = &meeting};
  tb_jump_handler_t *handler;
  tb_time_t now;
  assert_ok(tb_clock_create(&clock_options, &other));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  pthread_t changer, reader;
  pthread_create(&changer, NULL, change_source, &meeting);
  while (atomic_load(&meeting.phase) != 1)
    sched_yield();
  pthread_create(&reader, NULL, read_now, &meeting);
  assert_status(tb_clock_try_now(f->clock, &now), TB_ERR_BUSY);
  assert_ok(tb_clock_now(other, &now));
  assert_int_equal(now.ns, 50 * S);
  release_until(&meeting, 2);
  assert_status(tb_clock_try_now(f->clock, &now), TB_ERR_BUSY);
  assert_false(meeting.reader_done);
  release_until(&meeting, 3);
  pthread_join(changer, NULL);
  pthread_join(reader, NULL);
  assert_true(meeting.read_ns > 1000000 * S);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_destroy(other));
}

/* ---- what callbacks may do ---- */

typedef struct meddler {
  fixture_t *f;
  tb_jump_handler_t *victim, *added;
  probe_t *added_probe;
  tb_status_t set, change, sleep, destroy;
} meddler_t;

static void meddle(const tb_jump_t *jump, void *user)
{
  (void)jump;
  meddler_t *meddler = user;
  meddler->set = tb_manual_source_set(meddler->f->source, 1);
  meddler->change = tb_clock_set_source(meddler->f->clock, NULL);
  meddler->sleep = tb_clock_sleep_for(meddler->f->clock, (tb_duration_t){1}, NULL);
  meddler->destroy = tb_clock_destroy(meddler->f->clock);
  tb_jump_handler_destroy(meddler->victim);
  meddler->victim = NULL;
  if (!meddler->added) meddler->added = add(meddler->added_probe, 0, -1, false);
}

static void test_J5_callbacks_cannot_move_time_but_add_and_remove_handlers(void **state)
{
  fixture_t *f = *state;
  probe_t victim = {"victim", f->clock}, added = {"added", f->clock};
  meddler_t meddler = {.f = f, .added_probe = &added};
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .before = meddle, .user = &meddler};
  tb_jump_handler_t *handler;
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  meddler.victim = add(&victim, 0, -1, false);
  assert_ok(tb_manual_source_set(f->source, 20 * S));
  assert_status(meddler.set, TB_ERR_DEADLOCK);
  assert_status(meddler.change, TB_ERR_DEADLOCK);
  assert_status(meddler.sleep, TB_ERR_DEADLOCK);
  assert_status(meddler.destroy, TB_ERR_DEADLOCK);
  assert_string_equal(trace, ""); /* removed: no further call; added: waits for the next jump */
  assert_ok(tb_manual_source_set(f->source, 10 * S));
  assert_string_equal(trace, "added before backward 20->10 delta -10 now 20\n"
                             "added after backward 20->10 delta -10 now 10\n");
  tb_jump_handler_destroy(handler);
  tb_jump_handler_destroy(meddler.added);
}

static void remove_self(const tb_jump_t *jump, void *user)
{
  (void)jump;
  TRACE("self\n");
  tb_jump_handler_destroy(*(tb_jump_handler_t **)user);
}

static void test_J5_handler_may_remove_itself(void **state)
{
  fixture_t *f = *state;
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .threshold.min_backward.ns = -1, .before = remove_self, .after = on_after, .user = &handler};
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
  assert_ok(tb_manual_source_set(f->source, 20 * S));
  assert_ok(tb_manual_source_set(f->source, 10 * S));
  assert_string_equal(trace, "self\n");
}

typedef struct removal {
  tb_jump_handler_t *handler;
  _Atomic bool done;
} removal_t;

static void *remove_handler(void *argument)
{
  removal_t *removal = argument;
  tb_jump_handler_destroy(removal->handler);
  atomic_store(&removal->done, true);
  return NULL;
}

static void test_J6_removal_waits_for_the_jump_and_its_after(void **state)
{
  fixture_t *f = *state;
  meeting_t meeting = {.f = f};
  tb_jump_handler_options_t options = {.threshold.min_backward.ns = -1,
                                       .before = hold_before,
                                       .after = hold_after,
                                       .user = &meeting};
  removal_t removal = {0};
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_ok(tb_jump_handler_create(f->clock, &options, &removal.handler));
  pthread_t jumper, remover;
  pthread_create(&jumper, NULL, jump_back, &meeting);
  while (atomic_load(&meeting.phase) != 1)
    sched_yield();
  pthread_create(&remover, NULL, remove_handler, &removal);
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  for (bool leaving = false; !leaving; sched_yield()) {
    tb__mutex_lock(&timeline->mutex);
    leaving = removal.handler->leaving;
    tb__mutex_unlock(&timeline->mutex);
  }
  release_until(&meeting, 2); /* "after" is called although its removal was asked for */
  assert_false(removal.done);
  release_until(&meeting, 3);
  pthread_join(jumper, NULL);
  pthread_join(remover, NULL);
  assert_true(removal.done);
}

static void test_J3_handlers_follow_their_clock_to_another_source(void **state)
{
  fixture_t *f = *state;
  tb_source_t *other;
  probe_t probe = {"probe", f->clock};
  assert_ok(tb_manual_source_create(&other));
  assert_ok(tb_manual_source_set(other, 70 * S));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  tb_jump_handler_t *handler = add(&probe, 0, -1, false);
  assert_ok(tb_clock_set_source(f->clock, other));
  assert_ok(tb_manual_source_set(other, 60 * S));
  assert_string_equal(trace, "probe before backward 70->60 delta -10 now 70\n"
                             "probe after backward 70->60 delta -10 now 60\n");
  tb_jump_handler_destroy(handler);
  assert_ok(tb_source_destroy(other));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_J1_thresholds_are_inclusive_and_kinds_do_not_mix),
      WITH_CLOCK(test_C2_a_reset_is_a_backward_jump_for_its_handlers),
      WITH_CLOCK(test_J1_wrong_signs_are_refused),
      WITH_CLOCK(test_J2_first_tick_is_started_and_has_no_time_before),
      WITH_CLOCK(test_J2_clock_change_has_both_times_reason_and_epoch),
      WITH_CLOCK(test_J2_activation_before_the_first_tick_has_no_time_after),
      WITH_CLOCK(test_J3_all_before_then_all_after_in_order_of_registration),
      WITH_CLOCK(test_J3_J4_readers_block_during_backward_jump),
      WITH_CLOCK(test_J3_ticks_during_a_jump_wait_for_its_end),
      WITH_CLOCK(test_J3_a_clock_change_blocks_readers_of_that_clock_only),
      WITH_CLOCK(test_J5_callbacks_cannot_move_time_but_add_and_remove_handlers),
      WITH_CLOCK(test_J5_handler_may_remove_itself),
      WITH_CLOCK(test_J6_removal_waits_for_the_jump_and_its_after),
      WITH_CLOCK(test_J3_handlers_follow_their_clock_to_another_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

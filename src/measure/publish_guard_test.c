/* Guards before publishing, on a manual source. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <timebase/publish_guard.h>
#include <timebase/testing.h>

#include "on_manual_source.h"
#include "waiting.h"

typedef struct guarded {
  fixture_t *f;
  tb_publish_guard_t *guard;
  tb_jump_handler_t *handler;
  _Atomic bool entered, may_return;
  tb_status_t in_before, in_after, wait_in_after;
} guarded_t;

static guarded_t guarded_of(void **state)
{
  guarded_t guarded = {.f = *state};
  assert_ok(tb_publish_guard_create(guarded.f->clock, &guarded.guard));
  return guarded;
}

static tb_publish_guard_stats_t stats_of(const guarded_t *guarded)
{
  tb_publish_guard_stats_t stats;
  assert_ok(tb_publish_guard_stats(guarded->guard, &stats));
  return stats;
}

static void test_nothing_passes_before_the_first_tick(void **state)
{
  guarded_t guarded = guarded_of(state);
  tb_clock_reading_t reading = {.epoch = 77};
  assert_status(tb_publish_guard_check(guarded.guard, &reading), TB_ERR_NOT_SET);
  assert_int_equal(reading.epoch, 77);
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  assert_ok(tb_publish_guard_check(guarded.guard, &reading));
  assert_int_equal(reading.time.ns, 5 * S);
  assert_int_equal(reading.epoch, tb_clock_epoch(guarded.f->clock));
  assert_ok(tb_manual_source_set(guarded.f->source, 0)); /* "not started" again */
  assert_status(tb_publish_guard_check(guarded.guard, NULL), TB_ERR_NOT_SET);
  assert_int_equal(stats_of(&guarded).passed, 1);
  assert_int_equal(stats_of(&guarded).refused_not_set, 2);
  tb_publish_guard_destroy(guarded.guard);
}

static void test_a_clock_without_a_source_passes_everything(void **state)
{
  guarded_t guarded = guarded_of(state);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_set_source(guarded.f->clock, NULL));
  assert_ok(tb_publish_guard_check(guarded.guard, &reading));
  assert_int_equal(reading.state, TB_CLOCK_INACTIVE);
  assert_ok(tb_publish_guard_wait(guarded.guard, NULL, NULL));
  tb_publish_guard_destroy(guarded.guard);
}

typedef struct held_back {
  tb_publish_guard_t *guard;
  tb_wait_options_t options;
  tb_status_t status;
  pthread_t thread;
} held_back_t;

static void *wait_for_default(void *argument)
{
  held_back_t *self = argument;
  self->status = tb_publish_guard_wait(self->guard, &self->options, NULL);
  return NULL;
}

static void hold_back_begin(held_back_t *self, const guarded_t *guarded)
{
  self->guard = guarded->guard;
  assert_int_equal(pthread_create(&self->thread, NULL, wait_for_default, self), 0);
  wait_for_waiters(guarded->f->clock, 1);
}

/* It shall have a source, and system time is not the time that is meant. */
static void test_a_clock_whose_default_is_not_there_passes_nothing(void **state)
{
  guarded_t guarded = guarded_of(state);
  const tb_wait_options_t look_once = {.limit = TB_NO_WAIT};
  tb_clock_reading_t reading;
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  assert_ok(tb_clock_set_source(guarded.f->clock, TB_SOURCE_DEFAULT));
  assert_ok(tb_clock_read(guarded.f->clock, &reading));
  assert_int_equal(reading.state, TB_CLOCK_NO_SOURCE);
  assert_status(tb_publish_guard_check(guarded.guard, NULL), TB_ERR_NOT_SET);
  assert_status(tb_publish_guard_wait(guarded.guard, &look_once, NULL), TB_ERR_TIMEOUT);
  held_back_t plain = {0};
  hold_back_begin(&plain, &guarded);
  assert_ok(tb_source_set_default(guarded.f->source));
  pthread_join(plain.thread, NULL);
  assert_ok(plain.status);
  assert_int_equal(stats_of(&guarded).refused_not_set, 1);
  assert_ok(tb_source_set_default(NULL));
  held_back_t flagged = {.options.flags = TB_WAIT_FAIL_ON_CLOCK_CHANGE};
  hold_back_begin(&flagged, &guarded);
  assert_ok(tb_clock_set_source(guarded.f->clock, NULL));
  pthread_join(flagged.thread, NULL);
  assert_status(flagged.status, TB_ERR_CLOCK_CHANGED);
  tb_publish_guard_destroy(guarded.guard);
}

/* ---- jumps ---- */

static void in_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  guarded_t *guarded = user;
  guarded->in_before = tb_publish_guard_check(guarded->guard, NULL);
  guarded->entered = true;
  while (!guarded->may_return)
    sched_yield();
}

static void in_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  guarded_t *guarded = user;
  guarded->in_after = tb_publish_guard_check(guarded->guard, NULL);
  guarded->wait_in_after = tb_publish_guard_wait(guarded->guard, NULL, NULL);
}

static void handle_jumps(guarded_t *guarded)
{
  const tb_jump_handler_options_t options = {
      .threshold = {.min_forward = {1}, .min_backward = {-1}},
      .before = in_before,
      .after = in_after,
      .user = guarded};
  assert_ok(tb_jump_handler_create(guarded->f->clock, &options, &guarded->handler));
}

static void *jump_back(void *source)
{
  assert_ok(tb_manual_source_set(source, S));
  return NULL;
}

static void *wait_to_publish(void *user)
{
  guarded_t *guarded = user;
  tb_clock_reading_t reading;
  assert_ok(tb_publish_guard_wait(guarded->guard, NULL, &reading));
  assert_int_equal(reading.time.ns, S);
  return NULL;
}

static void test_nothing_passes_while_time_jumps_back(void **state)
{
  guarded_t guarded = guarded_of(state);
  pthread_t jumping, publishing;
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  handle_jumps(&guarded);
  assert_int_equal(pthread_create(&jumping, NULL, jump_back, guarded.f->source), 0);
  while (!guarded.entered)
    sched_yield();
  assert_status(tb_publish_guard_check(guarded.guard, NULL), TB_ERR_BUSY);
  const tb_wait_options_t at_once = {.limit = {1}};
  assert_status(tb_publish_guard_wait(guarded.guard, &at_once, NULL), TB_ERR_TIMEOUT);
  assert_int_equal(pthread_create(&publishing, NULL, wait_to_publish, &guarded), 0);
  guarded.may_return = true;
  pthread_join(jumping, NULL);
  pthread_join(publishing, NULL);
  assert_ok(tb_publish_guard_check(guarded.guard, NULL));
  assert_int_equal(guarded.in_before, TB_ERR_BUSY); /* its own handlers are not done either */
  assert_int_equal(guarded.in_after, TB_ERR_BUSY);
  assert_int_equal(guarded.wait_in_after, TB_ERR_DEADLOCK);
  assert_int_equal(stats_of(&guarded).refused_jump, 3);
  tb_jump_handler_destroy(guarded.handler);
  tb_publish_guard_destroy(guarded.guard);
}

static void test_a_step_forward_stops_nothing(void **state)
{
  guarded_t guarded = guarded_of(state);
  guarded.may_return = true;
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  handle_jumps(&guarded);
  assert_ok(tb_manual_source_set(guarded.f->source, 9 * S));
  assert_true(guarded.entered);
  assert_ok(guarded.in_before);
  assert_ok(guarded.in_after);
  tb_jump_handler_destroy(guarded.handler);
  tb_publish_guard_destroy(guarded.guard);
}

/* ---- waiting ---- */

typedef struct held {
  guarded_t *guarded;
  tb_wait_options_t options;
  tb_status_t status;
  tb_clock_reading_t reading;
  pthread_t thread;
} held_t;

static void *hold_back(void *user)
{
  held_t *held = user;
  held->status = tb_publish_guard_wait(held->guarded->guard, &held->options, &held->reading);
  return NULL;
}

static void begin(held_t *held)
{
  assert_int_equal(pthread_create(&held->thread, NULL, hold_back, held), 0);
  wait_for_waiters(held->guarded->f->clock, 1);
}

static void test_a_wait_ends_with_the_first_tick(void **state)
{
  guarded_t guarded = guarded_of(state);
  held_t held = {.guarded = &guarded};
  begin(&held);
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  pthread_join(held.thread, NULL);
  assert_ok(held.status);
  assert_int_equal(held.reading.time.ns, 5 * S);
  assert_int_equal(stats_of(&guarded).held, 1);
  assert_int_equal(stats_of(&guarded).passed, 1);
  assert_ok(tb_publish_guard_wait(guarded.guard, NULL, NULL)); /* at once */
  assert_int_equal(stats_of(&guarded).held, 1);
  tb_publish_guard_destroy(guarded.guard);
}

static void test_limit_and_token_end_a_wait(void **state)
{
  guarded_t guarded = guarded_of(state);
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  const tb_wait_options_t once = {.limit = TB_NO_WAIT}, wrong = {.limit = {-5}};
  assert_status(tb_publish_guard_wait(guarded.guard, &once, NULL), TB_ERR_TIMEOUT);
  assert_status(tb_publish_guard_wait(guarded.guard, &wrong, NULL), TB_ERR_INVALID);
  held_t held = {.guarded = &guarded, .options = {.token = token}};
  begin(&held);
  tb_cancel_token_cancel(token);
  pthread_join(held.thread, NULL);
  assert_int_equal(held.status, TB_ERR_CANCELLED);
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  assert_status(tb_publish_guard_wait(guarded.guard, &held.options, NULL), TB_ERR_CANCELLED);
  assert_ok(tb_publish_guard_wait(guarded.guard, &once, NULL));
  assert_ok(tb_cancel_token_destroy(token));
  tb_publish_guard_destroy(guarded.guard);
}

static void test_a_hold_is_measured_in_steady_time(void **state)
{
  guarded_t guarded = guarded_of(state);
  held_t held = {.guarded = &guarded};
  assert_ok(tb_testing_hold_os_time());
  begin(&held);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){3 * S}));
  assert_ok(tb_manual_source_set(guarded.f->source, 5 * S));
  pthread_join(held.thread, NULL);
  assert_ok(tb_testing_release_os_time());
  assert_int_equal(stats_of(&guarded).longest_hold.ns, 3 * S);
  tb_publish_guard_destroy(guarded.guard);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_nothing_passes_before_the_first_tick),
      WITH_CLOCK(test_a_clock_without_a_source_passes_everything),
      WITH_CLOCK(test_a_clock_whose_default_is_not_there_passes_nothing),
      WITH_CLOCK(test_nothing_passes_while_time_jumps_back),
      WITH_CLOCK(test_a_step_forward_stops_nothing),
      WITH_CLOCK(test_a_wait_ends_with_the_first_tick),
      WITH_CLOCK(test_limit_and_token_end_a_wait),
      WITH_CLOCK(test_a_hold_is_measured_in_steady_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

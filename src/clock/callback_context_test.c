/* What each public call that waits or changes something returns in each kind of callback. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <timebase/condition.h>
#include <timebase/extrapolating_source.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/rate.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>

#include "base/log.h"
#include "on_manual_source.h"
#include "waiting.h"

/* Where a call is made. */
typedef enum where {
  IN_JUMP,      /* a callback of a backward jump of `moved` */
  IN_CHANGE,    /* one of a change of the default, which `follower` follows */
  IN_STEP,      /* one of a step of system time */
  IN_TIMER,     /* a timer of `queue`, on `moved_clock` */
  IN_BUSY_HOOK, /* the log hook, while another thread is in a jump of `moved` */
  IN_HOOK,      /* the log hook, without a jump */
  WHERES,
} where_t;

static const char *const where_names[WHERES] = {"jump",  "change",    "step",
                                                "timer", "busy hook", "hook"};

static struct {
  tb_source_t *moved, *idle, *stopped; /* the last has no clock and does not run */
  tb_clock_t *moved_clock, *idle_clock, *follower, *system;
  tb_steady_clock_t *steady;
  tb_timer_queue_t *queue, *other_queue;
  tb_timer_t *timer, *idle_timer, *moved_timer;
  tb_cond_t *cond;
  tb_steady_cond_t *steady_cond;
  tb_cancel_token_t *cancelled;
  tb_rate_t *rate;
  tb_jump_handler_t *stuck;
  pthread_mutex_t mutex;
  tb_status_t got[2]; /* in "before" and "after", or twice the same */
} s = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- objects that a call could not destroy ---- */

#define KEPT_MAX 32

typedef struct kept {
  void *objects[KEPT_MAX];
  int count;
} kept_t;

static kept_t kept_clocks, kept_steady_clocks, kept_sources, kept_queues, kept_conds,
    kept_steady_conds, kept_tokens;

static tb_status_t keep_unless(tb_status_t status, kept_t *kept, void *object)
{
  if (status) {
    assert_true(kept->count < KEPT_MAX);
    kept->objects[kept->count++] = object;
  }
  return status;
}

#define DESTROY_KEPT(kept, destroy)                                                                \
  while ((kept).count)                                                                             \
  assert_ok(destroy((kept).objects[--(kept).count]))

static void destroy_all_kept(void)
{
  DESTROY_KEPT(kept_conds, tb_cond_destroy);
  DESTROY_KEPT(kept_steady_conds, tb_steady_cond_destroy);
  DESTROY_KEPT(kept_tokens, tb_cancel_token_destroy);
  DESTROY_KEPT(kept_queues, tb_timer_queue_destroy);
  DESTROY_KEPT(kept_clocks, tb_clock_destroy);
  DESTROY_KEPT(kept_steady_clocks, tb_steady_clock_destroy);
  DESTROY_KEPT(kept_sources, tb_source_destroy);
}

/* ---- the calls ---- */

#define LONG ((tb_duration_t){3600 * S}) /* of held steady time: it never passes */

static const tb_jump_threshold_t any_jump = {{0}, {-1}, true};

static void on_jump_nothing(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
}

static tb_clock_t *new_clock(tb_source_t *source)
{
  tb_clock_options_t options = {TB_TIME_ROS, source};
  tb_clock_t *clock;
  assert_ok(tb_clock_create(&options, &clock));
  return clock;
}

static tb_status_t call_set_source(void)
{
  return tb_clock_set_source(s.idle_clock, s.idle);
}

static tb_status_t call_set_source_within(void)
{
  return tb_clock_set_source_within(s.idle_clock, s.idle, LONG);
}

static tb_status_t call_set_default(void)
{
  return tb_source_set_default(s.idle);
}

static tb_status_t call_clock_destroy(void)
{
  tb_clock_t *clock = new_clock(s.idle);
  return keep_unless(tb_clock_destroy(clock), &kept_clocks, clock);
}

static tb_status_t call_clock_destroy_within(void)
{
  tb_clock_t *clock = new_clock(TB_SOURCE_DEFAULT);
  return keep_unless(tb_clock_destroy_within(clock, LONG), &kept_clocks, clock);
}

static tb_status_t call_clock_create_stopped(void)
{
  tb_clock_options_t options = {TB_TIME_ROS, s.stopped};
  tb_clock_t *clock;
  tb_status_t status = tb_clock_create(&options, &clock);
  return status ? status : tb_clock_destroy(clock);
}

static tb_status_t call_steady_clock_destroy(void)
{
  tb_steady_clock_t *clock;
  assert_ok(tb_steady_clock_create(&clock));
  return keep_unless(tb_steady_clock_destroy(clock), &kept_steady_clocks, clock);
}

static tb_source_t *new_source(void)
{
  tb_source_t *source;
  assert_ok(tb_manual_source_create(&source));
  return source;
}

static tb_status_t call_source_destroy(void)
{
  tb_source_t *source = new_source();
  return keep_unless(tb_source_destroy(source), &kept_sources, source);
}

static tb_status_t call_source_destroy_within(void)
{
  tb_source_t *source = new_source();
  return keep_unless(tb_source_destroy_within(source, LONG), &kept_sources, source);
}

static tb_status_t call_extrapolating_create(void)
{
  tb_source_t *inner = new_source(), *source;
  tb_status_t status = tb_extrapolating_source_create(inner, NULL, &source);
  if (status) return keep_unless(status, &kept_sources, inner);
  return keep_unless(tb_source_destroy(source), &kept_sources, source);
}

static tb_status_t call_tick(void)
{
  return tb_timeline_tick(tb_source_timeline(s.idle), 100 * S, TB_JUMP_REASON_NONE);
}

static tb_status_t call_tick_moved(void)
{
  return tb_timeline_tick(tb_source_timeline(s.moved), 50 * S, TB_JUMP_REASON_NONE);
}

static tb_status_t call_try_tick(void)
{
  return tb_timeline_try_tick(tb_source_timeline(s.idle), 100 * S);
}

static tb_status_t call_try_tick_moved(void)
{
  return tb_timeline_try_tick(tb_source_timeline(s.moved), 60 * S);
}

static tb_status_t anchor(tb_source_t *source, int64_t time_ns)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  return tb_timeline_anchor(tb_source_timeline(source), &anchor, TB_JUMP_REASON_NONE);
}

static tb_status_t call_anchor(void)
{
  return anchor(s.idle, 100 * S);
}

static tb_status_t call_anchor_moved(void)
{
  return anchor(s.moved, 50 * S);
}

static tb_status_t call_manual_set(void)
{
  return tb_manual_source_set(s.idle, 100 * S);
}

static tb_status_t call_manual_jump(void)
{
  return tb_manual_source_jump(s.idle, 100 * S, TB_JUMP_REASON_SEEK);
}

static tb_status_t call_manual_advance(void)
{
  return tb_manual_source_advance(s.idle, (tb_duration_t){0});
}

static tb_status_t call_manual_stepped(void)
{
  return tb_manual_source_advance_stepped(s.idle, (tb_duration_t){0}, 1);
}

static tb_status_t call_manual_next(void)
{
  tb_status_t status = tb_timer_start(s.idle_timer); /* a deadline to go to */
  return status ? status : tb_manual_source_advance_to_next(s.idle);
}

static tb_status_t call_set_and_run(void)
{
  return tb_manual_source_set_and_run(s.idle, 100 * S, NULL);
}

static tb_status_t call_set_and_run_moved(void)
{
  return tb_manual_source_set_and_run(s.moved, 50 * S, NULL);
}

static tb_status_t call_jump_and_run(void)
{
  return tb_manual_source_jump_and_run(s.idle, 100 * S, TB_JUMP_REASON_SEEK, NULL);
}

static tb_status_t call_advance_and_run(void)
{
  return tb_manual_source_advance_and_run(s.idle, (tb_duration_t){0}, NULL);
}

static tb_status_t call_stepped_and_run(void)
{
  return tb_manual_source_advance_stepped_and_run(s.idle, (tb_duration_t){0}, 1, NULL);
}

static tb_status_t call_next_and_run(void)
{
  tb_timer_start(s.idle_timer);
  return tb_manual_source_advance_to_next_and_run(s.idle, NULL);
}

static tb_status_t call_wait_for_sleepers(void)
{
  return tb_manual_source_wait_for_sleepers(s.idle, 0, NULL);
}

static tb_status_t call_hold(void)
{
  tb_status_t status = tb_testing_hold_os_time();
  return status == TB_ERR_BUSY ? TB_OK : status; /* it is held */
}

static tb_status_t call_release(void)
{
  tb_status_t status = tb_testing_release_os_time();
  return status ? status : tb_testing_hold_os_time();
}

static int64_t held(tb_testing_clock_t which)
{
  int64_t ns;
  assert_ok(tb_testing_now(which, &ns));
  return ns;
}

static tb_status_t call_testing_set(void)
{
  return tb_testing_set(TB_TESTING_SYSTEM, held(TB_TESTING_SYSTEM));
}

static tb_status_t call_testing_advance(void)
{
  return tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){0});
}

static tb_status_t call_testing_stepped(void)
{
  return tb_testing_advance_stepped(TB_TESTING_SYSTEM, (tb_duration_t){0}, 1);
}

static tb_status_t call_testing_set_and_run(void)
{
  return tb_testing_set_and_run(TB_TESTING_SYSTEM, held(TB_TESTING_SYSTEM), NULL);
}

static tb_status_t call_testing_advance_and_run(void)
{
  return tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){0}, NULL);
}

static tb_status_t call_testing_stepped_and_run(void)
{
  return tb_testing_advance_stepped_and_run(TB_TESTING_STEADY, (tb_duration_t){0}, 1, NULL);
}

static tb_status_t call_testing_sleepers(void)
{
  return tb_testing_wait_for_sleepers(0, NULL);
}

static tb_status_t call_sleep_until(void)
{
  return tb_clock_sleep_until(s.idle_clock, (tb_time_t){1, TB_TIME_ROS}, NULL);
}

static tb_status_t call_sleep_until_moved(void)
{
  return tb_clock_sleep_until(s.moved_clock, (tb_time_t){1, TB_TIME_ROS}, NULL);
}

static tb_status_t call_sleep_for_nothing(void)
{
  return tb_clock_sleep_for(s.idle_clock, (tb_duration_t){0}, NULL);
}

static tb_status_t call_sleep_system(void)
{
  return tb_clock_sleep_until(s.system, (tb_time_t){1, TB_TIME_SYSTEM}, NULL);
}

static tb_status_t call_sleep_steady(void)
{
  return tb_steady_clock_sleep_until(s.steady, (tb_steady_time_t){1}, NULL);
}

static tb_status_t call_wait_until_started(void)
{
  return tb_clock_wait_until_started(s.idle_clock, NULL);
}

static tb_status_t call_cond_wait(void)
{
  pthread_mutex_lock(&s.mutex);
  tb_status_t status =
      tb_cond_wait_until(s.cond, &s.mutex, (tb_time_t){1, TB_TIME_ROS}, NULL, NULL);
  pthread_mutex_unlock(&s.mutex);
  return status;
}

static tb_status_t call_cond_wait_for(void)
{
  pthread_mutex_lock(&s.mutex);
  tb_status_t status = tb_cond_wait_for(s.cond, &s.mutex, (tb_duration_t){0}, NULL, NULL);
  pthread_mutex_unlock(&s.mutex);
  return status;
}

static tb_status_t call_steady_cond_wait(void)
{
  pthread_mutex_lock(&s.mutex);
  tb_status_t status =
      tb_steady_cond_wait_until(s.steady_cond, &s.mutex, (tb_steady_time_t){1}, NULL, NULL);
  pthread_mutex_unlock(&s.mutex);
  return status;
}

static tb_status_t call_cond_destroy(void)
{
  tb_cond_t *cond;
  assert_ok(tb_cond_create(s.moved_clock, &cond));
  return keep_unless(tb_cond_destroy(cond), &kept_conds, cond);
}

static tb_status_t call_cond_destroy_within(void)
{
  tb_cond_t *cond;
  assert_ok(tb_cond_create(s.idle_clock, &cond));
  return keep_unless(tb_cond_destroy_within(cond, LONG), &kept_conds, cond);
}

static tb_status_t call_steady_cond_destroy(void)
{
  tb_steady_cond_t *cond;
  assert_ok(tb_steady_cond_create(s.steady, &cond));
  return keep_unless(tb_steady_cond_destroy(cond), &kept_steady_conds, cond);
}

static tb_status_t call_token_destroy(void)
{
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  return keep_unless(tb_cancel_token_destroy(token), &kept_tokens, token);
}

static tb_status_t call_token_destroy_within(void)
{
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  return keep_unless(tb_cancel_token_destroy_within(token, LONG), &kept_tokens, token);
}

static tb_status_t create_rate(tb_clock_t *clock)
{
  tb_rate_t *rate;
  tb_status_t status = tb_clock_rate_create(clock, LONG, &rate);
  if (!status) tb_rate_destroy(rate);
  return status;
}

static tb_status_t call_rate_create_moved(void)
{
  return create_rate(s.moved_clock);
}

static tb_status_t call_rate_sleep(void)
{
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.token = s.cancelled;
  tb_status_t status = tb_rate_sleep(s.rate, &options, NULL);
  return status == TB_ERR_CANCELLED ? TB_OK : status; /* it has waited */
}

static tb_status_t call_rate_reset(void)
{
  return tb_rate_reset(s.rate);
}

static tb_status_t call_run_due(void)
{
  return tb_timer_queue_run_due(s.queue, NULL);
}

static tb_status_t call_run_due_other(void)
{
  return tb_timer_queue_run_due(s.other_queue, NULL);
}

static tb_status_t call_queue_destroy(void)
{
  tb_timer_queue_t *queue;
  assert_ok(tb_timer_queue_create(&queue));
  return keep_unless(tb_timer_queue_destroy(queue), &kept_queues, queue);
}

static tb_status_t call_queue_destroy_within(void)
{
  tb_timer_queue_t *queue;
  assert_ok(tb_timer_queue_create(&queue));
  return keep_unless(tb_timer_queue_destroy_within(queue, LONG), &kept_queues, queue);
}

static tb_status_t call_stop_own_thread(void)
{
  return tb_timer_queue_stop_thread(s.queue, LONG);
}

static tb_status_t call_stop_thread(void)
{
  return tb_timer_queue_stop_thread(s.other_queue, LONG);
}

static tb_status_t call_timer_start(void)
{
  return tb_timer_start(s.idle_timer);
}

static tb_status_t call_timer_start_moved(void)
{
  return tb_timer_start(s.moved_timer);
}

static tb_status_t call_timer_stop(void)
{
  return tb_timer_stop(s.moved_timer);
}

static tb_status_t call_stop_wait(void)
{
  return tb_timer_stop_wait(s.idle_timer, LONG);
}

static tb_status_t call_stop_wait_own(void)
{
  return tb_timer_stop_wait(s.timer, LONG);
}

static tb_status_t call_handler(void)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold = any_jump;
  options.after = on_jump_nothing;
  tb_jump_handler_t *handler;
  tb_status_t status = tb_jump_handler_create(s.moved_clock, &options, &handler);
  return status ? status : tb_jump_handler_destroy_within(handler, LONG);
}

/* The one that the jump in progress is stuck in. */
static tb_status_t call_handler_destroy(void)
{
  tb_jump_handler_t *handler = s.stuck;
  s.stuck = NULL;
  return tb_jump_handler_destroy_within(handler, LONG);
}

static tb_status_t call_now(void)
{
  tb_time_t now;
  return tb_clock_now(s.idle_clock, &now);
}

static tb_status_t call_now_moved(void)
{
  tb_time_t now;
  return tb_clock_now(s.moved_clock, &now);
}

static tb_status_t call_read_moved(void)
{
  tb_clock_reading_t reading;
  return tb_clock_read(s.moved_clock, &reading);
}

static tb_status_t call_next_deadline_moved(void)
{
  tb_time_t when;
  tb_status_t status = tb_clock_timer_queue_next_deadline(s.queue, s.moved_clock, &when);
  return status == TB_ERR_NOT_FOUND ? TB_OK : status;
}

#define DL   TB_ERR_DEADLOCK
#define BUSY TB_ERR_BUSY
#define CALL(name)                                                                                 \
  {                                                                                                \
    call_##name, #name,                                                                            \
    /* clang-format off */
#define GIVES(jump, change, step, timer, busy_hook, hook) {jump, change, step, timer, busy_hook, hook}}
/* clang-format on */
/* Refused wherever a call must not wait for a jump. */
#define NOT_INSIDE GIVES(DL, DL, DL, 0, DL, DL)
/* Refused in jump callbacks alone. */
#define NOT_IN_JUMPS GIVES(DL, DL, DL, 0, 0, 0)
#define ANYWHERE     GIVES(0, 0, 0, 0, 0, 0)
/* Checks `moved`. */
#define WAITS_FOR_JUMP GIVES(0, 0, 0, 0, BUSY, 0)

static const struct call {
  tb_status_t (*make)(void);
  const char *name;
  tb_status_t gives[WHERES];
} calls[] = {
    CALL(set_source) NOT_INSIDE,
    CALL(set_source_within) NOT_INSIDE,
    CALL(set_default) NOT_INSIDE,
    CALL(clock_destroy) NOT_INSIDE,
    CALL(clock_destroy_within) NOT_INSIDE,
    CALL(clock_create_stopped) NOT_INSIDE,
    CALL(steady_clock_destroy) NOT_INSIDE,
    CALL(source_destroy) NOT_INSIDE,
    CALL(source_destroy_within) NOT_INSIDE,
    CALL(extrapolating_create) NOT_INSIDE,
    CALL(tick) NOT_IN_JUMPS,
    CALL(tick_moved) GIVES(DL, DL, DL, 0, DL, 0),
    CALL(try_tick) NOT_IN_JUMPS,
    CALL(try_tick_moved) GIVES(DL, DL, DL, 0, BUSY, 0),
    CALL(anchor) NOT_IN_JUMPS,
    CALL(anchor_moved) GIVES(DL, DL, DL, 0, DL, 0),
    CALL(manual_set) NOT_IN_JUMPS,
    CALL(manual_jump) NOT_IN_JUMPS,
    CALL(manual_advance) NOT_IN_JUMPS,
    CALL(manual_stepped) NOT_IN_JUMPS,
    CALL(manual_next) NOT_IN_JUMPS,
    CALL(set_and_run) NOT_INSIDE,
    CALL(set_and_run_moved) GIVES(DL, DL, DL, DL, DL, DL),
    CALL(jump_and_run) NOT_INSIDE,
    CALL(advance_and_run) NOT_INSIDE,
    CALL(stepped_and_run) NOT_INSIDE,
    CALL(next_and_run) NOT_INSIDE,
    CALL(wait_for_sleepers) NOT_INSIDE,
    CALL(hold) NOT_INSIDE,
    CALL(release) NOT_INSIDE,
    CALL(testing_set) NOT_INSIDE,
    CALL(testing_advance) NOT_INSIDE,
    CALL(testing_stepped) NOT_INSIDE,
    CALL(testing_set_and_run) NOT_INSIDE,
    CALL(testing_advance_and_run) NOT_INSIDE,
    CALL(testing_stepped_and_run) NOT_INSIDE,
    CALL(testing_sleepers) NOT_INSIDE,
    CALL(sleep_until) NOT_IN_JUMPS,
    CALL(sleep_until_moved) GIVES(DL, DL, DL, 0, BUSY, 0),
    CALL(sleep_for_nothing) NOT_IN_JUMPS,
    CALL(sleep_system) NOT_IN_JUMPS,
    CALL(sleep_steady) ANYWHERE,
    CALL(wait_until_started) NOT_IN_JUMPS,
    CALL(cond_wait) NOT_IN_JUMPS,
    CALL(cond_wait_for) NOT_IN_JUMPS,
    CALL(steady_cond_wait) ANYWHERE,
    CALL(cond_destroy) NOT_INSIDE,
    CALL(cond_destroy_within) NOT_INSIDE,
    CALL(steady_cond_destroy) NOT_INSIDE,
    CALL(token_destroy) NOT_INSIDE,
    CALL(token_destroy_within) NOT_INSIDE,
    CALL(rate_create_moved) WAITS_FOR_JUMP,
    CALL(rate_sleep) NOT_IN_JUMPS,
    CALL(rate_reset) ANYWHERE,
    CALL(run_due) GIVES(DL, DL, DL, DL, BUSY, 0),
    CALL(run_due_other) NOT_IN_JUMPS,
    CALL(queue_destroy) NOT_IN_JUMPS,
    CALL(queue_destroy_within) NOT_IN_JUMPS,
    CALL(stop_own_thread) GIVES(DL, DL, DL, DL, 0, 0),
    CALL(stop_thread) NOT_IN_JUMPS,
    CALL(timer_start) ANYWHERE,
    CALL(timer_start_moved) WAITS_FOR_JUMP,
    CALL(timer_stop) ANYWHERE,
    CALL(stop_wait) NOT_IN_JUMPS,
    CALL(stop_wait_own) GIVES(DL, DL, DL, DL, 0, 0),
    CALL(handler) ANYWHERE,
    CALL(handler_destroy) ANYWHERE,
    CALL(now) ANYWHERE,
    CALL(now_moved) WAITS_FOR_JUMP,
    CALL(read_moved) WAITS_FOR_JUMP,
    CALL(next_deadline_moved) WAITS_FOR_JUMP,
};

#define CALLS (sizeof calls / sizeof *calls)

/* ---- the places ---- */

static const struct call *current;
static bool hooked; /* the call is made in the hook */

static void before_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  if (current) s.got[0] = current->make();
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  if (current) s.got[1] = current->make();
}

static tb_jump_handler_t *call_in_jumps(tb_clock_t *clock)
{
  tb_jump_handler_options_t options = {NULL, any_jump, before_jump, after_jump, NULL};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

static void on_call_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)info, (void)user;
  s.got[0] = s.got[1] = current->make();
}

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)level, (void)message, (void)user;
  if (hooked) s.got[0] = s.got[1] = current->make();
}

typedef struct stuck {
  _Atomic bool inside, let_go;
} stuck_t;

static void stay(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stuck_t *stuck = user;
  atomic_store(&stuck->inside, true);
  while (!atomic_load(&stuck->let_go))
    sched_yield();
}

static void *jump_back(void *source)
{
  assert_ok(tb_manual_source_set(source, 40 * S));
  return NULL;
}

static void call_in_hook(void)
{
  hooked = true;
  tb__log(TB_LOG_INFO, "a place to call from");
  hooked = false;
}

static void call_in_busy_hook(void)
{
  stuck_t stuck = {0};
  tb_jump_handler_options_t options = {"stuck", any_jump, stay, NULL, &stuck};
  pthread_t thread;
  assert_ok(tb_jump_handler_create(s.moved_clock, &options, &s.stuck));
  pthread_create(&thread, NULL, jump_back, s.moved);
  while (!atomic_load(&stuck.inside))
    sched_yield();
  call_in_hook();
  atomic_store(&stuck.let_go, true);
  pthread_join(thread, NULL);
  tb_jump_handler_destroy(s.stuck);
  s.stuck = NULL;
}

static void call_in_timer(void)
{
  assert_ok(tb_timer_start(s.timer));
  assert_ok(tb_manual_source_advance(s.moved, (tb_duration_t){1}));
  uint32_t called;
  assert_ok(tb_timer_queue_run_due(s.queue, &called));
  assert_int_equal(called, 1);
}

static void make(where_t where)
{
  tb_jump_handler_t *handler = NULL;
  switch (where) {
  case IN_JUMP:
    handler = call_in_jumps(s.moved_clock);
    assert_ok(tb_manual_source_set(s.moved, 40 * S));
    break;
  case IN_CHANGE:
    handler = call_in_jumps(s.follower);
    assert_ok(tb_source_set_default(s.moved));
    break;
  case IN_STEP:
    handler = call_in_jumps(s.system);
    assert_ok(tb_testing_advance(TB_TESTING_SYSTEM, (tb_duration_t){-S}));
    break;
  case IN_TIMER:
    call_in_timer();
    break;
  case IN_BUSY_HOOK:
    call_in_busy_hook();
    break;
  default:
    call_in_hook();
  }
  current = NULL;
  tb_jump_handler_destroy(handler);
}

/* The initial state: `moved` at 50 s and `idle` at 100 s, where calls leave them. */
static void rest(void)
{
  assert_ok(tb_manual_source_set(s.moved, 50 * S));
  assert_ok(tb_manual_source_set(s.idle, 100 * S));
  assert_ok(tb_source_set_default(s.idle));
  tb_timer_stop(s.idle_timer);
  tb_timer_stop(s.moved_timer);
  tb_timer_stop(s.timer);
}

static tb_timer_t *new_timer(tb_timer_queue_t *queue, tb_clock_t *clock, tb_duration_t period,
                             tb_timer_callback_t callback)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.mode = TB_TIMER_ONE_SHOT;
  options.period = period;
  options.callback = callback;
  tb_timer_t *timer;
  assert_ok(tb_clock_timer_create(queue, clock, &options, &timer));
  return timer;
}

static void on_timer_nothing(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)info, (void)user;
}

static int setup_all(void **state)
{
  (void)state;
  tb_clock_options_t system = {TB_TIME_SYSTEM, NULL};
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_testing_hold_os_time());
  s.moved = new_source(), s.idle = new_source(), s.stopped = new_source();
  s.moved_clock = new_clock(s.moved), s.idle_clock = new_clock(s.idle);
  s.follower = new_clock(TB_SOURCE_DEFAULT);
  assert_ok(tb_clock_create(&system, &s.system));
  assert_ok(tb_steady_clock_create(&s.steady));
  assert_ok(tb_timer_queue_create(&s.queue));
  assert_ok(tb_timer_queue_create(&s.other_queue));
  s.timer = new_timer(s.queue, s.moved_clock, (tb_duration_t){1}, on_call_timer);
  s.moved_timer = new_timer(s.queue, s.moved_clock, LONG, on_timer_nothing);
  s.idle_timer = new_timer(s.other_queue, s.idle_clock, LONG, on_timer_nothing);
  rest();
  assert_ok(tb_cond_create(s.idle_clock, &s.cond));
  assert_ok(tb_steady_cond_create(s.steady, &s.steady_cond));
  assert_ok(tb_clock_rate_create(s.idle_clock, LONG, &s.rate));
  assert_ok(tb_cancel_token_create(&s.cancelled));
  tb_cancel_token_cancel(s.cancelled);
  return 0;
}

static int teardown_all(void **state)
{
  (void)state;
  destroy_all_kept();
  assert_ok(tb_source_set_default(NULL));
  tb_rate_destroy(s.rate);
  assert_ok(tb_cancel_token_destroy(s.cancelled));
  assert_ok(tb_cond_destroy(s.cond));
  assert_ok(tb_steady_cond_destroy(s.steady_cond));
  assert_ok(tb_timer_queue_destroy(s.queue));
  assert_ok(tb_timer_queue_destroy(s.other_queue));
  assert_ok(tb_clock_destroy(s.moved_clock));
  assert_ok(tb_clock_destroy(s.idle_clock));
  assert_ok(tb_clock_destroy(s.follower));
  assert_ok(tb_clock_destroy(s.system));
  assert_ok(tb_steady_clock_destroy(s.steady));
  assert_ok(tb_source_destroy(s.moved));
  assert_ok(tb_source_destroy(s.idle));
  assert_ok(tb_source_destroy(s.stopped));
  assert_ok(tb_testing_release_os_time());
  tb_log_set_hook(NULL, NULL);
  return 0;
}

static int check(const struct call *call, where_t where)
{
  int wrong = 0;
  rest();
  current = call;
  s.got[0] = s.got[1] = TB_ERR_INVALID;
  make(where);
  for (int i = 0; i < 2; i++) {
    if (s.got[i] == call->gives[where]) continue;
    print_error("%s in %s (%d): %s, expected %s\n", call->name, where_names[where], i,
                tb_status_name(s.got[i]), tb_status_name(call->gives[where]));
    wrong++;
  }
  return wrong;
}

static void test_J5_J7_what_every_call_returns_in_every_kind_of_callback(void **state)
{
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < CALLS; i++) {
    for (where_t where = 0; where < WHERES; where++)
      wrong += check(&calls[i], where);
    destroy_all_kept();
  }
  assert_int_equal(wrong, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_J5_J7_what_every_call_returns_in_every_kind_of_callback,
                                      setup_all, teardown_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

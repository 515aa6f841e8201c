#include "wait/clock_pacer.h"

#include <stdlib.h>
#include <timebase/jump.h>
#include <timebase/timeline.h>

#include "held/parking.h"
#include "platform/mutex.h"
#include "platform/time.h"
#include "wait/sleeper.h"

#define LARGE_STEP_NS (100 * TB_NS_PER_MS) /* smaller steps are not noted */

typedef struct clock_pacer {
  tb__pacer_t base; /* `waits` is written under the mutex */
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  tb__sleeper_t sleeper;        /* of the thread that waits */
  _Atomic int64_t last_step_ns; /* the last large step, or 0 */

  /* Guards what follows; held without waiting, so handlers may take it. */
  tb__mutex_t mutex;
  int64_t passed_ns; /* when the clock's time was since_ns */
  int64_t since_ns;
  bool stopped;           /* during a jump, or before there is a time */
  bool jumped;            /* ever */
  uint64_t jumps_forward; /* that the timeline has counted */
} clock_pacer_t;

static void pass_locked(clock_pacer_t *pacer, int64_t now_ns) TB_REQUIRES(pacer->mutex);
static void begin_locked(clock_pacer_t *pacer, int64_t now_ns) TB_REQUIRES(pacer->mutex);
static bool counts_jump_locked(clock_pacer_t *pacer) TB_REQUIRES(pacer->mutex);

static void pass_locked(clock_pacer_t *pacer, int64_t now_ns)
{
  if (pacer->stopped || now_ns <= pacer->since_ns) return;
  pacer->passed_ns += now_ns - pacer->since_ns;
  pacer->since_ns = now_ns;
}

static void begin_locked(clock_pacer_t *pacer, int64_t now_ns)
{
  pacer->since_ns = now_ns;
  pacer->stopped = now_ns == 0;
  atomic_store(&pacer->base.waits, pacer->stopped);
}

/* --- the pacer --- */

/* A reader that waited for a jump might hold a lock that a handler wants. */
static int64_t clock_now(tb__pacer_t *base)
{
  clock_pacer_t *pacer = (clock_pacer_t *)base;
  tb_time_t now;
  tb__mutex_lock(&pacer->mutex);
  if (!pacer->stopped && tb_clock_try_now(pacer->clock, &now) == TB_OK) pass_locked(pacer, now.ns);
  int64_t passed_ns = pacer->passed_ns;
  tb__mutex_unlock(&pacer->mutex);
  return passed_ns;
}

/* The time of the clock at which the deadline is reached. */
static tb__goal_t goal_of(clock_pacer_t *pacer, int64_t deadline_ns, int64_t *out_ns)
{
  tb__goal_t goal = TB__GOAL_UNTIL;
  int64_t until_ns = INT64_MAX;
  tb__mutex_lock(&pacer->mutex);
  int64_t left_ns = deadline_ns - pacer->passed_ns; /* neither is negative */
  bool never =
      deadline_ns == INT64_MAX || __builtin_add_overflow(pacer->since_ns, left_ns, &until_ns);
  if (never) goal = TB__GOAL_FOR;
  if (pacer->stopped) goal = TB__GOAL_START;
  tb__mutex_unlock(&pacer->mutex);
  *out_ns = never ? INT64_MAX : until_ns;
  return goal;
}

static int64_t clock_steady(tb__pacer_t *base)
{
  (void)base;
  return tb__steady_now_ns();
}

/* A wake-up either has changed `events` already, or marks the sleeper after it is set up. */
static void clock_wait(tb__pacer_t *base, uint32_t events, int64_t deadline_ns, int64_t limit_ns)
{
  static const tb_wait_options_t until_jump = {.flags = TB_WAIT_FAIL_ON_BACKWARD |
                                                        TB_WAIT_FAIL_ON_CLOCK_CHANGE};
  clock_pacer_t *pacer = (clock_pacer_t *)base;
  int64_t goal_ns;
  tb__goal_t goal = goal_of(pacer, deadline_ns, &goal_ns);
  tb_status_t status = tb__sleeper_init(&pacer->sleeper, pacer->clock, goal, goal_ns, &until_jump);
  if (events != tb__pacer_events(base)) return;
  pacer->sleeper.limit_ns = limit_ns;
  if (!status) status = tb__sleeper_run(&pacer->sleeper);
  tb__deadline_t limit = {TB__DEADLINE_STEADY, limit_ns};
  if (status == TB_ERR_CLOSED)
    tb__futex_wait(&base->events, events, limit_ns == INT64_MAX ? TB__NO_DEADLINE : limit);
}

static void clock_wake(tb__pacer_t *base)
{
  tb__sleeper_mark(&((clock_pacer_t *)base)->sleeper, TB__MARK_CANCELLED);
  tb__futex_wake_all(&base->events);
}

static int64_t clock_span(tb__pacer_t *base, int64_t steady_ns)
{
  clock_pacer_t *pacer = (clock_pacer_t *)base;
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb__clock_timeline(pacer->clock), &stats);
  double rate = stats.rate > 1 ? stats.rate : 1;
  if (rate > TB_ANCHOR_RATE_MAX) rate = TB_ANCHOR_RATE_MAX;
  return (int64_t)(rate * (double)steady_ns) + atomic_load(&pacer->last_step_ns);
}

/* --- jumps --- */

static void before_jump(const tb_jump_t *jump, void *user)
{
  clock_pacer_t *pacer = user;
  if (jump->kind == TB_JUMP_FORWARD) return;
  tb__mutex_lock(&pacer->mutex);
  pass_locked(pacer, jump->before.ns);
  pacer->stopped = true;
  tb__mutex_unlock(&pacer->mutex);
}

/* A thread that waits already is woken by the jump itself; one that is about to must compute its
 * goal again. */
static void interrupt_wait(clock_pacer_t *pacer)
{
  atomic_fetch_add(&pacer->base.events, 1);
  atomic_fetch_or(&pacer->sleeper.marks, TB__MARK_CANCELLED);
}

static bool counts_jump_locked(clock_pacer_t *pacer)
{
  tb_timeline_stats_t stats;
  tb_timeline_stats(tb__clock_timeline(pacer->clock), &stats);
  bool counts = stats.jumps_forward != pacer->jumps_forward;
  pacer->jumps_forward = stats.jumps_forward;
  return counts;
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  clock_pacer_t *pacer = user;
  tb__mutex_lock(&pacer->mutex);
  bool is_forward_jump = counts_jump_locked(pacer) || jump->reason == TB_JUMP_REASON_SYSTEM_STEPPED;
  bool is_large_step = jump->kind == TB_JUMP_FORWARD && !is_forward_jump;
  atomic_store(&pacer->last_step_ns, is_large_step ? jump->delta.ns : 0);
  if (jump->kind != TB_JUMP_FORWARD) {
    begin_locked(pacer, jump->after.ns);
    pacer->jumped = true;
  }
  tb__mutex_unlock(&pacer->mutex);
  if (jump->kind != TB_JUMP_FORWARD) interrupt_wait(pacer);
}

/* --- making --- */

static tb_status_t watch(clock_pacer_t *pacer)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = "pacer";
  options.threshold = (tb_jump_threshold_t){{LARGE_STEP_NS}, {-1}, true};
  options.before = before_jump;
  options.after = after_jump;
  options.user = pacer;
  return tb_jump_handler_create(pacer->clock, &options, &pacer->handler);
}

/* A jump that comes between the reading and the lock has set a later time. */
static tb_status_t start(clock_pacer_t *pacer)
{
  tb_time_t now;
  tb_status_t status = tb_clock_now(pacer->clock, &now);
  if (status) return status;
  tb__mutex_lock(&pacer->mutex);
  if (!pacer->jumped) begin_locked(pacer, now.ns);
  counts_jump_locked(pacer);
  tb__mutex_unlock(&pacer->mutex);
  return TB_OK;
}

tb_status_t tb__clock_pacer_create(tb_clock_t *clock, tb__pacer_t **out)
{
  clock_pacer_t *pacer = calloc(1, sizeof *pacer);
  if (!pacer) return TB_ERR_NO_MEMORY;
  tb__mutex_init(&pacer->mutex);
  pacer->base.now_ns = clock_now;
  pacer->base.steady_ns = clock_steady;
  pacer->base.wait = clock_wait;
  pacer->base.wake = clock_wake;
  pacer->base.span_ns = clock_span;
  pacer->clock = clock;
  pacer->passed_ns = TB__CLOCK_PACER_START;
  pacer->stopped = true;
  tb_status_t status = watch(pacer);
  if (!status) status = start(pacer);
  if (!status)
    *out = &pacer->base;
  else
    tb__clock_pacer_destroy(&pacer->base);
  return status;
}

void tb__clock_pacer_destroy(tb__pacer_t *base)
{
  clock_pacer_t *pacer = (clock_pacer_t *)base;
  if (!pacer) return;
  tb_jump_handler_destroy(pacer->handler);
  tb__mutex_fini(&pacer->mutex);
  free(pacer);
}

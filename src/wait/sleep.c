#include <timebase/sleep.h>

#include <stdatomic.h>

#include "clock/clock.h"
#include "platform/futex.h"
#include "platform/time.h"

typedef enum goal {
  GOAL_UNTIL, /* the clock tells `target_ns` */
  GOAL_FOR,   /* a duration has passed */
  GOAL_START, /* the clock has a time */
} goal_t;

enum {
  WORD_ASLEEP = 0,
  WORD_LOOK = 1, /* the clock moved: the deadline is another */
  WORD_DONE = 2, /* `result` holds, nobody else knows the sleeper any more */
};

typedef struct sleeper {
  tb__waiter_t waiter;
  goal_t goal;
  uint32_t flags;
  bool for_ever;         /* no deadline that can come */
  bool claimed;          /* unlinked; WORD_DONE follows. By the timeline's mutex */
  tb_status_t result;    /* once claimed */
  int64_t limit_ns;      /* steady; INT64_MAX: none */
  _Atomic uint32_t word; /* futex */
} sleeper_t;

static bool claim(tb__waiter_t *waiter, tb_status_t result)
{
  sleeper_t *sleeper = (sleeper_t *)waiter;
  tb__clock_remove_waiter_locked(waiter->clock, tb__clock_timeline(waiter->clock), waiter);
  sleeper->claimed = true;
  sleeper->result = result;
  return true;
}

static bool sleeper_due(tb__waiter_t *waiter)
{
  return claim(waiter, TB_OK);
}

static bool sleeper_jumped(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  const sleeper_t *sleeper = (const sleeper_t *)waiter;
  if (jump->kind == TB_JUMP_BACKWARD && (sleeper->flags & TB_WAIT_FAIL_ON_BACKWARD))
    return claim(waiter, TB_ERR_JUMP_BACKWARD);
  if (jump->kind == TB_JUMP_FORWARD && jump->delta.ns >= waiter->forward_min)
    return claim(waiter, TB_ERR_JUMP_FORWARD);
  return false;
}

static bool sleeper_closed(tb__waiter_t *waiter)
{
  return claim(waiter, TB_ERR_CLOSED);
}

static void sleeper_wake(tb__waiter_t *waiter)
{
  sleeper_t *sleeper = (sleeper_t *)waiter;
  atomic_store(&sleeper->word, WORD_DONE);
  tb__futex_wake_one(&sleeper->word); /* of an address that may be gone: at worst a stray wake-up */
}

/* When to look without being woken: at the limit, and at the deadline where it is on a clock of the
 * operating system, which wakes nobody. */
static tb__deadline_t alarm_for(const sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  tb__deadline_t limit = {TB__DEADLINE_STEADY, sleeper->limit_ns};
  if (sleeper->limit_ns == INT64_MAX) limit = TB__NO_DEADLINE;
  if (timeline->kind == TB__TIMELINE_ROS || sleeper->for_ever) return limit;
  int64_t deadline_ns = (int64_t)sleeper->waiter.deadline;
  if (sleeper->waiter.axis == TB__AXIS_ELAPSED || timeline->kind == TB__TIMELINE_STEADY) {
    int64_t earlier = deadline_ns < sleeper->limit_ns ? deadline_ns : sleeper->limit_ns;
    return (tb__deadline_t){TB__DEADLINE_STEADY, earlier};
  }
  if (limit.clock == TB__DEADLINE_NONE) return (tb__deadline_t){TB__DEADLINE_SYSTEM, deadline_ns};
  int64_t remaining_ns, due_ns;
  if (__builtin_sub_overflow(deadline_ns, tb__system_now_ns(), &remaining_ns) ||
      __builtin_add_overflow(tb__steady_now_ns(), remaining_ns, &due_ns) ||
      due_ns > sleeper->limit_ns)
    return limit;
  return (tb__deadline_t){TB__DEADLINE_STEADY, due_ns};
}

TB_NO_THREAD_ANALYSIS
static bool is_due_locked(const sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  if (sleeper->goal == GOAL_START) return tb__timeline_time_locked(timeline) != 0;
  if (sleeper->for_ever) return false;
  if (timeline->kind == TB__TIMELINE_ROS && timeline->time_ns == 0) return false;
  if (sleeper->waiter.axis == TB__AXIS_ELAPSED)
    return !tb__deadline_before(tb__timeline_elapsed_locked(timeline), sleeper->waiter.deadline);
  return tb__timeline_time_locked(timeline) >= (int64_t)sleeper->waiter.deadline;
}

TB_NO_THREAD_ANALYSIS
static bool sleeper_moved(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  (void)jump;
  sleeper_t *sleeper = (sleeper_t *)waiter;
  tb_timeline_t *timeline = tb__clock_timeline(waiter->clock);
  bool ends = (sleeper->flags & TB_WAIT_FAIL_ON_CLOCK_CHANGE) ||
              (sleeper->goal == GOAL_UNTIL && !(sleeper->flags & TB_SLEEP_KEEP_TIME));
  if (ends) return claim(waiter, TB_ERR_CLOCK_CHANGED);
  if (timeline->kind == TB__TIMELINE_ROS && !sleeper->for_ever)
    tb__waiter_queue_locked(timeline, waiter);
  atomic_store(&sleeper->word, WORD_LOOK);
  tb__futex_wake_one(&sleeper->word);
  return false;
}

static const tb__waiter_ops_t sleeper_ops = {
    .due = sleeper_due,
    .jumped = sleeper_jumped,
    .moved = sleeper_moved,
    .closed = sleeper_closed,
    .wake = sleeper_wake,
};

/* Sets the deadline from the moment at which the sleep begins. */
TB_NO_THREAD_ANALYSIS
static void begin_locked(sleeper_t *sleeper, const tb_timeline_t *timeline, int64_t goal_ns)
{
  tb__waiter_t *waiter = &sleeper->waiter;
  waiter->axis = TB__AXIS_TIME;
  if (sleeper->goal == GOAL_UNTIL) {
    waiter->deadline = goal_ns > 0 ? (uint64_t)goal_ns : 0;
    sleeper->for_ever = goal_ns == INT64_MAX;
  } else if (sleeper->goal == GOAL_FOR) {
    waiter->axis = TB__AXIS_ELAPSED;
    uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
    waiter->deadline = elapsed + (uint64_t)goal_ns;
    bool os = timeline->kind != TB__TIMELINE_ROS;
    sleeper->for_ever = goal_ns == INT64_MAX || (os && goal_ns > INT64_MAX - (int64_t)elapsed);
  }
}

TB_NO_THREAD_ANALYSIS
static void enlist_locked(tb_clock_t *clock, sleeper_t *sleeper, tb_timeline_t *timeline)
{
  tb__clock_add_waiter_locked(clock, &sleeper->waiter);
  if (timeline->kind == TB__TIMELINE_ROS && !sleeper->for_ever)
    tb__waiter_queue_locked(timeline, &sleeper->waiter);
  if (sleeper->flags & (TB_WAIT_FAIL_ON_BACKWARD | TB_WAIT_FAIL_ON_FORWARD))
    tb__waiter_watch_locked(timeline, &sleeper->waiter);
}

/* Looks after an alarm or a change. True when the sleep is over; else when to look again. */
TB_NO_THREAD_ANALYSIS
static bool look(tb_clock_t *clock, sleeper_t *sleeper, tb__deadline_t *out_alarm)
{
  tb_timeline_t *timeline = tb__clock_lock(clock);
  bool over = false;
  if (sleeper->claimed) { /* WORD_DONE is on its way, or there */
    uint32_t look_word = WORD_LOOK;
    atomic_compare_exchange_strong(&sleeper->word, &look_word, WORD_ASLEEP);
    *out_alarm = TB__NO_DEADLINE;
  } else {
    bool due = is_due_locked(sleeper, timeline);
    over = due || tb__steady_now_ns() >= sleeper->limit_ns;
    sleeper->result = due ? TB_OK : TB_ERR_TIMEOUT;
    atomic_store(&sleeper->word, WORD_ASLEEP);
    *out_alarm = alarm_for(sleeper, timeline);
    if (over) tb__clock_remove_waiter_locked(clock, timeline, &sleeper->waiter);
  }
  tb__clock_unlock(timeline);
  return over;
}

static void block(tb_clock_t *clock, sleeper_t *sleeper, tb__deadline_t alarm)
{
  for (;;) {
    bool woken = tb__futex_wait(&sleeper->word, WORD_ASLEEP, alarm);
    uint32_t word = atomic_load(&sleeper->word);
    if (word == WORD_DONE) return;
    if (woken && word == WORD_ASLEEP) continue;
    if (look(clock, sleeper, &alarm)) return;
  }
}

static tb_status_t options_apply(const tb_wait_options_t *options, sleeper_t *sleeper)
{
  sleeper->limit_ns = INT64_MAX;
  sleeper->waiter.forward_min = INT64_MAX;
  if (!options) return TB_OK;
  bool forward = options->flags & TB_WAIT_FAIL_ON_FORWARD;
  if (options->flags & ~(TB_WAIT_FAIL_ON_ANY | TB_SLEEP_KEEP_TIME) || options->limit.ns < 0 ||
      (forward && options->forward_min.ns <= 0))
    return TB_ERR_INVALID;
  sleeper->flags = options->flags;
  if (forward) sleeper->waiter.forward_min = options->forward_min.ns;
  if (options->limit.ns > 0 &&
      __builtin_add_overflow(tb__steady_now_ns(), options->limit.ns, &sleeper->limit_ns))
    sleeper->limit_ns = INT64_MAX;
  return TB_OK;
}

TB_NO_THREAD_ANALYSIS
static tb_status_t sleep_on(tb_clock_t *clock, goal_t goal, int64_t goal_ns,
                            const tb_wait_options_t *options)
{
  sleeper_t sleeper = {.waiter.ops = &sleeper_ops, .goal = goal};
  tb_status_t status = options_apply(options, &sleeper);
  if (status) return status;
  if (clock->kind && tb__jump_of_thread) return TB_ERR_DEADLOCK;
  if (goal == GOAL_FOR && goal_ns <= 0) return TB_OK;
  tb_timeline_t *timeline;
  tb__clock_enter(clock);
  status = tb__clock_lock_settled(clock, &timeline);
  if (!status) {
    begin_locked(&sleeper, timeline, goal_ns);
    bool waits = !clock->closed && !is_due_locked(&sleeper, timeline);
    if (clock->closed) sleeper.result = TB_ERR_CLOSED;
    if (waits) enlist_locked(clock, &sleeper, timeline);
    tb__deadline_t alarm = alarm_for(&sleeper, timeline);
    tb__clock_unlock(timeline);
    if (waits) block(clock, &sleeper, alarm);
    status = sleeper.result;
  }
  tb__clock_leave(clock);
  return status;
}

tb_status_t tb_clock_sleep_until(tb_clock_t *clock, tb_time_t target,
                                 const tb_wait_options_t *options)
{
  if (!clock) return TB_ERR_INVALID;
  if (target.kind != clock->kind) return TB_ERR_CLOCK_MISMATCH;
  if (target.kind == TB_TIME_ROS && target.ns == 0) return TB_ERR_NOT_SET;
  return sleep_on(clock, GOAL_UNTIL, target.ns, options);
}

tb_status_t tb_clock_sleep_for(tb_clock_t *clock, tb_duration_t duration,
                               const tb_wait_options_t *options)
{
  return clock ? sleep_on(clock, GOAL_FOR, duration.ns, options) : TB_ERR_INVALID;
}

tb_status_t tb_clock_wait_until_started(tb_clock_t *clock, const tb_wait_options_t *options)
{
  return clock ? sleep_on(clock, GOAL_START, 0, options) : TB_ERR_INVALID;
}

tb_status_t tb_steady_clock_sleep_until(tb_steady_clock_t *clock, tb_steady_time_t target,
                                        const tb_wait_options_t *options)
{
  return clock ? sleep_on(&clock->core, GOAL_UNTIL, target.ns, options) : TB_ERR_INVALID;
}

tb_status_t tb_steady_clock_sleep_for(tb_steady_clock_t *clock, tb_duration_t duration,
                                      const tb_wait_options_t *options)
{
  return clock ? sleep_on(&clock->core, GOAL_FOR, duration.ns, options) : TB_ERR_INVALID;
}

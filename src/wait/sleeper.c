#include "wait/sleeper.h"
#include "clock/callback_context.h"

#include <string.h>

#include "clock/jump_wait.h"
#include "clock/step.h"
#include "held/held_time.h"
#include "held/parking.h"
#include "platform/time.h"
#include "wait/cancel_token.h"
#include "wait/timer_queue.h"

enum {
  WORD_ASLEEP = 0,
  WORD_RECHECK = 1, /* the clock moved, so the deadline changed; or there is a mark */
  WORD_DONE = 2,    /* `result` is set, and only the token still refers to the sleeper */
};

static void queue_add_locked(tb__sleeper_t *sleeper)
{
  tb__sleeper_queue_t *queue = sleeper->queue;
  sleeper->queue_next = NULL;
  sleeper->queue_previous = queue->last;
  if (queue->last)
    queue->last->queue_next = sleeper;
  else
    queue->first = sleeper;
  queue->last = sleeper;
  sleeper->in_queue = true;
}

static void queue_remove_locked(tb__sleeper_t *sleeper)
{
  tb__sleeper_queue_t *queue = sleeper->queue;
  if (!queue || !sleeper->in_queue) return;
  if (sleeper->queue_previous)
    sleeper->queue_previous->queue_next = sleeper->queue_next;
  else
    queue->first = sleeper->queue_next;
  if (sleeper->queue_next)
    sleeper->queue_next->queue_previous = sleeper->queue_previous;
  else
    queue->last = sleeper->queue_previous;
  sleeper->in_queue = false;
}

/* Takes the sleeper off the lists of its clock and its condition. */
static void unlist_locked(tb__sleeper_t *sleeper)
{
  if (sleeper->enlisted) {
    tb_timeline_t *timeline;
    tb__clock_timeline_locked(sleeper->clock, &timeline);
    tb__clock_remove_waiter_locked(sleeper->clock, timeline, &sleeper->waiter);
    sleeper->counted_on->sleepers--;
  }
  sleeper->enlisted = false;
  queue_remove_locked(sleeper);
}

bool tb__sleeper_claim(tb__waiter_t *waiter, tb_status_t result)
{
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  unlist_locked(sleeper);
  sleeper->claimed = true;
  sleeper->result = result;
  if (result != TB_ERR_CLOSED) {
    tb_timeline_t *timeline;
    tb__clock_timeline_locked(sleeper->clock, &timeline);
    sleeper->inflight = tb__timeline_inflight_locked(timeline);
  }
  if (sleeper->inflight) tb__inflight_begin(sleeper->inflight);
  return true;
}

static bool sleeper_due(tb__waiter_t *waiter)
{
  return tb__sleeper_claim(waiter, TB_OK);
}

/* S9: the period counts from the current time of the timeline, which has just been set. */
static void repace_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
  sleeper->waiter.deadline = elapsed + (uint64_t)sleeper->goal_ns;
  sleeper->for_ever =
      timeline->kind != TB__TIMELINE_ROS && sleeper->goal_ns > INT64_MAX - (int64_t)elapsed;
  sleeper->repaced = true;
  sleeper->epoch = tb_clock_epoch(sleeper->clock);
}

static bool sleeper_jumped(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  /* S3 */
  if (jump->kind == TB_JUMP_BACKWARD && (sleeper->flags & TB_WAIT_FAIL_ON_BACKWARD))
    return tb__sleeper_claim(waiter, TB_ERR_JUMP_BACKWARD);
  if (jump->kind == TB_JUMP_FORWARD && jump->delta.ns >= waiter->forward_min)
    return tb__sleeper_claim(waiter, TB_ERR_JUMP_FORWARD);
  /* S2: a rate starts again from the new time */
  if (jump->kind == TB_JUMP_BACKWARD && sleeper->goal == TB__GOAL_PACE) {
    tb_timeline_t *timeline;
    tb__clock_timeline_locked(waiter->clock, &timeline);
    tb__waiter_unqueue_locked(timeline, waiter);
    repace_locked(sleeper, timeline);
    tb__waiter_queue_locked(timeline, waiter);
  }
  return false;
}

static bool sleeper_closed(tb__waiter_t *waiter)
{
  return tb__sleeper_claim(waiter, TB_ERR_CLOSED);
}

static bool notify(tb__sleeper_t *sleeper)
{
  _Atomic uint32_t *word = atomic_load(&sleeper->notify);
  if (!word) return false;
  atomic_fetch_add(word, 1);
  tb__futex_wake_all(word);
  return true;
}

void tb__sleeper_wake(tb__waiter_t *waiter)
{
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  notify(sleeper);
  atomic_store(&sleeper->word, WORD_DONE);
  tb__futex_wake_one(&sleeper->word); /* the memory may be gone: at worst a stray wake-up */
}

void tb__sleeper_poke(tb__sleeper_t *sleeper)
{
  if (notify(sleeper)) return;
  uint32_t expected = WORD_ASLEEP;
  if (atomic_compare_exchange_strong(&sleeper->word, &expected, WORD_RECHECK))
    tb__futex_wake_one(&sleeper->word);
}

/* A mark is set before the word, and the sleeper resets the word before it checks the marks. */
void tb__sleeper_mark(tb__sleeper_t *sleeper, uint32_t mark)
{
  atomic_fetch_or(&sleeper->marks, mark);
  tb__sleeper_poke(sleeper);
}

static tb__deadline_t limit_of(const tb__sleeper_t *sleeper)
{
  return tb__deadline_at(sleeper->limit_ns);
}

/* When to recheck without being woken: at the limit, and at the deadline if it is on a clock of the
 * operating system, which no tick moves. The kernel can wait either for a limit or for a system
 * time, and has no flags: sleepers that need more wait in steady time and watch for steps. */
static tb__deadline_t alarm_for(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  tb__deadline_t limit = limit_of(sleeper);
  sleeper->alarm_held = tb__time_is_held();
  sleeper->alarm_system_ns = INT64_MAX;
  if (sleeper->goal == TB__GOAL_STATE) return tb__state_alarm(sleeper, limit);
  if (timeline->kind == TB__TIMELINE_ROS || sleeper->for_ever) return limit;
  int64_t deadline_ns = (int64_t)sleeper->waiter.deadline;
  if (sleeper->waiter.axis == TB__AXIS_ELAPSED || timeline->kind == TB__TIMELINE_STEADY) {
    int64_t earlier = deadline_ns < sleeper->limit_ns ? deadline_ns : sleeper->limit_ns;
    return (tb__deadline_t){TB__DEADLINE_STEADY, earlier};
  }
  if (!sleeper->waiter.watching) return (tb__deadline_t){TB__DEADLINE_SYSTEM, deadline_ns};
  if (sleeper->alarm_held) {
    sleeper->alarm_system_ns = deadline_ns;
    return limit;
  }
  int64_t remaining_ns, due_ns;
  if (__builtin_sub_overflow(deadline_ns, tb__system_now_ns(), &remaining_ns) ||
      __builtin_add_overflow(tb__steady_now_ns(), remaining_ns, &due_ns) ||
      due_ns > sleeper->limit_ns)
    return limit;
  return (tb__deadline_t){TB__DEADLINE_STEADY, due_ns};
}

static bool is_due_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  if (sleeper->goal == TB__GOAL_STATE) return tb__state_is_reached_locked(sleeper, timeline);
  /* S6 */
  if (sleeper->goal == TB__GOAL_START) return tb__timeline_time_locked(timeline) != 0;
  if (sleeper->for_ever) return false;
  /* S4: not before the first tick */
  if (timeline->kind == TB__TIMELINE_ROS && timeline->time_ns == 0) return false;
  /* S1: never early */
  if (sleeper->waiter.axis == TB__AXIS_ELAPSED)
    return !tb__deadline_before(tb__timeline_elapsed_locked(timeline), sleeper->waiter.deadline);
  return tb__timeline_time_locked(timeline) >= (int64_t)sleeper->waiter.deadline;
}

/* A wait until a system time with a limit watches for steps too: see alarm_for. */
static bool wants_watch(const tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  if (sleeper->flags & (TB_WAIT_FAIL_ON_BACKWARD | TB_WAIT_FAIL_ON_FORWARD) ||
      sleeper->goal == TB__GOAL_PACE)
    return true;
  return timeline->kind == TB__TIMELINE_SYSTEM && sleeper->goal == TB__GOAL_UNTIL &&
         sleeper->limit_ns != INT64_MAX && !sleeper->for_ever;
}

static void watch_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  if (sleeper->goal == TB__GOAL_STATE) {
    tb__state_watch_locked(sleeper, timeline);
    return;
  }
  bool wanted = wants_watch(sleeper, timeline);
  if (wanted && !sleeper->waiter.watching) tb__waiter_watch_locked(timeline, &sleeper->waiter);
  if (!wanted) tb__waiter_unwatch_locked(timeline, &sleeper->waiter);
}

static bool sleeper_moved(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  (void)jump;
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  sleeper->counted_on->sleepers--;
  sleeper->counted_on = timeline;
  timeline->sleepers++;
  /* S2, S3: what a clock change does to a wait */
  bool ends = (sleeper->flags & TB_WAIT_FAIL_ON_CLOCK_CHANGE) ||
              (sleeper->goal == TB__GOAL_UNTIL && !(sleeper->flags & TB_SLEEP_KEEP_TIME));
  if (ends) return tb__sleeper_claim(waiter, TB_ERR_CLOCK_CHANGED);
  if (sleeper->goal == TB__GOAL_PACE) repace_locked(sleeper, timeline);
  if (timeline->kind != TB__TIMELINE_ROS && waiter->axis == TB__AXIS_ELAPSED &&
      (int64_t)waiter->deadline < 0) /* beyond the end of steady time */
    sleeper->for_ever = true;
  if (timeline->kind == TB__TIMELINE_ROS && !sleeper->for_ever)
    tb__waiter_queue_locked(timeline, waiter);
  watch_locked(sleeper, timeline);
  return false;
}

/* After a change of source or a step the alarm has changed, or the wait is over. */
static void sleeper_settled(tb__waiter_t *waiter)
{
  tb__sleeper_poke((tb__sleeper_t *)waiter);
}

static const tb__waiter_ops_t sleeper_ops = {
    .due = sleeper_due,
    .jumped = sleeper_jumped,
    .moved = sleeper_moved,
    .closed = sleeper_closed,
    .settled = sleeper_settled,
    .wake = tb__sleeper_wake,
};

/* S1, S2: sets the deadline at the moment at which the wait begins: in elapsed time for a relative
 * one, which a backward jump does not change, otherwise in time. */
static void set_deadline_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  tb__waiter_t *waiter = &sleeper->waiter;
  int64_t goal_ns = sleeper->goal_ns;
  bool os = timeline->kind != TB__TIMELINE_ROS;
  waiter->axis = TB__AXIS_TIME;
  if (sleeper->goal == TB__GOAL_UNTIL) {
    waiter->deadline = goal_ns > 0 ? (uint64_t)goal_ns : 0;
    sleeper->for_ever = os && goal_ns == INT64_MAX;
  } else if (sleeper->goal == TB__GOAL_FOR) {
    waiter->axis = TB__AXIS_ELAPSED;
    uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
    waiter->deadline = elapsed + (uint64_t)goal_ns;
    sleeper->for_ever = goal_ns == INT64_MAX || (os && goal_ns > INT64_MAX - (int64_t)elapsed);
  } else if (sleeper->goal == TB__GOAL_PACE) {
    waiter->axis = TB__AXIS_ELAPSED;
    sleeper->plan(sleeper, timeline);
    sleeper->for_ever = os && (int64_t)waiter->deadline < 0;
  } else if (sleeper->goal == TB__GOAL_STATE) {
    sleeper->for_ever = true;
  }
}

static void enlist_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  tb__clock_add_waiter_locked(sleeper->clock, &sleeper->waiter);
  if (timeline->kind == TB__TIMELINE_ROS && !sleeper->for_ever)
    tb__waiter_queue_locked(timeline, &sleeper->waiter);
  watch_locked(sleeper, timeline);
  sleeper->enlisted = true;
  sleeper->counted_on = timeline;
  timeline->sleepers++;
  if (timeline->inflight) tb__inflight_notify(timeline->inflight);
}

/* Begins the wait, if there is anything to wait for. */
static bool enter_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline, tb__deadline_t *out_alarm)
    TB_REQUIRES(timeline->mutex)
{
  *out_alarm = TB__NO_DEADLINE;
  if (sleeper->claimed) return true; /* signalled before it got here; the word follows */
  bool closed = sleeper->clock->closed || (sleeper->queue && sleeper->queue->closed);
  if (closed) sleeper->result = TB_ERR_CLOSED;
  bool waits = !closed && !atomic_load(&sleeper->marks);
  if (waits) {
    set_deadline_locked(sleeper, timeline);
    waits = !is_due_locked(sleeper, timeline);
  }
  if (waits && tb__deadline_has_passed(limit_of(sleeper))) {
    sleeper->result = TB_ERR_TIMEOUT;
    waits = false;
  }
  if (!waits) {
    queue_remove_locked(sleeper);
    return false;
  }
  enlist_locked(sleeper, timeline);
  *out_alarm = alarm_for(sleeper, timeline);
  return true;
}

/* Checks after an alarm, a change or a mark. True when the wait is over; otherwise sets when to
 * check again. */
static bool recheck(tb__sleeper_t *sleeper, tb__deadline_t *out_alarm)
{
  tb_timeline_t *timeline;
  tb__clock_lock(sleeper->clock, &timeline);
  bool over = false;
  if (sleeper->claimed) { /* WORD_DONE follows, or is set already */
    uint32_t recheck_word = WORD_RECHECK;
    atomic_compare_exchange_strong(&sleeper->word, &recheck_word, WORD_ASLEEP);
    *out_alarm = TB__NO_DEADLINE;
  } else {
    atomic_store(&sleeper->word, WORD_ASLEEP);
    bool marked = atomic_load(&sleeper->marks);
    /* during a jump no wait is due yet: the end of the jump wakes the due ones (J3) */
    bool unsettled =
        timeline->unsettled || (atomic_load(&sleeper->clock->word) & TB__WORD_CHANGING);
    bool due = !unsettled && is_due_locked(sleeper, timeline);
    if (sleeper->goal == TB__GOAL_STATE) watch_locked(sleeper, timeline);
    over = marked || due || tb__steady_now_ns() >= sleeper->limit_ns;
    sleeper->result = due ? TB_OK : TB_ERR_TIMEOUT;
    *out_alarm = alarm_for(sleeper, timeline);
    if (unsettled) {
      *out_alarm = limit_of(sleeper);
      sleeper->alarm_system_ns = INT64_MAX;
      sleeper->visible = TB__STATE_UNKNOWN;
    }
    if (over) unlist_locked(sleeper);
  }
  tb__clock_unlock(timeline);
  return over;
}

/* X2: a thread that waits for time that only a call can move is idle, and so is the queue in whose
 * callback it waits. The operating system's clocks move by themselves. */
static bool becomes_idle(const tb__sleeper_t *sleeper)
{
  bool held = tb__time_is_held();
  const tb__inflight_t *inflight = tb__inflight_of_thread;
  if (!held && tb__clock_timeline(sleeper->clock)->kind != TB__TIMELINE_ROS)
    return inflight == tb__inflight_of_os();
  if (tb__queue_of_thread) {
    if (held && !inflight) { /* until the deadline is on the list of held waits */
      tb__inflight_begin(tb__inflight_of_os());
      tb__inflight_adopt(tb__inflight_of_os());
    }
    tb__timer_queue_callback_blocks(tb__queue_of_thread);
  }
  return true;
}

static bool block_once(tb__sleeper_t *sleeper, tb__deadline_t alarm)
{
  tb__wait_spec_t spec = {
      .deadline = alarm,
      .system_ns = alarm.clock == TB__DEADLINE_NONE ? INT64_MAX : sleeper->alarm_system_ns,
      .held = sleeper->alarm_held,
      .rechecks = true,
      .counts_as_idle = becomes_idle(sleeper),
  };
  return tb__futex_wait_spec(&sleeper->word, WORD_ASLEEP, &spec);
}

static void block(tb__sleeper_t *sleeper, tb__deadline_t alarm)
{
  for (;;) {
    bool woken = block_once(sleeper, alarm);
    uint32_t word = atomic_load(&sleeper->word);
    if (word == WORD_DONE) return;
    if (woken && word == WORD_ASLEEP) continue;
    if (recheck(sleeper, &alarm)) return;
  }
}

static tb_status_t options_apply(const tb_wait_options_t *options, tb__sleeper_t *sleeper)
{
  sleeper->limit_ns = INT64_MAX;
  sleeper->waiter.forward_min = INT64_MAX;
  if (!options) return TB_OK;
  bool forward = options->flags & TB_WAIT_FAIL_ON_FORWARD;
  if (options->flags & ~(TB_WAIT_FAIL_ON_ANY | TB_SLEEP_KEEP_TIME) ||
      (forward && options->forward_min.ns <= 0))
    return TB_ERR_INVALID;
  tb__deadline_t limit;
  tb_status_t status = tb__limit_begin(options->limit, &limit);
  if (status) return status;
  sleeper->limit_ns = limit.ns;
  sleeper->flags = options->flags;
  sleeper->token = options->token;
  if (forward) sleeper->waiter.forward_min = options->forward_min.ns;
  return TB_OK;
}

tb_status_t tb__sleeper_init(tb__sleeper_t *sleeper, tb_clock_t *clock, tb__goal_t goal,
                             int64_t goal_ns, const tb_wait_options_t *options)
{
  memset(sleeper, 0, offsetof(tb__sleeper_t, notify));
  atomic_store(&sleeper->notify, NULL);
  atomic_store(&sleeper->marks, 0);
  atomic_store(&sleeper->word, WORD_ASLEEP);
  sleeper->waiter.ops = goal == TB__GOAL_STATE ? &tb__state_ops : &sleeper_ops;
  sleeper->clock = clock;
  sleeper->goal = goal;
  sleeper->goal_ns = goal_ns;
  sleeper->visible = TB__STATE_UNKNOWN;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_status_t status = options_apply(options, sleeper);
  if (!status && options && options->clock && options->clock != clock) status = TB_ERR_INVALID;
  if (!status && clock && clock->kind && tb__in_jump_callback()) status = TB_ERR_DEADLOCK;
  return status;
}

/* S8: joins the queue, and the clock too unless a jump is in progress: its callbacks may want the
 * user's mutex, so it must not be held while waiting for the jump. True when the wait has begun, or
 * is not needed. */
static bool enter_queue(tb__sleeper_t *sleeper, tb__deadline_t *out_alarm)
{
  tb_timeline_t *timeline;
  tb__clock_lock(sleeper->clock, &timeline);
  bool entered = tb__clock_is_settled_locked(sleeper->clock, timeline);
  queue_add_locked(sleeper);
  sleeper->waited = !entered || enter_locked(sleeper, timeline, out_alarm);
  tb__clock_unlock(timeline);
  if (sleeper->waited) {
    sleeper->released = !pthread_mutex_unlock(sleeper->mutex);
    if (!sleeper->released) tb__sleeper_mark(sleeper, TB__MARK_INVALID);
  }
  return entered;
}

/* The jump took longer than the limit. False: signalled meanwhile, so the word follows. */
static bool leave_unless_claimed(tb__sleeper_t *sleeper)
{
  tb_timeline_t *timeline;
  tb__clock_lock(sleeper->clock, &timeline);
  bool claimed = sleeper->claimed;
  if (!claimed) unlist_locked(sleeper);
  tb__clock_unlock(timeline);
  return !claimed;
}

static tb_status_t wait_until_over(tb__sleeper_t *sleeper)
{
  tb__deadline_t alarm = TB__NO_DEADLINE;
  if (!sleeper->queue || !enter_queue(sleeper, &alarm)) {
    tb_timeline_t *timeline;
    tb_status_t status =
        tb__clock_lock_settled_within(sleeper->clock, sleeper->limit_ns, &timeline);
    if (!status) {
      sleeper->waited = enter_locked(sleeper, timeline, &alarm);
      tb__clock_unlock(timeline);
    } else if (leave_unless_claimed(sleeper)) {
      return status;
    }
  }
  if (!sleeper->waited) return sleeper->result;
  tb__steps_watch();
  block(sleeper, alarm);
  return sleeper->result;
}

static tb_status_t final_status(const tb__sleeper_t *sleeper, tb_status_t status)
{
  /* S5: the first of several reasons */
  uint32_t marks = atomic_load(&sleeper->marks);
  if (sleeper->signalled) return TB_OK;
  if (marks & TB__MARK_INVALID) return TB_ERR_INVALID;
  if (marks & TB__MARK_CANCELLED) return TB_ERR_CANCELLED;
  return marks & TB__MARK_CLOSED ? TB_ERR_CLOSED : status;
}

static void report_stall(tb__sleeper_t *sleeper, tb_status_t status)
{
  int64_t expected_ns;
  if (sleeper->reading && sleeper->reading->state == TB_CLOCK_STALLED)
    expected_ns = TB__WHEN_STALLED;
  else if (status == TB_ERR_TIMEOUT)
    expected_ns = sleeper->limit_ns;
  else
    return;
  tb__timeline_report_stall(tb__clock_timeline(sleeper->clock), expected_ns);
}

tb_status_t tb__sleeper_run(tb__sleeper_t *sleeper)
{
  tb_status_t status = TB_OK;
  tb__clock_enter(sleeper->clock);
  if (sleeper->token) tb__cancel_token_join(sleeper->token, sleeper);
  if (sleeper->goal != TB__GOAL_FOR || sleeper->goal_ns > 0) status = wait_until_over(sleeper);
  if (sleeper->token) tb__cancel_token_leave(sleeper->token, sleeper);
  report_stall(sleeper, status);
  tb__clock_leave(sleeper->clock);
  if (sleeper->inflight) tb__inflight_adopt(sleeper->inflight);
  return final_status(sleeper, status);
}

static tb_status_t join_clock(tb__sleeper_t *sleeper)
{
  tb_timeline_t *timeline;
  tb_status_t status = tb__clock_lock_settled_within(sleeper->clock, sleeper->limit_ns, &timeline);
  if (status) return status;
  if (sleeper->clock->closed) {
    status = TB_ERR_CLOSED;
  } else {
    set_deadline_locked(sleeper, timeline);
    enlist_locked(sleeper, timeline);
  }
  tb__clock_unlock(timeline);
  if (!status) tb__steps_watch();
  return status;
}

tb_status_t tb__sleeper_begin(tb__sleeper_t *sleeper, _Atomic uint32_t *word)
{
  tb_status_t status = TB_OK;
  atomic_store(&sleeper->notify, word);
  if (sleeper->clock) tb__clock_enter(sleeper->clock);
  if (sleeper->token) tb__cancel_token_join(sleeper->token, sleeper);
  if (sleeper->clock) status = join_clock(sleeper);
  status = final_status(sleeper, status);
  if (status) tb__sleeper_end(sleeper);
  return status;
}

tb_status_t tb__sleeper_ended(tb__sleeper_t *sleeper)
{
  tb_status_t status = TB_OK;
  if (sleeper->clock) {
    tb_timeline_t *timeline;
    tb__clock_lock(sleeper->clock, &timeline);
    if (sleeper->claimed) status = sleeper->result;
    tb__clock_unlock(timeline);
  }
  return final_status(sleeper, status);
}

void tb__sleeper_end(tb__sleeper_t *sleeper)
{
  if (sleeper->clock && !leave_unless_claimed(sleeper)) {
    while (atomic_load(&sleeper->word) != WORD_DONE)
      tb__futex_wait(&sleeper->word, WORD_ASLEEP, TB__NO_DEADLINE);
  }
  if (sleeper->token) tb__cancel_token_leave(sleeper->token, sleeper);
  if (sleeper->clock) tb__clock_leave(sleeper->clock);
  if (sleeper->inflight) tb__inflight_adopt(sleeper->inflight);
}

bool tb__sleeper_signal_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake)
{
  /* S8: the waiter that has waited longest; none whose wait was cancelled */
  tb__sleeper_t *sleeper = queue->first;
  while (sleeper && atomic_load(&sleeper->marks))
    sleeper = sleeper->queue_next;
  if (!sleeper) return false;
  tb__sleeper_claim(&sleeper->waiter, TB_OK);
  sleeper->signalled = true;
  sleeper->waiter.wake_next = *to_wake;
  *to_wake = &sleeper->waiter;
  return true;
}

void tb__sleeper_queue_close_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake)
{
  queue->closed = true;
  while (queue->first) {
    tb__waiter_t *waiter = &queue->first->waiter;
    tb__sleeper_claim(waiter, TB_ERR_CLOSED);
    waiter->wake_next = *to_wake;
    *to_wake = waiter;
  }
}

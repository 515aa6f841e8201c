/* Moving a timeline: ticks and anchors, and the jumps that they make. */
#include "clock/callback_context.h"
#include "clock/clock.h"
#include "clock/handler.h"
#include "clock/running.h"
#include "clock/source.h"
#include "clock/timeline.h"
#include "clock/try_tick.h"
#include "platform/time.h"

#define RATE_WINDOW_NS INT64_C(100000000)

/* Where a source moves its timeline. */
typedef struct move {
  int64_t time_ns;
  tb_jump_reason_t reason;
  tb_clock_state_t state;
  const tb__linear_time_t *linear; /* along which time runs; NULL: it is stopped */
  tb_source_t *replaced;           /* see tb__anchor_policy_t */
  bool renews_epoch;               /* the same */
} move_t;

static void count_one(_Atomic uint64_t *count)
{
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

static void add_advance(tb_timeline_t *timeline, int64_t step_ns)
{
  _Atomic int64_t *advanced = &timeline->counts.advanced_ns;
  int64_t sum;
  if (__builtin_add_overflow(atomic_load_explicit(advanced, memory_order_relaxed), step_ns, &sum))
    sum = INT64_MAX;
  atomic_store_explicit(advanced, sum, memory_order_relaxed);
}

static void keep_largest(_Atomic int64_t *largest, int64_t step_ns)
{
  int64_t seen = atomic_load_explicit(largest, memory_order_relaxed);
  if (step_ns < 0 ? step_ns < seen : step_ns > seen)
    atomic_store_explicit(largest, step_ns, memory_order_relaxed);
}

/* Restarts the measuring of the rate, keeping the last result. */
static void meter_restart(tb__rate_meter_t *meter, int64_t steady_ns, int64_t time_ns)
{
  meter->window_steady_ns = steady_ns;
  meter->window_time_ns = time_ns;
  meter->jumped = false;
}

static void meter_tick(tb_timeline_t *timeline, int64_t steady_ns, int64_t time_ns)
{
  tb__rate_meter_t *meter = &timeline->meter;
  int64_t window_ns = steady_ns - meter->window_steady_ns;
  if (window_ns < RATE_WINDOW_NS) return;
  double rate = (double)(time_ns - meter->window_time_ns) / (double)window_ns;
  atomic_store_explicit(&timeline->counts.rate, rate, memory_order_relaxed);
  if (rate > 0) meter->moving_rate = rate; /* a pause does not change the rate */
  meter_restart(meter, steady_ns, time_ns);
}

/* A single jump is not the passing of time. Several in a row may be a new rate, which is measured
 * from the first of them. */
static void meter_jump(tb_timeline_t *timeline, int64_t steady_ns, int64_t time_ns,
                       tb_jump_reason_t reason)
{
  if (timeline->meter.jumped && reason == TB_JUMP_REASON_NONE)
    meter_tick(timeline, steady_ns, time_ns);
  else
    meter_restart(&timeline->meter, steady_ns, time_ns);
  timeline->meter.jumped = reason == TB_JUMP_REASON_NONE;
}

/* Whether a forward step is a jump, and not the passing of time. */
static bool is_forward_jump(const tb_timeline_t *timeline, int64_t step_ns, int64_t steady_ns,
                            tb_jump_reason_t reason)
{
  if (reason == TB_JUMP_REASON_SEEK || reason == TB_JUMP_REASON_LOOP ||
      reason == TB_JUMP_REASON_RESET)
    return true;
  int64_t min_ns = timeline->forward_jump_min_ns;
  if (reason != TB_JUMP_REASON_NONE || step_ns <= min_ns) return false;
  double silence_ns = (double)tb__liveness_silence_ns(&timeline->liveness, steady_ns);
  double passed_ns = timeline->meter.moving_rate * silence_ns;
  return (double)step_ns > passed_ns + (double)min_ns;
}

bool tb__clock_jumps_forward(const tb_clock_t *clock, const tb_jump_t *jump)
{
  if (jump->reason == TB_JUMP_REASON_SYSTEM_STEPPED) return true;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  bool jumps = is_forward_jump(timeline, jump->after.ns - jump->before.ns,
                               tb__steady_coarse_now_ns(), jump->reason);
  tb__clock_unlock(timeline);
  return jumps;
}

/* A sign of life. */
static void note_tick(tb_timeline_t *timeline, int64_t steady_ns) TB_REQUIRES(timeline->mutex)
{
  tb__liveness_t *liveness = &timeline->liveness;
  int64_t silent_ns = steady_ns - atomic_load_explicit(&liveness->moved_ns, memory_order_relaxed);
  int64_t limit_ns = atomic_load_explicit(&liveness->stall_limit_ns, memory_order_relaxed);
  if (__builtin_expect(silent_ns > limit_ns, 0)) tb__timeline_count_stall(timeline, steady_ns);
  atomic_store_explicit(&liveness->moved_ns, steady_ns, memory_order_relaxed);
}

static void count_forward(tb_timeline_t *timeline, int64_t step_ns, tb_jump_reason_t reason)
    TB_REQUIRES(timeline->mutex)
{
  tb__timeline_counts_t *counts = &timeline->counts;
  int64_t steady_ns = tb__steady_coarse_now_ns();
  int64_t time_ns = timeline->time_ns + step_ns;
  count_one(&counts->ticks);
  if (!is_forward_jump(timeline, step_ns, steady_ns, reason)) {
    add_advance(timeline, step_ns);
    timeline->meter.jumped = false;
    meter_tick(timeline, steady_ns, time_ns);
  } else {
    count_one(&counts->jumps_forward);
    keep_largest(&counts->largest_forward_ns, step_ns);
    meter_jump(timeline, steady_ns, time_ns, reason);
  }
  note_tick(timeline, steady_ns);
}

/* A first tick, or a step back. */
static void count_other(tb_timeline_t *timeline, const tb_jump_t *jump) TB_REQUIRES(timeline->mutex)
{
  int64_t steady_ns = tb__steady_coarse_now_ns();
  count_one(&timeline->counts.ticks);
  if (jump->kind == TB_JUMP_BACKWARD) {
    count_one(&timeline->counts.jumps_backward);
    keep_largest(&timeline->counts.largest_backward_ns, jump->after.ns - jump->before.ns);
  }
  meter_restart(&timeline->meter, steady_ns, jump->after.ns);
  note_tick(timeline, steady_ns);
}

/* The jump from the committed time to that of the move, which is another one. */
static tb_jump_t describe(const tb_timeline_t *timeline, const move_t *move)
{
  int64_t time_ns = move->time_ns;
  tb_jump_t jump = {
      .kind = TB_JUMP_FORWARD,
      .reason = move->reason,
      .before = {timeline->time_ns, TB_TIME_ROS},
      .after = {time_ns, TB_TIME_ROS},
  };
  /* C2, J2: the first tick after "not started" */
  if (timeline->time_ns == 0) {
    jump.kind = TB_JUMP_STARTED;
    return jump;
  }
  if (time_ns != 0 || !move->replaced) jump.delta.ns = time_ns - timeline->time_ns;
  if (move->replaced) {
    jump.kind = TB_JUMP_CLOCK_CHANGE;
    jump.reason = TB_JUMP_REASON_SOURCE_REPLACED;
    jump.epoch = tb__epoch_take();
  } else if (time_ns < timeline->time_ns) {
    /* C6: the epoch rises, and a number is taken once */
    jump.kind = TB_JUMP_BACKWARD;
    jump.epoch = tb__epoch_take();
    if (time_ns == 0) jump.reason = TB_JUMP_REASON_RESET;
  } else if (move->renews_epoch) {
    jump.epoch = tb__epoch_take();
  }
  return jump;
}

/* Commits the move. The elapsed time of the timeline changes only with a forward step. */
static void commit_locked(tb_timeline_t *timeline, const tb_jump_t *jump, tb_clock_state_t state)
    TB_REQUIRES(timeline->mutex)
{
  /* C6: time and epoch are published together */
  if (jump->kind != TB_JUMP_FORWARD) {
    uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
    timeline->elapsed_frozen = elapsed;
    timeline->elapsed_offset = (uint64_t)jump->after.ns - elapsed;
  }
  if (jump->kind == TB_JUMP_FORWARD)
    count_forward(timeline, jump->after.ns - jump->before.ns, jump->reason);
  else
    count_other(timeline, jump);
  timeline->time_ns = jump->after.ns;
  timeline->state = jump->after.ns ? state : TB_CLOCK_WAITING;
  if (jump->epoch) timeline->epoch = jump->epoch;
  tb__timeline_publish_locked(timeline);
}

/* J3: step 3, and step 5 for the waiters that the jump itself concerns. They are chosen with the
 * commit, so that none that begins after it is concerned; they are woken at the end. */
static void commit_jump_locked(tb_timeline_t *timeline, const tb_jump_t *jump, const move_t *move,
                               tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex)
{
  commit_locked(timeline, jump, move->state);
  if (jump->kind == TB_JUMP_CLOCK_CHANGE)
    tb__source_notify_waiters_locked(move->replaced, jump, to_wake);
  else if (jump->kind != TB_JUMP_FORWARD || jump->delta.ns >= timeline->waiters.watch_min_forward)
    tb__waiters_collect_jumped_locked(timeline, jump, to_wake);
}

/* A jump that handlers take part in. The turn is held; the mutex is released while they run. */
static void jump_locked(tb_timeline_t *timeline, tb__jump_t *jump, const move_t *move,
                        tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex)
{
  bool blocking = jump->info.kind != TB_JUMP_FORWARD;
  /* J3: readers are blocked, "before", commit, "after"; the caller wakes */
  if (blocking) tb__timeline_block_locked(timeline);
  timeline->jump = jump;
  tb__mutex_unlock(&timeline->mutex);
  tb__jump_call_before(jump);
  tb__mutex_lock(&timeline->mutex);
  if (tb__is_forked()) return; /* by a callback: the waiters belong to the parent */
  commit_jump_locked(timeline, &jump->info, move, to_wake);
  timeline->unsettled = true;
  tb__mutex_unlock(&timeline->mutex);
  tb__jump_call_after(jump);
  tb__mutex_lock(&timeline->mutex);
  if (tb__is_forked()) return;
  timeline->jump = NULL;
  timeline->unsettled = false;
  tb__jump_release_locked(jump, timeline);
  if (blocking && !timeline->announced) tb__timeline_unblock_locked(timeline);
}

static bool concerns_handlers(const tb_timeline_t *timeline, const tb_jump_t *jump)
{
  if (!timeline->handlers.first) return false;
  return jump->kind != TB_JUMP_FORWARD || jump->delta.ns >= timeline->handlers.min_forward;
}

/* A sign of life that moves nothing. */
static void repeat_locked(tb_timeline_t *timeline, tb_clock_state_t state)
    TB_REQUIRES(timeline->mutex)
{
  int64_t steady_ns = tb__steady_coarse_now_ns();
  count_one(&timeline->counts.ticks);
  count_one(&timeline->counts.repeats);
  meter_tick(timeline, steady_ns, timeline->time_ns);
  tb__timeline_count_stall(timeline, steady_ns);
  atomic_store_explicit(&timeline->liveness.repeated_ns, steady_ns, memory_order_relaxed);
  if (atomic_load_explicit(&timeline->liveness.moved_ns, memory_order_relaxed) ==
      TB__LIVENESS_FOREVER)
    atomic_store_explicit(&timeline->liveness.moved_ns, steady_ns, memory_order_relaxed);
  if (timeline->time_ns != 0 && timeline->state != state) {
    timeline->state = state;
    tb__timeline_publish_locked(timeline);
  }
}

void tb__timeline_halt_locked(tb_timeline_t *timeline)
{
  if (!timeline->running) return;
  int64_t anchor_ns = timeline->time_ns;
  tb__running_halt_locked(timeline);
  add_advance(timeline, timeline->time_ns - anchor_ns);
}

static void run_on_locked(tb_timeline_t *timeline, const tb__linear_time_t *linear)
    TB_REQUIRES(timeline->mutex)
{
  bool bounded = linear->until_ns != INT64_MAX;
  int64_t moved_ns = bounded ? tb__steady_coarse_now_ns() : TB__LIVENESS_FOREVER;
  atomic_store_explicit(&timeline->liveness.moved_ns, moved_ns, memory_order_relaxed);
  tb__running_start_locked(timeline, linear);
}

/* For a page, who is due is decided when readers use the page again: see
 * tb__timeline_apply_policy. */
static void collect_due_locked(tb_timeline_t *timeline, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex)
{
  if (!timeline->view) tb__waiters_collect_due_locked(timeline, to_wake);
}

/* The timeline is halted. */
static void move_locked(tb_timeline_t *timeline, const move_t *move, bool *has_turn,
                        tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex)
{
  /* C2: an equal tick is a sign of life and no jump */
  if (move->time_ns == timeline->time_ns && !(move->replaced && timeline->time_ns)) {
    if (move->renews_epoch) {
      timeline->epoch = tb__epoch_take();
      tb__timeline_publish_locked(timeline);
    }
    repeat_locked(timeline, move->state);
    if (move->linear) run_on_locked(timeline, move->linear);
    collect_due_locked(timeline, to_wake); /* it has run by itself */
    tb__waiters_report_state_locked(timeline);
    return;
  }
  tb__jump_t jump = {.info = describe(timeline, move), .timelines = {timeline, NULL}};
  if (concerns_handlers(timeline, &jump.info)) tb__jump_select_locked(&jump, timeline);
  if (jump.selected) {
    if (!*has_turn) tb__timeline_take_turn_locked(timeline);
    *has_turn = true;
    jump_locked(timeline, &jump, move, to_wake);
  } else {
    commit_jump_locked(timeline, &jump.info, move, to_wake);
  }
  if (tb__is_forked()) return;
  if (move->linear) run_on_locked(timeline, move->linear);
  collect_due_locked(timeline, to_wake);
  tb__waiters_report_state_locked(timeline);
}

/* Whether a waiter may be due at `time_ns`, a forward step from the committed time. */
static bool any_due_locked(const tb_timeline_t *timeline, int64_t time_ns)
    TB_REQUIRES(timeline->mutex)
{
  const tb__deadline_heap_t *heaps = timeline->waiters.heaps;
  uint64_t elapsed = (uint64_t)time_ns - timeline->elapsed_offset;
  return tb__deadline_heap_may_be_due(&heaps[TB__AXIS_TIME], (uint64_t)time_ns) ||
         tb__deadline_heap_may_be_due(&heaps[TB__AXIS_ELAPSED], elapsed);
}

/* The usual tick, if it makes no waiter due: a step forward that concerns no handler and no
 * watcher. */
static bool is_quiet_step_locked(const tb_timeline_t *timeline, int64_t time_ns)
    TB_REQUIRES(timeline->mutex)
{
  if (timeline->time_ns == 0 || time_ns <= timeline->time_ns || timeline->detached ||
      timeline->running || timeline->turn_next != atomic_load(&timeline->turn_serving))
    return false;
  int64_t step_ns = time_ns - timeline->time_ns;
  return step_ns < timeline->handlers.min_forward && step_ns < timeline->waiters.watch_min_forward;
}

static void plain_step_locked(tb_timeline_t *timeline, int64_t time_ns, tb_jump_reason_t reason)
    TB_REQUIRES(timeline->mutex)
{
  count_forward(timeline, time_ns - timeline->time_ns, reason);
  timeline->time_ns = time_ns;
  timeline->state = TB_CLOCK_RUNNING;
  tb__timeline_publish_locked(timeline);
}

/* A tick that may have to wait for its turn, and may concern handlers or waiters. */
static tb_status_t tick_in_turn_locked(tb_timeline_t *timeline, int64_t time_ns,
                                       tb_jump_reason_t reason, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex)
{
  tb_status_t status = TB_OK;
  bool has_turn = timeline->turn_next != atomic_load(&timeline->turn_serving);
  if (has_turn && tb__may_not_wait()) return TB_ERR_DEADLOCK;
  if (has_turn) tb__timeline_take_turn_locked(timeline);
  if (timeline->detached) {
    status = TB_ERR_DETACHED;
  } else {
    move_t move = {.time_ns = time_ns, .reason = reason, .state = TB_CLOCK_RUNNING};
    tb__timeline_halt_locked(timeline);
    move_locked(timeline, &move, &has_turn, to_wake);
  }
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (has_turn) tb__timeline_end_turn_locked(timeline);
  return status;
}

static tb_status_t redirect_tick(tb__redirect_t *redirect, int64_t time_ns, tb_jump_reason_t reason,
                                 bool may_wait)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = time_ns;
  return redirect->commit(redirect, &anchor, reason, may_wait);
}

tb_status_t tb_timeline_tick(tb_timeline_t *timeline, int64_t time_ns, tb_jump_reason_t reason)
{
  if (!timeline || timeline->kind != TB__TIMELINE_ROS) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback()) return TB_ERR_DEADLOCK; /* J5 */
  if (time_ns < 0) {
    tb_timeline_count_dropped(timeline);
    return TB_ERR_RANGE;
  }
  tb_status_t status = TB_OK;
  tb__waiter_t *to_wake = NULL;
  tb__mutex_lock(&timeline->mutex);
  if (is_quiet_step_locked(timeline, time_ns) && !any_due_locked(timeline, time_ns)) {
    plain_step_locked(timeline, time_ns, reason);
    tb__mutex_unlock(&timeline->mutex);
    return TB_OK;
  }
  tb__redirect_t *redirect = atomic_load(&timeline->redirect);
  if (!redirect) status = tick_in_turn_locked(timeline, time_ns, reason, &to_wake);
  if (to_wake) tb__timeline_ref(timeline);
  tb__mutex_unlock(&timeline->mutex);
  if (to_wake) tb__waiters_wake_and_settle(timeline, to_wake);
  return redirect ? redirect_tick(redirect, time_ns, reason, true) : status;
}

/* A repetition, or a first tick or step back that concerns no handler and no waiter. */
static bool is_plain_change_locked(const tb_timeline_t *timeline, int64_t time_ns)
    TB_REQUIRES(timeline->mutex)
{
  if (timeline->running || timeline->turn_next != atomic_load(&timeline->turn_serving))
    return false;
  if (time_ns == timeline->time_ns) return true;
  return (timeline->time_ns == 0 || time_ns < timeline->time_ns) && !timeline->handlers.first &&
         !timeline->waiters.watchers && !timeline->waiters.states &&
         tb__deadline_heap_is_empty(&timeline->waiters.heaps[TB__AXIS_TIME]) &&
         tb__deadline_heap_is_empty(&timeline->waiters.heaps[TB__AXIS_ELAPSED]);
}

tb_status_t tb_timeline_try_tick(tb_timeline_t *timeline, int64_t time_ns)
{
  return tb__timeline_try_tick(timeline, time_ns, NULL);
}

tb_status_t tb__timeline_try_tick(tb_timeline_t *timeline, int64_t time_ns, bool *out_due)
{
  if (!timeline || timeline->kind != TB__TIMELINE_ROS) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback()) return TB_ERR_DEADLOCK; /* J5 */
  if (time_ns < 0) {
    tb_timeline_count_dropped(timeline);
    return TB_ERR_RANGE;
  }
  tb_status_t status = TB_OK;
  tb__redirect_t *redirect = NULL;
  tb__mutex_lock(&timeline->mutex);
  bool is_quiet = is_quiet_step_locked(timeline, time_ns);
  bool is_due = is_quiet && any_due_locked(timeline, time_ns);
  if (is_quiet && (out_due || !is_due)) {
    plain_step_locked(timeline, time_ns, TB_JUMP_REASON_NONE);
    if (is_due) *out_due = true;
  } else if ((redirect = atomic_load(&timeline->redirect))) {
    status = TB_OK; /* the wrapping source decides */
  } else if (timeline->detached) {
    status = TB_ERR_DETACHED;
  } else if (!is_plain_change_locked(timeline, time_ns)) {
    status = TB_ERR_BUSY;
  } else if (time_ns == timeline->time_ns) {
    repeat_locked(timeline, TB_CLOCK_RUNNING);
    tb__waiters_report_state_locked(timeline); /* it rarely changes: not worth another thread */
  } else {
    move_t move = {.time_ns = time_ns, .reason = TB_JUMP_REASON_NONE, .state = TB_CLOCK_RUNNING};
    tb_jump_t jump = describe(timeline, &move);
    commit_locked(timeline, &jump, TB_CLOCK_RUNNING);
  }
  tb__mutex_unlock(&timeline->mutex);
  return redirect ? redirect_tick(redirect, time_ns, TB_JUMP_REASON_NONE, false) : status;
}

/* ---- anchors ---- */

/* Whether a move calls no callbacks. Waiters that are due are woken by the wake-up thread. */
static bool is_quiet(const tb_timeline_t *timeline, int64_t time_ns) TB_REQUIRES(timeline->mutex)
{
  int64_t step_ns = time_ns - timeline->time_ns;
  if (step_ns == 0) return true;
  if (timeline->time_ns == 0 || step_ns < 0) return is_plain_change_locked(timeline, time_ns);
  return step_ns < timeline->handlers.min_forward && step_ns < timeline->waiters.watch_min_forward;
}

/* The timeline is halted; after a failure it continues as before. */
static tb_status_t anchor_locked(tb_timeline_t *timeline, tb__anchor_policy_t *policy,
                                 bool *has_turn, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex)
{
  int64_t steady_ns = tb__steady_now_ns();
  tb_anchor_t anchor = policy->next_anchor(policy, timeline->time_ns, steady_ns);
  if (!tb__anchor_is_valid(&anchor)) return TB_ERR_INVALID;
  tb__linear_time_t linear = tb__anchor_linear_time(&anchor);
  bool runs = anchor.rate > 0 && anchor.time_ns > 0;
  move_t move = {anchor.time_ns,        policy->reason,   anchor.state,
                 runs ? &linear : NULL, policy->replaced, policy->renews_epoch};
  if (runs) {
    tb_status_t status = tb__running_prepare_locked(timeline);
    if (status) return status;
    move.time_ns = tb__linear_time_at(&linear, steady_ns);
  }
  if (!policy->may_wait && !is_quiet(timeline, move.time_ns)) return TB_ERR_BUSY;
  if (policy->moved) policy->moved(policy);
  move_locked(timeline, &move, has_turn, to_wake);
  return TB_OK;
}

tb_status_t tb__timeline_apply_policy(tb_timeline_t *timeline, tb__anchor_policy_t *policy)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback()) return TB_ERR_DEADLOCK; /* J5 */
  tb_status_t status = policy->may_wait ? TB_ERR_DEADLOCK : TB_ERR_BUSY;
  tb__waiter_t *to_wake = NULL;
  tb__mutex_lock(&timeline->mutex);
  bool has_turn = timeline->turn_next != atomic_load(&timeline->turn_serving);
  if (!has_turn || (policy->may_wait && !tb__may_not_wait())) {
    if (has_turn) tb__timeline_take_turn_locked(timeline);
    tb__linear_time_t before = timeline->linear;
    bool was_running = timeline->running;
    status = timeline->detached ? TB_ERR_DETACHED : TB_OK;
    if (!status) {
      tb__timeline_halt_locked(timeline);
      status = anchor_locked(timeline, policy, &has_turn, &to_wake);
      if (tb__is_forked()) { /* by a callback */
        tb__mutex_unlock(&timeline->mutex);
        return TB_ERR_FORKED;
      }
      if (status && was_running) tb__running_start_locked(timeline, &before);
      if (policy->ended) policy->ended(policy);
      if (timeline->view) tb__waiters_collect_due_locked(timeline, &to_wake);
      if (timeline->view) tb__waiters_report_state_locked(timeline);
    }
    if (has_turn) tb__timeline_end_turn_locked(timeline);
  }
  tb__mutex_unlock(&timeline->mutex);
  tb__waiters_wake(to_wake);
  return status;
}

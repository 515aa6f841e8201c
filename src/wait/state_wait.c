/* Waiting for a state of a clock. Code that changes a state notifies the waits for one; a state
 * made by silence is found with an alarm at that moment (C8). While ticks keep coming, the next one
 * changes no state, so a wait asks for ticks only in other states: it counts as a watcher of the
 * smallest forward step, so plain ticks need no further check. */
#include "base/sized.h"
#include "platform/time.h"
#include "wait/sleeper.h"

#define ALL_STATES                                                                                 \
  ((TB_CLOCK_STATE_BIT(TB_CLOCK_CLOSED) << 1) - TB_CLOCK_STATE_BIT(TB_CLOCK_INACTIVE))

/* False: a jump or a change of source is in progress, which notifies at its end. */
static bool state_read_locked(const tb_clock_t *clock, const tb_timeline_t *timeline,
                              tb__visible_state_t *out) TB_REQUIRES(timeline->mutex)
{
  if (atomic_load(&clock->word) & TB__WORD_CHANGING) return false;
  if (timeline->kind == TB__TIMELINE_ROS) return tb__timeline_visible_state_locked(timeline, out);
  *out = (tb__visible_state_t){(tb_clock_state_t)atomic_load(&clock->idle_state), INT64_MAX};
  return true;
}

/* Notes the state; true when it is one that is waited for. */
static bool note_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline,
                        const tb__visible_state_t *visible) TB_REQUIRES(timeline->mutex)
{
  sleeper->visible = *visible;
  if (!(sleeper->states & TB_CLOCK_STATE_BIT(visible->state))) return false;
  const tb_clock_t *clock = sleeper->clock;
  *sleeper->reading = (tb_clock_reading_t){
      .time = {tb__timeline_time_locked(timeline), clock->kind},
      .state = visible->state,
      .epoch = tb_clock_epoch(clock),
  };
  return true;
}

bool tb__state_is_reached_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  tb__visible_state_t visible;
  if (state_read_locked(sleeper->clock, timeline, &visible))
    return note_locked(sleeper, timeline, &visible);
  sleeper->visible = TB__STATE_UNKNOWN;
  return false;
}

/* Only processes that follow its ticks see a page's publisher change its state or end.
 */
static bool wants_ticks(const tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  tb_clock_state_t state = sleeper->visible.state;
  if (!timeline->view) return state != TB_CLOCK_RUNNING;
  return sleeper->states != TB_CLOCK_STATE_BIT(TB_CLOCK_STALLED) ||
         (state != TB_CLOCK_RUNNING && state != TB_CLOCK_PAUSED);
}

void tb__state_watch_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline)
{
  tb__waiter_t *waiter = &sleeper->waiter;
  bool ros = timeline->kind == TB__TIMELINE_ROS;
  int64_t forward_min = wants_ticks(sleeper, timeline) ? 1 : INT64_MAX;
  if (ros && waiter->watching && waiter->forward_min == forward_min) return;
  tb__waiter_unwatch_locked(timeline, waiter);
  waiter->forward_min = forward_min;
  if (ros) tb__waiter_watch_locked(timeline, waiter);
}

/* States are computed in coarse time: a check at its next step sees the stall. */
tb__deadline_t tb__state_alarm(const tb__sleeper_t *sleeper, tb__deadline_t limit)
{
  int64_t stall_ns = sleeper->visible.stall_ns;
  bool wanted = sleeper->states & TB_CLOCK_STATE_BIT(TB_CLOCK_STALLED);
  if (!wanted || stall_ns == INT64_MAX) return limit;
  if (!sleeper->alarm_held) {
    int64_t now_ns = tb__steady_now_ns();
    if (stall_ns < now_ns) stall_ns = now_ns;
    if (__builtin_add_overflow(stall_ns, tb__steady_coarse_step_ns(), &stall_ns)) return limit;
  }
  if (limit.clock != TB__DEADLINE_NONE && limit.ns <= stall_ns) return limit;
  return (tb__deadline_t){TB__DEADLINE_STEADY, stall_ns};
}

static bool state_changed(tb__waiter_t *waiter, const tb__visible_state_t *visible)
{
  /* C8: a state ends the wait however short it is, in a jump once that is over */
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(sleeper->clock, &timeline);
  if (atomic_load(&sleeper->clock->word) & TB__WORD_CHANGING) return false;
  bool earlier = visible->stall_ns < sleeper->visible.stall_ns;
  if (visible->state == sleeper->visible.state && !earlier) return false;
  if (note_locked(sleeper, timeline, visible)) return tb__sleeper_claim(waiter, TB_OK);
  tb__state_watch_locked(sleeper, timeline);
  if (earlier) tb__sleeper_poke(sleeper); /* to set its alarm again */
  return false;
}

/* The clock moved to another timeline, or its timeline to another time. */
static bool state_moved(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  (void)jump;
  tb__sleeper_t *sleeper = (tb__sleeper_t *)waiter;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  sleeper->counted_on->sleepers--;
  sleeper->counted_on = timeline;
  timeline->sleepers++;
  sleeper->visible = TB__STATE_UNKNOWN;
  tb__state_watch_locked(sleeper, timeline);
  return false;
}

static void state_settled(tb__waiter_t *waiter)
{
  tb__visible_state_t visible;
  tb_timeline_t *timeline;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  if (!state_read_locked(waiter->clock, timeline, &visible)) return;
  if (state_changed(waiter, &visible)) tb__sleeper_wake(waiter);
}

static bool state_closed(tb__waiter_t *waiter)
{
  return tb__sleeper_claim(waiter, TB_ERR_CLOSED);
}

const tb__waiter_ops_t tb__state_ops = {
    .moved = state_moved,
    .closed = state_closed,
    .settled = state_settled,
    .wake = tb__sleeper_wake,
    .visible_changed = state_changed,
};

static tb_status_t clock_wait_for_state(tb_clock_t *clock, uint32_t states,
                                        const tb_wait_options_t *options, tb_clock_reading_t *out)
{
  if (!clock || !states || states & ~ALL_STATES || (options && options->flags))
    return TB_ERR_INVALID;
  tb_clock_reading_t reading = {0};
  tb__sleeper_t sleeper;
  tb_status_t status = tb__sleeper_init(&sleeper, clock, TB__GOAL_STATE, 0, options);
  sleeper.states = states;
  sleeper.reading = &reading;
  if (!status) status = tb__sleeper_run(&sleeper);
  if (!status && out) *out = reading;
  return status;
}

tb_status_t tb_clock_wait_for_state_sized(tb_clock_t *clock, uint32_t states,
                                          const tb_wait_options_t *options, size_t options_size,
                                          tb_clock_reading_t *out, size_t out_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb_clock_reading_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = clock_wait_for_state(clock, states, options, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

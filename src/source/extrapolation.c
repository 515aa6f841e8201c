#include "source/extrapolation.h"

#include <math.h>
#include <stdbool.h>

#define PAUSE_REPEATS 2 /* a single one may be a tick that was sent twice */

int64_t tb__extrapolation_reach(const tb__extrapolation_t *self)
{
  return (int64_t)(self->rate * (double)self->bound_ns); /* at most 1e6 hours */
}

static void errors_add(tb__extrapolation_errors_t *errors, int64_t error_ns)
{
  errors->last_ns = error_ns;
  if (fabs((double)error_ns) > fabs((double)errors->largest_ns)) errors->largest_ns = error_ns;
  errors->sum_ns += fabs((double)error_ns);
  errors->count++;
}

static bool is_deliberate(tb_jump_reason_t reason)
{
  return reason == TB_JUMP_REASON_SEEK || reason == TB_JUMP_REASON_LOOP ||
         reason == TB_JUMP_REASON_RESET;
}

/* Updates the rate. */
static void observe(tb__extrapolation_t *self, const tb__observed_tick_t *tick, bool restarts)
{
  bool repeats = !restarts && tick->time_ns == self->last_ns;
  if (!repeats && self->repeats >= PAUSE_REPEATS) restarts = true;
  if (restarts || tick->state != TB_CLOCK_RUNNING) self->estimate = (tb__rate_estimate_t){0};
  self->repeats = repeats ? self->repeats + 1 : 0;
  self->last_ns = tick->time_ns;
  if (self->repeats < PAUSE_REPEATS)
    tb__rate_estimate_add(&self->estimate, tick->time_ns, tick->arrival_ns);
  self->rate = repeats || tick->state != TB_CLOCK_RUNNING ? 0 : self->estimate.rate;
}

/* Time stops at `anchor` until the line through the tick, which is below it, has reached it. If
 * that is too far away to run, time stops until the next tick: with a rate, as it is not paused. */
static void hold(const tb__extrapolation_t *self, int64_t tick_ns, tb_anchor_t *anchor)
{
  if (self->repeats || anchor->state != TB_CLOCK_RUNNING) return;
  int64_t excess_ns = anchor->time_ns - tick_ns, reach_ns = tb__extrapolation_reach(self);
  anchor->rate = self->rate > 0 ? self->rate : 1;
  if (reach_ns <= excess_ns) return;
  anchor->steady.ns += (int64_t)ceil((double)excess_ns / self->rate);
  anchor->bound.ns = reach_ns - excess_ns;
}

tb_anchor_t tb__extrapolation_tick(tb__extrapolation_t *self, const tb__observed_tick_t *tick,
                                   int64_t time_ns, int64_t steady_ns)
{
  /* X4 */
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  anchor.time_ns = tick->time_ns;
  anchor.steady.ns = steady_ns;
  anchor.state = tick->state;
  bool jumps = time_ns == 0 || tick->time_ns == 0 || tick->time_ns < self->last_ns;
  bool restarts = jumps || is_deliberate(tick->reason);
  bool ran = self->rate > 0;
  observe(self, tick, restarts);
  if (ran && self->estimate.count > 1) errors_add(&self->errors, tick->time_ns - time_ns);
  if (!jumps && tick->time_ns < time_ns) {
    self->errors.held++;
    anchor.time_ns = time_ns;
    hold(self, tick->time_ns, &anchor);
  } else {
    anchor.rate = self->rate;
    anchor.bound.ns = tb__extrapolation_reach(self);
  }
  return anchor;
}

void tb__extrapolation_anchor(tb__extrapolation_t *self, const tb_anchor_t *anchor)
{
  self->estimate = (tb__rate_estimate_t){0};
  self->rate = 0;
  self->repeats = 0;
  self->last_ns = anchor->time_ns;
}

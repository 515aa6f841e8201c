#include <timebase/rate.h>

#include <stdlib.h>

#include "wait/sleeper.h"

/* Deadlines are in what has passed on the clock's timeline (TB__AXIS_ELAPSED): before the first
 * tick that stands still. It is another measure after a clock change, which the epoch tells. */
struct tb_rate {
  tb_clock_t *clock; /* its memory is kept */
  int64_t period_ns;
  uint64_t deadline; /* end of the current period */
  uint64_t epoch;    /* of the clock, to which `deadline` belongs */
  bool at_once;      /* the last call did not wait */
  _Atomic bool busy; /* a thread is in a call */
};

typedef struct pace {
  tb__sleeper_t sleeper;
  const tb_rate_t *rate;
  uint64_t deadline, next;
  uint64_t epoch;
  int64_t late_ns;
  bool reanchored;
} pace_t;

/* A first period that starts now. */
TB_NO_THREAD_ANALYSIS
static tb_status_t rate_anchor(tb_rate_t *rate)
{
  tb_timeline_t *timeline;
  tb__clock_enter(rate->clock);
  tb_status_t status = tb__clock_lock_settled(rate->clock, &timeline);
  if (!status) {
    if (rate->clock->closed) status = TB_ERR_CLOSED;
    rate->deadline = tb__timeline_elapsed_locked(timeline) + (uint64_t)rate->period_ns;
    rate->epoch = tb_clock_epoch(rate->clock);
    rate->at_once = false;
    tb__clock_unlock(timeline);
  }
  tb__clock_leave(rate->clock);
  return status;
}

static tb_status_t rate_create(tb_clock_t *clock, tb_duration_t period, tb_rate_t **out)
{
  if (!out || period.ns <= 0) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_rate_t *rate = calloc(1, sizeof *rate);
  if (!rate) return TB_ERR_NO_MEMORY;
  tb__clock_ref(clock);
  rate->clock = clock;
  rate->period_ns = period.ns;
  tb_status_t status = rate_anchor(rate);
  if (status) {
    tb_rate_destroy(rate);
    return status;
  }
  *out = rate;
  return TB_OK;
}

tb_status_t tb_clock_rate_create(tb_clock_t *clock, tb_duration_t period, tb_rate_t **out)
{
  return clock ? rate_create(clock, period, out) : TB_ERR_INVALID;
}

tb_status_t tb_steady_clock_rate_create(tb_steady_clock_t *clock, tb_duration_t period,
                                        tb_rate_t **out)
{
  return clock ? rate_create(&clock->core, period, out) : TB_ERR_INVALID;
}

void tb_rate_destroy(tb_rate_t *rate)
{
  if (!rate) return;
  tb__clock_unref(rate->clock);
  free(rate);
}

/* What this call waits for, and what the next one will. */
TB_NO_THREAD_ANALYSIS
static void pace_plan(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
{
  pace_t *pace = (pace_t *)sleeper;
  const tb_rate_t *rate = pace->rate;
  uint64_t period = (uint64_t)rate->period_ns;
  uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
  pace->epoch = tb_clock_epoch(rate->clock);
  pace->reanchored = pace->epoch != rate->epoch;
  pace->deadline = pace->reanchored ? elapsed + period : rate->deadline;
  pace->next = pace->deadline + period;
  bool due = !tb__deadline_before(elapsed, pace->deadline);
  if (due) pace->late_ns = (int64_t)(elapsed - pace->deadline);
  if (pace->late_ns > rate->period_ns) {
    pace->next = elapsed + period;
    pace->reanchored = true;
  }
  sleeper->waiter.deadline = due && rate->at_once ? elapsed + 1 : pace->deadline;
}

static tb_status_t rate_sleep(tb_rate_t *rate, const tb_wait_options_t *options,
                              tb_rate_result_t *result)
{
  pace_t pace = {.rate = rate, .deadline = rate->deadline, .epoch = rate->epoch};
  tb_status_t status =
      tb__sleeper_init(&pace.sleeper, rate->clock, TB__GOAL_PACE, rate->period_ns, options);
  if (status) return status;
  pace.sleeper.plan = pace_plan;
  status = tb__sleeper_run(&pace.sleeper);
  if (pace.sleeper.repaced) {
    pace.deadline = pace.sleeper.waiter.deadline;
    pace.next = pace.deadline + (uint64_t)rate->period_ns;
    pace.epoch = pace.sleeper.epoch;
    pace.reanchored = true;
  }
  rate->deadline = status ? pace.deadline : pace.next;
  rate->epoch = pace.epoch;
  if (status) return status;
  rate->at_once = !pace.sleeper.waited;
  if (result)
    *result = (tb_rate_result_t){
        .late = pace.late_ns > 0, .reanchored = pace.reanchored, .late_by = {pace.late_ns}};
  return TB_OK;
}

tb_status_t tb_rate_sleep(tb_rate_t *rate, const tb_wait_options_t *options,
                          tb_rate_result_t *result)
{
  if (!rate) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_exchange(&rate->busy, true)) return TB_ERR_BUSY;
  tb_status_t status = rate_sleep(rate, options, result);
  atomic_store(&rate->busy, false);
  return status;
}

tb_status_t tb_rate_reset(tb_rate_t *rate)
{
  if (!rate) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_exchange(&rate->busy, true)) return TB_ERR_BUSY;
  tb_status_t status = rate_anchor(rate);
  atomic_store(&rate->busy, false);
  return status;
}

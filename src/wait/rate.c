#include <timebase/rate.h>

#include <stdlib.h>

#include "base/sized.h"
#include "wait/sleeper.h"

/* Deadlines are in what has passed on the clock's timeline (TB__AXIS_ELAPSED), which does not
 * advance before the first tick. A clock change begins another measure, which the epoch shows. */
struct tb_rate {
  tb_clock_t *clock; /* its memory is kept */
  int64_t period_ns;
  uint64_t deadline; /* end of the current period */
  uint64_t epoch;    /* of the clock, to which `deadline` belongs */
  bool at_once;      /* the last call did not wait */

  /* What failed calls could not report, for the next one that succeeds. */
  bool reanchored;
  int64_t late_ns;

  tb__mutex_t mutex;      /* nothing is locked under it; it guards: */
  bool busy;              /* a thread is in a call */
  bool destroyed;         /* that thread frees it */
  tb__sleeper_t *sleeper; /* of that thread, or NULL */
};

typedef struct pace {
  tb__sleeper_t sleeper;
  const tb_rate_t *rate;
  uint64_t deadline, next;
  uint64_t epoch;
  int64_t late_ns;
  bool reanchored;
  bool moved; /* by a jump that came before the call */
} pace_t;

/* A first period that starts now. */
static tb_status_t rate_anchor(tb_rate_t *rate)
{
  tb_timeline_t *timeline;
  tb__clock_enter(rate->clock);
  tb_status_t status = tb__clock_lock_settled(rate->clock, &timeline);
  if (!status) {
    if (rate->clock->closed) status = TB_ERR_CLOSED;
    rate->deadline = tb__timeline_elapsed_locked(timeline) + (uint64_t)rate->period_ns;
    rate->epoch = tb_clock_epoch(rate->clock);
    rate->at_once = rate->reanchored = false;
    rate->late_ns = 0;
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
  tb__mutex_init(&rate->mutex);
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

tb_status_t tb_clock_rate_create_hz(tb_clock_t *clock, double hz, tb_rate_t **out)
{
  tb_duration_t period;
  tb_status_t status = tb_duration_from_hz(hz, &period);
  return status ? status : tb_clock_rate_create(clock, period, out);
}

tb_status_t tb_steady_clock_rate_create_hz(tb_steady_clock_t *clock, double hz, tb_rate_t **out)
{
  tb_duration_t period;
  tb_status_t status = tb_duration_from_hz(hz, &period);
  return status ? status : tb_steady_clock_rate_create(clock, period, out);
}

tb_status_t tb_rate_period(const tb_rate_t *rate, tb_duration_t *out)
{
  if (!rate || !out) return TB_ERR_INVALID;
  out->ns = rate->period_ns;
  return TB_OK;
}

static void rate_free(tb_rate_t *rate)
{
  tb__mutex_fini(&rate->mutex);
  tb__clock_unref(rate->clock);
  free(rate);
}

void tb_rate_destroy(tb_rate_t *rate)
{
  if (!rate) return;
  tb__mutex_lock(&rate->mutex);
  bool busy = rate->busy && !tb__is_forked(); /* in a forked child that thread does not exist */
  rate->destroyed = true;
  if (busy && rate->sleeper) tb__sleeper_mark(rate->sleeper, TB__MARK_CLOSED);
  tb__mutex_unlock(&rate->mutex);
  if (!busy) rate_free(rate);
}

/* One thread at a time is in a call. */
static tb_status_t rate_enter(tb_rate_t *rate)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&rate->mutex);
  tb_status_t status = rate->destroyed ? TB_ERR_CLOSED : rate->busy ? TB_ERR_BUSY : TB_OK;
  if (!status) rate->busy = true;
  tb__mutex_unlock(&rate->mutex);
  return status;
}

/* Sets the sleeper of the thread that is in a call; NULL: it no longer waits. */
static void rate_set_sleeper(tb_rate_t *rate, tb__sleeper_t *sleeper)
{
  tb__mutex_lock(&rate->mutex);
  rate->sleeper = sleeper;
  if (sleeper && rate->destroyed) tb__sleeper_mark(sleeper, TB__MARK_CLOSED);
  tb__mutex_unlock(&rate->mutex);
}

static void rate_leave(tb_rate_t *rate)
{
  tb__mutex_lock(&rate->mutex);
  rate->busy = false;
  bool destroyed = rate->destroyed;
  tb__mutex_unlock(&rate->mutex);
  if (destroyed) rate_free(rate);
}

/* S9: the deadline of this call and of the next one. */
static void pace_plan(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  pace_t *pace = (pace_t *)sleeper;
  const tb_rate_t *rate = pace->rate;
  uint64_t period = (uint64_t)rate->period_ns;
  uint64_t elapsed = tb__timeline_elapsed_locked(timeline);
  pace->epoch = tb_clock_epoch(rate->clock);
  pace->moved = pace->reanchored = pace->epoch != rate->epoch;
  pace->deadline = pace->moved ? elapsed + period : rate->deadline;
  pace->next = pace->deadline + period;
  bool due = !tb__deadline_before(elapsed, pace->deadline);
  if (due) pace->late_ns = (int64_t)(elapsed - pace->deadline);
  if (pace->late_ns > rate->period_ns) {
    pace->next = elapsed + period;
    pace->reanchored = true;
  }
  sleeper->waiter.deadline = due && rate->at_once ? elapsed + 1 : pace->deadline;
}

/* The result of a call, with what those before it could not report. */
static tb_rate_result_t result_of(tb_rate_t *rate)
{
  tb_rate_result_t result = {
      .late = rate->late_ns > 0, .reanchored = rate->reanchored, .late_by = {rate->late_ns}};
  if (rate->late_ns > rate->period_ns) result.missed = (uint64_t)(rate->late_ns / rate->period_ns);
  rate->reanchored = false;
  rate->late_ns = 0;
  return result;
}

/* S9: a call that failed has not used up its period: if it was late for it, the next call is late
 * too. */
static void rate_note(tb_rate_t *rate, const pace_t *pace, tb_status_t status)
{
  bool restarted = pace->sleeper.repaced || pace->moved;
  if (!status || restarted) rate->reanchored |= pace->reanchored;
  if ((!status || pace->sleeper.repaced) && pace->late_ns > rate->late_ns)
    rate->late_ns = pace->late_ns;
  rate->deadline = status ? pace->deadline : pace->next;
  rate->epoch = pace->epoch;
}

static tb_status_t rate_sleep(tb_rate_t *rate, const tb_wait_options_t *options,
                              tb_rate_result_t *result)
{
  pace_t pace = {.rate = rate, .deadline = rate->deadline, .epoch = rate->epoch};
  tb_status_t status =
      tb__sleeper_init(&pace.sleeper, rate->clock, TB__GOAL_PACE, rate->period_ns, options);
  if (status) return status;
  pace.sleeper.plan = pace_plan;
  rate_set_sleeper(rate, &pace.sleeper);
  status = tb__sleeper_run(&pace.sleeper);
  rate_set_sleeper(rate, NULL);
  if (pace.sleeper.repaced) {
    pace.deadline = pace.sleeper.waiter.deadline;
    pace.next = pace.deadline + (uint64_t)rate->period_ns;
    pace.epoch = pace.sleeper.epoch;
    pace.reanchored = true;
  }
  rate_note(rate, &pace, status);
  if (status) return status;
  rate->at_once = !pace.sleeper.waited;
  tb_rate_result_t reported = result_of(rate);
  if (result) *result = reported;
  return TB_OK;
}

static tb_status_t rate_sleep_checked(tb_rate_t *rate, const tb_wait_options_t *options,
                                      tb_rate_result_t *result)
{
  if (!rate) return TB_ERR_INVALID;
  tb_status_t status = rate_enter(rate);
  if (status) return status;
  status = rate_sleep(rate, options, result);
  rate_leave(rate);
  return status;
}

tb_status_t tb_rate_sleep_sized(tb_rate_t *rate, const tb_wait_options_t *options,
                                size_t options_size, tb_rate_result_t *result, size_t result_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb_rate_result_t filled, *full = TB__SIZED_OUT(result, result_size, filled);
  tb_status_t status = rate_sleep_checked(rate, options, full);
  TB__SIZED_END(status, result, result_size, full);
  return status;
}

tb_status_t tb_rate_reset(tb_rate_t *rate)
{
  if (!rate) return TB_ERR_INVALID;
  tb_status_t status = rate_enter(rate);
  if (status) return status;
  status = rate_anchor(rate);
  rate_leave(rate);
  return status;
}

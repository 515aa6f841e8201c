/* Statistics of a timer. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/saturate.h"
#include "measure/statistics.h"

#define CORRECTIONS_MAX 1000

/* The calls that were missed would have been late too, each by a period less. */
static void note_corrected(tb_timer_statistics_t *timer, int64_t lateness_ns, uint64_t missed)
{
  if (!timer->period_ns) return;
  uint64_t count = missed < CORRECTIONS_MAX ? missed : CORRECTIONS_MAX;
  for (uint64_t i = 0; i <= count && lateness_ns >= 0; i++, lateness_ns -= timer->period_ns)
    tb_histogram_record(timer->corrected_writer, (tb_duration_t){lateness_ns});
}

/* How many have begun. */
static uint64_t epochs_of(const tb_statistics_t *statistics)
{
  const _Atomic uint64_t *seen = statistics->seen;
  return tb__count_of(&seen[TB__BACKWARD]) + tb__count_of(&seen[TB__CHANGE]);
}

static void note_epoch(tb_timer_statistics_t *timer)
{
  uint64_t epochs = epochs_of(timer->statistics);
  if (epochs == timer->epochs) return;
  timer->epochs = epochs;
  tb_histogram_writer_begin_epoch(timer->writer);
  tb_histogram_writer_begin_epoch(timer->corrected_writer);
}

static void note(tb_timer_statistics_t *timer, int64_t lateness_ns, uint64_t missed)
{
  note_epoch(timer);
  tb_histogram_record(timer->writer, (tb_duration_t){lateness_ns});
  note_corrected(timer, lateness_ns, missed);
  tb__count(&timer->missed, missed);
}

tb_status_t tb_timer_statistics_set_period(tb_timer_statistics_t *timer, tb_duration_t period)
{
  if (!timer) return TB_OK;
  if (period.ns <= 0) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (!timer->corrected) {
    tb_histogram_t *histogram;
    tb_status_t status = tb__statistics_histogram(&histogram, &timer->corrected_writer);
    if (status) return status;
    atomic_store(&timer->corrected, histogram);
  }
  timer->period_ns = period.ns;
  return TB_OK;
}

const tb_histogram_t *tb_timer_statistics_corrected_lateness(const tb_timer_statistics_t *timer)
{
  return timer ? atomic_load(&timer->corrected) : NULL;
}

void tb_timer_statistics_note(tb_timer_statistics_t *timer, tb_time_t scheduled, tb_time_t actual,
                              uint64_t missed)
{
  if (timer) note(timer, tb__sub_saturated(actual.ns, scheduled.ns), missed);
}

void tb_timer_statistics_note_steady(tb_timer_statistics_t *timer, tb_steady_time_t scheduled,
                                     tb_steady_time_t actual, uint64_t missed)
{
  if (timer) note(timer, tb__sub_saturated(actual.ns, scheduled.ns), missed);
}

const tb_histogram_t *tb_timer_statistics_lateness(const tb_timer_statistics_t *timer)
{
  return timer ? timer->lateness : NULL;
}

uint64_t tb_timer_statistics_missed(const tb_timer_statistics_t *timer)
{
  return timer ? tb__count_of(&timer->missed) : 0;
}

void tb__timer_statistics_snapshot(tb_timer_statistics_t *timer)
{
  tb_histogram_snapshot(timer->lateness);
  tb_histogram_t *corrected = atomic_load(&timer->corrected);
  if (corrected) tb_histogram_snapshot(corrected);
}

void tb__timer_statistics_free(tb_timer_statistics_t *timer)
{
  tb_histogram_destroy(timer->lateness);
  tb_histogram_destroy(timer->corrected);
  free(timer);
}

/* False: the node has statistics of this name. */
static bool append(tb_timer_statistics_t *timer)
{
  tb_statistics_t *statistics = timer->statistics;
  tb__mutex_lock(&statistics->mutex);
  const tb_timer_statistics_t *other = statistics->timers;
  while (other && strcmp(other->name, timer->name) != 0)
    other = other->next;
  if (!other) TB__CHAIN_APPEND(statistics->timers, timer);
  tb__mutex_unlock(&statistics->mutex);
  return !other;
}

tb_status_t tb_timer_statistics_create(tb_statistics_t *statistics, const char *name,
                                       tb_timer_statistics_t **out)
{
  if (!statistics || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_timer_statistics_t *timer = calloc(1, sizeof *timer);
  if (!timer) return TB_ERR_NO_MEMORY;
  timer->statistics = statistics;
  tb_status_t status = tb__statistics_name(name, timer->name) ? TB_OK : TB_ERR_INVALID;
  if (!status) status = tb__statistics_histogram(&timer->lateness, &timer->writer);
  if (status) {
    tb__timer_statistics_free(timer);
    return status;
  }
  timer->epochs = epochs_of(statistics);
  if (!append(timer)) {
    tb__timer_statistics_free(timer);
    return TB_ERR_INVALID;
  }
  *out = timer;
  return TB_OK;
}

void tb_timer_statistics_destroy(tb_timer_statistics_t *timer)
{
  if (!timer) return;
  tb_statistics_t *statistics = timer->statistics;
  /* in a forked child the list may be half changed: then it is left as it is */
  if (tb__is_forked() && !tb__mutex_was_free(&statistics->mutex)) return;
  tb__mutex_lock(&statistics->mutex);
  TB__CHAIN_REMOVE(statistics->timers, timer);
  tb__mutex_unlock(&statistics->mutex);
  tb__timer_statistics_free(timer);
}

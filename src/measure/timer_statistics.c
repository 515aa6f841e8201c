/* Statistics of a timer. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/saturate.h"
#include "measure/statistics.h"

static void note(tb_timer_statistics_t *timer, int64_t lateness_ns, uint64_t missed)
{
  tb_histogram_record(timer->writer, (tb_duration_t){lateness_ns});
  tb__count(&timer->missed, missed);
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

void tb__timer_statistics_free(tb_timer_statistics_t *timer)
{
  tb_histogram_destroy(timer->lateness);
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

/* Absolute deadlines, and how a limit (TB_NO_LIMIT) becomes one. */
#ifndef TB_PLATFORM_DEADLINE_H
#define TB_PLATFORM_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/duration.h>

#include "base/saturate.h"
#include "platform/time.h"

typedef enum tb__deadline_clock {
  TB__DEADLINE_NONE,
  TB__DEADLINE_STEADY, /* CLOCK_MONOTONIC */
  TB__DEADLINE_SYSTEM, /* CLOCK_REALTIME: follows steps of the wall clock */
} tb__deadline_clock_t;

typedef struct tb__deadline {
  tb__deadline_clock_t clock;
  int64_t ns; /* of that clock; 0 or less has always passed; INT64_MAX: none */
} tb__deadline_t;

#define TB__NO_DEADLINE ((tb__deadline_t){TB__DEADLINE_NONE, INT64_MAX})

/* What a wait gets that must only look. */
#define TB__PASSED_DEADLINE ((tb__deadline_t){TB__DEADLINE_STEADY, 0})

/* At a steady time; INT64_MAX: none. */
static inline tb__deadline_t tb__deadline_at(int64_t steady_ns)
{
  return steady_ns == INT64_MAX ? TB__NO_DEADLINE
                                : (tb__deadline_t){TB__DEADLINE_STEADY, steady_ns};
}

static inline bool tb__deadline_has_passed(tb__deadline_t deadline)
{
  return deadline.clock == TB__DEADLINE_STEADY && deadline.ns <= 0;
}

static inline bool tb__limit_is_valid(tb_duration_t limit)
{
  return limit.ns >= 0 || limit.ns == TB_NO_WAIT.ns;
}

/* The end of a limit that begins now, in the steady time that `now_ns` reads. TB_ERR_INVALID. */
TB_WARN_UNUSED static inline tb_status_t
tb__limit_begin_in(tb_duration_t limit, int64_t (*now_ns)(void), tb__deadline_t *out)
{
  if (!tb__limit_is_valid(limit)) return TB_ERR_INVALID;
  if (limit.ns > 0)
    *out = tb__deadline_at(tb__add_saturated(now_ns(), limit.ns));
  else
    *out = limit.ns < 0 ? TB__PASSED_DEADLINE : TB__NO_DEADLINE;
  return TB_OK;
}

TB_WARN_UNUSED static inline tb_status_t tb__limit_begin(tb_duration_t limit, tb__deadline_t *out)
{
  return tb__limit_begin_in(limit, tb__steady_now_ns, out);
}

#endif

/* Absolute deadlines, and how a limit in steady time becomes one. */
#ifndef TB_PLATFORM_DEADLINE_H
#define TB_PLATFORM_DEADLINE_H

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
  int64_t ns; /* of that clock; negative counts as 0 */
} tb__deadline_t;

#define TB__NO_DEADLINE ((tb__deadline_t){TB__DEADLINE_NONE, 0})

/* At a steady time; INT64_MAX: none. */
static inline tb__deadline_t tb__deadline_at(int64_t steady_ns)
{
  return steady_ns == INT64_MAX ? TB__NO_DEADLINE
                                : (tb__deadline_t){TB__DEADLINE_STEADY, steady_ns};
}

/* The steady time at which a limit that begins now ends; INT64_MAX for 0, which is no limit. */
static inline int64_t tb__limit_end_ns(tb_duration_t limit)
{
  return limit.ns > 0 ? tb__add_saturated(tb__steady_now_ns(), limit.ns) : INT64_MAX;
}

/* The end of a limit that begins now; none for 0. */
static inline tb__deadline_t tb__deadline_within(tb_duration_t limit)
{
  return tb__deadline_at(tb__limit_end_ns(limit));
}

/* After a time that begins now; 0 or less: at once. */
static inline tb__deadline_t tb__deadline_after(tb_duration_t time)
{
  return tb__deadline_at(tb__add_saturated(tb__steady_now_ns(), time.ns > 0 ? time.ns : 0));
}

#endif

#include <timebase/sleep.h>

#include "base/sized.h"
#include "wait/sleeper.h"

static tb_status_t sleep_on(tb_clock_t *clock, tb__goal_t goal, int64_t goal_ns,
                            const tb_wait_options_t *options)
{
  tb__sleeper_t sleeper;
  tb_status_t status = tb__sleeper_init(&sleeper, clock, goal, goal_ns, options);
  return status ? status : tb__sleeper_run(&sleeper);
}

tb_status_t tb_clock_sleep_until_sized(tb_clock_t *clock, tb_time_t target,
                                       const tb_wait_options_t *options, size_t options_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!clock) return TB_ERR_INVALID;
  if (target.kind != clock->kind) return TB_ERR_CLOCK_MISMATCH;
  if (target.kind == TB_TIME_ROS && target.ns == 0) return TB_ERR_NOT_SET;
  return sleep_on(clock, TB__GOAL_UNTIL, target.ns, options);
}

tb_status_t tb_clock_sleep_for_sized(tb_clock_t *clock, tb_duration_t duration,
                                     const tb_wait_options_t *options, size_t options_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return clock ? sleep_on(clock, TB__GOAL_FOR, duration.ns, options) : TB_ERR_INVALID;
}

tb_status_t tb_clock_wait_until_started_sized(tb_clock_t *clock, const tb_wait_options_t *options,
                                              size_t options_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return clock ? sleep_on(clock, TB__GOAL_START, 0, options) : TB_ERR_INVALID;
}

tb_status_t tb_steady_clock_sleep_until_sized(tb_steady_clock_t *clock, tb_steady_time_t target,
                                              const tb_wait_options_t *options, size_t options_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return clock ? sleep_on(&clock->core, TB__GOAL_UNTIL, target.ns, options) : TB_ERR_INVALID;
}

tb_status_t tb_steady_clock_sleep_for_sized(tb_steady_clock_t *clock, tb_duration_t duration,
                                            const tb_wait_options_t *options, size_t options_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return clock ? sleep_on(&clock->core, TB__GOAL_FOR, duration.ns, options) : TB_ERR_INVALID;
}

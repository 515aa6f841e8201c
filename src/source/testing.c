#include <timebase/testing.h>

#include "base/sized.h"
#include "clock/jump_wait.h"
#include "clock/step.h"
#include "held/held_time.h"
#include "held/parking.h"
#include "wait/settle.h"

tb_status_t tb_testing_hold_os_time(void)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  tb__timeline_track(tb__timeline_steady()); /* for these two it cannot fail */
  tb__timeline_track(tb__timeline_system());
  return tb__held_time_take();
}

tb_status_t tb_testing_release_os_time(void)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  tb_status_t status = tb__held_time_give_back();
  if (!status) tb__steps_follow(); /* system time is no longer what it was set to */
  return status;
}

static bool is_known(tb_testing_clock_t which)
{
  return which == TB_TESTING_STEADY || which == TB_TESTING_SYSTEM;
}

static tb__deadline_clock_t clock_of(tb_testing_clock_t which)
{
  return which == TB_TESTING_SYSTEM ? TB__DEADLINE_SYSTEM : TB__DEADLINE_STEADY;
}

tb_status_t tb_testing_now(tb_testing_clock_t which, int64_t *out_ns)
{
  return is_known(which) && out_ns ? tb__held_time_get(clock_of(which), out_ns) : TB_ERR_INVALID;
}

static tb_status_t move(tb_testing_clock_t which, int64_t time_ns, bool is_step,
                        tb__settle_t *settle)
{
  if (!is_known(which)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  tb_status_t status = tb__held_time_set(clock_of(which), time_ns, is_step);
  if (!status && which == TB_TESTING_SYSTEM) tb__steps_follow();
  return !status && settle ? tb__settle_wait(settle) : status;
}

/* Steady time is never set: it passes. */
static tb_status_t set(tb_testing_clock_t which, int64_t time_ns, tb__settle_t *settle)
{
  return move(which, time_ns, which == TB_TESTING_SYSTEM, settle);
}

static tb_status_t pass_to(tb_testing_clock_t which, int64_t time_ns, tb__settle_t *settle)
{
  return move(which, time_ns, false, settle);
}

static tb_status_t step_target(tb_testing_clock_t which, tb_duration_t step, int64_t *out_ns)
{
  int64_t now_ns;
  tb_status_t status = tb_testing_now(which, &now_ns);
  if (status) return status;
  return __builtin_add_overflow(now_ns, step.ns, out_ns) ? TB_ERR_OVERFLOW : TB_OK;
}

static tb_status_t advance(tb_testing_clock_t which, tb_duration_t step, tb__settle_t *settle)
{
  int64_t target_ns;
  tb_status_t status = step_target(which, step, &target_ns);
  return status ? status : pass_to(which, target_ns, settle);
}

static tb_status_t advance_stepped(tb_testing_clock_t which, tb_duration_t step, uint32_t max_stops,
                                   tb__settle_t *settle)
{
  int64_t target_ns, next_ns;
  tb_status_t status = step_target(which, step, &target_ns);
  if (!status && step.ns < 0) status = TB_ERR_RANGE;
  if (!status && settle) status = tb__settle_wait(settle); /* all deadlines are to be seen */
  while (!status && tb__held_time_next(clock_of(which), &next_ns) && next_ns < target_ns) {
    if (max_stops-- == 0) return TB_ERR_LIMIT;
    status = pass_to(which, next_ns, settle);
  }
  return status ? status : pass_to(which, target_ns, settle);
}

static tb_status_t advance_to_next(tb_testing_clock_t which, tb__settle_t *settle)
{
  int64_t now_ns, next_ns;
  tb_status_t status = tb_testing_now(which, &now_ns);
  if (!status && settle) status = tb__settle_wait(settle);
  if (status) return status;
  if (!tb__held_time_next(clock_of(which), &next_ns)) return TB_ERR_NOT_FOUND;
  return pass_to(which, next_ns, settle);
}

tb_status_t tb_testing_set(tb_testing_clock_t which, int64_t time_ns)
{
  return set(which, time_ns, NULL);
}

tb_status_t tb_testing_advance(tb_testing_clock_t which, tb_duration_t step)
{
  return advance(which, step, NULL);
}

tb_status_t tb_testing_advance_stepped(tb_testing_clock_t which, tb_duration_t step,
                                       uint32_t max_stops)
{
  return advance_stepped(which, step, max_stops, NULL);
}

tb_status_t tb_testing_advance_to_next(tb_testing_clock_t which)
{
  return advance_to_next(which, NULL);
}

tb_status_t tb_testing_set_and_run_sized(tb_testing_clock_t which, int64_t time_ns,
                                         const tb_run_options_t *options, size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = tb__settle_begin(&settle, NULL, options);
  if (status) return status;
  status = set(which, time_ns, &settle);
  tb__settle_end(&settle);
  return status;
}

tb_status_t tb_testing_advance_and_run_sized(tb_testing_clock_t which, tb_duration_t step,
                                             const tb_run_options_t *options, size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = tb__settle_begin(&settle, NULL, options);
  if (status) return status;
  status = advance(which, step, &settle);
  tb__settle_end(&settle);
  return status;
}

tb_status_t tb_testing_advance_stepped_and_run_sized(tb_testing_clock_t which, tb_duration_t step,
                                                     uint32_t max_stops,
                                                     const tb_run_options_t *options,
                                                     size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = tb__settle_begin(&settle, NULL, options);
  if (status) return status;
  status = advance_stepped(which, step, max_stops, &settle);
  tb__settle_end(&settle);
  return status;
}

tb_status_t tb_testing_advance_to_next_and_run_sized(tb_testing_clock_t which,
                                                     const tb_run_options_t *options,
                                                     size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = tb__settle_begin(&settle, NULL, options);
  if (status) return status;
  status = advance_to_next(which, &settle);
  tb__settle_end(&settle);
  return status;
}

static bool enough_idle(void *wanted)
{
  return tb__parking_count_idle() >= *(uint32_t *)wanted;
}

tb_status_t tb_testing_wait_for_sleepers_sized(uint32_t count, const tb_run_options_t *options,
                                               size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!tb__time_is_held()) return TB_ERR_DETACHED;
  tb__settle_t settle;
  tb_status_t status = tb__settle_begin(&settle, NULL, options);
  if (status) return status;
  status = tb__settle_wait_for(&settle, enough_idle, &count);
  tb__settle_end(&settle);
  return status;
}

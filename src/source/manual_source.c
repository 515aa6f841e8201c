#include <timebase/manual_source.h>

#include "clock/source.h"
#include "source/source_names.h"

static const tb_source_ops_t manual_ops = {.name = "manual"};

tb_status_t tb_manual_source_create(tb_source_t **out)
{
  tb_status_t status = tb_source_create(&manual_ops, NULL, out);
  if (status) return status;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = 0; /* whoever moves it knows */
  return tb_timeline_set_options((*out)->timeline, &options);
}

static bool is_manual(const tb_source_t *source)
{
  return source && source->ops == &manual_ops;
}

tb_status_t tb_manual_source_jump(tb_source_t *source, int64_t time_ns, tb_jump_reason_t reason)
{
  return is_manual(source) ? tb_timeline_tick(source->timeline, time_ns, reason) : TB_ERR_INVALID;
}

tb_status_t tb_manual_source_set(tb_source_t *source, int64_t time_ns)
{
  return tb_manual_source_jump(source, time_ns, TB_JUMP_REASON_NONE);
}

static int64_t source_now(tb_source_t *source)
{
  tb__mutex_lock(&source->timeline->mutex);
  int64_t now_ns = tb__timeline_time_locked(source->timeline);
  tb__mutex_unlock(&source->timeline->mutex);
  return now_ns;
}

/* TB_JUMP_REASON_TICK: the time passes, however long the step. */
static tb_status_t pass_to(tb_source_t *source, int64_t time_ns)
{
  return tb_timeline_tick(source->timeline, time_ns, TB_JUMP_REASON_TICK);
}

static tb_status_t step_target(tb_source_t *source, tb_duration_t step, int64_t *out_ns)
{
  if (!is_manual(source)) return TB_ERR_INVALID;
  if (__builtin_add_overflow(source_now(source), step.ns, out_ns)) return TB_ERR_OVERFLOW;
  return *out_ns < 0 ? TB_ERR_RANGE : TB_OK;
}

tb_status_t tb_manual_source_advance(tb_source_t *source, tb_duration_t step)
{
  int64_t target_ns;
  tb_status_t status = step_target(source, step, &target_ns);
  return status ? status : pass_to(source, target_ns);
}

tb_status_t tb_manual_source_advance_stepped(tb_source_t *source, tb_duration_t step,
                                             uint32_t max_ticks)
{
  int64_t target_ns, deadline_ns;
  tb_status_t status = step_target(source, step, &target_ns);
  if (!status && step.ns < 0) status = TB_ERR_RANGE;
  while (!status && tb__timeline_next_deadline(source->timeline, &deadline_ns) &&
         deadline_ns < target_ns) {
    if (max_ticks-- == 0) return TB_ERR_LIMIT;
    status = pass_to(source, deadline_ns);
  }
  return status ? status : pass_to(source, target_ns);
}

tb_status_t tb_manual_source_advance_to_next(tb_source_t *source)
{
  int64_t deadline_ns;
  if (!is_manual(source)) return TB_ERR_INVALID;
  if (!tb__timeline_next_deadline(source->timeline, &deadline_ns)) return TB_ERR_NOT_FOUND;
  return pass_to(source, deadline_ns);
}

tb_status_t tb__manual_source_from_name(const char *rest, void *user, tb_error_t *error,
                                        tb_source_t **out)
{
  (void)user;
  if (*rest)
    return tb_error_set(error, TB_ERR_INVALID, "source \"manual:%.99s\": manual takes nothing more",
                        rest);
  return tb_manual_source_create(out);
}

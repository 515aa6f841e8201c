#include <timebase/manual_source.h>

#include "base/sized.h"
#include "clock/source.h"
#include "source/source_names.h"
#include "wait/settle.h"

static const tb_source_ops_t manual_ops = {.name = "manual"};

tb_status_t tb_manual_source_create(tb_source_t **out)
{
  tb_status_t status = tb_source_create(&manual_ops, NULL, out);
  if (status) return status;
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = 0; /* the program that moves it knows when it is stopped */
  return tb_timeline_set_options((*out)->timeline, &options);
}

static bool is_manual(const tb_source_t *source)
{
  return tb__source_is(source, &manual_ops);
}

static tb_status_t settle_begin(tb__settle_t *settle, tb_source_t *source,
                                const tb_run_options_t *options)
{
  return is_manual(source)
             ? tb__settle_begin(settle, tb__timeline_target(source->timeline), options)
             : TB_ERR_INVALID;
}

/* X2: every move goes through here: one tick and, with `settle`, everything that it made due. */
static tb_status_t move(tb_source_t *source, int64_t time_ns, tb_jump_reason_t reason,
                        tb__settle_t *settle)
{
  tb_status_t status = tb_timeline_tick(source->timeline, time_ns, reason);
  return !status && settle ? tb__settle_wait(settle) : status;
}

tb_status_t tb_manual_source_jump(tb_source_t *source, int64_t time_ns, tb_jump_reason_t reason)
{
  return is_manual(source) ? move(source, time_ns, reason, NULL) : TB_ERR_INVALID;
}

tb_status_t tb_manual_source_set(tb_source_t *source, int64_t time_ns)
{
  return tb_manual_source_jump(source, time_ns, TB_JUMP_REASON_NONE);
}

tb_status_t tb_manual_source_jump_and_run_sized(tb_source_t *source, int64_t time_ns,
                                                tb_jump_reason_t reason,
                                                const tb_run_options_t *options,
                                                size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = settle_begin(&settle, source, options);
  if (status) return status;
  status = move(source, time_ns, reason, &settle);
  tb__settle_end(&settle);
  return status;
}

tb_status_t tb_manual_source_set_and_run_sized(tb_source_t *source, int64_t time_ns,
                                               const tb_run_options_t *options, size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return tb_manual_source_jump_and_run(source, time_ns, TB_JUMP_REASON_NONE, options);
}

static int64_t source_now(tb_source_t *source)
{
  tb_timeline_t *timeline = tb__timeline_target(source->timeline);
  tb__mutex_lock(&timeline->mutex);
  int64_t now_ns = tb__timeline_time_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
  return now_ns;
}

/* TB_JUMP_REASON_TICK: time passes, however long the step is. */
static tb_status_t pass_to(tb_source_t *source, int64_t time_ns, tb__settle_t *settle)
{
  return move(source, time_ns, TB_JUMP_REASON_TICK, settle);
}

static tb_status_t step_target(tb_source_t *source, tb_duration_t step, int64_t *out_ns)
{
  if (!is_manual(source)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (__builtin_add_overflow(source_now(source), step.ns, out_ns)) return TB_ERR_OVERFLOW;
  return *out_ns < 0 ? TB_ERR_RANGE : TB_OK;
}

static tb_status_t advance(tb_source_t *source, tb_duration_t step, tb__settle_t *settle)
{
  int64_t target_ns;
  tb_status_t status = step_target(source, step, &target_ns);
  return status ? status : pass_to(source, target_ns, settle);
}

tb_status_t tb_manual_source_advance(tb_source_t *source, tb_duration_t step)
{
  return advance(source, step, NULL);
}

tb_status_t tb_manual_source_advance_and_run_sized(tb_source_t *source, tb_duration_t step,
                                                   const tb_run_options_t *options,
                                                   size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = settle_begin(&settle, source, options);
  if (status) return status;
  status = advance(source, step, &settle);
  tb__settle_end(&settle);
  return status;
}

static tb_status_t advance_stepped(tb_source_t *source, tb_duration_t step, uint32_t max_ticks,
                                   tb__settle_t *settle)
{
  int64_t target_ns, deadline_ns;
  tb_status_t status = step_target(source, step, &target_ns);
  if (!status && step.ns < 0) status = TB_ERR_RANGE;
  if (!status && settle) status = tb__settle_wait(settle); /* so that all deadlines are known */
  while (!status && tb__timeline_next_deadline(source->timeline, &deadline_ns) &&
         deadline_ns < target_ns) {
    if (max_ticks-- == 0) return TB_ERR_LIMIT;
    status = pass_to(source, deadline_ns, settle);
  }
  return status ? status : pass_to(source, target_ns, settle);
}

tb_status_t tb_manual_source_advance_stepped(tb_source_t *source, tb_duration_t step,
                                             uint32_t max_ticks)
{
  return advance_stepped(source, step, max_ticks, NULL);
}

tb_status_t tb_manual_source_advance_stepped_and_run_sized(tb_source_t *source, tb_duration_t step,
                                                           uint32_t max_ticks,
                                                           const tb_run_options_t *options,
                                                           size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = settle_begin(&settle, source, options);
  if (status) return status;
  status = advance_stepped(source, step, max_ticks, &settle);
  tb__settle_end(&settle);
  return status;
}

static tb_status_t advance_to_next(tb_source_t *source, tb__settle_t *settle)
{
  int64_t deadline_ns;
  if (!is_manual(source)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_status_t status = settle ? tb__settle_wait(settle) : TB_OK;
  if (status) return status;
  if (!tb__timeline_next_deadline(source->timeline, &deadline_ns)) return TB_ERR_NOT_FOUND;
  return pass_to(source, deadline_ns, settle);
}

tb_status_t tb_manual_source_advance_to_next(tb_source_t *source)
{
  return advance_to_next(source, NULL);
}

tb_status_t tb_manual_source_advance_to_next_and_run_sized(tb_source_t *source,
                                                           const tb_run_options_t *options,
                                                           size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = settle_begin(&settle, source, options);
  if (status) return status;
  status = advance_to_next(source, &settle);
  tb__settle_end(&settle);
  return status;
}

typedef struct sleepers {
  tb_timeline_t *timeline;
  uint32_t wanted;
} sleepers_t;

static bool enough_sleep(void *user)
{
  const sleepers_t *sleepers = user;
  tb__mutex_lock(&sleepers->timeline->mutex);
  bool enough = sleepers->timeline->sleepers >= sleepers->wanted;
  tb__mutex_unlock(&sleepers->timeline->mutex);
  return enough;
}

tb_status_t tb_manual_source_wait_for_sleepers_sized(tb_source_t *source, uint32_t count,
                                                     const tb_run_options_t *options,
                                                     size_t options_size)
{
  tb_run_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb__settle_t settle;
  tb_status_t status = settle_begin(&settle, source, options);
  if (status) return status;
  sleepers_t sleepers = {tb__timeline_target(source->timeline), count};
  status = tb__settle_wait_for(&settle, enough_sleep, &sleepers);
  tb__settle_end(&settle);
  return status;
}

tb_status_t tb__manual_source_from_name(const char *rest, void *user, tb_source_t **out,
                                        tb_error_t *error)
{
  (void)user;
  if (*rest)
    return tb_error_set(error, TB_ERR_INVALID,
                        "source \"manual:%.99s\": \"manual\" takes no argument", rest);
  return tb_manual_source_create(out);
}

#include <timebase/extrapolating_source.h>

#include <stdlib.h>

#include "base/sized.h"
#include "clock/jump_wait.h"
#include "clock/source.h"
#include "platform/time.h"
#include "source/extrapolation.h"
#include "source/source_names.h"

#define BOUND_MAX_NS (INT64_C(3600) * TB_NS_PER_S)

typedef struct extrapolating {
  tb__redirect_t redirect; /* of the timeline of `inner` */
  tb_source_t *inner;
  tb__extrapolation_t extrapolation; /* guarded by the mutex of redirect.to */
} extrapolating_t;

/* ---- ticks of the inner source ---- */

typedef struct observing_policy {
  tb__anchor_policy_t policy;
  extrapolating_t *self;
  const tb_anchor_t *anchor;
  int64_t arrival_ns;
  tb__extrapolation_t next; /* takes effect when the anchor is committed */
} observing_policy_t;

static tb_anchor_t extrapolate(tb__anchor_policy_t *policy, int64_t time_ns, int64_t steady_ns)
{
  observing_policy_t *observing = (observing_policy_t *)policy;
  const tb_anchor_t *anchor = observing->anchor;
  observing->next = observing->self->extrapolation;
  if (anchor->rate != 0 || anchor->bound.ns < 0) {
    tb__extrapolation_anchor(&observing->next, anchor);
    return *anchor;
  }
  tb__observed_tick_t tick = {anchor->time_ns, observing->arrival_ns, policy->reason,
                              anchor->state};
  return tb__extrapolation_tick(&observing->next, &tick, time_ns, steady_ns);
}

static void moved(tb__anchor_policy_t *policy)
{
  observing_policy_t *observing = (observing_policy_t *)policy;
  observing->self->extrapolation = observing->next;
}

static tb_status_t commit(tb__redirect_t *redirect, const tb_anchor_t *anchor,
                          tb_jump_reason_t reason, bool may_wait)
{
  observing_policy_t observing = {
      .policy = {.next_anchor = extrapolate,
                 .moved = moved,
                 .reason = reason,
                 .may_wait = may_wait},
      .self = (extrapolating_t *)redirect,
      .anchor = anchor,
      .arrival_ns = tb__steady_now_ns(),
  };
  return tb__timeline_apply_policy(redirect->to, &observing.policy);
}

/* ---- the source ---- */

static tb_status_t extrapolating_start(void *user, tb_timeline_t *timeline)
{
  extrapolating_t *self = user;
  (void)timeline;
  return self->inner->ops->start(self->inner->self, self->inner->timeline);
}

static void extrapolating_stop(void *user)
{
  extrapolating_t *self = user;
  if (self->inner->ops->stop) self->inner->ops->stop(self->inner->self);
}

static void extrapolating_destroy(void *user)
{
  extrapolating_t *self = user;
  if (self->inner) {
    tb__source_unwrap(self->inner);
    tb_source_destroy(self->inner);
  }
  free(self);
}

static const tb_source_ops_t extrapolating_ops = {
    .name = "extrapolating",
    .start = extrapolating_start,
    .stop = extrapolating_stop,
    .destroy = extrapolating_destroy,
};

/* For a source without a start, which may be moved before it has a clock: its time is kept. */
static const tb_source_ops_t unstarted_ops = {
    .name = "extrapolating",
    .stop = extrapolating_stop,
    .destroy = extrapolating_destroy,
};

static extrapolating_t *extrapolating_of(tb_source_t *source)
{
  bool is = tb__source_is(source, &extrapolating_ops) || tb__source_is(source, &unstarted_ops);
  return is ? source->self : NULL;
}

static void copy_options(tb_timeline_t *from, tb_timeline_t *to)
{
  tb__mutex_lock(&from->mutex);
  int64_t forward_jump_min_ns = from->forward_jump_min_ns;
  tb__mutex_unlock(&from->mutex);
  tb__mutex_lock(&to->mutex);
  to->forward_jump_min_ns = forward_jump_min_ns;
  atomic_store(&to->liveness.stall_limit_ns, atomic_load(&from->liveness.stall_limit_ns));
  atomic_store(&to->slow_handler_ns, atomic_load(&from->slow_handler_ns));
  atomic_store(&to->readers_give_up, atomic_load(&from->readers_give_up));
  tb__mutex_unlock(&to->mutex);
}

tb_status_t tb_extrapolating_source_create_sized(tb_source_t *inner,
                                                 const tb_extrapolating_options_t *options,
                                                 size_t options_size, tb_source_t **out)
{
  tb_extrapolating_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  static const tb_extrapolating_options_t defaults = TB_EXTRAPOLATING_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!inner || inner == TB_SOURCE_DEFAULT || !out || extrapolating_of(inner) ||
      options->bound.ns <= 0 || options->bound.ns > BOUND_MAX_NS)
    return TB_ERR_INVALID;
  if (inner->timeline->view) return TB_ERR_UNSUPPORTED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  extrapolating_t *self = calloc(1, sizeof *self);
  if (!self) return TB_ERR_NO_MEMORY;
  const tb_source_ops_t *ops = inner->ops->start ? &extrapolating_ops : &unstarted_ops;
  tb_source_t *source;
  tb_status_t status = tb_source_create(ops, self, &source);
  if (status) {
    free(self);
    return status;
  }
  self->extrapolation.bound_ns = options->bound.ns;
  self->redirect = (tb__redirect_t){source->timeline, commit};
  copy_options(inner->timeline, source->timeline);
  status = tb__source_wrap(inner, &self->redirect);
  if (status) {
    tb_source_destroy(source);
    return status;
  }
  self->inner = inner;
  *out = source;
  return TB_OK;
}

static tb_status_t extrapolating_source_stats(tb_source_t *source, tb_extrapolating_stats_t *out)
{
  if (!source || !out) return TB_ERR_INVALID;
  extrapolating_t *self = extrapolating_of(source);
  if (!self) return TB_ERR_INVALID;
  tb__mutex_lock(&source->timeline->mutex);
  tb__extrapolation_t now = self->extrapolation;
  tb__mutex_unlock(&source->timeline->mutex);
  *out = (tb_extrapolating_stats_t){
      .rate = now.rate,
      .bound = {now.bound_ns},
      .reach = {tb__extrapolation_reach(&now)},
      .last_error = {now.errors.last_ns},
      .largest_error = {now.errors.largest_ns},
      .mean_error = {now.errors.count ? (int64_t)(now.errors.sum_ns / (double)now.errors.count)
                                      : 0},
      .errors = now.errors.count,
      .held_ticks = now.errors.held,
  };
  return TB_OK;
}

tb_status_t tb_extrapolating_source_stats_sized(tb_source_t *source, tb_extrapolating_stats_t *out,
                                                size_t out_size)
{
  tb_extrapolating_stats_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = extrapolating_source_stats(source, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb__extrapolating_source_from_name(const char *rest, void *user, tb_source_t **out,
                                               tb_error_t *error)
{
  (void)user;
  tb_source_t *inner;
  tb_status_t status = tb_source_create_from_name(rest, &inner, error);
  if (status) return status;
  status = tb_extrapolating_source_create(inner, NULL, out);
  if (!status) return TB_OK;
  tb_source_destroy(inner);
  return tb_error_set(error, status, "source \"extrapolating:%.99s\": %s", rest,
                      status == TB_ERR_INVALID
                          ? "give a source to wrap, as in \"extrapolating:NAME\""
                      : status == TB_ERR_UNSUPPORTED
                          ? "shared memory cannot be wrapped: its publisher decides how time runs"
                          : tb_status_message(status));
}

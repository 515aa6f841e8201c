#include "base/sized.h"
#include "clock/timeline.h"

bool tb__anchor_is_valid(const tb_anchor_t *anchor)
{
  if (anchor->time_ns < 0 || anchor->bound.ns < 0) return false;
  if (anchor->state < TB_CLOCK_RUNNING || anchor->state > TB_CLOCK_LOST) return false;
  return anchor->rate >= 0 && anchor->rate <= TB_ANCHOR_RATE_MAX &&
         (anchor->rate == 0 || anchor->steady.ns > 0);
}

tb__linear_time_t tb__anchor_linear_time(const tb_anchor_t *anchor)
{
  tb__linear_time_t linear = {anchor->time_ns, anchor->steady.ns, 0, anchor->rate};
  if (__builtin_add_overflow(anchor->time_ns, anchor->bound.ns, &linear.until_ns))
    linear.until_ns = INT64_MAX;
  return linear;
}

typedef struct fixed_policy {
  tb__anchor_policy_t policy;
  tb_anchor_t anchor;
} fixed_policy_t;

static tb_anchor_t next_fixed(tb__anchor_policy_t *policy, int64_t time_ns, int64_t steady_ns)
{
  (void)time_ns;
  (void)steady_ns;
  return ((fixed_policy_t *)policy)->anchor;
}

tb_status_t tb_timeline_anchor_sized(tb_timeline_t *timeline, const tb_anchor_t *anchor,
                                     size_t anchor_size, tb_jump_reason_t reason)
{
  tb_anchor_t known;
  if (!TB__SIZED_IN(anchor, anchor_size, known)) return TB_ERR_UNSUPPORTED;
  if (!timeline || !anchor || timeline->kind != TB__TIMELINE_ROS) return TB_ERR_INVALID;
  if (anchor->time_ns < 0) {
    tb_timeline_count_dropped(timeline);
    return TB_ERR_RANGE;
  }
  tb__redirect_t *redirect = atomic_load(&timeline->redirect);
  if (redirect) return redirect->commit(redirect, anchor, reason, true);
  fixed_policy_t fixed = {.policy = {.next_anchor = next_fixed, .reason = reason, .may_wait = true},
                          .anchor = *anchor};
  return tb__timeline_apply_policy(timeline, &fixed.policy);
}

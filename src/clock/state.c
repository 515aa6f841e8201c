/* The state of a timeline, and its counts. */
#include "base/log.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "clock/timeline.h"
#include "platform/time.h"

const char *tb_clock_state_name(tb_clock_state_t state)
{
  static const char *const names[] = {
      [TB_CLOCK_INACTIVE] = "inactive",
      [TB_CLOCK_NO_SOURCE] = "no-source",
      [TB_CLOCK_NO_PUBLISHER] = "no-publisher",
      [TB_CLOCK_QOS_MISMATCH] = "qos-mismatch",
      [TB_CLOCK_WAITING] = "waiting",
      [TB_CLOCK_RUNNING] = "running",
      [TB_CLOCK_PAUSED] = "paused",
      [TB_CLOCK_STALLED] = "stalled",
      [TB_CLOCK_LOST] = "lost",
      [TB_CLOCK_CLOSED] = "closed",
  };
  bool is_known = (size_t)state < sizeof names / sizeof *names && names[state];
  return is_known ? names[state] : "unknown";
}

/* The last sign of life on a page, which its publisher notes there. In steady time that is not ours
 * the note is meaningless: then it is when this process first saw the current version. */
static int64_t page_sign_ns(tb__page_view_t *view)
{
  const tb__page_t *page = view ? atomic_load(&view->page) : NULL;
  if (!page) return 0;
  if (!atomic_load(&view->foreign)) return atomic_load(&page->alive_ns);
  uint64_t version = atomic_load(&page->version);
  if (version != atomic_load(&view->polled_version)) {
    atomic_store(&view->polled_ns, tb__steady_coarse_now_ns());
    atomic_store(&view->polled_version, version);
  }
  return atomic_load(&view->polled_ns);
}

static int64_t last_sign_ns(const tb__liveness_t *liveness)
{
  int64_t moved_ns = atomic_load_explicit(&liveness->moved_ns, memory_order_relaxed);
  int64_t repeated_ns = atomic_load_explicit(&liveness->repeated_ns, memory_order_relaxed);
  return moved_ns > repeated_ns ? moved_ns : repeated_ns;
}

int64_t tb__liveness_silence_ns(const tb__liveness_t *liveness, int64_t steady_ns)
{
  int64_t last_ns = last_sign_ns(liveness);
  return last_ns == 0 || last_ns == TB__LIVENESS_FOREVER ? 0 : steady_ns - last_ns;
}

/* 0: the silence is not too long, or does not count. */
static int64_t too_long_silence_ns(const tb_timeline_t *timeline, int64_t steady_ns)
{
  int64_t limit_ns = atomic_load_explicit(&timeline->liveness.stall_limit_ns, memory_order_relaxed);
  int64_t page_ns = page_sign_ns(timeline->view);
  int64_t silent_ns =
      page_ns > 0 ? steady_ns - page_ns : tb__liveness_silence_ns(&timeline->liveness, steady_ns);
  return silent_ns > limit_ns ? silent_ns : 0;
}

tb_clock_state_t tb__timeline_derive_state(const tb_timeline_t *timeline, tb_clock_state_t state)
{
  /* C8: silence is a stall, repetition a pause */
  const tb__liveness_t *liveness = &timeline->liveness;
  bool paused = timeline->view && state == TB_CLOCK_PAUSED; /* its publisher continues to tick */
  if (state != TB_CLOCK_RUNNING && !paused) return state;
  if (timeline->view && atomic_load(&timeline->view->lost)) return TB_CLOCK_LOST;
  if (too_long_silence_ns(timeline, tb__steady_coarse_now_ns())) return TB_CLOCK_STALLED;
  if (paused) return state;
  int64_t moved_ns = atomic_load_explicit(&liveness->moved_ns, memory_order_relaxed);
  int64_t repeated_ns = atomic_load_explicit(&liveness->repeated_ns, memory_order_relaxed);
  return moved_ns != TB__LIVENESS_FOREVER && repeated_ns - moved_ns >= TB__PAUSED_AFTER_NS
             ? TB_CLOCK_PAUSED
             : TB_CLOCK_RUNNING;
}

/* A page has its publisher's state, which may be ahead of what has been dispatched here. */
static bool published_state_locked(const tb_timeline_t *timeline, tb_clock_state_t *out)
    TB_REQUIRES(timeline->mutex)
{
  tb__page_copy_t copy;
  const tb__page_t *page = timeline->view ? atomic_load(&timeline->view->page) : NULL;
  bool on_page = page && tb__page_load(page, &copy);
  if (timeline->unsettled || (atomic_load(&timeline->version) & TB__VERSION_BLOCKED) ||
      (on_page && copy.epoch != atomic_load(&timeline->view->epoch)))
    return false;
  if (page && !on_page) copy.state = TB_CLOCK_LOST; /* its file was truncated */
  *out = page ? copy.state : timeline->state;
  return true;
}

/* The first moment at which the silence is too long; INT64_MAX: it never is. */
static int64_t stall_moment_ns(const tb_timeline_t *timeline)
{
  int64_t limit_ns = atomic_load_explicit(&timeline->liveness.stall_limit_ns, memory_order_relaxed);
  int64_t page_ns = page_sign_ns(timeline->view), moment_ns;
  int64_t last_ns = page_ns > 0 ? page_ns : last_sign_ns(&timeline->liveness);
  bool never = last_ns == 0 || last_ns == TB__LIVENESS_FOREVER || limit_ns == INT64_MAX;
  return never || __builtin_add_overflow(last_ns, limit_ns + 1, &moment_ns) ? INT64_MAX : moment_ns;
}

bool tb__timeline_visible_state_locked(const tb_timeline_t *timeline, tb__visible_state_t *out)
{
  tb_clock_state_t published;
  if (!published_state_locked(timeline, &published)) return false;
  tb_clock_state_t state = tb__timeline_derive_state(timeline, published);
  bool ticks = published == TB_CLOCK_RUNNING || timeline->view;
  bool may_stall = ticks && (state == TB_CLOCK_RUNNING || state == TB_CLOCK_PAUSED);
  *out = (tb__visible_state_t){state, may_stall ? stall_moment_ns(timeline) : INT64_MAX};
  return true;
}

/* The sign of life after which there has been none. */
static int64_t stalled_at_ns(const tb_timeline_t *timeline)
{
  int64_t page_ns = page_sign_ns(timeline->view);
  return page_ns > 0 ? page_ns : last_sign_ns(&timeline->liveness);
}

static void stall_count(tb_timeline_t *timeline)
{
  int64_t at_ns = stalled_at_ns(timeline);
  if (atomic_exchange(&timeline->liveness.stalled_at_ns, at_ns) != at_ns)
    atomic_fetch_add_explicit(&timeline->counts.stalls, 1, memory_order_relaxed);
}

/* After a process was stopped (SIGSTOP), its threads may read the clock before the ticks that came
 * meanwhile are received. So who was late itself reports what was already seen a while ago. */
static bool stall_is_confirmed(tb__liveness_t *liveness, int64_t moment_ns, int64_t now_ns,
                               bool late)
{
  int64_t seen_ns = atomic_load(&liveness->seen_ns);
  bool is_of_earlier = seen_ns < moment_ns;
  if (is_of_earlier && atomic_compare_exchange_strong(&liveness->seen_ns, &seen_ns, now_ns))
    seen_ns = now_ns;
  return !late || now_ns - seen_ns >= TB__STALL_CONFIRMED_NS;
}

void tb__timeline_report_stall(tb_timeline_t *timeline, int64_t expected_ns)
{
  if (timeline->kind != TB__TIMELINE_ROS) return;
  int64_t now_ns = tb__steady_coarse_now_ns(), silent_ns = too_long_silence_ns(timeline, now_ns);
  if (!silent_ns) return;
  stall_count(timeline);
  tb__liveness_t *liveness = &timeline->liveness;
  int64_t at_ns = stalled_at_ns(timeline);
  int64_t moment_ns = stall_moment_ns(timeline);
  if (expected_ns == TB__WHEN_STALLED) expected_ns = moment_ns;
  bool late = expected_ns == INT64_MAX || now_ns - expected_ns >= TB__STALL_CONFIRMED_NS;
  if (!stall_is_confirmed(liveness, moment_ns, now_ns, late)) return;
  if (atomic_exchange(&liveness->reported_at_ns, at_ns) == at_ns) return;
  tb__log(TB_LOG_WARN, "time does not advance: no tick from its source for %.1f s",
          (double)silent_ns / 1e9);
}

/* Waiters for a stall may not have woken up yet. */
void tb__timeline_count_stall(tb_timeline_t *timeline, int64_t steady_ns)
{
  if (!too_long_silence_ns(timeline, steady_ns)) return;
  stall_count(timeline);
  tb__waiters_report_state_locked(timeline);
}

tb_status_t tb_timeline_set_options_sized(tb_timeline_t *timeline,
                                          const tb_timeline_options_t *options, size_t options_size)
{
  tb_timeline_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!timeline || !options || timeline->kind != TB__TIMELINE_ROS || options->stall_limit.ns < 0 ||
      options->forward_jump_min.ns <= 0 || options->slow_handler_limit.ns < 0)
    return TB_ERR_INVALID;
  timeline = tb__timeline_target(timeline);
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&timeline->mutex);
  int64_t stall_limit_ns = options->stall_limit.ns ? options->stall_limit.ns : INT64_MAX;
  atomic_store(&timeline->liveness.stall_limit_ns, stall_limit_ns);
  timeline->forward_jump_min_ns = options->forward_jump_min.ns;
  tb__jump_wait_set_options_locked(timeline, options);
  tb__waiters_report_state_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
  return TB_OK;
}

/* A wrapped source that pauses does not know that its time runs by itself. */
void tb_timeline_set_state(tb_timeline_t *timeline, tb_clock_state_t state)
{
  if (!timeline || timeline->kind != TB__TIMELINE_ROS || tb__is_forked()) return;
  tb_timeline_t *target = tb__timeline_target(timeline);
  tb__waiter_t *to_wake = NULL;
  tb__mutex_lock(&target->mutex);
  if (target != timeline && state == TB_CLOCK_PAUSED && target->running) {
    tb__timeline_halt_locked(target);
    tb__waiters_collect_due_locked(target, &to_wake);
  }
  if (target->state != state) {
    target->state = state;
    tb__timeline_publish_locked(target);
  }
  tb__waiters_report_state_locked(target);
  tb__mutex_unlock(&target->mutex);
  tb__waiters_wake(to_wake);
}

void tb_timeline_count_dropped(tb_timeline_t *timeline)
{
  if (!timeline) return;
  timeline = tb__timeline_target(timeline);
  atomic_fetch_add_explicit(&timeline->counts.dropped, 1, memory_order_relaxed);
}

static void timeline_stats(const tb_timeline_t *timeline, tb_timeline_stats_t *out)
{
  if (!timeline || !out) return;
  const tb__timeline_counts_t *counts = &tb__timeline_target((tb_timeline_t *)timeline)->counts;
  *out = (tb_timeline_stats_t){
      .ticks = atomic_load_explicit(&counts->ticks, memory_order_relaxed),
      .jumps_forward = atomic_load_explicit(&counts->jumps_forward, memory_order_relaxed),
      .jumps_backward = atomic_load_explicit(&counts->jumps_backward, memory_order_relaxed),
      .dropped = atomic_load_explicit(&counts->dropped, memory_order_relaxed),
      .stalls = atomic_load_explicit(&counts->stalls, memory_order_relaxed),
      .largest_forward = {atomic_load_explicit(&counts->largest_forward_ns, memory_order_relaxed)},
      .largest_backward = {atomic_load_explicit(&counts->largest_backward_ns,
                                                memory_order_relaxed)},
      .longest_handler = {atomic_load_explicit(&counts->longest_handler_ns, memory_order_relaxed)},
      .advanced = {atomic_load_explicit(&counts->advanced_ns, memory_order_relaxed)},
      .rate = atomic_load_explicit(&counts->rate, memory_order_relaxed),
  };
}

void tb_timeline_stats_sized(const tb_timeline_t *timeline, tb_timeline_stats_t *out,
                             size_t out_size)
{
  tb_timeline_stats_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  timeline_stats(timeline, full);
  TB__SIZED_END(TB_OK, out, out_size, full);
}

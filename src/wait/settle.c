#include "wait/settle.h"

#include "clock/jump_wait.h"
#include "platform/time.h"
#include "wait/cancel_token.h"
#include "wait/timer_queue.h"

static tb_status_t track(tb_timeline_t *timeline)
{
  if (timeline) return tb__timeline_track(timeline);
  tb__timeline_track(tb__timeline_steady());
  return tb__timeline_track(tb__timeline_system());
}

tb_status_t tb__settle_begin(tb__settle_t *settle, tb_timeline_t *timeline,
                             const tb_run_options_t *options)
{
  static const tb_run_options_t defaults = TB_RUN_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb__deadline_t limit;
  tb_status_t status = tb__limit_begin_in(options->limit, tb__real_steady_now_ns, &limit);
  if (status) return status;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait() || tb__timer_queues_call_here(timeline)) return TB_ERR_DEADLOCK;
  status = track(timeline);
  if (status) return status;
  *settle = (tb__settle_t){
      .timeline = timeline,
      .inflight = timeline ? timeline->inflight : tb__inflight_of_os(),
      .sleeper.token = options->token,
      .limit = limit,
  };
  settle->watch.word = &settle->sleeper.word;
  tb__inflight_quiesce(); /* the thread that moves time must not wait for itself */
  if (options->token) tb__cancel_token_join(options->token, &settle->sleeper);
  tb__inflight_watch(settle->inflight, &settle->watch);
  return TB_OK;
}

void tb__settle_end(tb__settle_t *settle)
{
  tb__inflight_unwatch(settle->inflight, &settle->watch);
  if (settle->sleeper.token) tb__cancel_token_leave(settle->sleeper.token, &settle->sleeper);
}

static bool nothing_inflight(void *inflight)
{
  return tb__inflight_count(inflight) == 0;
}

static bool wait_in_time(tb__settle_t *settle)
{
  tb__futex_wait_kernel(&settle->sleeper.word, 0, settle->limit);
  return settle->limit.clock == TB__DEADLINE_NONE || tb__real_steady_now_ns() < settle->limit.ns;
}

tb_status_t tb__settle_wait_for(tb__settle_t *settle, bool (*reached)(void *user), void *user)
{
  _Atomic uint32_t *word = &settle->sleeper.word;
  for (bool in_time = true;; in_time = wait_in_time(settle)) {
    atomic_store(word, 0);
    tb__timer_queues_run_own(settle->timeline);
    uint32_t marks = atomic_load(&settle->sleeper.marks);
    if (marks & TB__MARK_CANCELLED) return TB_ERR_CANCELLED;
    if (marks & TB__MARK_CLOSED) return TB_ERR_CLOSED;
    if (reached(user)) return TB_OK;
    if (!in_time) return TB_ERR_TIMEOUT;
  }
}

tb_status_t tb__settle_wait(tb__settle_t *settle)
{
  /* X2: callbacks have returned, and woken threads wait again or have ended */
  return tb__settle_wait_for(settle, nothing_inflight, settle->inflight);
}

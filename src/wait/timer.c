#include "base/sized.h"
#include "clock/callback_context.h"
#include "held/parking.h"
#include "platform/time.h"
#include "wait/timer_queue.h"

static tb_status_t timer_create_on(tb_timer_queue_t *queue, tb_clock_t *clock,
                                   const tb_timer_t *model, const tb__timer_cold_t *cold,
                                   tb_timer_t **out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__lane_t *lane;
  tb_status_t status = tb__lane_get(queue, clock, &lane);
  if (status) return status;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  uint32_t id;
  status = tb__lane_take_id_locked(lane, model->passive, &id);
  if (!status) {
    tb_timer_t *timer = tb__lane_timer(lane, id);
    *timer = *model;
    timer->lane = lane;
    timer->rank = id;
    *tb__lane_cold(lane, id) = *cold;
    if (timer->mode == TB_TIMER_ONE_SHOT_AT) lane->timers_at++;
    *out = timer;
  }
  tb__clock_unlock(timeline);
  return status;
}

static bool is_valid(tb_timer_mode_t mode, tb_duration_t period, tb_timer_missed_t policy)
{
  if (policy != TB_TIMER_SKIP && policy != TB_TIMER_CATCH_UP) return false;
  if (mode == TB_TIMER_ONE_SHOT_AT) return true;
  return (mode == TB_TIMER_PERIODIC || mode == TB_TIMER_ONE_SHOT) && period.ns >= 0;
}

static tb__timer_cold_t cold_of(int64_t at_ns, uint32_t catch_up_max)
{
  return (tb__timer_cold_t){.at_ns = at_ns,
                            .catch_up_max = catch_up_max ? catch_up_max : TB_TIMER_CATCH_UP_MAX};
}

tb_status_t tb_clock_timer_create_sized(tb_timer_queue_t *queue, tb_clock_t *clock,
                                        const tb_timer_options_t *options, size_t options_size,
                                        tb_timer_t **out)
{
  tb_timer_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!queue || !clock || !options || !out || !options->callback != options->passive ||
      !is_valid(options->mode, options->period, options->missed_policy))
    return TB_ERR_INVALID;
  if (options->mode == TB_TIMER_ONE_SHOT_AT) {
    if (options->at.kind != clock->kind) return TB_ERR_CLOCK_MISMATCH;
    if (clock->kind == TB_TIME_ROS && options->at.ns == 0) return TB_ERR_NOT_SET;
  }
  tb_timer_t model = {.callback.of_clock = options->callback,
                      .user = options->user,
                      .passive = options->passive,
                      .period_ns = options->period.ns,
                      .mode = options->mode,
                      .catches_up = options->missed_policy == TB_TIMER_CATCH_UP};
  if (options->passive) model.callback.wake = options->wake;
  tb__timer_cold_t cold = cold_of(options->at.ns, options->catch_up_max);
  return timer_create_on(queue, clock, &model, &cold, out);
}

tb_status_t tb_steady_clock_timer_create_sized(tb_timer_queue_t *queue, tb_steady_clock_t *clock,
                                               const tb_steady_timer_options_t *options,
                                               size_t options_size, tb_timer_t **out)
{
  tb_steady_timer_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!queue || !clock || !options || !out || !options->callback != options->passive ||
      !is_valid(options->mode, options->period, options->missed_policy))
    return TB_ERR_INVALID;
  tb_timer_t model = {.callback.of_steady = options->callback,
                      .user = options->user,
                      .passive = options->passive,
                      .period_ns = options->period.ns,
                      .mode = options->mode,
                      .catches_up = options->missed_policy == TB_TIMER_CATCH_UP};
  if (options->passive) model.callback.wake = options->wake;
  tb__timer_cold_t cold = cold_of(options->at.ns, options->catch_up_max);
  return timer_create_on(queue, &clock->core, &model, &cold, out);
}

/* A hook that has not begun is not called. */
static void take_back(tb_timer_t *timer)
{
  tb_timer_queue_t *queue = timer->lane->queue;
  for (int i = 0; i < TB__WAKE_BATCH; i++) {
    tb_timer_t *expected = timer;
    atomic_compare_exchange_strong(&queue->woken[i], &expected, NULL);
  }
}

/* Whether its callback runs now. The hooks of several passive timers are called in a row. */
static bool is_executing(const tb_timer_t *timer)
{
  if (!timer->executing || !timer->passive) return timer->executing;
  return atomic_load(&timer->lane->queue->hook_of) == timer;
}

static void timer_stop_locked(tb_timer_t *timer)
{
  /* M1, M5: no call starts after this */
  tb__lane_t *lane = timer->lane;
  if (timer->deferred)
    tb__lane_undefer_locked(lane, timer);
  else
    tb__timer_leave_in_heap_locked(timer);
  if (timer->executing && timer->passive) take_back(timer);
}

static void timer_start_locked(tb_timer_t *timer, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  tb__lane_t *lane = timer->lane;
  int64_t now_ns, key;
  tb__lane_now_key_locked(lane, timeline, &timer->last_key, &now_ns);
  /* M1: after a delay, or at a time */
  if (timer->mode != TB_TIMER_ONE_SHOT_AT)
    key = tb__add_saturated(timer->last_key, timer->period_ns);
  else
    key = tb__add_saturated(tb__lane_cold(lane, tb__timer_id(timer))->at_ns, -lane->offset_ns);
  uint64_t order = atomic_fetch_add_explicit(&lane->queue->last_order, 1, memory_order_relaxed) + 1;
  timer->order = order & TB__ORDER_MAX;
  timer->awaits_start = false;
  timer->was_started = true;
  if (timer->deferred) tb__lane_undefer_locked(lane, timer);
  if (lane->in_run && key <= lane->horizon_key) {
    tb__timer_leave_in_heap_locked(timer);
    tb__lane_defer_locked(lane, timer, key);
  } else {
    tb__lane_insert_locked(lane, timer, key);
  }
}

void tb__timer_free_unused_locked(tb_timer_t *timer)
{
  tb__lane_t *lane = timer->lane;
  uint32_t id = tb__timer_id(timer);
  if (timer->destroyed && !timer->executing && tb__lane_cold(lane, id)->resets == 0)
    tb__lane_free_id_locked(lane, id);
}

/* A reset hook that this thread is in, and the one that it was called from. */
typedef struct hook_call {
  const tb_timer_queue_t *queue;
  const struct hook_call *outer;
} hook_call_t;

static _Thread_local const hook_call_t *hook_of_thread;

bool tb__timer_queue_hook_is_here(const tb_timer_queue_t *queue)
{
  const hook_call_t *call = hook_of_thread;
  while (call && call->queue != queue)
    call = call->outer;
  return call != NULL;
}

/* Its user may destroy the timer, here or on another thread: the handle stays valid until then. */
static void call_reset_hook(tb_timer_t *timer, tb_timer_reset_t hook, void *user)
{
  tb_timeline_t *timeline;
  const hook_call_t call = {timer->lane->queue, hook_of_thread};
  hook_of_thread = &call;
  hook(timer, user);
  hook_of_thread = call.outer;
  if (tb__is_forked()) return; /* the hook has forked */
  tb__clock_lock(timer->lane->clock, &timeline);
  tb__lane_cold(timer->lane, tb__timer_id(timer))->resets--;
  tb__timer_free_unused_locked(timer);
  tb__clock_unlock(timeline);
}

static tb_status_t timer_start(tb_timer_t *timer, const int64_t *at_ns)
{
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb_timer_reset_t hook = NULL;
  void *user = NULL;
  tb_status_t status = tb__lane_lock_settled(lane, &timeline);
  if (status) return status;
  if (lane->closed || timer->destroyed) {
    status = TB_ERR_CLOSED;
  } else if (at_ns && timer->mode != TB_TIMER_ONE_SHOT_AT) {
    status = TB_ERR_INVALID;
  } else {
    if (at_ns) tb__lane_cold(lane, tb__timer_id(timer))->at_ns = *at_ns;
    timer_start_locked(timer, timeline);
    tb__lane_rearm_locked(lane, timeline);
    if (timer->has_reset_hook) { /* else what is cold is not touched */
      tb__timer_cold_t *cold = tb__lane_cold(lane, tb__timer_id(timer));
      hook = cold->reset;
      user = cold->reset_user;
      cold->resets++;
    }
  }
  tb__clock_unlock(timeline);
  if (hook) call_reset_hook(timer, hook, user);
  return status;
}

tb_status_t tb_timer_start(tb_timer_t *timer)
{
  return timer ? timer_start(timer, NULL) : TB_ERR_INVALID;
}

tb_status_t tb_clock_timer_start_at(tb_timer_t *timer, tb_time_t at)
{
  if (!timer) return TB_ERR_INVALID;
  tb_time_kind_t kind = timer->lane->clock->kind;
  if (!kind || kind != at.kind) return TB_ERR_CLOCK_MISMATCH;
  if (kind == TB_TIME_ROS && at.ns == 0) return TB_ERR_NOT_SET;
  return timer_start(timer, &at.ns);
}

tb_status_t tb_steady_clock_timer_start_at(tb_timer_t *timer, tb_steady_time_t at)
{
  if (!timer) return TB_ERR_INVALID;
  return timer->lane->clock->kind ? TB_ERR_CLOCK_MISMATCH : timer_start(timer, &at.ns);
}

tb_status_t tb_timer_set_reset_hook(tb_timer_t *timer, tb_timer_reset_t hook, void *user)
{
  if (!timer) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  bool destroyed = timer->destroyed;
  if (!destroyed) {
    tb__timer_cold_t *cold = tb__lane_cold(lane, tb__timer_id(timer));
    cold->reset = hook;
    cold->reset_user = user;
    timer->has_reset_hook = hook;
  }
  tb__clock_unlock(timeline);
  return destroyed ? TB_ERR_CLOSED : TB_OK;
}

tb_status_t tb_timer_stop(tb_timer_t *timer)
{
  if (!timer) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  bool destroyed = timer->destroyed;
  if (!destroyed) {
    timer_stop_locked(timer);
    tb__lane_rearm_locked(lane, timeline);
  }
  tb__clock_unlock(timeline);
  return destroyed ? TB_ERR_CLOSED : TB_OK;
}

/* One call of a queue runs at a time, so the one that runs now has ended when the count moves: the
 * timer, which may be destroyed meanwhile, is not used again. */
static tb_status_t wait_for_call(tb_timer_queue_t *queue, uint32_t ended, tb__deadline_t deadline)
{
  while (atomic_load(&queue->calls_ended) == ended)
    if (!tb__futex_wait(&queue->calls_ended, ended, deadline) &&
        atomic_load(&queue->calls_ended) == ended)
      return TB_ERR_TIMEOUT;
  return TB_OK;
}

tb_status_t tb_timer_stop_wait(tb_timer_t *timer, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = timer ? tb__limit_begin(limit, &deadline) : TB_ERR_INVALID;
  if (status) return status;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback()) return TB_ERR_DEADLOCK;
  tb__lane_t *lane = timer->lane;
  tb_timer_queue_t *queue = lane->queue;
  atomic_fetch_add(&queue->call_waiters, 1);
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  bool executing = is_executing(timer);
  uint32_t ended = atomic_load(&queue->calls_ended);
  if (timer->destroyed) {
    status = TB_ERR_CLOSED;
  } else if (executing && tb__timer_queue_runs_here(queue)) {
    status = TB_ERR_DEADLOCK;
  } else {
    timer_stop_locked(timer);
    tb__lane_rearm_locked(lane, timeline);
  }
  tb__clock_unlock(timeline);
  if (!status && executing) status = wait_for_call(queue, ended, deadline);
  atomic_fetch_sub(&queue->call_waiters, 1);
  return status;
}

tb_status_t tb_timer_set_period(tb_timer_t *timer, tb_duration_t period)
{
  if (!timer || period.ns < 0) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_timeline_t *timeline;
  tb__clock_lock(timer->lane->clock, &timeline);
  tb_status_t status = TB_OK;
  if (timer->destroyed)
    status = TB_ERR_CLOSED;
  else if (timer->mode == TB_TIMER_ONE_SHOT_AT)
    status = TB_ERR_INVALID;
  else
    timer->period_ns = period.ns;
  tb__clock_unlock(timeline);
  return status;
}

bool tb_timer_is_running(const tb_timer_t *timer)
{
  if (!timer || tb__is_forked()) return false;
  tb_timeline_t *timeline;
  tb__clock_lock(timer->lane->clock, &timeline);
  bool running = timer->deferred || tb__timer_is_queued(timer);
  tb__clock_unlock(timeline);
  return running;
}

/* As a time of the clock. */
static tb_status_t deadline_of_key(const tb__lane_t *lane, const tb_timeline_t *timeline,
                                   int64_t key, int64_t *out_ns) TB_REQUIRES(timeline->mutex)
{
  int64_t now_key, now_ns;
  if (key == INT64_MAX) return TB_ERR_NOT_FOUND;
  if (!tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns)) return TB_ERR_NOT_SET;
  *out_ns = tb__add_saturated(key, lane->offset_ns);
  return TB_OK;
}

/* INT64_MAX: it does not run, or never fires. */
static int64_t key_of(const tb_timer_t *timer)
{
  if (timer->deferred) return tb__lane_cold(timer->lane, tb__timer_id(timer))->deferred_key;
  return tb__timer_is_queued(timer) ? timer->key : INT64_MAX;
}

static tb_status_t timer_deadline(const tb_timer_t *timer, int64_t *out_ns)
{
  const tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb_status_t status = tb__lane_lock_settled(lane, &timeline);
  if (status) return status;
  int64_t key = key_of(timer);
  if (timer->destroyed) status = TB_ERR_CLOSED;
  if (!status) status = deadline_of_key(lane, timeline, key, out_ns);
  tb__clock_unlock(timeline);
  return status;
}

tb_status_t tb_timer_time_until_next(const tb_timer_t *timer, tb_duration_t *out)
{
  if (!timer || !out) return TB_ERR_INVALID;
  const tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb_status_t status = tb__lane_lock_settled(lane, &timeline);
  if (status) return status;
  int64_t now_key, now_ns, key = key_of(timer);
  bool is_set = tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns);
  if (timer->destroyed)
    status = TB_ERR_CLOSED;
  else if (key == INT64_MAX)
    status = TB_ERR_NOT_FOUND;
  else if (!is_set)
    status = TB_ERR_NOT_SET;
  tb__clock_unlock(timeline);
  if (!status) out->ns = tb__sub_saturated(key, now_key);
  return status;
}

bool tb_timer_is_ready(const tb_timer_t *timer)
{
  tb_duration_t until;
  return !tb_timer_time_until_next(timer, &until) && until.ns <= 0;
}

tb_status_t tb_timer_time_since_last_call(const tb_timer_t *timer, tb_duration_t *out)
{
  if (!timer || !out) return TB_ERR_INVALID;
  const tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb_status_t status = tb__lane_lock_settled(lane, &timeline);
  if (status) return status;
  int64_t now_key, now_ns, last_key = timer->last_key;
  bool is_set = tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns);
  if (timer->destroyed)
    status = TB_ERR_CLOSED;
  else if (!timer->was_started)
    status = TB_ERR_NOT_FOUND;
  else if (!is_set)
    status = TB_ERR_NOT_SET;
  tb__clock_unlock(timeline);
  if (!status) out->ns = tb__sub_saturated(now_key, last_key);
  return status;
}

tb_status_t tb_timer_period(const tb_timer_t *timer, tb_duration_t *out)
{
  if (!timer || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_timeline_t *timeline;
  tb__clock_lock(timer->lane->clock, &timeline);
  tb_status_t status = timer->destroyed                      ? TB_ERR_CLOSED
                       : timer->mode == TB_TIMER_ONE_SHOT_AT ? TB_ERR_INVALID
                                                             : TB_OK;
  int64_t period_ns = timer->period_ns;
  tb__clock_unlock(timeline);
  if (!status) out->ns = period_ns;
  return status;
}

tb_clock_t *tb_timer_clock(const tb_timer_t *timer)
{
  if (!timer || atomic_load(&timer->lane->closed)) return NULL;
  return timer->lane->clock->kind ? timer->lane->clock : NULL;
}

tb_steady_clock_t *tb_timer_steady_clock(const tb_timer_t *timer)
{
  if (!timer || atomic_load(&timer->lane->closed) || timer->lane->clock->kind) return NULL;
  return (tb_steady_clock_t *)timer->lane->clock; /* its first and only member */
}

tb_status_t tb_clock_timer_next_deadline(const tb_timer_t *timer, tb_time_t *out)
{
  int64_t ns;
  if (!timer || !out) return TB_ERR_INVALID;
  tb_time_kind_t kind = timer->lane->clock->kind;
  if (!kind) return TB_ERR_CLOCK_MISMATCH;
  tb_status_t status = timer_deadline(timer, &ns);
  if (!status) *out = (tb_time_t){ns, kind};
  return status;
}

tb_status_t tb_steady_clock_timer_next_deadline(const tb_timer_t *timer, tb_steady_time_t *out)
{
  int64_t ns;
  if (!timer || !out) return TB_ERR_INVALID;
  if (timer->lane->clock->kind) return TB_ERR_CLOCK_MISMATCH;
  tb_status_t status = timer_deadline(timer, &ns);
  if (!status) out->ns = ns;
  return status;
}

static tb_status_t lane_deadline(tb_timer_queue_t *queue, const tb_clock_t *clock, int64_t *out_ns)
{
  tb__lane_t *lane = tb__lane_find(queue, clock);
  if (!lane) return TB_ERR_NOT_FOUND;
  tb_timeline_t *timeline;
  tb_status_t status = tb__clock_lock_settled(clock, &timeline);
  if (status) return status;
  const tb__heap_entry_t *first = tb__lane_first_locked(lane);
  int64_t key = first ? first->key : INT64_MAX;
  for (uint32_t id = lane->first_deferred; id != TB__NO_TIMER; id = tb__lane_cold(lane, id)->next)
    if (tb__lane_cold(lane, id)->deferred_key < key) key = tb__lane_cold(lane, id)->deferred_key;
  status = deadline_of_key(lane, timeline, key, out_ns);
  tb__clock_unlock(timeline);
  return status;
}

tb_status_t tb_clock_timer_queue_next_deadline(tb_timer_queue_t *queue, const tb_clock_t *clock,
                                               tb_time_t *out)
{
  int64_t ns;
  if (!queue || !clock || !out) return TB_ERR_INVALID;
  tb_status_t status = lane_deadline(queue, clock, &ns);
  if (!status) *out = (tb_time_t){ns, clock->kind};
  return status;
}

tb_status_t tb_steady_clock_timer_queue_next_deadline(tb_timer_queue_t *queue,
                                                      const tb_steady_clock_t *clock,
                                                      tb_steady_time_t *out)
{
  int64_t ns;
  if (!queue || !clock || !out) return TB_ERR_INVALID;
  tb_status_t status = lane_deadline(queue, &clock->core, &ns);
  if (!status) out->ns = ns;
  return status;
}

/* *out_timeline is locked on success, and then `timer` may get another callback. */
static tb_status_t exchange_begin(tb_timer_t *timer, bool has_callback, bool is_steady,
                                  tb_timeline_t **out_timeline)
    TB_TRY_ACQUIRE(0, (*out_timeline)->mutex)
{
  if (!timer || !has_callback) return TB_ERR_INVALID;
  if (!timer->lane->clock->kind != is_steady) return TB_ERR_CLOCK_MISMATCH;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__clock_lock(timer->lane->clock, out_timeline);
  if (!timer->destroyed && !timer->passive) return TB_OK;
  tb_status_t status = timer->destroyed ? TB_ERR_CLOSED : TB_ERR_INVALID;
  tb__clock_unlock(*out_timeline);
  return status;
}

tb_status_t tb_clock_timer_exchange_callback(tb_timer_t *timer, tb_timer_callback_t callback,
                                             void *user, tb_timer_callback_t *old_callback,
                                             void **old_user)
{
  tb_timeline_t *timeline;
  tb_status_t status = exchange_begin(timer, callback != NULL, false, &timeline);
  if (status) return status;
  if (old_callback) *old_callback = timer->callback.of_clock;
  if (old_user) *old_user = timer->user;
  timer->callback.of_clock = callback;
  timer->user = user;
  tb__clock_unlock(timeline);
  return TB_OK;
}

tb_status_t tb_steady_clock_timer_exchange_callback(tb_timer_t *timer,
                                                    tb_steady_timer_callback_t callback, void *user,
                                                    tb_steady_timer_callback_t *old_callback,
                                                    void **old_user)
{
  tb_timeline_t *timeline;
  tb_status_t status = exchange_begin(timer, callback != NULL, true, &timeline);
  if (status) return status;
  if (old_callback) *old_callback = timer->callback.of_steady;
  if (old_user) *old_user = timer->user;
  timer->callback.of_steady = callback;
  timer->user = user;
  tb__clock_unlock(timeline);
  return TB_OK;
}

/* M5: a destroyed timer whose call or reset hook runs is inert; its id is freed at the end of
 * that. */
void tb_timer_destroy(tb_timer_t *timer)
{
  if (!timer || tb__is_forked()) return; /* its memory is the queue's */
  tb__lane_t *lane = timer->lane;
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  if (!timer->destroyed) { /* else another thread destroyed it while its callback or hook runs,
                              which calls this */
    timer_stop_locked(timer);
    tb__lane_rearm_locked(lane, timeline);
    timer->destroyed = true;
    tb__timer_free_unused_locked(timer);
  }
  tb__clock_unlock(timeline);
}

/* One run of a timer queue: the calls that are due on its lanes, by deadline. */
#include "base/sized.h"
#include "clock/callback_context.h"
#include "wait/timer_queue.h"

#include <pthread.h>

#include "held/parking.h"

_Thread_local tb_timer_queue_t *tb__queue_of_thread;

static uintptr_t this_thread(void)
{
  return (uintptr_t)pthread_self();
}

bool tb__timer_queue_runs_here(const tb_timer_queue_t *queue)
{
  return atomic_load(&queue->running) && atomic_load(&queue->runner) == this_thread();
}

void tb__timer_queue_callback_blocks(tb_timer_queue_t *queue)
{
  for (; queue; queue = queue->outer) {
    for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
      tb_timeline_t *timeline;
      tb__clock_lock(lane->clock, &timeline);
      tb__lane_inflight_end_locked(lane);
      tb__poll_alarm_quiesce(&lane->alarm);
      tb__clock_unlock(timeline);
    }
  }
}

/* What a call of a timer needs after the lock is released. */
typedef struct call {
  tb_timer_t *timer; /* NULL: none was made */
  tb__timer_call_t what;
  union {
    tb_timer_callback_t of_clock;
    tb_steady_timer_callback_t of_steady;
  } callback;
  void *user;
  uint32_t woken; /* instead: how many passive timers are to be woken, all of one lane */
  tb_timer_t *timers[TB__WAKE_BATCH];
} call_t;

/* Notes what the lane may have to call in this run: the earliest deadline. */
static void lane_peek_locked(tb__lane_t *lane)
{
  const tb__heap_entry_t *first = tb__lane_first_locked(lane);
  bool wakes = lane->wake_next < lane->wake_end;
  lane->peek_due = lane->in_run &&
                   (wakes || (first && first->key <= lane->horizon_key && first->key != INT64_MAX));
  if (!lane->peek_due) return;
  if (wakes) {
    lane->peek_ns = INT64_MIN;
    return;
  }
  const tb_timer_t *timer = tb__lane_timer(lane, tb__heap_id(first));
  lane->peek_ns = tb__add_saturated(first->key, lane->offset_ns);
  if (lane->next || lane != atomic_load_explicit(&lane->queue->lanes, memory_order_relaxed))
    lane->peek_order = timer->order; /* needed only where there are other lanes */
}

uint64_t tb__timer_periods_missed(const tb_timer_t *timer, int64_t key, int64_t until_key)
{
  /* M3 */
  uint64_t late_ns = (uint64_t)until_key - (uint64_t)key;
  if (until_key <= key || late_ns < (uint64_t)timer->period_ns) return 0; /* saves the division */
  if (timer->period_ns == 0) return 0;
  return late_ns / (uint64_t)timer->period_ns;
}

/* M3: a timer that catches up is called for each period that had passed when the run began, at most
 * `catch_up_max` times; the last of these calls counts the rest. */
static uint64_t catch_up(tb__lane_t *lane, const tb_timer_t *timer, int64_t key)
{
  uint64_t missed = tb__timer_periods_missed(timer, key, lane->horizon_key);
  if (!missed) return 0;
  tb__timer_cold_t *cold = tb__lane_cold(lane, tb__timer_id(timer));
  if (cold->burst_run != lane->queue->runs) cold->burst = 0;
  cold->burst_run = lane->queue->runs;
  return ++cold->burst < cold->catch_up_max ? 0 : missed;
}

/* The timers that may be next are rarely in the cache: they are fetched while the heap is updated.
 */
static void fetch_next(const tb__lane_t *lane)
{
  for (uint32_t i = 1; i <= TB__HEAP_SECONDS && i < lane->heap.size; i++)
    __builtin_prefetch(tb__lane_timer(lane, tb__heap_id(&lane->heap.entries[i])), 1);
}

/* The deadline of a periodic timer after the one at `key`. */
static int64_t key_after(const tb_timer_t *timer, int64_t key, uint64_t missed)
{
  int64_t passed, next_key;
  if (__builtin_mul_overflow((int64_t)missed + 1, timer->period_ns, &passed) ||
      __builtin_add_overflow(key, passed, &next_key))
    return INT64_MAX;
  return next_key;
}

/* Without a period it is due at once, in the next run. */
static void defer_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key)
{
  tb__timer_leave_in_heap_locked(timer);
  tb__lane_defer_locked(lane, timer, key);
}

static void call_set(call_t *call, tb_timer_t *timer)
{
  call->timer = timer;
  if (timer->lane->clock->kind)
    call->callback.of_clock = timer->callback.of_clock;
  else
    call->callback.of_steady = timer->callback.of_steady;
  call->user = timer->user;
  timer->executing = true;
}

/* M2: takes the first timer, which is due; its next deadline is the last one plus whole periods. */
static void call_take_locked(tb__lane_t *lane, int64_t now_key, int64_t now_ns, call_t *call)
{
  tb__heap_entry_t first = *tb__heap_min(&lane->heap);
  uint32_t id = tb__heap_id(&first);
  tb_timer_t *timer = tb__lane_timer(lane, id);
  fetch_next(lane);
  call->what.scheduled_ns = tb__add_saturated(first.key, lane->offset_ns);
  call->what.actual_ns = now_ns;
  call->what.epoch = tb_clock_epoch(lane->clock);
  call->what.missed = 0;
  timer->last_key = now_key;
  call_set(call, timer);
  if (timer->mode != TB_TIMER_PERIODIC) {
    tb__heap_remove(&lane->heap, id);
    timer->in_heap = false;
    return;
  }
  if (timer->period_ns == 0) {
    defer_locked(lane, timer, now_key);
    return;
  }
  call->what.missed = timer->catches_up ? catch_up(lane, timer, first.key)
                                        : tb__timer_periods_missed(timer, first.key, now_key);
  timer->key = key_after(timer, first.key, call->what.missed);
  tb__heap_change(&lane->heap, id, timer->key);
}

/* Takes the next passive timers whose hooks are to be called: up to a number, so that one lock
 * serves many. One that was stopped, advanced or destroyed meanwhile is not called. */
static void wake_take_locked(tb__lane_t *lane, call_t *call)
{
  while (call->woken < TB__WAKE_BATCH && lane->wake_next < lane->wake_end) {
    uint32_t id = lane->to_wake[lane->wake_next++];
    if (id == TB__NO_TIMER) continue;
    tb_timer_t *timer = tb__lane_timer(lane, id);
    if (!timer->wakes) continue;
    timer->wakes = false;
    timer->executing = true;
    call->timers[call->woken] = timer;
    atomic_store_explicit(&lane->queue->woken[call->woken++], timer, memory_order_relaxed);
  }
}

/* A hook that has been taken out has begun: stopping its timer does not prevent it any more. */
static void wake_make(tb_timer_queue_t *queue, const call_t *call)
{
  for (uint32_t i = 0; i < call->woken && !tb__is_forked(); i++) {
    atomic_store_explicit(&queue->hook_of, call->timers[i], memory_order_relaxed); /* before: */
    tb_timer_t *timer = atomic_exchange(&queue->woken[i], NULL);
    if (timer) timer->callback.wake(timer, timer->user);
  }
  atomic_store(&queue->hook_of, NULL);
}

static void call_make(const call_t *call)
{
  tb_time_kind_t kind = call->timer->lane->clock->kind;
  const tb__timer_call_t *what = &call->what;
  if (kind) {
    tb_timer_info_t info = {
        {what->scheduled_ns, kind}, {what->actual_ns, kind}, what->epoch, what->missed};
    call->callback.of_clock(call->timer, &info, call->user);
  } else {
    tb_steady_timer_info_t info = {{what->scheduled_ns}, {what->actual_ns}, what->missed};
    call->callback.of_steady(call->timer, &info, call->user);
  }
}

static void end_locked(tb_timer_t *timer)
{
  timer->executing = false;
  /* M5: a timer that was destroyed during its call is freed after it */
  if (timer->destroyed) tb__timer_free_unused_locked(timer);
}

static void call_end_locked(tb__lane_t *lane, call_t *call)
{
  if (call->timer) end_locked(call->timer);
  for (uint32_t i = 0; i < call->woken; i++)
    end_locked(call->timers[i]);
  call->timer = NULL;
  call->woken = 0;
  _Atomic uint32_t *ended = &lane->queue->calls_ended; /* this thread alone counts it */
  atomic_store_explicit(ended, atomic_load_explicit(ended, memory_order_relaxed) + 1,
                        memory_order_release);
}

static void call_announce_end(tb_timer_queue_t *queue)
{
  if (atomic_load(&queue->call_waiters)) tb__futex_wake_all(&queue->calls_ended);
}

/* M6: sets how far this run reaches on each lane: to what is due now. */
static tb_status_t lanes_open(tb_timer_queue_t *queue)
{
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    tb_timeline_t *timeline;
    int64_t now_ns;
    if (atomic_load(&lane->closed)) continue;
    tb_status_t status = tb__lane_lock_settled(lane, &timeline);
    if (status) return status;
    if (!tb__lane_now_key_locked(lane, timeline, &lane->horizon_key, &now_ns))
      lane->horizon_key = INT64_MIN;
    lane->in_run = true;
    lane_peek_locked(lane);
    if (lane->alarm_ns != INT64_MAX) tb__poll_alarm_clear(&lane->alarm);
    tb__clock_unlock(timeline);
  }
  return TB_OK;
}

static void lanes_close(tb_timer_queue_t *queue)
{
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next) {
    tb_timeline_t *timeline;
    tb__clock_lock(lane->clock, &timeline);
    tb__lane_admit_deferred_locked(lane);
    lane->in_run = lane->peek_due = false;
    if (lane->alarm_ns != INT64_MAX)
      lane->alarm_ns = INT64_MIN; /* whether it has fired or not: set it again */
    tb__lane_rearm_locked(lane, timeline);
    if (lane->wake_next < lane->wake_end) tb__timer_queue_signal(queue); /* the run was given up */
    tb__clock_unlock(timeline);
  }
}

/* M2: deadlines on one timeline are ordered, then starts; deadlines on different timelines have no
 * order. */
static bool peek_precedes(const tb__lane_t *a, const tb__lane_t *b)
{
  if (tb__clock_timeline(a->clock) != tb__clock_timeline(b->clock)) return false;
  return a->peek_ns < b->peek_ns || (a->peek_ns == b->peek_ns && a->peek_order < b->peek_order);
}

/* The lane with the earliest noted deadline: a deadline may have become later since it was noted,
 * but never earlier within a run. NULL: nothing is due. */
static tb__lane_t *lane_choose(tb_timer_queue_t *queue)
{
  tb__lane_t *best = NULL;
  for (tb__lane_t *lane = atomic_load(&queue->lanes); lane; lane = lane->next)
    if (lane->peek_due && (!best || peek_precedes(lane, best))) best = lane;
  return best;
}

/* Takes the first timer of the lane if it is the one that the lane was chosen for, and if it is due
 * now: time may have gone back meanwhile (M4). */
static bool lane_take_locked(tb__lane_t *lane, const tb_timeline_t *timeline, call_t *call)
    TB_REQUIRES(timeline->mutex)
{
  int64_t peek_ns = lane->peek_ns, now_key, now_ns;
  uint64_t peek_order = lane->peek_order;
  wake_take_locked(lane, call);
  lane_peek_locked(lane);
  if (call->woken) return true;
  if (!lane->peek_due) return false;
  if (!tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns) ||
      tb__heap_min(&lane->heap)->key > now_key) {
    lane->peek_due = false;
    return false;
  }
  if (lane->peek_ns != peek_ns || lane->peek_order != peek_order) return false; /* choose again */
  if (tb__lane_timer(lane, tb__heap_id(tb__heap_min(&lane->heap)))->passive) {
    int64_t until_key = now_key < lane->horizon_key ? now_key : lane->horizon_key;
    tb__lane_collect_passive_locked(lane, until_key);
    wake_take_locked(lane, call);
  } else {
    call_take_locked(lane, now_key, now_ns, call);
  }
  lane_peek_locked(lane);
  return call->timer || call->woken;
}

static tb__lane_t *lane_of(const call_t *call)
{
  if (call->timer) return call->timer->lane;
  return call->woken ? call->timers[0]->lane : NULL;
}

static void call_end(call_t *call)
{
  tb__lane_t *lane = lane_of(call);
  tb_timeline_t *timeline;
  tb__clock_lock(lane->clock, &timeline);
  call_end_locked(lane, call);
  tb__clock_unlock(timeline);
  call_announce_end(lane->queue);
}

/* Ends the previous call and takes the next one, under one lock if both are of one lane. False:
 * nothing is left. */
static bool call_next(tb_timer_queue_t *queue, call_t *call)
{
  for (;;) {
    tb__lane_t *lane = lane_choose(queue);
    bool ends = lane_of(call);
    if (ends && lane_of(call) != lane) {
      call_end(call);
      ends = false;
    }
    if (!lane) return false;
    tb_timeline_t *timeline;
    tb__clock_lock(lane->clock, &timeline);
    if (ends) call_end_locked(lane, call);
    if (!tb__lane_is_settled(lane, timeline)) {
      tb__clock_unlock(timeline);
      if (ends) call_announce_end(queue);
      ends = false;
      if (tb__clock_lock_settled(lane->clock, &timeline)) return false;
    }
    bool taken = lane_take_locked(lane, timeline, call);
    tb__clock_unlock(timeline);
    if (ends) call_announce_end(queue);
    if (taken) return true;
  }
}

tb_status_t tb__timer_queue_run(tb_timer_queue_t *queue, uint32_t *out_calls)
{
  tb__poll_set_clear(&queue->poll);
  atomic_store(&queue->signalled, false); /* a later signal raises the event again */
  queue->runs++;
  tb_status_t status = lanes_open(queue);
  uint32_t calls = 0;
  call_t call;
  call.timer = NULL;
  call.woken = 0;
  bool had_inflight = tb__inflight_of_thread;
  queue->outer = tb__queue_of_thread;
  tb__queue_of_thread = queue;
  while (!status && call_next(queue, &call)) {
    uint32_t made = call.timer ? 1 : call.woken;
    if (call.timer)
      call_make(&call);
    else
      wake_make(queue, &call);
    if (tb__is_forked()) return TB_ERR_FORKED; /* by the callback: the rest is the parent's */
    calls += made;
  }
  tb__queue_of_thread = queue->outer;
  lanes_close(queue);
  if (!had_inflight) tb__inflight_quiesce(); /* what the callbacks were woken for has run */
  if (!status && out_calls) *out_calls = calls;
  return status;
}

tb_status_t tb_timer_queue_run_due(tb_timer_queue_t *queue, uint32_t *out_calls)
{
  if (!queue) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback() || tb__timer_queue_runs_here(queue)) return TB_ERR_DEADLOCK;
  if (atomic_exchange(&queue->running, true)) return TB_ERR_BUSY;
  atomic_store(&queue->runner, this_thread());
  atomic_store(&queue->driver, tb__thread_number());
  tb_status_t status = tb__timer_queue_run(queue, out_calls);
  atomic_store(&queue->runner, 0);
  atomic_store(&queue->running, false);
  return status;
}

/* ---- calls that the program makes ---- */

tb_status_t tb__timer_advance_locked(tb_timer_t *timer, tb_timeline_t *timeline,
                                     tb__timer_call_t *out)
{
  /* M7: the next deadline is the present one plus whole periods, as in a run of the queue */
  tb__lane_t *lane = timer->lane;
  int64_t now_key, now_ns, key;
  if (lane->closed || timer->destroyed) return TB_ERR_CLOSED;
  if (!timer->deferred && !tb__timer_is_queued(timer)) return TB_ERR_NOT_FOUND;
  if (!tb__lane_now_key_locked(lane, timeline, &now_key, &now_ns)) return TB_ERR_NOT_SET;
  key = timer->deferred ? tb__lane_cold(lane, tb__timer_id(timer))->deferred_key : timer->key;
  uint64_t missed = 0;
  bool recurs = timer->mode == TB_TIMER_PERIODIC;
  if (recurs && !timer->catches_up) missed = tb__timer_periods_missed(timer, key, now_key);
  *out = (tb__timer_call_t){.scheduled_ns = tb__add_saturated(key, lane->offset_ns),
                            .actual_ns = now_ns,
                            .missed = missed};
  timer->last_key = now_key;
  int64_t next_key = timer->period_ns ? key_after(timer, key, missed) : now_key;
  if (timer->deferred) tb__lane_undefer_locked(lane, timer);
  if (!recurs)
    tb__timer_leave_in_heap_locked(timer);
  else if (lane->in_run && next_key <= lane->horizon_key)
    defer_locked(lane, timer, next_key);
  else if (!tb__timer_is_queued(timer))
    tb__lane_insert_locked(lane, timer, next_key);
  else if (!tb__lane_postpone_locked(lane, timer, next_key))
    return TB_OK; /* its place is right already */
  tb__lane_rearm_locked(lane, timeline);
  return TB_OK;
}

/* TB_ERR_INVALID: it is not passive. */
static tb_status_t advance(tb_timer_t *timer, tb__timer_call_t *out)
{
  tb_timeline_t *timeline;
  tb_status_t status = tb__lane_lock_settled(timer->lane, &timeline);
  if (status) return status;
  status = timer->passive ? tb__timer_advance_locked(timer, timeline, out) : TB_ERR_INVALID;
  tb__clock_unlock(timeline);
  return status;
}

static tb_status_t clock_advance(tb_timer_t *timer, tb_timer_info_t *out)
{
  if (!timer) return TB_ERR_INVALID;
  tb_time_kind_t kind = timer->lane->clock->kind;
  if (!kind) return TB_ERR_CLOCK_MISMATCH;
  tb__timer_call_t call;
  tb_status_t status = advance(timer, &call);
  if (status || !out) return status;
  uint64_t epoch = tb_clock_epoch(timer->lane->clock);
  *out = (tb_timer_info_t){{call.scheduled_ns, kind}, {call.actual_ns, kind}, epoch, call.missed};
  return TB_OK;
}

static tb_status_t steady_advance(tb_timer_t *timer, tb_steady_timer_info_t *out)
{
  if (!timer) return TB_ERR_INVALID;
  if (timer->lane->clock->kind) return TB_ERR_CLOCK_MISMATCH;
  tb__timer_call_t call;
  tb_status_t status = advance(timer, &call);
  if (!status && out)
    *out = (tb_steady_timer_info_t){{call.scheduled_ns}, {call.actual_ns}, call.missed};
  return status;
}

tb_status_t tb_clock_timer_advance_sized(tb_timer_t *timer, tb_timer_info_t *out, size_t out_size)
{
  tb_timer_info_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = clock_advance(timer, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb_steady_clock_timer_advance_sized(tb_timer_t *timer, tb_steady_timer_info_t *out,
                                                size_t out_size)
{
  tb_steady_timer_info_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = steady_advance(timer, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

/* Takes part as a run of the queue with this one call, so that all rules of calls hold (M5). */
static tb_status_t call_now(tb_timer_t *timer, tb_timer_queue_t *queue)
{
  call_t call;
  call.timer = NULL;
  call.woken = 0;
  tb_timeline_t *timeline;
  tb_status_t status = tb__lane_lock_settled(timer->lane, &timeline);
  if (status) return status;
  status = tb__timer_advance_locked(timer, timeline, &call.what);
  if (!status) call.what.epoch = tb_clock_epoch(timer->lane->clock);
  if (!status) call_set(&call, timer);
  tb__clock_unlock(timeline);
  if (status) return status;
  queue->outer = tb__queue_of_thread;
  tb__queue_of_thread = queue;
  call_make(&call);
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__queue_of_thread = queue->outer;
  call_end(&call);
  return TB_OK;
}

tb_status_t tb_timer_call(tb_timer_t *timer)
{
  if (!timer) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__timer_call_t ignored;
  tb_status_t status = advance(timer, &ignored);
  if (status != TB_ERR_INVALID) return status;
  tb_timer_queue_t *queue = timer->lane->queue;
  if (tb__in_jump_callback() || tb__timer_queue_runs_here(queue)) return TB_ERR_DEADLOCK;
  if (atomic_exchange(&queue->running, true)) return TB_ERR_BUSY;
  atomic_store(&queue->runner, this_thread());
  status = call_now(timer, queue);
  atomic_store(&queue->runner, 0);
  atomic_store(&queue->running, false);
  return status;
}

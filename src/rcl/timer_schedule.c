#include "rcl/timer_schedule.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/heap.h"
#include "clock/clock.h"
#include "clock/timeline.h"
#include "platform/thread.h"
#include "rcl/librcl.h"
#include "rcl/note.h"
#include "rcl/shared_time.h"
#include "rcl/table.h"

#define FIRST_IDS 16
#define TRIES     4  /* of readings between which time has not moved */
#define BATCH     64 /* timers that are triggered in one go */

struct tb__rcl_timer {
  tb__table_node_t node; /* first; by `impl`, once that is there */
  rcl_jump_callback_t callback;
  void *user_data;
  void *impl; /* NULL: librcl has not made it yet, and nothing may be called */
  uint32_t id;
  uint32_t place;           /* in the batch, where it was last */
  atomic_bool is_triggered; /* and not called since: its deadline is that of the call after it */
  bool was_found_ready;     /* by a wait, and not called since */
  bool missed_a_jump;       /* back, while it was made */
};

/* All by the mutex. A forked child has no thread here, and does not take it: another thread may
 * have held it at the fork. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fired = PTHREAD_COND_INITIALIZER;
static tb__heap_t heap; /* of ids, by the time of the next call */
static tb__rcl_timer_t **by_id;
static uint32_t *free_ids;
static uint32_t id_count, free_count;
static tb__table_t by_impl;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for the thread */
static int64_t waits_until_ns = INT64_MIN; /* the waiter; INT64_MIN: it is about to be set */
static bool is_running;
static bool is_serving; /* a thread triggers what is due */
static bool again;      /* and is to look once more */

static tb_clock_t *shared;
static bool is_waking; /* by the mutex of the timeline: the waiter is on its way to being called */

/* The timers that a thread is about to trigger, without the mutex: a program that calls the first
 * of them would wait for it each time. Whoever ends one takes it out, and waits while it is
 * `firing`. */
static _Atomic(tb__rcl_timer_t *) batch[BATCH];
static _Atomic(tb__rcl_timer_t *) firing; /* its callback is being called; NULL: none */
static _Atomic uint32_t enders;           /* that wait for it */
static atomic_bool is_at_exit;            /* nothing is triggered any more */

static _Atomic uint32_t timers; /* that exist */

static _Thread_local struct {
  const rcl_timer_t *timer;
  tb__rcl_timer_t *record;
} making __attribute__((tls_model("initial-exec")));

/* ---- deadlines ---- */

static void clear_deadline_locked(const tb__rcl_timer_t *self)
{
  if (tb__heap_contains(&heap, self->id)) tb__heap_remove(&heap, self->id);
}

static void set_deadline_locked(const tb__rcl_timer_t *self, int64_t next_ns)
{
  if (tb__heap_contains(&heap, self->id))
    tb__heap_change(&heap, self->id, next_ns);
  else
    tb__heap_insert(&heap, (tb__heap_entry_t){next_ns, tb__heap_make_rank(&heap, self->id)});
  if (next_ns >= waits_until_ns) return;
  waits_until_ns = next_ns; /* one signal is enough */
  pthread_cond_signal(&changed);
}

/* Versions that have no rcl_timer_get_next_call_time know how long it is until then, by a reading
 * of the same clock. Where time moves between the readings here the result is late by as much. */
static rcl_ret_t next_call(const rcl_timer_t *timer, int64_t *out_ns)
{
  const tb__librcl_t *rcl = tb__librcl();
  if (rcl->timer_get_next_call_time) return rcl->timer_get_next_call_time(timer, out_ns);
  int64_t before_ns, left_ns, after_ns;
  int tries = TRIES;
  do {
    if (tb__shared_time_now(&before_ns)) return RCL_RET_ERROR;
    rcl_ret_t code = rcl->timer_get_time_until_next_call(timer, &left_ns);
    if (code) return code;
    if (tb__shared_time_now(&after_ns)) return RCL_RET_ERROR;
  } while (before_ns != after_ns && --tries > 0);
  if (__builtin_add_overflow(after_ns, left_ns, out_ns)) *out_ns = INT64_MAX;
  return RCL_RET_OK;
}

/* By when librcl will want the timer to be called next. */
static void arm_locked(tb__rcl_timer_t *self)
{
  const tb__librcl_t *rcl = tb__librcl();
  const rcl_timer_t timer = {self->impl};
  bool is_canceled = true;
  int64_t next_ns;
  atomic_store(&self->is_triggered, false);
  self->was_found_ready = false;
  if (rcl->timer_is_canceled(&timer, &is_canceled) == RCL_RET_OK && !is_canceled &&
      next_call(&timer, &next_ns) == RCL_RET_OK)
    set_deadline_locked(self, next_ns);
  else
    clear_deadline_locked(self);
}

/* It will probably be called, and then be due one period later: with that deadline in place the
 * call need not wake the schedule. */
static void expect_call_locked(tb__rcl_timer_t *self, int64_t due_ns)
{
  const rcl_timer_t timer = {self->impl};
  int64_t period_ns = 0;
  atomic_store(&self->is_triggered, true);
  if (tb__librcl()->timer_get_period(&timer, &period_ns) == RCL_RET_OK && period_ns > 0 &&
      due_ns <= INT64_MAX - period_ns)
    set_deadline_locked(self, due_ns + period_ns);
  else
    clear_deadline_locked(self);
}

/* ---- the thread ---- */

/* librcl's callback triggers the guard condition of a timer that is due, at a jump forward. */
static void trigger(size_t place)
{
  static const rcl_time_jump_t tick = {RCL_ROS_TIME_NO_CHANGE, {1}};
  tb__rcl_timer_t *self = atomic_load(&batch[place]);
  if (!self) return;
  atomic_store(&firing, self);
  bool is_there = atomic_load(&batch[place]) == self && !atomic_load(&is_at_exit);
  if (is_there && atomic_load(&self->is_triggered)) /* not called meanwhile, as one of those due */
    self->callback(&tick, false, self->user_data);
  atomic_store(&firing, NULL);
  if (atomic_load(&enders) == 0) return;
  pthread_mutex_lock(&mutex); /* they wait by now */
  pthread_cond_broadcast(&fired);
  pthread_mutex_unlock(&mutex);
}

static size_t take_due_locked(int64_t now_ns, size_t most)
{
  const tb__heap_entry_t *first;
  size_t count = 0;
  while (count < most && (first = tb__heap_min(&heap)) && first->key <= now_ns) {
    tb__rcl_timer_t *self = by_id[tb__heap_id(first)];
    if (atomic_load(&self->is_triggered)) {
      clear_deadline_locked(self); /* it was not called: once is enough */
      continue;
    }
    expect_call_locked(self, first->key);
    self->place = (uint32_t)count;
    atomic_store(&batch[count++], self);
  }
  return count;
}

/* The first one alone, which wakes the program; the others while it wakes up. */
static void trigger_due_locked(int64_t now_ns)
{
  size_t count, most = 1;
  while (now_ns > 0 && !atomic_load(&is_at_exit) && (count = take_due_locked(now_ns, most)) > 0) {
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < count; i++)
      trigger(i);
    pthread_mutex_lock(&mutex);
    most = BATCH;
    if (tb__shared_time_now(&now_ns)) now_ns = 0; /* it may have gone back meanwhile */
  }
}

/* `self` NULL: all. */
static void wait_while_firing_locked(const tb__rcl_timer_t *self)
{
  atomic_fetch_add(&enders, 1);
  for (const tb__rcl_timer_t *now; (now = atomic_load(&firing)) && (!self || now == self);)
    pthread_cond_wait(&fired, &mutex);
  atomic_fetch_sub(&enders, 1);
}

/* ---- waiting ---- */

static bool waiter_due(tb__waiter_t *waiter)
{
  (void)waiter;
  is_waking = true;
  return true;
}

/* Another publisher: time is read again. */
static bool waiter_moved(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  tb_timeline_t *timeline;
  (void)jump;
  tb__clock_timeline_locked(waiter->clock, &timeline);
  tb__waiter_unqueue_locked(timeline, waiter);
  bool is_new = !is_waking;
  is_waking = true;
  return is_new;
}

static bool waiter_unconcerned(tb__waiter_t *waiter, const tb_jump_t *jump)
{
  (void)waiter, (void)jump;
  return false;
}

static bool waiter_closed(tb__waiter_t *waiter)
{
  (void)waiter; /* the clock lives as long as the process */
  return false;
}

static void waiter_wake(tb__waiter_t *self);

/* What follows the page triggers timers itself, which spares a change of threads. A page of shared
 * memory is asked to wake this process at the deadline, and not at each tick. */
static tb__waiter_t waiter = {.ops = &(const tb__waiter_ops_t){.due = waiter_due,
                                                               .jumped = waiter_unconcerned,
                                                               .moved = waiter_moved,
                                                               .closed = waiter_closed,
                                                               .wake = waiter_wake},
                              .axis = TB__AXIS_TIME,
                              .forward_min = INT64_MAX};

static void queue_locked(void)
{
  const tb__heap_entry_t *first = tb__heap_min(&heap);
  tb_timeline_t *timeline;
  waits_until_ns = first ? first->key : INT64_MAX;
  tb__clock_lock(shared, &timeline);
  if (!is_waking) {
    tb__waiter_unqueue_locked(timeline, &waiter);
    waiter.deadline = first && first->key > 0 ? (uint64_t)first->key : 1;
    if (first) tb__waiter_queue_locked(timeline, &waiter);
  }
  tb__clock_unlock(timeline);
}

/* One that has become due since is not left to the next tick, which may never come. */
static void serve_locked(void)
{
  const tb__heap_entry_t *first;
  int64_t now_ns;
  again = true;
  if (is_serving) return;
  is_serving = true;
  while (again && !atomic_load(&is_at_exit)) {
    waits_until_ns = INT64_MIN;
    again = false;
    if (tb__shared_time_now(&now_ns)) now_ns = 0;
    trigger_due_locked(now_ns);
    queue_locked();
    if (tb__shared_time_now(&now_ns)) now_ns = 0;
    first = tb__heap_min(&heap);
    again = again || (first && now_ns > 0 && first->key <= now_ns);
  }
  is_serving = false;
}

static void waiter_wake(tb__waiter_t *self)
{
  tb_timeline_t *timeline;
  pthread_mutex_lock(&mutex);
  tb__clock_lock(self->clock, &timeline);
  is_waking = false;
  tb__clock_unlock(timeline);
  serve_locked();
  pthread_mutex_unlock(&mutex);
}

/* For deadlines that come before the one that is waited for, or have passed. */
static void *run(void *unused)
{
  (void)unused;
  pthread_mutex_lock(&mutex);
  for (;;) {
    serve_locked();
    pthread_cond_wait(&changed, &mutex);
  }
  return NULL;
}

/* Guard conditions belong to libraries that were loaded before this is registered, and so end after
 * it is called. */
static void stop_at_exit(void)
{
  if (tb__is_forked()) return;
  pthread_mutex_lock(&mutex);
  atomic_store(&is_at_exit, true);
  wait_while_firing_locked(NULL);
  pthread_mutex_unlock(&mutex);
}

/* It runs as long as the process. */
static tb_status_t start_locked(void)
{
  tb_timeline_t *timeline;
  tb__thread_t thread;
  if (is_running) return TB_OK;
  tb_status_t status = tb__shared_time_open(&shared);
  if (!status && atexit(stop_at_exit)) status = TB_ERR_NO_MEMORY;
  if (!status) status = tb__thread_start(&thread, "tb-rcl-timers", run, NULL);
  if (status) return status;
  tb__thread_detach(&thread);
  tb__clock_lock(shared, &timeline);
  tb__clock_add_waiter_locked(shared, &waiter);
  tb__clock_unlock(timeline);
  is_running = true;
  return TB_OK;
}

/* ---- ids ---- */

static bool reserve_locked(void)
{
  if (!tb__table_reserve(&by_impl)) return false;
  if (free_count > 0) return true;
  uint32_t count = id_count ? 2 * id_count : FIRST_IDS;
  if (count > TB__HEAP_IDS) return false;
  tb__rcl_timer_t **larger = realloc(by_id, count * sizeof(*by_id));
  if (larger) by_id = larger;
  uint32_t *larger_ids = realloc(free_ids, count * sizeof *free_ids);
  if (larger_ids) free_ids = larger_ids;
  if (!larger || !larger_ids || tb__heap_reserve(&heap, count)) return false;
  while (id_count < count)
    free_ids[free_count++] = id_count++;
  return true;
}

/* ---- timers ---- */

void tb__rcl_timer_making_begin(const rcl_timer_t *timer)
{
  making.timer = timer;
  making.record = NULL;
}

bool tb__rcl_timer_is_being_made(const void *user_data)
{
  return making.timer && user_data &&
         (user_data == making.timer || user_data == making.timer->impl);
}

void tb__rcl_timer_making_end(const rcl_timer_t *timer, bool is_made)
{
  tb__rcl_timer_t *self = making.record;
  making.timer = NULL;
  making.record = NULL;
  if (!is_made || !self) return;
  pthread_mutex_lock(&mutex);
  self->impl = timer->impl;
  tb__table_insert(&by_impl, &self->node, tb__table_hash(0, self->impl));
  bool missed_a_jump = self->missed_a_jump;
  if (!missed_a_jump) arm_locked(self);
  pthread_mutex_unlock(&mutex);
  if (missed_a_jump) tb__rcl_timer_jumped(self, &(rcl_time_jump_t){RCL_ROS_TIME_NO_CHANGE, {-1}});
}

tb_status_t tb__rcl_timer_create(rcl_jump_callback_t callback, void *user_data,
                                 tb__rcl_timer_t **out)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__rcl_timer_t *self = calloc(1, sizeof *self);
  if (!self) return TB_ERR_NO_MEMORY;
  self->callback = callback;
  self->user_data = user_data;
  pthread_mutex_lock(&mutex);
  tb_status_t status = start_locked();
  if (!status && !reserve_locked()) status = TB_ERR_NO_MEMORY;
  if (!status) {
    self->id = free_ids[--free_count];
    by_id[self->id] = self;
  }
  pthread_mutex_unlock(&mutex);
  if (status) {
    tb__rcl_note("timers of ROS clocks cannot be woken: %s", tb_status_message(status));
    free(self);
    return status;
  }
  atomic_fetch_add(&timers, 1);
  making.record = *out = self;
  return TB_OK;
}

void tb__rcl_timer_end(tb__rcl_timer_t *self)
{
  if (!self || tb__is_forked()) return;
  pthread_mutex_lock(&mutex);
  clear_deadline_locked(self);
  if (self->impl) tb__table_remove(&by_impl, &self->node);
  self->impl = NULL;
  if (atomic_load(&batch[self->place]) == self) atomic_store(&batch[self->place], NULL);
  wait_while_firing_locked(self);
  pthread_mutex_unlock(&mutex);
}

void tb__rcl_timer_destroy(tb__rcl_timer_t *self)
{
  if (!self) return;
  if (making.record == self) making.record = NULL;
  if (!tb__is_forked()) {
    pthread_mutex_lock(&mutex);
    clear_deadline_locked(self);
    by_id[self->id] = NULL;
    free_ids[free_count++] = self->id;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_sub(&timers, 1);
  }
  free(self);
}

/* Back: librcl moves the next call, or triggers a timer that is due, which is left to the
 * schedule. */
void tb__rcl_timer_jumped(tb__rcl_timer_t *self, const rcl_time_jump_t *jump)
{
  pthread_mutex_lock(&mutex);
  const rcl_timer_t timer = {self->impl};
  if (!timer.impl && jump->delta.nanoseconds < 0) self->missed_a_jump = true;
  pthread_mutex_unlock(&mutex);
  int64_t next_ns, now_ns;
  if (!timer.impl) return;
  if (jump->delta.nanoseconds < 0 && !tb__shared_time_now(&now_ns) &&
      (next_call(&timer, &next_ns) != RCL_RET_OK || next_ns > now_ns))
    self->callback(jump, false, self->user_data);
  pthread_mutex_lock(&mutex);
  if (self->impl) arm_locked(self);
  pthread_mutex_unlock(&mutex);
}

/* NULL: it is none of a clock that follows. */
static tb__rcl_timer_t *find_locked(const rcl_timer_t *timer)
{
  tb__table_node_t *node = tb__table_first(&by_impl, tb__table_hash(0, timer->impl));
  while (node && ((tb__rcl_timer_t *)node)->impl != timer->impl)
    node = tb__table_next(node);
  return (tb__rcl_timer_t *)node;
}

void tb__rcl_timer_moved(const rcl_timer_t *timer)
{
  if (atomic_load_explicit(&timers, memory_order_relaxed) == 0 || tb__is_forked()) return;
  pthread_mutex_lock(&mutex);
  tb__rcl_timer_t *self = find_locked(timer);
  if (self) arm_locked(self);
  pthread_mutex_unlock(&mutex);
}

bool tb__rcl_timer_is_first_ready(const rcl_timer_t *timer)
{
  if (tb__is_forked()) return false;
  pthread_mutex_lock(&mutex);
  tb__rcl_timer_t *self = find_locked(timer);
  bool is_first = self && !self->was_found_ready;
  if (is_first) self->was_found_ready = true;
  pthread_mutex_unlock(&mutex);
  return is_first;
}

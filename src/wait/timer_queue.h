/* A timer queue: a lane for each clock that its timers run on. */
#ifndef TB_WAIT_TIMER_QUEUE_H
#define TB_WAIT_TIMER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timer.h>

#include "base/heap.h"
#include "base/saturate.h"
#include "clock/clock.h"
#include "held/alarm.h"
#include "held/inflight.h"
#include "platform/deadline.h"
#include "platform/thread.h"

#define TB__NO_TIMER    UINT32_MAX
#define TB__TIMERS_BITS 8 /* of the first chunk */
#define TB__ORDER_BITS  49
#define TB__ORDER_MAX   ((UINT64_C(1) << TB__ORDER_BITS) - 1)

struct tb__lane;

/* What a call touches: one cache line. Guarded by the mutex of the clock's timeline, except what
 * never changes after the creation. */
struct tb_timer {
  struct tb__lane *lane; /* never changes */
  union {
    tb_timer_callback_t of_clock;
    tb_steady_timer_callback_t of_steady;
    tb_timer_wake_t wake; /* of a passive timer */
  } callback;
  void *user;
  int64_t period_ns;
  int64_t last_key; /* of the last call, or the start */
  int64_t key;      /* of the deadline, while `in_heap` */
  uint64_t rank;    /* its id, and while `due_later` the rank that its place will get */
  uint64_t order : TB__ORDER_BITS; /* of its start, in the queue */
  uint64_t mode : 2;               /* tb_timer_mode_t */
  bool catches_up : 1;
  bool executing : 1;
  bool destroyed : 1;    /* its id is freed when its call and reset hooks end */
  bool deferred : 1;     /* on the lane's list */
  bool awaits_start : 1; /* TB_TIMER_ONE_SHOT_AT whose clock moved to a source that has not started:
                            its rest counts from the first tick */
  bool in_heap : 1;      /* has a place in the heap */
  bool stopped_in_heap : 1; /* it is stopped, but still has its place */
  bool due_later : 1;       /* its place is that of an earlier deadline */
  bool passive : 1;         /* never changes */
  bool woken : 1; /* passive, due and its hook called: its place is that of the deadline after this
                     one, if it is advanced before that; a place that has come up is the last one */
  bool wakes : 1; /* with `woken`: its hook has yet to be called */
  bool was_started : 1;
  bool has_reset_hook : 1;
};

_Static_assert(sizeof(struct tb_timer) <= 64, "a call touches one cache line of its timer");

/* What a call rarely touches. */
typedef struct tb__timer_cold {
  int64_t at_ns;         /* of TB_TIMER_ONE_SHOT_AT */
  int64_t deferred_key;  /* while `deferred` */
  uint64_t burst_run;    /* the run of the queue that `burst` counts in */
  uint32_t burst;        /* calls made in that run, of one that catches up */
  uint32_t catch_up_max; /* > 0 */
  uint32_t next,
      previous; /* on the lane's list of deferred timers; `next` also on that of free ids */
  tb_timer_reset_t reset;
  void *reset_user;
  uint32_t resets; /* how many of its reset hooks run */
} tb__timer_cold_t;

/* Chunks never move. Each is twice as large as the one before it, so many timers need few chunks.
 */
typedef struct tb__timer_chunk {
  union tb__timer_line {
    _Alignas(64) tb_timer_t timer;
  } * timers;
  tb__timer_cold_t *cold;
} tb__timer_chunk_t;

#define TB__TIMER_CHUNKS 17 /* 2^24 timers, less the size of a chunk of the first size */

/* How many passive timers are taken to be woken under one lock. */
#define TB__WAKE_BATCH 32

/* The timers of one clock in one queue. A key is a deadline minus `offset_ns`: a change of the
 * clock's source moves all deadlines by moving the offset. Guarded by the mutex of the clock's
 * timeline. */
typedef struct tb__lane {
  tb__waiter_t waiter; /* at the earliest deadline, on a timeline that a source moves */
  struct tb__lane *next;
  tb_timer_queue_t *queue;
  tb_clock_t *clock;      /* referenced */
  tb__poll_alarm_t alarm; /* at the earliest deadline, on the operating system's clocks */
  int64_t alarm_ns;       /* as set; INT64_MAX: not set */
  tb__heap_t heap;        /* by key */
  uint32_t stale; /* how many of its entries are earlier than their timer's deadline, or of stopped
                     timers */
  tb__timer_chunk_t chunks[TB__TIMER_CHUNKS];
  uint32_t chunk_count;
  uint32_t used_ids;                      /* ids below it have been used */
  uint32_t first_free;                    /* of those, through `next` */
  uint32_t timers_at;                     /* how many were given a time: 0 saves a search */
  uint32_t first_deferred, last_deferred; /* started in this run and due in it: for the next one */
  uint32_t *to_wake; /* ids of passive timers whose hooks are to be called; NULL:
                        there has been no passive timer */
  uint32_t wake_room, wake_next, wake_end; /* of it: as many as the heap; the next one; the end */
  int64_t offset_ns;
  _Atomic bool closed;      /* the clock was destroyed; set by the mutex */
  tb__inflight_t *inflight; /* where the due calls of this lane are counted; NULL: none are */

  /* The run in progress. */
  bool in_run;         /* the waiter or alarm is set at its end */
  int64_t horizon_key; /* later deadlines wait for the next run */
  bool peek_due;       /* of the runner: the lane may have a timer to call, not before: */
  int64_t peek_ns;
  uint64_t peek_order;
} tb__lane_t;

struct tb_timer_queue {
  tb__poll_set_t poll;
  _Atomic bool signalled;         /* the event is set, or run_due is about to check */
  _Atomic bool running;           /* run_due is in progress, or the queue has a thread */
  _Atomic uintptr_t runner;       /* the thread that makes the calls */
  tb__mutex_t mutex;              /* the making of lanes, the end of the thread */
  tb__lane_t *_Atomic lanes;      /* grows only */
  _Atomic uint64_t last_order;    /* of starts */
  uint64_t runs;                  /* of the runner */
  _Atomic uint32_t calls_ended;   /* futex of the threads that wait for a call to end */
  _Atomic uint32_t call_waiters;  /* how many threads do */
  tb__thread_t thread;            /* guarded by `mutex`, like the next */
  bool has_thread;                /* to be joined */
  _Atomic bool thread_wanted;     /* the thread keeps running */
  _Atomic uint32_t thread_active; /* futex: 0 when it has made its last call */
  tb_timer_queue_t *outer;        /* of the runner: the queue in whose callback it runs this one */
  _Atomic uint64_t driver;        /* number of the thread that ran it last, or else created it */
  tb_timer_t *_Atomic woken[TB__WAKE_BATCH]; /* whose hooks are yet to be called; NULL: it was, or
                                                the timer has been stopped since */
  tb_timer_t *_Atomic hook_of;               /* whose hook runs, or is about to */
  uint64_t id; /* guarded by the mutex of the list of all queues, like the next */
  tb_timer_queue_t *next, *previous;
};

/* The chunk of an id, and the place in it. */
static inline uint32_t tb__timer_place(uint32_t id, uint32_t *out_index)
{
  uint32_t shifted = id + (UINT32_C(1) << TB__TIMERS_BITS);
  uint32_t bits = 31 - (uint32_t)__builtin_clz(shifted);
  *out_index = shifted - (UINT32_C(1) << bits);
  return bits - TB__TIMERS_BITS;
}

static inline tb_timer_t *tb__lane_timer(const tb__lane_t *lane, uint32_t id)
{
  uint32_t index, chunk = tb__timer_place(id, &index);
  return &lane->chunks[chunk].timers[index].timer;
}

static inline tb__timer_cold_t *tb__lane_cold(const tb__lane_t *lane, uint32_t id)
{
  uint32_t index, chunk = tb__timer_place(id, &index);
  return &lane->chunks[chunk].cold[index];
}

/* Finds or makes the lane of a clock; NULL: there is none. */
tb_status_t tb__lane_get(tb_timer_queue_t *queue, tb_clock_t *clock,
                         tb__lane_t **out) TB_WARN_UNUSED;
tb__lane_t *tb__lane_find(tb_timer_queue_t *queue, const tb_clock_t *clock);
void tb__lane_destroy(tb__lane_t *lane);

/* Ids and their memory, which stays where it is. TB_ERR_NO_MEMORY. */
tb_status_t tb__lane_take_id_locked(tb__lane_t *lane, bool passive, uint32_t *out) TB_WARN_UNUSED;
void tb__lane_free_id_locked(tb__lane_t *lane, uint32_t id);
/* M5: of a timer that was destroyed, unless a call or a reset hook of it runs: the last one to end
 * frees it. */
void tb__timer_free_unused_locked(tb_timer_t *timer);
void tb__lane_free_ids(tb__lane_t *lane);

/* Timers are stopped and started again far more often than they become due, so the heap is updated
 * lazily: a timer that is stopped keeps its place, and so does one that is started again for the
 * same time or a later one. Such a place is stale: too early, never too late. It is repositioned
 * when it has become the first; when many are stale, all are repositioned at once. */
void tb__lane_insert_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key);
/* The next deadline of a timer that runs. False: it has the place already. */
bool tb__lane_postpone_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key);
void tb__lane_reposition_locked(tb__lane_t *lane, tb_timer_t *timer);
const tb__heap_entry_t *tb__lane_reposition_first_locked(tb__lane_t *lane);

static inline uint32_t tb__timer_id(const tb_timer_t *timer)
{
  return tb__heap_rank_id(timer->rank);
}

/* Whether its place is not that of its deadline. */
static inline bool tb__timer_is_stale(const tb_timer_t *timer)
{
  return timer->stopped_in_heap || timer->due_later;
}

/* A woken timer has a place later than its deadline: gives up what only such a timer may have, so
 * that a place is never too late. */
static inline void tb__timer_unwake_locked(tb_timer_t *timer)
{
  const tb__heap_t *heap = &timer->lane->heap;
  if (!timer->woken) return;
  timer->woken = timer->wakes = false;
  timer->key = heap->entries[heap->where[tb__timer_id(timer)]].key;
}

/* Stops it, if it is queued. */
static inline void tb__timer_leave_in_heap_locked(tb_timer_t *timer)
{
  if (!timer->in_heap) return;
  tb__timer_unwake_locked(timer);
  if (!tb__timer_is_stale(timer)) timer->lane->stale++;
  timer->stopped_in_heap = true;
}

static inline bool tb__timer_is_queued(const tb_timer_t *timer)
{
  return timer->in_heap && !timer->stopped_in_heap;
}

/* The entry with the earliest deadline; NULL if no timer runs. */
static inline const tb__heap_entry_t *tb__lane_first_locked(tb__lane_t *lane)
{
  const tb__heap_entry_t *first = tb__heap_min(&lane->heap);
  if (!first || !tb__timer_is_stale(tb__lane_timer(lane, tb__heap_id(first)))) return first;
  return tb__lane_reposition_first_locked(lane);
}

/* Timers that are due in the run that they were started in wait for the next one: nothing is
 * called twice in a run. */
void tb__lane_defer_locked(tb__lane_t *lane, tb_timer_t *timer, int64_t key);
void tb__lane_undefer_locked(tb__lane_t *lane, tb_timer_t *timer);
void tb__lane_admit_deferred_locked(tb__lane_t *lane);

/* Takes all passive timers that are due at `until_key` to be woken. */
void tb__lane_collect_passive_locked(tb__lane_t *lane, int64_t until_key);

/* What a call of a timer gets. */
typedef struct tb__timer_call {
  int64_t scheduled_ns, actual_ns;
  uint64_t missed, epoch;
} tb__timer_call_t;

/* How many whole periods lie between the deadline and `until_key`. */
uint64_t tb__timer_periods_missed(const tb_timer_t *timer, int64_t key, int64_t until_key);

/* Ends what the timer waits for, as a call does: sets the next deadline or stops it. TB_ERR_CLOSED,
 * TB_ERR_NOT_FOUND, TB_ERR_NOT_SET. */
tb_status_t tb__timer_advance_locked(tb_timer_t *timer, tb_timeline_t *timeline,
                                     tb__timer_call_t *out)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;

/* Asks for a run: the descriptor becomes readable. [any thread] */
void tb__timer_queue_signal(tb_timer_queue_t *queue);
bool tb__timer_queue_runs_here(const tb_timer_queue_t *queue) TB_WARN_UNUSED;
/* Whether this thread is in a reset hook of one of its timers, whoever starts that. */
bool tb__timer_queue_hook_is_here(const tb_timer_queue_t *queue) TB_WARN_UNUSED;

/* tb_timer_queue_stop_thread. */
tb_status_t tb__timer_queue_stop_thread(tb_timer_queue_t *queue,
                                        tb__deadline_t deadline) TB_WARN_UNUSED;
/* One run, by the thread that has set `running`. */
tb_status_t tb__timer_queue_run(tb_timer_queue_t *queue, uint32_t *out_calls) TB_WARN_UNUSED;

/* The queue whose callback runs on this thread, or NULL. */
extern _Thread_local tb_timer_queue_t *tb__queue_of_thread
    __attribute__((tls_model("initial-exec")));
/* The running callback blocks until time moves: no other call is made before that. */
void tb__timer_queue_callback_blocks(tb_timer_queue_t *queue);
/* Runs the queues that this thread drives and that have timers on the timeline, or with NULL on one
 * of the operating system's. */
void tb__timer_queues_run_own(const tb_timeline_t *timeline);
/* Whether a callback of such a queue runs on this thread. */
bool tb__timer_queues_call_here(const tb_timeline_t *timeline) TB_WARN_UNUSED;

/* A number that identifies this thread. */
uint64_t tb__thread_number(void);

void tb__lane_inflight_end_locked(tb__lane_t *lane);
/* Waits for the earliest deadline, with the clock's timeline locked. */
void tb__lane_rearm_locked(tb__lane_t *lane, tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* The clock's time as a key; false while nothing can be due because its source has not started. */
static inline bool tb__lane_now_key_locked(const tb__lane_t *lane, const tb_timeline_t *timeline,
                                           int64_t *out_key, int64_t *out_now_ns)
    TB_REQUIRES(timeline->mutex)
{
  int64_t now_ns = tb__timeline_time_locked(timeline);
  *out_now_ns = now_ns;
  *out_key = tb__add_saturated(now_ns, -lane->offset_ns);
  return timeline->kind != TB__TIMELINE_ROS || now_ns != 0;
}

/* Whether no jump and no change of source blocks the readers of the clock. */
static inline bool tb__lane_is_settled(const tb__lane_t *lane, const tb_timeline_t *timeline)
{
  return !tb__word_is_blocked(atomic_load_explicit(&lane->clock->word, memory_order_acquire)) &&
         !(atomic_load_explicit(&timeline->version, memory_order_acquire) & TB__VERSION_BLOCKED) &&
         (!timeline->view || !tb__timeline_is_blocked(timeline));
}

/* tb__clock_lock_settled, which has to wait only if the clock is found unsettled. */
TB_WARN_UNUSED static inline tb_status_t tb__lane_lock_settled(const tb__lane_t *lane,
                                                               tb_timeline_t **out)
    TB_TRY_ACQUIRE(0, (*out)->mutex)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__clock_lock(lane->clock, out);
  if (__builtin_expect(tb__lane_is_settled(lane, *out), 1)) return TB_OK;
  tb__clock_unlock(*out);
  return tb__clock_lock_settled(lane->clock, out);
}

#endif

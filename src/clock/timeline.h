/* A timeline: the committed time that readers see, and the handlers and waiters that its moves
 * concern. */
#ifndef TB_CLOCK_TIMELINE_H
#define TB_CLOCK_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timeline.h>

#include "clock/deadline_heap.h"
#include "clock/linear_time.h"
#include "clock/page.h"
#include "clock/waiter.h"
#include "platform/mutex.h"
#include "platform/thread.h"

typedef enum tb__timeline_kind {
  TB__TIMELINE_ROS,    /* moved by a source */
  TB__TIMELINE_SYSTEM, /* CLOCK_REALTIME; one for the process */
  TB__TIMELINE_STEADY, /* CLOCK_MONOTONIC; one for the process */
} tb__timeline_kind_t;

/* One of the two copies of what is committed. */
typedef struct tb__slot {
  _Atomic int64_t time_ns;
  _Atomic uint64_t epoch;
  _Atomic uint32_t state;
  uint32_t unused[3];
} tb__slot_t;

/* Bits of `version`; above them it counts. */
#define TB__VERSION_BLOCKED UINT64_C(1)  /* a blocking jump is in progress */
#define TB__VERSION_RUNNING UINT64_C(2)  /* the time follows from `linear`, see running.h */
#define TB__VERSION_HALTING UINT64_C(4)  /* with RUNNING: it is being halted */
#define TB__VERSION_SLOT    UINT64_C(32) /* which copy is current */
#define TB__VERSION_STEP    UINT64_C(64)

/* So the bit is the offset of that copy, which saves a reader of the time a shift. */
_Static_assert(sizeof(tb__slot_t) == TB__VERSION_SLOT, "see above");

static inline size_t tb__version_slot(uint64_t version)
{
  return (version & TB__VERSION_SLOT) / TB__VERSION_SLOT;
}

/* What the time of a running timeline follows from; one for each slot. */
typedef struct tb__linear_slot {
  _Atomic int64_t time_ns, steady_ns, until_ns;
  _Atomic double rate;
} tb__linear_slot_t;

/* The thread that wakes the waiters that are due while time runs by itself. Guarded by the mutex,
 * except `word`. */
typedef struct tb__wakeup_thread {
  tb__thread_t thread;
  bool exists, stopping;
  bool counted;          /* its wake-up counts as in-flight (held/inflight.h) */
  int64_t alarm_ns;      /* steady: when it wakes up by itself */
  _Atomic uint32_t word; /* futex */
} tb__wakeup_thread_t;

typedef struct tb__timeline_counts {
  _Atomic uint64_t ticks, repeats, jumps_forward, jumps_backward, dropped, stalls;
  _Atomic int64_t largest_forward_ns, largest_backward_ns, advanced_ns;
  _Atomic int64_t longest_handler_ns;
  _Atomic double rate;
} tb__timeline_counts_t;

/* Where the passing of time was last measured, in coarse steady time (0: nowhere). */
typedef struct tb__rate_meter {
  int64_t window_steady_ns, window_time_ns; /* start of the window in which the rate is measured */
  double moving_rate;                       /* the last one measured while time moved; 0: none */
  bool jumped;                              /* at the last tick, which gave no reason */
} tb__rate_meter_t;

#define TB__LIVENESS_FOREVER   INT64_MAX          /* time runs without ticks */
#define TB__PAUSED_AFTER_NS    INT64_C(100000000) /* of ticks that repeat the value */
#define TB__STALL_CONFIRMED_NS INT64_C(100000000) /* after it was seen first */

/* Signs of life, in coarse steady time (0: none yet), and the stall that was reported last. */
typedef struct tb__liveness {
  _Atomic int64_t moved_ns;       /* the last tick that moved time */
  _Atomic int64_t repeated_ns;    /* the last one that did not */
  _Atomic int64_t stalled_at_ns;  /* the sign of life after which a stall has been counted */
  _Atomic int64_t reported_at_ns; /* and after which one has been reported */
  _Atomic int64_t seen_ns; /* when one was seen first; the present one if not before its moment */
  _Atomic int64_t stall_limit_ns; /* INT64_MAX: off */
} tb__liveness_t;

typedef struct tb__waiters {
  tb__deadline_heap_t heaps[TB__AXES];
  tb__waiter_t *watchers;
  int64_t watch_min_forward; /* not above any forward_min on these two lists */
  tb__waiter_t *states;      /* waiters for a state */
} tb__waiters_t;

typedef struct tb__handlers {
  struct tb_jump_handler *first, *last; /* in order of registration */
  uint32_t forward;                     /* how many have a forward threshold */
  int64_t min_forward;                  /* not above any handler's (INT64_MAX: none) */
} tb__handlers_t;

/* Where the ticks of a wrapped source go. They are not committed on its own timeline, whose time
 * stays 0. Fixed until the wrapped source is destroyed. */
typedef struct tb__redirect {
  tb_timeline_t *to;
  /* `may_wait` as in tb__anchor_policy_t. Called with no lock held. */
  tb_status_t (*commit)(struct tb__redirect *redirect, const tb_anchor_t *anchor,
                        tb_jump_reason_t reason, bool may_wait);
} tb__redirect_t;

struct tb_timeline {
  _Alignas(64) _Atomic uint64_t version;
  tb__slot_t slots[2];
  tb__linear_slot_t linear_slots[2];
  _Atomic int64_t halt_steady_ns;
  _Atomic uint32_t gate;    /* futex: readers blocked by a jump */
  _Atomic uint32_t readers; /* how many there are */
  tb__page_view_t *view;    /* what is read instead of the slots; NULL: nothing */

  _Alignas(64) tb__mutex_t mutex; /* short: never held in a callback */
  tb__timeline_kind_t kind;
  uint64_t id; /* order in which several are locked */
  _Atomic uint32_t references;

  /* The turn to move the timeline, held through a jump and its callbacks; in order of arrival. */
  uint32_t turn_next;
  _Atomic uint32_t turn_serving; /* futex */
  uint32_t turn_limited;         /* waiters with a limit, out of order */

  _Atomic uint32_t jumps_done; /* futex: for threads that wait until a jump is over */
  struct tb__jump *jump;       /* whose handlers run, while one has the turn; else NULL */
  _Atomic int64_t slow_handler_ns;
  _Atomic bool readers_give_up;
  _Atomic bool readers_never_block;
  bool detached;   /* ticks are refused */
  bool unsettled;  /* between the commit of a jump and the wake-up of the waiters that are due */
  bool announced;  /* readers are blocked until a tick has been dispatched */
  bool running;    /* time runs by itself, along `linear` */
  int64_t time_ns; /* as committed; 0: not started */
  uint64_t epoch;  /* of the last backward jump */
  tb_clock_state_t state;
  uint64_t elapsed_offset; /* elapsed = time - offset, while started */
  uint64_t elapsed_frozen; /* elapsed, while not started */
  tb__handlers_t handlers;
  tb__waiters_t waiters;
  tb__rate_meter_t meter;
  tb__liveness_t liveness;
  int64_t forward_jump_min_ns;
  tb__timeline_counts_t counts;
  tb__linear_time_t linear;
  tb__wakeup_thread_t wakeup_thread;
  _Atomic(tb__redirect_t *) redirect; /* NULL: none */
  uint32_t sleepers;                  /* threads that wait on it */
  struct tb__inflight *inflight;      /* NULL until a caller waits for what a move makes due */
};

/* The timeline that has the time of this one's source. */
static inline tb_timeline_t *tb__timeline_target(tb_timeline_t *timeline)
{
  const tb__redirect_t *redirect = atomic_load(&timeline->redirect);
  return redirect ? redirect->to : timeline;
}

tb_status_t tb__timeline_create(tb_timeline_t **out) TB_WARN_UNUSED;
void tb__timeline_ref(tb_timeline_t *timeline);
void tb__timeline_unref(tb_timeline_t *timeline);

/* The process's own; never freed. */
tb_timeline_t *tb__timeline_system(void);
tb_timeline_t *tb__timeline_steady(void);

/* Publishes time_ns, epoch and state to the readers, keeping the BLOCKED bit. */
void tb__timeline_publish_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Makes reads in progress start again. */
void tb__timeline_overtake_readers_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Block the readers of the timeline, unless they never block, and unblock and wake them. */
void tb__timeline_block_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__timeline_unblock_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Takes the turn, releasing the mutex while it waits; and ends it. */
void tb__timeline_take_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* The same with a limit in steady time, and then not in order of arrival: TB_ERR_TIMEOUT. */
tb_status_t tb__timeline_take_turn_within_locked(tb_timeline_t *timeline, int64_t limit_ns)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;
void tb__timeline_end_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* The time that has passed on the timeline. On the system timeline it is steady time. */
uint64_t tb__timeline_elapsed_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* For tb__timeline_time_locked alone: of every kind of timeline. */
int64_t tb__timeline_any_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* The current time, for the thread that holds the mutex. */
static inline int64_t tb__timeline_time_locked(const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex)
{
  if (timeline->kind == TB__TIMELINE_ROS && !timeline->view && !timeline->running)
    return timeline->time_ns;
  return tb__timeline_any_time_locked(timeline);
}

/* Resets the time without a jump: for a timeline that no clock points at. */
void tb__timeline_reset(tb_timeline_t *timeline);

/* Refuses or accepts ticks. Returns when no tick is in progress that began before. */
void tb__timeline_set_detached(tb_timeline_t *timeline, bool detached);

/* The earliest deadline of a waiter, which time may have reached; false if there is none. */
bool tb__timeline_first_deadline_locked(tb_timeline_t *timeline, int64_t *out_ns)
    TB_REQUIRES(timeline->mutex);
/* The earliest time after now at which a waiter is due; false if there is none. */
bool tb__timeline_next_deadline(tb_timeline_t *timeline, int64_t *out_ns);
bool tb__timeline_next_deadline_locked(tb_timeline_t *timeline, int64_t *out_ns)
    TB_REQUIRES(timeline->mutex);

/* What `state` is now: a running timeline without signs of life is stalled, or paused. */
tb_clock_state_t tb__timeline_derive_state(const tb_timeline_t *timeline, tb_clock_state_t state);
/* False: a jump blocks readers; waiters for a state are notified when it ends. */
bool tb__timeline_visible_state_locked(const tb_timeline_t *timeline, tb__visible_state_t *out)
    TB_REQUIRES(timeline->mutex);
#define TB__WHEN_STALLED INT64_C(0)
/* Counts a stall, once, and logs it once it is certain that ticks were not only waiting for a
 * process that was stopped: `expected_ns` is the steady time at which the caller, who waited, was
 * to be woken (INT64_MAX: it did not wait). Call with no lock held. */
void tb__timeline_report_stall(tb_timeline_t *timeline, int64_t expected_ns);
/* Call before noting a sign of life: counts a stall that is over and that no reader has seen. */
void tb__timeline_count_stall(tb_timeline_t *timeline, int64_t steady_ns)
    TB_REQUIRES(timeline->mutex);
/* The time since the last sign of life; 0: there was none, or time runs without. */
int64_t tb__liveness_silence_ns(const tb__liveness_t *liveness, int64_t steady_ns);

/* For callbacks, whose caller holds the mutex. */
static inline void tb__timeline_assert_locked(const tb_timeline_t *timeline)
    TB_ASSERT_LOCKED(timeline->mutex)
{
  (void)timeline;
}

/* Decides the next anchor of a timeline, knowing its time. The functions are called with the mutex
 * held; `moved` (may be NULL) when the anchor is about to be committed; `ended` (may be NULL) at
 * the end, whether it was committed or not, if `next_anchor` was called. */
typedef struct tb__anchor_policy {
  tb_anchor_t (*next_anchor)(struct tb__anchor_policy *policy, int64_t time_ns, int64_t steady_ns);
  void (*moved)(struct tb__anchor_policy *policy);
  void (*ended)(struct tb__anchor_policy *policy);
  tb_jump_reason_t reason; /* `next_anchor` may set it */
  bool may_wait; /* else TB_ERR_BUSY where a callback would have to run, or a jump is in progress */
  tb_source_t
      *replaced; /* `next_anchor` may set it: a clock change for all clocks of this source */
  bool
      renews_epoch; /* and this: the time has gone back in between, but is not below where it was */
} tb__anchor_policy_t;

tb_status_t tb__timeline_apply_policy(tb_timeline_t *timeline,
                                      tb__anchor_policy_t *policy) TB_WARN_UNUSED;

/* Whether a source may commit the anchor, and how time runs from it. */
bool tb__anchor_is_valid(const tb_anchor_t *anchor);
tb__linear_time_t tb__anchor_linear_time(const tb_anchor_t *anchor);

/* Whether readers of the timeline have to wait for a jump. */
bool tb__timeline_is_blocked(const tb_timeline_t *timeline);
/* Whether the page has made a jump that has not been dispatched here. */
bool tb__timeline_is_behind_page(const tb_timeline_t *timeline);
/* Reads a timeline that is earlier than its page, and whose readers never block: what has been
 * committed or, before the dispatch, the last time of the dispatched epoch. From then on no reader
 * of this process sees an earlier one in that epoch. */
void tb__timeline_read_behind_page_locked(tb_timeline_t *timeline, int64_t *out_ns)
    TB_REQUIRES(timeline->mutex);
/* Makes the thread that follows the page follow it when the time is reached; TB__WISH_EACH_TICK: at
 * each tick. */
void tb__timeline_want_time_locked(tb_timeline_t *timeline, int64_t time_ns)
    TB_REQUIRES(timeline->mutex);

/* Stops time that runs by itself: `time_ns` is the current time. */
void tb__timeline_halt_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* From now on counts the threads and timers that moves of the timeline make due (held/inflight.h).
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__timeline_track(tb_timeline_t *timeline);

/* What counts the wake-ups on the timeline as in-flight: its own count or, while it runs on held
 * steady time, that of the operating system's clocks. NULL: they are not counted. */
struct tb__inflight *tb__timeline_inflight_locked(const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

/* A new epoch, unique in the process. */
uint64_t tb__epoch_take(void);

/* Adds the waiter to its heap and to the list of watchers, and removes it. */
void tb__waiter_queue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_unqueue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_watch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_unwatch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);

/* Add the waiters that are due, or that `jump` concerns, to the list of those to wake. */
void tb__waiters_collect_due_locked(tb_timeline_t *timeline, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex);
void tb__waiters_collect_jumped_locked(tb_timeline_t *timeline, const tb_jump_t *jump,
                                       tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex);
/* Call after whatever may have changed the state: wakes the waiters for a state. */
void tb__waiters_report_state_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* Calls `wake` of each, with no lock held. */
void tb__waiters_wake(tb__waiter_t *to_wake);
/* The same, and then puts the heaps in order before the next tick. A woken thread may destroy the
 * source: this takes over a reference to the timeline. */
void tb__waiters_wake_and_settle(tb_timeline_t *timeline, tb__waiter_t *to_wake);

#endif

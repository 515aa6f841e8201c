/* A timeline: the committed time that readers see, and who must be told when it moves. */
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

/* One of the two copies of what is committed. Its size is a power of two: finding it is a shift. */
typedef struct tb__slot {
  _Atomic int64_t time_ns;
  _Atomic uint64_t epoch;
  _Atomic uint32_t state;
  uint32_t unused[3];
} tb__slot_t;

_Static_assert(sizeof(tb__slot_t) == 32, "see above");

/* Bits of `version`; above them it counts. */
#define TB__VERSION_SLOT    UINT64_C(1) /* which copy is current */
#define TB__VERSION_BLOCKED UINT64_C(2) /* a blocking jump is in progress */
#define TB__VERSION_RUNNING UINT64_C(4) /* the time follows from the linear, see running.h */
#define TB__VERSION_HALTING UINT64_C(8) /* with RUNNING: about to stand */
#define TB__VERSION_STEP    UINT64_C(16)

/* Where the time of a running timeline comes from: beside each slot. */
typedef struct tb__linear_slot {
  _Atomic int64_t time_ns, steady_ns, until_ns;
  _Atomic double rate;
} tb__linear_slot_t;

/* The thread that wakes who is due while time runs by itself. By the mutex, but for `word`. */
typedef struct tb__wakeup_thread {
  tb__thread_t thread;
  bool exists, stopping;
  bool counted;          /* somebody waits until it has looked (held/inflight.h) */
  int64_t alarm_ns;      /* steady: when it looks by itself */
  _Atomic uint32_t word; /* futex */
} tb__wakeup_thread_t;

typedef struct tb__timeline_counts {
  _Atomic uint64_t ticks, jumps_forward, jumps_backward, dropped, stalls;
  _Atomic int64_t largest_forward_ns, largest_backward_ns, advanced_ns;
  _Atomic int64_t longest_handler_ns;
  _Atomic double rate;
} tb__timeline_counts_t;

/* Where the passing of time was last measured, in coarse steady time (0: nowhere). */
typedef struct tb__rate_meter {
  int64_t window_steady_ns, window_time_ns; /* start of the window of the rate */
  double moving_rate;                       /* the last one measured while time moved; 0: none */
  bool jumped;                              /* at the last tick, for no reason given */
} tb__rate_meter_t;

#define TB__LIVENESS_FOREVER INT64_MAX          /* time goes on without ticks */
#define TB__PAUSED_AFTER_NS  INT64_C(100000000) /* of ticks that repeat the value */

/* Signs of life, in coarse steady time (0: none yet), and what was made of their absence. */
typedef struct tb__liveness {
  _Atomic int64_t moved_ns;       /* the last tick that moved time */
  _Atomic int64_t repeated_ns;    /* the last one that did not */
  _Atomic int64_t stalled_at_ns;  /* the sign of life after which a stall has been reported */
  _Atomic int64_t stall_limit_ns; /* INT64_MAX: off */
} tb__liveness_t;

typedef struct tb__waiters {
  tb__deadline_heap_t heaps[TB__AXES];
  tb__waiter_t *watchers;
  int64_t watch_min_forward; /* not above the forward_min of anyone on these two lists */
  tb__waiter_t *states;      /* who waits for a state */
} tb__waiters_t;

typedef struct tb__handlers {
  struct tb_jump_handler *first, *last; /* in order of registration */
  uint32_t forward;                     /* how many have a forward threshold */
  int64_t min_forward;                  /* not above any handler's (INT64_MAX: none) */
} tb__handlers_t;

/* Where the ticks of a timeline go whose source is wrapped by another one: they are not committed
 * here, its own time stays 0. Fixed until the wrapped source is destroyed. */
typedef struct tb__redirect {
  tb_timeline_t *to;
  /* `may_wait` as in tb__anchor_policy_t. Called with nothing held. */
  tb_status_t (*commit)(struct tb__redirect *redirect, const tb_anchor_t *anchor,
                        tb_jump_reason_t reason, bool may_wait);
} tb__redirect_t;

struct tb_timeline {
  _Alignas(64) _Atomic uint64_t version;
  tb__slot_t slots[2];
  tb__linear_slot_t linear_slots[2];
  _Atomic int64_t halt_steady_ns;
  _Atomic uint32_t gate;    /* futex: readers held up by a blocking jump */
  _Atomic uint32_t readers; /* how many there are */
  tb__page_view_t *view;    /* where readers look; NULL: here */

  _Alignas(64) tb__mutex_t mutex; /* short: never held in a callback */
  tb__timeline_kind_t kind;
  uint64_t id; /* order in which several are locked */
  _Atomic uint32_t references;

  /* The turn to move the timeline, held through a jump and its callbacks; in order of arrival. */
  uint32_t turn_next;
  _Atomic uint32_t turn_serving; /* futex */
  uint32_t turn_limited;         /* who waits for it with a limit, out of order */

  _Atomic uint32_t jumps_done; /* futex: those who wait for a jump to be over */
  struct tb__jump *jump;       /* whose handlers run, while one has the turn; else NULL */
  _Atomic int64_t slow_handler_ns;
  _Atomic bool readers_give_up;
  bool detached;   /* ticks are refused */
  bool unsettled;  /* between the commit of a jump and the waking of who is due */
  bool announced;  /* readers are held up for a tick that is to be dispatched */
  bool running;    /* time goes on by itself, on `linear` */
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
  struct tb__inflight *inflight;      /* NULL until somebody waits for what a move makes due */
};

/* The timeline that tells the time of this one's source. */
static inline tb_timeline_t *tb__timeline_target(tb_timeline_t *timeline)
{
  const tb__redirect_t *redirect = atomic_load(&timeline->redirect);
  return redirect ? redirect->to : timeline;
}

tb_status_t tb__timeline_create(tb_timeline_t **out);
void tb__timeline_ref(tb_timeline_t *timeline);
void tb__timeline_unref(tb_timeline_t *timeline);

/* The process's own; never freed. */
tb_timeline_t *tb__timeline_system(void);
tb_timeline_t *tb__timeline_steady(void);

/* Publishes time_ns, epoch and state to the readers, keeping the BLOCKED bit. */
void tb__timeline_publish_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Whoever is in the middle of a read begins it again. */
void tb__timeline_overtake_readers_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Opens (with the wake-up of those who waited) and closes the timeline for readers. */
void tb__timeline_block_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__timeline_unblock_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Takes the turn, releasing the mutex while it waits, and gives it back. */
void tb__timeline_take_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* The same with a limit in steady time, and then not in order of arrival: TB_ERR_TIMEOUT. */
tb_status_t tb__timeline_take_turn_within_locked(tb_timeline_t *timeline, int64_t limit_ns)
    TB_REQUIRES(timeline->mutex);
void tb__timeline_end_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* What has passed on the timeline. On the system timeline it is steady time. */
uint64_t tb__timeline_elapsed_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* The time as the thread that holds the mutex sees it. */
int64_t tb__timeline_time_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Sets the time without handlers and waiters: for one that no clock points at. */
void tb__timeline_reset(tb_timeline_t *timeline);

/* Refuses or accepts ticks. Returns when no tick is in progress that began before. */
void tb__timeline_set_detached(tb_timeline_t *timeline, bool detached);

/* The earliest deadline that anyone waits for; false if there is none. */
bool tb__timeline_next_deadline(tb_timeline_t *timeline, int64_t *out_ns);
bool tb__timeline_next_deadline_locked(tb_timeline_t *timeline, int64_t *out_ns)
    TB_REQUIRES(timeline->mutex);

/* What `state` means now: a running timeline without signs of life is stalled, or paused. */
tb_clock_state_t tb__timeline_derive_state(const tb_timeline_t *timeline, tb_clock_state_t state);
/* False: a jump holds up readers; those who wait for a state are told at its end. */
bool tb__timeline_visible_state_locked(const tb_timeline_t *timeline, tb__visible_state_t *out)
    TB_REQUIRES(timeline->mutex);
/* Counts and reports a stall, once. Call with nothing held. */
void tb__timeline_report_stall(const tb_timeline_t *timeline);
/* Before a sign of life: a stall that nobody has looked at, and is over. */
void tb__timeline_count_stall(tb_timeline_t *timeline, int64_t steady_ns)
    TB_REQUIRES(timeline->mutex);
/* Since the last sign of life; 0: there was none, or time goes on without. */
int64_t tb__liveness_silence_ns(const tb__liveness_t *liveness, int64_t steady_ns);

/* Of what is called with the mutex held by those who know no more than a pointer to it. */
static inline void tb__timeline_assert_locked(const tb_timeline_t *timeline)
    TB_ASSERT_LOCKED(timeline->mutex)
{
  (void)timeline;
}

/* Decides the next anchor of a timeline, knowing its time. The functions are called with the mutex
 * held; those that may be NULL: `moved` when the anchor is about to be taken, `ended` when all is
 * over, whether it was taken or not, if `steer` was called. */
typedef struct tb__anchor_policy {
  tb_anchor_t (*next_anchor)(struct tb__anchor_policy *policy, int64_t time_ns, int64_t steady_ns);
  void (*moved)(struct tb__anchor_policy *policy);
  void (*ended)(struct tb__anchor_policy *policy);
  tb_jump_reason_t reason; /* `steer` may set it */
  bool may_wait; /* else TB_ERR_BUSY where anybody's code would have to run, or a jump is on */
  tb_source_t *replaced; /* set by `steer`: the time is another one's from here, for all clocks of
                            this source: a clock change */
} tb__anchor_policy_t;

tb_status_t tb__timeline_apply_policy(tb_timeline_t *timeline, tb__anchor_policy_t *policy);

/* What a source may commit, and how the time runs on from it. */
bool tb__anchor_is_valid(const tb_anchor_t *anchor);
tb__linear_time_t tb__anchor_linear_time(const tb_anchor_t *anchor);

/* Whether readers of the timeline have to wait for a jump. */
bool tb__timeline_is_held_up(const tb_timeline_t *timeline);
/* Asks whoever follows the page to follow each tick. */
void tb__timeline_want_ticks_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* From here on `time_ns` is the current time, and stands. */
void tb__timeline_halt_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* Counts from here on whom moves of the timeline set to work (held/inflight.h).
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__timeline_track(tb_timeline_t *timeline);

/* Who is owed a wake-up on the timeline: whoever moves it or, while it runs, held steady time.
 * NULL: nobody. */
struct tb__inflight *tb__timeline_inflight_locked(const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

/* Epochs of the process. */
uint64_t tb__epoch_take(void);

/* Moves the waiter in and out of the heap and the list of watchers. */
void tb__waiter_queue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_unqueue_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_watch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);
void tb__waiter_unwatch_locked(tb_timeline_t *timeline, tb__waiter_t *waiter)
    TB_REQUIRES(timeline->mutex);

/* Adds those who are due, and those whom `jump` concerns, to the list of the ones to wake. */
void tb__waiters_collect_due_locked(tb_timeline_t *timeline, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex);
void tb__waiters_collect_jumped_locked(tb_timeline_t *timeline, const tb_jump_t *jump,
                                       tb__waiter_t **to_wake) TB_REQUIRES(timeline->mutex);
/* Tells those who wait for a state, after whatever may have changed it, and wakes them. */
void tb__waiters_report_state_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
/* Calls `wake` of each, with nothing held. */
void tb__waiters_wake(tb__waiter_t *to_wake);
/* And then does what the taking of those who were due has left to do, ahead of the next tick. Who
 * is woken may destroy the source: it takes over a reference to the timeline. */
void tb__waiters_wake_and_settle(tb_timeline_t *timeline, tb__waiter_t *to_wake);

#endif

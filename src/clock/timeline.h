/* A timeline: the committed time that readers see, and who must be told when it moves. */
#ifndef TB_CLOCK_TIMELINE_H
#define TB_CLOCK_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timeline.h>

#include "clock/waiter.h"
#include "platform/mutex.h"

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
#define TB__VERSION_STEP    UINT64_C(4)

typedef struct tb__timeline_counts {
  _Atomic uint64_t ticks, jumps_forward, jumps_backward, dropped;
  _Atomic int64_t largest_forward_ns, largest_backward_ns, advanced_ns;
  _Atomic double rate;
} tb__timeline_counts_t;

/* Where the passing of time was last measured, in coarse steady time (0: nowhere). */
typedef struct tb__rate_meter {
  int64_t window_steady_ns, window_time_ns; /* start of the window of the rate */
  int64_t last_steady_ns;                   /* of the last tick */
} tb__rate_meter_t;

typedef struct tb__waiters {
  tb__deadline_heap_t heaps[TB__AXES];
  tb__waiter_t *watchers;
  int64_t watch_min_forward; /* not above any watcher's forward_min */
} tb__waiters_t;

typedef struct tb__handlers {
  struct tb_jump_handler *first, *last; /* in order of registration */
  int64_t min_forward;                  /* not above any handler's (INT64_MAX: none) */
} tb__handlers_t;

struct tb_timeline {
  _Alignas(64) _Atomic uint64_t version;
  tb__slot_t slots[2];
  _Atomic uint32_t gate; /* futex: readers held up by a blocking jump */

  _Alignas(64) tb__mutex_t mutex; /* short: never held in a callback */
  tb__timeline_kind_t kind;
  uint64_t id; /* order in which several are locked */
  _Atomic uint32_t references;

  /* The turn to move the timeline, held through a jump and its callbacks; in order of arrival. */
  uint32_t turn_next;
  _Atomic uint32_t turn_serving; /* futex */

  _Atomic uint32_t jumps_done; /* futex: those who wait for a jump to be over */
  bool detached;               /* ticks are refused */
  bool unsettled;              /* between the commit of a jump and the waking of who is due */
  int64_t time_ns;             /* as committed; 0: not started */
  uint64_t epoch;              /* of the last backward jump */
  tb_clock_state_t state;
  uint64_t elapsed_offset; /* elapsed = time - offset, while started */
  uint64_t elapsed_frozen; /* elapsed, while not started */
  tb__handlers_t handlers;
  tb__waiters_t waiters;
  tb__rate_meter_t meter;
  tb__timeline_counts_t counts;
};

tb_status_t tb__timeline_create(tb_timeline_t **out);
void tb__timeline_ref(tb_timeline_t *timeline);
void tb__timeline_unref(tb_timeline_t *timeline);

/* The process's own; never freed. */
tb_timeline_t *tb__timeline_system(void);
tb_timeline_t *tb__timeline_steady(void);

/* Publishes time_ns, epoch and state to the readers, keeping the BLOCKED bit. */
void tb__timeline_publish_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Opens (with the wake-up of those who waited) and closes the timeline for readers. */
void tb__timeline_block_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
void tb__timeline_unblock_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Takes the turn, releasing the mutex while it waits, and gives it back. */
void tb__timeline_take_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);
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
/* Calls `wake` of each, with nothing held. */
void tb__waiters_wake(tb__waiter_t *to_wake);

#endif

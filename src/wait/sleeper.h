/* A thread that waits on a clock: what sleeps, conditions and rates have in common. A sleeper is on
 * the stack of its thread, or used for one wait after another; it is a waiter of its clock
 * (clock/waiter.h), and may be the member of a cancel token and in the queue of a condition.
 *
 * All but `notify`, `marks` and `word` is guarded by the mutex of the clock's current timeline,
 * also the queue of a condition. A token has a mutex of its own, under which no other is taken and
 * which is never taken under another: it only marks and pokes its members, and each checks its
 * marks under its own timeline's mutex. The mutex of a condition's user is released with no other
 * mutex held, and taken again when the sleeper has left clock, token and condition. */
#ifndef TB_WAIT_SLEEPER_H
#define TB_WAIT_SLEEPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/sleep.h>

#include "clock/clock.h"
#include "held/inflight.h"
#include "held/parking.h"

typedef enum tb__goal {
  TB__GOAL_UNTIL, /* the clock reaches a time */
  TB__GOAL_FOR,   /* a duration has passed */
  TB__GOAL_START, /* the clock has a time */
  TB__GOAL_PACE,  /* a duration has passed, counted again after a backward jump or clock change */
  TB__GOAL_STATE, /* the clock is in a state (state_wait.c) */
} tb__goal_t;

/* Reasons to leave, whatever the clock does. */
#define TB__MARK_CANCELLED UINT32_C(1)
#define TB__MARK_CLOSED    UINT32_C(2)
#define TB__MARK_INVALID   UINT32_C(4)

/* The waits on a condition, longest first. */
typedef struct tb__sleeper_queue {
  struct tb__sleeper *first, *last;
  bool closed;
} tb__sleeper_queue_t;

typedef struct tb__sleeper {
  tb__waiter_t waiter;
  tb_clock_t *clock;
  tb__goal_t goal;
  int64_t goal_ns; /* target, duration or period */
  uint32_t flags;
  int64_t limit_ns; /* steady; INT64_MAX: none */

  bool enlisted;             /* a waiter of the clock */
  bool for_ever;             /* no deadline that can come */
  bool claimed;              /* taken off all lists but the token's; WORD_DONE follows */
  bool waited;               /* the thread has blocked, or would have */
  tb_status_t result;        /* once claimed */
  tb_timeline_t *counted_on; /* while enlisted */
  tb__inflight_t *inflight;  /* once claimed: where the wake-up counts as in flight until the thread
                                is idle; or NULL */

  /* Of the deadline: */
  bool alarm_held;         /* time was held when it was computed */
  int64_t alarm_system_ns; /* INT64_MAX: none; see tb__wait_spec_t */

  tb_cancel_token_t *token; /* or NULL */
  struct tb__sleeper *token_next, *token_previous;

  tb__sleeper_queue_t *queue; /* of a condition, or NULL */
  pthread_mutex_t *mutex;     /* with `queue`: the user's */
  struct tb__sleeper *queue_next, *queue_previous;
  bool in_queue;
  bool released;  /* the user's mutex */
  bool signalled; /* with `claimed`: not undone by a mark */

  /* TB__GOAL_PACE: sets the deadline, on TB__AXIS_ELAPSED, when the wait begins. */
  void (*plan)(struct tb__sleeper *sleeper, const tb_timeline_t *timeline);
  bool repaced;   /* a jump or change during the wait has set the deadline again, ... */
  uint64_t epoch; /* ... at which the clock had this epoch */

  /* TB__GOAL_STATE */
  uint32_t states;             /* the states waited for, as bits */
  tb__visible_state_t visible; /* the last known one; state 0: none */
  tb_clock_reading_t *reading; /* filled when the state is one of them */

  /* The last three: other threads may access them while tb__sleeper_init runs, if the memory is
   * reused. */
  _Atomic uint32_t
      *_Atomic notify; /* another futex, raised instead of `word`: tb__sleeper_begin; or NULL */
  _Atomic uint32_t marks;
  _Atomic uint32_t word; /* futex */
} tb__sleeper_t;

/* Checks the options and sets the sleeper up. `clock` is NULL only for tb__sleeper_begin.
 * TB_ERR_INVALID, TB_ERR_DEADLOCK. */
tb_status_t tb__sleeper_init(tb__sleeper_t *sleeper, tb_clock_t *clock, tb__goal_t goal,
                             int64_t goal_ns, const tb_wait_options_t *options) TB_WARN_UNUSED;

/* Waits. Afterwards the sleeper is on no list; if it has released the user's mutex, the caller must
 * take that again. */
tb_status_t tb__sleeper_run(tb__sleeper_t *sleeper) TB_WARN_UNUSED;

/* A wait of which the caller blocks on another futex: *word is raised by 1 and its waiters are
 * woken when the clock or the token may have ended the wait. Made with TB__GOAL_FOR and INT64_MAX;
 * without a clock only the token counts. The limit ends nothing: the caller has the deadline. An
 * error: it has not begun. */
tb_status_t tb__sleeper_begin(tb__sleeper_t *sleeper, _Atomic uint32_t *word) TB_WARN_UNUSED;
/* What has ended it; TB_OK: nothing yet. */
tb_status_t tb__sleeper_ended(tb__sleeper_t *sleeper) TB_WARN_UNUSED;
/* *word is not accessed any more. [blocks: until a jump that has ended the wait is over] */
void tb__sleeper_end(tb__sleeper_t *sleeper);

/* Makes the sleeper leave. Its memory must stay valid meanwhile; no lock is needed.
 * [async-signal-safe] */
void tb__sleeper_mark(tb__sleeper_t *sleeper, uint32_t mark);

/* With the mutex of the timeline, from the functions of a waiter: claim takes the sleeper off its
 * lists with a result and returns true; wake wakes one that was claimed; poke makes it recheck. */
bool tb__sleeper_claim(tb__waiter_t *waiter, tb_status_t result);
void tb__sleeper_wake(tb__waiter_t *waiter);
void tb__sleeper_poke(tb__sleeper_t *sleeper);

/* For waits for a state: whether the clock is in one of the states; the earlier of limit and stall;
 * joins or leaves the timeline's list of watchers. */
extern const tb__waiter_ops_t tb__state_ops;
bool tb__state_is_reached_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex) TB_WARN_UNUSED;
tb__deadline_t tb__state_alarm(const tb__sleeper_t *sleeper, tb__deadline_t limit);
void tb__state_watch_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

/* For a condition, with the mutex of its clock's timeline: takes the longest wait that is not
 * leaving already off the queue, to be woken after the mutex is released. */
bool tb__sleeper_signal_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake);
/* Ends all waits on the queue, and future ones, with TB_ERR_CLOSED. */
void tb__sleeper_queue_close_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake);

#endif

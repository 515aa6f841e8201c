/* A thread that waits on a clock: what sleeps, conditions and rates have in common. A sleeper is on
 * the stack of its thread, or kept for one wait after the other; it is a waiter of its clock
 * (clock/waiter.h), and may be the member of a cancel token and in the queue of a condition.
 *
 * All but `marks` and `word` belongs to the mutex of the clock's current timeline, the queue of a
 * condition too. A token has a mutex of its own, under which no other is taken and which is never
 * taken under another: it only marks its members and pokes them, and each looks at its marks under
 * its own timeline's mutex. The mutex of a condition's user is released with nothing else held and
 * taken again when the sleeper has left clock, token and condition. */
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
  TB__GOAL_UNTIL, /* the clock tells a time */
  TB__GOAL_FOR,   /* a duration has passed */
  TB__GOAL_START, /* the clock has a time */
  TB__GOAL_PACE,  /* a duration has passed, counted anew after a backward jump or clock change */
  TB__GOAL_STATE, /* the clock is in a state (state_wait.c) */
} tb__goal_t;

/* Why to leave, whatever the clock does. */
#define TB__MARK_CANCELLED UINT32_C(1)
#define TB__MARK_CLOSED    UINT32_C(2)
#define TB__MARK_INVALID   UINT32_C(4)

/* Those who wait on a condition, longest first. */
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
  bool claimed;              /* taken out of all lists but the token's; the word "done" follows */
  bool waited;               /* for anything at all */
  tb_status_t result;        /* once claimed */
  tb_timeline_t *counted_on; /* while enlisted */
  tb__inflight_t *owes;      /* once claimed: what the thread pays when it comes to rest; or NULL */

  /* With the deadline to look at: */
  bool alarm_held;         /* time was held when it was worked out */
  int64_t alarm_system_ns; /* INT64_MAX: none; see tb__wait_spec_t */

  tb_cancel_token_t *token; /* or NULL */
  struct tb__sleeper *token_next, *token_previous;

  tb__sleeper_queue_t *queue; /* of a condition, or NULL */
  pthread_mutex_t *mutex;     /* with `queue`: the user's */
  struct tb__sleeper *queue_next, *queue_previous;
  bool in_queue;
  bool released;  /* the user's mutex */
  bool signalled; /* with `claimed`: not undone by a mark */

  /* TB__GOAL_PACE: sets the deadline, in what has passed, when the wait begins. */
  void (*plan)(struct tb__sleeper *sleeper, const tb_timeline_t *timeline);
  bool repaced;   /* a jump or change in the wait has set the deadline anew, ... */
  uint64_t epoch; /* ... at which the clock had this epoch */

  /* TB__GOAL_STATE */
  uint32_t states;             /* which, as bits */
  tb__visible_state_t visible; /* last; state 0: it was not known */
  tb_clock_reading_t *reading; /* filled when it is one of them */

  /* The last two: those that others may touch while tb__sleeper_init runs, if the memory stays. */
  _Atomic uint32_t marks;
  _Atomic uint32_t word; /* futex */
} tb__sleeper_t;

/* Checks and takes over what was asked for. TB_ERR_INVALID, TB_ERR_DEADLOCK. */
tb_status_t tb__sleeper_init(tb__sleeper_t *sleeper, tb_clock_t *clock, tb__goal_t goal,
                             int64_t goal_ns, const tb_wait_options_t *options);

/* Waits. Afterwards nobody knows the sleeper; if it has released the user's mutex, that is still
 * to be taken again. */
tb_status_t tb__sleeper_run(tb__sleeper_t *sleeper);

/* Makes the sleeper leave. It must not be able to vanish meanwhile; no lock is needed.
 * [async-signal-safe] */
void tb__sleeper_mark(tb__sleeper_t *sleeper, uint32_t mark);

/* With the mutex of the timeline, from the functions of a waiter: takes the sleeper out of its
 * lists with a result, always true; wakes one that has been taken out; has it look again. */
bool tb__sleeper_claim(tb__waiter_t *waiter, tb_status_t result);
void tb__sleeper_wake(tb__waiter_t *waiter);
void tb__sleeper_poke(tb__sleeper_t *sleeper);

/* Of those who wait for a state: whether the clock is in one, the earlier of limit and stall, and
 * going on the list of the timeline, or off it. */
extern const tb__waiter_ops_t tb__state_ops;
bool tb__state_is_reached_locked(tb__sleeper_t *sleeper, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);
tb__deadline_t tb__state_alarm(const tb__sleeper_t *sleeper, tb__deadline_t limit);
void tb__state_watch_locked(tb__sleeper_t *sleeper, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

/* For a condition, with the mutex of its clock's timeline: takes the one who has waited longest,
 * and is not leaving already, off the queue, to be woken when the mutex is free. */
bool tb__sleeper_signal_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake);
/* Ends all waits on the queue, and those to come, with TB_ERR_CLOSED. */
void tb__sleeper_queue_close_locked(tb__sleeper_queue_t *queue, tb__waiter_t **to_wake);

#endif

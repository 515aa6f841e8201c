/* Waiters on a clock: sleepers and timer lanes. A waiter is in the list of its clock, in one of the
 * two deadline heaps of the clock's timeline, and on the timeline's list of watchers if jumps
 * concern it. A waiter for a state is on the list of those only. All of it is guarded by the mutex
 * of the clock's current timeline. */
#ifndef TB_CLOCK_WAITER_H
#define TB_CLOCK_WAITER_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/jump.h>

struct tb_clock;
struct tb__waiter;

/* The state that readers see, and when it becomes a stall by itself. */
typedef struct tb__visible_state {
  tb_clock_state_t state;
  int64_t stall_ns; /* steady: when it becomes a stall unless a tick comes; INT64_MAX: never */
} tb__visible_state_t;

#define TB__STATE_UNKNOWN ((tb__visible_state_t){(tb_clock_state_t)0, INT64_MAX})

/* What a deadline is measured in. */
typedef enum tb__wait_axis {
  TB__AXIS_TIME = 0,    /* the timeline's time: moves back at a backward jump */
  TB__AXIS_ELAPSED = 1, /* what has passed on the timeline: unchanged by a backward jump */
} tb__wait_axis_t;

#define TB__AXES 2

/* Called with the timeline's mutex held, except `wake`. True: the waiter has been unlinked, and
 * `wake` must be called when the mutex is free. */
typedef struct tb__waiter_ops {
  bool (*due)(struct tb__waiter *waiter);
  bool (*jumped)(struct tb__waiter *waiter, const tb_jump_t *jump);
  bool (*moved)(struct tb__waiter *waiter, const tb_jump_t *jump);
  bool (*closed)(struct tb__waiter *waiter);
  /* at the end of a change of source or a step of system time; may be NULL */
  void (*settled)(struct tb__waiter *waiter);
  void (*wake)(struct tb__waiter *waiter); /* no lock held; the waiter may be gone after it */
  /* for a waiter for a state of its clock, whose `wake` may be called under the mutex; else NULL */
  bool (*visible_changed)(struct tb__waiter *waiter, const tb__visible_state_t *visible);
} tb__waiter_ops_t;

typedef struct tb__waiter {
  const tb__waiter_ops_t *ops;
  struct tb_clock *clock;
  struct tb__waiter *clock_next, *clock_previous;
  struct tb__waiter *watch_next, *watch_previous;
  struct tb__waiter *wake_next;
  struct tb__waiter *child, *sibling, *parent; /* heap; parent is the left sibling or the parent */
  uint64_t deadline;
  uint64_t child_min;  /* with children: not after any of their deadlines */
  int64_t forward_min; /* forward steps of at least this concern it; INT64_MAX: none */
  tb__wait_axis_t axis;
  bool queued;   /* in a heap */
  bool watching; /* on the list of watchers, or on that for states */
} tb__waiter_t;

#endif

/* Those who wait on a clock: sleepers and timer lanes. A waiter is in the list of its clock, in one
 * of the two deadline heaps of the clock's timeline, and on the timeline's list of jump watchers if
 * it wants to hear of jumps; or, if it waits for a state, only on the list of those who do. All of
 * it belongs to the mutex of the clock's current timeline. */
#ifndef TB_CLOCK_WAITER_H
#define TB_CLOCK_WAITER_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/jump.h>

struct tb_clock;
struct tb__waiter;

/* The state that readers see, and what becomes of it by itself. */
typedef struct tb__visible_state {
  tb_clock_state_t state;
  int64_t stall_ns; /* steady: when it is a stall unless a tick comes; INT64_MAX: never */
} tb__visible_state_t;

#define TB__STATE_UNKNOWN ((tb__visible_state_t){(tb_clock_state_t)0, INT64_MAX})

/* What a deadline is measured in. */
typedef enum tb__wait_axis {
  TB__AXIS_TIME = 0,    /* the timeline's time: moves back at a backward jump */
  TB__AXIS_ELAPSED = 1, /* what has passed on the timeline: stands still at a backward jump */
} tb__wait_axis_t;

#define TB__AXES 2

/* Called with the timeline's mutex held. Those that return bool have unlinked the waiter and want
 * `wake` to be called when the mutex is free. */
typedef struct tb__waiter_ops {
  bool (*due)(struct tb__waiter *waiter);
  bool (*jumped)(struct tb__waiter *waiter, const tb_jump_t *jump);
  bool (*moved)(struct tb__waiter *waiter, const tb_jump_t *jump);
  bool (*closed)(struct tb__waiter *waiter);
  /* at the end of a change of source or a step of system time; may be NULL */
  void (*settled)(struct tb__waiter *waiter);
  void (*wake)(struct tb__waiter *waiter); /* nothing held; the waiter may vanish as it returns */
  /* of one who waits for a state of its clock, whose `wake` needs no more than `due`; else NULL */
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
  int64_t forward_min; /* watch forward steps of at least this; INT64_MAX: none */
  tb__wait_axis_t axis;
  bool queued;   /* in a heap */
  bool watching; /* on the list of jump watchers, or that for states */
} tb__waiter_t;

#endif

/* Jump handlers, kept per timeline in order of registration. */
#ifndef TB_CLOCK_HANDLER_H
#define TB_CLOCK_HANDLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/jump.h>

#include "base/private_api.h"
#include "clock/callback_context.h"
#include "clock/timeline.h"

struct tb_jump_handler {
  struct tb_jump_handler *next, *previous; /* on the timeline, by sequence, or detached */
  struct tb_jump_handler *selected_next;   /* selected for the jump in progress */
  tb_clock_t *clock;                       /* referenced while `linked` */
  uint64_t sequence;
  tb_jump_threshold_t threshold;
  tb_jump_callback_t before, after;
  void *user;
  bool linked;          /* on a timeline's list */
  bool detached;        /* its clock was destroyed */
  bool selected;        /* a jump in progress uses it: it must not be freed */
  bool leaving;         /* after that jump: not selected again */
  bool given_up;        /* destroyed by another thread meanwhile: that call has no limit */
  bool orphan;          /* destroyed in a callback: freed at the end of the jump */
  _Atomic bool removed; /* no further call */
  _Atomic int64_t call; /* in progress, see jump_wait.c; 0: none */
  char name[48];
};

/* A jump in progress. */
typedef struct tb__jump {
  tb_jump_t info;
  tb_timeline_t *timelines[2]; /* that it moves or connects; the second may be NULL */
  tb_clock_t *moved;           /* at a clock change */
  struct tb_jump_handler *selected;
  _Atomic(struct tb_jump_handler *) running; /* whose callback is being called */
} tb__jump_t;

/* How many steps of the clock's timeline were forward jumps, and not the passing of time. A jump in
 * progress counts from its "after" on. For sibling libraries. */
TB_PRIVATE_API uint64_t tb__clock_forward_jumps(const tb_clock_t *clock);

/* In the "before" of a step forward: whether it is a jump, and not the passing of time. */
bool tb__clock_jumps_forward(const tb_clock_t *clock, const tb_jump_t *jump);

static inline bool tb__jump_concerns(const tb__jump_t *jump, const tb_timeline_t *timeline)
{
  return jump && (jump->timelines[0] == timeline || jump->timelines[1] == timeline);
}

/* Selects the handlers that match `jump`: of the clock that it moves, or of all clocks. */
void tb__jump_select_locked(tb__jump_t *jump, tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex);

/* Call the selected handlers, on this thread, with no lock held. */
void tb__jump_call_before(tb__jump_t *jump);
void tb__jump_call_after(tb__jump_t *jump);

/* Releases the handlers, and wakes the threads that wait for the end of the jump. */
void tb__jump_release_locked(tb__jump_t *jump, tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

/* Moves all handlers of `clock`. */
void tb__handlers_move(tb_clock_t *clock, tb_timeline_t *from, tb_timeline_t *to)
    TB_REQUIRES(from->mutex, to->mutex);

/* Removes all handlers of a closed clock from its timeline, once no jump uses them. `limit_ns` is a
 * steady time; INT64_MAX: none. TB_ERR_TIMEOUT: some are left. */
tb_status_t tb__handlers_remove_of(tb_clock_t *clock, int64_t limit_ns) TB_WARN_UNUSED;

#endif

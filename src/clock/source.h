/* A source as its clocks see it: who uses it, and whether it runs. */
#ifndef TB_CLOCK_SOURCE_H
#define TB_CLOCK_SOURCE_H

#include <timebase/source.h>

#include "clock/timeline.h"
#include "platform/mutex.h"

typedef enum tb__source_phase {
  TB__SOURCE_STOPPED,
  TB__SOURCE_CHANGING, /* start or stop is being called, with nothing held */
  TB__SOURCE_RUNNING,
} tb__source_phase_t;

struct tb_source {
  const tb_source_ops_t *ops;
  void *self;
  tb_timeline_t *timeline;
  tb__mutex_t mutex;
  uint32_t users;         /* clocks on the source, or on their way to it */
  tb_clock_t *clocks;     /* on the source */
  _Atomic uint32_t phase; /* tb__source_phase_t; futex */
};

/* At a jump that replaces the time of the source as a change of source would: every waiter of its
 * clocks decides what that does to it. With the mutex of the source's timeline. */
void tb__source_tell_waiters_locked(tb_source_t *source, const tb_jump_t *jump,
                                    tb__waiter_t **to_wake);

/* Moves the clock off its source without telling anybody: for one that is being destroyed. */
void tb__clock_leave_source(tb_clock_t *clock);

/* Moves the clock to no source, if it is still on `source`. */
void tb__clock_orphan(tb_clock_t *clock, tb_source_t *source);

#endif

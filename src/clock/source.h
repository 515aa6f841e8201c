/* A source as its users see it, which are clocks and the process's default: who uses it, and
 * whether it runs. */
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
  uint32_t users;         /* clocks on the source or on their way to it, and the default */
  uint32_t leaving;       /* clocks that are no users any more and still tell its time */
  bool stop_waits;        /* no user is left: the last one that leaves stops the source */
  tb_clock_t *clocks;     /* on the source */
  _Atomic uint32_t phase; /* tb__source_phase_t; futex */
};

/* Whether it is made of these functions; what a caller gives may be NULL, or stand for the default.
 */
static inline bool tb__source_is(const tb_source_t *source, const tb_source_ops_t *ops)
{
  return source && source != TB_SOURCE_DEFAULT && source->ops == ops;
}

/* Hands a source that no clock uses over to another one, which starts, stops and destroys it: its
 * ticks go to `redirect`. TB_ERR_BUSY: it has clocks, or is wrapped already. */
tb_status_t tb__source_wrap(tb_source_t *source, tb__redirect_t *redirect);
/* Gives it back, stopped. */
void tb__source_unwrap(tb_source_t *source);

/* Counts one user in. The first starts the source, with nothing held; what start returns.
 * TB_ERR_BUSY: it is wrapped. Limits are steady times, INT64_MAX: none; TB_ERR_TIMEOUT. */
tb_status_t tb__source_acquire(tb_source_t *source, int64_t limit_ns);

/* The same for a source that runs, without ever waiting or starting it; false if it does not. */
bool tb__source_try_acquire(tb_source_t *source);

/* Takes one user off; with the last one its right to tick is gone. True: tb__source_stop must
 * follow, with nothing held. */
bool tb__source_revoke(tb_source_t *source);
/* The same in two steps for a clock that leaves: it tells the source's time until the second. */
void tb__source_begin_leave(tb_source_t *source);
bool tb__source_end_leave(tb_source_t *source);
void tb__source_stop(tb_source_t *source);

/* The list of the clocks on the source. */
void tb__source_link(tb_source_t *source, tb_clock_t *clock);
void tb__source_unlink(tb_source_t *source, tb_clock_t *clock);

/* Gives a clock that nobody else knows yet its source, also in a jump callback, if it runs. */
tb_status_t tb__clock_set_first_source(tb_clock_t *clock, tb_source_t *source);

/* At a jump that replaces the time of the source as a change of source would: every waiter of its
 * clocks decides what that does to it. With the mutex of the source's timeline. */
void tb__source_notify_waiters_locked(tb_source_t *source, const tb_jump_t *jump,
                                      tb__waiter_t **to_wake);

/* Limits are steady times, INT64_MAX: none; TB_ERR_TIMEOUT: the clock is where it was. */

/* Moves the clock off its source without telling anybody: for one that is being destroyed. */
tb_status_t tb__clock_leave_source(tb_clock_t *clock, int64_t limit_ns);

/* Moves the clock to no source, if it is still on `source`. */
tb_status_t tb__clock_orphan(tb_clock_t *clock, tb_source_t *source, int64_t limit_ns);

#endif

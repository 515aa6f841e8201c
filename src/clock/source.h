/* A source: the users that it has, which are clocks and the process's default, and whether it
 * runs. */
#ifndef TB_CLOCK_SOURCE_H
#define TB_CLOCK_SOURCE_H

#include <timebase/source.h>

#include "clock/timeline.h"
#include "platform/mutex.h"

typedef enum tb__source_phase {
  TB__SOURCE_STOPPED,
  TB__SOURCE_CHANGING, /* start or stop is being called, with no lock held */
  TB__SOURCE_RUNNING,
} tb__source_phase_t;

struct tb_source {
  const tb_source_ops_t *kind; /* as it was given: which implementation it is */
  const tb_source_ops_t *ops;  /* `own_ops` */
  tb_source_ops_t own_ops;
  void *self;
  tb_timeline_t *timeline;
  tb__mutex_t mutex;
  uint32_t users;         /* clocks on the source or moving to it, and the default */
  uint32_t leaving;       /* clocks that are no longer users but still have its time */
  bool stop_deferred;     /* there are no users: the last one that leaves stops the source */
  tb_clock_t *clocks;     /* on the source */
  _Atomic uint32_t phase; /* tb__source_phase_t; futex */
};

/* Whether the source has these functions. What a caller passes may be NULL or TB_SOURCE_DEFAULT. */
static inline bool tb__source_is(const tb_source_t *source, const tb_source_ops_t *kind)
{
  return source && source != TB_SOURCE_DEFAULT && source->kind == kind;
}

/* Puts a source that no clock uses under another one, which starts, stops and destroys it: its
 * ticks go to `redirect`. TB_ERR_BUSY: it has clocks, or is wrapped already. */
tb_status_t tb__source_wrap(tb_source_t *source, tb__redirect_t *redirect) TB_WARN_UNUSED;
/* The opposite; the source is stopped. */
void tb__source_unwrap(tb_source_t *source);

/* Adds a user. The first one starts the source, with no lock held, and gets what start returns.
 * TB_ERR_BUSY: it is wrapped. Limits are steady times, INT64_MAX: none; TB_ERR_TIMEOUT. */
tb_status_t tb__source_acquire(tb_source_t *source, int64_t limit_ns) TB_WARN_UNUSED;

/* Adds a user if the source runs; never waits for it or starts it. */
bool tb__source_try_acquire(tb_source_t *source) TB_WARN_UNUSED;

/* Removes a user; after the last one the source may not tick. True: tb__source_stop must follow,
 * with no lock held. */
bool tb__source_revoke(tb_source_t *source);
/* The same in two steps for a clock that leaves: it has the source's time until the second one. */
void tb__source_begin_leave(tb_source_t *source);
bool tb__source_end_leave(tb_source_t *source);
void tb__source_stop(tb_source_t *source);

/* The list of the clocks on the source. */
void tb__source_link(tb_source_t *source, tb_clock_t *clock);
void tb__source_unlink(tb_source_t *source, tb_clock_t *clock);

/* Sets the source of a new clock, which no other thread knows yet; in a jump callback only if the
 * source runs. */
tb_status_t tb__clock_set_first_source(tb_clock_t *clock, tb_source_t *source) TB_WARN_UNUSED;

/* For a jump that replaces the time of the source as a change of source would: calls `moved` of
 * every waiter on its clocks. With the mutex of the source's timeline. */
void tb__source_notify_waiters_locked(tb_source_t *source, const tb_jump_t *jump,
                                      tb__waiter_t **to_wake);

/* Limits are steady times, INT64_MAX: none; TB_ERR_TIMEOUT: the clock has not moved. */

/* Takes the clock off its source without a jump: for a clock that is being destroyed. */
tb_status_t tb__clock_leave_source(tb_clock_t *clock, int64_t limit_ns) TB_WARN_UNUSED;

/* Moves the clock to no source, if it is still on `source`. */
tb_status_t tb__clock_orphan(tb_clock_t *clock, tb_source_t *source,
                             int64_t limit_ns) TB_WARN_UNUSED;

#endif

/* A clock: the timeline that it points at, and its waiters. */
#ifndef TB_CLOCK_CLOCK_H
#define TB_CLOCK_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/source.h>

#include "clock/handler.h"
#include "clock/timeline.h"

/* Bits of `word` next to the timeline's address. */
#define TB__WORD_CHANGING ((uintptr_t)1)  /* a change of source is in progress */
#define TB__WORD_OS       ((uintptr_t)2)  /* the timeline is the operating system's */
#define TB__WORD_PAGE     ((uintptr_t)4)  /* the timeline is read from a page */
#define TB__WORD_OPEN     ((uintptr_t)8)  /* with CHANGING: readers do not wait for the change */
#define TB__WORD_MOVED    ((uintptr_t)16) /* with CHANGING: the timeline is the new one */
#define TB__WORD_BITS     ((uintptr_t)31)

/* A timeline that the clock has pointed at: readers may still be reading it. */
typedef struct tb__held_timeline {
  struct tb__held_timeline *next;
  tb_timeline_t *timeline;
} tb__held_timeline_t;

struct tb_clock {
  _Atomic uintptr_t word;
  _Atomic uint32_t references;     /* to the memory */
  tb_time_kind_t kind;             /* of the times it returns; 0 for a steady clock */
  _Atomic uint64_t move_epoch;     /* of the last move; 0: never moved */
  _Atomic uint64_t previous_epoch; /* of the one before it, while CHANGING without MOVED */
  _Atomic uint32_t idle_state;     /* reported while there is no source */
  _Atomic uint32_t gate;           /* futex: readers blocked by a change of source */
  _Atomic uint32_t readers;        /* how many there are */
  _Atomic uint32_t moving;         /* futex: held through a change of source */
  tb_source_t *source;             /* by `moving` */
  bool follows;                    /* the process's default; by `moving` */
  tb__held_timeline_t *held;       /* by `moving` */
  tb_clock_t *source_next, *source_previous; /* by the source's mutex */
  tb_clock_t *follow_next, **follow_link;    /* by the mutex of the default */

  /* By the mutex of the current timeline. */
  struct tb__jump *change; /* of the source, in progress, or NULL */
  tb__waiter_t *waiters;
  bool closed;
  _Atomic uint32_t users;  /* futex: threads inside a wait, which the clock outlives */
  _Atomic bool is_claimed; /* claim.h */
};

/* Whether readers have to wait for a change of source. */
static inline bool tb__word_is_blocked(uintptr_t word)
{
  return (word & (TB__WORD_CHANGING | TB__WORD_OPEN)) == TB__WORD_CHANGING;
}

struct tb_steady_clock {
  tb_clock_t core; /* first and only: the memory is freed as a tb_clock_t */
};

static inline tb_timeline_t *tb__clock_timeline(const tb_clock_t *clock)
{
  /* C4: the clocks of a source share one timeline */
  return (tb_timeline_t *)(atomic_load_explicit(&clock->word, memory_order_acquire) &
                           ~TB__WORD_BITS);
}

/* For functions of a waiter, whose caller holds the mutex of that timeline. */
static inline void tb__clock_timeline_locked(const tb_clock_t *clock, tb_timeline_t **out)
    TB_ASSERT_LOCKED((*out)->mutex)
{
  *out = tb__clock_timeline(clock);
}

/* Locks the mutex of the timeline that the clock points at. */
static inline void tb__clock_lock(const tb_clock_t *clock, tb_timeline_t **out)
    TB_ACQUIRE((*out)->mutex)
{
  for (;;) {
    *out = tb__clock_timeline(clock);
    tb__mutex_lock(&(*out)->mutex);
    if (__builtin_expect(tb__clock_timeline(clock) == *out, 1)) return;
    tb__mutex_unlock(&(*out)->mutex);
  }
}

/* The same, after waiting for a jump that blocks the readers of the clock; does not wait inside the
 * callbacks of that jump. TB_ERR_BUSY where tb_clock_now returns it. TB_ERR_FORKED. */
tb_status_t tb__clock_lock_settled(const tb_clock_t *clock, tb_timeline_t **out)
    TB_TRY_ACQUIRE(0, (*out)->mutex) TB_WARN_UNUSED;
/* The same until a steady time at most, INT64_MAX: no limit. TB_ERR_TIMEOUT. */
tb_status_t tb__clock_lock_settled_within(const tb_clock_t *clock, int64_t limit_ns,
                                          tb_timeline_t **out)
    TB_TRY_ACQUIRE(0, (*out)->mutex) TB_WARN_UNUSED;
/* Whether the clock could be read now without waiting. */
bool tb__clock_is_settled_locked(const tb_clock_t *clock, const tb_timeline_t *timeline)
    TB_REQUIRES(timeline->mutex);

static inline void tb__clock_unlock(tb_timeline_t *timeline) TB_RELEASE(timeline->mutex)
{
  tb__mutex_unlock(&timeline->mutex);
}

/* tb_clock_read that never blocks: TB_ERR_BUSY during a blocking jump. */
tb_status_t tb__clock_try_read(const tb_clock_t *clock, tb_clock_reading_t *out) TB_WARN_UNUSED;

/* The ticks of the clock's supply so far, to be compared with a later count if the timeline is the
 * same. */
typedef struct tb__tick_counts {
  const tb_timeline_t *timeline; /* not to be used */
  uint64_t ticks;   /* on a page of shared memory: also where this process follows none */
  uint64_t repeats; /* those among them that moved nothing; 0: unknown, on a page */
  uint64_t jumps_backward;
  bool runs; /* time runs by itself: each tick sets it again, also one that repeats the time */
} tb__tick_counts_t;

void tb__clock_count_ticks(const tb_clock_t *clock, tb__tick_counts_t *out);

/* tb_clock_create (in src/source/clock_create.c), once it has registered what makes the default. */
tb_status_t tb__clock_create(const tb_clock_options_t *options, tb_clock_t **out) TB_WARN_UNUSED;
/* Prepares zeroed memory as a clock on an operating system's timeline. */
void tb__clock_init(tb_clock_t *clock, tb_time_kind_t kind, tb_timeline_t *timeline);
/* Ends all waits on the clock and releases the owner's reference to its memory. Waits until the
 * steady time `limit_ns` at most, INT64_MAX: no limit. TB_ERR_TIMEOUT: the clock is closed but not
 * destroyed. */
tb_status_t tb__clock_destroy(tb_clock_t *clock, int64_t limit_ns) TB_WARN_UNUSED;

/* Timer lanes keep a reference to the memory of a destroyed clock. */
void tb__clock_ref(tb_clock_t *clock);
void tb__clock_unref(tb_clock_t *clock);

void tb__clock_add_waiter_locked(tb_clock_t *clock, tb__waiter_t *waiter);
/* Removes the waiter from every list; it is not accessed after that. */
void tb__clock_remove_waiter_locked(tb_clock_t *clock, tb_timeline_t *timeline,
                                    tb__waiter_t *waiter) TB_REQUIRES(timeline->mutex);

/* Counts a thread into and out of the clock, so that tb_clock_destroy waits for it. */
static inline void tb__clock_enter(tb_clock_t *clock)
{
  atomic_fetch_add(&clock->users, 1);
}
void tb__clock_leave(tb_clock_t *clock);

#endif

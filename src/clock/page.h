/* The page through which a publisher shares a time with other processes, and the view of a timeline
 * that is read from there. Readers map the page read-only. It holds two copies; the lowest bit of
 * the version selects the current one, so a publisher that dies in the middle of an update has
 * changed nothing. Whatever is read from a page is input: it is checked before it is used.
 *
 * The page counts its blocking jumps (first ticks, steps back, new publishers) in `epoch`. A reader
 * whose process has not dispatched that epoch yet waits, as in any blocking jump. Within an epoch
 * time never falls. The page keeps the last times of recent epochs, for processes that dispatch
 * their ends late. */
#ifndef TB_CLOCK_PAGE_H
#define TB_CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/clock.h>

#include "clock/linear_time.h"

#define TB__PAGE_SIZE   4096
#define TB__PAGE_MAGIC  UINT64_C(0x656d697462736d74) /* "tmsbtime" */
#define TB__PAGE_FORMAT 2

#define TB__PAGE_ENDS 256 /* how many epochs the page keeps the last time of */

typedef struct tb__page_slot {
  _Alignas(64) _Atomic int64_t time_ns; /* 0: not started */
  _Atomic uint64_t epoch;
  _Atomic int64_t steady_ns; /* CLOCK_MONOTONIC in the publisher's time namespace; 0: it has not run
                                in this epoch */
  _Atomic double rate;       /* 0: time is stopped; else it runs from `steady_ns` */
  _Atomic int64_t until_ns;
  _Atomic int64_t before_ns;    /* the time when the last blocking jump began */
  _Atomic uint64_t publishers;  /* how many have published, including this one */
  _Atomic uint32_t state;       /* tb_clock_state_t */
  _Atomic uint16_t reason;      /* tb_jump_reason_t of the last move */
  _Atomic uint16_t jump_reason; /* and of the last blocking jump */
} tb__page_slot_t;

typedef struct tb__page {
  _Atomic uint64_t magic; /* 0: nothing has been published yet */
  _Atomic uint64_t format;
  _Atomic uint64_t time_namespace; /* of the publisher */
  _Alignas(64) _Atomic uint64_t version;
  _Atomic int64_t alive_ns;                 /* coarse CLOCK_MONOTONIC of the last update */
  _Alignas(64) _Atomic uint32_t tick_word;  /* futex: any update */
  _Alignas(64) _Atomic uint32_t epoch_word; /* futex: blocking jumps */
  tb__page_slot_t slots[2];
  _Alignas(64) _Atomic uint64_t ended_epoch; /* the last one whose last time is below */
  _Atomic int64_t end_ns[TB__PAGE_ENDS];     /* the last time of each recent epoch */
  /* The area that its publisher reads wishes from (source/wake_area.h). Releases without it leave
   * zeros here, or a `wake_publisher` that is not the current one. */
  _Alignas(64) _Atomic uint64_t wake_publisher; /* the `publishers` of the one that does; 0: none */
  _Atomic uint64_t wake_inode;                  /* of the area's file */
  _Atomic uint64_t wake_format;
} tb__page_t;

_Static_assert(sizeof(tb__page_t) <= TB__PAGE_SIZE, "a page");

/* One consistent copy. */
typedef struct tb__page_copy {
  tb__linear_time_t linear; /* rate 0: only `time_ns` counts */
  uint64_t epoch;
  int64_t before_ns;
  uint64_t publishers;
  tb_clock_state_t state;
  uint16_t reason, jump_reason;
  uint64_t version; /* under which it was read */
} tb__page_copy_t;

/* The highest time that any thread of this process has read in an epoch; 0: none yet. It remains
 * known if the page's file is truncated. It is stored with an offset that is unique to the epoch: a
 * thread that was stopped until the mark was reused for another epoch fails to replace it, as it
 * does not find the value that it expects. */
typedef struct tb__page_mark {
  _Atomic uint64_t epoch;
  _Atomic uint64_t keyed_ns;
} tb__page_mark_t;

#define TB__PAGE_MARKS 16

static inline uint64_t tb__page_keyed(uint64_t epoch, int64_t time_ns)
{
  return (uint64_t)time_ns + epoch * UINT64_C(0x9e3779b97f4a7c15);
}

#define TB__PAGE_NO_EPOCH UINT64_MAX

#define TB__WISH_EACH_TICK INT64_MIN
#define TB__WISH_NONE      INT64_MAX

/* A timeline's view of a page. It lives as long as the timeline, for readers that were stopped. */
typedef struct tb__page_view {
  const tb__page_t *_Atomic page; /* NULL: the time is what the timeline has committed */
  _Atomic uint64_t
      settled_epoch;      /* may be read without looking at the timeline; TB__PAGE_NO_EPOCH: none */
  _Atomic uint64_t seen;  /* what was marked last, for the fast path of a read */
  _Atomic uint64_t epoch; /* dispatched; TB__PAGE_NO_EPOCH: none, or one is being dispatched: the
                             time is what the timeline has committed */
  _Atomic bool
      foreign; /* the publisher's steady time is not ours: its time is stopped between updates */
  _Atomic bool lost; /* the publisher has ended */
  bool wants_ticks;  /* what waits is followed, or will be soon; by the timeline's mutex */
  bool following;    /* every tick so far has been followed; the same */
  bool has_wish;     /* the publisher wakes this process when `wish_ns` is reached, else with each
                        tick; the same */
  int64_t wish_ns;   /* while `wants_ticks`: not after what anything here waits for; the same */
  void (*wish)(struct tb__page_view *view); /* `wish_ns` is earlier than before; with the mutex */
  _Atomic uint64_t polled_version; /* of a foreign page, when its state was last asked for */
  _Atomic int64_t polled_ns;       /* steady: when that version was first seen; stored before it */
  _Atomic uint32_t wanted; /* futex: raised when a thread waits and ticks are not followed */
  void (*free)(struct tb__page_view *view); /* with the timeline */
  _Atomic uint32_t mark;                    /* of the dispatched epoch; the next one is prepared */
  tb__page_mark_t marks[TB__PAGE_MARKS];
} tb__page_view_t;

/* False: the contents are invalid, or it is not a page of this format. */
bool tb__page_load(const tb__page_t *page, tb__page_copy_t *out) TB_WARN_UNUSED;

/* Prepares the mark of an epoch, and opens the epoch to readers when the timeline has been moved
 * there. */
void tb__page_mark_prepare(tb__page_view_t *view, uint64_t epoch);
void tb__page_settle(tb__page_view_t *view, uint64_t epoch);

/* The last time of the dispatched epoch, after a later epoch has been seen on the page: as the page
 * has kept it or, where too many have ended since, the highest that any thread of this process has
 * read in it. The result is never below that, provided that no read in progress can still succeed:
 * no epoch is settled, and readers have been overtaken. 0: not known. */
int64_t tb__page_epoch_end(const tb__page_view_t *view, const tb__page_t *page, uint64_t epoch);

/* For publishers: keeps the last time of an epoch, before another one is published. */
void tb__page_end_epoch(tb__page_t *page, uint64_t epoch, int64_t end_ns);

/* The highest time that any thread of this process has read in the dispatched epoch, for a page
 * that has lost its contents. 0: not known. */
int64_t tb__page_time_known(const tb__page_view_t *view);

/* The highest time that any thread of this process has read in the epoch, or `time_ns` if that is
 * later: then it counts as read. */
int64_t tb__page_time_after(tb__page_view_t *view, uint64_t epoch, int64_t time_ns);

/* The time of a page at rest: it has a consistent copy of an epoch that this process has
 * dispatched, its time is stopped, and the mark of the epoch says that the time has been read
 * before. So the time remains known if the page loses its contents. False: the timeline has to be
 * asked. */
static inline bool tb__page_time_at_rest(const tb__page_view_t *view, int64_t *out_ns)
{
  const tb__page_t *page = atomic_load_explicit(&view->page, memory_order_acquire);
  if (__builtin_expect(!page, 0)) return false;
  uint64_t version = atomic_load_explicit(&page->version, memory_order_acquire);
  const tb__page_slot_t *slot = &page->slots[version & 1];
  int64_t time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire);
  uint64_t epoch = atomic_load_explicit(&slot->epoch, memory_order_acquire);
  int64_t runs_from_ns = atomic_load_explicit(&slot->steady_ns, memory_order_acquire);
  uint64_t again = atomic_load_explicit(&page->version, memory_order_acquire);
  uint64_t seen = atomic_load_explicit(&view->seen, memory_order_acquire);
  uint64_t settled = atomic_load(&view->settled_epoch); /* last: see tb__page_epoch_end */
  if (!__builtin_expect(again == version && epoch == settled && runs_from_ns == 0 &&
                            tb__page_keyed(epoch, time_ns) == seen,
                        1))
    return false;
  *out_ns = time_ns;
  return true;
}

/* The current time by a copy, not below what other threads of this process have read in its epoch.
 * False: the copy runs and is no longer current, or its epoch is over. */
bool tb__page_time(tb__page_view_t *view, const tb__page_t *page, const tb__page_copy_t *copy,
                   int64_t *out_ns);

#endif

/* The page through which a publisher shares a time with other processes, and a timeline whose
 * readers look there. Readers map the page read-only. It holds two copies, of which the lowest bit
 * of the version says which one is current, so a publisher that dies in the middle of an update has
 * changed nothing. Whatever is read here is input: it is checked before it is used.
 *
 * The page counts its blocking jumps (first ticks, steps back, new publishers) in `epoch`. A reader
 * whose process has not dispatched that epoch yet waits, as in any blocking jump. Within an epoch
 * time never falls. Whoever comes late finds on the page with which time an epoch ended. */
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

#define TB__PAGE_LEFTS 256 /* of so many epochs it is known how they ended */

typedef struct tb__page_slot {
  _Alignas(64) _Atomic int64_t time_ns; /* 0: not started */
  _Atomic uint64_t epoch;
  _Atomic int64_t steady_ns; /* CLOCK_MONOTONIC in the publisher's time namespace; 0: it has not run
                                in this epoch */
  _Atomic double rate;       /* 0: the time stands; else it runs on from `steady_ns` */
  _Atomic int64_t until_ns;
  _Atomic int64_t before_ns;    /* the time when the last blocking jump began */
  _Atomic uint64_t publishers;  /* how many have published, this one included */
  _Atomic uint32_t state;       /* tb_clock_state_t */
  _Atomic uint16_t reason;      /* tb_jump_reason_t of the last move */
  _Atomic uint16_t jump_reason; /* and of the last blocking jump */
} tb__page_slot_t;

typedef struct tb__page {
  _Atomic uint64_t magic; /* 0: nobody has published yet */
  _Atomic uint64_t format;
  _Atomic uint64_t time_namespace; /* of the publisher */
  _Alignas(64) _Atomic uint64_t version;
  _Atomic int64_t alive_ns;                 /* coarse CLOCK_MONOTONIC of the last update */
  _Alignas(64) _Atomic uint32_t tick_word;  /* futex: any update */
  _Alignas(64) _Atomic uint32_t epoch_word; /* futex: blocking jumps */
  tb__page_slot_t slots[2];
  _Alignas(64) _Atomic uint64_t ended_epoch; /* the last one of which the end is noted below */
  _Atomic int64_t left_ns[TB__PAGE_LEFTS];   /* with which each of the last ones ended */
} tb__page_t;

_Static_assert(sizeof(tb__page_t) <= TB__PAGE_SIZE, "a page");

/* One consistent copy. */
typedef struct tb__page_copy {
  tb__linear_time_t linear; /* rate 0: only its time counts */
  uint64_t epoch;
  int64_t before_ns;
  uint64_t publishers;
  tb_clock_state_t state;
  uint16_t reason, jump_reason;
  uint64_t version; /* under which it was read */
} tb__page_copy_t;

/* The highest time that anyone in this process has seen in an epoch; 0: none yet. It is what is
 * left if the page's file is cut short. It is kept plus a large number that is the epoch's own: who
 * comes so late that the mark has gone to another epoch meanwhile does not find there what it
 * expects to replace. */
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

/* A timeline's view of a page. It lives as long as the timeline, for late readers. */
typedef struct tb__page_view {
  const tb__page_t *_Atomic page; /* NULL: the time is what the timeline has committed */
  _Atomic uint64_t
      settled_epoch;      /* may be read without further questions; TB__PAGE_NO_EPOCH: none */
  _Atomic uint64_t seen;  /* what was marked last, for the usual read */
  _Atomic uint64_t epoch; /* dispatched; TB__PAGE_NO_EPOCH: none, or one is on its way: the time is
                             what the timeline has committed */
  _Atomic bool
      foreign;       /* the publisher's steady time is not ours: its time stands between updates */
  _Atomic bool lost; /* the publisher is gone */
  bool attentive;    /* somebody follows each tick, or is about to; by the timeline's mutex */
  bool following;    /* each tick has been seen up to here; the same */
  _Atomic uint64_t looked_version; /* of a foreign page, when somebody last asked for its state */
  _Atomic int64_t looked_ns;       /* steady: since when that is known; before the version */
  _Atomic uint32_t wanted;         /* futex: raised when somebody waits and nobody follows */
  void (*free)(struct tb__page_view *view); /* with the timeline */
  _Atomic uint32_t mark;                    /* of the dispatched epoch; the next one is prepared */
  tb__page_mark_t marks[TB__PAGE_MARKS];
} tb__page_view_t;

/* False: what the page holds makes no sense, or it is not a page of this format. */
bool tb__page_load(const tb__page_t *page, tb__page_copy_t *out);

/* Prepares for an epoch, and opens it to readers, when what moves the timeline there is over. */
void tb__page_mark_prepare(tb__page_view_t *view, uint64_t epoch);
void tb__page_settle(tb__page_view_t *view, uint64_t epoch);

/* The last time of the dispatched epoch, after a later one has been seen on the page: with which it
 * ended or, where too many have ended since, the highest that anyone in this process has seen in
 * it. It is never below that if no read is under way that would still count, fast or slow: nothing
 * is settled, and readers have been overtaken. 0: not known. */
int64_t tb__page_left(const tb__page_view_t *view, const tb__page_t *page, uint64_t epoch);

/* Of a publisher: notes it, before another epoch is published. */
void tb__page_end_epoch(tb__page_t *page, uint64_t epoch, int64_t left_ns);

/* The highest time that anyone in this process has seen in the dispatched epoch: what is left where
 * the page has lost its contents. 0: not known. */
int64_t tb__page_time_known(const tb__page_view_t *view);

/* The highest time that anyone in this process has seen in the epoch, or a later one to which the
 * timeline has run on in it, which counts as seen then. */
int64_t tb__page_time_after(tb__page_view_t *view, uint64_t epoch, int64_t time_ns);

/* The time of a copy now, not below what others in this process have seen in its epoch. False: the
 * copy is no longer the current one, and time does not run on from it; or its epoch is over. */
bool tb__page_time(tb__page_view_t *view, const tb__page_t *page, const tb__page_copy_t *copy,
                   int64_t *out_ns);

#endif

/* A timer queue: a lane for each clock that its timers run on. */
#ifndef TB_WAIT_TIMER_QUEUE_H
#define TB_WAIT_TIMER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timer.h>

#include "base/heap.h"
#include "clock/clock.h"
#include "platform/poll_set.h"

/* The timers of one clock in one queue. A key is a deadline less `offset`: a change of the clock's
 * source moves all deadlines by moving the offset. By the mutex of the clock's timeline. */
typedef struct tb__lane {
  tb__waiter_t waiter; /* at the earliest deadline, on a timeline that a source moves */
  struct tb__lane *next;
  tb_timer_queue_t *queue;
  tb_clock_t *clock;      /* referenced */
  tb__poll_alarm_t alarm; /* at the earliest deadline, on the operating system's clocks */
  int64_t alarm_ns;       /* as set; INT64_MAX: not set */
  tb__heap_t heap;        /* of running timers, by key; ids are indices of `timers` */
  tb_timer_t **timers;    /* by id; NULL: free */
  uint32_t timers_size;
  uint32_t lowest_free; /* no id below it is free */
  int64_t offset_ns;
  int64_t horizon_key; /* of the run_due in progress: later deadlines wait for the next */
  bool closed;         /* the clock was destroyed */
} tb__lane_t;

struct tb_timer {
  tb__lane_t *lane;
  uint32_t id;
  int64_t period_ns;
  int64_t last_key; /* of the last call, or the start */
  tb_timer_callback_t callback;
  tb_steady_timer_callback_t steady_callback;
  void *user;
  bool executing;
  bool destroyed; /* freed when the call ends */
};

struct tb_timer_queue {
  tb__poll_set_t poll;
  _Atomic bool signalled;      /* the event is set, or run_due is about to look */
  _Atomic bool running;        /* run_due is in progress */
  _Atomic uintptr_t runner;    /* thread of run_due */
  tb__mutex_t mutex;           /* the making of lanes */
  tb__lane_t *_Atomic lanes;   /* grows only */
  _Atomic uint64_t last_order; /* of starts */
};

/* Finds or makes the lane of a clock. */
tb_status_t tb__lane_get(tb_timer_queue_t *queue, tb_clock_t *clock, tb__lane_t **out);
void tb__lane_destroy(tb__lane_t *lane);

/* Makes `run_due` be called: the descriptor becomes readable. [any thread] */
void tb__timer_queue_signal(tb_timer_queue_t *queue);

/* Waits for the earliest deadline, with the clock's timeline locked. */
void tb__lane_rearm_locked(tb__lane_t *lane, tb_timeline_t *timeline);

static inline void tb__lane_free_id_locked(tb__lane_t *lane, uint32_t id)
{
  lane->timers[id] = NULL;
  if (id < lane->lowest_free) lane->lowest_free = id;
}

/* The clock's time as a key; false while nothing can be due because its source has not started. */
bool tb__lane_now_key_locked(const tb__lane_t *lane, const tb_timeline_t *timeline,
                             int64_t *out_key, int64_t *out_now_ns) TB_REQUIRES(timeline->mutex);

#endif

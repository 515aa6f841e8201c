/* Between the middleware's receive thread, which must not run user code or wait, and the timeline:
 * ticks are committed where they arrive, so that no message behind one is seen at an earlier time;
 * one thread wakes those whom they make due. Jumps that somebody wants to hear of are its own. */
#ifndef TB_ROS2_TICK_QUEUE_H
#define TB_ROS2_TICK_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timeline.h>

#include "platform/mutex.h"
#include "platform/thread.h"

#define TB__TICK_QUEUE_SIZE 64

/* What the receive thread has to say but must not: called on the dispatch thread, nothing held. */
typedef void (*tb__tick_report_t)(void *user);

typedef struct tb__waiting_tick {
  int64_t time_ns;
  bool small_step; /* a short way forward from the one before: the passing of time */
  bool announced;  /* readers wait for it: it is a jump, or came in behind one that waits */
} tb__waiting_tick_t;

typedef struct tb__tick_queue {
  tb_timeline_t *timeline;
  tb__tick_report_t report, drained;
  void *report_user;
  tb__thread_t thread;
  tb__mutex_t mutex;
  tb__waiting_tick_t ticks[TB__TICK_QUEUE_SIZE]; /* a ring; the first is being dispatched */
  uint32_t first, count;
  uint32_t announced; /* how many of them hold up readers */
  int64_t announced_since_ns;
  bool overloaded; /* none is announced until none waits */
  int64_t last_ns; /* of all that came */
  bool report_wanted, drained_wanted, due_wanted;
  int64_t report_at_ns;  /* steady, of the thread; 0: not by itself */
  _Atomic uint32_t work; /* futex of the thread: changes when there is something to do */
  bool stop;
} tb__tick_queue_t;

/* Starts the thread. `report` and `drained` may be NULL. TB_ERR_SYSTEM. */
tb_status_t tb__tick_queue_init(tb__tick_queue_t *queue, tb_timeline_t *timeline,
                                tb__tick_report_t report, tb__tick_report_t drained, void *user);
/* Ends the thread after the tick that it is at; the others are dropped. */
void tb__tick_queue_fini(tb__tick_queue_t *queue);

/* Commits the tick, or leaves it to the thread; ticks keep their order. Waiting ticks that are
 * small steps forward are merged into the latest. Never blocks. */
void tb__tick_queue_tick(tb__tick_queue_t *queue, int64_t time_ns);

/* Has the thread call `report`, once for all that ask before it does. Never blocks. */
void tb__tick_queue_report(tb__tick_queue_t *queue);
/* The same for `drained`, which is called when no tick waits that came before. */
void tb__tick_queue_when_drained(tb__tick_queue_t *queue);
/* From `report`: has it called again, at that steady time at the latest. */
void tb__tick_queue_report_again(tb__tick_queue_t *queue, int64_t at_ns);

#endif

/* Between the middleware's receive thread, which must not run user code or wait, and the timeline.
 * Ticks are committed on the receive thread, so that no message after a tick is seen at an earlier
 * time; the dispatch thread wakes the waiters that become due, and makes jumps that have handlers.
 */
#ifndef TB_SOURCE_TICK_QUEUE_H
#define TB_SOURCE_TICK_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/timeline.h>

#include "base/private_api.h"
#include "held/alarm.h"
#include "platform/mutex.h"
#include "platform/poll_set.h"
#include "platform/thread.h"

#define TB__TICK_QUEUE_SIZE 64

/* Reports on behalf of the receive thread: called on the dispatch thread, with no lock held. */
typedef void (*tb__tick_report_t)(void *user);

typedef struct tb__waiting_tick {
  int64_t time_ns;
  bool small_step; /* a short step forward from the previous one: the passing of time */
  bool announced;  /* readers wait for it: it is a jump, or was queued after one */
} tb__waiting_tick_t;

/* In place of the thread: a descriptor that is readable while there is something to dispatch. */
typedef struct tb__tick_loop {
  tb__poll_set_t poll;
  tb__poll_alarm_t alarm; /* at `report_at_ns` */
} tb__tick_loop_t;

typedef struct tb__tick_queue {
  tb_timeline_t *timeline;
  tb__tick_report_t report, drained;
  void *report_user;
  tb__tick_loop_t *loop; /* the program dispatches; NULL: the thread does */
  tb__thread_t thread;
  tb__mutex_t mutex;
  tb__waiting_tick_t ticks[TB__TICK_QUEUE_SIZE]; /* a ring; the first is being dispatched */
  uint32_t first, count;
  uint32_t announced; /* how many of them block readers */
  int64_t announced_since_ns;
  bool overloaded; /* no tick is announced until the queue is empty */
  int64_t last_ns; /* the latest tick received */
  bool report_wanted, drained_wanted, due_wanted;
  int64_t report_at_ns;  /* steady, used by the thread; 0: only on request */
  _Atomic uint32_t work; /* futex of the thread: changes when there is something to do */
  bool stop;
} tb__tick_queue_t;

/* Starts the thread. `report` and `drained` may be NULL. TB_ERR_SYSTEM. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__tick_queue_init(tb__tick_queue_t *queue,
                                                              tb_timeline_t *timeline,
                                                              tb__tick_report_t report,
                                                              tb__tick_report_t drained,
                                                              void *user);
/* The same without a thread: tb__tick_queue_run dispatches, and `loop` becomes readable. Jumps with
 * and without handlers are queued, and block no reader before they are dispatched. */
TB_PRIVATE_API void tb__tick_queue_init_for_loop(tb__tick_queue_t *queue, tb_timeline_t *timeline,
                                                 tb__tick_report_t report,
                                                 tb__tick_report_t drained, void *user,
                                                 tb__tick_loop_t *loop);
/* Dispatches what was queued when it began; returns how many ticks. One thread at a time. */
TB_PRIVATE_API uint32_t tb__tick_queue_run(tb__tick_queue_t *queue);

/* TB_ERR_NO_MEMORY, TB_ERR_SYSTEM: no more descriptors. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__tick_loop_create(tb__tick_loop_t **out);
TB_PRIVATE_API void tb__tick_loop_destroy(tb__tick_loop_t *loop);
/* Makes it readable, or not, without a queue. */
TB_PRIVATE_API void tb__tick_loop_raise(tb__tick_loop_t *loop);
TB_PRIVATE_API void tb__tick_loop_clear(tb__tick_loop_t *loop);
TB_PRIVATE_API int tb__tick_loop_fd(const tb__tick_loop_t *loop);

/* Ends the thread after the current tick; the others are dropped. */
TB_PRIVATE_API void tb__tick_queue_fini(tb__tick_queue_t *queue);

/* Commits the tick, or queues it for the thread; ticks keep their order. Queued ticks that are
 * small steps forward are merged into the latest. Never blocks. */
TB_PRIVATE_API void tb__tick_queue_tick(tb__tick_queue_t *queue, int64_t time_ns);

/* Makes the thread call `report`, once for all requests before the call. Never blocks. */
TB_PRIVATE_API void tb__tick_queue_report(tb__tick_queue_t *queue);
/* The same for `drained`, which is called after all ticks queued before the request. */
TB_PRIVATE_API void tb__tick_queue_when_drained(tb__tick_queue_t *queue);
/* From `report`: requests another call, at that steady time at the latest. */
TB_PRIVATE_API void tb__tick_queue_report_again(tb__tick_queue_t *queue, int64_t at_ns);

#endif

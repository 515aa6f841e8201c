/* Time sources: what moves ROS time. Implement a tb_source_ops_t to make one of your own. */
#ifndef TIMEBASE_SOURCE_H
#define TIMEBASE_SOURCE_H

#include <timebase/clock.h>
#include <timebase/status.h>
#include <timebase/timeline.h>

/** What a source is made of. Its functions never overlap. */
typedef struct tb_source_ops {
  const char *name; /**< static, for messages */

  /** Called before the first clock moves to the source, and again after a stop. From here on the
   * source may tick `timeline`. NULL: nothing to start. */
  tb_status_t (*start)(void *self, tb_timeline_t *timeline);

  /** Called after the last clock has left; ticks already return TB_ERR_DETACHED. Called with
   * nothing held, so it may join the source's thread, but must not when on that thread itself.
   * NULL: nothing to stop. */
  void (*stop)(void *self);

  /** Called once when the source is destroyed, after `stop`; neither is in a forked child, where
   * they might wait for threads that are not there. NULL: nothing to free. */
  void (*destroy)(void *self);
} tb_source_ops_t;

TB_BEGIN_DECLS

/** `ops` must live as long as the source. `self` is handed to every function of it.
 * [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY: `self` is not destroyed then. */
TB_API tb_status_t tb_source_create(const tb_source_ops_t *ops, void *self, tb_source_t **out);

/** Moves its clocks to no source (a clock change each; they tell system time), stops and frees it.
 * NULL does nothing. [any thread] [blocks: jumps in progress] TB_ERR_DEADLOCK from a jump callback,
 * TB_ERR_BUSY: another source wraps it and will destroy it: nothing is destroyed then. */
TB_API tb_status_t tb_source_destroy(tb_source_t *source);

/** [any thread] [blocks] The same with a limit in steady time, 0: none, for the wait until other
 * jumps are over; it does not cover handlers of its clocks' changes, nor its `stop`.
 * TB_ERR_TIMEOUT: the source is valid, some of its clocks may have left it. TB_ERR_INVALID: limit <
 * 0. */
TB_API tb_status_t tb_source_destroy_within(tb_source_t *source, tb_duration_t limit);

/** The timeline that the source moves; it lives as long as the source.
 * [any thread] [from callbacks] */
TB_API tb_timeline_t *tb_source_timeline(tb_source_t *source);

TB_END_DECLS

#endif

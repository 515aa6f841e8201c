/* Time sources: what moves ROS time. Implement a tb_source_ops_t to make your own. */
#ifndef TIMEBASE_SOURCE_H
#define TIMEBASE_SOURCE_H

#include <stddef.h>
#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/status.h>
#include <timebase/timeline.h>

/** What a source is made of. Its functions never overlap. */
typedef struct tb_source_ops {
  const char *name; /**< static, for messages */

  /** Called before the first clock moves to the source or it becomes the process's default, and
   * again after a stop. From here on the source may tick `timeline`. NULL: nothing
   * to start. */
  tb_status_t (*start)(void *self, tb_timeline_t *timeline);

  /** Called after the last clock has left, if it is not the default; ticks already return
   * TB_ERR_DETACHED. Called with nothing held, so it may join the source's thread, but must not
   * when on that thread itself. NULL: nothing to stop. */
  void (*stop)(void *self);

  /** Called once when the source is destroyed, after `stop`; neither is in a forked child, where
   * they might wait for threads that are not there. NULL: nothing to free. */
  void (*destroy)(void *self);
} tb_source_ops_t;

/** Makes a source by its name: `rest` is what follows the prefix and a colon, "" if nothing does.
 * On failure it fills *error (may be NULL). Called with nothing held. */
typedef tb_status_t (*tb_source_factory_t)(const char *rest, void *user, tb_source_t **out,
                                           tb_error_t *error);

TB_BEGIN_DECLS

/** `ops` must live as long as the source. `self` is handed to every function of it.
 * [any thread] [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY: `self` is not destroyed then. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_source_create(const tb_source_ops_t *ops, void *self,
                                                      tb_source_t **out);

/** Moves its clocks to no source (a clock change each; they report system time), stops and frees
 * it. If it is the process's default, there is none any more. NULL does nothing. [any thread]
 * [blocks: jumps in progress] TB_ERR_DEADLOCK from a jump callback or the log hook, TB_ERR_BUSY:
 * another source wraps it and will destroy it: nothing is destroyed then. */
TB_API tb_status_t tb_source_destroy(tb_source_t *source);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT) for the wait until other jumps are
 * over; it does not cover handlers of its clocks' changes, nor its `stop`. TB_ERR_TIMEOUT: the
 * source is valid, some of its clocks may have left it, and it may no longer be the default. */
TB_API TB_WARN_UNUSED tb_status_t tb_source_destroy_within(tb_source_t *source,
                                                           tb_duration_t limit);

/** The timeline that the source moves; it lives as long as the source.
 * [any thread] [from callbacks] */
TB_API tb_timeline_t *tb_source_timeline(tb_source_t *source);

/** Sets the source of all clocks that follow the process's default (TB_SOURCE_DEFAULT), now and
 * later; NULL: none, and they report system time. It is started at once and runs while it is the
 * default, with or without clocks. Each clock that follows is moved, a clock change for each; when
 * the call returns, all have the new time. Setting the one that is set already does nothing.
 *
 * A program that never calls this has the default that the environment variable TIMEBASE_SOURCE
 * names (tb_source_create_from_name), made when the first clock follows; the process owns it, and
 * destroys it at exit unless clocks still use it.
 *
 * [any thread] [blocks: jumps in progress, other changes of the default] TB_ERR_DEADLOCK from a
 * jump callback or the log hook, TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_FORKED, TB_ERR_BUSY:
 * another source wraps it, and what the source's start returns: nothing has changed then. */
TB_API tb_status_t tb_source_set_default(tb_source_t *source);

/** The process's default; NULL: none, or not made yet. It lives until its owner destroys it.
 * [any thread] [from callbacks] */
TB_API tb_source_t *tb_source_get_default(void);

/** Makes a source from a name of the form PREFIX or PREFIX:REST. Known are the prefixes that the
 * program has registered, "manual" (manual_source.h), "shm:NAME" (shm_source.h) and
 * "extrapolating:SOURCE" (extrapolating_source.h), where SOURCE is such a name again; with
 * libtimebase-ros1 in the program also "ros1" (ros1_clock_source.h).
 * [any thread] TB_ERR_NOT_FOUND: nothing has that prefix; otherwise what the factory returns.
 * *error (may be NULL) has what is wrong with the name and what to do. */
TB_API TB_WARN_UNUSED tb_status_t tb_source_create_from_name(const char *name, tb_source_t **out,
                                                             tb_error_t *error);

/** Registers a factory of sources under a name, also for TIMEBASE_SOURCE: register it before the
 * first clock. `prefix` is copied; it is 1 to 31 letters, digits, and of "-_.". `factory` NULL
 * removes the prefix; a call of it that has begun may still be running. [any thread] [from
 * callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_BUSY: the prefix is taken, TB_ERR_NOT_FOUND:
 * nothing to remove. */
TB_API tb_status_t tb_source_register(const char *prefix, tb_source_factory_t factory, void *user);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_source_create_sized(const tb_source_ops_t *ops, size_t ops_size, void *self,
                                          tb_source_t **out);
TB_INLINE tb_status_t tb_source_create(const tb_source_ops_t *ops, void *self, tb_source_t **out)
{
  return tb_source_create_sized(ops, sizeof *ops, self, out);
}

TB_END_DECLS

#endif

/* Caches that time resets: what they hold from before a backward jump is dropped, and what arrives
 * late from before it is not accepted.
 *
 * Each cache, filter or buffer has a reset of its own, which raises its generation at each backward
 * jump and change of source of a clock, and if asked for at steps forward. What the cache holds is
 * of one generation:
 *
 *   lock(cache);
 *   if (tb_reset_poll(reset, &cache->generation)) clear(cache);
 *   if (sample.generation == cache->generation) insert(cache, sample);
 *   unlock(cache);
 *
 * No handler of the program is needed, so none can deadlock with the cache's mutex (J8). A sample
 * gets its generation where it is made (tb_reset_read) or received (tb_reset_accept), and keeps it
 * in whatever queue it waits. */
#ifndef TIMEBASE_RESET_H
#define TIMEBASE_RESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/jump.h>
#include <timebase/status.h>
#include <timebase/time.h>

/** The generations of a cache. */
typedef struct tb_reset tb_reset_t;

/** What resets a cache, and which stamps it accepts. */
typedef struct tb_reset_options {
  const char *name;          /**< as that of a jump handler; may be NULL */
  tb_duration_t min_forward; /**< > 0: steps forward of at least this reset too; 0: none do */
  /** How far a stamp may be ahead of the clock after a reset. A publisher may have received the
   * tick first, so allow for one tick, and for what a publisher adds: localization stamps
   * transforms up to 1 s ahead. >= 0; 0: 100 ms. */
  tb_duration_t future;
  /** Called once for each reset, in the "after" of its jump, under the rules of jump callbacks: to
   * wake a thread or to log. It must not take a mutex that a thread holds while it reads the clock,
   * as tb_reset_read and tb_reset_accept do. May be NULL. */
  tb_jump_callback_t on_reset;
  void *user; /**< handed to `on_reset` */
} tb_reset_options_t;

/** Backward jumps and changes of source; stamps up to 100 ms ahead. */
#define TB_RESET_OPTIONS_INIT                                                                      \
  {                                                                                                \
    NULL, {0}, {0}, NULL, NULL                                                                     \
  }

TB_BEGIN_DECLS

/** The clock must outlive it. `options` may be NULL. It has a jump handler, so on a clock of system
 * time steps are watched for. The first tick of a source is no reset. [any thread] [from callbacks]
 * TB_ERR_INVALID: also a duration < 0. TB_ERR_UNSUPPORTED, TB_ERR_CLOSED, TB_ERR_NO_MEMORY,
 * TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_reset_create(tb_clock_t *clock,
                                                     const tb_reset_options_t *options,
                                                     tb_reset_t **out);

/** Returns when a jump that its handler takes part in is over. No other thread may use it any more.
 * NULL does nothing. [any thread, not from jump callbacks] [blocks] */
TB_API void tb_reset_destroy(tb_reset_t *reset);

/** The generation of a sample that is made or received now and has no stamp. It never repeats. 0
 * from the first "before" to the last "after" of a jump that resets, and for NULL: the sample is of
 * no generation and fits into no cache. Never blocks. [any thread] [from callbacks] */
TB_API uint64_t tb_reset_generation(const tb_reset_t *reset);

/** Whether time was reset since `*seen`, which is set to the new generation: drop what the cache
 * holds. `*seen` is the cache's, under its mutex, and 0 at first: a new cache is cleared once. The
 * cache is empty before any "after" of the jump is called, and stays so until the jump is over.
 * Never blocks. [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED bool tb_reset_poll(const tb_reset_t *reset, uint64_t *seen);

/** The clock's time and the generation of that moment (tb_reset_generation), for a sample that is
 * made here. [any thread] [from callbacks] [blocks during a blocking jump] TB_ERR_NOT_SET: the
 * clock has not started. What tb_clock_read returns. */
TB_API TB_WARN_UNUSED tb_status_t tb_reset_read(const tb_reset_t *reset, tb_time_t *time,
                                                uint64_t *generation);

/** The generation of a sample that is received now, from its stamp. After a backward jump stamps
 * that are ahead of the clock by more than `future` and not later than it ever was are of the time
 * before; after a step forward that reset, those that are not later than its beginning, or where it
 * leads past all earlier times, than the latest of these. Without a reset all are accepted. What
 * has a stamp of the past that fits is accepted, so label samples before they wait in a queue. [any
 * thread] [from callbacks] [blocks during a blocking jump] TB_ERR_JUMP_BACKWARD,
 * TB_ERR_JUMP_FORWARD: it is of the time before such a jump or change of source: drop it.
 * TB_ERR_NOT_SET: the stamp is zero, or the clock has not started. TB_ERR_CLOCK_MISMATCH: the stamp
 * is of the other kind of clock. What tb_clock_read returns. */
TB_API TB_WARN_UNUSED tb_status_t tb_reset_accept(const tb_reset_t *reset, tb_time_t stamp,
                                                  uint64_t *generation);

/** What the call of this name hands over: the size of its struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_reset_create_sized(tb_clock_t *clock, const tb_reset_options_t *options,
                                         size_t options_size, tb_reset_t **out);
TB_INLINE tb_status_t tb_reset_create(tb_clock_t *clock, const tb_reset_options_t *options,
                                      tb_reset_t **out)
{
  return tb_reset_create_sized(clock, options, sizeof *options, out);
}

TB_END_DECLS

#endif

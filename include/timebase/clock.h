/* Clocks that report system or ROS time.
 *
 * After fork(), in the child of a process that had made any object of this library: reading a clock
 * never blocks and returns the time that was committed last, with state stalled; system and steady
 * time continue. Whatever creates, changes, waits or moves time returns TB_ERR_FORKED. Destroying
 * frees memory and closes the child's own descriptors, and touches nothing that the parent shares;
 * the program's own sources are not called. A program that forks before it makes its first object
 * uses the library in both processes. */
#ifndef TIMEBASE_CLOCK_H
#define TIMEBASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/time.h>

/** A clock that reports system time, or ROS time: wall time until a source moves it. */
typedef struct tb_clock tb_clock_t;

/** Whatever moves ROS time (source.h). */
typedef struct tb_source tb_source_t;

/** The condition of the clock's supply of time. A state never changes what `now` reports; it can be
 * read (tb_clock_read) and waited for (tb_clock_wait_for_state in sleep.h). */
typedef enum tb_clock_state {
  TB_CLOCK_INACTIVE = 1,     /**< given no source: the clock reports system time */
  TB_CLOCK_NO_SOURCE = 2,    /**< no default to follow, or its source was destroyed: the same */
  TB_CLOCK_NO_PUBLISHER = 3, /**< there is no publisher, and no tick has come */
  TB_CLOCK_QOS_MISMATCH = 4, /**< a publisher is there, but its QoS does not match */
  TB_CLOCK_WAITING = 5,      /**< for the first tick; the clock reports zero */
  TB_CLOCK_RUNNING = 6,      /**< ticks come */
  TB_CLOCK_PAUSED = 7,  /**< the source reports it, or its ticks have repeated the time for 0.1 s */
  TB_CLOCK_STALLED = 8, /**< no tick for the stall limit, 1 s by default (timeline.h), or since the
                             publisher is back */
  TB_CLOCK_LOST = 9,    /**< the publisher is gone; time is stopped */
  TB_CLOCK_CLOSED = 10, /**< the clock is being destroyed */
} tb_clock_state_t;

/** In place of a source: what is the process's default, now and later (tb_source_set_default). */
#define TB_SOURCE_DEFAULT ((tb_source_t *)(uintptr_t)1)

/** What a clock is made with. */
typedef struct tb_clock_options {
  tb_time_kind_t kind; /**< TB_TIME_ROS, or TB_TIME_SYSTEM, which takes no source of its own */
  tb_source_t *source; /**< active from the start; TB_SOURCE_DEFAULT: follows the process's default;
                          NULL: inactive, reports system time */
} tb_clock_options_t;

/** A ROS clock that follows the process's default source; without one it reports system time. */
#define TB_CLOCK_OPTIONS_INIT                                                                      \
  {                                                                                                \
    TB_TIME_ROS, TB_SOURCE_DEFAULT                                                                 \
  }

/** One consistent set: all three are of the same moment. */
typedef struct tb_clock_reading {
  tb_time_t time;         /**< what the clock reports */
  tb_clock_state_t state; /**< the condition of its supply */
  uint64_t epoch; /**< rises at each move of the clock and each backward jump; never repeats */
} tb_clock_reading_t;

TB_BEGIN_DECLS

/** "inactive", "no-source", "no-publisher", "qos-mismatch", "waiting", "running", "paused",
 * "stalled", "lost", "closed"; "unknown" for others. Static text. [any thread] [from callbacks] */
TB_API const char *tb_clock_state_name(tb_clock_state_t state);

/** `options` may be NULL: a ROS clock that follows the process's default. With a source, the source
 * is started before the call returns, and no reading ever reports system time. The first clock that
 * follows makes the default that TIMEBASE_SOURCE names, unless the program has set one
 * (tb_source_set_default); an unusable value is reported to the log hook (log.h). [any thread]
 * [from callbacks] TB_ERR_INVALID, TB_ERR_NO_MEMORY, and what making and starting the source
 * returns, such as TB_ERR_NOT_FOUND for an unknown name in TIMEBASE_SOURCE. In a jump callback or
 * the log hook TB_ERR_DEADLOCK if the source must be made or started first.
 */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_clock_create(const tb_clock_options_t *options,
                                                     tb_clock_t **out);

/** Makes all waits on the clock return TB_ERR_CLOSED, waits until they have left and until jumps
 * that its handlers take part in are over, removes its jump handlers and stops its timers. Handles
 * of handlers, timers, conditions and rates on it stay valid until they are destroyed themselves
 * (timers: or their queue). NULL does nothing (TB_OK). No other thread may start using the clock
 * once this is called. [any thread] [blocks] TB_ERR_DEADLOCK from a jump callback or the log hook,
 * TB_ERR_BUSY while a ROS 2 node moves the clock (its own, or one attached to it): nothing is
 * destroyed then. */
TB_API tb_status_t tb_clock_destroy(tb_clock_t *clock);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT); it does not cover the `stop` of a
 * source that goes with its last clock. TB_ERR_TIMEOUT: waits on the clock return TB_ERR_CLOSED
 * from now on and its handlers are called for no further jump, but it still reports the time and
 * must be destroyed by another call. */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_destroy_within(tb_clock_t *clock, tb_duration_t limit);

/** The current time. An active ROS clock returns the latest tick exactly, and zero before the
 * first; an inactive one returns system time (rcl). Takes no lock and makes no system call besides
 * reading CLOCK_REALTIME, except that it waits while a backward jump, a first tick or a change of
 * source is being handed to the jump handlers, and then reports the new time. [any thread] [from
 * callbacks] [blocks during such a jump] TB_ERR_BUSY where it must not wait for such a jump: inside
 * a callback of another jump and in the log hook, or when readers give up (tb_timeline_options_t);
 * TB_ERR_INVALID for NULL. */
TB_HOT_API tb_status_t tb_clock_now(const tb_clock_t *clock, tb_time_t *out);

/** The same, but never blocks: TB_ERR_BUSY during such a jump. [any thread] [from callbacks]
 * [async-signal-safe] */
TB_HOT_API tb_status_t tb_clock_try_now(const tb_clock_t *clock, tb_time_t *out);

/** Time, state and epoch together, under the rules of tb_clock_now.
 * [any thread] [from callbacks] [blocks during such a jump] */
TB_INLINE tb_status_t tb_clock_read(const tb_clock_t *clock, tb_clock_reading_t *out);

/** The epoch alone; 0 before any move or backward jump. On system time it rises with backward steps
 * while something watches for them (jump.h). Never blocks. [any thread] [from callbacks] */
TB_API uint64_t tb_clock_epoch(const tb_clock_t *clock);

/** What kind of time it reports; 0 for NULL. [any thread] [from callbacks] */
TB_API tb_time_kind_t tb_clock_kind(const tb_clock_t *clock);

/** Whether a source moves the clock (rcl: is ROS time override enabled).
 * [any thread] [from callbacks] */
TB_API bool tb_clock_is_active(const tb_clock_t *clock);

/** Moves the clock to `source`, to system time when NULL, or to the process's default, which it
 * then follows, with TB_SOURCE_DEFAULT. It is a clock change for its handlers and waits; setting
 * the source it has already does nothing. When the last clock leaves a source, that source may no
 * longer tick, and its `stop` is called last, with no lock held.
 * [any thread] [blocks: while a jump of either timeline is in progress] TB_ERR_INVALID for a clock
 * of kind TB_TIME_SYSTEM, TB_ERR_NO_MEMORY, TB_ERR_DEADLOCK from a jump callback or the log hook,
 * TB_ERR_FORKED, TB_ERR_BUSY: another source wraps `source`, or a ROS 2 node moves the clock, and
 * what making and starting the source returns: nothing has changed then. */
TB_API tb_status_t tb_clock_set_source(tb_clock_t *clock, tb_source_t *source);

/** [any thread] [blocks] The same with a limit (TB_NO_LIMIT) for the wait until other jumps are
 * over; it does not cover handlers of this change, nor start and stop of a source. Ticks that wait
 * may go before it. TB_ERR_TIMEOUT: nothing has changed. */
TB_API TB_WARN_UNUSED tb_status_t tb_clock_set_source_within(tb_clock_t *clock, tb_source_t *source,
                                                             tb_duration_t limit);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_clock_create_sized(const tb_clock_options_t *options, size_t options_size,
                                         tb_clock_t **out);
TB_INLINE tb_status_t tb_clock_create(const tb_clock_options_t *options, tb_clock_t **out)
{
  return tb_clock_create_sized(options, sizeof *options, out);
}
TB_HOT_API tb_status_t tb_clock_read_sized(const tb_clock_t *clock, tb_clock_reading_t *out,
                                           size_t out_size);
TB_INLINE tb_status_t tb_clock_read(const tb_clock_t *clock, tb_clock_reading_t *out)
{
  return tb_clock_read_sized(clock, out, sizeof *out);
}

TB_END_DECLS

#endif

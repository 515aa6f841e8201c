/* Stamps of acquisition: the moment at which a driver's hardware took a sample, in steady or system
 * time, as a time of a clock. The time at which it was received is kept apart.
 *
 * A stamper remembers what its clock reported at moments of steady time: at each call, and at each
 * jump. Between two of them time is taken to have passed evenly, so stamps are right at any factor,
 * while the clock is paused, and before and after a seek; the result says how far off they can be.
 * Moments before a backward jump belong to another epoch and are not stamped in this one. */
#ifndef TIMEBASE_STAMPER_H
#define TIMEBASE_STAMPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/status.h>
#include <timebase/steady_time.h>
#include <timebase/time.h>

/** What a clock has reported. */
typedef struct tb_stamper tb_stamper_t;

/** What a stamper is made with. */
typedef struct tb_stamper_options {
  tb_duration_t history; /**< how far back stamps reach, in steady time; 0: 5 s. Jumps shorten it */
  bool accepts_stale;    /**< moments of an earlier epoch are stamped in that one, with `stale` */
  uint8_t padding[7];    /**< not used */
} tb_stamper_options_t;

/** 5 s, and no moments of an earlier epoch. */
#define TB_STAMPER_OPTIONS_INIT                                                                    \
  {                                                                                                \
    {0}, false,                                                                                    \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** When a sample was acquired, and when it was received. */
typedef struct tb_stamp {
  tb_time_t stamp;                  /**< of the acquisition, on the clock: for header.stamp */
  tb_duration_t bound;              /**< what the clock reported then is at most so far away */
  uint64_t epoch;                   /**< of `stamp` */
  tb_time_t received;               /**< what the clock reported at the call */
  uint64_t received_epoch;          /**< of `received` */
  tb_steady_time_t acquired_steady; /**< the acquisition in steady time */
  tb_steady_time_t received_steady; /**< the call in steady time */
  uint64_t stale;                   /**< 1: `epoch` has ended; else 0 */
} tb_stamp_t;

TB_BEGIN_DECLS

/** Remembers from now on. The clock must outlive it. `options` may be NULL. It has a jump handler,
 * also for steps forward of 1 s or more. [any thread] [from callbacks] TB_ERR_INVALID: also a
 * history < 0; TB_ERR_CLOSED, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_stamper_create(tb_clock_t *clock,
                                                       const tb_stamper_options_t *options,
                                                       tb_stamper_t **out);

/** Returns when a jump that its handler takes part in is over. No other thread may use it any more.
 * NULL does nothing. [any thread, not from jump callbacks] [blocks] */
TB_API void tb_stamper_destroy(tb_stamper_t *stamper);

/** Remembers what the clock reports now, as each stamp does: for drivers with few samples, which
 * otherwise know too little of the time between them. [any thread] [from callbacks] TB_ERR_BUSY: a
 * blocking jump is in progress, and is remembered anyway; also on system time that has just been
 * stepped back. TB_ERR_INVALID, TB_ERR_FORKED. */
TB_API tb_status_t tb_stamper_note(tb_stamper_t *stamper);

/** A sample that is received now and was acquired at a steady time. Never blocks for long. [any
 * thread] [from callbacks] TB_ERR_JUMP_BACKWARD, TB_ERR_CLOCK_CHANGED: it was acquired before a
 * backward jump, or before the clock got another source: drop it, or see `accepts_stale`.
 * TB_ERR_NOT_SET: the clock had no time then. TB_ERR_RANGE: later than now, or before what is
 * remembered. TB_ERR_BUSY: as tb_stamper_note. TB_ERR_INVALID, TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_stamp_from_steady(tb_stamper_t *stamper,
                                                          tb_steady_time_t acquired,
                                                          tb_stamp_t *out);

/** The same for a system time, such as that of a camera which is synchronized by PTP. [any thread]
 * [from callbacks] TB_ERR_CLOCK_MISMATCH: a ROS time. TB_ERR_CLOCK_CHANGED also: system time was
 * stepped since the acquisition, or may have been, so it does not say when that was. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_stamp_from_system(tb_stamper_t *stamper, tb_time_t acquired,
                                                          tb_stamp_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_stamper_create_sized(tb_clock_t *clock, const tb_stamper_options_t *options,
                                           size_t options_size, tb_stamper_t **out);
TB_INLINE tb_status_t tb_stamper_create(tb_clock_t *clock, const tb_stamper_options_t *options,
                                        tb_stamper_t **out)
{
  return tb_stamper_create_sized(clock, options, sizeof *options, out);
}
TB_API tb_status_t tb_stamp_from_steady_sized(tb_stamper_t *stamper, tb_steady_time_t acquired,
                                              tb_stamp_t *out, size_t out_size);
TB_INLINE tb_status_t tb_stamp_from_steady(tb_stamper_t *stamper, tb_steady_time_t acquired,
                                           tb_stamp_t *out)
{
  return tb_stamp_from_steady_sized(stamper, acquired, out, sizeof *out);
}
TB_API tb_status_t tb_stamp_from_system_sized(tb_stamper_t *stamper, tb_time_t acquired,
                                              tb_stamp_t *out, size_t out_size);
TB_INLINE tb_status_t tb_stamp_from_system(tb_stamper_t *stamper, tb_time_t acquired,
                                           tb_stamp_t *out)
{
  return tb_stamp_from_system_sized(stamper, acquired, out, sizeof *out);
}

TB_END_DECLS

#endif

/* Follows a time that a process of the same machine shares through memory. */
#ifndef TIMEBASE_SHM_SOURCE_H
#define TIMEBASE_SHM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/shm_publisher.h>
#include <timebase/source.h>
#include <timebase/status.h>

/** The supply of a source on shared memory. */
typedef struct tb_shm_status {
  bool has_publisher;     /**< one has the page open now, whether it ticks or not */
  uint64_t publishers;    /**< how many have published under the name so far */
  bool foreign_steady;    /**< it is in another time namespace: its rate is not used */
  bool is_woken_when_due; /**< by the publisher when a wait is due, else with each tick */
  uint64_t invalid;       /**< reads of the page that found no valid contents */
} tb_shm_status_t;

TB_BEGIN_DECLS

/** Reads the page of tb_shm_publisher_open's `name`, made if it is not there yet; the publisher may
 * come and go. `now` of its clocks reads the page itself. While a clock is on it two threads follow
 * jumps ("tb-shm-jump") and, while something waits or a handler asks for forward steps, each tick
 * ("tb-shm-tick"); without a waiter the process is not woken by ticks. Ticks that come faster than
 * they can be followed are merged. So are jumps, as when the process was stopped: handlers get one,
 * from the last time that it could have read to the current one, with the reason of the last. The
 * epoch rises, also if time is already past where it was; the jump is a step forward in that case.
 * What a publisher that is already gone has left does not count: the clock waits for the next one.
 * Statistics of the timeline count what was followed. [any thread] Errors as tb_shm_publisher_open,
 * without TB_ERR_BUSY. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_shm_source_create(const char *name,
                                                          const tb_shm_options_t *options,
                                                          tb_source_t **out, tb_error_t *error);

/** [any thread] [from callbacks] TB_ERR_INVALID: not a shared-memory source. */
TB_INLINE tb_status_t tb_shm_source_status(const tb_source_t *source, tb_shm_status_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_shm_source_create_sized(const char *name, const tb_shm_options_t *options,
                                              size_t options_size, tb_source_t **out,
                                              tb_error_t *error);
TB_INLINE tb_status_t tb_shm_source_create(const char *name, const tb_shm_options_t *options,
                                           tb_source_t **out, tb_error_t *error)
{
  return tb_shm_source_create_sized(name, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_shm_source_status_sized(const tb_source_t *source, tb_shm_status_t *out,
                                              size_t out_size);
TB_INLINE tb_status_t tb_shm_source_status(const tb_source_t *source, tb_shm_status_t *out)
{
  return tb_shm_source_status_sized(source, out, sizeof *out);
}

TB_END_DECLS

#endif

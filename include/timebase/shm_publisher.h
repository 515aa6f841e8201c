/* Shares a time with other processes of the machine through one page of memory. */
#ifndef TIMEBASE_SHM_PUBLISHER_H
#define TIMEBASE_SHM_PUBLISHER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/jump.h>
#include <timebase/status.h>
#include <timebase/tick_sink.h>
#include <timebase/timeline.h>

/** A time that this process shares. */
typedef struct tb_shm_publisher tb_shm_publisher_t;

/** Options of publishers and sources. */
typedef struct tb_shm_options {
  /** The folder of the page's file, "timebase.NAME"; NULL: /dev/shm. Containers that share a time
   * share this folder. */
  const char *directory;
  /** Permissions of the file if it is made; readers need to read, publishers also to write. A file
   * that is there is refused if it is another user's, but for a reader the superuser's, or if
   * others may write to it who could not with this mode: they could set the time. For several users
   * or containers, on both sides: 0644 (a reader accepts any owner) or 0666 (publishers too). 0:
   * that of the environment variable TIMEBASE_SHM_MODE (octal), else 0600, this user alone. */
  uint32_t mode;
  uint32_t padding; /**< not used */
} tb_shm_options_t;

/** /dev/shm, for this user alone. */
#define TB_SHM_OPTIONS_INIT                                                                        \
  {                                                                                                \
    NULL, 0, 0                                                                                     \
  }

TB_BEGIN_DECLS

/** `name`: 1 to 64 letters, digits, '_', '-' and '.', not beginning with '.'. `options` and `error`
 * may be NULL. Readers that were on an earlier publisher of the name change to this one, as to
 * another source, and wait for its first tick. The file is used again, and stays.
 * [any thread] TB_ERR_BUSY: the name has a publisher, in any process. TB_ERR_INVALID: the name.
 * TB_ERR_SYSTEM: the file cannot be opened, made or mapped, or is another user's. TB_ERR_CORRUPT,
 * TB_ERR_VERSION: the file is something else, or of another release. TB_ERR_NO_MEMORY.
 * TB_ERR_FORKED. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_shm_publisher_open(const char *name,
                                                           const tb_shm_options_t *options,
                                                           tb_shm_publisher_t **out,
                                                           tb_error_t *error);

/** Stops the time where it is, in state lost. The same happens, with state stalled, when the
 * process ends in any other way. In a forked child it only frees memory. A child that neither does
 * this nor starts another program keeps the name taken when its parent has ended. NULL does
 * nothing. [any thread] */
TB_API void tb_shm_publisher_close(tb_shm_publisher_t *publisher);

/** One tick, by the rules of tb_timeline_tick; handlers and waits of all processes are served by
 * their own threads after it. `time_ns` >= 0, nanoseconds since 1970; 0 takes readers back to "not
 * started". A publisher whose time is stopped must keep ticking: silence is a stall. Wakes
 * processes that have a waiter; never blocks for long. [any thread; ticks of several threads are
 * put in order] [from callbacks] TB_ERR_RANGE: negative. TB_ERR_INVALID. TB_ERR_FORKED.
 * TB_ERR_SYSTEM: a process that may write the page's file has truncated it, and no reader sees the
 * tick; close and open the publisher again. A file that was removed or replaced is found within
 * 0.1 s and logged: the readers that have it are served, and others do not find it. */
TB_API tb_status_t tb_shm_publisher_tick(tb_shm_publisher_t *publisher, int64_t time_ns,
                                         tb_jump_reason_t reason);

/** The publisher as a sink of a clock server; it must outlive it. [any thread] */
TB_API tb_tick_sink_t tb_shm_publisher_sink(tb_shm_publisher_t *publisher);

/** An anchor, by the rules of tb_timeline_anchor. With a rate its bound must not be INT64_MAX:
 * commit a new one before it is reached, so that time stops when the publisher dies. Readers in
 * another time namespace (containers) see each anchor as a tick. [any thread] [from callbacks]
 * Errors as tb_shm_publisher_tick. */
TB_INLINE tb_status_t tb_shm_publisher_anchor(tb_shm_publisher_t *publisher,
                                              const tb_anchor_t *anchor, tb_jump_reason_t reason);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_shm_publisher_open_sized(const char *name, const tb_shm_options_t *options,
                                               size_t options_size, tb_shm_publisher_t **out,
                                               tb_error_t *error);
TB_INLINE tb_status_t tb_shm_publisher_open(const char *name, const tb_shm_options_t *options,
                                            tb_shm_publisher_t **out, tb_error_t *error)
{
  return tb_shm_publisher_open_sized(name, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_shm_publisher_anchor_sized(tb_shm_publisher_t *publisher,
                                                 const tb_anchor_t *anchor, size_t anchor_size,
                                                 tb_jump_reason_t reason);
TB_INLINE tb_status_t tb_shm_publisher_anchor(tb_shm_publisher_t *publisher,
                                              const tb_anchor_t *anchor, tb_jump_reason_t reason)
{
  return tb_shm_publisher_anchor_sized(publisher, anchor, sizeof *anchor, reason);
}

TB_END_DECLS

#endif

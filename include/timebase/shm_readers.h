/* Lists the processes that follow times on shared memory. */
#ifndef TIMEBASE_SHM_READERS_H
#define TIMEBASE_SHM_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/shm_publisher.h>
#include <timebase/status.h>

/** A process that follows a time, as it has described itself: any process that may write the file
 * beside the page may have written something else. */
typedef struct tb_shm_reader {
  char name[65];              /**< of the time */
  bool in_process_namespace;  /**< `process_id` is a number of the caller's process namespace */
  bool in_time_namespace;     /**< its steady time is the caller's */
  uint64_t process_id;        /**< in its process namespace */
  uint64_t process_namespace; /**< inode of its /proc/self/ns/pid; 0: unknown */
  uint64_t time_namespace;    /**< inode of its /proc/self/ns/time; 0: unknown */
  uint64_t reserved[2];       /**< 0 */
} tb_shm_reader_t;

/** Read it where it is. */
typedef struct tb_shm_readers {
  size_t count;                   /**< how many */
  const tb_shm_reader_t *readers; /**< by name, in no further order; a process is listed once for
                                       each of its sources */
} tb_shm_readers_t;

TB_BEGIN_DECLS

/** Lists the processes that are there now, with a clock on a source of the name; NULL: of each name
 * in the folder. `options` and `error` may be NULL. Not listed are processes that may not write the
 * file beside the page ("timebase-wake1.NAME"), that found no room there (more than 256), or whose
 * release does not do so, and those of a time that has had no publisher yet. Free the list with
 * tb_shm_readers_destroy. [any thread] TB_ERR_INVALID: the name. TB_ERR_SYSTEM: the folder cannot
 * be read, or a file in it not opened. TB_ERR_NO_MEMORY. A time that nothing has published is an
 * empty list. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_shm_readers_create(const char *name,
                                                           const tb_shm_options_t *options,
                                                           tb_shm_readers_t **out,
                                                           tb_error_t *error);

/** NULL does nothing. [any thread] */
TB_API void tb_shm_readers_destroy(const tb_shm_readers_t *readers);

/** What the call of this name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_shm_readers_create_sized(const char *name, const tb_shm_options_t *options,
                                               size_t options_size, tb_shm_readers_t **out,
                                               tb_error_t *error);
TB_INLINE tb_status_t tb_shm_readers_create(const char *name, const tb_shm_options_t *options,
                                            tb_shm_readers_t **out, tb_error_t *error)
{
  return tb_shm_readers_create_sized(name, options, sizeof *options, out, error);
}

TB_END_DECLS

#endif

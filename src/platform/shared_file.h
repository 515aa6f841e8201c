/* A small file that processes map to share its contents, and a lock on it that ends with its
 * holder. A process with write access may truncate the file: that does not end the processes that
 * have it mapped. */
#ifndef TB_PLATFORM_SHARED_FILE_H
#define TB_PLATFORM_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#include "platform/guarded_map.h"

typedef struct tb__shared_file {
  int fd; /* -1: none */
  void *map;
  tb__guarded_map_t *guard; /* of `map` */
} tb__shared_file_t;

#define TB__SHARED_FILE_NONE                                                                       \
  {                                                                                                \
    -1, NULL, NULL                                                                                 \
  }

/* Opens or creates the file and maps it, with `writable` also for writing. A new file is full of
 * zeros and has exactly the permissions `mode`; one that is there must be this user's, and let
 * nobody else write who could not with `mode`. With a mode for others it may be another user's.
 * TB_ERR_SYSTEM; TB_ERR_CORRUPT: it is not a regular file, or has another size. */
tb_status_t tb__shared_file_open(tb__shared_file_t *file, const char *path, size_t size,
                                 bool writable, uint32_t mode, tb_error_t *error) TB_WARN_UNUSED;
void tb__shared_file_close(tb__shared_file_t *file);
/* Close only the descriptor, or only the mapping. */
void tb__shared_file_close_fd(tb__shared_file_t *file);
void tb__shared_file_unmap(tb__shared_file_t *file);

/* Makes a new file at `path`, in place of one that is there, and maps it for writing.
 * TB_ERR_SYSTEM; TB_ERR_BUSY: this user may not make or replace it. */
tb_status_t tb__shared_file_create(tb__shared_file_t *file, const char *path, size_t size,
                                   uint32_t mode, tb_error_t *error) TB_WARN_UNUSED;
/* Maps a file that is there already, and has this size. TB_ERR_SYSTEM; TB_ERR_CORRUPT. */
tb_status_t tb__shared_file_open_existing(tb__shared_file_t *file, const char *path, size_t size,
                                          bool writable) TB_WARN_UNUSED;
/* Gives it another descriptor of the same file, for locks: a mapping keeps the one that it was made
 * with open, and a forked child has the mappings. False: `path` is another file by now. */
bool tb__shared_file_reopen(tb__shared_file_t *file, const char *path) TB_WARN_UNUSED;
/* Whether a file of that number is still found there: it was neither removed nor replaced. True if
 * that is not known. */
bool tb__shared_file_is_at(const char *path, uint64_t inode);
/* Gives a file that was truncated its size again, and maps it. */
bool tb__shared_file_extend(const tb__shared_file_t *file, size_t size) TB_WARN_UNUSED;
/* 0: unknown. */
uint64_t tb__shared_file_inode(const tb__shared_file_t *file);

/* Whether it was truncated, so that private zeros are mapped. */
bool tb__shared_file_is_cut(const tb__shared_file_t *file);

/* The lock belongs to the open file: it is released when that is closed, or its process ends in any
 * way. TB_ERR_BUSY: another open file has it; TB_ERR_SYSTEM, with errno: the file system has no
 * locks. */
tb_status_t tb__shared_file_lock(const tb__shared_file_t *file) TB_WARN_UNUSED;
/* Whether another open file holds the lock; true if that is not known. */
bool tb__shared_file_is_locked(const tb__shared_file_t *file);

/* The same for one byte, of a file that is open for writing. */
tb_status_t tb__shared_file_lock_byte(const tb__shared_file_t *file, uint32_t byte) TB_WARN_UNUSED;
/* Also where copies of the descriptor exist, which keep the lock when this one is closed. */
void tb__shared_file_unlock_byte(const tb__shared_file_t *file, uint32_t byte);
bool tb__shared_file_byte_is_locked(const tb__shared_file_t *file, uint32_t byte);

/* Identifies the CLOCK_MONOTONIC of this machine or container; 0: unknown. */
uint64_t tb__time_namespace(void);
/* Identifies the process numbers; 0: unknown. */
uint64_t tb__process_namespace(void);

#endif

/* A file of one page that processes map to share what is in it, and a lock on it that goes with its
 * holder. Whoever may write it may cut it short: that ends no process that has it mapped. */
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

/* Opens or makes the file and maps it; a new one is full of zeros and has exactly the permissions
 * `mode`. With `writable` also for writing. TB_ERR_SYSTEM; TB_ERR_CORRUPT: it is no regular file or
 * of another size. */
tb_status_t tb__shared_file_open(tb__shared_file_t *file, const char *path, size_t size,
                                 bool writable, uint32_t mode, tb_error_t *error);
void tb__shared_file_close(tb__shared_file_t *file);
/* Only the descriptor, or only the mapping. */
void tb__shared_file_close_fd(tb__shared_file_t *file);
void tb__shared_file_unmap(tb__shared_file_t *file);

/* Whether it was cut short, so that what is mapped is zeros that nobody shares. */
bool tb__shared_file_is_cut(const tb__shared_file_t *file);

/* The lock belongs to the open file: it is gone when that is closed, or its process ends in any
 * way. TB_ERR_BUSY: another one has it; TB_ERR_SYSTEM, with errno: there are no locks here. */
tb_status_t tb__shared_file_lock(const tb__shared_file_t *file);
/* Whether anybody but this open file holds the lock; true where that cannot be told. */
bool tb__shared_file_is_locked(const tb__shared_file_t *file);

/* Tells apart machines' and containers' notions of CLOCK_MONOTONIC; 0: unknown. */
uint64_t tb__time_namespace(void);

#endif

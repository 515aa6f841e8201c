/* A mapping of a file that other processes may truncate. Accessing what no longer exists raises
 * SIGBUS, which would end the process: while a guarded mapping exists, our handler maps zeros in
 * its place and marks it as cut. Any other SIGBUS goes to the previous handler.
 *
 * A sealed memfd, which cannot be truncated, is no alternative: a publisher that is stopped or dead
 * could not pass it on, and `directory` and `mode` require a file with a name. */
#ifndef TB_PLATFORM_GUARDED_MAP_H
#define TB_PLATFORM_GUARDED_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/status.h>

#include "base/private_api.h"

typedef struct tb__guarded_map tb__guarded_map_t;

/* Maps the file's first `size` bytes, a multiple of the page size. A thread that blocks SIGBUS is
 * not protected. TB_ERR_SYSTEM, with errno; TB_ERR_NO_MEMORY. */
tb_status_t tb__guarded_map_create(int fd, size_t size, bool writable,
                                   tb__guarded_map_t **out) TB_WARN_UNUSED;
void tb__guarded_map_destroy(tb__guarded_map_t *map);
void *tb__guarded_map_memory(const tb__guarded_map_t *map);

/* Whether private zeros have replaced what was mapped. */
bool tb__guarded_map_is_cut(const tb__guarded_map_t *map);
/* Maps the file again at the same place. False: it does not have its full size again. */
bool tb__guarded_map_restore(tb__guarded_map_t *map, int fd) TB_WARN_UNUSED;

/* For threads of other libraries that are started with all signals blocked and read guarded memory:
 * those of Cyclone DDS. */
TB_PRIVATE_API void tb__guarded_map_enter_thread(void);

#endif

/* A mapping of a file that others may cut short. Touching what is no longer there is a SIGBUS,
 * which would end the process: while a guarded mapping exists, a handler of ours puts zeros in its
 * place and marks it as cut. Any other SIGBUS goes to whoever had the signal before.
 *
 * Not a copy handed over in a sealed memfd: one whose publisher is stopped or dead would never be
 * handed over, and a file by name is what `directory` and `mode` are about. */
#ifndef TB_PLATFORM_GUARDED_MAP_H
#define TB_PLATFORM_GUARDED_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/status.h>

#include "base/private_api.h"

typedef struct tb__guarded_map tb__guarded_map_t;

/* Maps the file's first `size` bytes, a multiple of the page size. A thread that blocks SIGBUS is
 * not protected. TB_ERR_SYSTEM, with errno; TB_ERR_NO_MEMORY. */
tb_status_t tb__guarded_map_create(int fd, size_t size, bool writable, tb__guarded_map_t **out);
void tb__guarded_map_destroy(tb__guarded_map_t *map);
void *tb__guarded_map_memory(const tb__guarded_map_t *map);

/* Whether zeros that nobody shares have taken the place of what was mapped. */
bool tb__guarded_map_is_cut(const tb__guarded_map_t *map);
/* Maps the file again at the same place. False: it has not got its size again. */
bool tb__guarded_map_restore(tb__guarded_map_t *map, int fd);

/* For the threads of others that are started with all signals blocked and read what is guarded:
 * those of Cyclone DDS. */
TB_PRIVATE_API void tb__guarded_map_enter_thread(void);

#endif

/* Large blocks that are accessed at random: aligned to cache lines and, if they are as large as
 * one, on huge pages, since otherwise translating addresses would take as long as reading
 * memory. */
#ifndef TB_BASE_MEMORY_H
#define TB_BASE_MEMORY_H

#include <stddef.h>

/* NULL: no memory. To be freed with free(). */
void *tb__memory_alloc(size_t size);

#endif

/* Large blocks that are read all over: aligned to cache lines, and on huge pages from the size of
 * one, where the translation of addresses would cost as much as the memory. */
#ifndef TB_BASE_MEMORY_H
#define TB_BASE_MEMORY_H

#include <stddef.h>

/* NULL: no memory. To be freed with free(). */
void *tb__memory_alloc(size_t size);

#endif

#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LINE      ((size_t)64)
#define HUGE_PAGE ((size_t)2 << 20)

void *tb__memory_alloc(size_t size)
{
  size_t unit = size >= HUGE_PAGE ? HUGE_PAGE : LINE;
  size = (size + unit - 1) / unit * unit;
  void *memory = aligned_alloc(unit, size);
  if (memory && unit == HUGE_PAGE) madvise(memory, size, MADV_HUGEPAGE); /* small pages work too */
  return memory;
}

#include "counted_allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static _Atomic bool allocations_are_counted;
static _Atomic int64_t allocations_counted;

static void allocation_count(void)
{
  if (atomic_load_explicit(&allocations_are_counted, memory_order_relaxed))
    atomic_fetch_add_explicit(&allocations_counted, 1, memory_order_relaxed);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

/* Of sanitizer/allocator_interface.h, which not every compiler has. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                              void (*)(const volatile void *));

static void on_malloc(const volatile void *block, size_t size)
{
  (void)block;
  (void)size;
  allocation_count();
}

static void on_free(const volatile void *block)
{
  (void)block;
  allocation_count();
}

__attribute__((constructor)) static void install_hooks(void)
{
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

#else

/* What glibc offers to replacements of malloc. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

#pragma GCC visibility push(default) /* for the shared libraries too */

void *malloc(size_t size)
{
  allocation_count();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  allocation_count();
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
  allocation_count();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
  allocation_count();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
  void *block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *out = block;
  return 0;
}

void free(void *block)
{
  allocation_count();
  __libc_free(block);
}

#pragma GCC visibility pop

#endif

void allocations_begin(void)
{
  atomic_store(&allocations_counted, 0);
  atomic_store(&allocations_are_counted, true);
}

int64_t allocations_end(void)
{
  atomic_store(&allocations_are_counted, false);
  return atomic_load(&allocations_counted);
}

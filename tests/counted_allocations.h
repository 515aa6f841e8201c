/* Counts what the program allocates and frees, in all its threads. Included by one file of an
 * executable. Under a sanitizer, which has its own allocator, through that one's hooks. */
#ifndef TB_TEST_COUNTED_ALLOCATIONS_H
#define TB_TEST_COUNTED_ALLOCATIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static _Atomic bool allocations_are_counted;
static _Atomic int64_t allocations_counted;

static inline void allocation_count(void)
{
  if (atomic_load_explicit(&allocations_are_counted, memory_order_relaxed))
    atomic_fetch_add_explicit(&allocations_counted, 1, memory_order_relaxed);
}

#ifdef __has_feature
#define TB_HAS_FEATURE(x) __has_feature(x)
#else
#define TB_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    TB_HAS_FEATURE(address_sanitizer) || TB_HAS_FEATURE(thread_sanitizer)

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

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

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

static inline void allocations_begin(void)
{
  atomic_store(&allocations_counted, 0);
  atomic_store(&allocations_are_counted, true);
}

static inline int64_t allocations_end(void)
{
  atomic_store(&allocations_are_counted, false);
  return atomic_load(&allocations_counted);
}

#endif

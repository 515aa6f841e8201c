#include "base/allocator.h"

#undef malloc
#undef calloc
#undef realloc
#undef reallocarray
#undef aligned_alloc
#undef free

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/allocator.h>

/* Which one it is, is decided by the first allocation, or before it: no block is given back to
 * another one than it came from. */
enum { UNDECIDED, OF_LIBC, BEING_SET, OF_PROGRAM };
static _Atomic int choice;
static tb_allocator_t chosen; /* never changes from OF_PROGRAM on */

tb_status_t tb_allocator_set(const tb_allocator_t *allocator)
{
  int undecided = UNDECIDED;
  if (!allocator || !allocator->allocate || !allocator->deallocate || !allocator->reallocate ||
      !allocator->zero_allocate)
    return TB_ERR_INVALID;
  if (!atomic_compare_exchange_strong(&choice, &undecided, BEING_SET)) return TB_ERR_BUSY;
  chosen = *allocator;
  atomic_store(&choice, OF_PROGRAM);
  return TB_OK;
}

static bool is_of_libc_slowly(void)
{
  int now = UNDECIDED;
  if (atomic_compare_exchange_strong(&choice, &now, OF_LIBC)) return true;
  while (now == BEING_SET) /* a few instructions of another thread */
    now = atomic_load(&choice);
  return now == OF_LIBC;
}

static inline bool is_of_libc(void)
{
  if (__builtin_expect(atomic_load_explicit(&choice, memory_order_acquire) == OF_LIBC, 1))
    return true;
  return is_of_libc_slowly();
}

/* ---- blocks of the program's allocator ---- */

/* Right before the memory of each block: where the block begins, which differs by more where an
 * alignment was asked for. */
typedef struct head {
  void *block;
  size_t unused;
} head_t;

_Static_assert(sizeof(head_t) % _Alignof(max_align_t) == 0, "memory stays aligned");

static head_t *head_of(void *memory)
{
  return (head_t *)memory - 1;
}

static void *no_memory(void)
{
  errno = ENOMEM;
  return NULL;
}

static void *begin_at(void *block, uintptr_t offset)
{
  if (!block) return no_memory();
  void *memory = (char *)block + offset;
  *head_of(memory) = (head_t){.block = block};
  return memory;
}

static void *program_alloc(size_t size)
{
  if (size > PTRDIFF_MAX - sizeof(head_t)) return no_memory();
  return begin_at(chosen.allocate(size + sizeof(head_t), chosen.state), sizeof(head_t));
}

static void *program_calloc(size_t count, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - sizeof(head_t))
    return no_memory();
  return begin_at(chosen.zero_allocate(1, bytes + sizeof(head_t), chosen.state), sizeof(head_t));
}

static void *program_aligned_alloc(size_t alignment, size_t size)
{
  if (size > PTRDIFF_MAX - sizeof(head_t) - alignment) return no_memory();
  void *block = chosen.allocate(size + sizeof(head_t) + alignment, chosen.state);
  uintptr_t memory = ((uintptr_t)block + sizeof(head_t) + alignment - 1) & ~(alignment - 1);
  return begin_at(block, memory - (uintptr_t)block);
}

/* Never of memory with an alignment. */
static void *program_realloc(void *memory, size_t size)
{
  if (!memory) return program_alloc(size);
  if (size > PTRDIFF_MAX - sizeof(head_t)) return no_memory();
  void *block = chosen.reallocate(head_of(memory)->block, size + sizeof(head_t), chosen.state);
  return begin_at(block, sizeof(head_t));
}

/* ---- what the libraries call ---- */

void *tb__malloc(size_t size)
{
  return is_of_libc() ? malloc(size) : program_alloc(size);
}

void *tb__calloc(size_t count, size_t size)
{
  return is_of_libc() ? calloc(count, size) : program_calloc(count, size);
}

void *tb__realloc(void *memory, size_t size)
{
  return is_of_libc() ? realloc(memory, size) : program_realloc(memory, size);
}

void *tb__reallocarray(void *memory, size_t count, size_t size)
{
  size_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? no_memory() : tb__realloc(memory, bytes);
}

void *tb__aligned_alloc(size_t alignment, size_t size)
{
  return is_of_libc() ? aligned_alloc(alignment, size) : program_aligned_alloc(alignment, size);
}

void tb__free(void *memory)
{
  if (!memory) return;
  if (is_of_libc())
    free(memory);
  else
    chosen.deallocate(head_of(memory)->block, chosen.state);
}

void tb__libc_free(void *memory)
{
  free(memory);
}

char *tb__libc_adopt(char *memory, size_t size)
{
  if (!memory || is_of_libc()) return memory;
  char *copy = tb__malloc(size + 1);
  if (copy) memcpy(copy, memory, size);
  if (copy) copy[size] = '\0';
  free(memory);
  return copy;
}

char *tb__strndup(const char *text, size_t size)
{
  size_t length = strnlen(text, size);
  char *copy = tb__malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *tb__strdup(const char *text)
{
  return tb__strndup(text, SIZE_MAX);
}

int tb__asprintf(char **out, const char *format, ...)
{
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : tb__malloc((size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  *out = text;
  return text ? length : -1;
}

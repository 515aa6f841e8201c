/* Where the library gets its memory. */
#ifndef TIMEBASE_ALLOCATOR_H
#define TIMEBASE_ALLOCATOR_H

#include <stddef.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** Functions that replace those of the C library, with the layout and the meaning of
 * rcl_allocator_t. Any thread may call them, several at once, also while the library holds locks:
 * they must not call this library. Memory is aligned as that of malloc. */
typedef struct tb_allocator {
  void *(*allocate)(size_t size, void *state);   /**< NULL: there is none */
  void (*deallocate)(void *memory, void *state); /**< never NULL */
  void *(*reallocate)(void *memory, size_t size,
                      void *state); /**< `memory` may be NULL; NULL: there is
                                 none, and `memory` is as it was */
  void *(*zero_allocate)(size_t count, size_t size, void *state); /**< filled with zeros */
  void *state;                                                    /**< handed to all four */
} tb_allocator_t;

TB_BEGIN_DECLS

/** Makes the libraries of timebase get all memory of their own from `allocator`, which is copied,
 * in the whole process and for good. Not what other libraries take for them (Cyclone DDS, libyaml),
 * the stacks of threads, nor text that a program is to give back with free(). [any thread]
 * TB_ERR_INVALID: NULL, or a function is. TB_ERR_BUSY: memory has been taken already, as by the
 * first object, or another one was set. */
TB_API TB_WARN_UNUSED tb_status_t tb_allocator_set(const tb_allocator_t *allocator);

TB_END_DECLS

#endif

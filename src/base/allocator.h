/* The process's allocator. The parts of the libraries are compiled with allocator_names.h, so their
 * malloc, free and so on are these. */
#ifndef TB_BASE_ALLOCATOR_H
#define TB_BASE_ALLOCATOR_H

#include <stddef.h>

#include "base/private_api.h"

TB_PRIVATE_API void *tb__malloc(size_t size) __attribute__((malloc, alloc_size(1)));
TB_PRIVATE_API void *tb__calloc(size_t count, size_t size)
    __attribute__((malloc, alloc_size(1, 2)));
TB_PRIVATE_API void *tb__realloc(void *memory, size_t size) __attribute__((alloc_size(2)));
TB_PRIVATE_API void *tb__reallocarray(void *memory, size_t count, size_t size)
    __attribute__((alloc_size(2, 3)));
TB_PRIVATE_API void *tb__aligned_alloc(size_t alignment, size_t size)
    __attribute__((malloc, alloc_size(2)));
TB_PRIVATE_API void tb__free(void *memory);
TB_PRIVATE_API char *tb__strdup(const char *text) __attribute__((malloc));
TB_PRIVATE_API char *tb__strndup(const char *text, size_t size) __attribute__((malloc));
TB_PRIVATE_API int tb__asprintf(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For memory of the C library's own, of open_memstream and realpath: gives it back, or moves `size`
 * bytes and a NUL to memory that free gives back. NULL: there is none. */
TB_PRIVATE_API void tb__libc_free(void *memory);
TB_PRIVATE_API char *tb__libc_adopt(char *memory, size_t size);

#endif

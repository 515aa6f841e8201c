/* Included by the compiler before each file of the libraries (cmake/TimebaseTargets.cmake): memory
 * comes from the process's allocator. Headers that declare these names must come first. */
#ifndef TB_BASE_ALLOCATOR_NAMES_H
#define TB_BASE_ALLOCATOR_NAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"

#undef strdup
#undef strndup
#define malloc        tb__malloc
#define calloc        tb__calloc
#define realloc       tb__realloc
#define reallocarray  tb__reallocarray
#define aligned_alloc tb__aligned_alloc
#define free          tb__free
#define strdup        tb__strdup
#define strndup       tb__strndup
#define asprintf      tb__asprintf

#endif

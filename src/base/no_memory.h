/* The one error for memory that is exhausted. */
#ifndef TB_BASE_NO_MEMORY_H
#define TB_BASE_NO_MEMORY_H

#include <timebase/error.h>

/* Returns TB_ERR_NO_MEMORY. */
static inline tb_status_t tb__no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

/* The same, with what the memory was for: "clock server", a topic, a file. */
static inline tb_status_t tb__no_memory_for(tb_error_t *error, const char *what)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "%s: out of memory", what);
}

#endif

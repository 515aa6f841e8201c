/* The one error for a pointer that must not be NULL. */
#ifndef TB_BASE_NULL_ARGUMENT_H
#define TB_BASE_NULL_ARGUMENT_H

#include <timebase/error.h>

/* Returns TB_ERR_INVALID. `function` is the public function that was called. */
static inline tb_status_t tb__null_argument(tb_error_t *error, const char *function)
{
  return tb_error_set(error, TB_ERR_INVALID, "%s: an argument is NULL", function);
}

#endif

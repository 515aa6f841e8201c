/* The part of librcutils that sets errors: one per thread. */
#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void rcutils_set_error_state(const char *message, const char *file, size_t line);
EXPORTED void rcutils_reset_error(void);
EXPORTED bool rcutils_error_is_set(void);

static _Thread_local bool is_set;

void rcutils_set_error_state(const char *message, const char *file, size_t line)
{
  is_set = message && file && line;
}

void rcutils_reset_error(void)
{
  is_set = false;
}

bool rcutils_error_is_set(void)
{
  return is_set;
}

/* Whether this host's system clock follows others, as the kernel has it. */
#ifndef TB_PLATFORM_SYSTEM_SYNC_H
#define TB_PLATFORM_SYSTEM_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__system_sync {
  bool is_synchronized;
  int64_t max_error_ns; /* -1: not known */
} tb__system_sync_t;

/* adjtimex; changes nothing. */
TB_PRIVATE_API tb__system_sync_t tb__system_sync_read(void);

#endif

/* Whether this host's system clock follows others, as the kernel has it. */
#ifndef TB_CLI_SYSTEM_SYNC_H
#define TB_CLI_SYSTEM_SYNC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct system_sync {
  bool is_synchronized;
  int64_t max_error_ns; /* -1: not known */
} system_sync_t;

/* adjtimex; changes nothing. */
system_sync_t system_sync_read(void);

#endif

/* The library's own threads. */
#ifndef TB_PLATFORM_THREAD_H
#define TB_PLATFORM_THREAD_H

#include <pthread.h>
#include <timebase/status.h>

#include "base/private_api.h"

typedef struct tb__thread {
  pthread_t impl;
} tb__thread_t;

/* Starts `run(argument)` with all signals blocked, so that the program's handlers run on its own
 * threads. `name`: at most 15 characters, shown by ps and gdb. TB_ERR_SYSTEM. */
TB_PRIVATE_API tb_status_t tb__thread_start(tb__thread_t *thread, const char *name,
                                            void *(*run)(void *), void *argument) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__thread_join(tb__thread_t *thread);
/* Instead of joining. */
TB_PRIVATE_API void tb__thread_detach(tb__thread_t *thread);

#endif

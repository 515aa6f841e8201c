/* The one home of rule J5: which callback runs on this thread, and what it must not do. */
#ifndef TB_CLOCK_CALLBACK_CONTEXT_H
#define TB_CLOCK_CALLBACK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/private_api.h"

struct tb__jump;

/* The jump whose callbacks run on this thread; NULL: none. */
extern _Thread_local struct tb__jump *tb__jump_of_thread __attribute__((tls_model("initial-exec")));

/* Whether this thread is in a callback of a jump handler. What J5 forbids only there returns
 * TB_ERR_DEADLOCK: moving time, and waiting on ROS or system time. */
static inline bool tb__in_jump_callback(void)
{
  return tb__jump_of_thread != NULL;
}

/* Whether this thread is in a callback that must not wait for a jump or for a thread: a jump
 * handler (J5), or the log hook, which may run on a thread that others wait for (J7). */
static inline bool tb__may_not_wait(void)
{
  return tb__in_jump_callback() || tb__log_depth > 0;
}

/* tb__may_not_wait, for sibling libraries. */
TB_PRIVATE_API bool tb__thread_may_not_wait(void);

#endif

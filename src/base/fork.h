/* Whether this process is the child of one that used the library. The parent's other threads do not
 * exist there, and what they had locked stays locked: nothing may be locked, waited for or
 * moved. */
#ifndef TB_BASE_FORK_H
#define TB_BASE_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <timebase/status.h>

#include "base/private_api.h"

TB_PRIVATE_API extern _Atomic bool tb__forked;

/* [any thread] [async-signal-safe] */
static inline bool tb__is_forked(void)
{
  /* C7 */
  return __builtin_expect(atomic_load_explicit(&tb__forked, memory_order_relaxed), 0);
}

/* Call before making an object that has a lock, a thread or a descriptor: from then on forks are
 * noticed. TB_ERR_FORKED, TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__fork_watch(void) TB_WARN_UNUSED;

/* Between the two no other thread forks, so that a child has none of the descriptors that are
 * opened there and not noted yet. A few calls of the system and nothing that takes a lock. [any
 * thread] */
void tb__fork_hold(void);
void tb__fork_release(void);

/* A descriptor that a forked child closes at once, because it holds a lock that has to go with the
 * parent. Returns its place; -1: there is none left, and the child keeps it. [any thread] */
int tb__fork_closes(int fd);
/* Before the descriptor of that place is closed. False: this is a child, which has closed it. */
bool tb__fork_keeps(int place) TB_WARN_UNUSED;

#endif

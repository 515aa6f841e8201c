/* Who is still at work because somebody moved time: threads that were woken and have not come to
 * rest, and timers that are due and have not been called. Whoever moves time owes one for each
 * before it is woken, so that a count of zero means that all has run. */
#ifndef TB_HELD_INFLIGHT_H
#define TB_HELD_INFLIGHT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__inflight tb__inflight_t;

/* One who wants to hear of changes: `word` becomes 1 and is woken, a futex. */
typedef struct tb__inflight_watch {
  struct tb__inflight_watch *next, *previous;
  _Atomic uint32_t *word;
} tb__inflight_watch_t;

/* With one reference; NULL: out of memory. */
tb__inflight_t *tb__inflight_create(void);
void tb__inflight_unref(tb__inflight_t *inflight);
/* That of the operating system's clocks, when they are held; never freed. */
tb__inflight_t *tb__inflight_of_os(void);

void tb__inflight_begin(tb__inflight_t *inflight);
void tb__inflight_end(tb__inflight_t *inflight);
uint32_t tb__inflight_count(tb__inflight_t *inflight);

/* Calls those who watch to look. */
void tb__inflight_notify(tb__inflight_t *inflight);
void tb__inflight_watch(tb__inflight_t *inflight, tb__inflight_watch_t *watch);
void tb__inflight_unwatch(tb__inflight_t *inflight, tb__inflight_watch_t *watch);

/* What this thread has been woken for, and has to pay when it comes to rest; or NULL. */
extern _Thread_local tb__inflight_t *tb__inflight_of_thread
    __attribute__((tls_model("initial-exec")));

/* What is count for this thread is from here on paid by it: at the latest when it ends. */
void tb__inflight_adopt(tb__inflight_t *inflight);
void tb__inflight_quiesce_slowly(void);

static inline void tb__inflight_quiesce(void)
{
  if (tb__inflight_of_thread) tb__inflight_quiesce_slowly();
}

#endif

/* Work in flight because time was moved: threads that were woken and are not idle again, and timers
 * that are due and have not been called. The thread that moves time counts each one before waking
 * it, so a count of zero means that all of it has run. */
#ifndef TB_HELD_INFLIGHT_H
#define TB_HELD_INFLIGHT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__inflight tb__inflight_t;

/* A watcher of changes: `word`, a futex, is set to 1 and woken. */
typedef struct tb__inflight_watch {
  struct tb__inflight_watch *next, *previous;
  _Atomic uint32_t *word;
} tb__inflight_watch_t;

/* With one reference; NULL: out of memory. */
tb__inflight_t *tb__inflight_create(void);
void tb__inflight_unref(tb__inflight_t *inflight);
/* The count for the operating system's clocks, while they are held; never freed. */
tb__inflight_t *tb__inflight_of_os(void);

void tb__inflight_begin(tb__inflight_t *inflight);
void tb__inflight_end(tb__inflight_t *inflight);
uint32_t tb__inflight_count(tb__inflight_t *inflight);

/* Wakes the watchers. */
void tb__inflight_notify(tb__inflight_t *inflight);
void tb__inflight_watch(tb__inflight_t *inflight, tb__inflight_watch_t *watch);
void tb__inflight_unwatch(tb__inflight_t *inflight, tb__inflight_watch_t *watch);

/* What this thread was woken for, and ends when it is idle again; NULL: nothing. */
extern _Thread_local tb__inflight_t *tb__inflight_of_thread
    __attribute__((tls_model("initial-exec")));

/* From here on this thread has to end what was begun for it: at the latest when the thread ends. */
void tb__inflight_adopt(tb__inflight_t *inflight);
void tb__inflight_quiesce_slowly(void);

static inline void tb__inflight_quiesce(void)
{
  if (tb__inflight_of_thread) tb__inflight_quiesce_slowly();
}

#endif

/* Who is still at work because somebody moved time: threads that were woken and have not come to
 * rest, and timers that are due and have not been called. Whoever moves time owes one for each
 * before it is woken, so that a count of zero means that all has run. */
#ifndef TB_HELD_ACTIVITY_H
#define TB_HELD_ACTIVITY_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__activity tb__activity_t;

/* One who wants to hear of changes: `word` becomes 1 and is woken, a futex. */
typedef struct tb__activity_watch {
  struct tb__activity_watch *next, *previous;
  _Atomic uint32_t *word;
} tb__activity_watch_t;

/* With one reference; NULL: out of memory. */
tb__activity_t *tb__activity_create(void);
void tb__activity_unref(tb__activity_t *activity);
/* That of the operating system's clocks, when they are held; never freed. */
tb__activity_t *tb__activity_of_os(void);

void tb__activity_owe(tb__activity_t *activity);
void tb__activity_pay(tb__activity_t *activity);
uint32_t tb__activity_owed(tb__activity_t *activity);

/* Calls those who watch to look. */
void tb__activity_poke(tb__activity_t *activity);
void tb__activity_watch(tb__activity_t *activity, tb__activity_watch_t *watch);
void tb__activity_unwatch(tb__activity_t *activity, tb__activity_watch_t *watch);

/* What this thread has been woken for, and has to pay when it comes to rest; or NULL. */
extern _Thread_local tb__activity_t *tb__activity_of_thread
    __attribute__((tls_model("initial-exec")));

/* What is owed for this thread is from here on paid by it: at the latest when it ends. */
void tb__activity_take(tb__activity_t *activity);
void tb__activity_rest_slowly(void);

static inline void tb__activity_rest(void)
{
  if (tb__activity_of_thread) tb__activity_rest_slowly();
}

#endif

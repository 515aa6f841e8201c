/* Notices when the whole process could not run: stopped by a signal (SIGSTOP, Ctrl-Z), frozen, or
 * without a processor. A thread sends heartbeats; while they are missing no thread could run. What
 * was late for another reason was late while they continued. */
#ifndef TB_HELD_SUSPENSION_H
#define TB_HELD_SUSPENSION_H

#include <stdint.h>

#include "platform/mutex.h"
#include "platform/thread.h"

#define TB__SUSPENSIONS 8 /* how many are kept */

typedef struct tb__suspension {
  tb__thread_t thread;
  _Atomic uint32_t stop;  /* futex */
  _Atomic uint32_t beats; /* futex */
  _Atomic int64_t beat_ns;
  tb__mutex_t mutex;
  struct {
    int64_t from_ns, to_ns;
  } kept[TB__SUSPENSIONS]; /* a ring */
  unsigned next;
} tb__suspension_t;

/* TB_ERR_SYSTEM: no thread. */
TB_PRIVATE_API tb_status_t tb__suspension_start(tb__suspension_t *suspension) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__suspension_end(tb__suspension_t *suspension);

/* How much of a stretch of steady time up to now fell into suspensions, in ns: within about 50 ms,
 * and never too little for suspensions of 100 ms or more. May wait for a heartbeat. 0 while a test
 * holds time. */
TB_PRIVATE_API int64_t tb__suspension_within(tb__suspension_t *suspension, int64_t from_ns,
                                             int64_t to_ns);

#endif

/* Waiting until all that a move of time made due has run (X2). It is here and not in src/held
 * because the wait is a sleeper that a cancel token can end. */
#ifndef TB_WAIT_SETTLE_H
#define TB_WAIT_SETTLE_H

#include <timebase/manual_source.h>

#include "held/inflight.h"
#include "platform/futex.h"
#include "wait/sleeper.h"

typedef struct tb__settle {
  const tb_timeline_t *timeline; /* NULL: the timelines of the operating system */
  tb__inflight_t *inflight;
  tb__inflight_watch_t watch;
  tb__sleeper_t sleeper; /* member of the token; its word is the futex */
  tb__deadline_t limit;  /* on the kernel's clock, also while time is held */
} tb__settle_t;

/* Call it before time is moved; tb__settle_end must follow if it succeeds. TB_ERR_INVALID,
 * TB_ERR_NO_MEMORY. TB_ERR_DEADLOCK: in a callback of a jump, or of a queue of the timeline. */
tb_status_t tb__settle_begin(tb__settle_t *settle, tb_timeline_t *timeline,
                             const tb_run_options_t *options) TB_WARN_UNUSED;
/* Returns when nothing is in flight any more. TB_ERR_CANCELLED, TB_ERR_CLOSED, TB_ERR_TIMEOUT. */
tb_status_t tb__settle_wait(tb__settle_t *settle) TB_WARN_UNUSED;
/* The same until `reached` returns true. */
tb_status_t tb__settle_wait_for(tb__settle_t *settle, bool (*reached)(void *user),
                                void *user) TB_WARN_UNUSED;
void tb__settle_end(tb__settle_t *settle);

#endif

/* The latest ticks of `/clock`, and when each was sent and arrived: whether a stamp was ahead of
 * `/clock`, or the tick only came later than the message. Fixed memory. One thread at a time. */
#ifndef TB_CONTRACT_TICK_HISTORY_H
#define TB_CONTRACT_TICK_HISTORY_H

#include <stdint.h>

#include "base/private_api.h"

enum { TB__TICK_HISTORY = 1024 };

/* All zero: empty. */
typedef struct tb__tick_history {
  struct {
    int64_t tick_ns, source_ns, arrival_ns;
  } ticks[TB__TICK_HISTORY]; /* a ring */
  uint64_t count;            /* of all */
} tb__tick_history_t;

/* `source_ns`: system time of its publisher's host at publishing, 0: not known. `arrival_ns`:
 * steady, not before that of the tick before. */
TB_PRIVATE_API void tb__tick_history_add(tb__tick_history_t *history, int64_t tick_ns,
                                         int64_t source_ns, int64_t arrival_ns);
/* A message whose stamp was ahead of `/clock` when it arrived. */
typedef struct tb__ahead {
  int64_t stamp_ns;
  int64_t source_ns;  /* as that of a tick */
  int64_t arrival_ns; /* steady */
} tb__ahead_t;

typedef enum tb__ahead_state {
  TB__AHEAD_WAITS = 1, /* `/clock` has not reached it, and may yet */
  TB__AHEAD_RACE,      /* its tick came soon after it, or was sent before it: it is not ahead */
  TB__AHEAD_SURE,      /* it is ahead */
} tb__ahead_state_t;

/* As of `now_ns`, steady. It waits for half a second at most: on a busy machine ticks may come
 * late. */
TB_PRIVATE_API tb__ahead_state_t tb__tick_history_settle(const tb__tick_history_t *history,
                                                         const tb__ahead_t *ahead, int64_t now_ns);

#endif

/* Steady time that is stopped until the loop waits, and then is at the deadline. For tests. */
#ifndef TB_SERVER_MANUAL_PACER_H
#define TB_SERVER_MANUAL_PACER_H

#include <stdatomic.h>
#include <stddef.h>

#include "held/pacer.h"

#define TB__MANUAL_PACER_START INT64_C(5000000000)

typedef struct tb__manual_act {
  int64_t at_ns; /* since the start */
  void (*act)(void *user);
} tb__manual_act_t;

typedef struct tb__manual_pacer {
  tb__pacer_t base;
  _Atomic int64_t steady_ns;    /* other threads may read it, as in tb_player_status */
  const tb__manual_act_t *acts; /* in order; each is done in the first wait that reaches it */
  size_t act_count, next_act;
  void *user;
} tb__manual_pacer_t;

void tb__manual_pacer_init(tb__manual_pacer_t *pacer);

#endif

/* Writes one at a time, where a write may block: waiting for the turn has a limit. */
#ifndef TB_ROS2_WRITE_TURN_H
#define TB_ROS2_WRITE_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/deadline.h"

/* All zeros: free. */
typedef struct tb__write_turn {
  _Atomic uint32_t word; /* futex */
} tb__write_turn_t;

/* Waits until the deadline, at most `limit_ns`. False: another thread still has it. */
bool tb__write_turn_take(tb__write_turn_t *turn, tb__deadline_t deadline, int64_t limit_ns);
void tb__write_turn_give(tb__write_turn_t *turn);

#endif

/* A part of the recording that is repeated. */
#ifndef TB_PLAY_REPEAT_H
#define TB_PLAY_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

/* Minimum length of a round, in the pacer's time and in steady time: a loop over one message must
 * neither spin nor continue while a clock is stopped. */
#define TB__ROUND_MIN_NS (10 * TB_NS_PER_MS)

typedef struct tb__repeat {
  bool wanted;
  bool armed; /* no seek has led past the end */
  int64_t from_ns, to_ns;
  int64_t earliest_ns, earliest_steady_ns; /* of the next jump: the pacer's time, and steady */
} tb__repeat_t;

#endif

/* The part of the recording that is played, and whether it is played at all. */
#ifndef TB_PLAY_RANGE_H
#define TB_PLAY_RANGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb__play_range {
  int64_t start_ns; /* recorded time at which every round starts */
  int64_t until_ns; /* nothing later is played; TB__FEED_NOTHING: nothing at all */
  int64_t last_ns;  /* the last target of a seek */
  bool halted;      /* until wants_play; time is stopped */
  bool wants_play;  /* from start_ns on */
} tb__play_range_t;

#endif

/* Steps back by one message while time is paused. */
#ifndef TB_PLAY_PREVIOUS_H
#define TB_PLAY_PREVIOUS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb__previous {
  uint64_t wanted; /* steps back that were requested */
  bool is_reading; /* the previous message is being read */
} tb__previous_t;

#endif

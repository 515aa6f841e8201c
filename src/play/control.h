/* Requests for a rate or a seek, from any thread. */
#ifndef TB_PLAY_CONTROL_H
#define TB_PLAY_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb__control {
  bool wants_seek; /* to seek_ns; taken by the thread that plays */
  int64_t seek_ns;
  bool fastest; /* time goes from message to message without waiting */
} tb__control_t;

#endif

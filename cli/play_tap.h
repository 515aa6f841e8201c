/* Between the player and where it plays to: counts the bytes of each topic, and keeps back topics
 * that are muted. */
#ifndef TB_CLI_PLAY_TAP_H
#define TB_CLI_PLAY_TAP_H

#include <stdatomic.h>

#include "play_forward.h"

typedef struct play_tap_topic play_tap_topic_t;

struct play_tap_topic {
  play_tap_topic_t *next;
  char *name; /* as recorded */
  void *handle;
  _Atomic uint64_t bytes;
  atomic_bool is_muted;
};

typedef struct play_tap {
  play_forward_t forward;
  play_tap_topic_t *topics;
} play_tap_t;

/* A transport for the player in front of `to`. End it after the player. */
tb_play_transport_t play_tap_begin(play_tap_t *tap, const tb_play_transport_t *to);
void play_tap_end(play_tap_t *tap);

/* Those of topics that the player has added; NULL: another. */
play_tap_topic_t *play_tap_find(const play_tap_t *tap, const char *name);

#endif

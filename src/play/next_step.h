/* What a player does next. */
#ifndef TB_PLAY_NEXT_STEP_H
#define TB_PLAY_NEXT_STEP_H

#include "play/player.h"

typedef enum tb__step_kind {
  TB__STEP_WAIT,
  TB__STEP_TICK,
  TB__STEP_MESSAGE,
  TB__STEP_SEEK,
  TB__STEP_PLAY,     /* from the start, after a halt */
  TB__STEP_PREVIOUS, /* is to be read, from `place` back */
  TB__STEP_BACK,     /* to the previous one, which is there */
  TB__STEP_REPEAT,
  TB__STEP_END, /* of the round */
  TB__STEP_STOP,
} tb__step_kind_t;

typedef struct tb__step {
  tb__step_kind_t kind;
  uint32_t events; /* WAIT */
  int64_t deadline_ns;
  tb__tick_t tick;
  int64_t now_ns;
  int64_t late_ns; /* more than TB__LATE_NS, or 0 */
  int64_t seek_ns;
  tb__feed_place_t place;
  bool stepped;      /* MESSAGE: while time stands */
  bool names;        /* whom the player waits for */
  const char *empty; /* what comes of it that no message lies from... to...; NULL: some do */
  int64_t empty_from_ns, empty_to_ns;
} tb__step_t;

/* Sets `kind` and what belongs to it. The next message, or that there is none, is known, unless it
 * is awaited. */
void tb__player_choose_step_locked(tb_player_t *player, tb__step_t *step)
    TB_REQUIRES(player->mutex);

#endif

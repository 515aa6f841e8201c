/* Steps: messages sent while time is paused, with a callback at their end for callers that do not
 * wait. */
#ifndef TB_PLAY_BURST_H
#define TB_PLAY_BURST_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/player.h>

#include "base/private_api.h"

typedef struct tb__burst tb__burst_t;

struct tb__burst {
  tb__burst_t *next;
  uint64_t wanted, sent;
  bool done;
  /* Called once `done` is set, under the player's mutex: may only mark and wake. NULL: none */
  void (*on_done)(tb__burst_t *burst);
};

/* Guarded by the player's mutex. */
typedef struct tb__steps {
  uint64_t wanted;           /* messages to send while time is paused, without a burst */
  tb__burst_t *bursts;       /* in order of arrival */
  _Atomic uint32_t ends;     /* futex: bursts that have ended */
  uint64_t sent, idle_since; /* messages of steps; their number when what is repeated began */
  bool was_idle;             /* none was sent in the round before */
} tb__steps_t;

static inline bool tb__steps_are_wanted(const tb__steps_t *steps)
{
  return steps->wanted > 0 || steps->bursts;
}

/* Adds a step without a burst. */
static inline void tb__steps_add(tb__steps_t *steps)
{
  steps->wanted++;
}

/* tb_player_burst without the wait; before tb_player_run it begins with that. On success the burst,
 * of which only `on_done` counts, must live until it is done or taken back. */
TB_PRIVATE_API tb_status_t tb__player_begin_burst(tb_player_t *player, uint64_t count,
                                                  tb__burst_t *burst) TB_WARN_UNUSED;

/* Drops what is left of the burst; on_done is not called any more. False: it is done. */
TB_PRIVATE_API bool tb__player_take_back(tb_player_t *player, tb__burst_t *burst);

#endif

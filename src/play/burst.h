/* Messages sent while time stands, and being told of their end without waiting for it. */
#ifndef TB_PLAY_BURST_H
#define TB_PLAY_BURST_H

#include <timebase/player.h>

#include "base/private_api.h"

typedef struct tb__burst tb__burst_t;

struct tb__burst {
  tb__burst_t *next;
  uint64_t wanted, sent;
  bool done;
  /* `done` has been set. Under the player's mutex: may mark and wake, and no more. NULL: none */
  void (*on_done)(tb__burst_t *burst);
};

/* tb_player_burst without the wait. On success the burst, of which only `on_done` counts, must live
 * until it is done or taken back. */
TB_PRIVATE_API tb_status_t tb__player_begin_burst(tb_player_t *player, uint64_t count,
                                                  tb__burst_t *burst);

/* What is left of it is dropped, and it is not told any more. False: it is done. */
TB_PRIVATE_API bool tb__player_take_back(tb_player_t *player, tb__burst_t *burst);

#endif

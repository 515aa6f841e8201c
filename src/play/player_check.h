/* Invariants of a player. Tests check them between operations. */
#ifndef TB_PLAY_PLAYER_CHECK_H
#define TB_PLAY_PLAYER_CHECK_H

#include "play/player.h"

/* NULL: every invariant holds; else the first one that does not. Allowed whenever the mutex is held
 * by a thread that is not in the middle of a change. */
const char *tb__player_check_locked(tb_player_t *player) TB_REQUIRES(player->mutex) TB_WARN_UNUSED;

/* The same with nothing held, and the queue that is read ahead. */
const char *tb__player_check(tb_player_t *player) TB_WARN_UNUSED;

#endif

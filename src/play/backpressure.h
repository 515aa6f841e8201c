/* A transport that holds the player up: the limit that it sets, and who is behind that. */
#ifndef TB_PLAY_BACKPRESSURE_H
#define TB_PLAY_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/player.h>

#include "platform/mutex.h"

/* Of the thread that plays. */
typedef struct tb__backpressure {
  int64_t set_ns;       /* when the limit was, in the pacer's time */
  bool holds;           /* the transport does */
  int64_t next_name_ns; /* steady; when it is asked again for whom */
  bool was_logged;
  int64_t log_ns; /* steady; when that was last told to the log */
} tb__backpressure_t;

/* From now on the transport wakes the player, or not any more. */
void tb__player_backpressure_watch(tb_player_t *player, bool watches);

/* Tells the transport of the time of the message that is about to be sent. A restored one is sent
 * in the time of the jump. */
void tb__player_backpressure_message(tb_player_t *player);

/* Tells the transport of a jump of time to `time_ns`, which is about to come. */
void tb__player_backpressure_jump(tb_player_t *player, int64_t time_ns);

/* Asks the transport how far the player may go. Where time stood at its limit, it goes on from
 * there: nothing is caught up but what was late already. */
tb_status_t tb__player_backpressure_poll(tb_player_t *player, tb_error_t *error);

/* Whom it waits for, for the status and the log. */
void tb__player_backpressure_describe(tb_player_t *player, int64_t steady_ns);

#endif

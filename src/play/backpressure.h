/* Back-pressure: the limit that a transport sets to the player, and for what the player waits. */
#ifndef TB_PLAY_BACKPRESSURE_H
#define TB_PLAY_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/player.h>

#include "platform/mutex.h"

/* Owned by the thread that plays, except limit_ns. */
typedef struct tb__backpressure {
  int64_t limit_ns;     /* recorded time up to which the transport lets the player go */
  int64_t set_ns;       /* when the limit was set, in the pacer's time */
  bool holds;           /* the limit blocks the player */
  int64_t next_name_ns; /* steady; when the transport is asked again for the name */
  bool was_logged;
  int64_t log_ns; /* steady; when the name was last logged */
} tb__backpressure_t;

/* Whether the transport wakes the player when the limit changes. */
void tb__player_backpressure_watch(tb_player_t *player, bool watches);

/* Passes the transport the time of the message that is about to be sent. A restored message has the
 * time of the jump. */
void tb__player_backpressure_message(tb_player_t *player);

/* Passes the transport the target of a jump that is about to happen. */
void tb__player_backpressure_jump(tb_player_t *player, int64_t time_ns);

/* Asks the transport how far the player may go. Time that was stopped at the limit resumes from
 * there: only lateness from before is caught up. */
tb_status_t tb__player_backpressure_poll(tb_player_t *player, tb_error_t *error) TB_WARN_UNUSED;

/* Puts what the player waits for in the status and the log. */
void tb__player_backpressure_describe(tb_player_t *player, int64_t steady_ns);

#endif

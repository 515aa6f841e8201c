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
  TB__STEP_PREVIOUS, /* read the message before `place` */
  TB__STEP_BACK,     /* to the previous one, which is there */
  TB__STEP_REPEAT,
  TB__STEP_END, /* of the round */
  TB__STEP_STOP,
} tb__step_kind_t;

typedef struct tb__step {
  tb__step_kind_t kind;
  uint32_t events; /* WAIT */
  int64_t deadline_ns;
  int64_t limit_ns; /* steady */
  tb__tick_t tick;
  int64_t now_ns;
  int64_t steady_ns; /* now, too */
  int64_t late_ns;   /* more than TB__LATE_NS, or 0 */
  int64_t due_ns;    /* when it was due, if late: the pacer's time */
  int64_t seek_ns;
  tb__feed_place_t place;
  bool stepped;      /* MESSAGE: while time is paused */
  bool names;        /* report what the player waits for */
  const char *empty; /* the consequence of no message from... to...; NULL: there are some */
  int64_t empty_from_ns, empty_to_ns;
} tb__step_t;

/* Sets `kind` and what belongs to it. The next message, or that there is none, is known, unless it
 * is awaited. */
void tb__player_choose_step_locked(tb_player_t *player, tb__step_t *step)
    TB_REQUIRES(player->mutex);

/* The next step is a jump back to the start of the repeat, unless something else happens. */
bool tb__player_goes_back_locked(const tb_player_t *player, int64_t now_ns)
    TB_REQUIRES(player->mutex);

/* Lowers deadline_ns and limit_ns of the step to the next check of the transport, and sets `names`
 * when it is time to report what the transport waits for. */
void tb__player_backpressure_check_locked(tb_player_t *player, tb__step_t *step)
    TB_REQUIRES(player->mutex);
/* True: the jump back is due. */
bool tb__player_repeats_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);

static inline void tb__step_wait_until(int64_t *deadline_ns, int64_t until_ns)
{
  if (until_ns < *deadline_ns) *deadline_ns = until_ns;
}

#endif

/* Steps back by one message while time is paused: a jump to it, then it is sent. */
#include "base/fork.h"
#include "play/player.h"

static bool is_at_first_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static tb_status_t check_previous_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);

static bool is_at_first_locked(const tb_player_t *player)
{
  const tb__feed_place_t *last = &player->position.last, *first = &player->first;
  if (last->file == TB__NO_FILE) return last->time_ns <= player->first_ns;
  return last->file == first->file && last->row_id == first->row_id;
}

static tb_status_t check_previous_locked(const tb_player_t *player)
{
  if (!player->flow.paused) return TB_ERR_BUSY;
  bool moves = player->control.wants_seek || player->range.wants_play ||
               player->previous.wanted > 0 || player->previous.is_reading ||
               tb__player_steps_locked(player);
  bool ended = player->status.finished || (player->range.halted && !player->range.wants_play);
  return ended || (!moves && is_at_first_locked(player)) ? TB_ERR_END : TB_OK;
}

tb_status_t tb_player_play_previous(tb_player_t *player)
{
  if (!player) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (!atomic_load(&player->started)) return TB_ERR_INVALID;
  if (player->options.order != TB_PLAYER_ORDER_RECEIVED) return TB_ERR_UNSUPPORTED;
  tb__mutex_lock(&player->mutex);
  tb_status_t status = check_previous_locked(player);
  if (!status) player->previous.wanted++;
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  return status;
}

void tb__player_end_previous_locked(tb_player_t *player)
{
  player->previous.wanted = 0;
  player->previous.is_reading = false;
}

/* Steps that can be taken come first: the one before is a step itself. */
bool tb__player_seeks_previous_locked(tb_player_t *player, tb__feed_place_t *out_place)
{
  bool steps = tb__player_steps_locked(player) && (player->next.has_message || player->next.awaits);
  if (player->previous.wanted == 0 || player->previous.is_reading || player->range.halted || steps)
    return false;
  player->previous.wanted--;
  if (is_at_first_locked(player)) return false;
  player->previous.is_reading = true;
  player->next.has_message = false;
  tb__next_await(&player->next);
  *out_place = player->position.last;
  return true;
}

bool tb__player_found_previous_locked(tb_player_t *player)
{
  if (!player->previous.is_reading || player->next.awaits) return false;
  player->previous.is_reading = false;
  if (!player->next.has_message) return false;
  if (player->flow.paused) tb__steps_add(&player->steps);
  return true;
}

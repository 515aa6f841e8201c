/* The range that is played, halting and starting again. */
#include "base/fork.h"
#include "base/sized.h"
#include "play/player.h"

int64_t tb__player_end(const tb_player_range_t *range, int64_t start_ns)
{
  int64_t until_ns = range->playback_until_ns, from_start_ns;
  if (range->playback_duration.ns >= 0 &&
      (__builtin_add_overflow(start_ns, range->playback_duration.ns, &from_start_ns) ||
       from_start_ns > until_ns))
    return start_ns > INT64_MAX - range->playback_duration.ns ? INT64_MAX : from_start_ns;
  return until_ns < 0 ? INT64_MAX : until_ns;
}

void tb__player_set_range_locked(tb_player_t *player, int64_t start_ns, int64_t until_ns)
{
  int64_t end_ns = tb_bag_reader_info(player->feed.reader)->end_ns;
  if (end_ns > until_ns) end_ns = until_ns;
  player->range.start_ns = start_ns;
  player->range.until_ns = until_ns;
  player->range.last_ns = end_ns > start_ns ? end_ns : start_ns;
  player->status.start_ns = start_ns;
  player->status.end_ns = player->range.last_ns;
}

void tb__player_halt_locked(tb_player_t *player)
{
  player->range.halted = true;
  player->range.wants_play = false;
  player->control.wants_seek = false;
  tb__next_drop(&player->next);
  tb__player_end_steps_locked(player);
  tb__player_end_previous_locked(player);
  tb__player_end_repeat_locked(player);
}

void tb_player_halt(tb_player_t *player)
{
  if (tb__is_forked()) return;
  tb__mutex_lock(&player->mutex);
  if (!player->status.finished) tb__player_halt_locked(player);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

static tb_status_t check_range(const tb_player_t *player, const tb_player_range_t *range,
                               int64_t *out_start_ns, tb_error_t *error)
{
  int64_t end_ns = tb_bag_reader_info(player->feed.reader)->end_ns;
  if (range->start_offset.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "start offset %.9f s: must not be negative",
                        (double)range->start_offset.ns / 1e9);
  if (range->start_offset.ns > end_ns - player->first_ns && range->start_offset.ns > 0)
    return tb_error_set(
        error, TB_ERR_RANGE, "start offset %.9f s is beyond the end of the recording, at %.9f s",
        (double)range->start_offset.ns / 1e9, (double)(end_ns - player->first_ns) / 1e9);
  int64_t start_ns = player->first_ns + range->start_offset.ns;
  if (tb__player_end(range, start_ns) < start_ns)
    return tb_error_set(error, TB_ERR_RANGE, "the end is before the start, at %.9f s",
                        (double)start_ns / 1e9);
  *out_start_ns = start_ns;
  return TB_OK;
}

tb_status_t tb_player_play_sized(tb_player_t *player, const tb_player_range_t *range,
                                 size_t range_size, tb_error_t *error)
{
  tb_player_range_t known;
  if (!TB__SIZED_IN(range, range_size, known))
    return tb__sized_unsupported(error, "tb_player_range_t");
  static const tb_player_range_t all = TB_PLAYER_RANGE_INIT;
  if (!range) range = &all;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: cannot be used in a forked child");
  int64_t start_ns = 0;
  tb_status_t status = check_range(player, range, &start_ns, error);
  if (status) return status;
  tb__mutex_lock(&player->mutex);
  bool finished = player->status.finished;
  bool busy = !player->range.halted || player->range.wants_play;
  if (!finished && !busy) {
    tb__player_set_range_locked(player, start_ns, tb__player_end(range, start_ns));
    player->range.wants_play = true;
  }
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  if (finished) return tb_error_set(error, TB_ERR_END, "play: playback has ended");
  return busy ? tb_error_set(error, TB_ERR_BUSY, "play: already playing") : TB_OK;
}

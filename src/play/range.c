/* The range that is played, halting and starting again. */
#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "play/player.h"
#include "value/seconds_text.h"

/* The last time that is played; the later one of the two ends. */
static int64_t end_of(const tb_player_range_t *range, int64_t start_ns)
{
  int64_t until_ns = range->playback_until_ns, duration_ns = range->playback_duration.ns, end_ns;
  if (duration_ns < 0) return until_ns < 0 ? INT64_MAX : until_ns;
  if (duration_ns == 0) return until_ns < start_ns ? TB__FEED_NOTHING : until_ns;
  if (__builtin_add_overflow(start_ns, duration_ns, &end_ns)) return INT64_MAX;
  return end_ns > until_ns ? end_ns : until_ns;
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
  if (!player) return;
  if (tb__is_forked()) return;
  tb__mutex_lock(&player->mutex);
  if (!player->status.finished) tb__player_halt_locked(player);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

tb_status_t tb__player_place_range(const tb_player_t *player, const tb_player_range_t *range,
                                   int64_t *out_start_ns, int64_t *out_until_ns, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  int64_t offset_ns = range->start_offset.ns, length_ns = info->end_ns - player->recording_start_ns;
  if (offset_ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "start offset %s s: must not be negative",
                        tb__seconds_text(offset_ns).text);
  if (offset_ns > length_ns && offset_ns > 0)
    return tb_error_set(error, TB_ERR_RANGE,
                        "%s: start offset %s s is beyond the end of the recording, at most %s s",
                        info->path, tb__seconds_text(offset_ns).text,
                        tb__seconds_text(length_ns > 0 ? length_ns : 0).text);
  int64_t start_ns = player->recording_start_ns + offset_ns, until_ns = end_of(range, start_ns);
  if (until_ns < start_ns && until_ns != TB__FEED_NOTHING)
    return tb_error_set(error, TB_ERR_RANGE,
                        "%s: playback ends at %s s, before it starts at %s s (times since 1970)",
                        info->path, tb__seconds_text(until_ns).text,
                        tb__seconds_text(start_ns).text);
  *out_start_ns = start_ns;
  *out_until_ns = until_ns;
  return TB_OK;
}

tb_status_t tb_player_play_sized(tb_player_t *player, const tb_player_range_t *range,
                                 size_t range_size, tb_error_t *error)
{
  if (!player) return tb__null_argument(error, __func__);
  tb_player_range_t known;
  if (!TB__SIZED_IN(range, range_size, known))
    return tb__sized_unsupported(error, "tb_player_range_t");
  static const tb_player_range_t all = TB_PLAYER_RANGE_INIT;
  if (!range) range = &all;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: cannot be used in a forked child");
  int64_t start_ns = 0, until_ns = 0;
  tb_status_t status = tb__player_place_range(player, range, &start_ns, &until_ns, error);
  if (status) return status;
  tb__mutex_lock(&player->mutex);
  bool finished = player->status.finished;
  bool busy = !player->range.halted || player->range.wants_play;
  if (!finished && !busy) {
    tb__player_set_range_locked(player, start_ns, until_ns);
    player->range.wants_play = true;
  }
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  if (finished) return tb_error_set(error, TB_ERR_END, "play: playback has ended");
  return busy ? tb_error_set(error, TB_ERR_BUSY, "play: already playing") : TB_OK;
}

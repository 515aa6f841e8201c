/* Requests to a player, from any thread. */
#include <math.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "play/player.h"
#include "value/seconds_text.h"

static void unlock_and_nudge(tb_player_t *player) TB_RELEASE(player->mutex);

static void unlock_and_nudge(tb_player_t *player)
{
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

static int64_t now_of(tb_player_t *player)
{
  return player->pacer->now_ns(player->pacer);
}

/* --- pause --- */

static void set_paused_locked(tb_player_t *player, bool paused) TB_REQUIRES(player->mutex);

static void set_paused_locked(tb_player_t *player, bool paused)
{
  if (paused) {
    tb__flow_pause(&player->flow, now_of(player));
  } else {
    tb__player_end_steps_locked(player);
    player->previous.wanted = 0;
    tb__flow_resume(&player->flow, now_of(player));
  }
}

static void set_paused(tb_player_t *player, bool paused)
{
  tb__mutex_lock(&player->mutex);
  set_paused_locked(player, paused);
  unlock_and_nudge(player);
}

void tb_player_pause(tb_player_t *player)
{
  if (!player) return;
  set_paused(player, true);
}

void tb_player_resume(tb_player_t *player)
{
  if (!player) return;
  set_paused(player, false);
}

void tb_player_toggle_paused(tb_player_t *player)
{
  if (!player) return;
  tb__mutex_lock(&player->mutex);
  set_paused_locked(player, !player->flow.paused);
  unlock_and_nudge(player);
}

bool tb_player_is_paused(tb_player_t *player)
{
  if (!player) return false;
  tb__mutex_lock(&player->mutex);
  bool paused = player->flow.paused;
  tb__mutex_unlock(&player->mutex);
  return paused;
}

/* --- rate --- */

tb_status_t tb__player_check_rate(const tb_player_options_t *options, double rate,
                                  tb_error_t *error)
{
  if (rate == TB_PLAYER_FASTEST || (rate >= options->rate_min && rate <= options->rate_max))
    return TB_OK;
  return tb_error_set(error, TB_ERR_RANGE, "rate %g: must be %g to %g, or as fast as possible",
                      rate, options->rate_min, options->rate_max);
}

void tb__player_limit_locked(tb_player_t *player, int64_t now_ns)
{
  bool is_stopped = player->control.fastest || player->range.halted || player->next.starts ||
                    !player->next.has_message;
  int64_t end_ns = player->next.time_ns < player->backpressure.limit_ns
                       ? player->next.time_ns
                       : player->backpressure.limit_ns;
  if (player->repeat.armed && player->repeat.to_ns < end_ns) end_ns = player->repeat.to_ns;
  tb__flow_set_horizon(&player->flow, is_stopped ? TB__TIME_MIN : end_ns, now_ns);
}

static void set_rate_locked(tb_player_t *player, double rate) TB_REQUIRES(player->mutex);

static void set_rate_locked(tb_player_t *player, double rate)
{
  int64_t now_ns = now_of(player);
  tb__flow_hold(&player->flow, now_ns);
  player->control.fastest = rate == TB_PLAYER_FASTEST;
  if (!player->control.fastest) tb__flow_set_rate(&player->flow, rate, now_ns); /* was checked */
  tb__player_limit_locked(player, now_ns);
  player->status.rate = rate;
}

tb_status_t tb_player_set_rate(tb_player_t *player, double rate, tb_error_t *error)
{
  if (!player) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: cannot be used in a forked child");
  tb_status_t status = tb__player_check_rate(&player->options, rate, error);
  if (status) return status;
  tb__mutex_lock(&player->mutex);
  set_rate_locked(player, rate);
  unlock_and_nudge(player);
  return TB_OK;
}

/* What rounding has left of 1 after some multiplications is 1 again. */
static double scaled(const tb_player_options_t *options, double rate, double factor)
{
  rate *= factor;
  if (fabs(rate - 1) < 1e-9) rate = 1;
  if (rate < options->rate_min) return options->rate_min;
  return rate > options->rate_max ? options->rate_max : rate;
}

tb_status_t tb_player_scale_rate(tb_player_t *player, double factor)
{
  if (!player) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (!(factor > 0 && isfinite(factor))) return TB_ERR_RANGE;
  tb__mutex_lock(&player->mutex);
  if (!player->control.fastest)
    set_rate_locked(player, scaled(&player->options, player->status.rate, factor));
  unlock_and_nudge(player);
  return TB_OK;
}

/* --- seek --- */

static tb_status_t seek_error(const tb_player_t *player, int64_t time_ns, int64_t last_ns,
                              tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_RANGE,
                      "seek to %s s: the recording is played from %s s to %s s (times since "
                      "1970)",
                      tb__seconds_text(time_ns).text,
                      tb__seconds_text(player->recording_start_ns).text,
                      tb__seconds_text(last_ns).text);
}

tb_status_t tb_player_seek(tb_player_t *player, int64_t time_ns, tb_error_t *error)
{
  if (!player) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: cannot be used in a forked child");
  tb__mutex_lock(&player->mutex);
  int64_t last_ns = player->range.last_ns;
  bool ended = player->status.finished || (player->range.halted && !player->range.wants_play);
  bool in_range = time_ns >= player->recording_start_ns && time_ns <= last_ns;
  if (!ended && in_range) {
    tb__player_end_steps_locked(player);
    tb__player_end_previous_locked(player);
    player->control.wants_seek = true;
    player->control.seek_ns = time_ns;
  }
  unlock_and_nudge(player);
  if (!in_range) return seek_error(player, time_ns, last_ns, error);
  return ended ? tb_error_set(error, TB_ERR_END, "seek: playback has ended or was halted") : TB_OK;
}

/* --- stop and status --- */

void tb_player_stop(tb_player_t *player)
{
  if (!player) return;
  if (tb__is_forked()) return;
  atomic_store(&player->stopping, true);
  tb__pacer_nudge(player->pacer);
  const tb_play_transport_t *transport = &player->transport;
  if (transport->ops->interrupt) transport->ops->interrupt(transport->self);
}

void tb__player_know_next_locked(tb_player_t *player)
{
  player->next.time_ns = player->message.time_ns;
  player->status.next_topic = player->message.bag.topic;
  player->status.next_file = player->message.bag.file;
}

static void player_status(tb_player_t *player, tb_player_status_t *out)
{
  tb__mutex_lock(&player->mutex);
  int64_t time_ns = tb__flow_time(&player->flow, now_of(player));
  *out = player->status;
  out->position_ns = player->control.wants_seek ? player->control.seek_ns : time_ns;
  out->played_ns += time_ns - player->position.jumped_ns;
  out->repeat_from_ns = player->repeat.from_ns;
  out->repeat_to_ns = player->repeat.to_ns;
  out->next_ns = player->next.has_message ? player->next.time_ns : 0;
  out->paused = player->flow.paused;
  out->halted = player->range.halted && !player->range.wants_play;
  out->starved = player->next.awaits && !player->flow.paused;
  out->running = atomic_load(&player->runner) != 0;
  out->waits_for_clock = atomic_load(&player->pacer->waits);
  out->stopped = atomic_load(&player->stopping);
  tb__mutex_unlock(&player->mutex);
}

void tb_player_status_sized(tb_player_t *player, tb_player_status_t *out, size_t out_size)
{
  if (!player || !out) return;
  tb_player_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  player_status(player, full);
  TB__SIZED_END(TB_OK, out, out_size, full);
}

static tb_status_t player_topic_status(tb_player_t *player, size_t topic,
                                       tb_player_topic_status_t *out)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  if (topic >= info->topic_count) return TB_ERR_NOT_FOUND;
  tb__mutex_lock(&player->mutex);
  *out = player->topics[topic];
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

tb_status_t tb_player_topic_status_sized(tb_player_t *player, size_t topic,
                                         tb_player_topic_status_t *out, size_t out_size)
{
  if (!player || !out) return TB_ERR_INVALID;
  tb_player_topic_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = player_topic_status(player, topic, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

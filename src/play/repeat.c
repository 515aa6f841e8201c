/* A part of the recording that is repeated. */
#include "base/fork.h"
#include "base/null_argument.h"
#include "play/next_step.h"
#include "value/seconds_text.h"

static bool repeat_is_inside_locked(const tb_player_t *player, int64_t from_ns, int64_t to_ns)
    TB_REQUIRES(player->mutex);

static bool repeat_is_inside_locked(const tb_player_t *player, int64_t from_ns, int64_t to_ns)
{
  return from_ns >= player->recording_start_ns && from_ns <= to_ns &&
         to_ns <= player->range.last_ns;
}

static tb_status_t range_error(int64_t from_ns, int64_t to_ns, int64_t first_ns, int64_t last_ns,
                               tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_RANGE,
                      "repeat from %s s to %s s: must lie in order between %s s and %s s "
                      "(times since 1970)",
                      tb__seconds_text(from_ns).text, tb__seconds_text(to_ns).text,
                      tb__seconds_text(first_ns).text, tb__seconds_text(last_ns).text);
}

tb_status_t tb_player_repeat(tb_player_t *player, int64_t from_ns, int64_t to_ns, tb_error_t *error)
{
  if (!player) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: cannot be used in a forked child");
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer), last_ns = player->range.last_ns;
  bool ended = player->status.finished || player->range.halted;
  bool inside = repeat_is_inside_locked(player, from_ns, to_ns);
  if (!ended && inside) {
    player->repeat =
        (tb__repeat_t){.wanted = true, .armed = true, .from_ns = from_ns, .to_ns = to_ns};
    tb__flow_hold(&player->flow, now_ns);
    tb__player_limit_locked(player, now_ns);
  }
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  if (!inside) return range_error(from_ns, to_ns, player->recording_start_ns, last_ns, error);
  return ended ? tb_error_set(error, TB_ERR_END, "repeat: playback has ended or was halted")
               : TB_OK;
}

void tb__player_end_repeat_locked(tb_player_t *player)
{
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  tb__flow_hold(&player->flow, now_ns);
  player->repeat = (tb__repeat_t){.wanted = false};
  tb__player_limit_locked(player, now_ns);
}

void tb_player_end_repeat(tb_player_t *player)
{
  if (!player) return;
  if (tb__is_forked()) return;
  tb__mutex_lock(&player->mutex);
  tb__player_end_repeat_locked(player);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

bool tb__player_repeat_is_empty_locked(const tb_player_t *player)
{
  const tb__repeat_t *repeat = &player->repeat;
  bool none_left =
      !player->next.awaits && (!player->next.has_message || player->next.time_ns > repeat->to_ns);
  return repeat->armed && none_left && player->position.no_message_since_ns <= repeat->from_ns;
}

bool tb__player_is_past_repeat_locked(const tb_player_t *player)
{
  return !player->next.has_message ||
         (!player->message.restored && player->next.time_ns > player->repeat.to_ns);
}

bool tb__player_goes_back_locked(const tb_player_t *player, int64_t now_ns)
{
  bool is_stopped = player->flow.paused && !tb__player_steps_locked(player);
  if (!player->repeat.armed || player->next.awaits || player->range.halted || is_stopped)
    return false;
  if (!tb__player_is_past_repeat_locked(player)) return false;
  return tb__flow_time(&player->flow, now_ns) <= player->backpressure.limit_ns;
}

/* Steps do not wait for a clock that is stopped. */
bool tb__player_repeats_locked(tb_player_t *player, tb__step_t *step)
{
  tb__repeat_t *repeat = &player->repeat;
  bool steps = tb__player_steps_locked(player);
  bool at_once = !player->next.has_message || steps || player->control.fastest;
  int64_t due_ns = at_once ? step->now_ns : tb__flow_reach(&player->flow, repeat->to_ns);
  if (!steps && due_ns < repeat->earliest_ns) due_ns = repeat->earliest_ns;
  if (due_ns > step->now_ns) {
    tb__step_wait_until(&step->deadline_ns, due_ns);
    return false;
  }
  if (repeat->earliest_steady_ns > step->steady_ns) {
    tb__step_wait_until(&step->limit_ns, repeat->earliest_steady_ns);
    return false;
  }
  repeat->earliest_ns = step->now_ns + TB__ROUND_MIN_NS;
  repeat->earliest_steady_ns = step->steady_ns + TB__ROUND_MIN_NS;
  player->status.repeats++;
  if (steps) tb__player_begin_round_of_steps_locked(player);
  tb__next_await(&player->next);
  return true;
}

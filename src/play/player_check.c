#include "play/player_check.h"

#include <math.h>

static const char *check_range_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static const char *check_flow_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static const char *check_requests_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static const char *check_repeat_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static const char *check_steps_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);

static const char *check_range_locked(const tb_player_t *player)
{
  const tb__play_range_t *range = &player->range;
  if (player->recording_start_ns < TB__TIME_MIN) return "the recording starts before all times";
  if (player->first_ns < player->recording_start_ns)
    return "the first message is before the start of the recording";
  if (range->start_ns < player->recording_start_ns) return "the range starts before the recording";
  if (range->last_ns < range->start_ns) return "the range ends before it starts";
  if (range->until_ns < range->start_ns && range->until_ns != TB__FEED_NOTHING)
    return "the range excludes its start";
  if (range->wants_play && !range->halted) return "play is requested of a player that plays";
  if (range->halted && (player->next.has_message || player->next.awaits))
    return "a halted player has a next message";
  if (player->status.start_ns != range->start_ns) return "the status shows another range";
  return NULL;
}

/* Time is in the recording, and never ahead of the next message. */
static const char *check_flow_locked(const tb_player_t *player)
{
  const tb__flow_t *flow = &player->flow;
  int64_t time_ns = tb__flow_time(flow, player->pacer->now_ns(player->pacer));
  if (time_ns < player->recording_start_ns) return "time is before the recording";
  if (time_ns < player->position.jumped_ns) return "time is before the target of the last jump";
  if (player->next.has_message && !player->next.awaits && !player->control.fastest &&
      flow->horizon_ns > time_ns && flow->horizon_ns > player->next.time_ns)
    return "the horizon is after the next message";
  int64_t since_ns = player->position.no_message_since_ns;
  if (since_ns != INT64_MAX && since_ns != player->position.jumped_ns)
    return "messages are missing since a time that was no jump";
  if (player->control.fastest != isinf(player->status.rate)) return "the status shows another rate";
  return NULL;
}

static const char *check_requests_locked(const tb_player_t *player)
{
  const tb__control_t *control = &player->control;
  if (control->wants_seek && player->range.halted && !player->range.wants_play)
    return "a halted player is to seek";
  if (control->wants_seek &&
      (control->seek_ns < player->recording_start_ns || control->seek_ns > player->range.last_ns))
    return "the target of a seek is out of range";
  if (player->previous.wanted > 0 && !player->flow.paused)
    return "a step back is requested while time runs";
  return NULL;
}

static const char *check_repeat_locked(const tb_player_t *player)
{
  const tb__repeat_t *repeat = &player->repeat;
  if (!repeat->wanted) return repeat->armed ? "a repeat that is off is armed" : NULL;
  if (player->range.halted) return "a halted player repeats";
  if (repeat->from_ns > repeat->to_ns) return "a repeat ends before it starts";
  if (repeat->from_ns < player->recording_start_ns || repeat->to_ns > player->range.last_ns)
    return "a repeat is out of range";
  return NULL;
}

static const char *check_steps_locked(const tb_player_t *player)
{
  const tb__steps_t *steps = &player->steps;
  if (tb__steps_are_wanted(steps) && !player->flow.paused)
    return "a step is requested while time runs";
  for (const tb__burst_t *burst = steps->bursts; burst; burst = burst->next) {
    if (burst->done) return "a burst that is done is in the list";
    if (burst->sent >= burst->wanted) return "a burst has sent too much";
    if (burst != steps->bursts && burst->sent > 0) return "bursts are out of order";
  }
  return NULL;
}

const char *tb__player_check_locked(tb_player_t *player)
{
  const char *wrong = check_range_locked(player);
  if (!wrong) wrong = check_flow_locked(player);
  if (!wrong) wrong = check_requests_locked(player);
  if (!wrong) wrong = check_repeat_locked(player);
  if (!wrong) wrong = check_steps_locked(player);
  return wrong;
}

const char *tb__player_check(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  const char *wrong = tb__player_check_locked(player);
  tb__mutex_unlock(&player->mutex);
  if (wrong) return wrong;
  tb__mutex_lock(&player->ahead.mutex);
  wrong = tb__ahead_check_locked(&player->ahead);
  tb__mutex_unlock(&player->ahead.mutex);
  return wrong;
}

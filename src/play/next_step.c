#include "play/next_step.h"

#include "base/saturate.h"

static void hold_if_late_locked(tb_player_t *player, int64_t due_ns, tb__step_t *step)
    TB_REQUIRES(player->mutex);
static void take_tick_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static int64_t due_locked(tb_player_t *player, const tb__step_t *step) TB_REQUIRES(player->mutex);
static bool is_silent_locked(tb_player_t *player, const tb__step_t *step)
    TB_REQUIRES(player->mutex);
static bool take_play_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static bool take_seek_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static bool take_previous_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static bool take_repeat_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static bool take_end_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);
static void end_empty_repeat_locked(tb_player_t *player, tb__step_t *step)
    TB_REQUIRES(player->mutex);
static bool end_empty_round_locked(tb_player_t *player, tb__step_t *step)
    TB_REQUIRES(player->mutex);
static void take_message_locked(tb_player_t *player, tb__step_t *step) TB_REQUIRES(player->mutex);

/* A message is due: if it is too late, time continues from it. */
static void hold_if_late_locked(tb_player_t *player, int64_t due_ns, tb__step_t *step)
{
  int64_t late_ns = step->now_ns - due_ns;
  if (late_ns <= tb__pacer_span_ns(player->pacer, TB__LATE_NS)) return;
  tb__flow_hold(&player->flow, step->now_ns);
  step->late_ns = late_ns;
  step->due_ns = due_ns;
}

static void take_tick_locked(tb_player_t *player, tb__step_t *step)
{
  step->kind = TB__STEP_TICK;
  step->tick = tb__flow_tick(&player->flow, step->now_ns);
}

/* The next message is further away than the options let time pass without one. */
static bool is_silent_locked(tb_player_t *player, const tb__step_t *step)
{
  int64_t most_ns = player->options.skip_silence.ns;
  return most_ns > 0 && tb__sub_saturated(player->next.time_ns,
                                          tb__flow_time(&player->flow, step->now_ns)) > most_ns;
}

/* When the next message is due; time has its value then. */
static int64_t due_locked(tb_player_t *player, const tb__step_t *step)
{
  tb__flow_t *flow = &player->flow;
  if (!player->next.has_message || player->range.halted) return TB__STEADY_NEVER;
  bool stepped = tb__player_steps_locked(player);
  if (flow->anchor_steady_ns > step->now_ns) return flow->anchor_steady_ns; /* a delay */
  if (player->next.time_ns > player->backpressure.limit_ns) return TB__STEADY_NEVER;
  if (player->message.restored) return step->now_ns;
  if (stepped || (!flow->paused && (player->control.fastest || is_silent_locked(player, step)))) {
    tb__flow_skip_to(flow, player->next.time_ns, step->now_ns);
    return step->now_ns;
  }
  return flow->paused ? TB__STEADY_NEVER : tb__flow_reach(flow, player->next.time_ns);
}

static bool take_play_locked(tb_player_t *player, tb__step_t *step)
{
  if (!player->range.halted || !player->range.wants_play) return false;
  player->range.halted = player->range.wants_play = false;
  tb__next_await(&player->next);
  player->next.starts = true;
  step->kind = TB__STEP_PLAY;
  step->seek_ns = player->range.start_ns;
  return true;
}

/* Where nothing takes time, it would only jump. */
static void end_empty_repeat_locked(tb_player_t *player, tb__step_t *step)
{
  bool steps = tb__player_steps_locked(player),
       runs_unpaced = player->control.fastest && !player->flow.paused;
  if ((!steps && !runs_unpaced) || !tb__player_repeat_is_empty_locked(player)) return;
  step->empty_from_ns = player->repeat.from_ns;
  step->empty_to_ns = player->repeat.to_ns;
  step->empty = steps ? "cannot step: no message in the repeated range"
                      : "cannot repeat at rate max: no message in the repeated range";
  tb__player_end_steps_locked(player);
  if (runs_unpaced) tb__player_end_repeat_locked(player);
}

/* False: messages were played in it. */
static bool end_empty_round_locked(tb_player_t *player, tb__step_t *step)
{
  if (player->position.no_message_since_ns > player->range.start_ns) return false;
  if (player->range.until_ns == TB__FEED_NOTHING) return true; /* as asked for */
  step->empty =
      player->options.loop ? "no message in range, nothing to loop" : "no message in range";
  step->empty_from_ns = player->range.start_ns;
  step->empty_to_ns = player->range.last_ns;
  return true;
}

static bool take_end_locked(tb_player_t *player, tb__step_t *step)
{
  if (player->next.has_message || player->next.awaits || player->flow.paused ||
      player->range.halted || player->repeat.armed)
    return false;
  if (tb__flow_time(&player->flow, step->now_ns) > player->backpressure.limit_ns) return false;
  bool last = end_empty_round_locked(player, step) || !player->options.loop;
  if ((player->options.on_demand || player->options.keep_alive) && last) {
    tb__player_halt_locked(player);
    return false;
  }
  step->kind = TB__STEP_END;
  player->status.finished = last; /* too late for a seek */
  return true;
}

static bool take_seek_locked(tb_player_t *player, tb__step_t *step)
{
  if (!player->control.wants_seek) return false;
  player->control.wants_seek = false;
  player->previous.is_reading = false;
  tb__next_await(&player->next);
  step->kind = TB__STEP_SEEK;
  step->seek_ns = player->control.seek_ns;
  return true;
}

static bool take_previous_locked(tb_player_t *player, tb__step_t *step)
{
  if (tb__player_found_previous_locked(player)) {
    step->kind = TB__STEP_BACK;
    step->seek_ns = player->next.time_ns;
    return true;
  }
  if (!tb__player_seeks_previous_locked(player, &step->place)) return false;
  step->kind = TB__STEP_PREVIOUS;
  return true;
}

static bool take_repeat_locked(tb_player_t *player, tb__step_t *step)
{
  if (!tb__player_repeats_locked(player, step)) return false;
  step->kind = TB__STEP_REPEAT;
  step->seek_ns = player->repeat.from_ns;
  return true;
}

static void take_message_locked(tb_player_t *player, tb__step_t *step)
{
  const tb__feed_message_t *message = &player->message;
  step->kind = TB__STEP_MESSAGE;
  step->stepped = !message->restored && tb__player_steps_locked(player);
  if (message->restored) return;
  player->position.last = tb__feed_place_of(&message->bag);
  player->position.no_message_since_ns = INT64_MAX;
}

/* The next message's time is the horizon: it is due when time reaches it. */
void tb__player_choose_step_locked(tb_player_t *player, tb__step_t *step)
{
  tb__flow_t *flow = &player->flow;
  step->now_ns = player->pacer->now_ns(player->pacer);
  step->steady_ns = tb__pacer_steady_ns(player->pacer, step->now_ns);
  tb__player_backpressure_check_locked(player, step);
  if (take_play_locked(player, step) || take_seek_locked(player, step) ||
      take_previous_locked(player, step))
    return;
  end_empty_repeat_locked(player, step);
  tb__player_end_steps_at_end_locked(player);
  bool goes_back = tb__player_goes_back_locked(player, step->now_ns);
  if ((goes_back && take_repeat_locked(player, step)) || take_end_locked(player, step)) return;
  int64_t tick_ns = tb__flow_next_tick(flow);
  int64_t due_ns = goes_back ? TB__STEADY_NEVER : due_locked(player, step);
  if (due_ns <= step->now_ns) {
    hold_if_late_locked(player, due_ns, step);
    if (player->ticks[player->message.bag.topic] && tb__flow_is_behind(flow, step->now_ns)) {
      take_tick_locked(player, step);
    } else {
      take_message_locked(player, step);
    }
  } else if (tick_ns <= step->now_ns) {
    take_tick_locked(player, step);
  } else {
    tb__step_wait_until(&step->deadline_ns, due_ns);
    tb__step_wait_until(&step->deadline_ns, tick_ns);
  }
}

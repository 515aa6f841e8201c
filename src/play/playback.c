/* Playing: one loop that asks the flow of time what is due, and waits in steady time. */
#include <stdio.h>

#include "base/fork.h"
#include "base/log.h"
#include "play/player.h"

#define SETTLE_LIMIT    ((tb_duration_t){TB_NS_PER_S})
#define FLUSH_LIMIT     ((tb_duration_t){TB_NS_PER_S})
#define REPORT_EVERY_NS (10 * TB_NS_PER_S)

typedef enum step_kind {
  STEP_WAIT,
  STEP_TICK,
  STEP_MESSAGE,
  STEP_STOP,
} step_kind_t;

typedef struct step {
  step_kind_t kind;
  uint32_t events; /* WAIT */
  int64_t deadline_ns;
  tb__tick_t tick;
  int64_t now_ns;
  int64_t late_ns; /* more than TB__LATE_NS, or 0 */
} step_t;

static int64_t earlier(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void hold_if_late_locked(tb_player_t *player, int64_t due_ns, step_t *step)
    TB_REQUIRES(player->mutex);
static void take_tick_locked(tb_player_t *player, step_t *step) TB_REQUIRES(player->mutex);

/* A message that is due: if it comes too late, time goes on from it. */
static void hold_if_late_locked(tb_player_t *player, int64_t due_ns, step_t *step)
{
  int64_t late_ns = step->now_ns - due_ns;
  if (late_ns <= TB__LATE_NS) return;
  tb__flow_hold(&player->flow, step->now_ns);
  player->status.late++;
  step->late_ns = late_ns;
}

static void take_tick_locked(tb_player_t *player, step_t *step)
{
  step->kind = STEP_TICK;
  step->tick = tb__flow_tick(&player->flow, step->now_ns);
}

/* What there is to do now. The next message's time is the horizon: it is due when time is there. */
static step_t next_step(tb_player_t *player)
{
  step_t step = {.kind = STEP_WAIT, .events = tb__pacer_events(player->pacer)};
  if (atomic_load(&player->stopping)) {
    step.kind = STEP_STOP;
    return step;
  }
  bool has_clock = player->options.clock_hz > 0;
  tb__mutex_lock(&player->mutex);
  tb__flow_t *flow = &player->flow;
  step.now_ns = player->pacer->now_ns(player->pacer);
  int64_t tick_ns = tb__flow_next_tick(flow);
  int64_t due_ns =
      flow->paused ? TB__STEADY_NEVER : tb__flow_reach(flow, tb__feed_time(&player->message));
  if (due_ns <= step.now_ns) {
    hold_if_late_locked(player, due_ns, &step);
    if (has_clock && tb__flow_is_behind(flow, step.now_ns))
      take_tick_locked(player, &step);
    else
      step.kind = STEP_MESSAGE;
  } else if (tick_ns <= step.now_ns) {
    take_tick_locked(player, &step);
  } else {
    step.deadline_ns = earlier(due_ns, tick_ns);
  }
  tb__mutex_unlock(&player->mutex);
  return step;
}

static void report_late(tb_player_t *player, const step_t *step)
{
  if (player->late_report_ns > 0 && step->now_ns - player->late_report_ns < REPORT_EVERY_NS) return;
  player->late_report_ns = step->now_ns;
  tb__log(TB_LOG_WARN,
          "a message was ready %lld ms too late: the recording is read, or messages are sent, more "
          "slowly than they are played; time was held back",
          (long long)(step->late_ns / TB_NS_PER_MS));
}

static tb_status_t send_tick(tb_player_t *player, const tb__tick_t *tick, tb_error_t *error)
{
  const tb_tick_sink_t *sink = &player->transport.clock;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = sink->tick(sink->self, tick->time_ns, tick->reason, &detail);
  if (status != TB_OK)
    return tb_error_set(error, status, "/clock: %s",
                        detail.text[0] ? detail.text : tb_status_message(status));
  tb__mutex_lock(&player->mutex);
  player->status.ticks++;
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

static tb_status_t send_message(tb_player_t *player, tb_error_t *error)
{
  const tb_bag_message_t *message = &player->message;
  const tb_bag_topic_t *topic = &tb_bag_reader_info(player->feed.reader)->topics[message->topic];
  tb_error_t detail = TB_ERROR_INIT;
  char text[TB_ERROR_TEXT_SIZE];
  tb_status_t status =
      player->transport.ops->publish(player->transport.self, player->handles[message->topic],
                                     message->data, message->size, &detail);
  if (status == TB_OK) {
    tb__mutex_lock(&player->mutex);
    player->status.messages++;
    tb__mutex_unlock(&player->mutex);
    return TB_OK;
  }
  snprintf(text, sizeof text, "topic %.200s: %.250s", topic->name,
           detail.text[0] ? detail.text : tb_status_message(status));
  if (status != TB_ERR_INVALID) return tb_error_set(error, status, "%s", text);
  tb__feed_reject(&player->feed, status, text);
  return TB_OK;
}

/* False at the end. Time may run on to the message that was found. */
static bool fetch(tb_player_t *player)
{
  int64_t last_ns = tb__feed_time(&player->message);
  bool more = tb__feed_next(&player->feed, &player->message);
  tb__mutex_lock(&player->mutex);
  player->status.bad_rows = player->feed.bad_rows;
  if (more)
    tb__flow_set_horizon(&player->flow, tb__feed_time(&player->message),
                         player->pacer->now_ns(player->pacer));
  else
    player->status.end_ns = last_ns;
  tb__mutex_unlock(&player->mutex);
  return more;
}

/* The first message is there: time starts now, and the first tick is the start exactly. */
static tb_status_t begin_round(tb_player_t *player, tb_jump_reason_t reason, tb_error_t *error)
{
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  if (reason == TB_JUMP_REASON_LOOP)
    player->status.loops++;
  else
    tb__flow_set_tick_rate(&player->flow, player->options.clock_hz, now_ns);
  tb__flow_jump(&player->flow, player->start_ns, reason, now_ns);
  tb__flow_set_horizon(&player->flow, tb__feed_time(&player->message), now_ns);
  player->round_start_ns = now_ns;
  tb__tick_t tick = tb__flow_tick(&player->flow, now_ns);
  tb__mutex_unlock(&player->mutex);
  return player->options.clock_hz > 0 ? send_tick(player, &tick, error) : TB_OK;
}

/* Until the last message is sent, or a stop. */
static tb_status_t play_round(tb_player_t *player, tb_jump_reason_t reason, tb_error_t *error)
{
  tb_status_t status = begin_round(player, reason, error);
  while (status == TB_OK) {
    step_t step = next_step(player);
    if (step.late_ns > 0) report_late(player, &step);
    switch (step.kind) {
    case STEP_STOP:
      return TB_OK;
    case STEP_WAIT:
      player->pacer->wait(player->pacer, step.events, step.deadline_ns);
      break;
    case STEP_TICK:
      status = send_tick(player, &step.tick, error);
      break;
    case STEP_MESSAGE:
      status = send_message(player, error);
      if (status == TB_OK && !fetch(player)) return TB_OK;
    }
  }
  return status;
}

/* True when the first message of another round is there. */
static bool rewind_feed(tb_player_t *player)
{
  tb__pacer_t *pacer = player->pacer;
  tb_bag_reader_seek(player->feed.reader, player->start_ns);
  if (!tb__feed_next(&player->feed, &player->message)) return false;
  int64_t start_ns = player->round_start_ns + TB__ROUND_MIN_NS;
  while (!atomic_load(&player->stopping)) {
    uint32_t events = tb__pacer_events(pacer);
    if (pacer->now_ns(pacer) >= start_ns) return true;
    if (!atomic_load(&player->stopping)) pacer->wait(pacer, events, start_ns);
  }
  return false;
}

static tb_status_t play_rounds(tb_player_t *player, tb_error_t *error)
{
  if (atomic_load(&player->stopping)) return TB_OK;
  tb_status_t status = play_round(player, TB_JUMP_REASON_TICK, error);
  while (status == TB_OK && player->options.loop && !atomic_load(&player->stopping) &&
         rewind_feed(player))
    status = play_round(player, TB_JUMP_REASON_LOOP, error);
  return status;
}

static tb_status_t flush(tb_player_t *player, tb_error_t *error)
{
  const tb_play_transport_t *transport = &player->transport;
  if (!transport->ops->flush) return TB_OK;
  tb_status_t status = transport->ops->flush(transport->self, FLUSH_LIMIT, error);
  if (status != TB_ERR_TIMEOUT) return status;
  tb__log(TB_LOG_WARN, "some subscriptions have not acknowledged all messages in time");
  return TB_OK;
}

static void finish(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  tb__flow_set_horizon(&player->flow, TB__TIME_MIN, now_ns); /* time stands */
  player->status.finished = true;
  tb__mutex_unlock(&player->mutex);
}

tb_status_t tb_player_run(tb_player_t *player, tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: %s", tb_status_message(TB_ERR_FORKED));
  if (atomic_exchange(&player->started, true))
    return tb_error_set(error, TB_ERR_INVALID, "this player has played already: create another");
  const tb_play_transport_t *transport = &player->transport;
  tb_status_t status = TB_OK;
  if (transport->ops->settle && !atomic_load(&player->stopping))
    status = transport->ops->settle(transport->self, SETTLE_LIMIT, error);
  if (status == TB_OK) status = play_rounds(player, error);
  if (status == TB_OK) status = flush(player, error);
  finish(player);
  return status;
}

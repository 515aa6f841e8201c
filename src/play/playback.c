/* Playing: one loop that does one step after the other, and waits in the time of its pacer. */
#include <pthread.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "play/next_step.h"
#include "value/seconds_text.h"
#include "wait/end_watch.h"

#define SETTLE_LIMIT         ((tb_duration_t){TB_NS_PER_S})
#define NO_LIMIT_NS          (INT64_MAX / 4)
#define REPORT_EVERY_NS      (10 * TB_NS_PER_S)
#define SUSPENSION_COUNTS_NS (2 * TB_NS_PER_S)

static void set_next_locked(tb_player_t *player, tb__ahead_result_t result)
    TB_REQUIRES(player->mutex);

/* The message is known, or that there is none: time may run on to it. While halted there is none,
 * whatever was read. */
static void set_next_locked(tb_player_t *player, tb__ahead_result_t result)
{
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  player->status.bad_rows = atomic_load(&player->ahead.bad_rows) + player->sending.rejects.count;
  player->next.has_message = result == TB__AHEAD_MESSAGE && !player->range.halted;
  player->next.awaits = result == TB__AHEAD_WAIT && !player->range.halted;
  if (player->next.has_message) tb__player_know_next_locked(player);
  if (player->next.has_message && player->next.starts) {
    tb__flow_hold(&player->flow, now_ns);
    player->next.starts = false;
  }
  if (result == TB__AHEAD_END && !player->range.halted) {
    if (player->sending.sent_ns > 0) player->status.end_ns = player->sending.sent_ns;
  }
  tb__player_limit_locked(player, now_ns);
}

static void fetch(tb_player_t *player, bool stepped)
{
  tb__ahead_result_t result = tb__ahead_next(&player->ahead, &player->message);
  tb__mutex_lock(&player->mutex);
  if (stepped) tb__player_count_step_locked(player);
  set_next_locked(player, result);
  tb__mutex_unlock(&player->mutex);
}

static bool is_awaited(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  bool awaits = player->next.awaits;
  tb__mutex_unlock(&player->mutex);
  return awaits;
}

static tb_status_t next_step(tb_player_t *player, tb__step_t *out, tb_error_t *error)
{
  *out = (tb__step_t){.kind = TB__STEP_WAIT,
                      .events = tb__pacer_events(player->pacer),
                      .deadline_ns = TB__STEADY_NEVER,
                      .limit_ns = TB__STEADY_NEVER};
  if (atomic_load(&player->stopping)) {
    out->kind = TB__STEP_STOP;
    return TB_OK;
  }
  tb_status_t status = tb__player_backpressure_poll(player, error);
  if (status) return status;
  if (is_awaited(player)) fetch(player, false);
  tb__mutex_lock(&player->mutex);
  tb__player_choose_step_locked(player, out);
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

/* On a clock, which others move on meanwhile, what comes soon after it. */
static bool was_suspended(tb_player_t *player, const tb__step_t *step)
{
  tb__suspension_t *suspension = &player->playback.suspension;
  if (!player->playback.watches_suspension) return false;
  int64_t steady_ns = step->steady_ns;
  if (player->clock_pacer)
    return tb__suspension_within(suspension, steady_ns - SUSPENSION_COUNTS_NS, steady_ns) > 0;
  int64_t suspended_ns = tb__suspension_within(suspension, step->due_ns, step->now_ns);
  return step->late_ns - suspended_ns <= TB__LATE_NS;
}

/* Time is held back in any case; but nothing was slow if nothing could run. */
static void count_late(tb_player_t *player, const tb__step_t *step)
{
  if (was_suspended(player, step)) return;
  tb__mutex_lock(&player->mutex);
  player->status.late++;
  tb__mutex_unlock(&player->mutex);
  int64_t last_ns = player->playback.late_report_ns;
  if (last_ns > 0 && step->steady_ns - last_ns < REPORT_EVERY_NS) return;
  player->playback.late_report_ns = step->steady_ns;
  tb__log(TB_LOG_WARN,
          "playback fell %lld ms behind: %sreading or sending is too slow for this rate; time was "
          "held back",
          (long long)(step->late_ns / TB_NS_PER_MS),
          player->options.clock ? "the clock has jumped ahead, or " : "");
}

static void report_empty(const tb__step_t *step)
{
  tb__log(TB_LOG_WARN, "player: no message from %s s to %s s (times since 1970): %s",
          tb__seconds_text(step->empty_from_ns).text, tb__seconds_text(step->empty_to_ns).text,
          step->empty);
}

/* Time continues from `time_ns` after `delay_ns`, with the message after the jump; the first tick
 * is exactly that time. */
static tb_status_t jump(tb_player_t *player, int64_t time_ns, tb_jump_reason_t reason,
                        int64_t delay_ns, tb_error_t *error)
{
  tb__player_backpressure_jump(player, time_ns);
  tb_status_t status = tb__player_backpressure_poll(player, error);
  if (status) return status;
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  tb__flow_t *flow = &player->flow;
  player->status.played_ns += tb__flow_time(flow, now_ns) - player->position.jumped_ns;
  player->position.jumped_ns = time_ns;
  player->position.last = (tb__feed_place_t){time_ns, TB__NO_FILE, 0};
  player->position.no_message_since_ns = time_ns;
  player->repeat.armed = player->repeat.wanted && time_ns <= player->repeat.to_ns;
  tb__flow_jump(flow, time_ns, reason, now_ns);
  player->next.starts = player->next.awaits;
  tb__player_limit_locked(player, now_ns);
  if (delay_ns > NO_LIMIT_NS) delay_ns = NO_LIMIT_NS;
  if (delay_ns > 0) tb__flow_restart(flow, now_ns, now_ns + delay_ns, flow->next_tick_ns);
  bool ticks = player->options.clock_hz > 0;
  tb__tick_t tick = {0};
  if (ticks) tick = tb__flow_tick(flow, now_ns);
  tb__mutex_unlock(&player->mutex);
  return ticks ? tb__player_send_tick(player, &tick, error) : TB_OK;
}

static int64_t start_of(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  int64_t start_ns = player->range.start_ns;
  tb__mutex_unlock(&player->mutex);
  return start_ns;
}

static tb_status_t begin_round(tb_player_t *player, tb_jump_reason_t reason, tb_error_t *error)
{
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  if (reason == TB_JUMP_REASON_LOOP)
    player->status.loops++;
  else
    tb__flow_set_tick_rate(&player->flow, player->options.clock_hz, now_ns);
  tb__mutex_unlock(&player->mutex);
  player->playback.round_start_ns = now_ns;
  player->playback.round_steady_ns = tb__pacer_steady_ns(player->pacer, now_ns);
  return jump(player, start_of(player), reason, player->options.delay.ns, error);
}

/* What is read next, up to the end. */
static void read_target(tb_player_t *player, tb__ahead_target_t target)
{
  tb__mutex_lock(&player->mutex);
  target.until_ns = player->range.until_ns;
  tb__mutex_unlock(&player->mutex);
  tb__sending_restart(&player->sending);
  tb__ahead_seek(&player->ahead, target);
}

/* After the first message, with the state there first. */
static void read_from(tb_player_t *player, int64_t time_ns)
{
  read_target(player,
              (tb__ahead_target_t){.time_ns = time_ns, .restore = time_ns > player->first_ns});
}

static tb_status_t seek(tb_player_t *player, const tb__step_t *step, tb_error_t *error)
{
  read_from(player, step->seek_ns);
  fetch(player, false);
  int64_t delay_ns = step->kind == TB__STEP_PLAY ? player->options.delay.ns : 0;
  tb_jump_reason_t reason =
      step->kind == TB__STEP_REPEAT ? TB_JUMP_REASON_LOOP : TB_JUMP_REASON_SEEK;
  return jump(player, step->seek_ns, reason, delay_ns, error);
}

static tb_status_t send_next(tb_player_t *player, bool is_step, tb_error_t *error)
{
  bool sent = false;
  tb_status_t status = tb__player_send_message(player, &sent, error);
  if (!status) status = tb__player_backpressure_poll(player, error); /* before time runs on */
  if (!status) fetch(player, is_step && sent);
  return status;
}

/* Until the last message is sent, or a stop. */
static tb_status_t play_round(tb_player_t *player, tb_jump_reason_t reason, tb_error_t *error)
{
  tb_status_t status = begin_round(player, reason, error);
  while (!status) {
    tb__step_t step;
    status = next_step(player, &step, error);
    if (status) break;
    if (step.late_ns > 0) count_late(player, &step);
    if (step.empty) report_empty(&step);
    if (step.names) tb__player_backpressure_describe(player, step.steady_ns);
    if (step.kind != TB__STEP_MESSAGE) tb__player_send_kept(player);
    switch (step.kind) {
    case TB__STEP_STOP:
      return TB_OK;
    case TB__STEP_WAIT:
      player->pacer->wait(player->pacer, step.events, step.deadline_ns, step.limit_ns);
      break;
    case TB__STEP_TICK:
      status = tb__player_send_tick(player, &step.tick, error);
      break;
    case TB__STEP_MESSAGE:
      status = send_next(player, step.stepped, error);
      break;
    case TB__STEP_SEEK:
    case TB__STEP_PLAY:
    case TB__STEP_REPEAT:
      status = seek(player, &step, error);
      break;
    case TB__STEP_PREVIOUS:
      read_target(player, (tb__ahead_target_t){.before = true, .place = step.place});
      break;
    case TB__STEP_BACK:
      status = jump(player, step.seek_ns, TB_JUMP_REASON_SEEK, 0, error);
      break;
    case TB__STEP_END:
      return TB_OK;
    }
  }
  return status;
}

static bool is_finished(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  bool finished = player->status.finished;
  tb__mutex_unlock(&player->mutex);
  return finished;
}

/* On a clock the end of the round may be far off: what others want does not wait for it. */
static bool is_disturbed(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  bool disturbed = player->control.wants_seek || player->range.halted || player->flow.paused;
  tb__mutex_unlock(&player->mutex);
  return disturbed;
}

/* False: there is no other round. */
static bool rewind_feed(tb_player_t *player)
{
  tb__pacer_t *pacer = player->pacer;
  if (is_finished(player)) return false;
  read_from(player, start_of(player));
  fetch(player, false);
  int64_t start_ns = player->playback.round_start_ns + TB__ROUND_MIN_NS;
  int64_t start_steady_ns = player->playback.round_steady_ns + TB__ROUND_MIN_NS;
  while (!atomic_load(&player->stopping)) {
    uint32_t events = tb__pacer_events(pacer);
    int64_t now_ns = pacer->now_ns(pacer);
    bool early = now_ns < start_ns;
    if (is_disturbed(player)) return true;
    if (!early && tb__pacer_steady_ns(pacer, now_ns) >= start_steady_ns) return true;
    if (atomic_load(&player->stopping)) return false;
    if (early)
      pacer->wait(pacer, events, start_ns, TB__STEADY_NEVER);
    else
      pacer->wait(pacer, events, TB__STEADY_NEVER, start_steady_ns);
  }
  return false;
}

/* The first message, which was read at creation, is read again. */
static tb_status_t start_reading(tb_player_t *player, tb_error_t *error)
{
  tb__ahead_t *ahead = &player->ahead;
  int64_t start_ns = start_of(player);
  bool from_offset = start_ns > player->first_ns;
  if (ahead->max_messages > 0 && !from_offset) /* met again */
    player->feed.rejects.count = player->feed.short_count = 0;
  tb__ahead_target_t target = {.time_ns = from_offset ? start_ns : INT64_MIN,
                               .until_ns = player->feed.until_ns,
                               .restore = from_offset};
  tb_status_t status = tb__ahead_start(ahead, target);
  if (status) return tb_error_set(error, status, "player: cannot create a thread to read ahead");
  if (ahead->running) fetch(player, false);
  return TB_OK;
}

/* Until the time that it is played in has started. False: stopped. */
static bool await_time(tb_player_t *player)
{
  tb__pacer_t *pacer = player->pacer;
  for (;;) {
    uint32_t events = tb__pacer_events(pacer);
    if (atomic_load(&player->stopping)) return false;
    if (!atomic_load(&pacer->waits)) return true;
    pacer->wait(pacer, events, TB__STEADY_NEVER, TB__STEADY_NEVER);
  }
}

static tb_status_t play_rounds(tb_player_t *player, tb_error_t *error)
{
  if (!await_time(player)) return TB_OK;
  tb_status_t status = start_reading(player, error);
  if (!status) status = play_round(player, TB_JUMP_REASON_TICK, error);
  while (!status && !atomic_load(&player->stopping) && rewind_feed(player))
    status = play_round(player, TB_JUMP_REASON_LOOP, error);
  return status;
}

static tb_status_t flush(tb_player_t *player, tb_error_t *error)
{
  const tb_play_transport_t *transport = &player->transport;
  if (!transport->ops->flush) return TB_OK;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = transport->ops->flush(transport->self, player->options.ack_limit, &detail);
  if (!status) return TB_OK;
  const char *text = detail.text[0] ? detail.text : tb_status_message(status);
  if (status != TB_ERR_TIMEOUT) return tb_error_set(error, status, "%s", text);
  tb__log(TB_LOG_WARN, "player: not everything was acknowledged in time: %s", text);
  return TB_OK;
}

static void finish(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  tb__flow_set_horizon(&player->flow, TB__TIME_MIN, now_ns); /* time is stopped */
  player->status.finished = true;
  player->status.waits_for[0] = '\0';
  tb__player_end_steps_locked(player);
  tb__mutex_unlock(&player->mutex);
}

static tb_status_t watch_suspension(tb_player_t *player, tb_error_t *error)
{
  if (player->pacer != &player->own_pacer && player->pacer != player->clock_pacer) return TB_OK;
  tb_status_t status = tb__suspension_start(&player->playback.suspension);
  player->playback.watches_suspension = !status;
  return !status ? TB_OK : tb_error_set(error, status, "player: cannot create a thread");
}

static void stop(void *user)
{
  tb_player_stop(user);
}

static tb_status_t watch_end(tb_player_t *player, const tb_wait_options_t *options,
                             tb__end_watch_t **out, tb_error_t *error)
{
  tb_clock_t *clock = options && options->clock ? options->clock : player->options.clock;
  tb_status_t status = tb__end_watch_start(clock, options, stop, player, out);
  return !status ? TB_OK : tb_error_set(error, status, "player: %s", tb_status_message(status));
}

static tb_status_t run(tb_player_t *player, tb_error_t *error)
{
  atomic_store(&player->runner, (uintptr_t)pthread_self());
  const tb_play_transport_t *transport = &player->transport;
  tb_status_t status = watch_suspension(player, error);
  tb__player_backpressure_watch(player, true);
  if (!status && transport->ops->settle && !atomic_load(&player->stopping))
    status = transport->ops->settle(transport->self, SETTLE_LIMIT, error);
  if (!status) status = play_rounds(player, error);
  if (!status) status = flush(player, error);
  tb__player_backpressure_watch(player, false);
  finish(player);
  tb__ahead_stop(&player->ahead);
  if (player->playback.watches_suspension) tb__suspension_end(&player->playback.suspension);
  player->playback.watches_suspension = false;
  atomic_store(&player->runner, 0);
  return status;
}

static tb_status_t run_again_error(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID, "this player has already played: create another");
}

tb_status_t tb_player_run_sized(tb_player_t *player, const tb_wait_options_t *options,
                                size_t options_size, tb_error_t *error)
{
  if (!player) return tb__null_argument(error, __func__);
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__end_watch_t *watch = NULL;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player: %s", tb_status_message(TB_ERR_FORKED));
  if (player->options.clock && tb__thread_may_not_wait())
    return tb_error_set(error, TB_ERR_DEADLOCK,
                        "player: its clock does not advance during this call");
  if (atomic_exchange(&player->started, true)) return run_again_error(error);
  tb_status_t status = watch_end(player, options, &watch, error);
  if (status) {
    atomic_store(&player->started, false);
    return status;
  }
  status = run(player, error);
  tb_status_t ended = tb__end_watch_stop(watch);
  if (status || !ended) return status;
  return tb_error_set(error, ended, "player: playback was ended: %s", tb_status_message(ended));
}

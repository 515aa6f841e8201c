#include "play/backpressure.h"

#include <string.h>
#include <timebase/text.h>

#include "base/log.h"
#include "play/next_step.h"

#define NAME_EVERY_NS TB_NS_PER_S
#define LOG_EVERY_NS  (10 * TB_NS_PER_S)

static int64_t held_from_locked(const tb_player_t *player, int64_t now_ns)
    TB_REQUIRES(player->mutex);
static void end_hold_locked(tb_player_t *player, int64_t now_ns) TB_REQUIRES(player->mutex);
static void set_limit_locked(tb_player_t *player, int64_t limit_ns) TB_REQUIRES(player->mutex);

static void wake(void *user)
{
  tb__pacer_nudge(((tb_player_t *)user)->pacer);
}

void tb__player_backpressure_watch(tb_player_t *player, bool watches)
{
  const tb_play_transport_t *transport = &player->transport;
  if (!transport->ops->limit) return;
  transport->ops->watch_limit(transport->self, watches ? wake : NULL, player);
}

void tb__player_backpressure_message(tb_player_t *player)
{
  const tb_play_transport_t *transport = &player->transport;
  if (!transport->ops->limit || player->message.restored) return;
  transport->ops->set_time(transport->self, player->message.time_ns, false);
}

void tb__player_backpressure_jump(tb_player_t *player, int64_t time_ns)
{
  const tb_play_transport_t *transport = &player->transport;
  if (transport->ops->limit) transport->ops->set_time(transport->self, time_ns, true);
}

/* If time was stopped at the limit, the hold ends. */
static void end_hold_locked(tb_player_t *player, int64_t now_ns)
{
  tb__flow_t *flow = &player->flow;
  if (tb__flow_time(flow, now_ns) < player->backpressure.limit_ns) return;
  int64_t from_ns = tb__flow_reach(flow, player->backpressure.limit_ns);
  if (from_ns < player->backpressure.set_ns) from_ns = player->backpressure.set_ns;
  tb__flow_hold_since(flow, from_ns, now_ns);
}

static void set_limit_locked(tb_player_t *player, int64_t limit_ns)
{
  if (limit_ns == player->backpressure.limit_ns) return;
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  end_hold_locked(player, now_ns);
  player->backpressure.set_ns = now_ns;
  player->backpressure.limit_ns = limit_ns;
  tb__player_limit_locked(player, now_ns);
}

tb_status_t tb__player_backpressure_poll(tb_player_t *player, tb_error_t *error)
{
  const tb_play_transport_t *transport = &player->transport;
  if (!transport->ops->limit) return TB_OK;
  int64_t limit_ns = TB_PLAY_NO_LIMIT;
  tb_status_t status = transport->ops->limit(transport->self, &limit_ns, error);
  if (status) return status;
  tb__mutex_lock(&player->mutex);
  set_limit_locked(player, limit_ns);
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

/* The first steady instant at which only the limit blocks the player. */
static int64_t held_from_locked(const tb_player_t *player, int64_t now_ns)
{
  const tb__flow_t *flow = &player->flow;
  bool steps = tb__player_steps_locked(player);
  if (player->range.halted || player->next.awaits || (flow->paused && !steps))
    return TB__STEADY_NEVER;
  int64_t time_ns = tb__flow_time(flow, now_ns);
  if (!player->next.has_message)
    return time_ns > player->backpressure.limit_ns ? now_ns : TB__STEADY_NEVER;
  if (player->next.time_ns <= player->backpressure.limit_ns) return TB__STEADY_NEVER;
  bool is_stopped = player->control.fastest || steps || time_ns >= player->backpressure.limit_ns;
  return is_stopped ? now_ns : tb__flow_reach(flow, player->backpressure.limit_ns);
}

void tb__player_backpressure_check_locked(tb_player_t *player, tb__step_t *step)
{
  tb__backpressure_t *backpressure = &player->backpressure;
  int64_t from_ns = held_from_locked(player, step->now_ns);
  if (from_ns > step->now_ns) {
    backpressure->holds = false;
    player->status.waits_for[0] = '\0';
    tb__step_wait_until(&step->deadline_ns, from_ns);
    return;
  }
  step->names = backpressure->holds && step->steady_ns >= backpressure->next_name_ns;
  if (!backpressure->holds || step->names)
    backpressure->next_name_ns = step->steady_ns + NAME_EVERY_NS;
  backpressure->holds = true;
  tb__step_wait_until(&step->limit_ns, backpressure->next_name_ns);
}

void tb__player_backpressure_describe(tb_player_t *player, int64_t steady_ns)
{
  char name[TB_PLAYER_WAITS_FOR_SIZE] = "", text[TB_PLAYER_WAITS_FOR_SIZE] = "";
  tb__backpressure_t *backpressure = &player->backpressure;
  const tb_play_transport_t *transport = &player->transport;
  transport->ops->name_holder(transport->self, name, sizeof name);
  tb_text_escape(name, text, sizeof text);
  tb__mutex_lock(&player->mutex);
  memcpy(player->status.waits_for, text, sizeof text);
  tb__mutex_unlock(&player->mutex);
  if (backpressure->was_logged && steady_ns - backpressure->log_ns < LOG_EVERY_NS) return;
  backpressure->was_logged = true;
  backpressure->log_ns = steady_ns;
  tb__log(TB_LOG_WARN, TB_PLAYER_WAITS_FOR_LOG "%s", text);
}

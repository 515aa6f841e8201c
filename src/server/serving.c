/* Serving: one loop that takes the ticks that are due from the flow of time, sends them, and waits
 * in steady time. */
#include "base/fork.h"
#include "server/clock_server.h"

#define FAR_AHEAD (INT64_MAX / 2) /* for a flow that does not wait */

typedef enum turn_kind {
  TURN_WAIT,
  TURN_TICK,
  TURN_END, /* end_ns was reached, or a stop */
} turn_kind_t;

typedef struct turn {
  turn_kind_t kind;
  uint32_t events;     /* WAIT */
  int64_t deadline_ns; /* steady */
  tb__tick_t tick;
} turn_t;

static int64_t earlier(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The latest instant of the grid that is not after now, or the next one. */
static int64_t latest_on_grid(const tb__flow_t *flow, int64_t now_ns)
{
  int64_t next_ns = flow->next_tick_ns;
  if (next_ns >= now_ns) return next_ns;
  return now_ns - (now_ns - next_ns) % flow->tick_period_ns;
}

/* The step has reached its target: time is stopped, and ticks repeat it from now on. */
static void land_locked(tb_clock_server_t *server, int64_t now_ns) TB_REQUIRES(server->mutex)
{
  server->stepping = false;
  server->landing = server->step;
  tb__flow_pause(&server->flow, server->at_ns);
  tb__clock_server_limit_locked(server);
  tb__clock_server_restart_locked(server, now_ns);
}

static void take_tick_locked(tb_clock_server_t *server, int64_t now_ns, int64_t reach_ns,
                             turn_t *turn) TB_REQUIRES(server->mutex)
{
  /* X9: on the grid; missed ticks are left out, except in a step or as fast as possible */
  tb__flow_t *flow = &server->flow;
  bool keeps_every_tick = server->stepping || (server->fast && !flow->paused);
  int64_t grid_ns = keeps_every_tick ? flow->next_tick_ns : latest_on_grid(flow, now_ns);
  server->at_ns = earlier(grid_ns, reach_ns);
  server->tick_now = false;
  turn->kind = TURN_TICK;
  turn->tick = tb__flow_tick(flow, server->at_ns);
  int64_t time_ns = turn->tick.time_ns;
  tb__factor_meter_add(&server->meter, (tb__meter_point_t){now_ns, time_ns});
  if (time_ns >= server->end_ns) server->ended = true;
  if (server->stepping && time_ns >= server->target_ns)
    land_locked(server, now_ns);
  else if (server->at_ns > FAR_AHEAD)
    tb__clock_server_restart_locked(server, now_ns);
}

static void take_turn_locked(tb_clock_server_t *server, turn_t *turn) TB_REQUIRES(server->mutex)
{
  const tb__flow_t *flow = &server->flow;
  int64_t now_ns = tb__clock_server_now(server);
  int64_t reach_ns = flow->paused ? TB__STEADY_NEVER : tb__flow_reach(flow, flow->horizon_ns);
  int64_t due_ns = earlier(tb__flow_next_tick(flow), reach_ns);
  bool waits = !server->fast || flow->paused || server->tick_now;
  if (server->ended)
    turn->kind = TURN_END;
  else if (waits && due_ns > now_ns)
    turn->deadline_ns = due_ns;
  else
    take_tick_locked(server, now_ns, reach_ns, turn);
}

static turn_t next_turn(tb_clock_server_t *server)
{
  turn_t turn = {.kind = TURN_WAIT, .events = tb__pacer_events(server->pacer)};
  if (atomic_load(&server->stopping)) {
    turn.kind = TURN_END;
    return turn;
  }
  tb__mutex_lock(&server->mutex);
  take_turn_locked(server, &turn);
  tb__mutex_unlock(&server->mutex);
  return turn;
}

static tb_status_t send(tb_clock_server_t *server, const tb__tick_t *tick, tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < server->sink_count && !status; i++)
    status = server->sinks[i].tick(server->sinks[i].self, tick->time_ns, tick->reason, &detail);
  tb__mutex_lock(&server->mutex);
  if (!status) server->ticks++;
  if (server->landing)
    tb__clock_server_end_step_locked(server, server->landing, status ? TB_ERR_CANCELLED : TB_OK);
  server->landing = 0;
  tb__mutex_unlock(&server->mutex);
  if (!status) return TB_OK;
  return tb_error_set(error, status, "%s",
                      detail.text[0] ? detail.text : tb_status_message(status));
}

/* The first tick is due at once, and time starts now. */
static void begin(tb_clock_server_t *server)
{
  atomic_store(&server->runner, (uintptr_t)pthread_self());
  tb__mutex_lock(&server->mutex);
  if (!server->begun) {
    server->tick_now = server->begun = true;
    tb__clock_server_restart_locked(server, tb__clock_server_now(server));
  }
  tb__mutex_unlock(&server->mutex);
}

static void finish(tb_clock_server_t *server)
{
  tb__mutex_lock(&server->mutex);
  server->begun = false;
  tb__clock_server_cancel_step_locked(server);
  tb__mutex_unlock(&server->mutex);
  atomic_store(&server->stopping, false);
}

static void leave(tb_clock_server_t *server)
{
  atomic_store(&server->runner, 0);
  atomic_store(&server->serving, false);
}

tb_status_t tb__clock_server_serve(tb_clock_server_t *server, tb_error_t *error)
{
  begin(server);
  tb_status_t status = TB_OK;
  for (turn_t turn = next_turn(server); turn.kind != TURN_END; turn = next_turn(server)) {
    if (turn.kind == TURN_WAIT)
      server->pacer->wait(server->pacer, turn.events, turn.deadline_ns, TB__STEADY_NEVER);
    else if ((status = send(server, &turn.tick, error)) != TB_OK)
      break;
  }
  finish(server);
  leave(server);
  return status;
}

static tb_status_t enter(tb_clock_server_t *server, tb_error_t *error)
{
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "clock server: %s", tb_status_message(TB_ERR_FORKED));
  if (atomic_exchange(&server->serving, true))
    return tb_error_set(
        error, TB_ERR_BUSY,
        "the clock server is being served already, by its thread or another caller");
  return TB_OK;
}

tb_status_t tb_clock_server_run(tb_clock_server_t *server, tb_error_t *error)
{
  if (!server) return tb_error_set(error, TB_ERR_INVALID, "clock server: server is NULL");
  tb_status_t status = enter(server, error);
  return !status ? tb__clock_server_serve(server, error) : status;
}

/* When the next turn is; now if there is no wait. */
static int64_t next_turn_ns(tb_clock_server_t *server, const turn_t *turn)
{
  return turn->kind == TURN_WAIT ? turn->deadline_ns : tb__clock_server_now(server);
}

tb_status_t tb_clock_server_run_due(tb_clock_server_t *server, uint64_t max_ticks,
                                    uint64_t *out_ticks, tb_steady_time_t *out_next,
                                    tb_error_t *error)
{
  if (!server || max_ticks == 0)
    return tb_error_set(error, TB_ERR_INVALID, "clock server: the server is NULL, or max_ticks 0");
  tb_status_t status = enter(server, error);
  if (status) return status;
  begin(server);
  uint64_t ticks = 0;
  turn_t turn = {.kind = TURN_TICK};
  while (!status && ticks < max_ticks && turn.kind == TURN_TICK) {
    turn = next_turn(server);
    if (turn.kind != TURN_TICK) break;
    status = send(server, &turn.tick, error);
    ticks += !status;
  }
  if (turn.kind == TURN_END || status) finish(server);
  leave(server);
  if (!status && turn.kind == TURN_END && ticks == 0)
    return tb_error_set(error, TB_ERR_END, "the clock server has ended");
  if (status) return status;
  if (out_ticks) *out_ticks = ticks;
  if (out_next) out_next->ns = next_turn_ns(server, &turn);
  return TB_OK;
}

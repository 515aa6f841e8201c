#include "server/clock_server.h"

static int64_t add_saturated(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum; /* b >= 0 */
}

static int64_t at_least_min(int64_t time_ns)
{
  return time_ns < TB__TIME_MIN ? TB__TIME_MIN : time_ns;
}

static void set_anchor(tb__clock_server_t *server, int64_t now_ns)
{
  server->anchor_time_ns = tb__clock_server_time(server, now_ns);
  if (now_ns > server->anchor_steady_ns) server->anchor_steady_ns = now_ns;
}

void tb__clock_server_init(tb__clock_server_t *server, int64_t time_ns, int64_t now_ns)
{
  *server = (tb__clock_server_t){
      .anchor_time_ns = at_least_min(time_ns),
      .anchor_steady_ns = now_ns,
      .speed = TB__SPEED_ONE,
      .paused = true,
      .horizon_ns = TB__TIME_NO_END,
      .next_tick_ns = TB__STEADY_NEVER,
      .next_reason = TB_JUMP_REASON_TICK,
  };
}

tb_status_t tb__clock_server_set_rate(tb__clock_server_t *server, double rate, int64_t now_ns)
{
  tb__speed_t speed;
  tb_status_t status = tb__speed_from_double(rate, &speed);
  if (status != TB_OK) return status;
  set_anchor(server, now_ns);
  server->speed = speed;
  return TB_OK;
}

void tb__clock_server_pause(tb__clock_server_t *server, int64_t now_ns)
{
  set_anchor(server, now_ns);
  server->paused = true;
}

void tb__clock_server_resume(tb__clock_server_t *server, int64_t now_ns)
{
  if (!server->paused) return;
  set_anchor(server, now_ns);
  server->paused = false;
}

void tb__clock_server_jump(tb__clock_server_t *server, int64_t time_ns, tb_jump_reason_t reason,
                           int64_t now_ns)
{
  server->anchor_time_ns = at_least_min(time_ns);
  server->anchor_steady_ns = now_ns;
  server->horizon_ns = TB__TIME_NO_END;
  server->next_reason = reason;
  if (server->tick_period_ns > 0) server->next_tick_ns = now_ns;
}

void tb__clock_server_set_horizon(tb__clock_server_t *server, int64_t time_ns, int64_t now_ns)
{
  int64_t reached_ns = tb__clock_server_time(server, now_ns);
  server->horizon_ns = time_ns > reached_ns ? time_ns : reached_ns;
}

void tb__clock_server_hold(tb__clock_server_t *server, int64_t now_ns)
{
  set_anchor(server, now_ns);
}

int64_t tb__clock_server_time(const tb__clock_server_t *server, int64_t now_ns)
{
  int64_t time_ns = server->anchor_time_ns;
  if (!server->paused && now_ns > server->anchor_steady_ns)
    time_ns =
        add_saturated(time_ns, tb__speed_advance(server->speed, now_ns - server->anchor_steady_ns));
  return time_ns > server->horizon_ns ? server->horizon_ns : time_ns;
}

int64_t tb__clock_server_reach(const tb__clock_server_t *server, int64_t time_ns)
{
  if (time_ns <= server->anchor_time_ns) return server->anchor_steady_ns;
  if (server->paused || time_ns > server->horizon_ns) return TB__STEADY_NEVER;
  return add_saturated(server->anchor_steady_ns,
                       tb__speed_steady_for(server->speed, time_ns - server->anchor_time_ns));
}

tb_status_t tb__clock_server_set_tick_rate(tb__clock_server_t *server, double hz, int64_t now_ns)
{
  bool none = hz == 0;
  if (!none && !(hz >= TB__TICK_HZ_MIN && hz <= TB__TICK_HZ_MAX)) return TB_ERR_RANGE;
  server->tick_period_ns = none ? 0 : (int64_t)(1e9 / hz + 0.5);
  server->next_tick_ns = none ? TB__STEADY_NEVER : now_ns;
  return TB_OK;
}

int64_t tb__clock_server_next_tick(const tb__clock_server_t *server)
{
  return server->next_tick_ns;
}

bool tb__clock_server_is_behind(const tb__clock_server_t *server, int64_t now_ns)
{
  return server->next_reason != TB_JUMP_REASON_TICK ||
         server->last_tick_ns < tb__clock_server_time(server, now_ns);
}

/* The grid stays: periods that were missed are left out. */
static void advance_grid(tb__clock_server_t *server, int64_t now_ns)
{
  if (server->next_tick_ns > now_ns) return;
  int64_t periods = (now_ns - server->next_tick_ns) / server->tick_period_ns + 1;
  server->next_tick_ns += periods * server->tick_period_ns;
}

tb__tick_t tb__clock_server_tick(tb__clock_server_t *server, int64_t now_ns)
{
  tb__tick_t tick = {tb__clock_server_time(server, now_ns), server->next_reason};
  server->next_reason = TB_JUMP_REASON_TICK;
  server->last_tick_ns = tick.time_ns;
  advance_grid(server, now_ns);
  return tick;
}

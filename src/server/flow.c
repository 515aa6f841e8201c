#include "server/flow.h"

#include "base/assert.h"
#include "base/saturate.h"

static int64_t at_least_min(int64_t time_ns)
{
  return time_ns < TB__TIME_MIN ? TB__TIME_MIN : time_ns;
}

static void set_anchor(tb__flow_t *flow, int64_t now_ns)
{
  flow->anchor_time_ns = tb__flow_time(flow, now_ns);
  if (now_ns > flow->anchor_steady_ns) flow->anchor_steady_ns = now_ns;
}

void tb__flow_init(tb__flow_t *flow, int64_t time_ns, int64_t now_ns)
{
  *flow = (tb__flow_t){
      .anchor_time_ns = at_least_min(time_ns),
      .anchor_steady_ns = now_ns,
      .speed = TB__SPEED_ONE,
      .paused = true,
      .horizon_ns = TB__TIME_NO_END,
      .next_tick_ns = TB__STEADY_NEVER,
      .next_reason = TB_JUMP_REASON_TICK,
  };
}

tb_status_t tb__flow_set_rate(tb__flow_t *flow, double rate, int64_t now_ns)
{
  tb__speed_t speed;
  tb_status_t status = tb__speed_from_double(rate, &speed);
  if (status) return status;
  set_anchor(flow, now_ns);
  flow->speed = speed;
  return TB_OK;
}

void tb__flow_pause(tb__flow_t *flow, int64_t now_ns)
{
  set_anchor(flow, now_ns);
  flow->paused = true;
}

void tb__flow_resume(tb__flow_t *flow, int64_t now_ns)
{
  if (!flow->paused) return;
  set_anchor(flow, now_ns);
  flow->paused = false;
}

void tb__flow_jump(tb__flow_t *flow, int64_t time_ns, tb_jump_reason_t reason, int64_t now_ns)
{
  flow->anchor_time_ns = at_least_min(time_ns);
  flow->anchor_steady_ns = now_ns;
  flow->horizon_ns = TB__TIME_NO_END;
  flow->next_reason = reason;
  if (flow->tick_period_ns > 0) flow->next_tick_ns = now_ns;
}

void tb__flow_restart(tb__flow_t *flow, int64_t from_ns, int64_t now_ns, int64_t next_tick_ns)
{
  flow->anchor_time_ns = tb__flow_time(flow, from_ns);
  flow->anchor_steady_ns = now_ns;
  flow->next_tick_ns = next_tick_ns;
}

void tb__flow_set_horizon(tb__flow_t *flow, int64_t time_ns, int64_t now_ns)
{
  int64_t reached_ns = tb__flow_time(flow, now_ns);
  flow->horizon_ns = time_ns > reached_ns ? time_ns : reached_ns;
}

void tb__flow_hold(tb__flow_t *flow, int64_t now_ns)
{
  set_anchor(flow, now_ns);
}

void tb__flow_hold_since(tb__flow_t *flow, int64_t from_ns, int64_t now_ns)
{
  if (from_ns < flow->anchor_steady_ns) from_ns = flow->anchor_steady_ns;
  if (now_ns > from_ns) flow->anchor_steady_ns += now_ns - from_ns;
}

void tb__flow_skip_to(tb__flow_t *flow, int64_t time_ns, int64_t now_ns)
{
  set_anchor(flow, now_ns);
  if (time_ns > flow->anchor_time_ns) flow->anchor_time_ns = time_ns;
  flow->horizon_ns = flow->anchor_time_ns;
}

int64_t tb__flow_time(const tb__flow_t *flow, int64_t now_ns)
{
  int64_t time_ns = flow->anchor_time_ns;
  if (!flow->paused && now_ns > flow->anchor_steady_ns)
    time_ns =
        tb__add_saturated(time_ns, tb__speed_advance(flow->speed, now_ns - flow->anchor_steady_ns));
  return time_ns > flow->horizon_ns ? flow->horizon_ns : time_ns;
}

int64_t tb__flow_reach(const tb__flow_t *flow, int64_t time_ns)
{
  if (time_ns <= flow->anchor_time_ns) return flow->anchor_steady_ns;
  if (flow->paused || time_ns > flow->horizon_ns) return TB__STEADY_NEVER;
  return tb__add_saturated(flow->anchor_steady_ns,
                           tb__speed_steady_for(flow->speed, time_ns - flow->anchor_time_ns));
}

tb_status_t tb__flow_set_tick_rate(tb__flow_t *flow, double hz, int64_t now_ns)
{
  bool none = hz == 0;
  if (!none && !(hz >= TB__TICK_HZ_MIN && hz <= TB__TICK_HZ_MAX)) return TB_ERR_RANGE;
  flow->tick_period_ns = none ? 0 : (int64_t)(1e9 / hz + 0.5);
  flow->next_tick_ns = none ? TB__STEADY_NEVER : now_ns;
  return TB_OK;
}

int64_t tb__flow_next_tick(const tb__flow_t *flow)
{
  return flow->next_tick_ns;
}

bool tb__flow_is_behind(const tb__flow_t *flow, int64_t now_ns)
{
  return flow->next_reason != TB_JUMP_REASON_TICK ||
         flow->last_tick_ns < tb__flow_time(flow, now_ns);
}

/* The grid is kept: missed periods are skipped. */
static void advance_grid(tb__flow_t *flow, int64_t now_ns)
{
  if (flow->next_tick_ns > now_ns) return;
  TB__ASSERT(flow->tick_period_ns > 0);
  int64_t periods = (now_ns - flow->next_tick_ns) / flow->tick_period_ns + 1;
  flow->next_tick_ns += periods * flow->tick_period_ns;
}

tb__tick_t tb__flow_tick(tb__flow_t *flow, int64_t now_ns)
{
  /* X9: the time of an instant of the grid, exactly */
  tb__tick_t tick = {tb__flow_time(flow, now_ns), flow->next_reason};
  flow->next_reason = TB_JUMP_REASON_TICK;
  flow->last_tick_ns = tick.time_ns;
  advance_grid(flow, now_ns);
  return tick;
}

const char *tb__flow_check_locked(const tb__flow_t *flow)
{
  bool ticks = flow->tick_period_ns > 0;
  if (flow->anchor_time_ns < TB__TIME_MIN) return "flow: the anchor is before the earliest time";
  if (flow->horizon_ns < flow->anchor_time_ns) return "flow: the horizon is before the anchor";
  if (flow->tick_period_ns < 0) return "flow: the period of ticks is negative";
  if (!ticks && flow->next_tick_ns != TB__STEADY_NEVER)
    return "flow: a tick is scheduled, and the flow has no period";
  if (ticks && flow->next_tick_ns == TB__STEADY_NEVER)
    return "flow: it has a period of ticks, and none is scheduled";
  if (flow->last_tick_ns != 0 && flow->last_tick_ns < TB__TIME_MIN)
    return "flow: the last tick is before the earliest time";
  if (flow->speed.mantissa == 0 || flow->speed.mantissa >> 53 || flow->speed.shift < 43 ||
      flow->speed.shift > 62)
    return "flow: the speed is out of bounds";
  return NULL;
}

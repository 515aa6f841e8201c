/* Control of a clock server, from any thread. */
#include "base/fork.h"
#include "base/list.h"
#include "held/parking.h"
#include "platform/time.h"
#include "server/clock_server.h"
#include "wait/timer_queue.h"

static void restart_meter_locked(tb_clock_server_t *server, int64_t now_ns)
    TB_REQUIRES(server->mutex)
{
  tb__meter_point_t point = {now_ns, tb__flow_time(&server->flow, server->at_ns)};
  tb__factor_meter_start(&server->meter, point);
}

void tb__clock_server_restart_locked(tb_clock_server_t *server, int64_t now_ns)
{
  int64_t next_ns = server->tick_now ? now_ns : now_ns + server->flow.tick_period_ns;
  tb__flow_restart(&server->flow, server->at_ns, now_ns, next_ns);
  server->at_ns = now_ns;
  restart_meter_locked(server, now_ns);
}

void tb__clock_server_limit_locked(tb_clock_server_t *server)
{
  bool is_step = server->stepping && server->target_ns < server->end_ns;
  tb__flow_set_horizon(&server->flow, is_step ? server->target_ns : server->end_ns, server->at_ns);
}

void tb__clock_server_end_step_locked(tb_clock_server_t *server, uint64_t step, tb_status_t status)
{
  for (tb__step_waiter_t **link = &server->waiters; *link;) {
    tb__step_waiter_t *waiter = *link;
    if (waiter->step == step) {
      *link = waiter->next;
      waiter->status = status;
      waiter->done = true;
      if (waiter->on_done) waiter->on_done(waiter);
    } else {
      link = &waiter->next;
    }
  }
  atomic_fetch_add(&server->step_events, 1);
  tb__futex_wake_all(&server->step_events);
}

void tb__clock_server_cancel_step_locked(tb_clock_server_t *server)
{
  if (!server->stepping) return;
  server->stepping = false;
  tb__flow_pause(&server->flow, server->at_ns);
  tb__clock_server_limit_locked(server);
  tb__clock_server_end_step_locked(server, server->step, TB_ERR_CANCELLED);
}

/* ---- pause and resume ---- */

static void pause_locked(tb_clock_server_t *server, int64_t now_ns) TB_REQUIRES(server->mutex)
{
  if (server->flow.paused) return;
  tb__clock_server_cancel_step_locked(server);
  tb__flow_pause(&server->flow, server->at_ns);
  server->tick_now = true;
  tb__clock_server_restart_locked(server, now_ns);
}

static void resume_locked(tb_clock_server_t *server, int64_t now_ns) TB_REQUIRES(server->mutex)
{
  tb__clock_server_cancel_step_locked(server);
  if (!server->flow.paused) return;
  tb__flow_resume(&server->flow, server->at_ns);
  tb__clock_server_restart_locked(server, now_ns);
}

static void unlock_and_nudge(tb_clock_server_t *server) TB_RELEASE(server->mutex)
{
  tb__mutex_unlock(&server->mutex);
  tb__pacer_nudge(server->pacer);
}

void tb_clock_server_pause(tb_clock_server_t *server)
{
  if (!server || tb__is_forked()) return;
  tb__mutex_lock(&server->mutex);
  pause_locked(server, tb__clock_server_now(server));
  unlock_and_nudge(server);
}

void tb_clock_server_resume(tb_clock_server_t *server)
{
  if (!server || tb__is_forked()) return;
  tb__mutex_lock(&server->mutex);
  resume_locked(server, tb__clock_server_now(server));
  unlock_and_nudge(server);
}

void tb_clock_server_toggle_paused(tb_clock_server_t *server)
{
  if (!server || tb__is_forked()) return;
  tb__mutex_lock(&server->mutex);
  if (server->flow.paused)
    resume_locked(server, tb__clock_server_now(server));
  else
    pause_locked(server, tb__clock_server_now(server));
  unlock_and_nudge(server);
}

/* ---- speed ---- */

tb_status_t tb_clock_server_set_factor(tb_clock_server_t *server, double factor)
{
  if (!server) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&server->mutex);
  tb_status_t status = tb__flow_set_rate(&server->flow, factor, server->at_ns);
  if (!status) {
    server->factor = factor;
    restart_meter_locked(server, tb__clock_server_now(server));
  }
  unlock_and_nudge(server);
  return status;
}

tb_status_t tb_clock_server_set_hz(tb_clock_server_t *server, double hz)
{
  if (!server) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (hz == 0) return TB_ERR_RANGE;
  tb__mutex_lock(&server->mutex);
  int64_t now_ns = tb__clock_server_now(server);
  tb_status_t status = tb__flow_set_tick_rate(&server->flow, hz, now_ns);
  if (!status) {
    server->hz = hz;
    tb__clock_server_restart_locked(server, now_ns);
  }
  unlock_and_nudge(server);
  return status;
}

tb_status_t tb_clock_server_set_as_fast_as_possible(tb_clock_server_t *server, bool wanted)
{
  if (!server) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&server->mutex);
  if (server->fast != wanted) {
    server->fast = wanted;
    tb__clock_server_restart_locked(server, tb__clock_server_now(server));
  }
  unlock_and_nudge(server);
  return TB_OK;
}

/* ---- jumps ---- */

static tb_status_t jump(tb_clock_server_t *server, int64_t time_ns, tb_jump_reason_t reason)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (time_ns < 0 || time_ns > server->end_ns) return TB_ERR_RANGE;
  tb__mutex_lock(&server->mutex);
  int64_t now_ns = tb__clock_server_now(server);
  tb__clock_server_cancel_step_locked(server);
  tb__flow_jump(&server->flow, time_ns, reason, now_ns);
  server->at_ns = now_ns;
  server->tick_now = true;
  server->ended = false;
  tb__clock_server_limit_locked(server);
  restart_meter_locked(server, now_ns);
  unlock_and_nudge(server);
  return TB_OK;
}

tb_status_t tb_clock_server_set_time(tb_clock_server_t *server, int64_t time_ns)
{
  return server ? jump(server, time_ns, TB_JUMP_REASON_SEEK) : TB_ERR_INVALID;
}

tb_status_t tb_clock_server_reset(tb_clock_server_t *server)
{
  return server ? jump(server, server->start_ns, TB_JUMP_REASON_RESET) : TB_ERR_INVALID;
}

/* ---- steps ---- */

/* The target of a step. */
typedef struct target {
  bool is_time;
  int64_t ns;
  bool only_paused; /* not while time runs */
} target_t;

static tb_status_t begin_step_locked(tb_clock_server_t *server, target_t target)
    TB_REQUIRES(server->mutex)
{
  int64_t time_ns = tb__flow_time(&server->flow, server->at_ns), target_ns = target.ns;
  if (target.only_paused && server->ended) return TB_ERR_END;
  if (target.only_paused && !server->flow.paused) return TB_ERR_BUSY;
  if (!target.is_time) {
    if (target.ns <= 0) return TB_ERR_RANGE;
    if (__builtin_add_overflow(time_ns, target.ns, &target_ns)) return TB_ERR_OVERFLOW;
  }
  if (target_ns <= time_ns) return TB_ERR_RANGE;
  if (target_ns > server->end_ns) return TB_ERR_END;
  tb__clock_server_cancel_step_locked(server);
  tb__flow_resume(&server->flow, server->at_ns);
  tb__clock_server_restart_locked(server, tb__clock_server_now(server));
  server->stepping = true;
  server->target_ns = target_ns;
  server->step++;
  tb__clock_server_limit_locked(server);
  return TB_OK;
}

/* `waiter` may be NULL. */
static tb_status_t begin_step(tb_clock_server_t *server, target_t target, tb__step_waiter_t *waiter)
{
  if (!server) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&server->mutex);
  tb_status_t status = begin_step_locked(server, target);
  if (!status && waiter) {
    waiter->next = server->waiters;
    waiter->step = server->step;
    waiter->done = false;
    server->waiters = waiter;
  }
  unlock_and_nudge(server);
  return status;
}

static bool is_done(tb_clock_server_t *server, const tb__step_waiter_t *waiter)
{
  tb__mutex_lock(&server->mutex);
  bool done = waiter->done;
  tb__mutex_unlock(&server->mutex);
  return done;
}

bool tb__clock_server_take_back(tb_clock_server_t *server, tb__step_waiter_t *waiter)
{
  tb__mutex_lock(&server->mutex);
  bool gives_up = !waiter->done;
  TB__CHAIN_REMOVE(server->waiters, waiter);
  tb__mutex_unlock(&server->mutex);
  return gives_up;
}

tb_status_t tb__clock_server_begin_paused_step(tb_clock_server_t *server, tb_duration_t duration,
                                               tb__step_waiter_t *waiter)
{
  return begin_step(server, (target_t){.ns = duration.ns, .only_paused = true}, waiter);
}

static tb_status_t step(tb_clock_server_t *server, target_t target, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = server ? tb__limit_begin(limit, &deadline) : TB_ERR_INVALID;
  if (status) return status;
  if (!tb__is_forked() && tb__clock_server_serves_here(server)) return TB_ERR_DEADLOCK;
  tb__step_waiter_t waiter = {.on_done = NULL};
  status = begin_step(server, target, &waiter);
  if (status) return status;
  for (;;) {
    uint32_t events = atomic_load(&server->step_events);
    if (is_done(server, &waiter)) return waiter.status;
    if (!tb__futex_wait(&server->step_events, events, deadline) &&
        tb__clock_server_take_back(server, &waiter))
      return TB_ERR_TIMEOUT;
  }
}

tb_status_t tb_clock_server_begin_step(tb_clock_server_t *server, tb_duration_t duration)
{
  return begin_step(server, (target_t){.ns = duration.ns}, NULL);
}

tb_status_t tb_clock_server_begin_step_to(tb_clock_server_t *server, int64_t time_ns)
{
  return begin_step(server, (target_t){.is_time = true, .ns = time_ns}, NULL);
}

tb_status_t tb_clock_server_step(tb_clock_server_t *server, tb_duration_t duration,
                                 tb_duration_t limit)
{
  return step(server, (target_t){.ns = duration.ns}, limit);
}

tb_status_t tb_clock_server_step_to(tb_clock_server_t *server, int64_t time_ns, tb_duration_t limit)
{
  return step(server, (target_t){.is_time = true, .ns = time_ns}, limit);
}

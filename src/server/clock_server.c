#include "server/clock_server.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "held/parking.h"
#include "platform/time.h"
#include "wait/call_wait.h"
#include "wait/timer_queue.h"

static tb_status_t check_options(const tb_clock_server_options_t *options, tb_error_t *error)
{
  tb__flow_t flow;
  tb__flow_init(&flow, TB__TIME_MIN, 0);
  if (tb__flow_set_rate(&flow, options->factor, 0) != TB_OK)
    return tb_error_set(error, TB_ERR_RANGE, "factor %g: must be %g to %g", options->factor,
                        TB__SPEED_MIN, TB__SPEED_MAX);
  if (options->hz == 0 || tb__flow_set_tick_rate(&flow, options->hz, 0) != TB_OK)
    return tb_error_set(error, TB_ERR_RANGE, "%g Hz: must be %g to %g", options->hz,
                        TB__TICK_HZ_MIN, TB__TICK_HZ_MAX);
  if (options->start_ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "start time %lld ns: must not be negative",
                        (long long)options->start_ns);
  if (options->end_ns != 0 && options->end_ns < options->start_ns)
    return tb_error_set(error, TB_ERR_RANGE, "end time %lld ns: must not be before the start",
                        (long long)options->end_ns);
  return TB_OK;
}

static tb_status_t check_sinks(const tb_tick_sink_t *sinks, size_t count, tb_error_t *error)
{
  for (size_t i = 0; i < count; i++)
    if (!sinks[i].tick)
      return tb_error_set(error, TB_ERR_INVALID, "clock server: sink %zu has no tick function", i);
  return TB_OK;
}

static void init(tb_clock_server_t *server, const tb_clock_server_options_t *options)
{
  int64_t now_ns = tb__clock_server_now(server);
  server->start_ns = options->start_ns < TB__TIME_MIN ? TB__TIME_MIN : options->start_ns;
  server->end_ns = options->end_ns ? options->end_ns : TB__TIME_NO_END;
  server->factor = options->factor;
  server->hz = options->hz;
  server->fast = options->as_fast_as_possible;
  server->at_ns = now_ns;
  tb__flow_init(&server->flow, server->start_ns, now_ns);
  tb__flow_set_rate(&server->flow, server->factor, now_ns); /* both were checked */
  tb__flow_set_tick_rate(&server->flow, server->hz, now_ns);
  tb__flow_set_horizon(&server->flow, server->end_ns, now_ns);
  if (!options->start_paused) tb__flow_resume(&server->flow, now_ns);
}

tb_status_t tb__clock_server_create(const tb_clock_server_options_t *options,
                                    const tb_tick_sink_t *sinks, size_t sink_count,
                                    tb__pacer_t *pacer, tb_clock_server_t **out, tb_error_t *error)
{
  tb_status_t status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "clock server: %s", tb_status_message(status));
  if (sink_count == 0 || sink_count > SIZE_MAX / sizeof *sinks)
    return tb_error_set(error, TB_ERR_INVALID, "clock server: no sinks; give at least one");
  status = check_options(options, error);
  if (!status) status = check_sinks(sinks, sink_count, error);
  if (status) return status;
  tb_clock_server_t *server = calloc(1, sizeof *server);
  if (!server) return tb__no_memory_for(error, "clock server");
  server->sinks = malloc(sink_count * sizeof *sinks);
  if (!server->sinks) {
    free(server);
    return tb__no_memory_for(error, "clock server");
  }
  memcpy(server->sinks, sinks, sink_count * sizeof *sinks);
  server->sink_count = sink_count;
  tb__mutex_init(&server->mutex);
  tb__pacer_init(&server->own_pacer);
  server->pacer = pacer ? pacer : &server->own_pacer;
  init(server, options);
  *out = server;
  return TB_OK;
}

tb_status_t tb_clock_server_create_sized(const tb_clock_server_options_t *options,
                                         size_t options_size, const tb_tick_sink_t *sinks,
                                         size_t sink_count, tb_clock_server_t **out,
                                         tb_error_t *error)
{
  tb_clock_server_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_clock_server_options_t");
  static const tb_clock_server_options_t defaults = TB_CLOCK_SERVER_OPTIONS_INIT;
  if (!out || (!sinks && sink_count > 0))
    return tb_error_set(error, TB_ERR_INVALID, "clock server: sinks or out is NULL");
  return tb__clock_server_create(options ? options : &defaults, sinks, sink_count, NULL, out,
                                 error);
}

void tb_clock_server_destroy(tb_clock_server_t *server)
{
  if (!server) return;
  if (!tb__is_forked() && server->has_thread) {
    tb_clock_server_stop(server);
    (void)!tb_clock_server_wait(server, NULL, NULL);
  }
  tb__mutex_fini(&server->mutex);
  free(server->sinks);
  free(server);
}

/* ---- the thread ---- */

static void *thread_run(void *argument)
{
  tb_clock_server_t *server = argument;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__clock_server_serve(server, &error);
  if (status)
    tb__log(TB_LOG_ERROR, "the clock server has ended: %s",
            error.text[0] ? error.text : tb_status_message(status));
  tb__mutex_lock(&server->mutex);
  server->result = status;
  server->error = error;
  tb__mutex_unlock(&server->mutex);
  atomic_store(&server->thread_active, false);
  atomic_fetch_add(&server->thread_ends, 1);
  tb__futex_wake_all(&server->thread_ends);
  return NULL;
}

/* Joins the thread if it has ended. */
static void join_locked(tb_clock_server_t *server) TB_REQUIRES(server->mutex)
{
  if (!server->has_thread || atomic_load(&server->thread_active)) return;
  tb__thread_join(&server->thread);
  server->has_thread = false;
}

tb_status_t tb_clock_server_start(tb_clock_server_t *server)
{
  if (!server) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_exchange(&server->serving, true)) return TB_ERR_BUSY;
  tb__mutex_lock(&server->mutex);
  tb_status_t status = TB_ERR_BUSY; /* the last thread is still ending */
  join_locked(server);
  if (!server->has_thread) {
    atomic_store(&server->thread_active, true);
    status = tb__thread_start(&server->thread, "tb-server", thread_run, server);
    if (status) atomic_store(&server->thread_active, false);
    server->has_thread = !status;
    server->had_thread |= server->has_thread;
  }
  tb__mutex_unlock(&server->mutex);
  if (status) atomic_store(&server->serving, false);
  return status;
}

static tb_status_t look(void *user)
{
  const tb_clock_server_t *server = user;
  return atomic_load(&server->thread_active) ? TB_ERR_TIMEOUT : TB_OK;
}

static tb_status_t wait_failed(tb_status_t status, tb_error_t *error)
{
  if (status == TB_ERR_TIMEOUT)
    return tb_error_set(error, status, "the clock server is still running");
  return tb_error_set(error, status, "clock server: the wait for its end: %s",
                      tb_status_message(status));
}

tb_status_t tb_clock_server_wait_sized(tb_clock_server_t *server, const tb_wait_options_t *options,
                                       size_t options_size, tb_error_t *error)
{
  tb_wait_options_t known;
  if (!server) return tb_error_set(error, TB_ERR_INVALID, "clock server: server is NULL");
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  if (tb__is_forked() || tb__clock_server_serves_here(server)) {
    tb_status_t status = tb__is_forked() ? TB_ERR_FORKED : TB_ERR_DEADLOCK;
    return tb_error_set(error, status, "clock server: %s", tb_status_message(status));
  }
  tb_status_t status = tb__call_wait(options, &server->thread_ends, look, server);
  if (status) return wait_failed(status, error);
  tb__mutex_lock(&server->mutex);
  join_locked(server);
  status = server->had_thread ? server->result : TB_ERR_INVALID;
  tb_error_t result = server->error;
  tb__mutex_unlock(&server->mutex);
  if (status == TB_ERR_INVALID && !result.text[0])
    return tb_error_set(error, status, "the clock server was not started: it has no thread");
  if (status && error) *error = result;
  return status;
}

void tb_clock_server_stop(tb_clock_server_t *server)
{
  if (!server || tb__is_forked()) return;
  atomic_store(&server->stopping, true);
  tb__pacer_nudge(server->pacer);
}

bool tb__clock_server_serves_here(tb_clock_server_t *server)
{
  return atomic_load(&server->runner) == (uintptr_t)pthread_self();
}

static void clock_server_status(tb_clock_server_t *server, tb_clock_server_status_t *out)
{
  if (!server || !out) return;
  tb__mutex_lock(&server->mutex);
  *out = (tb_clock_server_status_t){
      .time_ns = tb__flow_time(&server->flow, server->at_ns),
      .start_ns = server->start_ns,
      .end_ns = server->end_ns == TB__TIME_NO_END ? 0 : server->end_ns,
      .factor = server->factor,
      .factor_reached = server->flow.paused ? 0 : tb__factor_meter_value(&server->meter),
      .hz = server->hz,
      .paused = server->flow.paused,
      .stepping = server->stepping || server->landing,
      .as_fast_as_possible = server->fast,
      .serving = atomic_load(&server->serving),
      .ended = server->ended,
      .ticks = server->ticks,
  };
  tb__mutex_unlock(&server->mutex);
}

void tb_clock_server_status_sized(tb_clock_server_t *server, tb_clock_server_status_t *out,
                                  size_t out_size)
{
  tb_clock_server_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  clock_server_status(server, full);
  TB__SIZED_END(TB_OK, out, out_size, full);
}

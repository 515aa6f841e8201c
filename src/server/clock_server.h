/* The inside of tb_clock_server_t. clock_server.c creates it and runs its thread, server_control.c
 * changes it, serving.c sends its ticks. */
#ifndef TB_SERVER_CLOCK_SERVER_H
#define TB_SERVER_CLOCK_SERVER_H

#include <timebase/clock_server.h>

#include "held/pacer.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "server/factor_meter.h"
#include "server/flow.h"
#include "server/step_waiter.h"

struct tb_clock_server {
  tb__pacer_t *pacer;
  tb__pacer_t own_pacer;
  tb_tick_sink_t *sinks;
  size_t sink_count;
  int64_t start_ns, end_ns; /* TB__TIME_NO_END: never */
  atomic_bool stopping;
  atomic_bool serving;
  _Atomic uintptr_t runner; /* the thread that serves, or 0 */
  _Atomic bool thread_active;
  _Atomic uint32_t thread_ends; /* futex: the thread has ended, or a wait may have to end */
  _Atomic uint32_t step_events; /* how many steps have ended */

  tb__mutex_t mutex; /* guards what follows; never held while a sink is called */
  /* Its steady time is that of the pacer or, as fast as possible, ahead of it. */
  tb__flow_t flow;
  int64_t at_ns; /* of the last tick, or of the last new grid, in the flow's steady time */
  double factor, hz;
  bool fast;
  bool tick_now; /* a tick is due at once: the first one, or after a jump or a pause */
  bool begun;
  bool ended;
  bool stepping;
  int64_t target_ns; /* of the step */
  uint64_t step;     /* counts steps */
  uint64_t landing;  /* the step whose last tick is being sent, or 0 */
  tb__step_waiter_t *waiters;
  tb__factor_meter_t meter;
  uint64_t ticks;
  tb__thread_t thread;
  bool has_thread; /* to be joined */
  bool had_thread;
  tb_status_t result; /* of the thread */
  tb_error_t error;
};

/* tb_clock_server_create on another pacer, which must outlive the server. NULL: the system's steady
 * clock. */
tb_status_t tb__clock_server_create(const tb_clock_server_options_t *options,
                                    const tb_tick_sink_t *sinks, size_t sink_count,
                                    tb__pacer_t *pacer, tb_clock_server_t **out,
                                    tb_error_t *error) TB_WARN_UNUSED;

/* Time continues from that of the last tick, on a new grid: the next tick is a period from now, or
 * now if `tick_now`. */
void tb__clock_server_restart_locked(tb_clock_server_t *server, int64_t now_ns)
    TB_REQUIRES(server->mutex);
/* Sets where time stops: at the end of the step, or of all. */
void tb__clock_server_limit_locked(tb_clock_server_t *server) TB_REQUIRES(server->mutex);
/* Wakes the waiters for `step`. */
void tb__clock_server_end_step_locked(tb_clock_server_t *server, uint64_t step, tb_status_t status)
    TB_REQUIRES(server->mutex);
/* Cancels the step, if there is one: time stops where it is. */
void tb__clock_server_cancel_step_locked(tb_clock_server_t *server) TB_REQUIRES(server->mutex);

/* tb_clock_server_run after the caller has set `serving`, which it clears. */
tb_status_t tb__clock_server_serve(tb_clock_server_t *server, tb_error_t *error) TB_WARN_UNUSED;

static inline int64_t tb__clock_server_now(tb_clock_server_t *server)
{
  return server->pacer->now_ns(server->pacer);
}

bool tb__clock_server_serves_here(tb_clock_server_t *server);

#endif

/* Notification of the end of a step, without waiting for it. */
#ifndef TB_SERVER_STEP_WAITER_H
#define TB_SERVER_STEP_WAITER_H

#include <timebase/clock_server.h>

#include "base/private_api.h"

/* A waiter for the end of a step. */
typedef struct tb__step_waiter tb__step_waiter_t;

struct tb__step_waiter {
  tb__step_waiter_t *next;
  uint64_t step;
  tb_status_t status; /* TB_OK: the last tick has been sent. TB_ERR_CANCELLED */
  bool done;
  /* `done` has been set. Called under the server's mutex: may set flags and wake threads, nothing
   * else. NULL: none */
  void (*on_done)(tb__step_waiter_t *waiter);
};

/* tb_clock_server_begin_step if the server is paused, checked under the same lock. On success the
 * waiter, of which only `on_done` is used, must live until it is done or taken back. TB_ERR_BUSY:
 * time runs, or a step is not over. */
TB_PRIVATE_API tb_status_t tb__clock_server_begin_paused_step(
    tb_clock_server_t *server, tb_duration_t duration, tb__step_waiter_t *waiter) TB_WARN_UNUSED;

/* Withdraws the waiter, which is not notified any more; the step continues. False: it is done. */
TB_PRIVATE_API bool tb__clock_server_take_back(tb_clock_server_t *server,
                                               tb__step_waiter_t *waiter);

#endif

/* Being told of the end of a step without waiting for it. */
#ifndef TB_SERVER_STEP_WAITER_H
#define TB_SERVER_STEP_WAITER_H

#include <timebase/clock_server.h>

#include "base/private_api.h"

/* Somebody who waits for the end of a step. */
typedef struct tb__step_waiter tb__step_waiter_t;

struct tb__step_waiter {
  tb__step_waiter_t *next;
  uint64_t step;
  tb_status_t status; /* TB_OK: the last tick is out. TB_ERR_CANCELLED */
  bool done;
  /* `done` has been set. Under the server's mutex: may mark and wake, and no more. NULL: none */
  void (*on_done)(tb__step_waiter_t *waiter);
};

/* tb_clock_server_begin_step if time stands, decided in one go. On success the waiter, of which
 * only `on_done` counts, must live until it is done or taken back.
 * TB_ERR_BUSY: time runs, or a step is not over. */
TB_PRIVATE_API tb_status_t tb__clock_server_begin_paused_step(tb_clock_server_t *server,
                                                              tb_duration_t duration,
                                                              tb__step_waiter_t *waiter);

/* The step goes on, and the waiter is not told any more. False: it is done. */
TB_PRIVATE_API bool tb__clock_server_take_back(tb_clock_server_t *server,
                                               tb__step_waiter_t *waiter);

#endif

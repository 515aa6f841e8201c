#include "wait/end_watch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "platform/futex.h"
#include "platform/thread.h"
#include "wait/call_wait.h"

struct tb__end_watch {
  tb__call_wait_t wait;  /* begun by the caller, so that nothing is missed until the thread runs */
  _Atomic uint32_t word; /* futex of the thread */
  tb__thread_t thread;
  void (*on_end)(void *user);
  void *user;
  atomic_bool stopping; /* what ends the wait now does not count */
  tb_status_t status;   /* of the thread */
};

static tb_status_t look(void *user)
{
  tb__end_watch_t *watch = user;
  return atomic_load(&watch->stopping) ? TB_OK : TB_ERR_TIMEOUT;
}

static void *wait_for_end(void *user)
{
  tb__end_watch_t *watch = user;
  tb_status_t status = tb__call_wait_for(&watch->wait, look, watch);
  if (!status || atomic_load(&watch->stopping)) return NULL;
  watch->status = status;
  watch->on_end(watch->user);
  return NULL;
}

/* *out_begun: `wait` must be ended. */
static tb_status_t start(tb__end_watch_t *watch, const tb_wait_options_t *options, bool *out_begun)
{
  tb_status_t status = tb__call_wait_begin(&watch->wait, options, &watch->word);
  *out_begun = !status;
  if (status) return status;
  if (options->limit.ns == TB_NO_WAIT.ns) return TB_ERR_TIMEOUT;
  return tb__thread_start(&watch->thread, "tb-end-watch", wait_for_end, watch);
}

tb_status_t tb__end_watch_start(tb_clock_t *clock, const tb_wait_options_t *options,
                                void (*on_end)(void *user), void *user, tb__end_watch_t **out)
{
  *out = NULL;
  if (!options) return TB_OK;
  tb_wait_options_t on_clock = *options;
  on_clock.clock = clock;
  if (!clock) on_clock.flags &= ~TB_WAIT_FAIL_ON_ANY; /* on steady time nothing jumps */
  tb__end_watch_t *watch = calloc(1, sizeof *watch);
  if (!watch) return TB_ERR_NO_MEMORY;
  watch->on_end = on_end;
  watch->user = user;
  bool begun;
  tb_status_t status = start(watch, &on_clock, &begun);
  if (!status) {
    *out = watch;
    return TB_OK;
  }
  if (begun) tb__call_wait_end(&watch->wait);
  free(watch);
  return status;
}

tb_status_t tb__end_watch_stop(tb__end_watch_t *watch)
{
  if (!watch) return TB_OK;
  atomic_store(&watch->stopping, true);
  atomic_fetch_add(&watch->word, 1);
  tb__futex_wake_all(&watch->word);
  tb__thread_join(&watch->thread);
  tb__call_wait_end(&watch->wait);
  tb_status_t status = watch->status;
  free(watch);
  return status;
}

#include "wait/end_watch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "platform/thread.h"
#include "wait/sleeper.h"

struct tb__end_watch {
  tb_steady_clock_t *steady; /* without another clock */
  tb__sleeper_t sleeper;
  tb__thread_t thread;
  bool running;
  void (*on_end)(void *user);
  void *user;
  atomic_bool stopping; /* what ends the wait now does not count */
  tb_status_t status;   /* of the thread */
};

static void *wait_for_end(void *user)
{
  tb__end_watch_t *watch = user;
  tb_status_t status = tb__sleeper_run(&watch->sleeper);
  if (atomic_load(&watch->stopping)) return NULL;
  watch->status = status;
  watch->on_end(watch->user);
  return NULL;
}

static bool can_end(const tb_wait_options_t *options, bool has_clock)
{
  bool fails = has_clock && options->flags & TB_WAIT_FAIL_ON_ANY;
  return options->token || options->limit.ns != 0 || fails;
}

static tb_status_t start(tb__end_watch_t *watch, tb_clock_t *clock,
                         const tb_wait_options_t *options)
{
  tb_status_t status = clock ? TB_OK : tb_steady_clock_create(&watch->steady);
  if (status) return status;
  status = tb__sleeper_init(&watch->sleeper, clock ? clock : &watch->steady->core, TB__GOAL_FOR,
                            INT64_MAX, options);
  if (status || !can_end(options, clock != NULL)) return status;
  if (tb_cancel_token_is_cancelled(options->token)) return TB_ERR_CANCELLED;
  if (options->limit.ns == TB_NO_WAIT.ns) return TB_ERR_TIMEOUT;
  status = tb__thread_start(&watch->thread, "tb-end-watch", wait_for_end, watch);
  watch->running = !status;
  return status;
}

tb_status_t tb__end_watch_start(tb_clock_t *clock, const tb_wait_options_t *options,
                                void (*on_end)(void *user), void *user, tb__end_watch_t **out)
{
  *out = NULL;
  if (!options) return TB_OK;
  tb__end_watch_t *watch = calloc(1, sizeof *watch);
  if (!watch) return TB_ERR_NO_MEMORY;
  watch->on_end = on_end;
  watch->user = user;
  tb_status_t status = start(watch, clock, options);
  if (!status && watch->running)
    *out = watch;
  else
    (void)!tb__end_watch_stop(watch);
  return status;
}

tb_status_t tb__end_watch_stop(tb__end_watch_t *watch)
{
  if (!watch) return TB_OK;
  if (watch->running) {
    atomic_store(&watch->stopping, true);
    tb__sleeper_mark(&watch->sleeper, TB__MARK_CANCELLED);
    tb__thread_join(&watch->thread);
  }
  tb_status_t status = watch->status;
  tb_steady_clock_destroy(watch->steady);
  free(watch);
  return status;
}

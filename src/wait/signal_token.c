/* Tokens that SIGINT and SIGTERM cancel. The handler raises an event; a thread cancels. */
#include "wait/signal_token.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"
#include "platform/mutex.h"
#include "platform/poll_set.h"
#include "platform/thread.h"

typedef struct watched {
  struct watched *next;
  tb_cancel_token_t *token;
} watched_t;

#define SIGNALS 2
static const int signals[SIGNALS] = {SIGINT, SIGTERM};

static tb__mutex_t life_mutex =
    TB__MUTEX_INIT;                        /* of handlers and thread; the next is taken in it */
static tb__mutex_t mutex = TB__MUTEX_INIT; /* of the list; a token's is taken in it */
static watched_t *watched;
static tb__thread_t thread;
static tb__poll_set_t event = {-1, -1};
static _Atomic bool stopping;
static _Atomic bool received; /* one came, and no token has been made or reset since */
static _Atomic int in_handler;
static struct sigaction previous[SIGNALS]; /* written before a handler is installed */
static bool is_installed[SIGNALS]; /* of life_mutex: it could not be removed, as another one is on
                                      top, which may call it */

/* As without a handler of ours. */
static void pass_on(int signal, siginfo_t *info, void *context, bool also_default)
{
  struct sigaction action = previous[signal == signals[1]];
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler == SIG_DFL && also_default) {
    struct sigaction ends = {.sa_handler = SIG_DFL};
    sigaction(signal, &ends, NULL);
    raise(signal); /* delivered when the handler returns */
  } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
  int before = errno;
  atomic_fetch_add(&in_handler, 1);
  bool runs = !tb__is_forked() && !atomic_load(&stopping);
  bool is_first = runs && !atomic_exchange(&received, true);
  if (is_first) tb__poll_set_raise(&event);
  atomic_fetch_sub(&in_handler, 1);
  errno = before;
  pass_on(signal, info, context, !is_first);
}

static void *run(void *argument)
{
  for (;;) {
    tb__poll_set_wait(&event);
    tb__poll_set_clear(&event);
    if (atomic_load(&stopping)) return argument;
    tb__mutex_lock(&mutex);
    for (const watched_t *entry = watched; entry; entry = entry->next)
      tb_cancel_token_cancel(entry->token);
    tb__mutex_unlock(&mutex);
  }
}

static bool is_ours(const struct sigaction *action)
{
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* A handler that was installed after ours may call it, and stays. */
static void handlers_remove(int count)
{
  atomic_store(&stopping, true);
  for (int i = 0; i < count; i++) {
    struct sigaction current;
    if (!sigaction(signals[i], NULL, &current) && is_ours(&current) &&
        !sigaction(signals[i], &previous[i], NULL))
      is_installed[i] = false;
  }
  while (atomic_load(&in_handler) > 0) /* on other threads */
    sched_yield();
}

static tb_status_t handlers_install(void)
{
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, current;
    ours.sa_sigaction = on_signal;
    bool failed = sigaction(signals[i], NULL, &current) != 0;
    bool has_none = !(current.sa_flags & SA_SIGINFO) &&
                    (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN);
    if (!failed && is_installed[i] && !has_none) continue; /* below that one, which calls it */
    if (!failed && !is_ours(&current)) previous[i] = current;
    if (!failed) failed = sigaction(signals[i], &ours, NULL) != 0;
    if (!failed) is_installed[i] = true;
    if (!failed) continue;
    handlers_remove(i);
    return TB_ERR_SYSTEM;
  }
  return TB_OK;
}

TB_REQUIRES(life_mutex) static tb_status_t begin_locked(void)
{
  atomic_store(&stopping, false);
  tb_status_t status = tb__poll_set_init(&event);
  if (status) return status;
  status = tb__thread_start(&thread, "tb-signals", run, NULL);
  if (!status) {
    status = handlers_install();
    if (!status) return TB_OK;
    atomic_store(&stopping, true);
    tb__poll_set_raise(&event);
    tb__thread_join(&thread);
  }
  tb__poll_set_fini(&event);
  return status;
}

TB_REQUIRES(life_mutex) static void end_locked(void)
{
  handlers_remove(SIGNALS);
  atomic_store(&stopping, true);
  tb__poll_set_raise(&event);
  tb__thread_join(&thread);
  tb__poll_set_fini(&event);
}

tb_status_t tb__signals_watch(tb_cancel_token_t *token)
{
  watched_t *entry = calloc(1, sizeof *entry);
  if (!entry) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&life_mutex);
  tb_status_t status = watched ? TB_OK : begin_locked();
  if (!status) {
    atomic_store(&received, false);
    tb__mutex_lock(&mutex);
    *entry = (watched_t){watched, token};
    watched = entry;
    tb__mutex_unlock(&mutex);
  }
  tb__mutex_unlock(&life_mutex);
  if (status) free(entry);
  return status;
}

void tb__signals_unwatch(tb_cancel_token_t *token)
{
  if (tb__is_forked()) return; /* the thread is the parent's, and handlers pass on */
  tb__mutex_lock(&life_mutex);
  tb__mutex_lock(&mutex);
  watched_t **link = &watched;
  while (*link && (*link)->token != token)
    link = &(*link)->next;
  watched_t *entry = *link;
  if (entry) *link = entry->next;
  tb__mutex_unlock(&mutex);
  if (entry && !watched) end_locked();
  tb__mutex_unlock(&life_mutex);
  free(entry);
}

void tb__signals_expect_again(void)
{
  atomic_store(&received, false);
}

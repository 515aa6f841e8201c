#include "measure/monitor.h"

#include "base/list.h"
#include "clock/callback_context.h"
#include "held/parking.h"
#include "platform/mutex.h"
#include "platform/thread.h"

static tb__mutex_t thread_mutex = TB__MUTEX_INIT; /* taken before the other one */
static tb__thread_t thread;                       /* guarded by thread_mutex, like the next */
static bool has_thread;                           /* to be joined */

static tb__mutex_t mutex = TB__MUTEX_INIT;

static struct monitor {
  tb__monitored_t *items;
  tb__monitored_t *checked; /* its check runs */
  bool active;              /* the thread will look at the items */
  bool ending;              /* the thread ends, whatever is added */
} monitor TB_GUARDED_BY(mutex);

static _Atomic uint32_t changes; /* futex of the thread */
static _Atomic uint32_t checks;  /* futex: those that have ended */

static _Thread_local bool is_here;

bool tb__monitor_is_here(void)
{
  return is_here;
}

static void raise_word(_Atomic uint32_t *word)
{
  atomic_fetch_add(word, 1);
  tb__futex_wake_all(word);
}

/* ---- the thread ---- */

/* Of those that are due at one moment the one that was not checked for longest: held time does not
 * pass while one is checked again and again. */
static tb__monitored_t *earliest_locked(void) TB_REQUIRES(mutex)
{
  tb__monitored_t *first = monitor.items;
  for (tb__monitored_t *item = first; item; item = item->next)
    if (item->due_ns <= first->due_ns) first = item;
  return first;
}

static void check_locked(tb__monitored_t *item, int64_t now_ns) TB_REQUIRES(mutex)
{
  monitor.checked = item;
  item->poked = false;
  tb__mutex_unlock(&mutex);
  int64_t next_ns = item->ops->check(item, now_ns);
  tb__mutex_lock(&mutex);
  if (tb__is_forked()) return; /* by a callback */
  monitor.checked = NULL;
  bool removed = item->removed;
  if (!removed) {
    item->due_ns = item->poked ? now_ns : next_ns;
    TB__LIST_REMOVE(monitor.items, item);
    TB__LIST_PUSH(monitor.items, item);
  }
  raise_word(&checks);
  if (!removed) return;
  tb__mutex_unlock(&mutex);
  item->ops->release(item);
  tb__mutex_lock(&mutex);
}

static void wait_locked(int64_t until_ns) TB_REQUIRES(mutex)
{
  uint32_t seen = atomic_load(&changes);
  tb__mutex_unlock(&mutex);
  tb__wait_spec_t spec = {
      .deadline = tb__deadline_at(until_ns), .system_ns = INT64_MAX, .uncounted = true};
  tb__futex_wait_spec(&changes, seen, &spec);
  tb__mutex_lock(&mutex);
}

static void *monitor_run(void *unused)
{
  is_here = true;
  tb__mutex_lock(&mutex);
  while (!monitor.ending && !tb__is_forked()) {
    tb__monitored_t *item = earliest_locked();
    if (!item) break;
    int64_t now_ns = tb__steady_now_ns();
    if (item->due_ns <= now_ns)
      check_locked(item, now_ns);
    else
      wait_locked(item->due_ns);
  }
  monitor.active = false;
  tb__mutex_unlock(&mutex);
  return unused;
}

/* With thread_mutex. The thread is ending, or has ended by itself. */
static void thread_join(void)
{
  if (has_thread) tb__thread_join(&thread);
  has_thread = false;
}

/* ---- items ---- */

static void link_locked(tb__monitored_t *item, int64_t due_ns) TB_REQUIRES(mutex)
{
  item->due_ns = due_ns;
  item->removed = item->poked = false;
  TB__LIST_PUSH(monitor.items, item);
  raise_word(&changes);
}

tb_status_t tb__monitor_add(tb__monitored_t *item, int64_t due_ns)
{
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  if (is_here) { /* which does not end while its check runs */
    tb__mutex_lock(&mutex);
    link_locked(item, due_ns);
    tb__mutex_unlock(&mutex);
    return TB_OK;
  }
  tb__mutex_lock(&thread_mutex);
  tb__mutex_lock(&mutex);
  bool lives = monitor.active && !monitor.ending;
  if (lives) link_locked(item, due_ns);
  tb__mutex_unlock(&mutex);
  if (!lives) {
    thread_join();
    tb__mutex_lock(&mutex);
    monitor.active = true;
    monitor.ending = false;
    link_locked(item, due_ns);
    tb__mutex_unlock(&mutex);
    status = tb__thread_start(&thread, "tb-monitor", monitor_run, NULL);
    has_thread = !status;
  }
  if (status) {
    tb__mutex_lock(&mutex);
    monitor.active = false;
    TB__LIST_REMOVE(monitor.items, item);
    tb__mutex_unlock(&mutex);
  }
  tb__mutex_unlock(&thread_mutex);
  return status;
}

void tb__monitor_poke(tb__monitored_t *item)
{
  tb__mutex_lock(&mutex);
  if (!item->removed) {
    item->poked = true;
    item->due_ns = INT64_MIN;
    raise_word(&changes);
  }
  tb__mutex_unlock(&mutex);
}

/* Whether the thread has nothing left to do; it ends then. */
static bool unlink_locked(tb__monitored_t *item) TB_REQUIRES(mutex)
{
  TB__LIST_REMOVE(monitor.items, item);
  bool last = !monitor.items && !monitor.checked && monitor.active;
  if (last) monitor.ending = true;
  raise_word(&changes);
  return last;
}

static void end_thread(void)
{
  tb__mutex_lock(&thread_mutex);
  tb__mutex_lock(&mutex);
  bool ending = monitor.ending; /* else it was started again meanwhile */
  tb__mutex_unlock(&mutex);
  if (ending) thread_join();
  tb__mutex_unlock(&thread_mutex);
}

void tb__monitor_remove(tb__monitored_t *item)
{
  if (tb__is_forked()) {
    item->ops->release(item);
    return;
  }
  bool may_wait = !is_here && !tb__may_not_wait();
  tb__mutex_lock(&mutex);
  while (may_wait && monitor.checked == item) {
    uint32_t seen = atomic_load(&checks);
    tb__mutex_unlock(&mutex);
    tb__futex_wait(&checks, seen, TB__NO_DEADLINE);
    tb__mutex_lock(&mutex);
  }
  bool last = unlink_locked(item);
  item->removed = true;
  bool is_checked = monitor.checked == item;
  tb__mutex_unlock(&mutex);
  if (!is_checked) item->ops->release(item);
  if (last && may_wait) end_thread();
}

/* At exit, or when the library is unloaded. Does not wait for a callback in progress. */
__attribute__((destructor)) static void monitor_unload(void)
{
  if (tb__is_forked()) return;
  tb__mutex_lock(&thread_mutex);
  tb__mutex_lock(&mutex);
  monitor.ending = true;
  bool checking = monitor.checked != NULL;
  raise_word(&changes);
  tb__mutex_unlock(&mutex);
  if (!checking)
    thread_join();
  else if (has_thread)
    tb__thread_detach(&thread);
  tb__mutex_unlock(&thread_mutex);
}

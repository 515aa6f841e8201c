#include "held/inflight.h"
#include "base/list.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "platform/futex.h"
#include "platform/mutex.h"

struct tb__inflight {
  tb__mutex_t mutex; /* no other lock is taken under it */
  uint32_t references;
  uint32_t count;
  tb__inflight_watch_t *watches;
};

static tb__inflight_t of_os = {.mutex = TB__MUTEX_INIT, .references = 1};

_Thread_local tb__inflight_t *tb__inflight_of_thread;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* set for threads that may have something to end when they exit */
static bool has_key;

static void thread_ends(void *value)
{
  (void)value;
  tb__inflight_quiesce();
}

static void make_key(void)
{
  has_key = !pthread_key_create(&key, thread_ends);
}

/* A thread that ends after the library was unloaded must not call into it. */
__attribute__((destructor)) static void drop_key(void)
{
  if (has_key) pthread_key_delete(key);
}

tb__inflight_t *tb__inflight_of_os(void)
{
  return &of_os;
}

tb__inflight_t *tb__inflight_create(void)
{
  tb__inflight_t *inflight = calloc(1, sizeof *inflight);
  if (!inflight) return NULL;
  tb__mutex_init(&inflight->mutex);
  inflight->references = 1;
  return inflight;
}

static void notify_locked(tb__inflight_t *inflight) TB_REQUIRES(inflight->mutex)
{
  for (tb__inflight_watch_t *watch = inflight->watches; watch; watch = watch->next) {
    atomic_store(watch->word, 1);
    tb__futex_wake_kernel(watch->word, 1); /* watchers never park */
  }
}

static void drop(tb__inflight_t *inflight, uint32_t count)
{
  tb__mutex_lock(&inflight->mutex);
  inflight->count -= count;
  if (count) notify_locked(inflight);
  bool last = --inflight->references == 0;
  tb__mutex_unlock(&inflight->mutex);
  if (!last) return;
  tb__mutex_fini(&inflight->mutex);
  free(inflight);
}

void tb__inflight_unref(tb__inflight_t *inflight)
{
  if (inflight) drop(inflight, 0);
}

void tb__inflight_begin(tb__inflight_t *inflight)
{
  tb__mutex_lock(&inflight->mutex);
  inflight->count++;
  inflight->references++;
  notify_locked(inflight); /* a watcher may have to run it itself */
  tb__mutex_unlock(&inflight->mutex);
}

void tb__inflight_end(tb__inflight_t *inflight)
{
  drop(inflight, 1);
}

uint32_t tb__inflight_count(tb__inflight_t *inflight)
{
  tb__mutex_lock(&inflight->mutex);
  uint32_t count = inflight->count;
  tb__mutex_unlock(&inflight->mutex);
  return count;
}

void tb__inflight_notify(tb__inflight_t *inflight)
{
  tb__mutex_lock(&inflight->mutex);
  notify_locked(inflight);
  tb__mutex_unlock(&inflight->mutex);
}

void tb__inflight_watch(tb__inflight_t *inflight, tb__inflight_watch_t *watch)
{
  tb__mutex_lock(&inflight->mutex);
  inflight->references++;
  TB__LIST_PUSH(inflight->watches, watch);
  tb__mutex_unlock(&inflight->mutex);
}

void tb__inflight_unwatch(tb__inflight_t *inflight, tb__inflight_watch_t *watch)
{
  tb__mutex_lock(&inflight->mutex);
  TB__LIST_REMOVE(inflight->watches, watch);
  tb__mutex_unlock(&inflight->mutex);
  drop(inflight, 0);
}

void tb__inflight_adopt(tb__inflight_t *inflight)
{
  tb__inflight_quiesce();
  pthread_once(&key_once, make_key);
  if (has_key && !pthread_getspecific(key)) pthread_setspecific(key, &key);
  tb__inflight_of_thread = inflight;
}

void tb__inflight_quiesce_slowly(void)
{
  tb__inflight_t *inflight = tb__inflight_of_thread;
  tb__inflight_of_thread = NULL;
  tb__inflight_end(inflight);
}

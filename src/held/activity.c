#include "held/activity.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "platform/futex.h"
#include "platform/mutex.h"

struct tb__activity {
  tb__mutex_t mutex; /* nothing is locked under it */
  uint32_t references;
  uint32_t owed;
  tb__activity_watch_t *watches;
};

static tb__activity_t of_os = {.mutex = TB__MUTEX_INIT, .references = 1};

_Thread_local tb__activity_t *tb__activity_of_thread;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* set for threads that may owe something when they end */
static bool has_key;

static void thread_ends(void *value)
{
  (void)value;
  tb__activity_rest();
}

static void make_key(void)
{
  has_key = !pthread_key_create(&key, thread_ends);
}

/* No thread that ends after the library was unloaded may call into it. */
__attribute__((destructor)) static void drop_key(void)
{
  if (has_key) pthread_key_delete(key);
}

tb__activity_t *tb__activity_of_os(void)
{
  return &of_os;
}

tb__activity_t *tb__activity_create(void)
{
  tb__activity_t *activity = calloc(1, sizeof *activity);
  if (!activity) return NULL;
  tb__mutex_init(&activity->mutex);
  activity->references = 1;
  return activity;
}

static void poke_locked(tb__activity_t *activity) TB_REQUIRES(activity->mutex)
{
  for (tb__activity_watch_t *watch = activity->watches; watch; watch = watch->next) {
    atomic_store(watch->word, 1);
    tb__futex_wake_kernel(watch->word, 1); /* they never park */
  }
}

static void drop(tb__activity_t *activity, uint32_t owed)
{
  tb__mutex_lock(&activity->mutex);
  activity->owed -= owed;
  if (owed) poke_locked(activity);
  bool last = --activity->references == 0;
  tb__mutex_unlock(&activity->mutex);
  if (!last) return;
  tb__mutex_fini(&activity->mutex);
  free(activity);
}

void tb__activity_unref(tb__activity_t *activity)
{
  if (activity) drop(activity, 0);
}

void tb__activity_owe(tb__activity_t *activity)
{
  tb__mutex_lock(&activity->mutex);
  activity->owed++;
  activity->references++;
  poke_locked(activity); /* those who watch may have to run it themselves */
  tb__mutex_unlock(&activity->mutex);
}

void tb__activity_pay(tb__activity_t *activity)
{
  drop(activity, 1);
}

uint32_t tb__activity_owed(tb__activity_t *activity)
{
  tb__mutex_lock(&activity->mutex);
  uint32_t owed = activity->owed;
  tb__mutex_unlock(&activity->mutex);
  return owed;
}

void tb__activity_poke(tb__activity_t *activity)
{
  tb__mutex_lock(&activity->mutex);
  poke_locked(activity);
  tb__mutex_unlock(&activity->mutex);
}

void tb__activity_watch(tb__activity_t *activity, tb__activity_watch_t *watch)
{
  tb__mutex_lock(&activity->mutex);
  activity->references++;
  watch->previous = NULL;
  watch->next = activity->watches;
  if (watch->next) watch->next->previous = watch;
  activity->watches = watch;
  tb__mutex_unlock(&activity->mutex);
}

void tb__activity_unwatch(tb__activity_t *activity, tb__activity_watch_t *watch)
{
  tb__mutex_lock(&activity->mutex);
  if (watch->previous)
    watch->previous->next = watch->next;
  else
    activity->watches = watch->next;
  if (watch->next) watch->next->previous = watch->previous;
  tb__mutex_unlock(&activity->mutex);
  drop(activity, 0);
}

void tb__activity_take(tb__activity_t *activity)
{
  tb__activity_rest();
  pthread_once(&key_once, make_key);
  if (has_key && !pthread_getspecific(key)) pthread_setspecific(key, &key);
  tb__activity_of_thread = activity;
}

void tb__activity_rest_slowly(void)
{
  tb__activity_t *activity = tb__activity_of_thread;
  tb__activity_of_thread = NULL;
  tb__activity_pay(activity);
}

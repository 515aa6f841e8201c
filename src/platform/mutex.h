/* Mutexes, with what Clang's thread-safety analysis needs to know of them. */
#ifndef TB_PLATFORM_MUTEX_H
#define TB_PLATFORM_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "base/fork.h"

#if defined(__clang__)
#define TB_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TB_THREAD_ATTRIBUTE(x)
#endif

#define TB_CAPABILITY(name) TB_THREAD_ATTRIBUTE(capability(name))
#define TB_ACQUIRE(...)     TB_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TB_TRY_ACQUIRE(...) TB_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define TB_RELEASE(...)     TB_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TB_REQUIRES(...)    TB_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TB_GUARDED_BY(x)    TB_THREAD_ATTRIBUTE(guarded_by(x))
/* For functions that lock what they find on the way (a clock's current timeline). */
#define TB_NO_THREAD_ANALYSIS TB_THREAD_ATTRIBUTE(no_thread_safety_analysis)

typedef struct TB_CAPABILITY("mutex") tb__mutex {
  pthread_mutex_t impl;
} tb__mutex_t;

#define TB__MUTEX_INIT                                                                             \
  {                                                                                                \
    PTHREAD_MUTEX_INITIALIZER                                                                      \
  }

static inline void tb__mutex_init(tb__mutex_t *mutex)
{
  pthread_mutex_init(&mutex->impl, NULL);
}

/* In a forked child a mutex may be held by a thread that is not there: it is left alone. */
static inline void tb__mutex_fini(tb__mutex_t *mutex)
{
  if (!tb__is_forked()) pthread_mutex_destroy(&mutex->impl);
}

static inline void tb__mutex_lock(tb__mutex_t *mutex) TB_ACQUIRE(mutex) TB_NO_THREAD_ANALYSIS
{
  if (!tb__is_forked()) pthread_mutex_lock(&mutex->impl);
}

static inline bool tb__mutex_try_lock(tb__mutex_t *mutex)
    TB_TRY_ACQUIRE(true, mutex) TB_NO_THREAD_ANALYSIS
{
  return !tb__is_forked() && pthread_mutex_trylock(&mutex->impl) == 0;
}

static inline void tb__mutex_unlock(tb__mutex_t *mutex) TB_RELEASE(mutex) TB_NO_THREAD_ANALYSIS
{
  if (!tb__is_forked()) pthread_mutex_unlock(&mutex->impl);
}

/* In a forked child: whether nobody held the mutex at the fork, so that what it guards is whole. */
static inline bool tb__mutex_was_free(tb__mutex_t *mutex) TB_NO_THREAD_ANALYSIS
{
  if (pthread_mutex_trylock(&mutex->impl)) return false;
  pthread_mutex_unlock(&mutex->impl);
  return true;
}

#endif

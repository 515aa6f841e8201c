/* Mutexes, with what Clang's thread-safety analysis and thread sanitizer need to know of them. One
 * word each, so that ticks are fast: locking a free one, and unlocking, are one inline atomic
 * operation. As with the C library's, any thread may get a free one, and waiters have no order. */
#ifndef TB_PLATFORM_MUTEX_H
#define TB_PLATFORM_MUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fork.h"
#include "base/private_api.h"

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
/* For callbacks: the caller holds the lock. */
#define TB_ASSERT_LOCKED(...) TB_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))
#define TB_GUARDED_BY(x)      TB_THREAD_ATTRIBUTE(guarded_by(x))
/* For what the analysis cannot follow; the line gives the reason. */
#define TB_NO_THREAD_ANALYSIS TB_THREAD_ATTRIBUTE(no_thread_safety_analysis)

#if defined(__SANITIZE_THREAD__)
#define TB__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TB__THREAD_SANITIZER 1
#endif
#endif

#ifdef TB__THREAD_SANITIZER
/* From sanitizer/tsan_interface.h: with them thread sanitizer checks the order of locks. */
void __tsan_mutex_destroy(void *mutex, unsigned flags);
void __tsan_mutex_pre_lock(void *mutex, unsigned flags);
void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
void __tsan_mutex_post_unlock(void *mutex, unsigned flags);
#define TB__TSAN_TRY               (1U << 4)
#define TB__TSAN_TRY_FAILED        (1U << 5)
#define TB__NOTIFY_SANITIZER(call) ((void)__tsan_mutex_##call)
#else
#define TB__NOTIFY_SANITIZER(call) ((void)0)
#endif

/* Values of `word`. */
#define TB__MUTEX_FREE   UINT32_C(0)
#define TB__MUTEX_TAKEN  UINT32_C(1)
#define TB__MUTEX_WANTED UINT32_C(2) /* taken, and a thread may be waiting */

typedef struct TB_CAPABILITY("mutex") tb__mutex {
  _Atomic uint32_t word; /* futex */
} tb__mutex_t;

#define TB__MUTEX_INIT                                                                             \
  {                                                                                                \
    TB__MUTEX_FREE                                                                                 \
  }

/* Waits until the mutex has been taken for this thread. */
TB_PRIVATE_API void tb__mutex_wait(tb__mutex_t *mutex);
/* Wakes one waiter. */
TB_PRIVATE_API void tb__mutex_wake(tb__mutex_t *mutex);

static inline void tb__mutex_init(tb__mutex_t *mutex)
{
  atomic_init(&mutex->word, TB__MUTEX_FREE);
}

/* In a forked child a mutex may be held by a thread that does not exist: it is not touched. */
static inline void tb__mutex_fini(tb__mutex_t *mutex)
{
  if (tb__is_forked()) return;
  TB__NOTIFY_SANITIZER(destroy(mutex, 0));
  (void)mutex;
}

static inline void tb__mutex_lock(tb__mutex_t *mutex) TB_ACQUIRE(mutex) TB_NO_THREAD_ANALYSIS
{
  uint32_t free = TB__MUTEX_FREE;
  if (tb__is_forked()) return;
  TB__NOTIFY_SANITIZER(pre_lock(mutex, 0));
  if (!atomic_compare_exchange_strong_explicit(&mutex->word, &free, TB__MUTEX_TAKEN,
                                               memory_order_acquire, memory_order_relaxed))
    tb__mutex_wait(mutex);
  TB__NOTIFY_SANITIZER(post_lock(mutex, 0, 0));
}

static inline bool tb__mutex_try_lock(tb__mutex_t *mutex)
    TB_TRY_ACQUIRE(true, mutex) TB_NO_THREAD_ANALYSIS
{
  uint32_t free = TB__MUTEX_FREE;
  if (tb__is_forked()) return false;
  TB__NOTIFY_SANITIZER(pre_lock(mutex, TB__TSAN_TRY));
  bool taken = atomic_compare_exchange_strong_explicit(&mutex->word, &free, TB__MUTEX_TAKEN,
                                                       memory_order_acquire, memory_order_relaxed);
  TB__NOTIFY_SANITIZER(post_lock(mutex, TB__TSAN_TRY | (taken ? 0 : TB__TSAN_TRY_FAILED), 0));
  return taken;
}

/* The mutex may be gone as soon as it is free: the wake-up uses only its address. */
static inline void tb__mutex_unlock(tb__mutex_t *mutex) TB_RELEASE(mutex) TB_NO_THREAD_ANALYSIS
{
  if (tb__is_forked()) return;
  TB__NOTIFY_SANITIZER(pre_unlock(mutex, 0));
  uint32_t was = atomic_exchange_explicit(&mutex->word, TB__MUTEX_FREE, memory_order_release);
  if (__builtin_expect(was == TB__MUTEX_WANTED, 0)) tb__mutex_wake(mutex);
  TB__NOTIFY_SANITIZER(post_unlock(mutex, 0));
}

/* In a forked child: whether no thread held the mutex at the fork, so that what it guards is
 * consistent. */
static inline bool tb__mutex_was_free(tb__mutex_t *mutex)
{
  return atomic_load_explicit(&mutex->word, memory_order_relaxed) == TB__MUTEX_FREE;
}

#endif

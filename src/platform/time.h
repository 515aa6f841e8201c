/* The clocks of the operating system. All parts get their time from here. */
#ifndef TB_PLATFORM_TIME_H
#define TB_PLATFORM_TIME_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/private_api.h"

/* clock_gettime, straight from the kernel's vDSO if there is one; another function while a test
 * holds time (held/held_time.h). */
TB_PRIVATE_API extern int (*_Atomic tb__clock_gettime)(clockid_t id, struct timespec *out);

static inline int64_t tb__clock_read_ns(clockid_t id)
{
  struct timespec now;
  atomic_load_explicit(&tb__clock_gettime, memory_order_acquire)(id, &now);
  return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* CLOCK_MONOTONIC; never 0 or negative on a running system. */
static inline int64_t tb__steady_now_ns(void)
{
  return tb__clock_read_ns(CLOCK_MONOTONIC);
}

/* The same, ordered: no later operation is done before the clock is read. */
static inline int64_t tb__steady_now_ordered_ns(void)
{
  int64_t now_ns = tb__steady_now_ns();
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
  return now_ns;
}

/* CLOCK_MONOTONIC at the resolution of the scheduler tick (1 to 10 ms), at a fraction of the cost.
 */
static inline int64_t tb__steady_coarse_now_ns(void)
{
  return tb__clock_read_ns(CLOCK_MONOTONIC_COARSE);
}

/* How old it may be at most. */
int64_t tb__steady_coarse_step_ns(void);

/* CLOCK_MONOTONIC, also while a test holds time. */
TB_PRIVATE_API int64_t tb__real_steady_now_ns(void);

/* CLOCK_REALTIME, nanoseconds since the Unix epoch. */
static inline int64_t tb__system_now_ns(void)
{
  return tb__clock_read_ns(CLOCK_REALTIME);
}

#endif

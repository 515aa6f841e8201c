/* A process whose host's system clock is off: linked into a program, this answers all questions for
 * the time in it, those of libraries too. TIMEBASE_TEST_CLOCK_MS is how far its system clock is
 * ahead; steady time is as it is. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__
#define PLAIN __attribute__((no_sanitize("thread")))
#else
#define PLAIN
#endif

static long shift_ms;

PLAIN __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                               struct timespec *time)
{
  long result = syscall(SYS_clock_gettime, clock, time);
  if (result || !shift_ms || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
    return (int)result;
  long ns = time->tv_nsec + shift_ms % 1000 * 1000000;
  time->tv_sec += shift_ms / 1000 + (ns >= 1000000000) - (ns < 0);
  time->tv_nsec = ns - ((ns >= 1000000000) - (ns < 0)) * 1000000000L;
  return 0;
}

/* Where timebase has found the kernel's own function; NULL: the program does not use timebase. */
extern int (*_Atomic tb__clock_gettime)(clockid_t id, struct timespec *out) __attribute__((weak));

__attribute__((constructor)) static void shift_read(void)
{
  const char *text = getenv("TIMEBASE_TEST_CLOCK_MS");
  if (text) shift_ms = atol(text);
  if (shift_ms && &tb__clock_gettime) atomic_store(&tb__clock_gettime, clock_gettime);
}

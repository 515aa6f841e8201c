#include "platform/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool futex_wait(const _Atomic uint32_t *word, int operation, uint32_t expected,
                       tb__deadline_t deadline)
{
  struct timespec until = {0};
  if (deadline.clock == TB__DEADLINE_SYSTEM) operation |= FUTEX_CLOCK_REALTIME;
  if (deadline.clock != TB__DEADLINE_NONE && deadline.ns > 0) {
    until.tv_sec = deadline.ns / 1000000000;
    until.tv_nsec = deadline.ns % 1000000000;
  }
  long result =
      syscall(SYS_futex, word, operation, expected,
              deadline.clock == TB__DEADLINE_NONE ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

bool tb__futex_wait_kernel(_Atomic uint32_t *word, uint32_t expected, tb__deadline_t deadline)
{
  return futex_wait(word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline);
}

bool tb__futex_wait_shared(const _Atomic uint32_t *word, uint32_t expected, tb__deadline_t deadline)
{
  return futex_wait(word, FUTEX_WAIT_BITSET, expected, deadline);
}

void tb__futex_wake_shared(const _Atomic uint32_t *word)
{
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void tb__futex_wake_kernel(_Atomic uint32_t *word, int count)
{
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#include "platform/mutex.h"

#include <errno.h>

#include "platform/futex.h"

void tb__mutex_wait(tb__mutex_t *mutex)
{
  int before = errno;
  while (atomic_exchange_explicit(&mutex->word, TB__MUTEX_WANTED, memory_order_acquire) !=
         TB__MUTEX_FREE)
    tb__futex_wait_kernel(&mutex->word, TB__MUTEX_WANTED, TB__NO_DEADLINE);
  errno = before;
}

void tb__mutex_wake(tb__mutex_t *mutex)
{
  tb__futex_wake_kernel(&mutex->word, 1);
}

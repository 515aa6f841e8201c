#include "clock/callback_context.h"

_Thread_local struct tb__jump *tb__jump_of_thread;

bool tb__thread_may_not_wait(void)
{
  return tb__may_not_wait();
}

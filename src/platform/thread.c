#include "platform/thread.h"

#include <signal.h>

tb_status_t tb__thread_start(tb__thread_t *thread, const char *name, void *(*run)(void *),
                             void *argument)
{
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS); /* faults of guarded memory (guarded_map.h) have to reach the handler */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(&thread->impl, NULL, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return TB_ERR_SYSTEM;
  pthread_setname_np(thread->impl, name);
  return TB_OK;
}

void tb__thread_join(tb__thread_t *thread)
{
  pthread_join(thread->impl, NULL);
}

void tb__thread_detach(tb__thread_t *thread)
{
  pthread_detach(thread->impl);
}

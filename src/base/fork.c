#include "base/fork.h"

#include <pthread.h>

_Atomic bool tb__forked;

static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static bool watching;

static void in_child(void)
{
  atomic_store_explicit(&tb__forked, true, memory_order_relaxed);
}

static void watch(void)
{
  watching = !pthread_atfork(NULL, NULL, in_child);
}

tb_status_t tb__fork_watch(void)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  pthread_once(&watch_once, watch);
  return watching ? TB_OK : TB_ERR_NO_MEMORY;
}

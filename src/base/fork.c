#include "base/fork.h"

#include <pthread.h>

_Atomic bool tb__forked;

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool watching;

static void in_child(void)
{
  /* C7 */
  atomic_store_explicit(&tb__forked, true, memory_order_relaxed);
}

/* If it fails for lack of memory, the next call tries again. */
tb_status_t tb__fork_watch(void)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_load_explicit(&watching, memory_order_acquire)) return TB_OK;
  pthread_mutex_lock(&watch_mutex);
  if (!atomic_load(&watching)) atomic_store(&watching, !pthread_atfork(NULL, NULL, in_child));
  bool done = atomic_load(&watching);
  pthread_mutex_unlock(&watch_mutex);
  return done ? TB_OK : TB_ERR_NO_MEMORY;
}

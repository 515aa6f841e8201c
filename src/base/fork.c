#include "base/fork.h"

#include <pthread.h>
#include <unistd.h>

_Atomic bool tb__forked;

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool watching;

/* Each plus 1; 0: free. No lock, which another thread might hold at a fork. */
#define PLACES 64
static _Atomic int closed_in_child[PLACES];

/* The only lock that a child may take: the thread that forks holds it at the fork. */
static pthread_mutex_t hold_mutex = PTHREAD_MUTEX_INITIALIZER;

void tb__fork_hold(void)
{
  pthread_mutex_lock(&hold_mutex);
}

void tb__fork_release(void)
{
  pthread_mutex_unlock(&hold_mutex);
}

static void in_child(void)
{
  /* C7 */
  tb__fork_release();
  atomic_store_explicit(&tb__forked, true, memory_order_relaxed);
  for (int i = 0; i < PLACES; i++) {
    int fd = atomic_exchange(&closed_in_child[i], 0) - 1;
    if (fd >= 0) close(fd);
  }
}

int tb__fork_closes(int fd)
{
  for (int i = 0; i < PLACES; i++) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&closed_in_child[i], &expected, fd + 1)) return i;
  }
  return -1;
}

bool tb__fork_keeps(int place)
{
  return place < 0 || atomic_exchange(&closed_in_child[place], 0) != 0;
}

/* If it fails for lack of memory, the next call tries again. */
tb_status_t tb__fork_watch(void)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_load_explicit(&watching, memory_order_acquire)) return TB_OK;
  pthread_mutex_lock(&watch_mutex);
  if (!atomic_load(&watching))
    atomic_store(&watching, !pthread_atfork(tb__fork_hold, tb__fork_release, in_child));
  bool done = atomic_load(&watching);
  pthread_mutex_unlock(&watch_mutex);
  return done ? TB_OK : TB_ERR_NO_MEMORY;
}

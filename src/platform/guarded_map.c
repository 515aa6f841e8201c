#include "platform/guarded_map.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/mutex.h"

/* The handler walks the list without a lock: entries are reused, and freed with the last
 * mapping. */
struct tb__guarded_map {
  tb__guarded_map_t *next; /* set before it is in the list */
  _Atomic uintptr_t begin; /* 0: free */
  _Atomic size_t size;
  _Atomic int protection;
  _Atomic bool is_cut;
};

static tb__guarded_map_t *_Atomic maps;
static _Atomic uint32_t walkers; /* handlers that may be walking the list */
static tb__mutex_t mutex = TB__MUTEX_INIT;
static unsigned in_use TB_GUARDED_BY(mutex);
static bool is_installed TB_GUARDED_BY(mutex);
static struct sigaction previous; /* changed while our handler is not installed */

/* ---- the handler: async-signal-safe ---- */

/* Clang's thread sanitizer makes an atomic access under a lock of its own. If it is one that
 * faults, the handler must make none that the sanitizer sees. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef NOT_INSTRUMENTED
#define NOT_INSTRUMENTED
#endif

NOT_INSTRUMENTED static tb__guarded_map_t *map_at(uintptr_t address)
{
  for (tb__guarded_map_t *map = atomic_load(&maps); map; map = map->next) {
    uintptr_t begin = atomic_load(&map->begin);
    if (begin && address >= begin && address - begin < atomic_load(&map->size)) return map;
  }
  return NULL;
}

#ifdef SYS_mmap2
#define MAP_CALL SYS_mmap2
#else
#define MAP_CALL SYS_mmap
#endif

/* By a system call, as thread sanitizer would take the C library's function for a write, and other
 * threads read there meanwhile. */
NOT_INSTRUMENTED static bool map_over(const tb__guarded_map_t *map, int flags, int fd)
{
  return syscall(MAP_CALL, atomic_load(&map->begin), atomic_load(&map->size),
                 (long)atomic_load(&map->protection), (long)flags | MAP_FIXED, (long)fd, 0L) != -1;
}

NOT_INSTRUMENTED static bool put_zeros(tb__guarded_map_t *map)
{
  if (!map_over(map, MAP_PRIVATE | MAP_ANONYMOUS, -1)) return false;
  atomic_store(&map->is_cut, true);
  return true;
}

/* As without our handler: a fault ends the process, also if the signal is ignored. The fault is
 * raised again when we return; a signal that was sent is sent again. */
static void die_of(int signal, siginfo_t *info, bool was_sent)
{
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
  if (was_sent) syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
  const struct sigaction action = previous;
  bool was_sent = info->si_code <= 0;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    if (action.sa_handler == SIG_DFL || !was_sent) die_of(signal, info, was_sent);
    return;
  }
  if (action.sa_flags & (int)SA_RESETHAND) previous.sa_handler = SIG_DFL;
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

/* si_addr is an address only if the kernel raised the signal. */
NOT_INSTRUMENTED static void on_bus_error(int signal, siginfo_t *info, void *context)
{
  int before = errno;
  atomic_fetch_add(&walkers, 1);
  tb__guarded_map_t *map = info->si_code > 0 ? map_at((uintptr_t)info->si_addr) : NULL;
  bool done = map && put_zeros(map);
  atomic_fetch_sub(&walkers, 1);
  errno = before;
  if (!done) pass_on(signal, info, context);
}

/* ---- its installation ---- */

/* A handler that was installed after ours, and may call it, stays installed, and so does ours. */
TB_REQUIRES(mutex)
static bool handler_install_locked(void)
{
  if (is_installed) return true;
  if (sigaction(SIGBUS, NULL, &previous)) return false;
  struct sigaction ours = {.sa_mask = previous.sa_mask};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & (SA_RESTART | SA_NODEFER));
  is_installed = !sigaction(SIGBUS, &ours, NULL);
  return is_installed;
}

TB_REQUIRES(mutex)
static void handler_remove_locked(void)
{
  struct sigaction current;
  if (sigaction(SIGBUS, NULL, &current) || !(current.sa_flags & SA_SIGINFO) ||
      current.sa_sigaction != on_bus_error)
    return;
  is_installed = sigaction(SIGBUS, &previous, NULL) != 0;
}

/* ---- the mappings ---- */

TB_REQUIRES(mutex)
static void end_if_unused_locked(void)
{
  if (in_use > 0) return;
  handler_remove_locked();
  tb__guarded_map_t *map = atomic_exchange(&maps, NULL);
  while (atomic_load(&walkers) > 0) /* of foreign faults: none of our mappings is left */
    sched_yield();
  for (tb__guarded_map_t *next; map; map = next) {
    next = map->next;
    free(map);
  }
}

TB_REQUIRES(mutex)
static tb__guarded_map_t *entry_take_locked(void)
{
  for (tb__guarded_map_t *map = atomic_load(&maps); map; map = map->next)
    if (!atomic_load(&map->begin)) return map;
  tb__guarded_map_t *map = calloc(1, sizeof *map);
  if (!map) return NULL;
  map->next = atomic_load(&maps);
  atomic_store(&maps, map);
  return map;
}

TB_REQUIRES(mutex)
static tb_status_t create_locked(int fd, size_t size, bool writable, tb__guarded_map_t **out)
{
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  tb__guarded_map_t *map = entry_take_locked();
  if (!map) return TB_ERR_NO_MEMORY;
  void *begin =
      handler_install_locked() ? mmap(NULL, size, protection, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (begin == MAP_FAILED) {
    int failure = errno;
    end_if_unused_locked();
    errno = failure;
    return TB_ERR_SYSTEM;
  }
  atomic_store(&map->size, size);
  atomic_store(&map->protection, protection);
  atomic_store(&map->is_cut, false);
  atomic_store(&map->begin, (uintptr_t)begin);
  in_use++;
  *out = map;
  return TB_OK;
}

tb_status_t tb__guarded_map_create(int fd, size_t size, bool writable, tb__guarded_map_t **out)
{
  tb__mutex_lock(&mutex);
  tb_status_t status = create_locked(fd, size, writable, out);
  int failure = errno;
  tb__mutex_unlock(&mutex);
  errno = failure;
  return status;
}

void tb__guarded_map_destroy(tb__guarded_map_t *map)
{
  if (!map) return;
  void *begin = tb__guarded_map_memory(map);
  size_t size = atomic_load(&map->size);
  tb__mutex_lock(&mutex);
  atomic_store(&map->begin, 0);
  munmap(begin, size);
  in_use--;
  if (!tb__is_forked()) end_if_unused_locked();
  tb__mutex_unlock(&mutex);
}

void *tb__guarded_map_memory(const tb__guarded_map_t *map)
{
  return (void *)atomic_load(&map->begin); /* NOLINT(performance-no-int-to-ptr) */
}

bool tb__guarded_map_is_cut(const tb__guarded_map_t *map)
{
  return atomic_load(&map->is_cut);
}

bool tb__guarded_map_restore(tb__guarded_map_t *map, int fd)
{
  struct stat status;
  size_t size = atomic_load(&map->size);
  if (fstat(fd, &status) || status.st_size < (off_t)size) return false;
  atomic_store(&map->is_cut, false);
  if (map_over(map, MAP_SHARED, fd)) return true;
  atomic_store(&map->is_cut, true);
  return false;
}

void tb__guarded_map_enter_thread(void)
{
  static _Thread_local bool has_entered;
  if (has_entered) return;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGBUS);
  has_entered = !pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

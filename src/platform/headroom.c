#include "platform/headroom.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 64
#define STACK_DEFAULT   ((size_t)8 << 20)

unsigned tb__headroom_descriptors(unsigned wanted)
{
  int taken[DESCRIPTORS_MAX];
  unsigned count = 0;
  if (wanted > DESCRIPTORS_MAX) wanted = DESCRIPTORS_MAX;
  while (count < wanted && (taken[count] = eventfd(0, EFD_CLOEXEC)) >= 0) /* needs no file */
    count++;
  for (unsigned i = 0; i < count; i++)
    close(taken[i]);
  return count;
}

static bool is_limited(void)
{
  struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY}, data = space;
  getrlimit(RLIMIT_AS, &space);
  getrlimit(RLIMIT_DATA, &data);
  return space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

/* Only under a limit: in a program that locks its memory, all of it would be filled. */
bool tb__headroom_memory(size_t bytes)
{
  if (!is_limited()) return true;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (taken == MAP_FAILED) return false;
  munmap(taken, bytes);
  return true;
}

size_t tb__headroom_of_thread(void)
{
  pthread_attr_t attributes;
  size_t stack = STACK_DEFAULT, guard = 0;
  if (pthread_attr_init(&attributes)) return stack;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return stack + guard;
}

#include "platform/time.h"

#include <dlfcn.h>

int (*_Atomic tb__clock_gettime)(clockid_t id, struct timespec *out) = clock_gettime;

/* The kernel's own function, mapped into every process; missing under some tools and on some
 * machines. */
__attribute__((constructor)) static void find_vdso(void)
{
  void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void *found = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
  int (*function)(clockid_t id, struct timespec * out);
  *(void **)&function = found; /* POSIX allows this conversion */
  if (found) atomic_store(&tb__clock_gettime, function);
}

int64_t tb__steady_coarse_step_ns(void)
{
  struct timespec step = {0};
  clock_getres(CLOCK_MONOTONIC_COARSE, &step);
  return step.tv_sec * INT64_C(1000000000) + step.tv_nsec;
}

int64_t tb__real_steady_now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

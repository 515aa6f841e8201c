/* For LD_PRELOAD: a disk that stands still while the file named by TB_SLOW_DISK is there. Whoever
 * writes to a regular file waits so long. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(int fd)
{
  static const struct timespec while_ns = {0, 1000000};
  const char *flag = getenv("TB_SLOW_DISK");
  struct stat info;
  if (!flag || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  while (access(flag, F_OK) == 0)
    nanosleep(&while_ns, NULL);
}

#define EXPORT __attribute__((visibility("default")))

/* What is behind this one. */
#define NEXT(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
  wait_for_disk(fd);
  return NEXT(write)(fd, bytes, size);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
  wait_for_disk(fd);
  return NEXT(pwrite)(fd, bytes, size, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
  wait_for_disk(fd);
  return NEXT(pwrite64)(fd, bytes, size, at);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
  wait_for_disk(fd);
  return NEXT(writev)(fd, parts, count);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
  wait_for_disk(fd);
  return NEXT(pwritev)(fd, parts, count, at);
}

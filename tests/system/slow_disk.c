/* For LD_PRELOAD: a disk that stops while the file named by TB_SLOW_DISK is there, and a log of
 * what is synced. A writer of a regular file waits meanwhile. A reader of the file named by
 * TB_STUCK_FILE waits for ever, and creates a file of that name and ".read". */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The function that this one replaces. */
#define NEXT(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* The names that the C library gives parameters are its own.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
EXPORT ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
  static const struct timespec long_enough = {1000, 0};
  const char *stuck = getenv("TB_STUCK_FILE");
  char link[32], path[4096] = "", sign[4200];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (stuck && readlink(link, path, sizeof path - 1) > 0 && strcmp(path, stuck) == 0) {
    snprintf(sign, sizeof sign, "%s.read", path);
    close(open(sign, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    for (;;)
      nanosleep(&long_enough, NULL);
  }
  return NEXT(pread)(fd, bytes, size, at);
}

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

/* A line "PATH NS" (wall time) in the file named by TB_SYNC_LOG. */
static void log_sync(int fd)
{
  const char *log = getenv("TB_SYNC_LOG");
  char link[32], path[4096], line[4200];
  struct timespec now;
  int out = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (out < 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  clock_gettime(CLOCK_REALTIME, &now);
  path[length > 0 ? length : 0] = '\0';
  int size = snprintf(line, sizeof line, "%s %lld\n", path,
                      (long long)now.tv_sec * 1000000000 + now.tv_nsec);
  if (NEXT(write)(out, line, (size_t)size) != size) abort(); /* the test waits for the line */
  close(out);
}

EXPORT int fsync(int fd)
{
  log_sync(fd);
  return NEXT(fsync)(fd);
}

EXPORT int fdatasync(int fd)
{
  log_sync(fd);
  return NEXT(fdatasync)(fd);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

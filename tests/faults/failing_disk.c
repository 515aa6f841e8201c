#include "failing_disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT     __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

static _Atomic long calls, failures, first_call, call_count;
static _Atomic int failure_code, failure_flags;
static char flag_path[4096]; /* "": none */

void failing_disk_arm(long first, long count, int code, int flags)
{
  atomic_store(&call_count, 0);
  atomic_store(&calls, 0);
  atomic_store(&failures, 0);
  atomic_store(&first_call, first);
  atomic_store(&failure_code, code);
  atomic_store(&failure_flags, flags);
  atomic_store(&call_count, count);
}

long failing_disk_calls(void)
{
  return atomic_load(&calls);
}

long failing_disk_failures(void)
{
  return atomic_load(&failures);
}

static void __attribute__((constructor)) read_environment(void)
{
  const char *orders = getenv("TB_FAIL_DISK");
  int code = 0, flags = 0;
  if (!orders || sscanf(orders, "%d %d %4095s", &code, &flags, flag_path) != 3) return;
  failing_disk_arm(1, LONG_MAX, code, flags);
}

static bool is_time(void)
{
  return flag_path[0] == '\0' || access(flag_path, F_OK) == 0;
}

static bool is_shared_index(const char *path)
{
  return strstr(path, "-shm") != NULL;
}

static bool strikes(const char *path, bool is_sync)
{
  int flags = atomic_load(&failure_flags);
  if ((flags & FAILING_DISK_SYNCS) && !is_sync) return false;
  if ((flags & FAILING_DISK_SHARED) && !is_shared_index(path)) return false;
  if (!is_time()) return false;
  long call = atomic_fetch_add(&calls, 1) + 1, first = atomic_load(&first_call);
  if (call < first || call - first >= atomic_load(&call_count)) return false;
  atomic_fetch_add(&failures, 1);
  return true;
}

static bool strikes_file(int fd, bool is_sync)
{
  struct stat info;
  char link[32], path[4096] = "";
  if (atomic_load(&call_count) == 0 || fd <= STDERR_FILENO || fstat(fd, &info) != 0 ||
      !S_ISREG(info.st_mode))
    return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, path, sizeof path - 1) < 0) return false;
  return strikes(path, is_sync);
}

static int failed(void)
{
  errno = atomic_load(&failure_code);
  return -1;
}

static bool is_short(size_t size)
{
  return (atomic_load(&failure_flags) & FAILING_DISK_SHORT) && size > 1;
}

/* The names that the C library gives parameters are its own.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
  if (!strikes_file(fd, false)) return NEXT(write)(fd, bytes, size);
  return is_short(size) ? NEXT(write)(fd, bytes, size / 2) : failed();
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
  if (!strikes_file(fd, false)) return NEXT(pwrite)(fd, bytes, size, at);
  return is_short(size) ? NEXT(pwrite)(fd, bytes, size / 2, at) : failed();
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
  if (!strikes_file(fd, false)) return NEXT(pwrite64)(fd, bytes, size, at);
  return is_short(size) ? NEXT(pwrite64)(fd, bytes, size / 2, at) : failed();
}

EXPORT int ftruncate(int fd, off_t size)
{
  return strikes_file(fd, false) ? failed() : NEXT(ftruncate)(fd, size);
}

EXPORT int ftruncate64(int fd, off64_t size)
{
  return strikes_file(fd, false) ? failed() : NEXT(ftruncate64)(fd, size);
}

EXPORT int fsync(int fd)
{
  return strikes_file(fd, true) ? failed() : NEXT(fsync)(fd);
}

EXPORT int fdatasync(int fd)
{
  return strikes_file(fd, true) ? failed() : NEXT(fdatasync)(fd);
}

/* As a network file system does: the descriptor is closed even if close fails. */
EXPORT int close(int fd)
{
  int flags = fcntl(fd, F_GETFL);
  bool is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  bool fails = is_written && strikes_file(fd, true);
  int result = NEXT(close)(fd);
  return fails ? failed() : result;
}

static bool strikes_creation(const char *path, int flags)
{
  return (flags & O_CREAT) && atomic_load(&call_count) > 0 && access(path, F_OK) != 0 &&
         strikes(path, false);
}

EXPORT int open(const char *path, int flags, ...)
{
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return strikes_creation(path, flags) ? failed() : NEXT(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return strikes_creation(path, flags) ? failed() : NEXT(open64)(path, flags, mode);
}

static bool strikes_map(int fd, int protection, int flags)
{
  return fd >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && strikes_file(fd, false);
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
  if (!strikes_map(fd, protection, flags))
    return NEXT(mmap)(address, size, protection, flags, fd, offset);
  failed();
  return MAP_FAILED;
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
  if (!strikes_map(fd, protection, flags))
    return NEXT(mmap64)(address, size, protection, flags, fd, offset);
  failed();
  return MAP_FAILED;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#include "storage/write_at.h"

#include <errno.h>
#include <unistd.h>

int tb__write_at(int fd, uint64_t offset, const void *bytes, size_t size)
{
  const uint8_t *next = bytes;
  while (size > 0) {
    ssize_t count = pwrite(fd, next, size, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    next += count;
    offset += (uint64_t)count;
    size -= (size_t)count;
  }
  return 0;
}

#include "platform/input_file.h"
#include "base/no_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static tb_status_t failed(const char *path, tb_error_t *error)
{
  int code = errno;
  bool is_missing = code == ENOENT || code == ENOTDIR;
  return tb_error_set_errno(error, is_missing ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, code, "%s", path);
}

static const char *kind_of(mode_t mode)
{
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

static tb_status_t check(const char *path, const struct stat *info, tb_error_t *error)
{
  if (S_ISREG(info->st_mode)) return TB_OK;
  const char *remedy =
      S_ISFIFO(info->st_mode) ? ": write it to one first, as with 'COMMAND > FILE'" : "";
  return tb_error_set(error, TB_ERR_INVALID, "%s: not a regular file but %s%s", path,
                      kind_of(info->st_mode), remedy);
}

/* Checked before it is opened, too: opening a device may already have an effect. */
tb_status_t tb__input_file_open(const char *path, int *out_fd, tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0) return failed(path, error);
  tb_status_t status = check(path, &info, error);
  if (status) return status;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return failed(path, error);
  status = fstat(fd, &info) == 0 ? check(path, &info, error) : failed(path, error);
  if (status)
    close(fd);
  else
    *out_fd = fd;
  return status;
}

/* Until the end of the file: its size may change, or be unknown as in /proc. */
static tb_status_t read_all(int fd, const char *path, size_t max, char **out, size_t *out_size,
                            tb_error_t *error)
{
  char *bytes = NULL;
  size_t size = 0, capacity = 0;
  for (;;) {
    if (size + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : 16384;
      char *larger = realloc(bytes, capacity);
      if (!larger) {
        free(bytes);
        return tb__no_memory_for(error, path);
      }
      bytes = larger;
    }
    ssize_t count = pread(fd, bytes + size, capacity - size - 1, (off_t)size);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) size += (size_t)count;
    if (count > 0 && size <= max) continue;
    tb_status_t status = count < 0 ? failed(path, error) : TB_OK;
    if (size > max)
      status = tb_error_set(error, TB_ERR_LIMIT, "%s: more than %zu bytes", path, max);
    if (status) {
      free(bytes);
      return status;
    }
    bytes[size] = '\0';
    *out = bytes;
    *out_size = size;
    return TB_OK;
  }
}

tb_status_t tb__input_file_read(const char *path, size_t max, char **out, size_t *out_size,
                                tb_error_t *error)
{
  int fd = -1;
  tb_status_t status = tb__input_file_open(path, &fd, error);
  if (status) return status;
  status = read_all(fd, path, max, out, out_size, error);
  close(fd);
  return status;
}

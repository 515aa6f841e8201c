#include "contract/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"

static tb_status_t path_error(const char *path, tb_error_t *error)
{
  return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno, "%s",
                            path);
}

static tb_status_t write_all(int fd, const char *path, const char *text, size_t size,
                             tb_error_t *error)
{
  while (size > 0) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return path_error(path, error);
    text += written;
    size -= (size_t)written;
  }
  return TB_OK;
}

/* A pipe, a terminal, a device: there is nothing to rename. */
static tb_status_t write_into(const char *path, const char *text, size_t size, tb_error_t *error)
{
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return path_error(path, error);
  tb_status_t status = write_all(fd, path, text, size, error);
  close(fd);
  return status;
}

/* The rights that a new file would have, or those of the one that is replaced. */
static void set_rights(int fd, const struct stat *old)
{
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) != 0) return; /* it stays private */
}

static tb_status_t replace(const char *path, const struct stat *old, const char *text, size_t size,
                           tb_error_t *error)
{
  char *draft = NULL;
  if (asprintf(&draft, "%s.XXXXXX", path) < 0) return tb__no_memory(error);
  int fd = mkostemp(draft, O_CLOEXEC);
  if (fd < 0) {
    tb_status_t failed = path_error(path, error);
    free(draft);
    return failed;
  }
  tb_status_t status = write_all(fd, path, text, size, error);
  if (!status) set_rights(fd, old);
  if (!status && fsync(fd) != 0) status = path_error(path, error);
  if (close(fd) != 0 && !status) status = path_error(path, error);
  if (!status && rename(draft, path) != 0) status = path_error(path, error);
  if (status) unlink(draft);
  free(draft);
  return status;
}

tb_status_t tb__output_file_write(const char *path, const char *text, size_t size,
                                  tb_error_t *error)
{
  struct stat info;
  bool is_there = stat(path, &info) == 0;
  if (is_there && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return path_error(path, error);
  }
  if (is_there && !S_ISREG(info.st_mode)) return write_into(path, text, size, error);
  /* The file of a symbolic link is replaced, not the link. */
  char *real = is_there ? realpath(path, NULL) : NULL;
  tb_status_t status = replace(real ? real : path, is_there ? &info : NULL, text, size, error);
  tb__libc_free(real);
  return status;
}

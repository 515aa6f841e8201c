#include "bag/metadata_file.h"
#include "base/no_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tb_status_t path_error(const char *path, tb_error_t *error)
{
  return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno, "%s",
                            path);
}

static tb_status_t name_error(const char *folder, const char *name, tb_error_t *error)
{
  return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                            "%s/%s", folder, name);
}

/* A new file: neither what an earlier writer left nor what a link leads to is written. */
static tb_status_t write_file(int folder, const char *in, const char *name, const char *text,
                              tb_error_t *error)
{
  if (unlinkat(folder, name, 0) != 0 && errno != ENOENT) return name_error(in, name, error);
  int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return name_error(in, name, error);
  tb_status_t status = TB_OK;
  for (size_t size = strlen(text); size > 0 && !status;) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno != EINTR) status = name_error(in, name, error);
    if (written < 0) continue;
    text += written;
    size -= (size_t)written;
  }
  if (!status && fsync(fd) != 0) status = name_error(in, name, error);
  close(fd);
  return status;
}

tb_status_t tb__bag_folder_sync(int folder, const char *name, tb_error_t *error)
{
  return fsync(folder) != 0 ? path_error(name, error) : TB_OK;
}

tb_status_t tb__bag_metadata_replace_in(int folder, const char *name, const char *text,
                                        tb_error_t *error)
{
  static const char place[] = "metadata.yaml", draft[] = "metadata.yaml.new";
  tb_status_t status = write_file(folder, name, draft, text, error);
  if (!status && renameat(folder, draft, folder, place) != 0)
    status = name_error(name, place, error);
  if (status) unlinkat(folder, draft, 0);
  return status ? status : tb__bag_folder_sync(folder, name, error);
}

tb_status_t tb__bag_metadata_replace(const char *path, const char *text, tb_error_t *error)
{
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return path_error(path, error);
  tb_status_t status = tb__bag_metadata_replace_in(folder, path, text, error);
  close(folder);
  return status;
}

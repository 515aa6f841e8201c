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

/* A new file: neither what an earlier writer left nor what a link leads to is written. */
static tb_status_t write_file(const char *path, const char *text, tb_error_t *error)
{
  if (unlink(path) != 0 && errno != ENOENT) return path_error(path, error);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return path_error(path, error);
  tb_status_t status = TB_OK;
  for (size_t size = strlen(text); size > 0 && !status;) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno != EINTR) status = path_error(path, error);
    if (written < 0) continue;
    text += written;
    size -= (size_t)written;
  }
  if (!status && fsync(fd) != 0) status = path_error(path, error);
  close(fd);
  return status;
}

tb_status_t tb__bag_folder_sync(const char *folder, tb_error_t *error)
{
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return path_error(folder, error);
  tb_status_t status = fsync(fd) != 0 ? path_error(folder, error) : TB_OK;
  close(fd);
  return status;
}

static char *path_in(const char *folder, const char *name)
{
  char *path = NULL;
  return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

tb_status_t tb__bag_metadata_replace(const char *folder, const char *text, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  char *path = path_in(folder, "metadata.yaml");
  char *draft = path_in(folder, "metadata.yaml.new");
  if (!path || !draft)
    status = tb__no_memory(error);
  else
    status = write_file(draft, text, error);
  if (!status && rename(draft, path) != 0) status = path_error(path, error);
  if (status && draft) unlink(draft);
  free(draft);
  free(path);
  return status ? status : tb__bag_folder_sync(folder, error);
}

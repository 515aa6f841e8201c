#include "storage/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"

const char *tb__temporary_base(void)
{
  const char *base = getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

/* A name can be given to it only through /proc. */
tb_status_t tb__temporary_open_nameless(const char *of, int *out_fd, tb_error_t *error)
{
  const char *base = tb__temporary_base();
  int fd = -1;
  if (access("/proc/self/fd", X_OK) == 0) {
    fd = open(base, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR)
      return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s, to unpack %s", base, of);
  }
  *out_fd = fd;
  return TB_OK;
}

tb_status_t tb__temporary_name(const tb__temporary_t *temporary, int fd, tb_error_t *error)
{
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (linkat(AT_FDCWD, link, AT_FDCWD, temporary->path, AT_SYMLINK_FOLLOW) == 0) return TB_OK;
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", temporary->path);
}

static tb_status_t make_folder(const char *of, tb__temporary_t *out, tb_error_t *error)
{
  char *folder = NULL;
  if (asprintf(&folder, "%s/timebase-XXXXXX", tb__temporary_base()) < 0)
    return tb__no_memory(error);
  bool is_made = mkdtemp(folder) != NULL;
  int inside = is_made ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (inside >= 0) {
    out->folder = folder;
    out->inside = inside;
    return TB_OK;
  }
  tb_status_t status =
      tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s, to unpack %s", folder, of);
  if (is_made) rmdir(folder);
  free(folder);
  return status;
}

tb_status_t tb__temporary_make(const char *of, const char *suffix, tb__temporary_t *out,
                               tb_error_t *error)
{
  const char *slash = strrchr(of, '/');
  const char *name = slash ? slash + 1 : of;
  int length = (int)(strlen(name) - strlen(suffix));
  tb_status_t status = make_folder(of, out, error);
  if (status) return status;
  int size = access("/proc/self/fd", X_OK) == 0
                 ? asprintf(&out->path, "/proc/self/fd/%d/%.*s", out->inside, length, name)
                 : asprintf(&out->path, "%s/%.*s", out->folder, length, name);
  if (size >= 0) return TB_OK;
  out->path = NULL;
  return tb__no_memory(error);
}

void tb__temporary_forget(tb__temporary_t *temporary)
{
  if (temporary->path) unlinkat(temporary->inside, strrchr(temporary->path, '/') + 1, 0);
  if (temporary->folder) {
    close(temporary->inside);
    rmdir(temporary->folder);
  }
  free(temporary->path);
  free(temporary->folder);
  *temporary = (tb__temporary_t){0};
}

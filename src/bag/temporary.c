#include "bag/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tb_status_t no_memory(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

tb_status_t tb__temporary_make(const char *of, const char *suffix, tb__temporary_t *out,
                               tb_error_t *error)
{
  const char *base = getenv("TMPDIR");
  if (!base || !*base) base = "/tmp";
  const char *slash = strrchr(of, '/');
  const char *name = slash ? slash + 1 : of;
  int length = (int)(strlen(name) - strlen(suffix));
  if (asprintf(&out->folder, "%s/timebase-XXXXXX", base) < 0) {
    out->folder = NULL;
    return no_memory(error);
  }
  if (!mkdtemp(out->folder)) {
    tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s, for what is in %s", out->folder, of);
    free(out->folder);
    out->folder = NULL;
    return TB_ERR_SYSTEM;
  }
  if (asprintf(&out->path, "%s/%.*s", out->folder, length, name) >= 0) return TB_OK;
  out->path = NULL;
  return no_memory(error);
}

void tb__temporary_forget(tb__temporary_t *temporary)
{
  if (temporary->path) unlink(temporary->path);
  if (temporary->folder) rmdir(temporary->folder);
  free(temporary->path);
  free(temporary->folder);
  *temporary = (tb__temporary_t){0};
}

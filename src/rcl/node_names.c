#include "rcl/node_names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fork.h"
#include "platform/mutex.h"
#include "rcl/note.h"

#define FILE_NAME "timebase-nodes"
#define NAMES_MAX (1u << 20) /* of all names */

static tb__mutex_t mutex = TB__MUTEX_INIT;
static int file TB_GUARDED_BY(mutex) = -1;
static char *names TB_GUARDED_BY(mutex); /* each with a newline; NULL: there was none so far */

static void write_file_locked(void) TB_REQUIRES(mutex);

/* Readers may find the end missing for a moment, and look again. */
static void write_file_locked(void)
{
  size_t length = strlen(names);
  if (file < 0) file = memfd_create(FILE_NAME, MFD_CLOEXEC);
  if (file < 0 || pwrite(file, names, length, 0) != (ssize_t)length ||
      ftruncate(file, (off_t)length) != 0)
    tb__rcl_note("the names of this process's nodes cannot be shown to timebase");
}

void tb__node_names_add(const char *name)
{
  size_t added = strlen(name);
  if (tb__is_forked()) return;
  tb__mutex_lock(&mutex);
  size_t length = names ? strlen(names) : 0;
  char *grown = length + added < NAMES_MAX ? realloc(names, length + added + 2) : NULL;
  if (grown) {
    names = grown;
    memcpy(names + length, name, added);
    names[length + added] = '\n';
    names[length + added + 1] = '\0';
    write_file_locked();
  }
  tb__mutex_unlock(&mutex);
}

void tb__node_names_remove(const char *name)
{
  size_t length = strlen(name);
  if (tb__is_forked()) return;
  tb__mutex_lock(&mutex);
  char *line = names;
  while (line && *line && (strncmp(line, name, length) != 0 || line[length] != '\n'))
    line = strchr(line, '\n') + 1;
  if (line && *line) {
    memmove(line, line + length + 1, strlen(line + length + 1) + 1);
    write_file_locked();
  }
  tb__mutex_unlock(&mutex);
}

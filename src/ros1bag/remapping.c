#include "ros1bag/remapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

/* Of `length` characters, with the '/' that may be missing. */
static char *absolute(const char *name, size_t length)
{
  size_t slash = length == 0 || name[0] != '/';
  char *made = malloc(length + slash + 1);
  if (!made) return NULL;
  made[0] = '/';
  memcpy(made + slash, name, length);
  made[length + slash] = '\0';
  return made;
}

tb_status_t tb__ros1_remappings_init(tb__ros1_remappings_t *self, const char *const *texts,
                                     size_t count, tb_error_t *error)
{
  *self = (tb__ros1_remappings_t){calloc(count + 1, sizeof *self->from),
                                  calloc(count + 1, sizeof *self->to), 0};
  if (!self->from || !self->to) return tb__no_memory_for(error, "remappings");
  for (size_t i = 0; i < count; i++) {
    const char *middle = texts[i] ? strstr(texts[i], ":=") : NULL;
    if (!middle || middle == texts[i] || !middle[2])
      return tb_error_set(error, TB_ERR_INVALID,
                          "\"%.200s\" is no remapping; it must be like /from:=/to",
                          texts[i] ? texts[i] : "");
    self->from[i] = absolute(texts[i], (size_t)(middle - texts[i]));
    self->to[i] = absolute(middle + 2, strlen(middle + 2));
    self->count = i + 1;
    if (!self->from[i] || !self->to[i]) return tb__no_memory_for(error, "remappings");
  }
  return TB_OK;
}

void tb__ros1_remappings_fini(tb__ros1_remappings_t *self)
{
  for (size_t i = 0; i < self->count; i++) {
    free(self->from[i]);
    free(self->to[i]);
  }
  free(self->from);
  free(self->to);
  *self = (tb__ros1_remappings_t){0};
}

char *tb__ros1_remap(const tb__ros1_remappings_t *self, const char *topic)
{
  char *name = absolute(topic, strlen(topic));
  for (size_t i = 0; name && i < self->count; i++) {
    if (strcmp(self->from[i], name) != 0) continue;
    free(name);
    return strdup(self->to[i]);
  }
  return name;
}

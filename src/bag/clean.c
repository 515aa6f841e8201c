#include "bag/clean.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/yaml_writer.h"

#define ESCAPE_SIZE 4 /* of "\x1b" */

char *tb__bag_clean(const void *bytes, size_t size, bool *changed)
{
  if (size > (SIZE_MAX - 1) / (ESCAPE_SIZE + 1)) return NULL;
  char *copy = malloc(size + 1); /* with an end, so that no character goes past it */
  char *clean = malloc(ESCAPE_SIZE * size + 1);
  if (copy && clean) {
    if (size) memcpy(copy, bytes, size);
    copy[size] = '\0';
    char *out = clean;
    for (size_t at = 0; at < size;) {
      size_t length = tb__yaml_character_size(copy + at);
      if (length == 0) {
        out += snprintf(out, ESCAPE_SIZE + 1, "\\x%02x", (unsigned char)copy[at++]);
        if (changed) *changed = true;
        continue;
      }
      memcpy(out, copy + at, length);
      out += length;
      at += length;
    }
    *out = '\0';
  } else {
    free(clean);
    clean = NULL;
  }
  free(copy);
  return clean;
}

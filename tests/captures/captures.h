/* Reading files of captures: a list of objects, each field on a separate line. */
#ifndef TB_TEST_CAPTURES_H
#define TB_TEST_CAPTURES_H

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define CAPTURES_FOLDER TB_SHARED_DIR "/captures/"

/* The test is skipped where the file is missing. To be freed. */
static inline char *captures_read(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, CAPTURES_FOLDER "%s", name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    print_message("no captures at %s\n", path);
    skip();
  }
  char *text = calloc(1, 8 << 20);
  assert_non_null(text);
  size_t size = fread(text, 1, (8 << 20) - 1, file);
  assert_true(size > 0 && size < (8 << 20) - 1);
  fclose(file);
  return text;
}

/* The next object at or after `at`, or NULL, and where it ends. */
static inline const char *captures_object(const char *at, const char **out_end)
{
  const char *object = strstr(at, "\n {");
  if (!object) return NULL;
  *out_end = strstr(object, "\n }");
  assert_non_null(*out_end);
  return object;
}

/* The value after `"key":` of the object that begins at `object` and ends before `end`. */
static inline const char *captures_member(const char *object, const char *end, const char *key)
{
  char pattern[80];
  snprintf(pattern, sizeof pattern, "\n  \"%s\": ", key);
  const char *found = strstr(object, pattern);
  return found && found < end ? found + strlen(pattern) : NULL;
}

static inline size_t captures_hex(const char *hex, uint8_t *out, size_t room)
{
  size_t size = 0;
  for (unsigned byte; *hex != '"' && sscanf(hex, "%2x", &byte) == 1; hex += 2) {
    assert_true(size < room);
    out[size++] = (uint8_t)byte;
  }
  return size;
}

#endif

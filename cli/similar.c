#include "similar.h"

#include <stdint.h>
#include <string.h>

#define NAME_SIZE 256 /* longer names are similar to none */

size_t similar_distance(const char *a, const char *b)
{
  size_t row[NAME_SIZE];
  size_t width = strlen(b);
  if (width >= NAME_SIZE || strlen(a) >= NAME_SIZE) return SIZE_MAX;
  for (size_t j = 0; j <= width; j++)
    row[j] = j;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < width; j++) {
      size_t best = diagonal + (a[i] != b[j]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row[width];
}

static const char *last_part(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash ? slash + 1 : name;
}

bool is_similar(const char *wanted, const char *name)
{
  size_t length = strlen(wanted);
  if (length >= NAME_SIZE || strlen(name) >= NAME_SIZE) return false;
  if (last_part(wanted)[0] && strcmp(last_part(wanted), last_part(name)) == 0) return true;
  return similar_distance(wanted, name) <= (length < 4 ? 1 : length < 12 ? 2 : 3);
}

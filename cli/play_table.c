#include "play_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *play_sort_text(play_sort_t sort)
{
  static const char *const texts[PLAY_SORTS] = {"", ", by name", ", by Hz", ", by B/s"};
  return texts[sort];
}

typedef struct sorting {
  const play_topic_t *topics;
  play_sort_t sort;
} sorting_t;

/* Rounded, so that rows do not change places all the time. */
static double rounded(double value)
{
  return isnan(value) || value <= 0 ? 0 : exp2(round(2 * log2(value)) / 2);
}

static int compare(const void *a, const void *b, void *user)
{
  const sorting_t *sorting = user;
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  const play_topic_t *first = &sorting->topics[x], *second = &sorting->topics[y];
  int order = 0;
  if (sorting->sort == PLAY_SORT_NAME) order = strcmp(first->name, second->name);
  if (sorting->sort == PLAY_SORT_HZ || sorting->sort == PLAY_SORT_BYTES) {
    bool hz = sorting->sort == PLAY_SORT_HZ;
    double one = rounded(hz ? first->hz : first->bytes_per_s);
    double other = rounded(hz ? second->hz : second->bytes_per_s);
    order = (one < other) - (one > other);
  }
  return order ? order : (x > y) - (x < y);
}

size_t play_table_order(const play_topic_t *topics, size_t count, play_sort_t sort,
                        const char *filter, size_t *out)
{
  sorting_t sorting = {topics, sort};
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (strcasestr(topics[i].name, filter)) out[kept++] = i;
  if (sort != PLAY_SORT_RECORDED) qsort_r(out, kept, sizeof *out, compare, &sorting);
  return kept;
}

void play_table_bytes(double bytes, char *out, size_t size)
{
  static const char *const units[] = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
    bytes /= 1000;
  if (isnan(bytes))
    snprintf(out, size, "-");
  else
    snprintf(out, size, "%.*f%s", unit > 0 && bytes < 9.95 ? 1 : 0, bytes, units[unit]);
}

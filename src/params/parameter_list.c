#include "params/parameter_list.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATOR '.'

static int text_order(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

tb_status_t tb__parameter_filter_init(tb__parameter_filter_t *filter, const char *const *prefixes,
                                      size_t count, uint64_t depth)
{
  *filter = (tb__parameter_filter_t){.depth = depth};
  if (count == 0) return TB_OK;
  filter->prefixes = calloc(count, sizeof *filter->prefixes);
  if (!filter->prefixes) return TB_ERR_NO_MEMORY;
  memcpy(filter->prefixes, prefixes, count * sizeof *filter->prefixes);
  qsort(filter->prefixes, count, sizeof *filter->prefixes, text_order);
  filter->count = count;
  return TB_OK;
}

void tb__parameter_filter_fini(tb__parameter_filter_t *filter)
{
  free(filter->prefixes);
}

/* The first `length` bytes of `name`. */
static bool is_prefix(const tb__parameter_filter_t *filter, const char *name, size_t length)
{
  size_t from = 0, to = filter->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    int order = strncmp(filter->prefixes[middle], name, length);
    if (order == 0 && filter->prefixes[middle][length] == '\0') return true;
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return false;
}

bool tb__parameter_filter_takes(const tb__parameter_filter_t *filter, const char *name)
{
  uint64_t separators = 0;
  for (const char *at = name; *at; at++)
    separators += *at == SEPARATOR;
  if (filter->count == 0) return filter->depth == 0 || separators < filter->depth;
  for (const char *at = name; *at; at++) {
    if (*at != SEPARATOR) continue;
    separators--; /* those after it remain */
    if ((filter->depth == 0 || separators < filter->depth) &&
        is_prefix(filter, name, (size_t)(at - name)))
      return true;
  }
  return is_prefix(filter, name, strlen(name));
}

typedef struct prefix {
  const char *text;
  size_t length;
  size_t place;
} prefix_t;

static int by_text(const void *a, const void *b)
{
  const prefix_t *left = a, *right = b;
  size_t length = left->length < right->length ? left->length : right->length;
  int order = memcmp(left->text, right->text, length);
  if (order != 0) return order;
  if (left->length != right->length) return left->length < right->length ? -1 : 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

static int by_place(const void *a, const void *b)
{
  const prefix_t *left = a, *right = b;
  return left->place < right->place ? -1 : left->place > right->place;
}

static size_t prefixes_collect(const tb__parameter_states_t *states, prefix_t *prefixes)
{
  size_t count = 0, distinct = 0;
  for (size_t i = 0; i < states->count; i++) {
    const char *name = states->items[i]->declaration->name, *last = strrchr(name, SEPARATOR);
    if (last) prefixes[count++] = (prefix_t){name, (size_t)(last - name), i};
  }
  qsort(prefixes, count, sizeof *prefixes, by_text);
  for (size_t i = 0; i < count; i++) {
    const prefix_t *last = distinct ? &prefixes[distinct - 1] : NULL;
    if (!last || last->length != prefixes[i].length ||
        memcmp(last->text, prefixes[i].text, last->length) != 0)
      prefixes[distinct++] = prefixes[i];
  }
  qsort(prefixes, distinct, sizeof *prefixes, by_place);
  return distinct;
}

static const char **prefixes_copy(const prefix_t *prefixes, size_t count)
{
  size_t size = count * sizeof(char *);
  for (size_t i = 0; i < count; i++)
    size += prefixes[i].length + 1;
  const char **copy = malloc(size);
  if (!copy) return NULL;
  char *text = (char *)(copy + count);
  for (size_t i = 0; i < count; i++) {
    copy[i] = memcpy(text, prefixes[i].text, prefixes[i].length);
    text += prefixes[i].length;
    *text++ = '\0';
  }
  return copy;
}

tb_status_t tb__parameter_prefixes(const tb__parameter_states_t *states, tb__strings_t *out)
{
  tb__strings_t found = {0};
  if (states->count > 0) {
    prefix_t *prefixes = calloc(states->count, sizeof *prefixes);
    if (!prefixes) return TB_ERR_NO_MEMORY;
    found.count = prefixes_collect(states, prefixes);
    if (found.count > 0) found.items = prefixes_copy(prefixes, found.count);
    free(prefixes);
    if (found.count > 0 && !found.items) return TB_ERR_NO_MEMORY;
  }
  *out = found;
  return TB_OK;
}

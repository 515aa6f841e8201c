#include "contract/name_pattern.h"

#include <string.h>

/* A wildcard, and how much of the name it stands for so far. */
typedef struct star {
  const char *after; /* it, in the pattern; NULL: there was none */
  const char *end;   /* of what it stands for */
} star_t;

/* One character more for the wildcard. False: it cannot have that. */
static bool extend(star_t *star, bool is_deep, const char **pattern, const char **name)
{
  if (!star->after || !*star->end || (!is_deep && *star->end == '/')) return false;
  *name = ++star->end;
  *pattern = star->after;
  return true;
}

/* Only the last wildcard of each kind is tried again: what an earlier one could have instead, the
 * later one of the same kind can have too; and one that takes more can have what the other can. */
bool tb__name_matches(const char *pattern, const char *name)
{
  star_t shallow = {0}, deep = {0};
  while (*name || *pattern) {
    if (strncmp(pattern, "**", 2) == 0) {
      pattern += strspn(pattern, "*");
      deep = (star_t){pattern, name};
      shallow = (star_t){0};
    } else if (*pattern == '*') {
      shallow = (star_t){++pattern, name};
    } else if (*name && *pattern == *name) {
      pattern++;
      name++;
    } else if (!extend(&shallow, false, &pattern, &name)) {
      shallow = (star_t){0};
      if (!extend(&deep, true, &pattern, &name)) return false;
    }
  }
  return true;
}

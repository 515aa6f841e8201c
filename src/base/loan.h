/* Bytes that whoever is given them may keep, and need not copy. A caller lends them on its thread
 * for the time of a call; a function that is called in it, through whatever is in between, and
 * finds that it was given exactly these bytes may take a reference. They never change. */
#ifndef TB_BASE_LOAN_H
#define TB_BASE_LOAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/private_api.h"

typedef struct tb__loan {
  const void *data;
  size_t size, padded; /* zeros up to the second, a multiple of 4 */
  void *owner;
  void (*keep)(void *owner);      /* [any thread] once for each reference */
  void (*give_back)(void *owner); /* [any thread] */
} tb__loan_t;

/* Lends until the next call; NULL: nothing. */
TB_PRIVATE_API void tb__loan_set(const tb__loan_t *loan);
/* What is lent to this thread; NULL: not these bytes. */
TB_PRIVATE_API const tb__loan_t *tb__loan_find(const void *data, size_t size);

#endif

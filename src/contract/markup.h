/* A page of HTML or XML in memory, that is well-formed whatever text of others comes into it.
 * Numbers are written without the locale. */
#ifndef TB_CONTRACT_MARKUP_H
#define TB_CONTRACT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/private_api.h"

/* All zero: empty. */
typedef struct tb__markup {
  char *text; /* NUL-terminated; NULL while empty */
  size_t length, capacity;
  bool is_lost; /* memory ran out: the text is not complete */
} tb__markup_t;

void tb__markup_fini(tb__markup_t *markup);

/* Our own markup, as it is. */
void tb__markup_raw(tb__markup_t *markup, const char *text);
/* The same, as printf: for numbers, not for text of others. */
void tb__markup_print(tb__markup_t *markup, const char *format, ...) TB_PRINTF(2, 3);
/* Text of others, between tags or in an attribute with double quotes: what has a meaning in markup,
 * what harms a reader (tb_text_escape) and what XML forbids is escaped. After `most` characters it
 * is cut, and ends with "...". */
void tb__markup_text(tb__markup_t *markup, const char *text, size_t most);

/* The same for a name between tags, where a narrow page may break it after each '/'. */
void tb__markup_name(tb__markup_t *markup, const char *name, size_t most);

#define TB__NUMBER_TEXT_SIZE 32
/* `decimals` from 0 to 6. What is not finite is "-". */
void tb__number_text(double value, int decimals, char text[TB__NUMBER_TEXT_SIZE]);
/* A time in UTC if it is one of the years 2000 to 2261 ("2024-05-01 12:00:00.250 UTC"), else in
 * seconds. */
#define TB__INSTANT_TEXT_SIZE 48
void tb__instant_text(int64_t ns, char text[TB__INSTANT_TEXT_SIZE]);

#endif

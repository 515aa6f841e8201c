/* Suggestions for misspelt names. */
#ifndef TB_CLI_SIMILAR_H
#define TB_CLI_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>

/* How many characters to insert, delete or replace to turn one into the other; SIZE_MAX where one
 * is longer than names are. */
size_t similar_distance(const char *a, const char *b);

/* Whether `wanted` may be a misspelling of `name`. */
bool is_similar(const char *wanted, const char *name);

#endif

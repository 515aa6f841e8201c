/* Suggestions for misspelt names. */
#ifndef TB_CLI_SIMILAR_H
#define TB_CLI_SIMILAR_H

#include <stdbool.h>

/* Whether `wanted` may be a misspelling of `name`. */
bool is_similar(const char *wanted, const char *name);

#endif

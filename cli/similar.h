/* What somebody may have meant. */
#ifndef TB_CLI_SIMILAR_H
#define TB_CLI_SIMILAR_H

#include <stdbool.h>

/* Whether somebody who wrote `wanted` may have meant `name`. */
bool is_similar(const char *wanted, const char *name);

#endif

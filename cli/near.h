/* What somebody may have meant. */
#ifndef TB_CLI_NEAR_H
#define TB_CLI_NEAR_H

#include <stdbool.h>

/* Whether somebody who wrote `wanted` may have meant `name`. */
bool is_near(const char *wanted, const char *name);

#endif

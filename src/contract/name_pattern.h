/* Names of nodes and topics with wildcards. */
#ifndef TB_CONTRACT_NAME_PATTERN_H
#define TB_CONTRACT_NAME_PATTERN_H

#include <stdbool.h>

#include "base/private_api.h"

/* Whether `name` is the pattern's. "*" stands for any characters but '/', "**" for any characters,
 * of none up. The steps that it takes grow with the square of the name's length at most. */
TB_PRIVATE_API bool tb__name_matches(const char *pattern, const char *name);

#endif

/* Names of nodes and topics in a manifest. */
#ifndef TB_CONTRACT_MANIFEST_NAMES_H
#define TB_CONTRACT_MANIFEST_NAMES_H

#include <stdbool.h>

#include "base/private_api.h"

/* What is wrong with it, as the end of a sentence; NULL: it is a full name of ROS, or with
 * `wildcards` a pattern. */
const char *tb__manifest_name_fault(const char *name, bool wildcards);

/* Whether it is a full name. */
TB_PRIVATE_API bool tb__manifest_name_is_valid(const char *name);

#endif

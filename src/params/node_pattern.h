/* Names of nodes in parameter files: "/ns/node", and patterns with '*' and '**'. Pure. */
#ifndef TB_ROS2_NODE_PATTERN_H
#define TB_ROS2_NODE_PATTERN_H

#include <stdbool.h>
#include <timebase/error.h>

/* A name or pattern, with or without its first '/'. TB_ERR_INVALID with the rule that is broken. */
TB_WARN_UNUSED tb_status_t tb__node_pattern_check(const char *pattern, tb_error_t *error);

/* '*' matches one part of the full name, '**' any number of parts, also none. */
bool tb__node_pattern_matches(const char *pattern, const char *full_name);

#endif

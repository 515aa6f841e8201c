/* Rules "from:=to" of the command line, for nodes, namespaces, topics and services. Pure. */
#ifndef TB_ROS2_REMAP_H
#define TB_ROS2_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/error.h>

#include "wire/names.h"

typedef enum tb__remap_kind {
  TB__REMAP_NODE = 1,
  TB__REMAP_NAMESPACE = 2,
  TB__REMAP_TOPIC = 4,
  TB__REMAP_SERVICE = 8,
} tb__remap_kind_t;

typedef struct tb__remap_rule {
  unsigned kinds;   /* a rule without a scheme is for topics and services */
  char *text;       /* what the following point into */
  const char *node; /* the node that it applies to; NULL: all */
  const char *from; /* of topics and services */
  const char *to;
} tb__remap_rule_t;

typedef struct tb__remap_rules {
  tb__remap_rule_t *items;
  size_t count, capacity;
} tb__remap_rules_t;

/* Appends the rule. TB_ERR_INVALID with what is wrong, TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__remap_rules_add(tb__remap_rules_t *rules, const char *text,
                                               tb_error_t *error);
void tb__remap_rules_fini(tb__remap_rules_t *rules);

/* The first rule for nodes or namespaces of the node `name`, NULL if none. `rules` may be NULL. */
const tb__remap_rule_t *tb__remap_find(const tb__remap_rules_t *rules, tb__remap_kind_t kind,
                                       const char *name);

/* The first rule for the topic or service `full` of a node, NULL if none. */
const tb__remap_rule_t *tb__remap_find_name(const tb__remap_rules_t *rules, tb__remap_kind_t kind,
                                            const char *node_name, const char *node_namespace,
                                            const char *full);

#endif

/* Selects names by a list of prefixes and a depth. Pure. */
#ifndef TB_ROS2_PARAMETER_LIST_H
#define TB_ROS2_PARAMETER_LIST_H

#include "params/parameter_store.h"

/* Prefixes are sorted: the time for a name is its length times the logarithm of their number, so
 * many prefixes are cheap. */
typedef struct tb__parameter_filter {
  const char **prefixes;
  size_t count;
  uint64_t depth;
} tb__parameter_filter_t;

/* TB_ERR_NO_MEMORY */
TB_WARN_UNUSED tb_status_t tb__parameter_filter_init(tb__parameter_filter_t *filter,
                                                     const char *const *prefixes, size_t count,
                                                     uint64_t depth);
void tb__parameter_filter_fini(tb__parameter_filter_t *filter);

bool tb__parameter_filter_takes(const tb__parameter_filter_t *filter, const char *name);

#endif

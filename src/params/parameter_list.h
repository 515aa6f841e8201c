/* Which names a list of prefixes and a depth choose. Pure. */
#ifndef TB_ROS2_PARAMETER_LIST_H
#define TB_ROS2_PARAMETER_LIST_H

#include "params/parameter_store.h"

/* Prefixes in the order of their texts: a name is found in the time of its own length and the
 * logarithm of their number, so many of them cost little. */
typedef struct tb__parameter_filter {
  const char **prefixes;
  size_t count;
  uint64_t depth;
} tb__parameter_filter_t;

/* TB_ERR_NO_MEMORY */
tb_status_t tb__parameter_filter_init(tb__parameter_filter_t *filter, const char *const *prefixes,
                                      size_t count, uint64_t depth);
void tb__parameter_filter_fini(tb__parameter_filter_t *filter);

bool tb__parameter_filter_takes(const tb__parameter_filter_t *filter, const char *name);

#endif

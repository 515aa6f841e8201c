/* Names of topics on a ROS 1 graph: "FROM:=TO". */
#ifndef TB_ROS1BAG_REMAPPING_H
#define TB_ROS1BAG_REMAPPING_H

#include <stddef.h>
#include <timebase/error.h>

typedef struct tb__ros1_remappings {
  char **from, **to; /* absolute */
  size_t count;
} tb__ros1_remappings_t;

/* TB_ERR_INVALID, TB_ERR_NO_MEMORY: end it all the same. */
tb_status_t tb__ros1_remappings_init(tb__ros1_remappings_t *self, const char *const *texts,
                                     size_t count, tb_error_t *error) TB_WARN_UNUSED;
void tb__ros1_remappings_fini(tb__ros1_remappings_t *self);

/* The name that a topic has, absolute; to be freed. NULL: out of memory. */
char *tb__ros1_remap(const tb__ros1_remappings_t *self, const char *topic);

#endif

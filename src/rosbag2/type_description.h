/* Definitions of messages as nodes have them: the service ~/get_type_description, from jazzy on. */
#ifndef TB_ROSBAG2_TYPE_DESCRIPTION_H
#define TB_ROSBAG2_TYPE_DESCRIPTION_H

#include <timebase/duration.h>
#include <timebase/ros2_context.h>

#include "definition/resolve.h"

/* A node that publishes, to be asked with tb__type_description_ask as the `user`. */
typedef struct tb__type_description_source {
  tb_ros2_context_t *context;
  const char *node; /* full name */
  const char
      *type_hash; /* "RIHS01_..." of its messages; NULL or "": not known, and it is not asked */
  tb_duration_t limit; /* of the whole call */
} tb__type_description_source_t;

/* A tb__definition_ask_fn; `user` is a tb__type_description_source_t. TB_ERR_NOT_FOUND: the node
 * has no such service, does not answer, or does not know the type. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__type_description_ask(void *user, const char *type, char **out_text,
                                                    char **out_encoding) TB_WARN_UNUSED;

/* Pure: the text ("ros2msg") of `type` in a serialized type_description_interfaces/srv/
 * GetTypeDescription_Response. free(*out). TB_ERR_NOT_FOUND: the node reports a failure, which is
 * in the text of the error. TB_ERR_TRUNCATED; TB_ERR_CORRUPT: also that of another type;
 * TB_ERR_UNSUPPORTED: kinds of fields that ROS 2 does not make. TB_ERR_NO_MEMORY. */
tb_status_t tb__type_description_text(const char *type, const void *cdr, size_t size, char **out,
                                      tb_error_t *error) TB_WARN_UNUSED;

#endif

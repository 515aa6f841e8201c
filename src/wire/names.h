/* ROS 2 names of topics and types, and their names in DDS. Pure. */
#ifndef TB_ROS2_NAMES_H
#define TB_ROS2_NAMES_H

#include <stdbool.h>
#include <timebase/error.h>

#include "base/private_api.h"

#define TB__DDS_NAME_SIZE 256

/* "/chatter" and "chatter" become "rt/chatter". With `plain` (avoid_ros_namespace_conventions) the
 * name goes to DDS as it is. TB_ERR_INVALID with the broken rule in the text. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__topic_name_to_dds(const char *topic, bool plain,
                                                                char out[TB__DDS_NAME_SIZE],
                                                                tb_error_t *error);

/* "/add" and "add" become "rq/addRequest" and "rr/addReply". */
TB_WARN_UNUSED tb_status_t tb__service_name_to_dds(const char *service,
                                                   char out_request[TB__DDS_NAME_SIZE],
                                                   char out_reply[TB__DDS_NAME_SIZE],
                                                   tb_error_t *error);

/* The full name of "/absolute", "relative", "~/private", "{node}/x", "{ns}/x" and "{namespace}/x"
 * for the node `node_name` in `node_namespace`, which are valid and normalized
 * (tb__namespace_normalize). TB_ERR_INVALID with the broken rule in the text. */
TB_WARN_UNUSED tb_status_t tb__name_expand(const char *name, const char *node_name,
                                           const char *node_namespace, char out[TB__DDS_NAME_SIZE],
                                           tb_error_t *error);

/* TB_ERR_INVALID with the broken rule in the text. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__node_name_check(const char *name, tb_error_t *error);

/* "" becomes "/", and "a/b" becomes "/a/b". TB_ERR_INVALID with the rule that is broken. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__namespace_normalize(const char *ns,
                                                                  char out[TB__DDS_NAME_SIZE],
                                                                  tb_error_t *error);

/* TB_ERR_INVALID if it is neither "/" nor an absolute name like "/robot/arm". */
TB_WARN_UNUSED tb_status_t tb__enclave_name_check(const char *enclave, tb_error_t *error);

/* "std_msgs/msg/String", or the old "std_msgs/String", becomes "std_msgs/msg/String". */
TB_WARN_UNUSED tb_status_t tb__type_name_normalize(const char *type, char out[TB__DDS_NAME_SIZE],
                                                   tb_error_t *error);

/* ... and then "std_msgs::msg::dds_::String_". */
TB_WARN_UNUSED tb_status_t tb__type_name_to_dds(const char *type, char out[TB__DDS_NAME_SIZE],
                                                tb_error_t *error);

#endif

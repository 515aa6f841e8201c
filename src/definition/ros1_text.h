/* The texts of definitions of ROS 1: what tells them apart, and how they become those of ROS 2 and
 * the other way round. Pure. */
#ifndef TB_DEFINITION_ROS1_TEXT_H
#define TB_DEFINITION_ROS1_TEXT_H

#include <timebase/error.h>

#include "base/private_api.h"
#include "definition/md5.h"
#include "definition/parse.h"

/* "sensor_msgs/Imu" to "sensor_msgs/msg/Imu", and back; a few types have other names. False: it is
 * no name of a message, or too long. */
bool tb__ros2_name_of(const char *ros1, char out[TB__DEFINITION_NAME_SIZE]);
bool tb__ros1_name_of(const char *ros2, char out[TB__DEFINITION_NAME_SIZE]);

/* Whether ROS 1's definition of "package/Name" is another than what ROS 2's becomes. */
bool tb__ros1_has_own(const char *type);

/* By ROS 1's rule: of the text without comments, constants first, with types by their md5sums.
 * TB_ERR_NOT_FOUND: a type in it is missing. TB_ERR_CORRUPT: one contains itself. TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__ros1_md5sum(const char *type, const char *text,
                                           char out[TB__MD5_TEXT_SIZE],
                                           tb_error_t *error) TB_WARN_UNUSED;

/* The text of a .msg file, and those of the types in it, as the other generation has it; comments
 * and constants stay. `*out` is to be freed. TB_ERR_NO_MEMORY. */
tb_status_t tb__ros1_text_to_ros2(const char *type, const char *text, char **out,
                                  tb_error_t *error) TB_WARN_UNUSED;
/* `has_known`: types that are built in become ROS 1's own, as constants of ROS 2's are others, and
 * with them the md5sum. `type` is of ROS 1. */
tb_status_t tb__ros2_text_to_ros1(const char *type, const char *text, bool has_known, char **out,
                                  tb_error_t *error) TB_WARN_UNUSED;

/* A schema as "ros2msg", without constants and comments. The same errors. */
tb_status_t tb__schema_to_text(const tb__schema_t *schema, char **result,
                               tb_error_t *error) TB_WARN_UNUSED;

#endif

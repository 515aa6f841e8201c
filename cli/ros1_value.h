/* Values of parameters of ROS 1 as YAML, of which JSON is a part. */
#ifndef TB_CLI_ROS1_VALUE_H
#define TB_CLI_ROS1_VALUE_H

#include <jansson.h>
#include <timebase/ros1_parameter.h>

/* true, 5, 1.5 and yes are what YAML has them for; what is quoted, and whatever else, is a string;
 * lists are those of YAML, dictionaries of JSON. Release *out with ros1_value_free. TB_ERR_INVALID,
 * TB_ERR_RANGE: an integer above 32 bits, TB_ERR_NO_MEMORY. */
tb_status_t ros1_value_parse(const char *text, tb_ros1_value_t **out, tb_error_t *error);
void ros1_value_free(tb_ros1_value_t *value);

json_t *ros1_value_json(const tb_ros1_value_t *value);
/* "boolean", "integer", "double", "string", "list", "dictionary", "other". */
const char *ros1_value_type(const tb_ros1_value_t *value);

#endif

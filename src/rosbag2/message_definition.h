/* The text of message definitions, as bags keep it ("ros2msg"): the type's own file, and those of
 * all types in it, each after a line of 80 '=' and one with its name. */
#ifndef TB_ROSBAG2_MESSAGE_DEFINITION_H
#define TB_ROSBAG2_MESSAGE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/status.h>

#define TB__MESSAGE_DEFINITION_ENCODING "ros2msg"
#define TB__MESSAGE_NAME_SIZE           256

/* Of "package/msg/Name", from the share folders below `prefixes` (separated by ':' as in
 * AMENT_PREFIX_PATH; may be NULL), else of the types that are built in: those of the time contract.
 * *out is to be freed. TB_ERR_NOT_FOUND: this type, or one in it, has no definition.
 * TB_ERR_INVALID: no such name. TB_ERR_LIMIT: too many types, too much text. TB_ERR_NO_MEMORY. */
tb_status_t tb__message_definition(const char *type, const char *prefixes,
                                   char **out) TB_WARN_UNUSED;

/* Pure: the next type that the fields of a definition name, as "package/Name", from *at on; false
 * at the end. `package` is that of the definition. */
bool tb__message_field_next(const char *text, size_t *at, const char *package,
                            char out[TB__MESSAGE_NAME_SIZE]);

#endif

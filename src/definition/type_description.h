/* Definitions of messages as nodes have them: what is sent to their service ~/get_type_description,
 * which they have from jazzy on, and what they answer. Pure. */
#ifndef TB_DEFINITION_TYPE_DESCRIPTION_H
#define TB_DEFINITION_TYPE_DESCRIPTION_H

#include <stddef.h>
#include <timebase/error.h>

#include "base/private_api.h"

#define TB__TYPE_DESCRIPTION_SERVICE "type_description_interfaces/srv/GetTypeDescription"

/* The serialized request for `type` of a hash ("RIHS01_..."), which a node wants to know.
 * free(*out). TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__type_description_request(const char *type, const char *type_hash,
                                                        void **out,
                                                        size_t *out_size) TB_WARN_UNUSED;

/* The text ("ros2msg") of `type` in a serialized response. free(*out). TB_ERR_NOT_FOUND: the node
 * reports a failure, which is in the text of the error. TB_ERR_TRUNCATED; TB_ERR_CORRUPT: also that
 * of another type; TB_ERR_UNSUPPORTED: kinds of fields that ROS 2 does not make. TB_ERR_NO_MEMORY.
 */
TB_PRIVATE_API tb_status_t tb__type_description_text(const char *type, const void *cdr, size_t size,
                                                     char **out, tb_error_t *error) TB_WARN_UNUSED;

#endif

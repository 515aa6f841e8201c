/* Definitions of messages, as recordings and nodes have them, to schemas. */
#ifndef TB_DEFINITION_PARSE_H
#define TB_DEFINITION_PARSE_H

#include <timebase/error.h>

#include "base/private_api.h"
#include "definition/schema.h"

#define TB__DEFINITION_NAME_SIZE 256

/* "package/msg/Name" of "package/Name", as old recordings have it, and of itself. False: it is no
 * such name, or too long. Pure. */
bool tb__definition_full_name(const char *type, char out[TB__DEFINITION_NAME_SIZE]);
/* Whether a type is the one of this full name: it may have the form of ROS 1. Pure. */
bool tb__definition_is_of(const char *type, const char *name);

/* `text` defines `type` ("package/msg/Name"; "package/Name" is the same) and all types in it, in
 * "ros2msg" (texts of .msg files, with a line of '=' and one of "MSG: package/Name" before each
 * but the first) or "ros2idl" (of .idl files, with "IDL: ") or "ros1msg" (as the first, of ROS 1,
 * whose bytes its messages then have); "unknown" is the first. tb__schema_destroy it.
 * TB_ERR_CORRUPT: not of the format, or a type in it is missing or contains itself; line and column
 * are in the text. TB_ERR_UNSUPPORTED: another encoding, ROS 1's types, what ROS 2 has not.
 * TB_ERR_LIMIT: too long, too deep, too many types or fields. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__schema_parse(const char *type, const char *encoding,
                                            const char *text, size_t size, tb__schema_t **out,
                                            tb_error_t *error) TB_WARN_UNUSED;

#endif

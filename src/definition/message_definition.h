/* The text of message definitions, as bags keep it ("ros2msg", "ros2idl"): the type's own file, and
 * those of all types in it, each after a line of 80 '=' and one with its name. */
#ifndef TB_DEFINITION_MESSAGE_DEFINITION_H
#define TB_DEFINITION_MESSAGE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/status.h>

#include "base/private_api.h"

#define TB__MESSAGE_DEFINITION_ENCODING "ros2msg"
#define TB__MESSAGE_IDL_ENCODING        "ros2idl"
#define TB__MESSAGE_ROS1_ENCODING       "ros1msg" /* its messages are as ROS 1 serializes */
/* As rosbag2 calls a text in which no type of another file is: that of a service of numbers alone.
 * It is ROS2MSG. */
#define TB__MESSAGE_UNKNOWN_ENCODING "unknown"
/* Both, where types of .idl files have types of .msg files in them, or the other way round: those
 * of .idl files come first, and each has a line with its name. No recording has such a text. */
#define TB__MESSAGE_MIXED_ENCODING "ros2idl and ros2msg"
#define TB__MESSAGE_NAME_SIZE      256

/* Where a definition is from. */
typedef enum tb__definition_origin {
  TB__DEFINITION_UNKNOWN,
  TB__DEFINITION_RECORDING,
  TB__DEFINITION_NODE,
  TB__DEFINITION_INSTALLED, /* below a prefix of AMENT_PREFIX_PATH */
  TB__DEFINITION_FOLDER,    /* one that the user named */
  TB__DEFINITION_BUILT_IN,
} tb__definition_origin_t;

/* Where files are looked for, in this order; then the types that are built in. */
typedef struct tb__definition_places {
  const char *prefixes; /* as AMENT_PREFIX_PATH: PREFIX/share/package/msg/Name.msg; may be NULL */
  const char *const *folders; /* FOLDER/package/msg/Name.msg, or with share/ before it */
  size_t folder_count;
} tb__definition_places_t;

/* A definition that files make up, or what is built in. */
typedef struct tb__found_definition {
  char *text;                     /* to be freed */
  const char *encoding;           /* one of the three */
  tb__definition_origin_t origin; /* of the type's own; those in it may be from elsewhere */
} tb__found_definition_t;

/* Of "package/msg/Name". The type's own file is looked for at `origin` alone (INSTALLED, FOLDER or
 * BUILT_IN; UNKNOWN: all of them, in this order), those of the types in it there first. Each is a
 * .msg file or an .idl file, the first one that is there. TB_ERR_NOT_FOUND: this type, or one in
 * it, has no definition. TB_ERR_INVALID: no such name. TB_ERR_LIMIT: too many types, too much text.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__message_definition_find(const char *type,
                                                       tb__definition_origin_t origin,
                                                       const tb__definition_places_t *places,
                                                       tb__found_definition_t *out) TB_WARN_UNUSED;

/* Pure: the next type that the fields of a definition name, as "package/Name", from *at on; false
 * at the end. `package` is that of the definition. */
bool tb__message_field_next(const char *text, size_t *at, const char *package,
                            char out[TB__MESSAGE_NAME_SIZE]);
/* The same of an IDL text: what its lines of #include name. */
bool tb__message_include_next(const char *text, size_t *at, char out[TB__MESSAGE_NAME_SIZE]);

/* Whether the type, "pkg/msg/Name", has a member with @key, by its definition in IDL. */
TB_PRIVATE_API bool tb__idl_is_keyed(const char *definition, const char *type);

#endif

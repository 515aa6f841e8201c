/* Serialized messages of any type, read by the definition of the type: the stamp of the header, or
 * any field by its name. */
#ifndef TIMEBASE_MESSAGE_DEFINITION_H
#define TIMEBASE_MESSAGE_DEFINITION_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** The definition of a message type, with those of all types in it. It never changes. */
typedef struct tb_message_definition tb_message_definition_t;

/** A field of a type, or of the types in it. It never changes. */
typedef struct tb_message_field tb_message_field_t;

/** Where a definition was found. */
typedef enum tb_message_definition_origin {
  TB_MESSAGE_DEFINITION_GIVEN = 1, /**< as text: that of a recording, or of a node */
  TB_MESSAGE_DEFINITION_INSTALLED, /**< below a prefix of AMENT_PREFIX_PATH */
  TB_MESSAGE_DEFINITION_FOLDER,    /**< in a folder that the caller named */
  TB_MESSAGE_DEFINITION_BUILT_IN,  /**< the library has it with it */
} tb_message_definition_origin_t;

TB_BEGIN_DECLS

/** Reads a definition as recordings have it (tb_bag_topic_t: `definition`, `definition_encoding`):
 * "ros2msg", the texts of .msg files, or "ros2idl", of .idl files, each but the first after a line
 * of '=' and one with "MSG: " or "IDL: " and the type's name; or "ros1msg", as bags of ROS 1 have
 * it: then its messages are as ROS 1 serializes them, without an encapsulation, and times are
 * fields `sec` and `nanosec`. `type` is "package/msg/Name", or "package/Name".
 * tb_message_definition_destroy it.
 *
 *   TB_ERR_CORRUPT      it is wrong, a type in it is missing or contains itself; line and column
 *                       are in the text of the error
 *   TB_ERR_UNSUPPORTED  another encoding, types of ROS 1 in "ros2msg", what ROS 2 does not have, or
 *                       many of a ROS 1 type without fields
 *   TB_ERR_LIMIT        above 1 MiB, 512 types, 4096 fields, or 32 types within types
 *   TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_definition_parse(const char *type,
                                                              const char *encoding,
                                                              const char *text,
                                                              tb_message_definition_t **out,
                                                              tb_error_t *error);

/** Looks for a definition: below the prefixes of AMENT_PREFIX_PATH (share/package/msg/Name.msg, or
 * .idl); in `folders` (package/msg/Name.msg, also with share/ before it; NULL if there are none);
 * and among the types that are built in: those of std_msgs, geometry_msgs, sensor_msgs, nav_msgs,
 * tf2_msgs and diagnostic_msgs that are usual. The types in it may be from other places, and .msg
 * files may name types of .idl files, and the other way round. tb_message_definition_destroy it.
 *
 *   TB_ERR_NOT_FOUND    it is nowhere, or what was found is wrong: the text of the error says how
 *   TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_definition_find(const char *type,
                                                             const char *const *folders,
                                                             size_t folder_count,
                                                             tb_message_definition_t **out,
                                                             tb_error_t *error);

/** Accepts NULL. After its fields. [any thread] */
TB_API void tb_message_definition_destroy(tb_message_definition_t *definition);

/** Where it was found. 0 for NULL. [any thread] */
TB_API tb_message_definition_origin_t
tb_message_definition_origin(const tb_message_definition_t *definition);

/** The stamp of a message's header, in ns; 0 is a stamp here. The header is the message's field
 * "header", else its first one of type std_msgs/Header, or the message itself if it is one. `data`
 * has the encapsulation, as tb_bag_message_t and tb_ros2_sample_t have it. Nothing is allocated,
 * and nothing outside of `data` is read.
 *
 *   TB_ERR_NOT_FOUND    the type has no header
 *   TB_ERR_TRUNCATED    the message ends before it does
 *   TB_ERR_CORRUPT      a second or more of nanoseconds, or a sequence beyond its bound
 *   TB_ERR_UNSUPPORTED  the encapsulation is not that of plain CDR
 *   TB_ERR_INVALID
 *
 * [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_definition_header_stamp(
    const tb_message_definition_t *definition, const void *data, size_t size, int64_t *out_ns);

/** Reads all of a message, to its end: whether it is of the definition. The field and the place of
 * the first thing that is wrong are in the text of the error.
 *
 *   TB_ERR_TRUNCATED, TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED, TB_ERR_INVALID
 *
 * [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_definition_check(
    const tb_message_definition_t *definition, const void *data, size_t size, tb_error_t *error);

/** A field by its path: "header.frame_id", "pose.covariance[35]", "transforms[0].header.stamp";
 * with
 * "[]" the first element. The definition must outlive it. tb_message_field_destroy it.
 *
 *   TB_ERR_NOT_FOUND    a type has no such field; the text of the error names both
 *   TB_ERR_INVALID      no path, or an index where there are no elements, or never so many
 *   TB_ERR_LIMIT, TB_ERR_NO_MEMORY
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_field_create(const tb_message_definition_t *definition,
                                                          const char *path,
                                                          tb_message_field_t **out,
                                                          tb_error_t *error);

/** Accepts NULL. [any thread] */
TB_API void tb_message_field_destroy(tb_message_field_t *field);

/** A field that is a builtin_interfaces/Time, in ns. Errors as those of
 * tb_message_definition_header_stamp; TB_ERR_NOT_FOUND: a sequence has not so many elements;
 * TB_ERR_INVALID: the field is of another type. [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_field_time(const tb_message_field_t *field,
                                                        const void *data, size_t size,
                                                        int64_t *out_ns);

/** A field that is a number of any kind, or a bool. Integers above 2^53 are rounded. Errors as
 * those of tb_message_field_time. [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_field_number(const tb_message_field_t *field,
                                                          const void *data, size_t size,
                                                          double *out);

/** A field that is a string: `*out_length` bytes in `data`, and a NUL after them, which messages of
 * ROS 1 do not have; others may be
 * among them. Errors as those of tb_message_field_time; TB_ERR_CORRUPT: it has no NUL at its end.
 * [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_message_field_string(const tb_message_field_t *field,
                                                          const void *data, size_t size,
                                                          const char **out, size_t *out_length);

TB_END_DECLS

#endif

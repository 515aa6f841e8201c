/* Messages of ROS 1 to messages of ROS 2 and back: from the serialization of one to that of the
 * other, by the definitions of the type on both sides. */
#ifndef TIMEBASE_REENCODER_H
#define TIMEBASE_REENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** From one type of one generation to its counterpart. It has a buffer and a counter, so each topic
 * or connection needs one of its own. */
typedef struct tb_reencoder tb_reencoder_t;

/** A message type of either generation. */
typedef struct tb_reencoder_type {
  const char *name;       /**< "sensor_msgs/Imu" of ROS 1, "sensor_msgs/msg/Imu" of ROS 2 */
  const char *encoding;   /**< "ros1msg" is ROS 1; "ros2msg" and "ros2idl" are ROS 2 */
  const char *definition; /**< its text, with those of the types in it, as recordings have it */
  const char *md5sum;     /**< of ROS 1, as its connection has it; NULL: not known */
} tb_reencoder_type_t;

TB_BEGIN_DECLS

/** Matches two types field by field, one of ROS 1 and one of ROS 2. tb_reencoder_destroy it.
 *
 * Fields match if they are in the same order, of the same type, and of the same name but for case
 * and underscores (CameraInfo's D is d in ROS 2). Names of types are not compared. time and
 * duration match builtin_interfaces/Time and Duration; ROS 1's byte matches int8 and byte;
 * std_msgs/Header has a number `seq` in ROS 1 only; strings and sequences may have a bound in
 * ROS 2.
 *
 *   TB_ERR_UNSUPPORTED  they do not match: the first field that differs is in the text of the
 *                       error; or both are of one generation
 *   TB_ERR_CORRUPT      a definition is wrong
 *   TB_ERR_LIMIT        a definition is too large
 *   TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_reencoder_create(const tb_reencoder_type_t *from,
                                                         const tb_reencoder_type_t *to,
                                                         tb_reencoder_t **out, tb_error_t *error);

/** The same, with the counterpart of `from` found. Its name is the same in the other generation,
 * but for rosgraph_msgs/Log (rcl_interfaces/msg/Log), std_msgs/Time and Duration
 * (builtin_interfaces), roslib/Clock (rosgraph_msgs) and tf/tfMessage (tf2_msgs/msg/TFMessage).
 * A definition of ROS 2 is looked for as tb_message_definition_find does, with `folders`. One of
 * ROS 1, and one of ROS 2 that is nowhere, is derived from the other text
 * (tb_reencoder_is_derived), with its comments and constants, and its names as they are.
 * Where ROS 1's text has another sum than `from->md5sum` (it is empty, cut or mangled), and a
 * definition with that sum is installed, in `folders` or built in, that is used.
 * `from->definition` may be NULL, and "" of ROS 2: then ROS 2's is looked for, and ROS 1's derived
 * from that; so may `from->encoding` then: "a/msg/B" is of ROS 2, "a/B" of ROS 1.
 *
 *   TB_ERR_NOT_FOUND    there is no definition at all
 *   as tb_reencoder_create
 *
 * [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_reencoder_find(const tb_reencoder_type_t *from,
                                                       const char *const *folders,
                                                       size_t folder_count, tb_reencoder_t **out,
                                                       tb_error_t *error);

/** Accepts NULL. [owner thread] */
TB_API void tb_reencoder_destroy(tb_reencoder_t *reencoder);

/** Re-encodes a message. `data` of ROS 2 is plain CDR (XCDR1) of either byte order with its
 * encapsulation; what is made is little endian. `*out` lasts until the next call; once the buffer
 * is large enough, nothing is allocated. The bytes are of the other generation, but:
 *
 * - Header.seq is dropped; to ROS 1 it counts the messages from 0, where the header is the first
 *   field of the message, and is 0 in other headers;
 * - a bool that is neither 0 nor 1, which ROS 2 does not read, becomes 1;
 * - a message without fields has one byte in ROS 2.
 *
 *   TB_ERR_RANGE        a time after January 2038 is to become one of ROS 2, or a negative one one
 *                       of ROS 1
 *   TB_ERR_TRUNCATED    the message ends too early
 *   TB_ERR_CORRUPT      it is of another definition, a bound is exceeded, or a time has a second or
 *                       more of nanoseconds
 *   TB_ERR_UNSUPPORTED  the encapsulation is not that of plain CDR
 *   TB_ERR_LIMIT        more than 8 times the message and 64 KiB, by types without fields
 *   TB_ERR_NO_MEMORY, TB_ERR_INVALID
 *
 * The field is in the text of the error, and the re-encoder as it was. [owner thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_reencoder_run(tb_reencoder_t *reencoder, const void *data,
                                                   size_t size, const void **out, size_t *out_size,
                                                   tb_error_t *error);

/** The type in ROS 1, and in ROS 2: with the definition that was given, found or derived. NULL for
 * NULL. They last as long as the re-encoder. [any thread] */
TB_API const tb_reencoder_type_t *tb_reencoder_ros1(const tb_reencoder_t *reencoder);
TB_API const tb_reencoder_type_t *tb_reencoder_ros2(const tb_reencoder_t *reencoder);

/** ROS 1's md5sum of the type, by its definition: 32 digits. "" for NULL. [any thread] */
TB_API const char *tb_reencoder_md5sum(const tb_reencoder_t *reencoder);

/** Whether the definition of ROS 2 was found nowhere, and made of that of ROS 1. [any thread] */
TB_API bool tb_reencoder_is_derived(const tb_reencoder_t *reencoder);

/* The same, with the sizes of the structs (docs/abi.md). */
TB_API tb_status_t tb_reencoder_create_sized(const tb_reencoder_type_t *from, size_t from_size,
                                             const tb_reencoder_type_t *to, size_t to_size,
                                             tb_reencoder_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_reencoder_create(const tb_reencoder_type_t *from,
                                          const tb_reencoder_type_t *to, tb_reencoder_t **out,
                                          tb_error_t *error)
{
  return tb_reencoder_create_sized(from, sizeof *from, to, sizeof *to, out, error);
}
TB_API tb_status_t tb_reencoder_find_sized(const tb_reencoder_type_t *from, size_t from_size,
                                           const char *const *folders, size_t folder_count,
                                           tb_reencoder_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_reencoder_find(const tb_reencoder_type_t *from, const char *const *folders,
                                        size_t folder_count, tb_reencoder_t **out,
                                        tb_error_t *error)
{
  return tb_reencoder_find_sized(from, sizeof *from, folders, folder_count, out, error);
}

TB_END_DECLS

#endif

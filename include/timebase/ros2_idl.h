/* Messages, requests and responses as C structs of idlc, the IDL compiler of Cyclone DDS, instead
 * of serialized: a struct is encoded for publishers, clients and services, and what these hand over
 * is decoded. examples/add_two_ints.c does all of it. The IDL files that ROS's packages install are
 * for `idlc -f case-sensitive -x final`. */
#ifndef TIMEBASE_ROS2_IDL_H
#define TIMEBASE_ROS2_IDL_H

#include <stddef.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** dds_topic_descriptor_t of <dds/dds.h>, which idlc's code has for each struct. Types may have
 * what ROS 2 types can have: booleans, numbers, strings, other structs, arrays and sequences of
 * them, bounded or not; but no wide strings, which idlc does not know. */
struct dds_topic_descriptor;

TB_BEGIN_DECLS

/** The struct at `sample`, serialized as ROS 2 does it, in new memory: give *out_cdr back with
 * tb_ros2_idl_free. Little endian. A string that is NULL is sent as "".
 *
 *   TB_ERR_UNSUPPORTED  the type has what ROS 2 cannot carry, such as a union: see the text
 *   TB_ERR_LIMIT        a sequence is longer than its bound, or all of it than DDS can carry
 *   TB_ERR_INVALID      a bounded string without its NUL, a sequence without its buffer, or NULL
 *   TB_ERR_NO_MEMORY
 *
 * [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_idl_encode(const struct dds_topic_descriptor *type,
                                                     const void *sample, void **out_cdr,
                                                     size_t *out_size, tb_error_t *error);

/** A new struct of the type from `size` bytes at `cdr` (4 bytes of encapsulation and the body), in
 * either byte order and from any sender: every length is checked against the available bytes before
 * it is used. The struct and all that it points to are one piece of memory: give *out_sample back
 * with tb_ros2_idl_free, never with dds_sample_free.
 *
 *   TB_ERR_TRUNCATED    the message ends before the type does, or a length says so
 *   TB_ERR_CORRUPT      not plain CDR, a string without end, or more bytes than the type has
 *   TB_ERR_INVALID      a string with a NUL in it, which C strings cannot hold; or NULL was given
 *   TB_ERR_LIMIT        a string or sequence is longer than its bound
 *   TB_ERR_UNSUPPORTED  as above
 *   TB_ERR_NO_MEMORY
 *
 * The error's offset is where in `cdr`. [any thread] [from callbacks] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_idl_decode(const struct dds_topic_descriptor *type,
                                                     const void *cdr, size_t size,
                                                     void **out_sample, tb_error_t *error);

/** Frees what either of the two returned. Accepts NULL. [any thread] [from callbacks] */
TB_API void tb_ros2_idl_free(void *memory);

TB_END_DECLS

#endif

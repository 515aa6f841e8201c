/* Serialized messages read by their schema: plain CDR (XCDR1) in either byte order, or what ROS 1
 * has, where the schema is of ROS 1. Nothing is
 * copied or allocated, and nothing is read outside of the message, whatever it holds. Pure. */
#ifndef TB_DEFINITION_MESSAGE_H
#define TB_DEFINITION_MESSAGE_H

#include <timebase/error.h>

#include "base/private_api.h"
#include "definition/schema.h"

typedef struct tb__message {
  const tb__schema_t *schema;
  const uint8_t *body; /* after the encapsulation, if there is one; places count from here */
  size_t size;         /* of the body */
  bool big_endian;
  bool has_short_wide; /* wide strings are a number of bytes and 2 for each character, as Fast DDS
                          writes from kilted on; else a number of characters and 4 for each */
} tb__message_t;

/* `cdr`, with its encapsulation (ROS 1 has none), and the schema must outlive it. TB_ERR_TRUNCATED:
 * fewer bytes than an encapsulation. TB_ERR_UNSUPPORTED: another one than plain CDR's. */
TB_PRIVATE_API tb_status_t tb__message_open(tb__message_t *message, const tb__schema_t *schema,
                                            const void *cdr, size_t size) TB_WARN_UNUSED;

/* Moves *at over what the steps describe. TB_ERR_TRUNCATED; TB_ERR_CORRUPT: a sequence is longer
 * than its bound; TB_ERR_NOT_FOUND: a sequence that is to be entered is too short. *at is anything
 * after a failure, but never past the end. */
tb_status_t tb__message_skip(const tb__message_t *message, const tb__skip_t *skips, uint32_t count,
                             size_t *at) TB_WARN_UNUSED;

/* The number of elements of the sequence at *at, which moves to its first one. At most the number
 * of bytes that are left. TB_ERR_TRUNCATED; TB_ERR_CORRUPT: above `bound`, unless that is 0. */
tb_status_t tb__message_length(const tb__message_t *message, uint32_t bound, size_t *at,
                               uint32_t *out) TB_WARN_UNUSED;

/* What is at a place: padding before it is skipped. Each moves *at to what follows. */

/* A number of `width` bytes, as its bits. TB_ERR_TRUNCATED. */
TB_PRIVATE_API tb_status_t tb__message_bits(const tb__message_t *message, uint32_t width,
                                            size_t *at, uint64_t *out) TB_WARN_UNUSED;
/* Any kind of number; integers above 2^53 are rounded. TB_ERR_TRUNCATED; TB_ERR_INVALID: it is
 * none. */
TB_PRIVATE_API tb_status_t tb__message_number(const tb__message_t *message, tb__field_kind_t kind,
                                              size_t *at, double *out) TB_WARN_UNUSED;
/* Of `*out_length` characters, and a NUL, which ROS 1 does not have; there may be others before it.
 * TB_ERR_TRUNCATED; TB_ERR_CORRUPT: it has no NUL at its end. */
TB_PRIVATE_API tb_status_t tb__message_string(const tb__message_t *message, size_t *at,
                                              const char **out, size_t *out_length) TB_WARN_UNUSED;
/* A builtin_interfaces/Time, or a time of ROS 1. TB_ERR_TRUNCATED; TB_ERR_CORRUPT: a second or more
 * of nanoseconds. */
TB_PRIVATE_API tb_status_t tb__message_time(const tb__message_t *message, size_t *at,
                                            int64_t *out_ns) TB_WARN_UNUSED;

/* What is read of a time with 1e9 ns or more, which is none: this and its nanoseconds, below every
 * other time. */
#define TB__NO_TIME_NS INT64_MIN

static inline bool tb__is_no_time(int64_t ns)
{
  return ns <= TB__NO_TIME_NS + UINT32_MAX;
}

/* As ROS writes it. */
TB_PRIVATE_API int64_t tb__time_of_fields(int64_t seconds, uint32_t nanoseconds);
/* The same as tb__message_time, also of times that are none. TB_ERR_TRUNCATED. */
TB_PRIVATE_API tb_status_t tb__message_any_time(const tb__message_t *message, size_t *at,
                                                int64_t *out_ns) TB_WARN_UNUSED;

/* How many fields and elements a reader of all of a message may come to. Types without fields take
 * no bytes in ROS 1, so any number of them could come with each byte of a message. */
static inline uint64_t tb__message_steps_max(const tb__message_t *message)
{
  return 4 * ((uint64_t)message->size + TB__SCHEMA_FIELDS_MAX);
}

/* A part of a message, as it is found in order. */
typedef enum tb__visited_kind {
  TB__VISITED_LENGTH,  /* of a sequence: `count` */
  TB__VISITED_NUMBERS, /* `count` of them, from `at` on */
  TB__VISITED_TEXT,    /* `count` bytes from `at` on, without a NUL; wide ones as they are */
} tb__visited_kind_t;

typedef struct tb__visited {
  tb__visited_kind_t kind;
  const tb__schema_field_t *field;
  size_t at;
  uint32_t count;
} tb__visited_t;

typedef void (*tb__visit_fn)(void *user, const tb__visited_t *visited);

/* Reads all of it, to its end. `visit` may be NULL. TB_ERR_TRUNCATED, TB_ERR_CORRUPT (strings
 * without an end, bounds that are exceeded, bytes left over); field and place are in the text.
 * TB_ERR_LIMIT: more fields than tb__message_steps_max. */
TB_PRIVATE_API tb_status_t tb__message_walk(const tb__message_t *message, tb__visit_fn visit,
                                            void *user, tb_error_t *error) TB_WARN_UNUSED;

#endif

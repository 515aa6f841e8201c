/* From the serialization of ROS 1 to CDR and back. Two schemas are matched once, field by field,
 * and become a plan: steps that copy what is the same in both, and change what is not. Pure. */
#ifndef TB_DEFINITION_REENCODE_H
#define TB_DEFINITION_REENCODE_H

#include <timebase/error.h>

#include "base/private_api.h"
#include "definition/schema.h"

typedef enum tb__reencode_kind {
  TB__REENCODE_COPY,  /* `size` bytes that are the same in both, once CDR is aligned */
  TB__REENCODE_MANY,  /* the same for each element of an array or a sequence */
  TB__REENCODE_BOOLS, /* ROS 2 knows 0 and 1 only */
  TB__REENCODE_TIME,
  TB__REENCODE_DURATION,
  TB__REENCODE_STRING,
  TB__REENCODE_LOOP,   /* the `body` steps that follow, for each element */
  TB__REENCODE_COUNT,  /* Header.seq, which ROS 2 has not */
  TB__REENCODE_HEADER, /* the `body` steps that follow, COUNT, TIME and STRING, in one */
  TB__REENCODE_BYTE,   /* of a ROS 2 message without fields */
  TB__REENCODE_LEVEL,  /* of a log: its numbers differ */
  TB__REENCODE_TEXTS,  /* a string, or a sequence of them, which ROS 2 has not; empty in ROS 1 */
} tb__reencode_kind_t;

typedef struct tb__reencode_step {
  tb__reencode_kind_t kind;
  bool is_sequence;
  bool is_first;  /* COUNT and HEADER: the header is the first field of the message */
  uint32_t count; /* elements of an array; of a sequence the most, of a string characters; 0: any */
  uint32_t align; /* in CDR; a power of 2 */
  uint32_t size;
  uint32_t body;
  uint32_t first_piece, piece_count; /* of COPY and MANY */
  uint32_t path;                     /* of its first field, in the plan's paths */
} tb__reencode_step_t;

/* Numbers of the same width, one after the other. */
typedef struct tb__reencode_piece {
  uint32_t width, count;
} tb__reencode_piece_t;

typedef struct tb__reencode_plan {
  tb__reencode_step_t *steps;
  tb__reencode_piece_t *pieces; /* so that big endian input can be turned */
  char *paths;                  /* "transforms[].header", with a NUL after each */
  size_t step_count, piece_count, paths_size;
  size_t step_room, piece_room, paths_room;
  bool to_ros1;
} tb__reencode_plan_t;

typedef struct tb__reencode_buffer {
  uint8_t *data;
  size_t size, room;
} tb__reencode_buffer_t;

/* Matches them. Names of fields are compared without case and underscores, as ROS 2 renamed some
 * (K is k), and those of types not at all. TB_ERR_UNSUPPORTED: they do not match; the first field
 * that differs is in the text. TB_ERR_LIMIT: too many fields. TB_ERR_NO_MEMORY. fini it in any
 * case. */
tb_status_t tb__reencode_plan_init(tb__reencode_plan_t *plan, const tb__schema_t *ros1,
                                   const tb__schema_t *ros2, bool to_ros1,
                                   tb_error_t *error) TB_WARN_UNUSED;
void tb__reencode_plan_fini(tb__reencode_plan_t *plan);

/* A message that was taken in, for texts of errors its type; `sequence` is what its header gets in
 * ROS 1. The buffer grows as needed. TB_ERR_TRUNCATED, TB_ERR_CORRUPT (also: nanoseconds of a
 * second or more, a bound is exceeded), TB_ERR_RANGE: a time that the other generation has not.
 * TB_ERR_UNSUPPORTED: not plain CDR. TB_ERR_LIMIT: above 8 times the message and 64 KiB, as only
 * types without fields can be. TB_ERR_NO_MEMORY. */
typedef struct tb__reencode_input {
  const char *type;
  const void *data;
  size_t size;
  uint32_t sequence;
} tb__reencode_input_t;
tb_status_t tb__reencode_run(const tb__reencode_plan_t *plan, const tb__reencode_input_t *input,
                             tb__reencode_buffer_t *out, tb_error_t *error) TB_WARN_UNUSED;

#endif

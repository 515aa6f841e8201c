/* Types made by idlc, Cyclone's IDL compiler, read member by member. */
#ifndef TB_DDS_IDL_TYPE_H
#define TB_DDS_IDL_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

struct dds_topic_descriptor;

typedef enum tb__idl_kind {
  TB__IDL_BOOL,
  TB__IDL_NUMBER, /* of `size` bytes */
  TB__IDL_STRING, /* char * */
  TB__IDL_CHARS,  /* char[size], with a NUL */
  TB__IDL_STRUCT, /* `members` */
} tb__idl_kind_t;

typedef enum tb__idl_shape {
  TB__IDL_ONE,
  TB__IDL_ARRAY,
  TB__IDL_SEQUENCE,
} tb__idl_shape_t;

/* A sequence in memory. */
typedef struct tb__idl_sequence {
  uint32_t maximum;
  uint32_t length;
  void *buffer;
  bool release; /* the buffer and its elements are separate allocations of Cyclone's heap */
} tb__idl_sequence_t;

typedef struct tb__idl_member {
  tb__idl_kind_t kind;
  tb__idl_shape_t shape;
  size_t offset;           /* in its struct */
  size_t size;             /* of each element in memory */
  uint32_t count;          /* of an array; the bound of a sequence, 0: none */
  const uint32_t *members; /* of a struct, for tb__idl_next */
} tb__idl_member_t;

typedef struct tb__idl_type {
  const char *name; /* "std_msgs::msg::Header" */
  size_t size;
  const uint32_t *members;
} tb__idl_type_t;

/* TB_ERR_INVALID: no type. TB_ERR_UNSUPPORTED: ROS 2 cannot carry it. */
TB_WARN_UNUSED tb_status_t tb__idl_type_init(tb__idl_type_t *type,
                                             const struct dds_topic_descriptor *descriptor,
                                             tb_error_t *error);

/* Reads the next member of a checked type and advances *members. False: there is none. */
bool tb__idl_next(const uint32_t **members, tb__idl_member_t *out);

#endif

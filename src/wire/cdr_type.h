/* Message types as tables of the fields of a C struct and their form in CDR, for one encoder and
 * one decoder. Pure. */
#ifndef TB_ROS2_CDR_TYPE_H
#define TB_ROS2_CDR_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "base/private_api.h"

typedef enum tb__cdr_kind {
  TB__CDR_BOOL,   /* bool */
  TB__CDR_UINT,   /* uintN_t */
  TB__CDR_INT,    /* intN_t */
  TB__CDR_FLOAT,  /* double */
  TB__CDR_OCTETS, /* an array of `bound` bytes; in memory it may be longer */
  TB__CDR_STRING, /* const char *; NULL encodes as "" */
  TB__CDR_STRUCT, /* another type */
} tb__cdr_kind_t;

/* Unbounded or bounded sequences: any struct of this form, of which `items` may be NULL if `count`
 * is 0. */
#define TB__CDR_SEQUENCE(element)                                                                  \
  struct {                                                                                         \
    element const *items;                                                                          \
    size_t count;                                                                                  \
  }

typedef struct tb__cdr_type tb__cdr_type_t;

typedef struct tb__cdr_field {
  const char *name; /* in ROS */
  size_t offset;
  size_t size;    /* in memory: of a number, or of each element of a sequence */
  uint32_t bound; /* elements of a sequence, else bytes of a string or array; 0: no bound */
  tb__cdr_kind_t kind;
  bool is_sequence;
  const tb__cdr_type_t *type; /* of a struct */
} tb__cdr_field_t;

struct tb__cdr_type {
  const char *name; /* "rcl_interfaces/msg/Parameter" */
  size_t size;      /* in memory */
  const tb__cdr_field_t *fields;
  size_t field_count;
};

/* The message at `value`, in new memory: free *out. A struct of zeros is the message of zeros.
 * TB_ERR_LIMIT: longer than a bound of the type, or than DDS can carry. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__cdr_encode(const tb__cdr_type_t *type,
                                                         const void *value, bool big_endian,
                                                         uint8_t **out, size_t *out_size);

/* A new struct of the type with all that it points to, in one piece: free(*out) frees all of it.
 * Nothing is allocated before every length was checked against the size of the message.
 *   TB_ERR_TRUNCATED  it ends too early, or a length exceeds it
 *   TB_ERR_CORRUPT    not plain CDR, a string without end, or more bytes than the type has (up to 3
 *                     of padding are allowed)
 *   TB_ERR_INVALID    a string with a NUL in it
 *   TB_ERR_LIMIT      longer than a bound of the type
 *   TB_ERR_NO_MEMORY */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__cdr_decode(const tb__cdr_type_t *type,
                                                         const void *cdr, size_t size, void *out);

#endif

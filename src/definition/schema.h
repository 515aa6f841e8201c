/* What a message definition says: types, their fields, and what it takes to skip them in CDR, or as
 * ROS 1 serializes. Made by parse.h; never changes afterwards. Names are "package/msg/Name". */
#ifndef TB_DEFINITION_SCHEMA_H
#define TB_DEFINITION_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/private_api.h"
#include "definition/extent.h"

#define TB__SCHEMA_FIELDS_MAX 4096

typedef enum tb__field_kind {
  TB__FIELD_BOOL,
  TB__FIELD_INT8,
  TB__FIELD_UINT8, /* byte, char and octet too */
  TB__FIELD_INT16,
  TB__FIELD_UINT16,
  TB__FIELD_INT32,
  TB__FIELD_UINT32, /* and enumerations */
  TB__FIELD_INT64,
  TB__FIELD_UINT64,
  TB__FIELD_FLOAT32,
  TB__FIELD_FLOAT64,
  TB__FIELD_STRING,
  TB__FIELD_WSTRING,
  TB__FIELD_STRUCT,
} tb__field_kind_t;

typedef enum tb__field_shape {
  TB__FIELD_SINGLE,
  TB__FIELD_ARRAY,
  TB__FIELD_SEQUENCE,
} tb__field_shape_t;

/* ROS 2 has a byte of this name in a type without fields. */
#define TB__NO_FIELDS "structure_needs_at_least_one_member"

/* What a field, or what a path leads to, is. */
typedef struct tb__field_type {
  tb__field_kind_t kind;
  tb__field_shape_t shape;
  uint32_t count;    /* elements of an array, the most of a sequence; 0: no bound */
  uint32_t text_max; /* characters of a string; 0: no bound */
  uint32_t type;     /* STRUCT: index into the schema's types */
} tb__field_type_t;

typedef struct tb__schema_field {
  const char *name;
  const char *initial; /* its default as a .msg file has it, which YAML reads; NULL: zero */
  tb__field_type_t is;
} tb__schema_field_t;

/* One step of skipping: so many elements, or a sequence of them. */
typedef enum tb__skip_kind {
  TB__SKIP_FIXED, /* `extent` is that of an element */
  TB__SKIP_STRING,
  TB__SKIP_WSTRING,
  TB__SKIP_STRUCT, /* of strings or sequences: `type` */
  TB__SKIP_ENTER,  /* a sequence's length, which must be above `type` */
} tb__skip_kind_t;

typedef struct tb__skip {
  tb__skip_kind_t kind;
  bool is_sequence;
  uint32_t count; /* of a sequence: its bound, 0 for none */
  uint32_t type;
  tb__extent_t extent;
} tb__skip_t;

typedef struct tb__schema_type {
  const char *name;
  uint32_t first_field, field_count; /* a message of no fields has one byte in it, as
                                        ROS 2 has it; none in ROS 1 */
  uint32_t first_skip, skip_count;
  bool is_used;  /* by the root; the others are not resolved */
  bool is_empty; /* of ROS 1: it takes no bytes */
  bool is_fixed; /* neither strings nor sequences: `extent` */
  tb__extent_t extent;
} tb__schema_type_t;

typedef struct tb__schema {
  tb__schema_type_t *types;
  tb__schema_field_t *fields;
  tb__skip_t *skips;
  char *names;
  uint32_t type_count, field_count, skip_count;
  uint32_t root; /* the type of messages */
  bool has_wide; /* wide strings, of which there are two forms on the wire */
  bool is_ros1;  /* messages are little endian, without encapsulation, alignment and NULs */
} tb__schema_t;

TB_PRIVATE_API void tb__schema_destroy(tb__schema_t *schema);

/* NULL: the type has no such field. `name` has `length` characters. */
TB_PRIVATE_API const tb__schema_field_t *
tb__schema_find_field(const tb__schema_t *schema, uint32_t type, const char *name, size_t length);

/* Bytes of a number, 0 for the other kinds. */
TB_PRIVATE_API uint32_t tb__field_width(tb__field_kind_t kind);
/* "uint8"; "" of STRUCT. */
const char *tb__field_kind_name(tb__field_kind_t kind);

/* Whether it has always the same size at the same place; the extent of one element then. */
bool tb__field_extent(const tb__schema_t *schema, const tb__field_type_t *field,
                      tb__extent_t *out_element);

/* The step that skips a field. `*out` may continue the FIXED step before it (returns true): then
 * that one was changed, and nothing is to be added. */
bool tb__skip_of_field(const tb__schema_t *schema, const tb__field_type_t *field,
                       tb__skip_t *previous, tb__skip_t *out);

#endif

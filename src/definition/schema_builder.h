/* Collects what a parser finds, in whatever order, and makes a schema of it: names are resolved,
 * sizes computed, and what has no end is refused. Texts of errors name lines and columns. */
#ifndef TB_DEFINITION_SCHEMA_BUILDER_H
#define TB_DEFINITION_SCHEMA_BUILDER_H

#include <timebase/error.h>

#include "definition/schema.h"

#define TB__SCHEMA_TYPES_MAX   512
#define TB__SCHEMA_ALIASES_MAX 1024
#define TB__SCHEMA_DEPTH_MAX   32                /* types within types */
#define TB__SCHEMA_TEXT_MAX    ((size_t)1 << 20) /* bytes of a definition */
#define TB__SCHEMA_NAME_MAX    255               /* characters of a name, packages included */
#define TB__SCHEMA_NAMES_MAX   ((size_t)4 << 20) /* bytes of all names, each with its scope */

/* A place in the text that is parsed, and what is reported with it. */
typedef struct tb__definition_text {
  const char *type; /* whose definition it is */
  const char *text;
  size_t size;
} tb__definition_text_t;

/* "definition of T, line 2, column 5: ...". Returns `status`. */
tb_status_t tb__definition_error(const tb__definition_text_t *text, size_t at, tb_error_t *error,
                                 tb_status_t status, const char *format, ...) TB_PRINTF(5, 6);

/* A type as it is written: its kind, or the name of another one. */
typedef struct tb__written_type {
  tb__field_type_t is;
  uint32_t name;    /* STRUCT: of that type, in the builder's names */
  uint32_t scope;   /* in which the name is looked for, "a/b", then in "a" and in "" */
  uint32_t initial; /* of a field: its default, in the builder's names; 0: none */
  size_t at;        /* in the text */
} tb__written_type_t;

typedef struct tb__built_type {
  uint32_t name;
  uint32_t first_field, field_count;
} tb__built_type_t;

typedef struct tb__built_field {
  uint32_t name;
  tb__written_type_t type;
} tb__built_field_t;

typedef struct tb__schema_builder {
  const tb__definition_text_t *text;
  tb_error_t *error;
  bool is_ros1;
  tb__built_type_t *types;
  tb__built_field_t *fields;  /* of the types */
  tb__built_field_t *aliases; /* other names of types */
  char *names;                /* with a NUL after each; 0 is "" */
  size_t type_count, field_count, alias_count, names_size;
  size_t type_room, field_room, alias_room, names_room;
} tb__schema_builder_t;

/* TB_ERR_NO_MEMORY. fini it in any case. */
tb_status_t tb__schema_builder_init(tb__schema_builder_t *builder,
                                    const tb__definition_text_t *text,
                                    tb_error_t *error) TB_WARN_UNUSED;
void tb__schema_builder_fini(tb__schema_builder_t *builder);

/* Notes a name of `length` characters, after `scope` and a '/' unless that is empty. TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__schema_builder_name(tb__schema_builder_t *builder, uint32_t scope, const char *name,
                                    size_t length, size_t at, uint32_t *out) TB_WARN_UNUSED;

/* The fields that follow are its fields; those of a second type of a name count for nothing.
 * TB_ERR_LIMIT, TB_ERR_NO_MEMORY. */
tb_status_t tb__schema_builder_type(tb__schema_builder_t *builder, uint32_t name,
                                    size_t at) TB_WARN_UNUSED;
/* TB_ERR_CORRUPT: the type has a field of that name. TB_ERR_LIMIT, TB_ERR_NO_MEMORY. */
tb_status_t tb__schema_builder_field(tb__schema_builder_t *builder, const char *name, size_t length,
                                     const tb__written_type_t *type) TB_WARN_UNUSED;
/* Another name of a type. TB_ERR_LIMIT, TB_ERR_NO_MEMORY. */
tb_status_t tb__schema_builder_alias(tb__schema_builder_t *builder, uint32_t name,
                                     const tb__written_type_t *type) TB_WARN_UNUSED;

/* The schema of text.type. TB_ERR_CORRUPT: a type that is not there, or that contains itself.
 * TB_ERR_UNSUPPORTED: sequences of sequences or of arrays. TB_ERR_LIMIT, TB_ERR_NO_MEMORY. */
tb_status_t tb__schema_builder_finish(tb__schema_builder_t *builder,
                                      tb__schema_t **out) TB_WARN_UNUSED;

#endif

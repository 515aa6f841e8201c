/* The fields of a mapping in a manifest, by a table: each has a key and a function that reads its
 * value into a struct. What is wrong becomes a problem with the place in the text, and reading goes
 * on. */
#ifndef TB_CONTRACT_MANIFEST_FIELDS_H
#define TB_CONTRACT_MANIFEST_FIELDS_H

#include "contract/manifest.h"
#include "yaml/yaml_tree.h"

typedef struct tb__fields_reader {
  tb__problems_t *problems;
  char path[512]; /* "nodes./ekf.timers", for messages */
  bool no_memory;
} tb__fields_reader_t;

typedef struct tb__field {
  const char *key;
  /* `node` is not null. */
  void (*read)(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out);
  size_t offset; /* of `out` in the struct */
} tb__field_t;

/* Reads the fields in the table's order (so that one may depend on an earlier one), and reports
 * keys that are not in it, or are there twice. Null values are as if the key was not there. */
void tb__fields_read(tb__fields_reader_t *reader, const tb__yaml_node_t *map,
                     const tb__field_t *fields, size_t count, void *out);

/* Appends ".KEY" to the path, if it fits. Returns what tb__fields_leave takes. */
size_t tb__fields_enter(tb__fields_reader_t *reader, const char *key);
void tb__fields_leave(tb__fields_reader_t *reader, size_t length);

/* A problem at the value, "PATH: TEXT". */
void tb__fields_error(tb__fields_reader_t *reader, const tb__yaml_node_t *node, const char *format,
                      ...) TB_PRINTF(3, 4);
/* The same at the key of the value. */
void tb__fields_key_error(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                          const char *format, ...) TB_PRINTF(3, 4);

/* Whether it is of the kind, else an error. */
bool tb__fields_is(tb__fields_reader_t *reader, const tb__yaml_node_t *node, tb__yaml_kind_t kind);

/* The children of a mapping (without nulls) or a sequence, if they are not too many; reports keys
 * that are there twice. 0 also if it is not of the kind. */
size_t tb__fields_count(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                        tb__yaml_kind_t kind);

/* Readers of values, for tables; `out` is what its name says. */
void tb__field_text(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out);
void tb__field_bool(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out);
void tb__field_duration(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                        void *out); /* int64_t, ns, above 0 */
void tb__field_signed_duration(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out);
void tb__field_number(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                      void *out); /* double, above 0, finite */
void tb__field_ratio(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                     void *out); /* double: 0.1 or 10% */
void tb__field_name(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                    void *out); /* const char *: of a node or topic */
void tb__field_names(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                     void *out); /* tb__manifest_names_t; patterns too */

/* One of the words, which end with NULL: its index, or -1 with an error. */
int tb__field_word(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                   const char *const *words);

/* Whether the name (of a node or topic; with `wildcards`, or a pattern) is one, else an error at
 * the key or value. */
bool tb__field_check_name(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                          const char *name, bool wildcards, bool is_key);

#endif

/* A small YAML document in memory: mappings with scalar keys, sequences, scalars. */
#ifndef TB_YAML_YAML_TREE_H
#define TB_YAML_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#define TB__YAML_MAX_DEPTH 32

typedef enum tb__yaml_kind {
  TB__YAML_SCALAR = 1,
  TB__YAML_SEQUENCE,
  TB__YAML_MAPPING,
} tb__yaml_kind_t;

typedef struct tb__yaml_node {
  tb__yaml_kind_t kind;
  size_t line, column;         /* from 1 */
  const char *key;             /* in a mapping, otherwise NULL */
  size_t key_line, key_column; /* 0 without a key */
  struct tb__yaml_node *first; /* children of sequences and mappings */
  struct tb__yaml_node *last;
  struct tb__yaml_node *next;
  struct tb__yaml_node *allocated_before; /* for freeing without recursion */
  bool plain;                             /* unquoted */
  char text[];                            /* of a scalar */
} tb__yaml_node_t;

typedef struct tb__yaml {
  tb__yaml_node_t *root; /* NULL: an empty document */
  tb__yaml_node_t *allocated;
  size_t node_count;
} tb__yaml_t;

/* The bytes, which contain a NUL, as a text without one, to be freed. NULL: no memory. */
typedef char *(*tb__yaml_clean_fn)(const void *bytes, size_t size, bool *changed);

typedef struct tb__yaml_limits {
  size_t size;             /* bytes of the document */
  size_t nodes;            /* values and keys */
  bool has_columns;        /* errors begin with "line 3, column 5: ", otherwise "line 3: " */
  tb__yaml_clean_fn clean; /* NULL: a NUL in a text is an error */
} tb__yaml_limits_t;

/* TB_ERR_CORRUPT with the line in the text for bad YAML, anchors, aliases, keys that are no
 * scalars, and more than one document; TB_ERR_LIMIT above the limits. */
tb_status_t tb__yaml_parse(const void *bytes, size_t size, const tb__yaml_limits_t *limits,
                           tb__yaml_t *out, tb_error_t *error) TB_WARN_UNUSED;
void tb__yaml_fini(tb__yaml_t *yaml);

/* The value of `key`; NULL if `map` is NULL or no mapping, or has no such key. */
const tb__yaml_node_t *tb__yaml_find(const tb__yaml_node_t *map, const char *key);

/* NULL for anything but a scalar. */
const char *tb__yaml_text(const tb__yaml_node_t *node);

bool tb__yaml_is_null(const tb__yaml_node_t *node);

/* Decimal only. False if it is no scalar, no number or out of range. */
bool tb__yaml_to_int64(const tb__yaml_node_t *node, int64_t *out);
bool tb__yaml_to_uint64(const tb__yaml_node_t *node, uint64_t *out);

#endif

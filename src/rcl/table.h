/* A hash table of nodes that are part of what they find. */
#ifndef TB_RCL_TABLE_H
#define TB_RCL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/export.h>

typedef struct tb__table_node {
  struct tb__table_node *next;
  uint64_t hash;
} tb__table_node_t;

typedef struct tb__table {
  tb__table_node_t **buckets; /* a power of two of them, or none */
  size_t bucket_count, count;
} tb__table_t;

/* Mixes a further word into a hash; begin with 0. */
static inline uint64_t tb__table_hash(uint64_t hash, const void *word)
{
  hash = (hash ^ (uint64_t)(uintptr_t)word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

/* Makes room for one more node. After it was true once, insertions cannot fail. False: no memory.
 */
bool tb__table_reserve(tb__table_t *table) TB_WARN_UNUSED;
void tb__table_insert(tb__table_t *table, tb__table_node_t *node, uint64_t hash);
void tb__table_remove(tb__table_t *table, tb__table_node_t *node);

/* The nodes that may have this hash, in no order: the first, and the one after `node`. */
tb__table_node_t *tb__table_first(const tb__table_t *table, uint64_t hash);
tb__table_node_t *tb__table_next(const tb__table_node_t *node);

#endif

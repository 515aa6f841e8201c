#include "rcl/table.h"

#include <stdlib.h>

#include "base/assert.h"

#define FIRST_COUNT 16

static tb__table_node_t **bucket_of(const tb__table_t *table, uint64_t hash)
{
  return &table->buckets[hash & (table->bucket_count - 1)];
}

static void link_node(const tb__table_t *table, tb__table_node_t *node)
{
  tb__table_node_t **bucket = bucket_of(table, node->hash);
  node->next = *bucket;
  *bucket = node;
}

bool tb__table_reserve(tb__table_t *table)
{
  if (table->count < table->bucket_count) return true;
  size_t count = table->bucket_count ? 2 * table->bucket_count : FIRST_COUNT;
  tb__table_t larger = {calloc(count, sizeof *larger.buckets), count, table->count};
  if (!larger.buckets) return false;
  for (size_t i = 0; i < table->bucket_count; i++)
    for (tb__table_node_t *node = table->buckets[i], *next; node; node = next) {
      next = node->next;
      link_node(&larger, node);
    }
  free(table->buckets);
  *table = larger;
  return true;
}

void tb__table_insert(tb__table_t *table, tb__table_node_t *node, uint64_t hash)
{
  TB__ASSERT(table->bucket_count > 0);
  node->hash = hash;
  link_node(table, node);
  table->count++;
}

void tb__table_remove(tb__table_t *table, tb__table_node_t *node)
{
  tb__table_node_t **link = bucket_of(table, node->hash);
  while (*link != node)
    link = &(*link)->next;
  *link = node->next;
  table->count--;
}

static tb__table_node_t *skip_others(tb__table_node_t *node, uint64_t hash)
{
  while (node && node->hash != hash)
    node = node->next;
  return node;
}

tb__table_node_t *tb__table_first(const tb__table_t *table, uint64_t hash)
{
  return table->bucket_count ? skip_others(*bucket_of(table, hash), hash) : NULL;
}

tb__table_node_t *tb__table_next(const tb__table_node_t *node)
{
  return skip_others(node->next, node->hash);
}

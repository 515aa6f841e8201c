#include "rcl/table.h"

#include <stdlib.h>

#include "test.h"

typedef struct entry {
  tb__table_node_t node;
  int key;
} entry_t;

#define COUNT 1000

static entry_t *find(const tb__table_t *table, int key, uint64_t hash)
{
  tb__table_node_t *node = tb__table_first(table, hash);
  while (node && ((entry_t *)node)->key != key)
    node = tb__table_next(node);
  return (entry_t *)node;
}

/* Every third hash is shared by three entries. */
static uint64_t hash_of(int key)
{
  return tb__table_hash(0, (void *)(uintptr_t)(key / 3));
}

static void test_finds_what_was_inserted_and_not_removed(void **state)
{
  (void)state;
  static entry_t entries[COUNT];
  tb__table_t table = {0};
  assert_null(tb__table_first(&table, 7));
  for (int i = 0; i < COUNT; i++) {
    entries[i].key = i;
    assert_true(tb__table_reserve(&table));
    tb__table_insert(&table, &entries[i].node, hash_of(i));
  }
  for (int i = 0; i < COUNT; i += 2)
    tb__table_remove(&table, &entries[i].node);
  assert_int_equal(table.count, COUNT / 2);
  for (int i = 0; i < COUNT; i++)
    assert_ptr_equal(find(&table, i, hash_of(i)), i % 2 ? &entries[i] : NULL);
  free(table.buckets);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_what_was_inserted_and_not_removed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

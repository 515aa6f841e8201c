#include <stdlib.h>

#include "base/heap.h"
#include "test.h"

#define IDS 500

static uint64_t random_state;

static uint64_t random_next(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void insert(tb__heap_t *heap, uint32_t id, int64_t key)
{
  tb__heap_insert(heap, (tb__heap_entry_t){key, tb__heap_make_rank(heap, id)});
}

/* The smallest key, then the smallest order, by looking at all. */
static uint32_t model_min(const int64_t *keys, const uint64_t *orders, const bool *present)
{
  uint32_t best = IDS;
  for (uint32_t id = 0; id < IDS; id++) {
    if (!present[id]) continue;
    if (best == IDS || keys[id] < keys[best] ||
        (keys[id] == keys[best] && orders[id] < orders[best]))
      best = id;
  }
  return best;
}

static void test_heap_agrees_with_a_model(void **state)
{
  (void)state;
  const char *seed = getenv("TB_TEST_SEED");
  random_state = seed ? strtoull(seed, NULL, 10) : 20240607;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)random_state);
  tb__heap_t heap = {0};
  assert_ok(tb__heap_reserve(&heap, IDS));
  static int64_t keys[IDS];
  static uint64_t orders[IDS];
  static bool present[IDS];
  for (uint64_t step = 0; step < 20000; step++) {
    uint32_t id = (uint32_t)(random_next() % IDS);
    int64_t key = (int64_t)(random_next() % 64);
    if (!present[id]) {
      keys[id] = key;
      orders[id] = step;
      insert(&heap, id, key);
      present[id] = true;
    } else if (random_next() % 2) {
      tb__heap_remove(&heap, id);
      present[id] = false;
    } else if (random_next() % 2) {
      tb__heap_change(&heap, id, key);
      keys[id] = key;
    } else {
      tb__heap_replace(&heap, (tb__heap_entry_t){key, tb__heap_make_rank(&heap, id)});
      keys[id] = key;
      orders[id] = step;
    }
    if (step % 997 == 0) heap.last_seq = TB__HEAP_LAST_SEQ - step % 7; /* renumbered soon */
    assert_int_equal(tb__heap_contains(&heap, id), present[id]);
    const tb__heap_entry_t *min = tb__heap_min(&heap);
    uint32_t expected = model_min(keys, orders, present);
    if (expected == IDS)
      assert_null(min);
    else
      assert_int_equal(tb__heap_id(min), expected);
  }
  tb__heap_fini(&heap);
}

static void test_heap_rebuilds_after_keys_were_changed_in_place(void **state)
{
  (void)state;
  tb__heap_t heap = {0};
  assert_ok(tb__heap_reserve(&heap, 100));
  for (uint32_t id = 0; id < 100; id++)
    insert(&heap, id, id);
  for (uint32_t i = 0; i < heap.size; i++)
    heap.entries[i].key = -heap.entries[i].key / 2;
  tb__heap_rebuild(&heap);
  static const uint32_t expected[] = {98, 99, 96, 97, 94}; /* equal keys: in order of insertion */
  for (int i = 0; i < 5; i++) {
    assert_int_equal(tb__heap_id(tb__heap_min(&heap)), expected[i]);
    tb__heap_remove(&heap, expected[i]);
  }
  tb__heap_fini(&heap);
}

static void test_heap_refuses_more_ids_than_it_can_number(void **state)
{
  (void)state;
  tb__heap_t heap = {0};
  assert_status(tb__heap_reserve(&heap, TB__HEAP_IDS + 1), TB_ERR_NO_MEMORY);
  assert_ok(tb__heap_reserve(&heap, 1));
  tb__heap_fini(&heap);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heap_agrees_with_a_model),
      cmocka_unit_test(test_heap_rebuilds_after_keys_were_changed_in_place),
      cmocka_unit_test(test_heap_refuses_more_ids_than_it_can_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

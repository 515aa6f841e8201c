#include "clock/deadline_heap.h"

#include <stdlib.h>

#include "test.h"

#define WAITERS 200
#define STEPS   20000

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 20) % below);
}

static tb__waiter_t waiters[WAITERS];

/* The earliest deadline, by looking at all; false: there is none. */
static bool earliest(uint64_t *out)
{
  bool found = false;
  for (int i = 0; i < WAITERS; i++) {
    if (!waiters[i].queued || (found && !tb__deadline_before(waiters[i].deadline, *out))) continue;
    *out = waiters[i].deadline;
    found = true;
  }
  return found;
}

static void add_or_remove(tb__deadline_heap_t *heap, tb__waiter_t *waiter, uint64_t now)
{
  if (waiter->queued) {
    tb__deadline_heap_remove(heap, waiter);
  } else {
    waiter->deadline = now + 1 + draw(100);
    tb__deadline_heap_insert(heap, waiter);
  }
  waiter->queued = !waiter->queued;
}

/* Takes the due waiters as a tick does, leaving the children of the last one loose. */
static void take_due(tb__deadline_heap_t *heap, uint64_t now)
{
  while (tb__deadline_heap_may_be_due(heap, now)) {
    tb__waiter_t *first = tb__deadline_heap_first(heap);
    if (tb__deadline_before(now, first->deadline)) break;
    uint64_t deadline;
    assert_true(earliest(&deadline));
    assert_int_equal(first->deadline, deadline);
    tb__deadline_heap_take_first(heap);
    first->queued = false;
  }
}

static void test_S7_deadlines_come_in_order_as_in_a_model(void **state)
{
  (void)state;
  const char *seed = getenv("TB_TEST_SEED");
  random_state = seed ? strtoull(seed, NULL, 10) : 20261121;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)random_state);
  tb__deadline_heap_t heap = {0};
  uint64_t now = UINT64_MAX - 1000; /* wraps on the way */
  for (int step = 0; step < STEPS; step++) {
    uint64_t deadline = 0;
    uint32_t choice = draw(8);
    if (choice < 6)
      add_or_remove(&heap, &waiters[draw(WAITERS)], now);
    else if (choice == 6)
      take_due(&heap, now += draw(8));
    else
      tb__deadline_heap_settle(&heap);
    const char *wrong = tb__deadline_heap_check(&heap, NULL, NULL);
    if (wrong) fail_msg("step %d: %s", step, wrong);
    bool any = earliest(&deadline);
    assert_int_equal(tb__deadline_heap_is_empty(&heap), !any);
    if (any) assert_true(tb__deadline_heap_may_be_due(&heap, deadline));
    if (step % 3 || !any) continue; /* mostly leaves them loose */
    assert_int_equal(tb__deadline_heap_first(&heap)->deadline, deadline);
    assert_false(tb__deadline_heap_may_be_due(&heap, deadline - 1));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S7_deadlines_come_in_order_as_in_a_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Offsets between hosts by forged exchanges and messages. */
#include "contract/host_offset.h"

#include <string.h>

#include "seed.h"
#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)
#define T  (1700000000 * S)

#define LIMIT (5 * MS)

static void check_text(const tb__host_offset_t *offset, const char *expected)
{
  char text[200];
  tb__host_offset_text(offset, text, sizeof text);
  assert_string_equal(text, expected);
}

/* A host whose clock is ahead, a way there and one back, and what it takes to answer. */
static void exchange(tb__host_offset_t *offset, int64_t ahead_ns, int64_t there_ns, int64_t work_ns,
                     int64_t back_ns)
{
  tb__host_offset_exchange(offset, T, T + there_ns + work_ns + ahead_ns,
                           T + there_ns + work_ns + back_ns);
}

static void test_the_best_exchange(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0};
  exchange(&offset, 50 * MS, 10 * MS, 0, 2 * MS);
  assert_int_equal(offset.offset_ns, 54 * MS);
  assert_int_equal(offset.bound_ns, 6 * MS);
  exchange(&offset, 50 * MS, MS, MS, MS);
  exchange(&offset, 50 * MS, 30 * MS, 0, MS);
  assert_int_equal(offset.exchanges, 3);
  assert_int_equal(offset.offset_ns, 50 * MS + MS / 2);
  assert_int_equal(offset.bound_ns, 3 * MS / 2);
  assert_true(tb__host_offset_is_off(&offset, LIMIT));
  check_text(&offset, "its system clock is 50.5 ms ahead of this host's, give or take 1.500 ms "
                      "(best of 3 requests)");
}

static void test_behind(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0};
  exchange(&offset, -50 * MS, MS, 0, MS);
  assert_true(tb__host_offset_is_off(&offset, LIMIT));
  check_text(&offset, "its system clock is 50.0 ms behind this host's, give or take 1.000 ms "
                      "(best of 1 request)");
}

static void test_near_misses(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0};
  exchange(&offset, 2 * MS, 100, 100, 100);
  assert_false(tb__host_offset_is_off(&offset, LIMIT));
  offset = (tb__host_offset_t){0};
  exchange(&offset, 6 * MS, MS, 0, MS); /* by 5 ms or more: not more than the limit for certain */
  assert_false(tb__host_offset_is_off(&offset, LIMIT));
  offset = (tb__host_offset_t){0};
  exchange(&offset, 0, 40 * MS, 0, 0); /* all of it on the way there */
  assert_int_equal(offset.offset_ns, 20 * MS);
  assert_false(tb__host_offset_is_off(&offset, LIMIT));
}

static void test_one_way(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0};
  for (int i = 0; i < TB__HOST_SAMPLES; i++) {
    assert_false(tb__host_offset_is_off(&offset, LIMIT));
    tb__host_offset_sample(&offset, T + 50 * MS, T + (1 + i % 3) * MS);
  }
  assert_true(tb__host_offset_is_off(&offset, LIMIT));
  check_text(&offset, "its system clock is at least 49.0 ms ahead of this host's (one-way minimum "
                      "of 10 messages: includes transport latency)");
  exchange(&offset, 0, MS, 0, MS); /* better evidence */
  assert_false(tb__host_offset_is_off(&offset, LIMIT));
}

static void test_one_way_behind(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0}, slow = {0};
  for (int i = 0; i < TB__HOST_SAMPLES; i++) {
    tb__host_offset_sample(&offset, T - 50 * MS, T + MS);
    tb__host_offset_sample(&slow, T, T + 25 * MS); /* a slow network */
  }
  assert_true(tb__host_offset_is_off(&offset, LIMIT));
  assert_false(tb__host_offset_is_off(&slow, LIMIT));
  check_text(&offset, "its system clock is at most 51.0 ms behind this host's (one-way minimum of "
                      "10 messages: includes transport latency)");
}

static void test_what_does_not_count(void **state)
{
  (void)state;
  tb__host_offset_t offset = {0};
  tb__host_offset_exchange(&offset, T, 0, T + MS); /* no time of the answer */
  tb__host_offset_exchange(&offset, T, T, T - 1);  /* our clock was set back */
  tb__host_offset_exchange(&offset, 0, T, T);
  tb__host_offset_sample(&offset, 0, T);
  tb__host_offset_sample(&offset, INT64_MIN, T);
  assert_int_equal(offset.exchanges + offset.samples, 0);
  assert_false(tb__host_offset_is_off(&offset, LIMIT));
  check_text(&offset, "its system clock was not compared with this host's");
}

/* Whatever the ways take, the bound holds. */
static void test_the_bound_holds(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  for (int i = 0; i < 10000; i++) {
    tb__host_offset_t offset = {0};
    int64_t ahead_ns = (int64_t)(test_random(&seed) % (uint64_t)(2 * S)) - S;
    for (int j = 0; j < TB__HOST_EXCHANGES; j++)
      exchange(&offset, ahead_ns, (int64_t)(test_random(&seed) % (uint64_t)(20 * MS)),
               (int64_t)(test_random(&seed) % (uint64_t)(20 * MS)),
               (int64_t)(test_random(&seed) % (uint64_t)(20 * MS)));
    assert_true(offset.offset_ns - offset.bound_ns <= ahead_ns);
    assert_true(offset.offset_ns + offset.bound_ns >= ahead_ns);
  }
}

static void test_anything(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  tb__host_offset_t offset = {0};
  char text[300];
  for (int i = 0; i < 100000; i++) {
    tb__host_offset_exchange(&offset, (int64_t)test_random(&seed), (int64_t)test_random(&seed),
                             (int64_t)test_random(&seed));
    tb__host_offset_sample(&offset, (int64_t)test_random(&seed), (int64_t)test_random(&seed));
    tb__host_offset_is_off(&offset, (int64_t)(test_random(&seed) >> 1));
    tb__host_offset_text(&offset, text, sizeof text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_best_exchange), cmocka_unit_test(test_behind),
      cmocka_unit_test(test_near_misses),       cmocka_unit_test(test_one_way),
      cmocka_unit_test(test_one_way_behind),    cmocka_unit_test(test_what_does_not_count),
      cmocka_unit_test(test_the_bound_holds),   cmocka_unit_test(test_anything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

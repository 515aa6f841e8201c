/* Replays beside what was played: what is missing, extra, out of order, and late. */
#include "contract/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "seed.h"
#include "test.h"

#define MS    INT64_C(1000000)
#define S     INT64_C(1000000000)
#define BEGIN (INT64_C(1700000000) * S)
#define NOW   (INT64_C(1800000000) * S)

enum { COUNT = 2000 };

/* Two topics in turns, every 5 ms. */
static tb__against_message_t originals[COUNT], replay[2 * COUNT];
static size_t replay_count, next_original;
static tb__against_t against;

static bool next(void *user, tb__against_message_t *out)
{
  (void)user;
  if (next_original == COUNT) return false;
  *out = originals[next_original++];
  return true;
}

/* Played at `rate` times real time. */
static void play(double rate)
{
  for (size_t i = 0; i < COUNT; i++) {
    originals[i] = (tb__against_message_t){i % 2, BEGIN + (int64_t)i * 5 * MS,
                                           tb__against_digest(&i, sizeof i)};
    replay[i] = originals[i];
    replay[i].time_ns = NOW + (int64_t)((double)(originals[i].time_ns - BEGIN) / rate);
  }
  replay_count = COUNT;
}

static void drop(size_t from, size_t count)
{
  memmove(&replay[from], &replay[from + count], (replay_count - from - count) * sizeof *replay);
  replay_count -= count;
}

static void compare_at(double rate)
{
  next_original = 0;
  assert_ok(tb__against_init(&against, 2, rate, next, NULL));
  for (size_t i = 0; i < replay_count; i++)
    assert_ok(tb__against_take(&against, &replay[i]));
  assert_ok(tb__against_end(&against));
}

static int stop(void **state)
{
  (void)state;
  tb__against_fini(&against);
  return 0;
}

static void assert_counts(uint32_t topic, uint64_t matched, uint64_t missing, uint64_t outside,
                          uint64_t extra, uint64_t reordered)
{
  const tb__against_topic_t *found = &against.topics[topic];
  assert_int_equal(found->matched, matched);
  assert_int_equal(found->missing, missing);
  assert_int_equal(found->outside, outside);
  assert_int_equal(found->extra, extra);
  assert_int_equal(found->reordered, reordered);
  assert_int_equal(found->originals, COUNT / 2);
}

static void test_a_perfect_replay(void **state)
{
  (void)state;
  play(2);
  compare_at(2);
  assert_counts(0, COUNT / 2, 0, 0, 0, 0);
  assert_counts(1, COUNT / 2, 0, 0, 0, 0);
  assert_int_equal(against.inversions, 0);
  assert_true(fabs(tb__against_rate(&against) - 2) < 1e-6);
  assert_true(against.topics[0].error->moments.max_ns <= 1000);
}

static void test_what_is_missing_within_and_outside(void **state)
{
  (void)state;
  play(1);
  drop(1900, 100);
  drop(500, 3); /* topics 0, 1, 0 */
  drop(0, 10);
  compare_at(1);
  assert_counts(0, COUNT / 2 - 2 - 5 - 50, 2, 55, 0, 0);
  assert_counts(1, COUNT / 2 - 1 - 5 - 50, 1, 55, 0, 0);
  assert_int_equal(against.inversions, 0);
}

static void test_what_is_extra(void **state)
{
  (void)state;
  play(1);
  replay[replay_count] = replay[replay_count - 1]; /* twice */
  replay[replay_count + 1] = (tb__against_message_t){1, NOW + 20 * S, 4711};
  replay_count += 2;
  compare_at(1);
  assert_counts(0, COUNT / 2, 0, 0, 0, 0);
  assert_counts(1, COUNT / 2, 0, 0, 2, 0);
}

static void test_order_between_topics(void **state)
{
  (void)state;
  play(1);
  tb__against_message_t first = replay[100];
  replay[100].topic = replay[101].topic;
  replay[100].digest = replay[101].digest;
  replay[101].topic = first.topic;
  replay[101].digest = first.digest;
  compare_at(1);
  assert_counts(0, COUNT / 2, 0, 0, 0, 0);
  assert_int_equal(against.inversions, 1);
  assert_int_equal(against.inversions_1ms, 1);
  assert_int_equal(against.inversion_ns, 5 * MS);
}

static void test_equal_times_have_no_order(void **state)
{
  (void)state;
  play(1);
  originals[101].time_ns = originals[100].time_ns;
  tb__against_message_t first = replay[100];
  replay[100] = replay[101];
  replay[101] = first;
  compare_at(1);
  assert_int_equal(against.inversions, 0);
}

static void test_order_within_a_topic(void **state)
{
  (void)state;
  play(1);
  uint64_t digest = replay[100].digest;
  replay[100].digest = replay[102].digest;
  replay[102].digest = digest;
  compare_at(1);
  assert_counts(0, COUNT / 2, 0, 0, 0, 1);
  /* Also the message between them comes after one that should follow it. */
  assert_int_equal(against.inversions, 2);
  assert_int_equal(against.inversion_ns, 10 * MS);
}

static void test_errors_of_gaps(void **state)
{
  (void)state;
  play(1);
  for (size_t i = 1000; i < replay_count; i++)
    replay[i].time_ns += 40 * MS; /* it stopped once */
  compare_at(1);
  const tb__against_topic_t *topic = &against.topics[0];
  assert_int_equal(topic->error->moments.count, COUNT / 2 - 1);
  assert_in_range(tb__spread_quantile(topic->error, 0.5), 0, 1000);
  assert_int_equal(topic->worst_ns, 40 * MS);
  assert_int_equal(topic->worst_at_ns, originals[1000].time_ns);
}

static void test_a_gap_that_is_too_short(void **state)
{
  (void)state;
  play(1);
  replay[1000].time_ns -= 3 * MS;
  compare_at(1);
  assert_int_equal(llabs(against.topics[0].worst_ns), 3 * MS);
}

static void test_a_replay_of_something_else(void **state)
{
  (void)state;
  play(1);
  for (size_t i = 0; i < replay_count; i++)
    replay[i].digest ^= 1;
  compare_at(0);
  assert_counts(0, 0, 0, COUNT / 2, COUNT / 2, 0);
  assert_true(tb__against_rate(&against) <= 0);
}

static void test_the_same_content_again_and_again(void **state)
{
  (void)state;
  play(1);
  for (size_t i = 0; i < COUNT; i++)
    originals[i].digest = replay[i].digest = 7;
  drop(500, 2);
  compare_at(1);
  assert_int_equal(against.topics[0].matched, COUNT / 2 - 1);
  assert_int_equal(against.topics[0].missing + against.topics[0].outside, 1);
  assert_int_equal(against.topics[0].extra, 0);
}

static void test_a_long_loss_is_found_again(void **state)
{
  (void)state;
  play(1);
  for (size_t i = 500; i < COUNT; i++)
    originals[i].time_ns += 100 * S;
  drop(500, 10);
  compare_at(1);
  const tb__against_topic_t *topic = &against.topics[0];
  assert_true(topic->matched > COUNT / 2 - 5 - 5 * TB__AGAINST_LOST_MAX);
  assert_int_equal(topic->matched + topic->missing + topic->outside, COUNT / 2);
}

static void test_digests(void **state)
{
  (void)state;
  static const char text[] = "0123456789abcdef\0\0\0\0";
  for (size_t size = 0; size <= 16; size++) {
    size_t padded = (size + 3) / 4 * 4;
    char copy[16] = {0};
    memcpy(copy, text, size);
    assert_true(tb__against_digest(text, size) == tb__against_digest(copy, padded));
    copy[0] ^= 1;
    if (size) assert_true(tb__against_digest(text, size) != tb__against_digest(copy, padded));
    assert_true(tb__against_digest(text, size) != tb__against_digest(text, size + 4));
  }
}

static void test_empty_ones(void **state)
{
  (void)state;
  play(1);
  replay_count = 0;
  compare_at(1);
  assert_counts(0, 0, 0, COUNT / 2, 0, 0);
}

static void test_any_messages(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  for (int round = 0; round < 50; round++) {
    play(1);
    for (size_t i = 0; i < COUNT; i++) {
      originals[i].digest = test_random(&seed) % 50;
      originals[i].topic = (uint32_t)(test_random(&seed) % 3);
      replay[i].digest = test_random(&seed) % 50;
      replay[i].topic = (uint32_t)(test_random(&seed) % 3);
      replay[i].time_ns = (int64_t)(test_random(&seed) >> 2);
    }
    compare_at(1.5);
    for (int i = 0; i < 2; i++) {
      const tb__against_topic_t *topic = &against.topics[i];
      assert_int_equal(topic->matched + topic->missing + topic->outside, topic->originals);
      assert_int_equal(topic->matched + topic->extra, topic->replayed);
    }
    tb__against_fini(&against);
  }
}

#define SCENARIO(function) cmocka_unit_test_teardown(function, stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SCENARIO(test_a_perfect_replay),
      SCENARIO(test_what_is_missing_within_and_outside),
      SCENARIO(test_what_is_extra),
      SCENARIO(test_order_between_topics),
      SCENARIO(test_equal_times_have_no_order),
      SCENARIO(test_order_within_a_topic),
      SCENARIO(test_errors_of_gaps),
      SCENARIO(test_a_gap_that_is_too_short),
      SCENARIO(test_a_replay_of_something_else),
      SCENARIO(test_the_same_content_again_and_again),
      SCENARIO(test_a_long_loss_is_found_again),
      cmocka_unit_test(test_digests),
      SCENARIO(test_empty_ones),
      SCENARIO(test_any_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What did not come, and how long what came was on its way. */
#include "contract/topic_stream.h"

#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__topic_stream_t stream; /* large */

static void feed(uint64_t sequence)
{
  (void)tb__topic_stream_feed(&stream, &(tb__received_t){.sequence = sequence, .size = 10});
}

static void test_what_was_not_received(void **state)
{
  (void)state;
  tb__topic_stream_init(&stream, NULL);
  feed(7); /* those before it were published before the reader was there */
  feed(8);
  assert_int_equal(stream.not_received, 0);
  feed(12);
  assert_int_equal(stream.not_received, 3);
  feed(10); /* late */
  assert_int_equal(stream.not_received, 2);
  assert_int_equal(stream.late, 1);
  feed(12); /* twice */
  feed(0);  /* not known */
  assert_int_equal(stream.not_received, 2);
  feed(13);
  assert_int_equal(stream.not_received, 2);
  assert_int_equal(stream.bytes, 70);
  assert_int_equal(stream.stamps.arrivals, 7);
}

static void test_numbers_that_may_be_forged(void **state)
{
  (void)state;
  tb__topic_stream_init(&stream, NULL);
  feed(1);
  feed(UINT64_MAX);
  feed(2);
  feed(1000002);
  assert_int_equal(stream.not_received, 999999);
  feed(2000003); /* one too far ... */
  assert_int_equal(stream.not_received, 999999);
  feed(2000006); /* ... and others after it */
  feed(2000007);
  assert_int_equal(stream.not_received, 999999 + 2);
  feed(UINT64_MAX);
  feed(UINT64_MAX);
  feed(1);
  assert_int_equal(stream.not_received, 999999 + 1);
  assert_int_equal(stream.late, 1);
}

static void test_source_to_receive(void **state)
{
  (void)state;
  tb__received_t received = {.source_ns = 100 * S, .receive_ns = 100 * S + 3 * MS};
  tb__topic_stream_init(&stream, NULL);
  (void)tb__topic_stream_feed(&stream, &received);
  received.source_ns = 100 * S + 50 * MS; /* that host's clock is ahead */
  (void)tb__topic_stream_feed(&stream, &received);
  received.source_ns = INT64_MIN; /* not known */
  (void)tb__topic_stream_feed(&stream, &received);
  received.source_ns = 0;
  (void)tb__topic_stream_feed(&stream, &received);
  received = (tb__received_t){.source_ns = INT64_MAX, .receive_ns = INT64_MIN};
  (void)tb__topic_stream_feed(&stream, &received);
  assert_int_equal(stream.travel.moments.count, 2);
  assert_int_equal(stream.travel.moments.max_ns, 3 * MS);
  assert_true(stream.travel.moments.min_ns == -47 * MS);
}

static void test_stamps_are_judged(void **state)
{
  (void)state;
  tb__topic_stream_init(&stream, NULL);
  tb__received_t received = {
      .sequence = 1, .stamp = {.has_stamp = true, .stamp_ns = 90 * S, .ros_ns = 90 * S + 5 * MS}};
  assert_int_equal(tb__topic_stream_feed(&stream, &received), TB__STAMP_GOOD);
  received.stamp.stamp_ns = 0;
  assert_int_equal(tb__topic_stream_feed(&stream, &received), TB__STAMP_ZERO);
  assert_int_equal(stream.stamps.age.moments.max_ns, 5 * MS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_was_not_received),
      cmocka_unit_test(test_numbers_that_may_be_forged),
      cmocka_unit_test(test_source_to_receive),
      cmocka_unit_test(test_stamps_are_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

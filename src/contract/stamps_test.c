/* What stamps are taken for, and what is just not that. */
#include "contract/stamps.h"

#include <math.h>
#include <string.h>

#include "seed.h"
#include "test.h"

#define MS  INT64_C(1000000)
#define S   INT64_C(1000000000)
#define DAY (86400 * S)
#define NOW (INT64_C(1700000000) * S) /* ROS time of a vehicle: system time */
#define SIM (1000 * S)                /* of a simulation */

static tb__stamps_t stamps;

static int start(void **state)
{
  (void)state;
  tb__stamps_init(&stamps, NULL);
  return 0;
}

static tb__stamp_sample_t at(int64_t ros_ns, int64_t stamp_ns)
{
  return (tb__stamp_sample_t){
      .has_stamp = true, .stamp_ns = stamp_ns, .ros_ns = ros_ns, .arrival_ns = ros_ns};
}

static tb__stamp_kind_t feed(tb__stamp_sample_t sample)
{
  return tb__stamps_feed(&stamps, &sample);
}

static void test_zero_is_counted_and_not_aged(void **state)
{
  (void)state;
  assert_int_equal(feed(at(NOW, 0)), TB__STAMP_ZERO);
  assert_int_equal(feed(at(0, 0)), TB__STAMP_ZERO);
  assert_int_equal(stamps.age.moments.count, 0);
  assert_false(stamps.has_last);
  tb__stamps_init(&stamps, NULL);
  assert_int_equal(feed(at(10 * MS, 1)), TB__STAMP_GOOD); /* near miss: a nanosecond */
}

static void test_no_header_is_no_stamp(void **state)
{
  (void)state;
  tb__stamp_sample_t sample = at(NOW, NOW);
  sample.has_stamp = false;
  assert_int_equal(feed(sample), TB__STAMP_NONE);
  sample.arrival_ns += S;
  feed(sample);
  assert_int_equal(stamps.age.moments.count, 0);
  assert_int_equal(stamps.arrivals, 2);
  assert_true(fabs(tb__stamps_rate(&stamps) - 1.0) < 1e-9);
}

static void test_future_and_old(void **state)
{
  (void)state;
  assert_int_equal(feed(at(NOW, NOW + 5 * MS)), TB__STAMP_GOOD);
  assert_int_equal(feed(at(NOW, NOW + 5 * MS + 1)), TB__STAMP_FUTURE);
  assert_int_equal(feed(at(NOW, NOW - 5 * S)), TB__STAMP_GOOD);
  assert_int_equal(feed(at(NOW, NOW - 5 * S - 1)), TB__STAMP_OLD);
  assert_int_equal(stamps.excess[TB__STAMP_FUTURE].greatest_ns, 5 * MS + 1);
  assert_int_equal(stamps.excess[TB__STAMP_FUTURE].stamp_ns, NOW + 5 * MS + 1);
  assert_int_equal(stamps.excess[TB__STAMP_OLD].greatest_ns, 5 * S + 1);
  assert_int_equal(stamps.age.moments.min_ns, -5 * MS - 1);
  assert_int_equal(stamps.age.moments.max_ns, 5 * S + 1);
}

static void test_ages_never_of_a_topic_without_a_limit(void **state)
{
  (void)state;
  stamps.limits.old_ns = INT64_MAX;
  assert_int_equal(feed(at(NOW, NOW - 100 * DAY)), TB__STAMP_GOOD);
}

static void test_equal_stamps_are_no_steps_back(void **state)
{
  (void)state;
  feed(at(NOW, NOW - 1));
  feed(at(NOW + 1, NOW - 1));
  assert_int_equal(stamps.equal, 1);
  assert_int_equal(stamps.backward, 0);
  feed(at(NOW + 2, NOW - 2));
  assert_int_equal(stamps.backward, 1);
  assert_int_equal(stamps.backward_ns, 1);
  assert_int_equal(stamps.backward_at_ns, NOW + 2);
  /* From there on it goes forward again. */
  feed(at(NOW + 3, NOW - 1));
  assert_int_equal(stamps.backward, 1);
  assert_int_equal(stamps.equal, 1);
}

static void test_zero_stamps_are_not_steps(void **state)
{
  (void)state;
  feed(at(NOW, NOW));
  feed(at(NOW + 1, 0));
  feed(at(NOW + 2, NOW + 2));
  assert_int_equal(stamps.backward, 0);
  assert_int_equal(stamps.step.max_ns, 2);
}

static void test_stamps_of_system_time(void **state)
{
  (void)state;
  tb__stamp_sample_t sample = at(SIM, NOW);
  sample.system_ns = NOW + 10 * MS;
  assert_int_equal(feed(sample), TB__STAMP_SYSTEM);
  sample.stamp_ns = SIM - MS;
  assert_int_equal(feed(sample), TB__STAMP_GOOD);
  /* Simulated time that began at the system's, and is 10 s late by now. */
  sample = at(NOW, NOW + 10 * S);
  sample.system_ns = NOW + 10 * S + MS;
  assert_int_equal(feed(sample), TB__STAMP_SYSTEM);
  sample.stamp_ns = NOW - MS;
  assert_int_equal(feed(sample), TB__STAMP_GOOD);
  assert_int_equal(stamps.age.moments.count, 2);
}

static void test_not_of_system_time(void **state)
{
  (void)state;
  /* 1.9 s off, though exactly system time: too near to say. */
  tb__stamp_sample_t sample = at(NOW, NOW + 1900 * MS);
  sample.system_ns = NOW + 1900 * MS;
  assert_int_equal(feed(sample), TB__STAMP_FUTURE);
  /* 3 s off, and 1.8 s from system time: nearer, but not by half. */
  sample = at(NOW, NOW + 3 * S);
  sample.system_ns = NOW + 4800 * MS;
  assert_int_equal(feed(sample), TB__STAMP_FUTURE);
  /* System time is not known. */
  assert_int_equal(feed(at(NOW, NOW + 10 * S)), TB__STAMP_FUTURE);
  /* A limit of the budget: max(2 s, 4 budgets). */
  stamps.limits.other_ns = 20 * S;
  sample = at(NOW, NOW + 10 * S);
  sample.system_ns = NOW + 10 * S;
  assert_int_equal(feed(sample), TB__STAMP_FUTURE);
}

static void test_more_than_a_year_off(void **state)
{
  (void)state;
  assert_int_equal(feed(at(NOW, NOW - 365 * DAY)), TB__STAMP_OLD);
  assert_int_equal(feed(at(NOW, NOW - 365 * DAY - 1)), TB__STAMP_FAR);
  assert_int_equal(feed(at(NOW, 100 * S)), TB__STAMP_FAR); /* steady time, as of the boot */
  assert_int_equal(feed(at(SIM, NOW)), TB__STAMP_FAR);
  assert_int_equal(feed(at(NOW, INT64_MIN)), TB__STAMP_INVALID);
  assert_int_equal(feed(at(SIM, -1)), TB__STAMP_INVALID);
  assert_int_equal(feed(at(1, INT64_MAX)), TB__STAMP_FAR);
  assert_int_equal(stamps.age.moments.count, 1);
}

static void test_unknown_ros_time_judges_nothing(void **state)
{
  (void)state;
  assert_int_equal(feed(at(0, NOW)), TB__STAMP_UNJUDGED);
  assert_int_equal(feed(at(0, NOW - 1)), TB__STAMP_UNJUDGED);
  assert_int_equal(feed(at(SIM, SIM - 1)), TB__STAMP_GOOD); /* time begins: no step back */
  assert_int_equal(stamps.age.moments.count, 1);
  assert_int_equal(stamps.backward, 0);
}

static void test_samples_of_the_epoch_before(void **state)
{
  (void)state;
  feed(at(SIM, SIM - MS));
  /* Time is set back by 60 s; samples that were on their way arrive after it. */
  tb__stamp_sample_t sample = at(SIM - 60 * S, SIM - 2 * MS);
  sample.epoch = (tb__epoch_t){1, SIM, SIM - 60 * S};
  assert_int_equal(feed(sample), TB__STAMP_STALE_EPOCH);
  sample.stamp_ns = SIM - 3 * MS; /* out of order among each other: no step back of the new time */
  assert_int_equal(feed(sample), TB__STAMP_STALE_EPOCH);
  assert_int_equal(stamps.excess[TB__STAMP_STALE_EPOCH].stamp_ns, SIM - 2 * MS);
  /* The new time: neither the first stamp of it nor the late samples are a step back. */
  sample.stamp_ns = SIM - 60 * S - MS;
  assert_int_equal(feed(sample), TB__STAMP_GOOD);
  assert_int_equal(stamps.backward, 0);
  assert_int_equal(stamps.age.moments.count, 2);
  /* A node that has not noticed goes on with the time before. */
  sample.ros_ns += 5 * S;
  sample.stamp_ns = SIM + 5 * S - 3 * MS;
  assert_int_equal(feed(sample), TB__STAMP_STALE_EPOCH);
}

static void test_not_of_the_epoch_before(void **state)
{
  (void)state;
  tb__stamp_sample_t sample = at(SIM - 60 * S, SIM - 60 * S + S);
  sample.epoch = (tb__epoch_t){1, SIM, SIM - 60 * S};
  assert_int_equal(feed(sample), TB__STAMP_FUTURE); /* a second ahead in the new time */
  sample.stamp_ns = SIM + S;                        /* after what the old time had reached */
  assert_int_equal(feed(sample), TB__STAMP_FUTURE);
  sample.ros_ns = SIM + S; /* time has come as far again */
  sample.stamp_ns = SIM;
  assert_int_equal(feed(sample), TB__STAMP_GOOD);
  /* Without a jump it is in the future. */
  assert_int_equal(feed(at(SIM - 60 * S, SIM)), TB__STAMP_FUTURE);
}

static void test_rate_and_gaps(void **state)
{
  (void)state;
  assert_true(tb__stamps_rate(&stamps) <= 0);
  for (int i = 0; i <= 20; i++)
    feed(at(NOW + (i > 10 ? S : 0) + i * 100 * MS, NOW + i * 100 * MS));
  assert_true(fabs(tb__stamps_rate(&stamps) - 20 / 3.0) < 1e-9);
  assert_int_equal(stamps.gap.max_ns, 1100 * MS);
  assert_int_equal(stamps.gap_at_ns, NOW + S);
  assert_int_equal(stamps.step.max_ns, 100 * MS);
}

/* `count` messages every 10 ms with a jitter of up to 2 ms of their acquisition, and of up to
 * `delay_ns` of their way; stamped as acquired or as received. */
static tb__receipt_score_t score_of(int count, int64_t delay_ns, bool is_receipt, int64_t jitter_ns,
                                    int64_t gap_ns)
{
  uint64_t seed = 4711;
  tb__stamps_init(&stamps, NULL);
  for (int i = 0; i < count; i++) {
    int64_t made_ns = NOW + i * 10 * MS + (i > count / 2 ? gap_ns : 0);
    int64_t got_ns = made_ns + (int64_t)(test_random(&seed) % (uint64_t)jitter_ns);
    int64_t stamp_ns = is_receipt ? got_ns : made_ns;
    feed(at(got_ns + (int64_t)(test_random(&seed) % (uint64_t)delay_ns), stamp_ns));
  }
  return tb__stamps_receipt_score(&stamps);
}

static void test_stamps_made_on_reception(void **state)
{
  (void)state;
  tb__receipt_score_t found = score_of(1000, 200000, true, 2 * MS, 0);
  assert_true(found.score > TB__RECEIPT_SCORE);
  assert_in_range(found.age_p50_ns, 90000, 110000);
  assert_true(score_of(100000, 200000, true, 2 * MS, 0).score > TB__RECEIPT_SCORE);
}

static void test_stamps_not_made_on_reception(void **state)
{
  (void)state;
  assert_true(score_of(1000, 200000, false, 2 * MS, 0).score < 0.5); /* regular, varying ages */
  /* A gap of the source is in both steps, and proves nothing. */
  assert_true(score_of(100, 200000, false, MS / 2, 10 * S).score < 0.5);
  /* Ages of 3 ms, though the steps agree. */
  assert_true(score_of(1000, 6 * MS, true, 2 * MS, 0).score <= 0);
  /* Too few to say. */
  assert_true(score_of(TB__RECEIPT_PAIRS, 200000, true, 2 * MS, 0).score <= 0);
  assert_true(score_of(TB__RECEIPT_PAIRS + 2, 200000, true, 2 * MS, 0).score > 0.9);
  /* No jitter at all. */
  assert_true(score_of(1000, 1, true, 1, 0).score <= 0);
}

static void test_kept_pairs_are_of_all_the_stream(void **state)
{
  (void)state;
  for (int64_t i = 0; i <= 100000; i++)
    feed(at(NOW + i * i, NOW + i * i)); /* the step grows by 2 each time */
  assert_true(stamps.pair_count > TB__STAMP_PAIRS / 2 - 2);
  for (uint32_t i = 0; i < stamps.pair_count; i++)
    assert_int_equal(stamps.pairs[i].stamp_ns, 2 * (int64_t)i * stamps.stride + 1);
  assert_in_range(stamps.pairs[stamps.pair_count - 1].stamp_ns, 190000, 200001);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_zero_is_counted_and_not_aged, start),
      cmocka_unit_test_setup(test_no_header_is_no_stamp, start),
      cmocka_unit_test_setup(test_future_and_old, start),
      cmocka_unit_test_setup(test_ages_never_of_a_topic_without_a_limit, start),
      cmocka_unit_test_setup(test_equal_stamps_are_no_steps_back, start),
      cmocka_unit_test_setup(test_zero_stamps_are_not_steps, start),
      cmocka_unit_test_setup(test_stamps_of_system_time, start),
      cmocka_unit_test_setup(test_not_of_system_time, start),
      cmocka_unit_test_setup(test_more_than_a_year_off, start),
      cmocka_unit_test_setup(test_unknown_ros_time_judges_nothing, start),
      cmocka_unit_test_setup(test_samples_of_the_epoch_before, start),
      cmocka_unit_test_setup(test_not_of_the_epoch_before, start),
      cmocka_unit_test_setup(test_rate_and_gaps, start),
      cmocka_unit_test_setup(test_stamps_made_on_reception, start),
      cmocka_unit_test_setup(test_stamps_not_made_on_reception, start),
      cmocka_unit_test_setup(test_kept_pairs_are_of_all_the_stream, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

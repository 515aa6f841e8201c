#include <stdlib.h>
#include <string.h>

#include "platform/time.h"
#include "source/tick_filter.h"
#include "test.h"

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

static const tb__tick_filter_options_t accept_all = {false, S};
static const tb__tick_filter_options_t hold = {true, S};

static tb__writer_id_t writer(char name)
{
  uint8_t bytes[16] = {0};
  bytes[15] = (uint8_t)(name == '?' ? 0 : name);
  return tb__writer_id(bytes, sizeof bytes);
}

static tb__tick_verdict_t sample(tb__tick_filter_t *filter, char name, int64_t time_ns,
                                 int64_t stamp_ns, int64_t steady_ns)
{
  tb__tick_sample_t tick = {writer(name), time_ns, stamp_ns, steady_ns};
  return tb__tick_filter_sample(filter, &tick);
}

#define assert_accepted(...)  assert_int_equal(sample(__VA_ARGS__), TB__TICK_ACCEPT)
#define assert_reordered(...) assert_int_equal(sample(__VA_ARGS__), TB__TICK_REORDERED)
#define assert_refused(...)   assert_int_equal(sample(__VA_ARGS__), TB__TICK_REFUSED)

static void test_X8_reordered_is_older_in_value_and_in_stamp_by_less_than_a_second(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 50 * S, 100 * S, 1);
  assert_reordered(&filter, 'a', 50 * S - 1, 100 * S - 1, 2);
  assert_reordered(&filter, 'a', 0, 99 * S + 1, 3);
  assert_int_equal(filter.reordered, 2);
  assert_accepted(&filter, 'a', 50 * S, 100 * S - 5, 4); /* not older in value; stamp is now less */
  assert_accepted(&filter, 'a', 40 * S, 100 * S - 5, 5); /* not older in stamp: a jump */
  assert_accepted(&filter, 'a', 39 * S, 99 * S - 5, 6);  /* by a second: the wall clock was set */
  assert_accepted(&filter, 'a', 38 * S, 300 * S, 7);
  assert_int_equal(filter.reordered, 2);
}

static void test_X8_a_new_writer_starts_a_new_order(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 50 * S, 100 * S, 1);
  assert_accepted(&filter, 'b', 40 * S, 100 * S - 1, 2);
  assert_accepted(&filter, 'a', 39 * S, 100 * S - 2, 3); /* the last was of b */
  assert_reordered(&filter, 'a', 38 * S, 100 * S - 3, 4);
  tb__tick_filter_restart(&filter);
  assert_accepted(&filter, 'a', 38 * S, 100 * S - 3, 5);
  assert_int_equal(filter.reordered, 1); /* counts stay */
}

static void test_X8_no_stamp_overflows(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 50, INT64_MAX, 1);
  assert_accepted(&filter, 'a', 40, INT64_MIN, 2); /* older by more than a second */
  assert_accepted(&filter, 'a', 30, INT64_MIN, 3); /* the same stamp */
  assert_accepted(&filter, 'a', 20, INT64_MIN + 5, 4);
  assert_reordered(&filter, 'a', 10, INT64_MIN, 5);
  assert_accepted(&filter, 'a', 10, INT64_MAX, 6); /* newer, though the difference is -6 in int64 */
  assert_reordered(&filter, 'a', 5, INT64_MAX - 1, 7);
}

static void test_X8_two_publishers_within_a_second_are_reported_once_until_it_is_over(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 1, 1, 10 * S);
  assert_accepted(&filter, 'b', 1, 1, 11 * S + 1); /* a was silent for longer: it was replaced */
  assert_int_equal(filter.faults, 0);
  assert_accepted(&filter, 'a', 2, 2, 12 * S + 1); /* within the last second */
  assert_int_equal(filter.faults, 1);
  assert_memory_equal(&filter.fault_pair[0], &(tb__writer_id_t[]){writer('b')}, sizeof writer('b'));
  assert_memory_equal(&filter.fault_pair[1], &(tb__writer_id_t[]){writer('a')}, sizeof writer('a'));
  for (int i = 1; i < 50; i++)
    sample(&filter, "abc"[i % 3], i, i, 12 * S + i * 100 * MS);
  assert_int_equal(filter.faults, 1);
  int64_t late_ns = 12 * S + 49 * 100 * MS;
  for (int i = 1; i < 20; i++)
    assert_accepted(&filter, 'b', 100 + i, 100 + i, late_ns + i * 100 * MS);
  assert_int_equal(filter.faults, 1);
  assert_accepted(&filter, 'c', 100, 100, late_ns + 2 * S);
  assert_int_equal(filter.faults, 2);
}

/* Also the ticks that are dropped are signs of life. */
static void test_X8_a_fault_is_reported_for_every_verdict(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &hold);
  assert_accepted(&filter, 'a', 5, 5, 10 * S);
  assert_refused(&filter, 'b', 6, 6, 10 * S);
  assert_int_equal(filter.faults, 1);
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 5, 5, 10 * S);
  assert_reordered(&filter, 'a', 4, 4, 10 * S + 500 * MS);
  assert_accepted(&filter, 'b', 6, 6, 11 * S + 500 * MS);
  assert_int_equal(filter.faults, 1);
}

static void test_X8_the_first_holds_the_clock_until_it_is_silent(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_options_t options = {true, 300 * MS};
  tb__tick_filter_init(&filter, &options);
  assert_accepted(&filter, 'a', 5, 5, 10 * S);
  assert_refused(&filter, 'b', 90, 6, 10 * S + 1);
  assert_reordered(&filter, 'a', 4, 4, 10 * S + 100 * MS); /* a sign of life */
  assert_refused(&filter, 'b', 91, 7, 10 * S + 400 * MS - 1);
  assert_accepted(&filter, 'c', 70, 7, 10 * S + 400 * MS); /* the next writer */
  assert_refused(&filter, 'b', 92, 8, 10 * S + 401 * MS);
  assert_refused(&filter, 'a', 6, 8, 10 * S + 402 * MS); /* it was the first, and gave way */
  assert_accepted(&filter, 'c', 71, 8, 20 * S);          /* silent, but not replaced */
  assert_refused(&filter, 'a', 7, 9, 20 * S + 1);
  assert_int_equal(filter.refused, 5);
  assert_accepted(&filter, 'c', 72, 10,
                  20 * S - 200 * MS); /* a thread that was slow to come here */
  assert_refused(&filter, 'a', 7, 11, 20 * S + 299 * MS);
  tb__tick_filter_restart(&filter);
  assert_int_equal(filter.refused, 6);
  assert_accepted(&filter, 'a', 8, 10, 20 * S + 2);
}

/* DDS cannot name the writer of a sample that comes after its end. */
static void test_X8_an_unknown_writer_is_no_fault_and_takes_no_hold(void **state)
{
  (void)state;
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &accept_all);
  assert_accepted(&filter, 'a', 5, 5, 10 * S);
  assert_accepted(&filter, '?', 4, 4, 10 * S);
  assert_accepted(&filter, '?', 3, 3, 10 * S); /* nor is it "the same" */
  assert_accepted(&filter, 'a', 2, 2, 10 * S);
  assert_int_equal(filter.faults, 0);
  tb__tick_filter_init(&filter, &hold);
  assert_accepted(&filter, '?', 5, 5, 10 * S);
  assert_accepted(&filter, 'a', 5, 5, 10 * S);
  assert_refused(&filter, '?', 6, 6, 10 * S + 1);
  assert_accepted(&filter, '?', 6, 6, 11 * S);
  assert_accepted(&filter, 'b', 7, 7, 11 * S + 1); /* it holds nothing */
}

static void test_X8_ids_of_all_sizes(void **state)
{
  (void)state;
  uint8_t bytes[TB__WRITER_ID_SIZE] = {1};
  tb__tick_filter_t filter;
  tb__tick_filter_init(&filter, &hold);
  tb__tick_sample_t tick = {.writer = tb__writer_id(bytes, TB__WRITER_ID_SIZE), .time_ns = 1};
  assert_int_equal(tb__tick_filter_sample(&filter, &tick), TB__TICK_ACCEPT);
  assert_int_equal(tb__tick_filter_sample(&filter, &tick), TB__TICK_ACCEPT);
  tick.writer.bytes[TB__WRITER_ID_SIZE - 1] = 7; /* the last byte counts */
  assert_int_equal(tb__tick_filter_sample(&filter, &tick), TB__TICK_REFUSED);
  tick.writer = tb__writer_id(bytes, 12);
  assert_int_equal(tb__tick_filter_sample(&filter, &tick), TB__TICK_REFUSED);
}

/* ---- random samples against a model that remembers every sample ---- */

#define SAMPLES 400

typedef struct model {
  tb__tick_filter_options_t options;
  struct {
    char name;
    int64_t time_ns, stamp_ns, steady_ns;
    tb__tick_verdict_t verdict;
    char holder; /* after it */
    bool fault;
  } samples[SAMPLES];
  int count;
  int faults;
} model_t;

static int64_t last_tick_of(const model_t *model, char name)
{
  int64_t last_ns = -100 * S; /* never: long ago */
  for (int i = 0; i < model->count; i++)
    if (model->samples[i].name == name) last_ns = model->samples[i].steady_ns;
  return last_ns;
}

static tb__tick_verdict_t model_verdict(const model_t *model, char name, int64_t time_ns,
                                        int64_t stamp_ns, int64_t steady_ns, char *holder)
{
  *holder = model->count ? model->samples[model->count - 1].holder : 0;
  if (model->options.hold_to_first) {
    bool silent =
        !*holder || steady_ns - last_tick_of(model, *holder) >= model->options.hold_limit_ns;
    if (!silent && name != *holder) return TB__TICK_REFUSED;
    if (name != '?') *holder = name;
  }
  for (int i = model->count - 1; i >= 0; i--) {
    if (model->samples[i].verdict != TB__TICK_ACCEPT) continue;
    bool same = model->samples[i].name == name && name != '?';
    __int128 behind_ns = (__int128)model->samples[i].stamp_ns - stamp_ns;
    bool older = time_ns < model->samples[i].time_ns && behind_ns > 0 && behind_ns < S;
    return same && older ? TB__TICK_REORDERED : TB__TICK_ACCEPT;
  }
  return TB__TICK_ACCEPT;
}

static tb__tick_verdict_t model_sample(model_t *model, char name, int64_t time_ns, int64_t stamp_ns,
                                       int64_t steady_ns)
{
  char holder;
  tb__tick_verdict_t verdict = model_verdict(model, name, time_ns, stamp_ns, steady_ns, &holder);
  bool before = model->count && model->samples[model->count - 1].fault, fault = before;
  if (name != '?') {
    fault = false;
    for (const char *other = "abc"; *other; other++)
      fault |= *other != name && steady_ns - last_tick_of(model, *other) <= S;
  }
  model->faults += fault && !before;
  int i = model->count++;
  model->samples[i].name = name;
  model->samples[i].time_ns = time_ns;
  model->samples[i].stamp_ns = stamp_ns;
  model->samples[i].steady_ns = steady_ns;
  model->samples[i].verdict = verdict;
  model->samples[i].holder = holder;
  model->samples[i].fault = fault;
  return verdict;
}

static uint64_t random_state;

static int64_t draw(int64_t below)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)((random_state >> 11) % (uint64_t)below);
}

static int64_t any_stamp(int64_t near_ns)
{
  switch (draw(12)) {
  case 0:
    return draw(2) ? INT64_MIN : INT64_MAX;
  case 1:
    return INT64_MIN + draw(S);
  default:
    return near_ns - draw(3) * 500 * MS + draw(3) - 1;
  }
}

static void test_X8_random_samples_against_a_model(void **state)
{
  (void)state;
  const char *text = getenv("TB_TEST_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)tb__steady_now_ns() | 1;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)seed);
  random_state = seed;
  int verdicts[3] = {0}, faults = 0;
  static model_t model;
  for (int round = 0; round < 200; round++) {
    memset(&model, 0, sizeof model);
    model.options = (tb__tick_filter_options_t){draw(2), (1 + draw(4)) * 500 * MS};
    tb__tick_filter_t filter;
    tb__tick_filter_init(&filter, &model.options);
    int64_t steady_ns = 5 * S;
    for (int i = 0; i < SAMPLES; i++) {
      char name = "aaaabbc?"[draw(draw(3) ? 4 : 8)];
      int64_t time_ns = draw(20), stamp_ns = any_stamp(steady_ns);
      steady_ns += draw(3) ? draw(4) * 250 * MS : draw(2);
      tb__tick_verdict_t expected = model_sample(&model, name, time_ns, stamp_ns, steady_ns);
      tb__tick_verdict_t verdict = sample(&filter, name, time_ns, stamp_ns, steady_ns);
      if (verdict != expected || filter.faults != (uint64_t)model.faults)
        fail_msg("round %d, sample %d: verdict %d, expected %d; %llu faults, expected %d", round, i,
                 verdict, expected, (unsigned long long)filter.faults, model.faults);
      verdicts[verdict]++;
    }
    faults += model.faults;
  }
  for (int i = 0; i < 3; i++)
    assert_true(verdicts[i] > 100); /* the samples reach all of it */
  assert_true(faults > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X8_reordered_is_older_in_value_and_in_stamp_by_less_than_a_second),
      cmocka_unit_test(test_X8_a_new_writer_starts_a_new_order),
      cmocka_unit_test(test_X8_no_stamp_overflows),
      cmocka_unit_test(test_X8_two_publishers_within_a_second_are_reported_once_until_it_is_over),
      cmocka_unit_test(test_X8_a_fault_is_reported_for_every_verdict),
      cmocka_unit_test(test_X8_the_first_holds_the_clock_until_it_is_silent),
      cmocka_unit_test(test_X8_an_unknown_writer_is_no_fault_and_takes_no_hold),
      cmocka_unit_test(test_X8_ids_of_all_sizes),
      cmocka_unit_test(test_X8_random_samples_against_a_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

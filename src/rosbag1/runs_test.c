#include "rosbag1/runs.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#define MS UINT64_C(1000000)

typedef struct message {
  uint32_t connection;
  uint64_t ms;
} message_t;

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define TIMES TB__ROSBAG1_RUN_MESSAGES_MIN

/* "first_id:start-end(messages) ..." in ms; "" without a jump. Each message comes TIMES times. */
static void assert_runs(const message_t *messages, size_t count, const char *expected)
{
  char text[512] = "";
  tb__rosbag1_runs_t runs = {0};
  for (size_t i = 0; i < TIMES * count; i++)
    assert_ok(tb__rosbag1_runs_add(&runs, messages[i / TIMES].connection,
                                   messages[i / TIMES].ms * MS, i, NULL));
  assert_ok(tb__rosbag1_runs_end(&runs, NULL));
  uint64_t sum = 0, counted = 0;
  for (size_t i = 0; i < runs.count; i++) {
    const tb__rosbag1_run_t *run = &runs.items[i];
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%llu:%llu-%llu(%llu)",
             i ? " " : "", (unsigned long long)run->first_id / TIMES,
             (unsigned long long)(run->start_ns / MS), (unsigned long long)(run->end_ns / MS),
             (unsigned long long)run->message_count / TIMES);
    sum += run->message_count;
    for (size_t j = 0; j < run->count_count; j++)
      counted += run->counts[j].count;
  }
  assert_string_equal(text, expected);
  if (runs.count > 0) assert_int_equal(sum, TIMES * count);
  assert_int_equal(sum, counted);
  tb__rosbag1_runs_fini(&runs);
}

static void test_time_that_passes(void **state)
{
  (void)state;
  static const message_t in_order[] = {{0, 1000}, {1, 1100}, {0, 90000}, {1, 90000}};
  static const message_t disorder[] = {{0, 1000}, {0, 1900}, {0, 1400}, {1, 1450}, {0, 2000}};
  static const message_t late[] = {{0, 1000}, {1, 5000}, {0, 1100}, {1, 5100}, {0, 1200}};
  assert_runs(NULL, 0, "");
  assert_runs(in_order, COUNT(in_order), "");
  assert_runs(disorder, COUNT(disorder), "");
  assert_runs(late, COUNT(late), ""); /* each connection is in order */
}

static void test_bags_put_together(void **state)
{
  (void)state;
  static const message_t by_topic[] = {{0, 1000}, {0, 2000}, {0, 3000}, {1, 1000},
                                       {1, 2000}, {1, 3000}, {2, 1500}};
  assert_runs(by_topic, COUNT(by_topic), "");
}

static void test_a_jump_back(void **state)
{
  (void)state;
  static const message_t plain[] = {{0, 5000}, {1, 5500}, {0, 6000}, {0, 4000}, {1, 4100}};
  static const message_t twice[] = {{0, 5000}, {0, 6000}, {0, 5000}, {0, 6000}, {0, 5000}};
  assert_runs(plain, COUNT(plain), "0:5000-6000(3) 3:4000-4100(2)");
  assert_runs(twice, COUNT(twice), "0:5000-6000(2) 2:5000-6000(2) 4:5000-5000(1)");
}

/* Which connection is seen first does not matter. */
static void test_a_run_begins_with_the_first_message_after_the_jump(void **state)
{
  (void)state;
  static const message_t first_of_its_own[] = {{0, 5000}, {0, 6000}, {1, 4000},
                                               {2, 4005}, {0, 4010}, {1, 4100}};
  static const message_t not_a_jump_yet[] = {{0, 5000}, {0, 6000}, {1, 4000},
                                             {0, 6100}, {0, 4000}, {1, 4100}};
  assert_runs(first_of_its_own, COUNT(first_of_its_own), "0:5000-6000(2) 2:4000-4100(4)");
  assert_runs(not_a_jump_yet, COUNT(not_a_jump_yet), "0:4000-6100(4) 4:4000-4100(2)");
}

static void test_a_message_from_before_that_is_written_after(void **state)
{
  (void)state;
  static const message_t straggler[] = {{0, 5000}, {1, 5900}, {0, 6000}, {0, 4000},
                                        {1, 5950}, {0, 4100}, {1, 4100}, {1, 4200}};
  assert_runs(straggler, COUNT(straggler), "0:5000-6000(3) 3:4000-4200(5)");
}

static void test_a_file_without_order_is_one(void **state)
{
  (void)state;
  static message_t messages[2 * TB__ROSBAG1_RUNS_MAX + 2];
  for (size_t i = 0; i < COUNT(messages); i++)
    messages[i] = (message_t){0, i % 2 ? 1000 : 5000};
  assert_runs(messages, COUNT(messages), "");
  tb__rosbag1_runs_t shuffled = {0};
  for (size_t i = 0; i < 100; i++)
    assert_ok(tb__rosbag1_runs_add(&shuffled, 0, (1000 + 7000 * i % 20000) * MS, i, NULL));
  assert_ok(tb__rosbag1_runs_end(&shuffled, NULL));
  assert_int_equal(shuffled.count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_time_that_passes),
      cmocka_unit_test(test_bags_put_together),
      cmocka_unit_test(test_a_jump_back),
      cmocka_unit_test(test_a_run_begins_with_the_first_message_after_the_jump),
      cmocka_unit_test(test_a_message_from_before_that_is_written_after),
      cmocka_unit_test(test_a_file_without_order_is_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

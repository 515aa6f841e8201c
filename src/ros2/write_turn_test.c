#include "ros2/write_turn.h"

#include <pthread.h>
#include <sched.h>
#include <timebase/testing.h>

#include "held/held_time.h"
#include "test.h"

#define THREADS  4
#define ROUNDS   2000
#define LIMIT_NS (50 * TB_NS_PER_MS)

static tb__write_turn_t turn;
static int inside, total; /* of the thread that has the turn */

static void test_a_taken_turn_is_refused_after_the_deadline(void **state)
{
  (void)state;
  assert_true(tb__write_turn_take(&turn, TB__PASSED_DEADLINE, LIMIT_NS));
  assert_false(tb__write_turn_take(&turn, TB__PASSED_DEADLINE, LIMIT_NS));
  assert_false(tb__write_turn_take(&turn, TB__NO_DEADLINE, 1));
  tb__write_turn_give(&turn);
  assert_true(tb__write_turn_take(&turn, TB__PASSED_DEADLINE, LIMIT_NS));
  tb__write_turn_give(&turn);
}

typedef struct taker {
  pthread_t thread;
  tb__deadline_t deadline;
  bool has_taken;
} taker_t;

static void *take(void *argument)
{
  taker_t *taker = argument;
  taker->has_taken = tb__write_turn_take(&turn, taker->deadline, LIMIT_NS);
  return NULL;
}

/* Returns when it waits, until this time. */
static void take_begin(taker_t *taker, int64_t expected_ns)
{
  int64_t next_ns;
  assert_int_equal(pthread_create(&taker->thread, NULL, take, taker), 0);
  while (!tb__held_time_next(TB__DEADLINE_STEADY, &next_ns))
    sched_yield();
  assert_int_equal(next_ns, expected_ns);
}

/* Steady time is the test's: a wait ends when the test moves time, or by the turn. */
static void test_the_limit_ends_the_wait(void **state)
{
  (void)state;
  taker_t early = {.deadline = TB__NO_DEADLINE}, late = {.deadline = TB__NO_DEADLINE};
  int64_t now_ns;
  assert_true(tb__write_turn_take(&turn, TB__NO_DEADLINE, LIMIT_NS));
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_now(TB_TESTING_STEADY, &now_ns));
  early.deadline = tb__deadline_at(now_ns + 1);
  take_begin(&early, now_ns + 1);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){1}));
  pthread_join(early.thread, NULL);
  assert_false(early.has_taken);
  take_begin(&late, now_ns + 1 + LIMIT_NS);
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){LIMIT_NS}));
  pthread_join(late.thread, NULL);
  assert_false(late.has_taken);
  take_begin(&late, now_ns + 1 + 2 * LIMIT_NS);
  tb__write_turn_give(&turn);
  pthread_join(late.thread, NULL);
  assert_true(late.has_taken);
  assert_ok(tb_testing_release_os_time());
  tb__write_turn_give(&turn);
}

static void *contend(void *argument)
{
  (void)argument;
  for (int i = 0; i < ROUNDS; i++) {
    while (!tb__write_turn_take(&turn, TB__NO_DEADLINE, i % 2 ? LIMIT_NS : 1))
      sched_yield();
    assert_int_equal(inside++, 0);
    total++;
    if (i % 64 == 0) sched_yield();
    inside--;
    tb__write_turn_give(&turn);
  }
  return NULL;
}

static void test_one_thread_has_it_at_a_time(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, contend, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(total, THREADS * ROUNDS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_taken_turn_is_refused_after_the_deadline),
      cmocka_unit_test(test_the_limit_ends_the_wait),
      cmocka_unit_test(test_one_thread_has_it_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

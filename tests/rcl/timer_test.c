/* Timers of ROS clocks that follow a shared time: their guard conditions are triggered once, when
 * they are due. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

#include "following.h"

#define MS          INT64_C(1000000)
#define NO_TIMEOUT  INT64_C(-1)
#define CHURN_COUNT 1000

#define assert_rcl(expression) assert_int_equal(expression, RCL_RET_OK)

/* In both forms, where a release has both. */
static void timer_init(rcl_timer_t *timer, rcl_clock_t *clock, int64_t period_ns)
{
  rcl_allocator_t allocator = standin_allocator();
  timer->impl = NULL;
#if STANDIN_RELEASE <= 2
  assert_rcl(rcl_timer_init(timer, clock, NULL, period_ns, NULL, allocator));
#else
  assert_rcl(rcl_timer_init2(timer, clock, NULL, period_ns, NULL, allocator, true));
#endif
}

static int64_t next_call(const rcl_timer_t *timer)
{
  int64_t next_ns;
  assert_rcl(standin_next_call(timer, &next_ns));
  return next_ns;
}

static bool is_ready(const rcl_timer_t *timer)
{
  bool ready;
  assert_rcl(rcl_timer_is_ready(timer, &ready));
  return ready;
}

static void wait_for_triggers(const rcl_timer_t *timer, unsigned count)
{
  while (standin_triggers(timer) < count)
    sched_yield();
}

/* A timer of its own that has been triggered shows that the schedule has seen a time. */
static void wait_for_schedule(rcl_clock_t *clock, int64_t time_ns)
{
  rcl_timer_t probe;
  timer_init(&probe, clock, time_ns - now_of(clock));
  publish(time_ns);
  wait_for_triggers(&probe, 1);
  assert_rcl(rcl_timer_fini(&probe));
}

static void wait_until_ready(rcl_timer_t *timer)
{
  while (!is_ready(timer))
    standin_wait(&timer, 1, NO_TIMEOUT);
}

static void test_due_timer_wakes_a_wait_once(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  publish_and_wait(&clock, 100 * S);
  timer_init(&timer, &clock, 1 * S);
  assert_int_equal(next_call(&timer), 101 * S);
  wait_for_schedule(&clock, 101 * S - 1);
  assert_int_equal(standin_triggers(&timer), 0);
  publish(101 * S);
  wait_until_ready(&timer);
  wait_for_triggers(&timer, 1);
  wait_for_schedule(&clock, 102 * S + 500 * MS); /* not called: not triggered again */
  assert_int_equal(standin_triggers(&timer), 1);
  assert_rcl(rcl_timer_call(&timer));
  assert_int_equal(next_call(&timer), 103 * S);
  publish(103 * S);
  wait_until_ready(&timer);
  wait_for_triggers(&timer, 2);
  assert_rcl(rcl_timer_fini(&timer));
  assert_int_equal(clock.num_jump_callbacks, 0);
  assert_rcl(rcl_clock_fini(&clock));
}

#if STANDIN_RELEASE > 1 /* humble's wait does not ask whether a timer is ready */
/* A middleware may sleep even if its timeout is zero; where nothing is called it should. */
static void test_wait_on_a_ready_timer_is_ended_by_its_guard_condition(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t first, second, *timers[] = {&first, &second};
  publish_and_wait(&clock, 150 * S);
  timer_init(&first, &clock, 1 * S);
  timer_init(&second, &clock, 1 * S);
  publish(151 * S);
  for (int i = 0; i < 2; i++)
    wait_for_triggers(timers[i], 1);
  assert_true(standin_wait(timers, 2, NO_TIMEOUT)); /* takes the triggers of both */
  for (int i = 0; i < 2; i++) {
    if (i > 0) assert_true(standin_wait(timers, 2, NO_TIMEOUT));
    assert_false(standin_wait(timers, 2, NO_TIMEOUT));
    assert_rcl(rcl_timer_call(timers[i]));
  }
  assert_false(standin_wait(timers, 2, 0));
  for (int i = 0; i < 2; i++)
    assert_rcl(rcl_timer_fini(timers[i]));
  assert_rcl(rcl_clock_fini(&clock));
}
#endif

static void test_each_period_triggers_once(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  publish_and_wait(&clock, 200 * S);
  timer_init(&timer, &clock, 10 * MS);
  for (int64_t i = 1; i <= 200; i++) {
    publish(200 * S + i * 5 * MS);
    if (i % 2) continue;
    wait_until_ready(&timer);
    assert_rcl(rcl_timer_call(&timer));
    assert_true(standin_triggers(&timer) <= (unsigned)i / 2);
  }
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_cancelled_timer_is_not_triggered_until_it_is_reset(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  publish_and_wait(&clock, 300 * S);
  timer_init(&timer, &clock, 1 * S);
  assert_rcl(rcl_timer_cancel(&timer));
  wait_for_schedule(&clock, 305 * S);
  assert_int_equal(standin_triggers(&timer), 0);
  assert_rcl(rcl_timer_reset(&timer));
  assert_int_equal(next_call(&timer), 306 * S);
  publish(306 * S);
  wait_for_triggers(&timer, 1);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}

#if STANDIN_RELEASE > 1 /* humble has no such function */
static void test_call_with_info_moves_the_deadline(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  rcl_timer_call_info_t info = {0};
  publish_and_wait(&clock, 350 * S);
  timer_init(&timer, &clock, 2 * S);
  publish(353 * S);
  wait_for_triggers(&timer, 1);
  assert_rcl(rcl_timer_call_with_info(&timer, &info));
  assert_int_equal(info.expected_call_time, 352 * S);
  assert_int_equal(info.actual_call_time, 353 * S);
  assert_int_equal(next_call(&timer), 354 * S);
  publish(354 * S);
  wait_for_triggers(&timer, 2);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}
#endif

static void test_seek_forward_makes_a_timer_due_at_once(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  publish_and_wait(&clock, 400 * S);
  timer_init(&timer, &clock, 50 * S);
  assert_ok(tb_shm_publisher_tick(publisher, 1000 * S, TB_JUMP_REASON_SEEK));
  wait_until_ready(&timer);
  wait_for_triggers(&timer, 1);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_jump_back_moves_the_next_call_as_in_rcl(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  publish_and_wait(&clock, 2000 * S);
  timer_init(&timer, &clock, 5 * S);
  publish_and_wait(&clock, 1500 * S);
  while (next_call(&timer) != 1505 * S)
    sched_yield();
  wait_for_schedule(&clock, 1504 * S);
  assert_int_equal(standin_triggers(&timer), 0);
  publish(1505 * S);
  wait_until_ready(&timer);
  wait_for_triggers(&timer, 1);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_steady_timers_pass_by(void **state)
{
  (void)state;
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t steady;
  rcl_timer_t timer, *timers[] = {&timer};
  assert_rcl(rcl_clock_init(RCL_STEADY_TIME, &steady, &allocator));
  timer_init(&timer, &steady, 1 * MS);
  assert_false(standin_wait(timers, 1, NO_TIMEOUT));
  assert_true(is_ready(&timer));
  assert_rcl(rcl_timer_call(&timer));
  assert_rcl(rcl_timer_reset(&timer));
  assert_int_equal(standin_triggers(&timer), 0);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&steady));
}

/* ---- a timer that is being made ---- */

/* Up to jazzy librcl adds a timer's jump callback before the timer has an implementation, and a
 * call would be the end of the process. The jump is not lost for the timer. */
static rcl_clock_t made_on;
static _Atomic bool is_over;

static void note_end(const rcl_time_jump_t *jump, bool before, void *user_data)
{
  (void)jump;
  (void)user_data;
  if (!before) atomic_store(&is_over, true);
}

static void jump_back(void)
{
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  standin_while_making(NULL);
  assert_rcl(rcl_clock_add_jump_callback(&made_on, threshold, note_end, NULL));
  publish(2500 * S);
  while (!atomic_load(&is_over)) /* it is called after that of the timer */
    sched_yield();
}

static void test_jump_while_a_timer_is_made(void **state)
{
  (void)state;
  rcl_timer_t timer;
  made_on = ros_clock();
  publish_and_wait(&made_on, 3000 * S);
  standin_while_making(jump_back);
  timer_init(&timer, &made_on, 100 * S);
  assert_int_equal(next_call(&timer), 2600 * S);
  wait_for_schedule(&made_on, 2599 * S);
  assert_int_equal(standin_triggers(&timer), 0);
  publish(2600 * S);
  wait_for_triggers(&timer, 1);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&made_on));
}

/* ---- many ---- */

static _Atomic bool is_ticking;

static void *tick(void *unused)
{
  (void)unused;
  for (int64_t i = 1; atomic_load(&is_ticking); i++) {
    publish(i % 500 ? 5000 * S + i * MS : 4900 * S);
    sched_yield();
  }
  return NULL;
}

static rcl_timer_t churned[CHURN_COUNT];

static void test_churn_of_1000_timers(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  pthread_t ticker;
  publish_and_wait(&clock, 5000 * S);
  atomic_store(&is_ticking, true);
  assert_int_equal(pthread_create(&ticker, NULL, tick, NULL), 0);
  for (int i = 0; i < CHURN_COUNT; i++)
    timer_init(&churned[i], &clock, (i % 50 + 1) * MS);
  assert_int_equal(clock.num_jump_callbacks, CHURN_COUNT);
  for (int round = 0; round < 5; round++)
    for (int i = 0; i < CHURN_COUNT; i++) {
      rcl_timer_t *timer = &churned[(i * 7 + round) % CHURN_COUNT];
      if (i % 3 == 0) {
        assert_rcl(rcl_timer_fini(timer));
        timer_init(timer, &clock, (i % 50 + 1) * MS);
      } else if (i % 3 == 1) {
        assert_rcl(rcl_timer_call(timer));
      } else {
        assert_rcl(rcl_timer_reset(timer));
      }
    }
  atomic_store(&is_ticking, false);
  pthread_join(ticker, NULL);
  for (int i = 0; i < CHURN_COUNT; i++)
    assert_rcl(rcl_timer_fini(&churned[i]));
  assert_int_equal(clock.num_jump_callbacks, 0);
  assert_rcl(rcl_clock_fini(&clock));
}

static int in_child(rcl_timer_t *timer)
{
  if (rcl_timer_reset(timer)) return 1;
  if (rcl_timer_call(timer)) return 2;
  return rcl_timer_fini(timer) ? 3 : 0;
}

static void test_forked_child_uses_and_ends_its_timers(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  rcl_timer_t timer;
  int status;
  timer_init(&timer, &clock, 1 * S);
  pid_t child = fork();
  if (child == 0) _exit(in_child(&timer));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_rcl(rcl_timer_fini(&timer));
  assert_rcl(rcl_clock_fini(&clock));
}

int main(void)
{
  following_begin();
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_due_timer_wakes_a_wait_once),
    cmocka_unit_test(test_each_period_triggers_once),
    cmocka_unit_test(test_cancelled_timer_is_not_triggered_until_it_is_reset),
#if STANDIN_RELEASE > 1
    cmocka_unit_test(test_wait_on_a_ready_timer_is_ended_by_its_guard_condition),
    cmocka_unit_test(test_call_with_info_moves_the_deadline),
#endif
    cmocka_unit_test(test_seek_forward_makes_a_timer_due_at_once),
    cmocka_unit_test(test_jump_back_moves_the_next_call_as_in_rcl),
    cmocka_unit_test(test_steady_timers_pass_by),
    cmocka_unit_test(test_jump_while_a_timer_is_made),
    cmocka_unit_test(test_churn_of_1000_timers),
    cmocka_unit_test(test_forked_child_uses_and_ends_its_timers),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  following_end();
  return failed;
}

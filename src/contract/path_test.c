/* Latencies of paths, and what makes them long. */
#include "contract/path.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__path_t path; /* large */

/* A node that takes a message after the other from a queue, in steady time. */
typedef struct node {
  double factor;     /* ROS seconds a second of steady time */
  int64_t work_ns;   /* for each message */
  int64_t period_ns; /* of the inputs, in ROS time */
  int queue_max;     /* of messages that wait; the oldest are dropped; 0: no limit */
  int64_t steady_ns, ros_ns, free_ns; /* now, and when the node is free */
  int64_t waiting[10000];             /* stamps */
  int first, last;
} node_t;

static node_t node_make(double factor, int64_t work_ns)
{
  return (node_t){.factor = factor,
                  .work_ns = work_ns,
                  .period_ns = 100 * MS,
                  .steady_ns = 1000 * S,
                  .ros_ns = 50 * S};
}

/* The outputs until `until_ns`. */
static void work(node_t *node, int64_t until_ns, int64_t begin_ns, int64_t begin_ros_ns)
{
  while (node->first < node->last) {
    int64_t stamp_ns = node->waiting[node->first];
    int64_t came_ns = begin_ns + (int64_t)((double)(stamp_ns - begin_ros_ns) / node->factor);
    int64_t start_ns = node->free_ns > came_ns ? node->free_ns : came_ns;
    int64_t done_ns = start_ns + node->work_ns;
    if (done_ns > until_ns) return;
    node->first++;
    node->free_ns = done_ns;
    int64_t ros_ns = begin_ros_ns + (int64_t)((double)(done_ns - begin_ns) * node->factor);
    tb__path_output(&path, &(tb__path_sample_t){stamp_ns, done_ns, ros_ns, 0});
  }
}

/* `seconds` of steady time; a window each second. */
static tb__path_state_t run(node_t *node, int seconds)
{
  int64_t begin_ns = node->steady_ns, begin_ros_ns = node->ros_ns;
  tb__path_state_t state = TB__PATH_UNKNOWN;
  int64_t step_ns = (int64_t)((double)node->period_ns / node->factor);
  int64_t next_ns = begin_ns + S;
  while (node->steady_ns < begin_ns + seconds * S) {
    tb__path_input(&path, &(tb__path_sample_t){node->ros_ns, node->steady_ns, node->ros_ns, 0});
    node->waiting[node->last++] = node->ros_ns;
    if (node->queue_max && node->last - node->first > node->queue_max)
      node->first = node->last - node->queue_max;
    node->steady_ns += step_ns;
    node->ros_ns = begin_ros_ns + (int64_t)((double)(node->steady_ns - begin_ns) * node->factor);
    work(node, node->steady_ns, begin_ns, begin_ros_ns);
    if (node->steady_ns < next_ns) continue;
    state = tb__path_end_window(&path, node->steady_ns, node->ros_ns);
    next_ns += S;
  }
  return state;
}

static void test_a_node_that_keeps_up(void **state)
{
  (void)state;
  node_t node = node_make(1.0, 30 * MS);
  tb__path_init(&path, 50 * MS);
  assert_int_equal(run(&node, 8), TB__PATH_HOLDS);
  assert_in_range(path.matched, 75, 81);
  assert_int_equal(path.steady.moments.max_ns, 30 * MS);
  assert_in_range(path.ros.moments.max_ns, 29 * MS, 31 * MS);
  assert_true(path.held_factor > 0.9 && path.held_factor < 1.1);
  assert_true(path.failed_factor == 0);
}

static void test_backlog(void **state)
{
  (void)state;
  node_t node = node_make(3.0, 71 * MS); /* 14 a second, of 30 */
  tb__path_init(&path, 0);
  assert_int_equal(run(&node, 8), TB__PATH_BACKLOG);
  assert_true(path.failed_factor > 2.8 && path.failed_factor < 3.2);
  assert_true(path.progress > 1.3 && path.progress < 1.5); /* what it does */
  assert_true(path.held_factor == 0);
}

static void test_the_highest_factor_that_held(void **state)
{
  (void)state;
  node_t slow = node_make(1.3, 71 * MS), fast = node_make(3.0, 71 * MS);
  tb__path_init(&path, 0);
  assert_int_equal(run(&slow, 8), TB__PATH_HOLDS);
  fast.steady_ns = slow.steady_ns;
  fast.ros_ns = slow.ros_ns;
  assert_int_equal(run(&fast, 8), TB__PATH_BACKLOG);
  assert_true(path.held_factor > 1.2 && path.held_factor < 1.4);
  assert_true(path.failed_factor > 2.8);
}

/* Its latency ends to grow when the queue is full, and it does not keep up all the same. */
static void test_backlog_of_a_limited_queue(void **state)
{
  (void)state;
  node_t node = node_make(3.0, 90 * MS);
  node.queue_max = 40; /* of what came in 1.3 s */
  tb__path_init(&path, 0);
  assert_int_equal(run(&node, 30), TB__PATH_BACKLOG);
  assert_true(path.slope < 0.02);
  assert_int_equal(path.steady.moments.max_ns / S, 1);
  node_t relieved = node_make(0.5, 90 * MS);
  relieved.steady_ns = node.steady_ns;
  relieved.ros_ns = node.ros_ns;
  assert_int_equal(run(&relieved, 10), TB__PATH_HOLDS);
}

/* The same work takes three times as long in ROS time. */
static void test_long_in_ros_time_alone(void **state)
{
  (void)state;
  node_t node = node_make(3.0, 20 * MS);
  tb__path_init(&path, 50 * MS);
  assert_int_equal(run(&node, 8), TB__PATH_FACTOR);
  assert_int_equal(path.steady.moments.max_ns, 20 * MS);
  assert_in_range(path.ros.moments.max_ns, 59 * MS, 61 * MS);
  assert_true(path.failed_factor == 0);
  node_t near = node_make(2.0, 20 * MS); /* 40 ms */
  tb__path_init(&path, 50 * MS);
  assert_int_equal(run(&near, 8), TB__PATH_HOLDS);
}

static void test_late_in_steady_time(void **state)
{
  (void)state;
  node_t node = node_make(1.0, 60 * MS);
  tb__path_init(&path, 50 * MS);
  assert_int_equal(run(&node, 8), TB__PATH_LATE);
  assert_true(path.failed_factor == 0);
}

/* One that takes long now and then does not grow. */
static void test_latency_that_varies_is_no_backlog(void **state)
{
  (void)state;
  tb__path_init(&path, 0);
  srand(7);
  for (int i = 0; i < 300; i++) {
    int64_t now_ns = 10 * S + i * 100 * MS;
    tb__path_sample_t sample = {now_ns, now_ns, now_ns, 0};
    tb__path_input(&path, &sample);
    sample.steady_ns += rand() % 90 * MS;
    sample.ros_ns = sample.steady_ns;
    tb__path_output(&path, &sample);
    if (i % 10 == 9)
      assert_int_not_equal(tb__path_end_window(&path, now_ns + 99 * MS, now_ns + 99 * MS),
                           TB__PATH_BACKLOG);
  }
  assert_int_equal(path.state, TB__PATH_HOLDS);
}

static void test_no_output(void **state)
{
  (void)state;
  tb__path_init(&path, 0);
  for (int i = 1; i <= 5; i++) {
    tb__path_input(&path, &(tb__path_sample_t){i * S, i * S, i * S, 0});
    tb__path_output(&path, &(tb__path_sample_t){i * S + 1, i * S, i * S, 0}); /* of its own */
    assert_int_equal(tb__path_end_window(&path, i * S + 1, i * S),
                     i < 5 ? TB__PATH_UNKNOWN : TB__PATH_NO_OUTPUT);
  }
  assert_int_equal(path.matched, 0);
  for (int i = 6; i < 16; i++) /* nothing comes: it says nothing */
    assert_int_equal(tb__path_end_window(&path, i * S, i * S), TB__PATH_NO_OUTPUT);
}

static void test_what_is_matched(void **state)
{
  (void)state;
  tb__path_init(&path, 0);
  tb__path_sample_t input = {5 * S, 100 * S, 5 * S, 0}, output = {5 * S, 101 * S, 6 * S, 0};
  tb__path_output(&path, &output); /* came first here */
  tb__path_input(&path, &input);
  assert_int_equal(path.steady.moments.max_ns, S);
  tb__path_output(&path, &output);
  assert_int_equal(path.repeated, 1);
  tb__path_input(&path, &input); /* a second one of the stamp */
  tb__path_output(&path, &output);
  assert_int_equal(path.matched, 1);
  input.stamp_ns = output.stamp_ns = 0;
  tb__path_input(&path, &input);
  tb__path_output(&path, &output);
  assert_int_equal(path.matched, 1);
  input.stamp_ns = output.stamp_ns = 7 * S;
  tb__path_input(&path, &input);
  output.epoch = 1; /* after a jump back */
  tb__path_output(&path, &output);
  assert_int_equal(path.matched, 1);
  input = (tb__path_sample_t){INT64_MIN, INT64_MIN, INT64_MAX, 1};
  output = (tb__path_sample_t){INT64_MIN, INT64_MAX, INT64_MIN, 1};
  tb__path_input(&path, &input);
  tb__path_output(&path, &output);
  assert_int_equal(path.matched, 2);
  assert_int_equal(path.steady.moments.max_ns, INT64_MAX);
  assert_int_equal(path.ros.moments.count, 2);
}

/* Old inputs make room. */
static void test_more_than_there_is_room_for(void **state)
{
  (void)state;
  tb__path_init(&path, 0);
  for (int64_t i = 1; i <= 100000; i++)
    tb__path_input(&path, &(tb__path_sample_t){i * MS, i * MS, i * MS, 0});
  for (int64_t i = 99001; i <= 100000; i++)
    tb__path_output(&path, &(tb__path_sample_t){i * MS, 101 * S, 101 * S, 0});
  assert_true(path.matched >= 990);
  tb__path_output(&path, &(tb__path_sample_t){MS, 101 * S, 101 * S, 0});
  assert_true(path.matched <= 1000);
}

static void test_texts(void **state)
{
  (void)state;
  assert_string_equal(tb__path_state_text(TB__PATH_BACKLOG), "cannot keep up");
  assert_string_equal(tb__path_state_text((tb__path_state_t)0), "?");
  assert_string_equal(tb__path_state_text((tb__path_state_t)77), "?");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_node_that_keeps_up),
      cmocka_unit_test(test_backlog),
      cmocka_unit_test(test_the_highest_factor_that_held),
      cmocka_unit_test(test_backlog_of_a_limited_queue),
      cmocka_unit_test(test_long_in_ros_time_alone),
      cmocka_unit_test(test_late_in_steady_time),
      cmocka_unit_test(test_latency_that_varies_is_no_backlog),
      cmocka_unit_test(test_no_output),
      cmocka_unit_test(test_what_is_matched),
      cmocka_unit_test(test_more_than_there_is_room_for),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

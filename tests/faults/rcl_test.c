/* The faults of core_test.c for what is preloaded into unchanged nodes, on the stand-in for librcl:
 * each code comes with an error of rcutils, and the next attempt succeeds. */
#include <sched.h>
#include <stdlib.h>

#include "faults.h"
#include "rcl/following.h"
#include "source/wake_area.h"

#define MANY 20 /* callbacks, and timers: more than their tables begin with */

bool rcutils_error_is_set(void);
void rcutils_reset_error(void);

/* A reader that gets no slot is woken by each tick: whatever fails there is harmless. */
bool __real_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode);
bool __wrap_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode);
bool __wrap_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode)
{
  *slot = (tb__wake_slot_t)TB__WAKE_SLOT_NONE;
  if (fault_strikes(FAULT_HARMLESS, "tb__wake_slot_take")) return false;
  fault_suspend(true);
  bool is_taken = __real_tb__wake_slot_take(slot, path, inode);
  fault_suspend(false);
  return is_taken;
}

/* ---- a node's memory, which can fail too ---- */

static void *take(size_t size, void *state)
{
  (void)state;
  return malloc(size);
}

static void give_back(void *block, void *state)
{
  (void)state;
  free(block);
}

static bool gets_smaller; /* for the array of a clock, whose callbacks are removed */

static void *take_again(void *block, size_t size, void *state)
{
  (void)state;
  if (!gets_smaller) return realloc(block, size);
  if (fault_strikes(FAULT_HARMLESS, "realloc")) return NULL;
  fault_suspend(true);
  void *smaller = realloc(block, size);
  fault_suspend(false);
  return smaller;
}

static void *take_zeros(size_t count, size_t size, void *state)
{
  (void)state;
  return calloc(count, size);
}

static rcl_allocator_t allocator = {take, give_back, take_again, take_zeros, NULL};

static tb_status_t status_of(rcl_ret_t code)
{
  if (code == RCL_RET_OK) return TB_OK;
  bool is_set = rcutils_error_is_set();
  rcutils_reset_error();
  if (!is_set) return TB_ERR_INVALID; /* which nothing here ends in */
  return code == RCL_RET_BAD_ALLOC ? TB_ERR_NO_MEMORY : TB_ERR_SYSTEM;
}

/* ---- scenarios ---- */

static void ignore(const rcl_time_jump_t *jump, bool before, void *user)
{
  (void)jump, (void)before, (void)user;
}

static rcl_timer_t timers[MANY];
static int callbacks[MANY];

static tb_status_t make_timers(rcl_clock_t *clock, int *out_count)
{
  tb_status_t status = TB_OK;
  for (*out_count = 0; *out_count < MANY && !status; *out_count += !status)
    status = status_of(rcl_timer_init2(&timers[*out_count], clock, NULL, 1, NULL, allocator, true));
  return status;
}

static tb_status_t add_callbacks(rcl_clock_t *clock)
{
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  tb_status_t status = TB_OK;
  for (int i = 0; i < MANY && !status; i++)
    status = status_of(rcl_clock_add_jump_callback(clock, threshold, ignore, &callbacks[i]));
  return status;
}

static bool is_left_alone;

/* Of a node that follows; its timers are triggered. */
static tb_status_t a_node(void)
{
  static int64_t time_ns = S;
  rcl_clock_t clock;
  int count = 0;
  tb_status_t status = status_of(rcl_clock_init(RCL_ROS_TIME, &clock, &allocator));
  if (status) return status;
  bool follows = false;
  assert_int_equal(rcl_is_enabled_ros_time_override(&clock, &follows), RCL_RET_OK);
  if (!follows) { /* the time could not be opened: this process has clocks of librcl from now on */
    assert_int_equal(rcl_clock_fini(&clock), RCL_RET_OK);
    status = is_left_alone ? TB_OK : TB_ERR_SYSTEM;
    is_left_alone = true;
    return status;
  }
  status = make_timers(&clock, &count);
  if (!status) status = add_callbacks(&clock);
  if (!status) {
    publish(time_ns += S);
    for (int i = 0; i < count; i++)
      while (standin_triggers(&timers[i]) == 0)
        sched_yield();
    assert_int_equal(clock.num_jump_callbacks, 2 * MANY);
    assert_int_equal(now_of(&clock), time_ns);
  }
  gets_smaller = true;
  while (count > 0)
    assert_int_equal(rcl_timer_fini(&timers[--count]), RCL_RET_OK);
  assert_int_equal(rcl_clock_fini(&clock), RCL_RET_OK); /* with its callbacks */
  gets_smaller = false;
  return status;
}

/* ---- tests ---- */

/* In a process of its own each time: what is made once is part of it. */
static void test_faults_of_a_first_node(void **state)
{
  (void)state;
  fault_sweep_in_children(a_node, following_begin, following_end);
}

static void test_faults_of_further_nodes(void **state)
{
  (void)state;
  following_begin();
  rcl_clock_t first;
  rcl_timer_t timer = {NULL};
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  assert_int_equal(rcl_clock_init(RCL_ROS_TIME, &first, &allocator), RCL_RET_OK);
  assert_int_equal(rcl_clock_add_jump_callback(&first, threshold, ignore, NULL), RCL_RET_OK);
  assert_int_equal(rcl_timer_init2(&timer, &first, NULL, S, NULL, allocator, true), RCL_RET_OK);
  publish_and_wait(&first, S);
  wait_for_slot(); /* or it is counted as left by whatever fails meanwhile */
  fault_sweep(a_node, NULL);
  assert_int_equal(rcl_timer_fini(&timer), RCL_RET_OK);
  assert_int_equal(rcl_clock_fini(&first), RCL_RET_OK);
  following_end();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_of_a_first_node), /* first: its children have no other thread */
      cmocka_unit_test(test_faults_of_further_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Clocks, overrides and jump callbacks that follow a shared time. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

#include "following.h"

bool rcutils_error_is_set(void);
void rcutils_reset_error(void);

/* Each code other than OK comes with an error. */
#define assert_fails(expression, code)                                                             \
  do {                                                                                             \
    rcutils_reset_error();                                                                         \
    assert_int_equal(expression, code);                                                            \
    assert_true(rcutils_error_is_set());                                                           \
    rcutils_reset_error();                                                                         \
  } while (0)

#define assert_rcl(expression) assert_int_equal(expression, RCL_RET_OK)

/* ---- clocks ---- */

static void test_ros_clocks_follow_the_shared_time(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock(), other = ros_clock();
  publish_and_wait(&clock, 5 * S);
  assert_int_equal(now_of(&other), 5 * S);
  assert_true(rcl_clock_time_started(&clock));
  publish(6 * S);
  assert_int_equal(now_of(&clock), 6 * S);
  assert_int_equal(clock.type, RCL_ROS_TIME);
  assert_non_null(clock.get_now);
  assert_non_null(clock.data);
  assert_true(rcl_clock_valid(&clock));
  assert_rcl(rcl_clock_fini(&clock));
  assert_rcl(rcl_ros_clock_fini(&other));
  assert_fails(rcl_ros_clock_fini(&other), RCL_RET_ERROR);
}

static void test_other_clocks_go_straight_through(void **state)
{
  (void)state;
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t system, steady;
  assert_rcl(rcl_clock_init(RCL_SYSTEM_TIME, &system, &allocator));
  assert_rcl(rcl_clock_init(RCL_STEADY_TIME, &steady, &allocator));
  assert_true(now_of(&system) > 1000 * 1000 * S);
  int64_t before = now_of(&steady);
  assert_true(now_of(&steady) >= before);
  assert_int_not_equal(before, 6 * S);
  rcl_jump_threshold_t threshold = {true, {1}, {-1}};
  assert_rcl(rcl_clock_add_jump_callback(&system, threshold, (rcl_jump_callback_t)abort, NULL));
  assert_int_equal(system.num_jump_callbacks, 1);
  assert_fails(rcl_enable_ros_time_override(&system), RCL_RET_ERROR);
  assert_rcl(rcl_clock_fini(&system));
  assert_rcl(rcl_clock_fini(&steady));
}

static void *no_memory(size_t size, void *state)
{
  (void)size;
  (void)state;
  return NULL;
}

static void *no_more_memory(void *pointer, size_t size, void *state)
{
  (void)pointer;
  (void)size;
  (void)state;
  return NULL;
}

static void test_errors_are_those_of_rcl(void **state)
{
  (void)state;
  rcl_allocator_t allocator = standin_allocator(), invalid = {0}, empty = allocator;
  rcl_clock_t clock;
  int64_t now_ns;
  bool is_enabled;
  empty.allocate = no_memory;
  empty.zero_allocate = NULL;
  assert_fails(rcl_clock_init(RCL_ROS_TIME, NULL, &allocator), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_clock_init(RCL_ROS_TIME, &clock, NULL), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_ros_clock_init(&clock, &invalid), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_ros_clock_init(&clock, &empty), RCL_RET_INVALID_ARGUMENT);
  empty.zero_allocate = allocator.zero_allocate;
  assert_fails(rcl_ros_clock_init(&clock, &empty), RCL_RET_BAD_ALLOC);
  assert_fails(rcl_clock_fini(NULL), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_ros_clock_fini(NULL), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_clock_get_now(NULL, &now_ns), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_enable_ros_time_override(NULL), RCL_RET_INVALID_ARGUMENT);
  clock = ros_clock();
  assert_fails(rcl_clock_get_now(&clock, NULL), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_is_enabled_ros_time_override(&clock, NULL), RCL_RET_INVALID_ARGUMENT);
  rcl_clock_t broken = clock;
  broken.allocator = invalid;
  assert_fails(rcl_clock_fini(&broken), RCL_RET_ERROR);
  assert_rcl(rcl_is_enabled_ros_time_override(&clock, &is_enabled));
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_overrides_are_accepted_and_ignored(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  int64_t before = now_of(&clock);
  bool is_enabled = false;
  assert_rcl(rcl_set_ros_time_override(&clock, 77 * S));
  assert_rcl(rcl_set_ros_time_override(&clock, -1));
  assert_rcl(rcl_enable_ros_time_override(&clock));
  assert_rcl(rcl_disable_ros_time_override(&clock));
  assert_rcl(rcl_is_enabled_ros_time_override(&clock, &is_enabled));
  assert_true(is_enabled);
  assert_int_equal(now_of(&clock), before);
  assert_rcl(rcl_clock_fini(&clock));
}

/* ---- jump callbacks ---- */

typedef struct seen {
  struct {
    const void *who;
    rcl_time_jump_t jump;
    bool before;
    int64_t now_ns;
  } calls[16];
  _Atomic int count;
} seen_t;

typedef struct observer {
  seen_t *seen;
  rcl_clock_t *clock;
  struct observer *removes; /* in its "before" */
} observer_t;

static void observe(const rcl_time_jump_t *jump, bool before, void *user_data)
{
  observer_t *self = user_data;
  int at = atomic_load(&self->seen->count);
  self->seen->calls[at].who = self;
  self->seen->calls[at].jump = *jump;
  self->seen->calls[at].before = before;
  self->seen->calls[at].now_ns = now_of(self->clock);
  atomic_store(&self->seen->count, at + 1);
  if (before && self->removes)
    assert_rcl(rcl_clock_remove_jump_callback(self->clock, observe, self->removes));
}

static void add(rcl_clock_t *clock, observer_t *observer, int64_t forward_ns, int64_t backward_ns)
{
  rcl_jump_threshold_t threshold = {true, {forward_ns}, {backward_ns}};
  assert_rcl(rcl_clock_add_jump_callback(clock, threshold, observe, observer));
}

static void wait_for_calls(const seen_t *seen, int count)
{
  while (atomic_load(&seen->count) < count)
    sched_yield();
}

static void assert_call(const seen_t *seen, int at, const void *who, bool before, int64_t delta_ns,
                        int64_t now_ns)
{
  assert_ptr_equal(seen->calls[at].who, who);
  assert_int_equal(seen->calls[at].before, before);
  assert_int_equal(seen->calls[at].jump.clock_change, RCL_ROS_TIME_NO_CHANGE);
  assert_int_equal(seen->calls[at].jump.delta.nanoseconds, delta_ns);
  assert_int_equal(seen->calls[at].now_ns, now_ns);
}

static void test_first_tick_is_a_jump_forward(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  seen_t seen = {0};
  observer_t forward = {&seen, &clock, NULL}, backward = {&seen, &clock, NULL};
  assert_int_equal(now_of(&clock), 0);
  assert_false(rcl_clock_time_started(&clock));
  add(&clock, &forward, 2 * S, 0);
  add(&clock, &backward, 0, -1);
  publish_and_wait(&clock, 5 * S);
  wait_for_calls(&seen, 2);
  assert_call(&seen, 0, &forward, true, 5 * S, 0);
  assert_call(&seen, 1, &forward, false, 5 * S, 5 * S);
  assert_int_equal(seen.count, 2);
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_jump_callbacks_come_in_order_by_threshold(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  seen_t seen = {0};
  static seen_t ticks; /* which this process has dispatched: what it misses is one jump */
  observer_t a = {&seen, &clock, NULL}, b = {&seen, &clock, NULL}, never = {&seen, &clock, NULL},
             each = {&ticks, &clock, NULL};
  publish_and_wait(&clock, 100 * S);
  add(&clock, &a, 0, -10 * S);
  add(&clock, &never, 0, 0);
  add(&clock, &b, 10 * S, -1);
  assert_int_equal(clock.num_jump_callbacks, 3);
  publish_and_wait(&clock, 90 * S);
  wait_for_calls(&seen, 4);
  assert_call(&seen, 0, &a, true, -10 * S, 100 * S);
  assert_call(&seen, 1, &b, true, -10 * S, 100 * S);
  assert_call(&seen, 2, &a, false, -10 * S, 90 * S);
  assert_call(&seen, 3, &b, false, -10 * S, 90 * S);
  publish_and_wait(&clock, 90 * S - 1); /* too short a way for `a` */
  wait_for_calls(&seen, 6);
  assert_call(&seen, 5, &b, false, -1, 90 * S - 1);
  add(&clock, &each, 1, 0);
  publish(100 * S - 2); /* too short a way for `b` */
  wait_for_calls(&ticks, 2);
  publish(110 * S - 2);
  wait_for_calls(&seen, 8);
  assert_call(&seen, 7, &b, false, 10 * S, 110 * S - 2);
  assert_int_equal(seen.count, 8);
  assert_rcl(rcl_clock_fini(&clock));
  publish(1 * S);
}

static void test_callbacks_are_kept_as_in_rcl(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  seen_t seen = {0};
  observer_t a = {&seen, &clock, NULL}, b = {&seen, &clock, NULL};
  rcl_jump_threshold_t good = {true, {1}, {-1}}, bad = {true, {-1}, {0}}, worse = {true, {0}, {1}};
  assert_fails(rcl_clock_add_jump_callback(&clock, bad, observe, &a), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_clock_add_jump_callback(&clock, worse, observe, &a), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_clock_add_jump_callback(&clock, good, NULL, &a), RCL_RET_INVALID_ARGUMENT);
  assert_fails(rcl_clock_remove_jump_callback(&clock, observe, &a), RCL_RET_ERROR);
  assert_fails(rcl_clock_remove_jump_callback(&clock, NULL, &a), RCL_RET_INVALID_ARGUMENT);
  add(&clock, &a, 1, -1);
  assert_fails(rcl_clock_add_jump_callback(&clock, good, observe, &a), RCL_RET_ERROR);
  clock.allocator.reallocate = no_more_memory;
  assert_fails(rcl_clock_add_jump_callback(&clock, good, observe, &b), RCL_RET_BAD_ALLOC);
  clock.allocator = standin_allocator();
  add(&clock, &b, 1, -1);
  assert_int_equal(clock.num_jump_callbacks, 2);
  assert_rcl(rcl_clock_remove_jump_callback(&clock, observe, &a));
  assert_int_equal(clock.num_jump_callbacks, 1);
  assert_ptr_equal(clock.jump_callbacks[0].user_data, &b);
  assert_rcl(rcl_clock_remove_jump_callback(&clock, observe, &b));
  assert_null(clock.jump_callbacks);
  assert_rcl(rcl_clock_fini(&clock));
}

static void test_callbacks_may_be_removed_in_a_callback(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  seen_t seen = {0};
  observer_t self = {&seen, &clock, NULL}, other = {&seen, &clock, NULL},
             last = {&seen, &clock, NULL};
  publish_and_wait(&clock, 50 * S);
  self.removes = &self;
  add(&clock, &self, 0, -1);
  add(&clock, &other, 0, -1);
  other.removes = &last;
  add(&clock, &last, 0, -1);
  publish_and_wait(&clock, 40 * S);
  wait_for_calls(&seen, 3);
  assert_call(&seen, 0, &self, true, -10 * S, 50 * S);
  assert_call(&seen, 1, &other, true, -10 * S, 50 * S);
  assert_call(&seen, 2, &other, false, -10 * S, 40 * S);
  assert_int_equal(clock.num_jump_callbacks, 1);
  other.removes = NULL;
  assert_rcl(rcl_clock_fini(&clock)); /* removes `other` */
  assert_int_equal(seen.count, 3);
}

/* A callback that can be removed has its handler: none stays that is called after its end. */
#define ROUNDS 20000

static rcl_clock_t churned_on;
static seen_t unseen;
static observer_t churned = {&unseen, &churned_on, NULL};
static _Atomic int rounds_begun;

static void *remove_each(void *unused)
{
  (void)unused;
  for (int i = 1; i <= ROUNDS; i++) {
    while (atomic_load(&rounds_begun) < i)
      sched_yield();
    for (int tries = 1; rcl_clock_remove_jump_callback(&churned_on, observe, &churned); tries++)
      if (tries % 2 == 0) sched_yield();
  }
  return NULL;
}

static void test_callback_that_is_removed_as_soon_as_it_is_there(void **state)
{
  (void)state;
  pthread_t thread;
  churned_on = ros_clock();
  publish_and_wait(&churned_on, 80 * S);
  assert_int_equal(pthread_create(&thread, NULL, remove_each, NULL), 0);
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  for (int i = 1; i <= ROUNDS; i++) {
    atomic_store(&rounds_begun, i);
    while (rcl_clock_add_jump_callback(&churned_on, threshold, observe, &churned))
      sched_yield();
  }
  pthread_join(thread, NULL);
  assert_int_equal(churned_on.num_jump_callbacks, 0);
  publish_and_wait(&churned_on, 70 * S);
  assert_rcl(rcl_clock_fini(&churned_on));
  assert_int_equal(unseen.count, 0);
}

/* ---- locks ---- */

typedef struct interpreter {
  pthread_mutex_t lock;
  rcl_clock_t *clock;
  _Atomic bool is_called, is_over;
} interpreter_t;

static void needs_the_lock(const rcl_time_jump_t *jump, bool before, void *user_data)
{
  interpreter_t *self = user_data;
  (void)jump;
  atomic_store(&self->is_called, true);
  pthread_mutex_lock(&self->lock);
  pthread_mutex_unlock(&self->lock);
  if (!before) atomic_store(&self->is_over, true);
}

static void test_now_never_waits_for_a_callback(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  interpreter_t interpreter = {PTHREAD_MUTEX_INITIALIZER, &clock, false, false};
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  publish_and_wait(&clock, 70 * S);
  assert_rcl(rcl_clock_add_jump_callback(&clock, threshold, needs_the_lock, &interpreter));
  pthread_mutex_lock(&interpreter.lock);
  publish(60 * S);
  while (!atomic_load(&interpreter.is_called))
    assert_int_equal(now_of(&clock), 70 * S);
  assert_int_equal(now_of(&clock), 70 * S); /* "before" waits for this thread */
  pthread_mutex_unlock(&interpreter.lock);
  wait_for_time(&clock, 60 * S);
  while (!atomic_load(&interpreter.is_over))
    sched_yield();
  assert_rcl(rcl_clock_fini(&clock));
}

/* ---- forks ---- */

static int in_child(rcl_clock_t *clock)
{
  rcl_jump_threshold_t threshold = {true, {0}, {-1}};
  int64_t now_ns;
  if (rcl_clock_get_now(clock, &now_ns) || now_ns != 65 * S) return 1;
  if (rcl_clock_add_jump_callback(clock, threshold, observe, clock) != RCL_RET_ERROR) return 2;
  if (clock->num_jump_callbacks != 1) return 3;
  if (rcl_clock_fini(clock)) return 4;
  return 0;
}

static void test_forked_child_reads_and_ends_its_clocks(void **state)
{
  (void)state;
  rcl_clock_t clock = ros_clock();
  seen_t seen = {0};
  observer_t observer = {&seen, &clock, NULL};
  publish_and_wait(&clock, 65 * S);
  add(&clock, &observer, 0, -1);
  pid_t child = fork();
  if (child == 0) _exit(in_child(&clock));
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_rcl(rcl_clock_fini(&clock));
}

/* What timebase reads of another process. */
static void read_node_names(char *out, size_t size)
{
  static const char file_name[] = "/memfd:timebase-nodes";
  char path[64], target[64];
  out[0] = '\0';
  for (int file = 0; file < 64; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target);
    if (length < (ssize_t)strlen(file_name) || strncmp(target, file_name, strlen(file_name)) != 0)
      continue;
    length = pread(file, out, size - 1, 0);
    out[length > 0 ? length : 0] = '\0';
  }
}

static void test_names_of_nodes_are_shown(void **state)
{
  (void)state;
  char names[256];
  rcl_node_t talker, other;
  assert_rcl(rcl_node_init(&talker, "talker", "/front", NULL, NULL));
  assert_rcl(rcl_node_init(&other, "talk", "/", NULL, NULL));
  assert_int_equal(rcl_node_init(&other, "", "/", NULL, NULL), RCL_RET_INVALID_ARGUMENT);
  read_node_names(names, sizeof names);
  assert_string_equal(names, "/front/talker\n/talk\n");
  assert_rcl(rcl_node_fini(&talker));
  read_node_names(names, sizeof names);
  assert_string_equal(names, "/talk\n");
  assert_rcl(rcl_node_fini(&other));
  read_node_names(names, sizeof names);
  assert_string_equal(names, "");
}

int main(void)
{
  following_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_tick_is_a_jump_forward),
      cmocka_unit_test(test_ros_clocks_follow_the_shared_time),
      cmocka_unit_test(test_other_clocks_go_straight_through),
      cmocka_unit_test(test_errors_are_those_of_rcl),
      cmocka_unit_test(test_overrides_are_accepted_and_ignored),
      cmocka_unit_test(test_jump_callbacks_come_in_order_by_threshold),
      cmocka_unit_test(test_callbacks_are_kept_as_in_rcl),
      cmocka_unit_test(test_callbacks_may_be_removed_in_a_callback),
      cmocka_unit_test(test_callback_that_is_removed_as_soon_as_it_is_there),
      cmocka_unit_test(test_now_never_waits_for_a_callback),
      cmocka_unit_test(test_names_of_nodes_are_shown),
      cmocka_unit_test(test_forked_child_reads_and_ends_its_clocks),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  following_end();
  return failed;
}

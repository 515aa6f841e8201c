/* Threads that set while others set, read, or are in a hook. */
#include <sched.h>

#include "params/parameter_store.h"
#include "platform/thread.h"
#include "test.h"

#define INTEGER(x)                                                                                 \
  &(const tb_ros2_parameter_value_t)                                                               \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_INTEGER, .integer_value = (x)                                        \
  }

static const tb_ros2_parameter_value_t not_set = TB_ROS2_PARAMETER_VALUE_INIT;
static const tb_ros2_parameter_descriptor_t dynamic = {.dynamic_typing = true};

#define ROUNDS 100

typedef struct crowd {
  tb__parameter_store_t *store;
  _Atomic int inside; /* hooks that run */
  _Atomic int setters;
  _Atomic int names;
  int64_t total; /* guarded by the turn alone */
} crowd_t;

static tb_status_t crowd_check(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                               tb_error_t *error)
{
  crowd_t *crowd = user;
  tb_ros2_parameter_value_t value;
  (void)error;
  assert_int_equal(atomic_fetch_add(&crowd->inside, 1), 0);
  assert_int_equal(count, 2);
  assert_ok(tb__parameter_store_get(crowd->store, parameters[0].name, &value, NULL));
  assert_true(value.integer_value == crowd->total);
  sched_yield();
  if (parameters[0].value.integer_value >= 0) return TB_OK;
  atomic_store(&crowd->inside, 0); /* there is no second call */
  return TB_ERR_RANGE;
}

static void crowd_changed(const tb_ros2_parameter_t *added, size_t added_count,
                          const tb_ros2_parameter_t *changed, size_t changed_count,
                          const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user)
{
  crowd_t *crowd = user;
  (void)added, (void)deleted;
  assert_int_equal(added_count + deleted_count, 0);
  assert_int_equal(changed_count, 2);
  crowd->total = changed[0].value.integer_value;
  assert_int_equal(atomic_fetch_sub(&crowd->inside, 1), 1);
}

static void *crowd_set(void *argument)
{
  crowd_t *crowd = argument;
  int64_t self = atomic_fetch_add(&crowd->names, 1);
  for (int64_t i = 1; i <= ROUNDS; i++) {
    tb_ros2_parameter_value_t value = *INTEGER(i % 7 == 0 ? -1 : i * 10 + self);
    const tb_ros2_parameter_t batch[] = {{"left", value}, {"right", value}};
    tb_status_t status = tb__parameter_store_set(crowd->store, batch, 2, NULL);
    assert_status(status, i % 7 == 0 ? TB_ERR_RANGE : TB_OK);
  }
  atomic_fetch_sub(&crowd->setters, 1);
  return NULL;
}

/* Both are always of one set. */
static void *crowd_read(void *argument)
{
  crowd_t *crowd = argument;
  static const char *const names[] = {"left", "right"};
  while (atomic_load(&crowd->setters) > 0) {
    tb__parameter_states_t states;
    assert_ok(tb__parameter_store_read(crowd->store, names, 2, &states));
    assert_true(states.items[0]->value.integer_value == states.items[1]->value.integer_value);
    tb__parameter_states_release(&states);
    assert_ok(tb__parameter_store_list(crowd->store, names, 1, 0, &states));
    assert_int_equal(states.count, 1);
    tb__parameter_states_release(&states);
  }
  return NULL;
}

static void test_sets_are_one_at_a_time_and_reads_see_whole_ones(void **state)
{
  static const tb__parameter_store_hooks_t hooks = {crowd_check, NULL, crowd_changed, NULL};
  crowd_t crowd = {.setters = 4};
  tb__thread_t threads[8];
  (void)state;
  assert_ok(tb__parameter_store_create(&hooks, &crowd, &crowd.store));
  /* Without a value there is nothing to ask: the hooks only know of pairs. */
  assert_ok(tb__parameter_store_declare(crowd.store, "left", &not_set, &dynamic, NULL, NULL));
  assert_ok(tb__parameter_store_declare(crowd.store, "right", &not_set, &dynamic, NULL, NULL));
  for (int i = 0; i < 8; i++)
    assert_ok(tb__thread_start(&threads[i], "crowd", i < 4 ? crowd_set : crowd_read, &crowd));
  for (int i = 0; i < 8; i++)
    tb__thread_join(&threads[i]);
  assert_int_equal(crowd.inside, 0);
  tb__parameter_store_destroy(crowd.store);
}

typedef struct meeting {
  tb__parameter_store_t *store;
  _Atomic int arrived;
  _Atomic bool go_on;
} meeting_t;

static tb_status_t rendezvous(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                              tb_error_t *error)
{
  meeting_t *meeting = user;
  (void)parameters, (void)count, (void)error;
  atomic_fetch_add(&meeting->arrived, 1);
  while (!atomic_load(&meeting->go_on))
    sched_yield();
  return TB_OK;
}

static void *set_three(void *argument)
{
  meeting_t *meeting = argument;
  tb_ros2_parameter_t parameter = {"a", *INTEGER(3)};
  assert_ok(tb__parameter_store_set(meeting->store, &parameter, 1, NULL));
  return NULL;
}

static void test_readers_do_not_wait_for_hooks(void **state)
{
  static const tb__parameter_store_hooks_t hooks = {rendezvous, NULL, NULL, NULL};
  meeting_t meeting = {.go_on = true};
  tb__thread_t threads[2];
  tb_ros2_parameter_value_t value;
  (void)state;
  assert_ok(tb__parameter_store_create(&hooks, &meeting, &meeting.store));
  assert_ok(tb__parameter_store_declare(meeting.store, "a", INTEGER(1), NULL, NULL, NULL));
  atomic_store(&meeting.go_on, false);
  atomic_store(&meeting.arrived, 0);
  for (int i = 0; i < 2; i++)
    assert_ok(tb__thread_start(&threads[i], "set", set_three, &meeting));
  while (atomic_load(&meeting.arrived) == 0)
    sched_yield();
  for (int i = 0; i < 100; i++) {
    assert_ok(tb__parameter_store_get(meeting.store, "a", &value, NULL));
    assert_int_equal(value.integer_value, 1);
    sched_yield();
  }
  assert_int_equal(atomic_load(&meeting.arrived), 1); /* the other one waits for its turn */
  atomic_store(&meeting.go_on, true);
  for (int i = 0; i < 2; i++)
    tb__thread_join(&threads[i]);
  assert_int_equal(atomic_load(&meeting.arrived), 2);
  tb__parameter_store_destroy(meeting.store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sets_are_one_at_a_time_and_reads_see_whole_ones),
      cmocka_unit_test(test_readers_do_not_wait_for_hooks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

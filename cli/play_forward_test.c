/* What stands in front of a transport has each of its functions. */
#include "play_forward.h"

#include <string.h>

#include "test.h"

static const char *called;

static tb_status_t note_wait(void *self, tb_duration_t limit, tb_error_t *error)
{
  (void)limit, (void)error;
  called = self;
  return TB_OK;
}

static void note(void *self)
{
  called = self;
}

static void note_split(void *self, const char *closed, const char *opened)
{
  (void)closed, (void)opened;
  called = self;
}

static tb_status_t note_limit(void *self, int64_t *out_ns, tb_error_t *error)
{
  (void)out_ns, (void)error;
  called = self;
  return TB_OK;
}

static void note_time(void *self, int64_t time_ns, bool jumps)
{
  (void)time_ns, (void)jumps;
  called = self;
}

static void note_holder(void *self, char *out, size_t size)
{
  (void)out, (void)size;
  called = self;
}

static void note_watch(void *self, void (*wake)(void *user), void *user)
{
  (void)wake, (void)user;
  called = self;
}

static bool note_topic(void *self, const tb_bag_topic_t *topic)
{
  (void)topic;
  called = self;
  return true;
}

#define CALL(name, ...)                                                                            \
  do {                                                                                             \
    called = NULL;                                                                                 \
    assert_non_null(front.ops->name);                                                              \
    front.ops->name(front.self __VA_ARGS__);                                                       \
    assert_ptr_equal(called, self);                                                                \
  } while (0)

static void test_each_function_is_passed_on(void **state)
{
  (void)state;
  static char self[] = "behind";
  const tb_play_transport_ops_t ops = {.settle = note_wait,
                                       .flush = note_wait,
                                       .interrupt = note,
                                       .split = note_split,
                                       .limit = note_limit,
                                       .set_time = note_time,
                                       .name_holder = note_holder,
                                       .watch_limit = note_watch,
                                       .takes = note_topic,
                                       .send = note};
  const tb_play_transport_t behind = {&ops, self, {NULL, NULL}};
  play_forward_t forward;
  tb_play_transport_t front = play_forward_begin(&forward, &behind);
  CALL(settle, , TB_SECONDS(1), NULL);
  CALL(flush, , TB_SECONDS(1), NULL);
  CALL(interrupt);
  CALL(split, , "", "");
  CALL(limit, , NULL, NULL);
  CALL(set_time, , 1, false);
  CALL(name_holder, , NULL, 0);
  CALL(watch_limit, , NULL, NULL);
  CALL(takes, , NULL);
  CALL(send);
}

static void test_functions_that_it_has_not(void **state)
{
  (void)state;
  static const tb_play_transport_ops_t none = {0}, expected = {0};
  const tb_play_transport_t behind = {&none, NULL, {NULL, NULL}};
  play_forward_t forward;
  tb_play_transport_t front = play_forward_begin(&forward, &behind);
  assert_memory_equal(front.ops, &expected, sizeof expected);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_function_is_passed_on),
      cmocka_unit_test(test_functions_that_it_has_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

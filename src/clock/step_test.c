/* Steps of system time, and the handlers that they call. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <timebase/log.h>
#include <timebase/sleep.h>
#include <unistd.h>

#include "clock/clock.h"
#include "clock/step.h"
#include "forking.h"
#include "on_manual_source.h"
#include "wall_clock.h"

typedef struct stage {
  tb_clock_t *system;
  tb_clock_t *ros; /* inactive */
} stage_t;

static int stage_setup(void **state)
{
  static stage_t stage;
  trace[0] = '\0';
  tb_clock_options_t system = {TB_TIME_SYSTEM, NULL}, ros = {TB_TIME_ROS, NULL};
  assert_ok(tb_clock_create(&system, &stage.system));
  assert_ok(tb_clock_create(&ros, &stage.ros));
  *state = &stage;
  return 0;
}

static int stage_teardown(void **state)
{
  stage_t *stage = *state;
  assert_ok(tb_clock_destroy(stage->system));
  assert_ok(tb_clock_destroy(stage->ros));
  return 0;
}

static long long whole_s(int64_t ns)
{
  return (long long)((ns + (ns < 0 ? -S : S) / 2) / S);
}

static void write_jump(const char *when, const tb_jump_t *jump, const char *name)
{
  TRACE("%s%s%+lld%s%s%s ", when, name, whole_s(jump->delta.ns),
        jump->kind == TB_JUMP_FORWARD    ? "F"
        : jump->kind == TB_JUMP_BACKWARD ? "B"
                                         : "?",
        jump->reason == TB_JUMP_REASON_SYSTEM_STEPPED ? "" : "!reason",
        jump->after.ns - jump->before.ns == jump->delta.ns ? "" : "!delta");
}

static void on_before(const tb_jump_t *jump, void *user)
{
  write_jump("<", jump, user);
}

static void on_after(const tb_jump_t *jump, void *user)
{
  write_jump(">", jump, user);
}

static tb_jump_handler_options_t traced(const char *name, int64_t forward_ns, int64_t backward_ns)
{
  return (tb_jump_handler_options_t){.threshold = {{forward_ns}, {backward_ns}, false},
                                     .before = on_before,
                                     .after = on_after,
                                     .user = (void *)(uintptr_t)name};
}

static tb_jump_handler_t *handle(tb_clock_t *clock, const char *name, int64_t forward_ns,
                                 int64_t backward_ns)
{
  tb_jump_handler_options_t options = traced(name, forward_ns, backward_ns);
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

static void test_J9_before_and_after_run_in_a_row_with_the_delta_against_steady_time(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_t *a = handle(stage->system, "a", 1, -1), *b = handle(stage->system, "b", 1, -1);
  wall_step(3600 * S);
  wall_step(-1800 * S);
  assert_string_equal(trace, "<a+3600F <b+3600F >a+3600F >b+3600F "
                             "<a-1800B <b-1800B >a-1800B >b-1800B ");
  tb_jump_handler_destroy(a);
  tb_jump_handler_destroy(b);
}

static void test_J9_thresholds_select_the_handlers(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_t *forward = handle(stage->system, "f", 60 * S, 0);
  tb_jump_handler_t *backward = handle(stage->system, "b", 0, -60 * S);
  wall_step(59 * S);
  wall_step(61 * S);
  wall_step(-59 * S);
  wall_step(-61 * S);
  assert_string_equal(trace, "<f+61F >f+61F <b-61B >b-61B ");
  tb_jump_handler_destroy(forward);
  tb_jump_handler_destroy(backward);
}

static uint32_t turns_ended(void)
{
  return atomic_load(&tb__timeline_system()->turn_serving);
}

static void test_J9_differences_from_reading_the_clocks_are_no_jump(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
  uint64_t epoch = tb_clock_epoch(stage->system);
  for (int i = 0; i < 3; i++) {
    uint32_t turns = turns_ended();
    wall_set_by(-1000);
    while (turns_ended() == turns) /* it has looked, perhaps for the one before */
      sched_yield();
  }
  wall_step(S);
  assert_string_equal(trace, "<h+1F >h+1F ");
  assert_true(tb_clock_epoch(stage->system) == epoch);
  tb_jump_handler_destroy(handler);
}

static void test_J9_small_steps_add_up(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
  uint32_t before = wall_jumps();
  wall_set_by(-9000);
  wall_set_by(-9000);
  wait_for_wall_jump(before);
  assert_string_equal(trace, "<h+0B >h+0B ");
  tb_jump_handler_destroy(handler);
}

static void keep_jump(const tb_jump_t *jump, void *user)
{
  *(tb_jump_t *)user = *jump;
}

static void test_J9_C6_backward_step_raises_the_epoch_once(void **state)
{
  stage_t *stage = *state;
  tb_jump_t jump = {0};
  tb_jump_handler_options_t options = {
      .threshold = {{1}, {-1}, false}, .after = keep_jump, .user = &jump};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(stage->system, &options, &handler));
  uint64_t epoch = tb_clock_epoch(stage->system);
  wall_step(10 * S);
  assert_true(jump.epoch == epoch);
  assert_true(tb_clock_epoch(stage->system) == epoch);
  uint64_t taken = tb__epoch_take();
  wall_step(-10 * S);
  assert_true(tb_clock_epoch(stage->system) == taken + 1);
  assert_true(jump.epoch == tb_clock_epoch(stage->system));
  assert_true(tb_clock_epoch(stage->ros) == jump.epoch);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_read(stage->system, &reading));
  assert_true(reading.epoch == jump.epoch);
  assert_int_equal(jump.before.kind, TB_TIME_SYSTEM);
  assert_int_equal(jump.after.kind, TB_TIME_SYSTEM);
  assert_true(jump.after.ns <= reading.time.ns);
  tb_jump_handler_destroy(handler);
}

static void test_J9_handler_follows_its_clock_to_system_time_and_away(void **state)
{
  stage_t *stage = *state;
  tb_source_t *source;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_set_source(stage->ros, source));
  tb_jump_handler_t *ros = handle(stage->ros, "r", 1, -1);
  tb_jump_handler_t *system = handle(stage->system, "s", 1, -1);
  wall_step(5 * S);
  assert_ok(tb_clock_set_source(stage->ros, NULL));
  wall_step(6 * S);
  assert_ok(tb_clock_set_source(stage->ros, source));
  wall_step(7 * S);
  assert_string_equal(trace, "<s+5F >s+5F <r+6F <s+6F >r+6F >s+6F <s+7F >s+7F ");
  tb_jump_handler_destroy(ros);
  tb_jump_handler_destroy(system);
  assert_ok(tb_source_destroy(source));
}

static void test_J9_deactivation_begins_the_watch(void **state)
{
  stage_t *stage = *state;
  tb_source_t *source;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_set_source(stage->ros, source));
  tb_jump_t jump = {0};
  tb_jump_handler_options_t options = {
      .threshold = {{1}, {-1}, false}, .after = keep_jump, .user = &jump};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(stage->ros, &options, &handler));
  while (wall_is_watched()) /* of the test before */
    sched_yield();
  assert_ok(tb_clock_set_source(stage->ros, NULL));
  wall_step(5 * S);
  assert_int_equal(jump.kind, TB_JUMP_FORWARD);
  assert_int_equal(jump.after.kind, TB_TIME_ROS);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_source_destroy(source));
}

static void test_J9_handlers_on_a_steady_clock_are_never_called(void **state)
{
  stage_t *stage = *state;
  tb_steady_clock_t *steady;
  assert_ok(tb_steady_clock_create(&steady));
  tb_jump_handler_options_t options = traced("steady", 1, -1);
  tb_jump_handler_t *on_steady;
  assert_ok(tb_steady_clock_jump_handler_create(steady, &options, &on_steady));
  assert_status(tb_steady_clock_jump_handler_create(NULL, &options, &on_steady), TB_ERR_INVALID);
  options.threshold.min_forward.ns = -1;
  assert_status(tb_steady_clock_jump_handler_create(steady, &options, &on_steady), TB_ERR_INVALID);
  tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
  wall_step(-5 * S);
  assert_string_equal(trace, "<h-5B >h-5B ");
  tb_jump_handler_destroy(handler);
  tb_jump_handler_destroy(on_steady);
  assert_ok(tb_steady_clock_destroy(steady));
}

/* A handler that waits in "before" until it is released. */
typedef struct hold {
  _Atomic bool inside, released;
} hold_t;

static void hold_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  hold_t *hold = user;
  TRACE("before ");
  atomic_store(&hold->inside, true);
  while (!atomic_load(&hold->released))
    sched_yield();
}

static void trace_after(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  TRACE("after ");
}

static tb_jump_handler_t *hold_on(tb_clock_t *clock, hold_t *hold)
{
  tb_jump_handler_options_t options = {
      .threshold = {{1}, {-1}, false}, .before = hold_before, .after = trace_after, .user = hold};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

static void wait_until(_Atomic bool *flag)
{
  while (!atomic_load(flag))
    sched_yield();
}

static void test_J9_now_does_not_block(void **state)
{
  stage_t *stage = *state;
  hold_t hold = {0};
  tb_jump_handler_t *handler = hold_on(stage->system, &hold);
  tb_time_t before, in_jump;
  assert_ok(tb_clock_now(stage->system, &before));
  uint32_t jumps = wall_jumps();
  wall_set_by(-3600 * S);
  wait_until(&hold.inside);
  assert_ok(tb_clock_now(stage->system, &in_jump));
  assert_true(in_jump.ns < before.ns);
  tb_clock_reading_t reading;
  assert_ok(tb_clock_try_now(stage->system, &in_jump));
  assert_ok(tb_clock_read(stage->system, &reading));
  assert_ok(tb_clock_sleep_until(stage->system, in_jump, NULL));
  atomic_store(&hold.released, true);
  wait_for_wall_jump(jumps);
  tb_jump_handler_destroy(handler);
}

static void *remove_handler(void *argument)
{
  tb_jump_handler_destroy(argument);
  TRACE("removed ");
  return NULL;
}

static void test_J6_J9_removal_waits_for_the_end_of_a_step(void **state)
{
  stage_t *stage = *state;
  hold_t hold = {0};
  tb_jump_handler_t *handler = hold_on(stage->system, &hold);
  wall_set_by(S);
  wait_until(&hold.inside);
  pthread_t remover;
  assert_int_equal(pthread_create(&remover, NULL, remove_handler, handler), 0);
  while (!atomic_load(&stage->system->users)) /* it has begun to wait */
    sched_yield();
  atomic_store(&hold.released, true);
  pthread_join(remover, NULL);
  assert_string_equal(trace, "before after removed ");
}

typedef struct change {
  tb_clock_t *clock;
  tb_source_t *source;
} change_t;

static void *change_source(void *argument)
{
  const change_t *change = argument;
  assert_ok(tb_clock_set_source(change->clock, change->source));
  return NULL;
}

static bool a_thread_waits_for_the_turn(void)
{
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&timeline->mutex);
  bool waits = timeline->turn_next - atomic_load(&timeline->turn_serving) == 2;
  tb__mutex_unlock(&timeline->mutex);
  return waits;
}

static void trace_change(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  TRACE("changed ");
}

static void test_J3_J9_change_of_source_waits_for_the_end_of_a_step(void **state)
{
  stage_t *stage = *state;
  change_t change = {.clock = stage->ros};
  assert_ok(tb_manual_source_create(&change.source));
  hold_t hold = {0};
  tb_jump_handler_t *handler = hold_on(stage->ros, &hold), *on_change;
  tb_jump_handler_options_t options = {.threshold = {{0}, {0}, true}, .before = trace_change};
  assert_ok(tb_jump_handler_create(stage->ros, &options, &on_change));
  wall_set_by(S);
  wait_until(&hold.inside);
  pthread_t changer;
  assert_int_equal(pthread_create(&changer, NULL, change_source, &change), 0);
  while (!a_thread_waits_for_the_turn())
    sched_yield();
  atomic_store(&hold.released, true);
  pthread_join(changer, NULL);
  assert_string_equal(trace, "before after changed ");
  tb_jump_handler_destroy(handler);
  tb_jump_handler_destroy(on_change);
  assert_ok(tb_source_destroy(change.source));
}

static bool step_waits(void)
{
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&timeline->mutex);
  bool waits = timeline->turn_next != atomic_load(&timeline->turn_serving);
  tb__mutex_unlock(&timeline->mutex);
  return waits;
}

static void test_J3_J9_step_waits_for_the_end_of_a_change_of_source(void **state)
{
  stage_t *stage = *state;
  change_t change = {.clock = stage->ros};
  assert_ok(tb_manual_source_create(&change.source));
  hold_t hold = {0};
  tb_jump_handler_t *on_change, *on_step = handle(stage->system, "s", 1, -1);
  tb_jump_handler_options_t options = {
      .threshold = {{0}, {0}, true}, .before = hold_before, .after = trace_after, .user = &hold};
  assert_ok(tb_jump_handler_create(stage->ros, &options, &on_change));
  pthread_t changer;
  assert_int_equal(pthread_create(&changer, NULL, change_source, &change), 0);
  wait_until(&hold.inside);
  wall_set_by(S);
  while (!step_waits())
    sched_yield();
  atomic_store(&hold.released, true);
  pthread_join(changer, NULL);
  while (step_waits())
    sched_yield();
  assert_string_equal(trace, "before after <s+1F >s+1F ");
  tb_jump_handler_destroy(on_step);
  tb_jump_handler_destroy(on_change);
  assert_ok(tb_source_destroy(change.source));
}

typedef struct inside {
  stage_t *stage;
  tb_source_t *source;
  tb_jump_handler_t *own;
} inside_t;

static void do_all_inside(const tb_jump_t *jump, void *user)
{
  inside_t *inside = user;
  stage_t *stage = inside->stage;
  assert_status(tb_clock_set_source(stage->ros, inside->source), TB_ERR_DEADLOCK);
  assert_status(tb_clock_destroy(stage->ros), TB_ERR_DEADLOCK);
  assert_status(tb_clock_sleep_until(stage->system, jump->after, NULL), TB_ERR_DEADLOCK);
  assert_status(tb_manual_source_set(inside->source, S), TB_ERR_DEADLOCK);
  tb_time_t now;
  assert_ok(tb_clock_now(stage->system, &now));
  tb_jump_handler_destroy(inside->own);
  handle(stage->ros, "new", 1, -1); /* goes with its clock */
  TRACE("inside ");
}

static void test_J5_J9_callbacks_of_a_step_may_do_what_those_of_jumps_may(void **state)
{
  inside_t inside = {.stage = *state};
  assert_ok(tb_manual_source_create(&inside.source));
  tb_jump_handler_options_t options = {
      .threshold = {{1}, {-1}, false}, .before = do_all_inside, .after = on_after, .user = &inside};
  assert_ok(tb_jump_handler_create(inside.stage->system, &options, &inside.own));
  wall_step(S);
  assert_string_equal(trace, "inside ");
  wall_step(2 * S);
  assert_string_equal(trace, "inside <new+2F >new+2F ");
  assert_ok(tb_source_destroy(inside.source));
}

static void test_J9_thread_exists_only_while_it_is_needed(void **state)
{
  stage_t *stage = *state;
  while (wall_is_watched())
    sched_yield();
  tb_jump_handler_options_t changes = {.threshold = {{0}, {0}, true}, .after = on_after};
  tb_jump_handler_t *of_changes;
  assert_ok(tb_jump_handler_create(stage->system, &changes, &of_changes));
  assert_ok(tb_clock_sleep_for(stage->system, (tb_duration_t){1}, NULL));
  assert_ok(tb_clock_sleep_until(stage->system, (tb_time_t){1, TB_TIME_SYSTEM}, NULL));
  assert_false(wall_is_watched());
  for (int i = 0; i < 2; i++) {
    tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
    trace[0] = '\0';
    wall_step(S);
    assert_true(wall_is_watched());
    assert_string_equal(trace, "<h+1F >h+1F ");
    tb_jump_handler_destroy(handler);
    while (wall_is_watched())
      sched_yield();
  }
  tb_jump_handler_destroy(of_changes);
}

static void test_J9_steps_while_not_watched_are_not_reported(void **state)
{
  stage_t *stage = *state;
  while (wall_is_watched())
    sched_yield();
  wall_set_by(100 * S);
  tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
  wall_step(-S);
  assert_string_equal(trace, "<h-1B >h-1B ");
  tb_jump_handler_destroy(handler);
}

static int exit_status_of(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The exit status of a child, which is refused a handler; with `exit`, of the library's own end. */
static int fork_with(const stage_t *stage, tb_jump_handler_t *handler, void (*end)(int status))
{
  fflush(NULL);
  pid_t child = fork();
  if (child != 0) return exit_status_of(child);
  tb_jump_handler_destroy(handler);
  tb_jump_handler_options_t options = traced("child", 1, -1);
  bool ok = tb_jump_handler_create(stage->system, &options, &handler) == TB_ERR_FORKED &&
            !wall_is_watched();
  end(ok ? 7 : 1);
  return -1;
}

static void test_C7_J9_forked_child_does_nothing_about_it(void **state)
{
  stage_t *stage = *state;
  tb_jump_handler_t *handler = handle(stage->system, "h", 1, -1);
  wall_step(S);
  assert_int_equal(fork_with(stage, handler, exit), 7);
  tb_jump_handler_destroy(handler);
  while (wall_is_watched())
    sched_yield();
  /* thread sanitizer in the child would miss a join of the thread that has ended */
  assert_int_equal(fork_with(stage, NULL, _exit), 7);
  handler = handle(stage->system, "h", 1, -1);
  wall_step(2 * S);
  assert_string_equal(trace, "<h+1F >h+1F <h+2F >h+2F ");
  tb_jump_handler_destroy(handler);
}

static void count_message(tb_log_level_t level, const char *message, void *user)
{
  if (level == TB_LOG_WARN && strstr(message, "system time"))
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void limit_descriptors(rlim_t limit, rlim_t *out_before)
{
  struct rlimit descriptors;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  if (out_before) *out_before = descriptors.rlim_cur;
  descriptors.rlim_cur = limit;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
}

static void test_J9_without_descriptors_it_is_logged_once_and_tried_again(void **state)
{
  stage_t *stage = *state;
  _Atomic int messages = 0;
  rlim_t before;
  while (wall_is_watched())
    sched_yield();
  tb_log_set_hook(count_message, (void *)&messages);
  limit_descriptors(0, &before);
  tb_jump_handler_t *a = handle(stage->system, "a", 1, -1);
  while (!atomic_load(&messages))
    sched_yield();
  tb_jump_handler_t *b = handle(stage->system, "b", 1, -1);
  while (!atomic_load(&tb__steps_unserved)) /* until the second try has failed */
    sched_yield();
  limit_descriptors(before, NULL);
  tb_jump_handler_t *c = handle(stage->system, "c", 1, -1);
  wall_step(S);
  assert_string_equal(trace, "<a+1F <b+1F <c+1F >a+1F >b+1F >c+1F ");
  assert_int_equal(atomic_load(&messages), 1);
  tb_log_set_hook(NULL, NULL);
  tb_jump_handler_destroy(a);
  tb_jump_handler_destroy(b);
  tb_jump_handler_destroy(c);
}

static int exit_from(const char *argument)
{
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "clock_tests", "step_test", argument, (char *)NULL);
    _exit(1);
  }
  return exit_status_of(child);
}

static void test_J9_thread_does_not_keep_the_process_from_ending(void **state)
{
  (void)state;
  assert_int_equal(exit_from("watching"), 3);
  assert_int_equal(exit_from("in callback"), 3);
  assert_int_equal(exit_from("of callback"), 3);
}

static void exit_inside(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  exit(3);
}

/* A process that ends while it watches, while a callback does not return, or in a callback. */
static int end_while(const char *what)
{
  static hold_t hold;
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  if (tb_clock_create(&options, &clock)) return 1;
  bool itself = !strcmp(what, "of callback");
  tb_jump_handler_options_t jumps = {
      .threshold = {{1}, {-1}, false}, .before = itself ? exit_inside : hold_before, .user = &hold};
  if (tb_jump_handler_create(clock, &jumps, &handler)) return 1;
  if (!strcmp(what, "watching")) return 3;
  wall_set_by(S);
  wait_until(&hold.inside); /* where it exits itself: for ever */
  return 3;
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_setup, stage_teardown)

int main(int argc, char **argv)
{
  wall_begin();
  if (argc > 1) return end_while(argv[1]);
  const struct CMUnitTest tests[] = {
      ON_STAGE(test_J9_before_and_after_run_in_a_row_with_the_delta_against_steady_time),
      ON_STAGE(test_J9_thresholds_select_the_handlers),
      ON_STAGE(test_J9_differences_from_reading_the_clocks_are_no_jump),
      ON_STAGE(test_J9_small_steps_add_up),
      ON_STAGE(test_J9_C6_backward_step_raises_the_epoch_once),
      ON_STAGE(test_J9_handler_follows_its_clock_to_system_time_and_away),
      ON_STAGE(test_J9_deactivation_begins_the_watch),
      ON_STAGE(test_J9_handlers_on_a_steady_clock_are_never_called),
      ON_STAGE(test_J9_now_does_not_block),
      ON_STAGE(test_J6_J9_removal_waits_for_the_end_of_a_step),
      ON_STAGE(test_J3_J9_change_of_source_waits_for_the_end_of_a_step),
      ON_STAGE(test_J3_J9_step_waits_for_the_end_of_a_change_of_source),
      ON_STAGE(test_J5_J9_callbacks_of_a_step_may_do_what_those_of_jumps_may),
      ON_STAGE(test_J9_thread_exists_only_while_it_is_needed),
      ON_STAGE(test_J9_steps_while_not_watched_are_not_reported),
      ON_STAGE(test_C7_J9_forked_child_does_nothing_about_it),
      ON_STAGE(test_J9_without_descriptors_it_is_logged_once_and_tried_again),
      ON_STAGE(test_J9_thread_does_not_keep_the_process_from_ending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

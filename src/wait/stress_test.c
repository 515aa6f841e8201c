/* Many threads at once on a few clocks: readers, sleepers, handlers, timers, ticks, changes of
 * sources and of the default, limits, sources that run on by themselves, held time and forks.
 * Once time is held now and then; once the process and its threads are stopped instead, and time
 * never falls. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <timebase/extrapolating_source.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/testing.h>
#include <timebase/timer.h>
#include <unistd.h>

#include "forking.h"
#include "never_falls.h"
#include "platform/time.h"
#include "seed.h"
#include "stopping.h"
#include "test.h"
#include "wait/lane_check.h"

#define CLOCKS  3
#define SOURCES 3 /* the last one extrapolates */
#define TIMERS  8
#define MS      INT64_C(1000000)

typedef struct world {
  tb_source_t *sources[SOURCES];
  tb_source_t *moved[SOURCES]; /* manual: themselves, or what they wrap */
  tb_clock_t *clocks[CLOCKS];
  never_falls_t seen[CLOCKS]; /* if time is not held */
  tb_timer_queue_t *queue;
  _Atomic bool stop;         /* actors end */
  _Atomic uint32_t holds;    /* a reading under way then may be later than those to come */
  _Atomic uint32_t sleeping; /* threads that may be in a sleep without a limit */
  _Atomic(const char *) failure;
} world_t;

typedef struct actor {
  world_t *world;
  uint64_t random;
  pthread_t thread;
} actor_t;

static world_t world;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) atomic_store(&world.failure, __FILE__ ": " #condition);                      \
  } while (0)

static uint32_t draw(actor_t *actor, uint32_t below)
{
  return (uint32_t)((test_random(&actor->random) >> 20) % below);
}

static tb_clock_t *any_clock(actor_t *actor)
{
  return world.clocks[draw(actor, CLOCKS)];
}

static tb_source_t *any_source(actor_t *actor)
{
  return world.sources[draw(actor, SOURCES)];
}

/* 0: none. Some have passed when they are checked. */
static tb_duration_t any_limit(actor_t *actor)
{
  return (tb_duration_t){draw(actor, 3) ? draw(actor, 200000) : 0};
}

static bool is_done_in_time(tb_status_t status, tb_duration_t limit)
{
  return status == TB_OK || (status == TB_ERR_TIMEOUT && limit.ns);
}

/* Its own source, the default twice as often, or none. */
static tb_source_t *any_choice(actor_t *actor)
{
  uint32_t choice = draw(actor, 6);
  return choice == 0 ? NULL : choice < 3 ? TB_SOURCE_DEFAULT : any_source(actor);
}

static bool running(void)
{
  return !atomic_load(&world.stop);
}

static void *read_clocks(void *argument)
{
  actor_t *actor = argument;
  uint64_t epochs[CLOCKS] = {0};
  tb_clock_reading_t last[CLOCKS] = {0};
  uint32_t holds[CLOCKS] = {0};
  while (running()) {
    uint32_t i = draw(actor, CLOCKS);
    tb_clock_reading_t reading;
    tb_time_t time;
    uint32_t held = atomic_load(&world.holds);
    CHECK(tb_clock_read(world.clocks[i], &reading) == TB_OK);
    CHECK(reading.epoch >= last[i].epoch);
    bool falls = reading.epoch == last[i].epoch && reading.time.ns < last[i].time.ns;
    bool is_wall = reading.state == TB_CLOCK_NO_SOURCE || reading.state == TB_CLOCK_INACTIVE;
    bool was_taken = atomic_load(&world.holds) != holds[i]; /* since the last reading began */
    CHECK(!falls || is_wall /* which may be set */ || was_taken);
    holds[i] = held;
    last[i] = reading;
    CHECK(tb_clock_now(world.clocks[i], &time) == TB_OK);
    tb_status_t status = tb_clock_try_now(world.clocks[i], &time);
    CHECK(status == TB_OK || status == TB_ERR_BUSY);
    uint64_t epoch = tb_clock_epoch(world.clocks[i]);
    CHECK(epoch >= epochs[i]);
    epochs[i] = epoch;
  }
  return NULL;
}

static void *check_clocks(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    uint32_t i = draw(actor, CLOCKS);
    CHECK(never_falls_check(&world.seen[i], world.clocks[i]));
  }
  return NULL;
}

static void *move_time(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    tb_source_t *source = world.moved[draw(actor, SOURCES)];
    tb_status_t status;
    switch (draw(actor, 16)) {
    case 0:
      status = tb_manual_source_set(source, (int64_t)draw(actor, 1000) * MS);
      break;
    case 1:
      status = tb_timeline_try_tick(tb_source_timeline(source), (int64_t)draw(actor, 1000) * MS);
      break;
    default:
      status = tb_manual_source_advance(source, (tb_duration_t){draw(actor, 5) * MS});
    }
    CHECK(status == TB_OK || status == TB_ERR_DETACHED || status == TB_ERR_BUSY);
  }
  return NULL;
}

static void *change_sources(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    tb_clock_t *own;
    tb_clock_options_t options = {TB_TIME_ROS, any_choice(actor)};
    tb_duration_t limit = any_limit(actor);
    CHECK(tb_clock_set_source(any_clock(actor), any_choice(actor)) == TB_OK);
    CHECK(is_done_in_time(tb_clock_set_source_within(any_clock(actor), any_choice(actor), limit),
                          limit));
    CHECK(tb_clock_create(&options, &own) == TB_OK);
    tb_status_t status = tb_clock_destroy_within(own, limit);
    CHECK(is_done_in_time(status, limit));
    if (status) CHECK(tb_clock_destroy(own) == TB_OK);
  }
  return NULL;
}

static void destroy_brief(tb_source_t *source, tb_duration_t limit)
{
  tb_status_t status = tb_source_destroy_within(source, limit);
  CHECK(is_done_in_time(status, limit));
  if (status) CHECK(tb_source_destroy(source) == TB_OK);
}

static void *change_default(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    tb_source_t *brief;
    switch (draw(actor, 4)) {
    case 0: /* a default that is destroyed as such */
      CHECK(tb_manual_source_create(&brief) == TB_OK);
      CHECK(tb_manual_source_set(brief, (int64_t)draw(actor, 1000) * MS) == TB_OK);
      CHECK(tb_source_set_default(brief) == TB_OK);
      destroy_brief(brief, any_limit(actor));
      break;
    case 1:
      CHECK(tb_source_set_default(NULL) == TB_OK);
      break;
    default:
      CHECK(tb_source_set_default(any_source(actor)) == TB_OK);
    }
  }
  return NULL;
}

static tb_status_t wait_for_any_state(actor_t *actor, tb_clock_t *clock, tb_wait_options_t *options)
{
  tb_clock_reading_t reading;
  uint32_t states = draw(actor, 0x1ff) + 1; /* from inactive on */
  options->flags = 0;
  options->limit.ns = draw(actor, 4 * MS) + 1; /* not all of them come */
  tb_status_t status = tb_clock_wait_for_state(clock, states << 1, options, &reading);
  if (!status) CHECK(states << 1 & TB_CLOCK_STATE_BIT(reading.state));
  return status;
}

static void sleep_once(actor_t *actor)
{
  tb_clock_t *clock = any_clock(actor);
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.flags = draw(actor, 16);
  options.forward_min.ns = (draw(actor, 20) + 1) * MS;
  options.limit.ns = draw(actor, 3) ? draw(actor, 4 * MS) + 1 : 0;
  tb_clock_reading_t before, after;
  CHECK(tb_clock_read(clock, &before) == TB_OK);
  tb_time_t target = {before.time.ns + draw(actor, 20) * MS + 1, TB_TIME_ROS};
  tb_status_t status;
  bool until = draw(actor, 2);
  if (draw(actor, 8) == 0)
    status = tb_clock_wait_until_started(clock, &options);
  else if (draw(actor, 4) == 0)
    status = wait_for_any_state(actor, clock, &options);
  else if (until)
    status = tb_clock_sleep_until(clock, target, &options);
  else
    status = tb_clock_sleep_for(clock, (tb_duration_t){draw(actor, 20) * MS}, &options);
  CHECK(status == TB_OK || (status == TB_ERR_TIMEOUT && options.limit.ns) ||
        (status == TB_ERR_CLOCK_CHANGED) ||
        (status == TB_ERR_JUMP_FORWARD && (options.flags & TB_WAIT_FAIL_ON_FORWARD)) ||
        (status == TB_ERR_JUMP_BACKWARD && (options.flags & TB_WAIT_FAIL_ON_BACKWARD)));
  CHECK(tb_clock_read(clock, &after) == TB_OK);
  CHECK(after.epoch >= before.epoch);
}

static void *sleep_often(void *argument)
{
  atomic_fetch_add(&world.sleeping, 1);
  while (running())
    sleep_once(argument);
  atomic_fetch_sub(&world.sleeping, 1);
  return NULL;
}

typedef struct pair {
  tb_clock_t *clock;
  _Atomic int open; /* "before" without its "after" */
} pair_t;

/* Whether `now` returns the times of the jump in its callbacks. */
static bool has_exact_times(const tb_jump_t *jump)
{
  return jump->kind != TB_JUMP_CLOCK_CHANGE && jump->reason != TB_JUMP_REASON_SYSTEM_STEPPED;
}

static void before_jump(const tb_jump_t *jump, void *user)
{
  pair_t *pair = user;
  tb_time_t now;
  CHECK(atomic_fetch_add(&pair->open, 1) == 0);
  CHECK(tb_clock_now(pair->clock, &now) == TB_OK);
  CHECK(!has_exact_times(jump) || now.ns == jump->before.ns);
  CHECK(tb_clock_set_source(pair->clock, NULL) == TB_ERR_DEADLOCK);
  CHECK(tb_source_set_default(NULL) == TB_ERR_DEADLOCK);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  pair_t *pair = user;
  tb_time_t now;
  CHECK(atomic_fetch_sub(&pair->open, 1) == 1);
  CHECK(tb_clock_now(pair->clock, &now) == TB_OK);
  CHECK(!has_exact_times(jump) || now.ns == jump->after.ns);
}

/* Removes itself in its first call. */
typedef struct once {
  tb_jump_handler_t *_Atomic handler;
  _Atomic int calls;
} once_t;

static void call_once(const tb_jump_t *jump, void *user)
{
  (void)jump;
  once_t *once = user;
  tb_jump_handler_t *handler = atomic_exchange(&once->handler, NULL);
  if (!handler) return; /* not stored yet, or its owner destroys it */
  atomic_fetch_add(&once->calls, 1);
  tb_jump_handler_destroy(handler);
}

static void *handle_jumps(void *argument)
{
  actor_t *actor = argument;
  static once_t once[256];
  atomic_fetch_add(&world.sleeping, 1);
  for (uint32_t round = 0; running(); round++) {
    pair_t pair = {.clock = any_clock(actor)};
    tb_jump_threshold_t threshold = {{(draw(actor, 3) + 1) * MS}, {-1}, true};
    tb_jump_handler_options_t options = {"pair", threshold, before_jump, after_jump, &pair};
    tb_jump_handler_t *handler;
    CHECK(tb_jump_handler_create(pair.clock, &options, &handler) == TB_OK);
    once_t *mine = &once[round % 256];
    if (round < 256) {
      tb_jump_handler_options_t single = {"once", threshold, call_once, call_once, mine};
      tb_jump_handler_t *out;
      CHECK(tb_jump_handler_create(pair.clock, &single, &out) == TB_OK);
      atomic_store(&mine->handler, out);
    }
    sleep_once(actor);
    tb_duration_t limit = any_limit(actor);
    tb_status_t status = tb_jump_handler_destroy_within(handler, limit);
    CHECK(is_done_in_time(status, limit));
    if (status) tb_jump_handler_destroy(handler);
    CHECK(atomic_load(&pair.open) == 0);
    if (round < 256) tb_jump_handler_destroy(atomic_exchange(&mine->handler, NULL));
    CHECK(atomic_load(&mine->calls) <= 1);
  }
  atomic_fetch_sub(&world.sleeping, 1);
  return NULL;
}

/* A timer that its callback may destroy: the thread that takes it out of its place destroys it. */
static tb_timer_t *_Atomic timers[TIMERS];

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  actor_t *actor = user;
  CHECK(info->actual.ns >= info->scheduled.ns);
  uint32_t i = draw(actor, TIMERS);
  tb_timer_t *victim = atomic_exchange(&timers[i], NULL);
  switch (victim == timer || draw(actor, 2) ? draw(actor, 3) : 3) {
  case 0:
    tb_timer_destroy(victim);
    return;
  case 1:
    CHECK(!victim || tb_timer_start(victim) == TB_OK);
    break;
  case 2:
    CHECK(!victim || tb_timer_stop(victim) == TB_OK);
    break;
  default:
    break;
  }
  if (victim) atomic_store(&timers[i], victim);
}

static void check_lanes(void)
{
  const char *wrong = tb__timer_queue_check(world.queue);
  if (wrong) atomic_store(&world.failure, wrong);
}

static void *run_timers(void *argument)
{
  (void)argument;
  struct pollfd fd = {.fd = tb_timer_queue_fd(world.queue), .events = POLLIN};
  for (uint32_t round = 0; running(); round++) {
    poll(&fd, 1, 1);
    CHECK(tb_timer_queue_run_due(world.queue, NULL) == TB_OK);
    if (round % 8 == 0) check_lanes();
    CHECK(tb_timer_queue_run_due(NULL, NULL) == TB_ERR_INVALID);
  }
  return NULL;
}

static actor_t callback_actor = {.world = &world};

/* Places belong to one such thread (and the callbacks), so a taken place may be filled again. */
static void *set_timers(void *argument)
{
  actor_t *actor = argument;
  for (uint32_t round = 0; running(); round++) {
    if (round % 32 == 0) check_lanes();
    uint32_t i = draw(actor, TIMERS);
    tb_timer_t *timer = atomic_exchange(&timers[i], NULL);
    if (!timer) {
      tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
      options.period.ns = (int64_t)(draw(actor, 10) + 1) * MS / 2;
      options.callback = on_timer;
      options.user = &callback_actor;
      CHECK(tb_timer_create(world.queue, any_clock(actor), &options, &timer) == TB_OK);
    }
    uint32_t what = draw(actor, 6);
    if (what == 0) {
      tb_timer_destroy(timer);
      continue;
    }
    CHECK((what == 1 ? tb_timer_stop(timer) : tb_timer_start(timer)) == TB_OK);
    tb_timer_t *none = NULL; /* the callback may have put one back meanwhile */
    if (!atomic_compare_exchange_strong(&timers[i], &none, timer)) tb_timer_destroy(timer);
  }
  return NULL;
}

/* Holds time, lets some pass on either clock, and gives it back; system time is set, too. Waits
 * with a limit waits for this. */
static void *hold_time(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    atomic_fetch_add(&world.holds, 1);
    CHECK(tb_testing_hold_os_time() == TB_OK);
    atomic_fetch_add(&world.holds, 1);
    for (uint32_t i = draw(actor, 20); i > 0; i--) {
      tb_testing_clock_t which = draw(actor, 2) ? TB_TESTING_STEADY : TB_TESTING_SYSTEM;
      tb_duration_t step = {draw(actor, 4) * MS};
      tb_status_t status = draw(actor, 4)   ? tb_testing_advance(which, step)
                           : draw(actor, 2) ? tb_testing_advance_to_next(which)
                                            : tb_testing_advance_stepped(which, step, 100);
      CHECK(status == TB_OK || status == TB_ERR_NOT_FOUND || status == TB_ERR_LIMIT);
      int64_t now_ns;
      CHECK(tb_testing_now(TB_TESTING_SYSTEM, &now_ns) == TB_OK);
      if (draw(actor, 8) == 0)
        CHECK(tb_testing_set(TB_TESTING_SYSTEM, now_ns - 5 * MS + draw(actor, 10) * MS) == TB_OK);
    }
    CHECK(tb_testing_release_os_time() == TB_OK);
    poll(NULL, 0, 1);
  }
  return NULL;
}

/* Sanitizers have locks of their own, which a child may find taken by threads that it has not:
 * address sanitizer's in the allocator, thread sanitizer's everywhere. */
#if defined(__SANITIZE_THREAD__)
#define FORKS false
#else
#define FORKS true
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CHILD_FREES false
#else
#define CHILD_FREES true
#endif

/* Whatever the other threads were doing at the fork: nothing here waits for them. */
static int child(void)
{
  tb_time_t now;
  tb_clock_reading_t reading;
  for (int i = 0; i < CLOCKS; i++) {
    if (tb_clock_now(world.clocks[i], &now) || tb_clock_read(world.clocks[i], &reading)) return 1;
    if (tb_clock_set_source(world.clocks[i], NULL) != TB_ERR_FORKED) return 2;
    if (tb_clock_sleep_for(world.clocks[i], (tb_duration_t){1}, NULL) != TB_ERR_FORKED) return 3;
  }
  if (tb_source_set_default(NULL) != TB_ERR_FORKED) return 4;
  if (tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){1}) == TB_OK) return 5;
  if (!CHILD_FREES) return 0;
  if (tb_timer_queue_destroy(world.queue)) return 6;
  for (int i = 0; i < CLOCKS; i++)
    if (tb_clock_destroy(world.clocks[i])) return 7;
  for (int i = 0; i < SOURCES; i++)
    if (tb_source_destroy(world.sources[i])) return 8;
  return 0;
}

static void *fork_often(void *argument)
{
  (void)argument;
  while (running() && FORKS) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (status) print_error("child: %#x\n", (unsigned)status);
    CHECK(status == 0);
    poll(NULL, 0, 10);
  }
  return NULL;
}

static void world_open(void)
{
  atomic_store(&world.stop, false);
  for (int i = 0; i < CLOCKS; i++)
    world.seen[i] = (never_falls_t)NEVER_FALLS_INIT;
  for (int i = 0; i < SOURCES; i++) {
    assert_ok(tb_manual_source_create(&world.moved[i]));
    world.sources[i] = world.moved[i];
  }
  assert_ok(
      tb_extrapolating_source_create(world.moved[SOURCES - 1], NULL, &world.sources[SOURCES - 1]));
  for (int i = 0; i < CLOCKS; i++) {
    tb_clock_options_t options = {TB_TIME_ROS, world.sources[i % SOURCES]};
    assert_ok(tb_clock_create(&options, &world.clocks[i]));
  }
  assert_ok(tb_timer_queue_create(&world.queue));
}

/* Sleepers without a limit end by themselves once time runs again: none may be lost. Some keep a
 * target in wall time. */
static void sleepers_end(void)
{
  for (int i = 0; i < CLOCKS; i++)
    assert_ok(tb_clock_set_source(world.clocks[i], world.sources[0]));
  assert_ok(tb_manual_source_set(world.sources[0], INT64_MAX / 2));
  while (atomic_load(&world.sleeping) > 0) {
    assert_ok(tb_manual_source_advance(world.sources[0], (tb_duration_t){TB_NS_PER_S}));
    poll(NULL, 0, 1);
  }
}

static void world_close(void)
{
  assert_ok(tb_timer_queue_destroy(world.queue));
  assert_ok(tb_source_set_default(NULL));
  for (int i = 0; i < CLOCKS; i++)
    assert_ok(tb_clock_destroy(world.clocks[i]));
  for (int i = 0; i < SOURCES; i++)
    assert_ok(tb_source_destroy(world.sources[i]));
  if (atomic_load(&world.failure)) fail_msg("%s", atomic_load(&world.failure));
}

/* Roles that must end before the sleepers are ended. */
static bool ends_first(void *(*role)(void *))
{
  return role == change_sources || role == change_default || role == hold_time;
}

#define ROLES                                                                                      \
  move_time, move_time, sleep_often, sleep_often, sleep_often, run_timers, set_timers,             \
      handle_jumps, change_sources, change_default, change_default, fork_often
#define ACTORS 14

static void run_all(void *(*const roles[ACTORS])(void *))
{
  actor_t actors[ACTORS];
  int64_t until_ns = tb__real_steady_now_ns() + test_duration_ms(1000) * MS;
  uint64_t seed = test_seed();
  callback_actor.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  world_open();
  for (uint32_t i = 0; i < ACTORS; i++) {
    actors[i] = (actor_t){.world = &world, .random = (seed + i + 1) * UINT64_C(0x9E3779B97F4A7C15)};
    assert_int_equal(pthread_create(&actors[i].thread, NULL, roles[i], &actors[i]), 0);
  }
  while (tb__real_steady_now_ns() < until_ns && !atomic_load(&world.failure))
    poll(NULL, 0, 1);
  atomic_store(&world.stop, true);
  for (uint32_t i = 0; i < ACTORS; i++)
    if (ends_first(roles[i])) pthread_join(actors[i].thread, NULL);
  sleepers_end();
  for (uint32_t i = 0; i < ACTORS; i++)
    if (!ends_first(roles[i])) pthread_join(actors[i].thread, NULL);
  world_close();
}

static void check_all(void)
{
  static void *(*const roles[ACTORS])(void *) = {ROLES, check_clocks, check_clocks};
  run_all(roles);
}

static void test_C6_time_never_falls_whoever_is_stopped(void **state)
{
  (void)state;
  stopping_run(check_all, test_seed());
}

static void test_everything_at_once(void **state)
{
  (void)state;
  static void *(*const roles[ACTORS])(void *) = {ROLES, read_clocks, hold_time};
  run_all(roles);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          test_C6_time_never_falls_whoever_is_stopped), /* first: nothing is used yet */
      cmocka_unit_test(test_everything_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

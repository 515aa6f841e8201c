/* Clocks that follow the process's default source. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/sleep.h>
#include <timebase/source.h>

#include "clock/source.h"
#include "on_manual_source.h"
#include "waiting.h"

#define FOLLOWERS 5

typedef struct stage {
  tb_source_t *a, *b; /* at 10 s and 20 s */
  tb_clock_t *own, *none, *followers[FOLLOWERS];
} stage_t;

/* ---- allocations that fail on request ---- */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static _Atomic int allocations_left = -1; /* -1: no end */

void *__wrap_calloc(size_t count, size_t size)
{
  int left = atomic_load(&allocations_left);
  if (left == 0) return NULL;
  if (left > 0) atomic_store(&allocations_left, left - 1);
  return __real_calloc(count, size);
}

/* ---- helpers ---- */

static int64_t now_ns(const tb_clock_t *clock)
{
  tb_time_t now = {0};
  assert_ok(tb_clock_now(clock, &now));
  return now.ns;
}

static tb_clock_state_t state_of(const tb_clock_t *clock)
{
  tb_clock_reading_t reading = {0};
  assert_ok(tb_clock_read(clock, &reading));
  return reading.state;
}

static int log_calls;
static tb_log_level_t log_level;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  if (!strstr(message, "no time source")) return;
  log_calls++;
  log_level = level;
}

static int stage_setup(void **state)
{
  static stage_t stage;
  trace[0] = '\0';
  assert_ok(tb_manual_source_create(&stage.a));
  assert_ok(tb_manual_source_create(&stage.b));
  assert_ok(tb_manual_source_set(stage.a, 10 * S));
  assert_ok(tb_manual_source_set(stage.b, 20 * S));
  tb_clock_options_t own = {TB_TIME_ROS, stage.a}, none = {TB_TIME_ROS, NULL};
  assert_ok(tb_clock_create(&own, &stage.own));
  assert_ok(tb_clock_create(&none, &stage.none));
  for (int i = 0; i < FOLLOWERS; i++)
    assert_ok(tb_clock_create(NULL, &stage.followers[i]));
  *state = &stage;
  return 0;
}

static int stage_teardown(void **state)
{
  stage_t *stage = *state;
  assert_ok(tb_source_set_default(NULL));
  for (int i = 0; i < FOLLOWERS; i++)
    assert_ok(tb_clock_destroy(stage->followers[i]));
  assert_ok(tb_clock_destroy(stage->own));
  assert_ok(tb_clock_destroy(stage->none));
  assert_ok(tb_source_destroy(stage->a));
  assert_ok(tb_source_destroy(stage->b));
  return 0;
}

static void assert_followers_at(const stage_t *stage, int64_t time_ns)
{
  for (int i = 0; i < FOLLOWERS; i++)
    assert_int_equal(now_ns(stage->followers[i]), time_ns);
}

static void write_jump(const tb_jump_t *jump, void *user)
{
  TRACE("%s:%d,%d,%lld ", (const char *)user, jump->kind, jump->reason,
        (long long)(jump->before.ns > 1000 * S || jump->after.ns > 1000 * S ? 0
                                                                            : jump->delta.ns / S));
}

static tb_jump_handler_t *watch(tb_clock_t *clock, tb_jump_callback_t before,
                                tb_jump_callback_t after, void *user)
{
  tb_jump_handler_options_t options = {"watch", {{0}, {0}, true}, before, after, user};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(clock, &options, &handler));
  return handler;
}

/* ---- tests ---- */

/* First of all: the message comes once in the life of the process. */
static void test_X7_no_default_is_the_state_no_source_logged_once(void **state)
{
  (void)state;
  tb_clock_t *clocks[2];
  tb_clock_options_t none = {TB_TIME_ROS, NULL};
  tb_log_set_hook(on_log, NULL);
  assert_ok(tb_clock_create(&none, &clocks[0]));
  assert_int_equal(log_calls, 0);
  assert_int_equal(state_of(clocks[0]), TB_CLOCK_INACTIVE);
  assert_ok(tb_clock_destroy(clocks[0]));
  for (int i = 0; i < 2; i++) {
    assert_ok(tb_clock_create(NULL, &clocks[i]));
    assert_int_equal(state_of(clocks[i]), TB_CLOCK_NO_SOURCE);
    assert_false(tb_clock_is_active(clocks[i]));
    assert_true(now_ns(clocks[i]) > 1000000 * S);
    assert_int_equal(log_calls, 1);
    assert_int_equal(log_level, TB_LOG_INFO);
  }
  assert_ok(tb_source_set_default(NULL));
  assert_int_equal(log_calls, 1);
  tb_log_set_hook(NULL, NULL);
  for (int i = 0; i < 2; i++)
    assert_ok(tb_clock_destroy(clocks[i]));
}

static void test_X7_setting_the_default_moves_every_follower_and_no_other_clock(void **state)
{
  stage_t *stage = *state;
  uint64_t epoch = tb_clock_epoch(stage->own);
  assert_ok(tb_source_set_default(stage->b));
  assert_ptr_equal(tb_source_get_default(), stage->b);
  assert_followers_at(stage, 20 * S);
  assert_int_equal(state_of(stage->followers[0]), TB_CLOCK_RUNNING);
  assert_ok(tb_manual_source_advance(stage->b, (tb_duration_t){S}));
  assert_followers_at(stage, 21 * S);
  assert_ok(tb_source_set_default(stage->a));
  assert_followers_at(stage, 10 * S);
  assert_int_equal(now_ns(stage->own), 10 * S);
  assert_int_equal(tb_clock_epoch(stage->own), epoch);
  assert_int_equal(state_of(stage->none), TB_CLOCK_INACTIVE);
  assert_ok(tb_source_set_default(NULL));
  assert_null(tb_source_get_default());
  for (int i = 0; i < FOLLOWERS; i++)
    assert_int_equal(state_of(stage->followers[i]), TB_CLOCK_NO_SOURCE);
  assert_int_equal(now_ns(stage->own), 10 * S);
}

static void test_J3_each_follower_has_its_clock_change(void **state)
{
  stage_t *stage = *state;
  char names[4][5] = {"0", "1", "own", "none"};
  tb_jump_handler_t *handlers[] = {watch(stage->followers[0], write_jump, NULL, names[0]),
                                   watch(stage->followers[1], NULL, write_jump, names[1]),
                                   watch(stage->own, write_jump, write_jump, names[2]),
                                   watch(stage->none, write_jump, write_jump, names[3])};
  assert_ok(tb_source_set_default(stage->a));
  assert_ok(tb_source_set_default(stage->b));
  assert_ok(tb_source_set_default(stage->b)); /* nothing */
  uint64_t epoch = tb_clock_epoch(stage->followers[0]);
  assert_ok(tb_source_set_default(NULL));
  assert_true(tb_clock_epoch(stage->followers[0]) > epoch);
  assert_non_null(strstr(trace, "0:3,5,0 ")); /* the order of the clocks is not specified */
  assert_non_null(strstr(trace, "1:3,5,0 "));
  assert_non_null(strstr(trace, "0:3,7,10 "));
  assert_non_null(strstr(trace, "1:3,7,10 "));
  assert_non_null(strstr(trace, "0:3,6,0 "));
  assert_non_null(strstr(trace, "1:3,6,0 "));
  assert_int_equal(strlen(trace),
                   2 * (strlen("0:3,5,0 ") + strlen("0:3,7,10 ") + strlen("0:3,6,0 ")));
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    tb_jump_handler_destroy(handlers[i]);
}

static void test_X7_a_clock_joins_and_leaves_by_its_source(void **state)
{
  stage_t *stage = *state;
  assert_ok(tb_source_set_default(stage->b));
  assert_ok(tb_clock_set_source(stage->own, TB_SOURCE_DEFAULT));
  assert_ok(tb_clock_set_source(stage->none, TB_SOURCE_DEFAULT));
  assert_int_equal(now_ns(stage->own), 20 * S);
  assert_int_equal(now_ns(stage->none), 20 * S);
  uint64_t epoch = tb_clock_epoch(stage->own);
  assert_ok(tb_clock_set_source(stage->own, TB_SOURCE_DEFAULT)); /* does so already */
  assert_ok(tb_clock_set_source(stage->own, stage->b));          /* its own now: the same time */
  assert_int_equal(tb_clock_epoch(stage->own), epoch);
  assert_ok(tb_clock_set_source(stage->none, NULL));
  assert_ok(tb_source_set_default(stage->a));
  assert_int_equal(now_ns(stage->own), 20 * S);
  assert_int_equal(state_of(stage->none), TB_CLOCK_INACTIVE);
  assert_followers_at(stage, 10 * S);
  assert_ok(tb_source_set_default(NULL));
  assert_ok(tb_clock_set_source(stage->none, TB_SOURCE_DEFAULT));
  assert_int_equal(state_of(stage->none), TB_CLOCK_NO_SOURCE);
  assert_ok(tb_clock_set_source(stage->none, NULL));
  assert_int_equal(state_of(stage->none), TB_CLOCK_INACTIVE);
}

static void test_X7_system_clocks_have_no_default(void **state)
{
  stage_t *stage = *state;
  tb_clock_t *clock;
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  options.kind = TB_TIME_SYSTEM;
  assert_ok(tb_source_set_default(stage->a));
  assert_ok(tb_clock_create(&options, &clock));
  assert_false(tb_clock_is_active(clock));
  assert_status(tb_clock_set_source(clock, TB_SOURCE_DEFAULT), TB_ERR_INVALID);
  assert_ok(tb_clock_destroy(clock));
  assert_status(tb_source_set_default(TB_SOURCE_DEFAULT), TB_ERR_INVALID);
  assert_status(tb_source_destroy(TB_SOURCE_DEFAULT), TB_ERR_INVALID);
  assert_null(tb_source_timeline(TB_SOURCE_DEFAULT));
  assert_ptr_equal(tb_source_get_default(), stage->a);
}

static void test_L1_destroying_the_default_clears_it(void **state)
{
  stage_t *stage = *state;
  tb_source_t *source;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_set(source, 5 * S));
  assert_ok(tb_source_set_default(source));
  assert_followers_at(stage, 5 * S);
  assert_ok(tb_source_destroy(source));
  assert_null(tb_source_get_default());
  for (int i = 0; i < FOLLOWERS; i++)
    assert_int_equal(state_of(stage->followers[i]), TB_CLOCK_NO_SOURCE);
  assert_ok(tb_source_set_default(stage->a)); /* they still follow */
  assert_followers_at(stage, 10 * S);
}

typedef struct probe {
  tb_source_t *source;
  tb_clock_t *clock;
  int starts, stops, clocks_left_at_stop;
  tb_status_t start_status;
  bool detached_before, stopped_before;
} probe_t;

static tb_status_t probe_start(void *self, tb_timeline_t *timeline)
{
  probe_t *probe = self;
  (void)timeline;
  probe->starts++;
  return probe->start_status;
}

/* Called with no lock held: it may change the default. */
static void probe_stop(void *self)
{
  probe_t *probe = self;
  probe->stops++;
  probe->clocks_left_at_stop = tb_clock_is_active(probe->clock);
  tb_source_t *current = tb_source_get_default();
  assert_ok(tb_source_set_default(current));
}

static const tb_source_ops_t probe_ops = {"probe", probe_start, probe_stop, NULL};

static void check_probe(const tb_jump_t *jump, void *user)
{
  (void)jump;
  probe_t *probe = user;
  tb__mutex_lock(&probe->source->timeline->mutex);
  probe->detached_before = probe->source->timeline->detached;
  tb__mutex_unlock(&probe->source->timeline->mutex);
  probe->stopped_before = probe->stops > 0;
}

static void test_X1_the_default_runs_with_and_without_clocks_and_stops_last(void **state)
{
  (void)state;
  probe_t probe = {0};
  tb_clock_t *clock;
  assert_ok(tb_source_create(&probe_ops, &probe, &probe.source));
  assert_ok(tb_source_set_default(probe.source));
  assert_int_equal(probe.starts, 1);
  assert_ok(tb_clock_create(NULL, &clock));
  assert_ok(tb_clock_destroy(clock));
  assert_int_equal(probe.stops, 0);
  assert_ok(tb_clock_create(NULL, &clock));
  probe.clock = clock;
  assert_int_equal(probe.starts, 1);
  tb_jump_handler_t *handler = watch(clock, check_probe, NULL, &probe);
  assert_ok(tb_source_set_default(NULL));
  assert_int_equal(probe.stops, 1);
  assert_true(probe.detached_before); /* 1: its ticks are refused, 2: J3, 3: stop */
  assert_false(probe.stopped_before);
  assert_int_equal(probe.clocks_left_at_stop, 0);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(probe.source));
}

static void test_X7_a_default_that_cannot_start_changes_nothing(void **state)
{
  stage_t *stage = *state;
  probe_t probe = {.start_status = TB_ERR_TRANSPORT, .clock = stage->none};
  assert_ok(tb_source_create(&probe_ops, &probe, &probe.source));
  assert_ok(tb_source_set_default(stage->a));
  uint64_t epoch = tb_clock_epoch(stage->followers[0]);
  assert_status(tb_source_set_default(probe.source), TB_ERR_TRANSPORT);
  assert_ptr_equal(tb_source_get_default(), stage->a);
  assert_int_equal(tb_clock_epoch(stage->followers[0]), epoch);
  assert_followers_at(stage, 10 * S);
  assert_ok(tb_manual_source_advance(stage->a, (tb_duration_t){S})); /* not detached */
  assert_followers_at(stage, 11 * S);
  assert_ok(tb_source_destroy(probe.source));
}

/* Each allocation of the change fails in turn, also those for the last of many clocks. */
static void test_X7_without_memory_for_one_clock_none_is_moved(void **state)
{
  stage_t *stage = *state;
  probe_t probe = {.clock = stage->none};
  assert_ok(tb_source_create(&probe_ops, &probe, &probe.source));
  assert_ok(tb_source_set_default(stage->a));
  uint64_t epoch = tb_clock_epoch(stage->followers[FOLLOWERS - 1]);
  int failures = 0;
  for (;; failures++) {
    atomic_store(&allocations_left, failures);
    tb_status_t status = tb_source_set_default(probe.source);
    atomic_store(&allocations_left, -1);
    if (!status) break;
    assert_status(status, TB_ERR_NO_MEMORY);
    assert_ptr_equal(tb_source_get_default(), stage->a);
    assert_followers_at(stage, 10 * S);
    assert_int_equal(tb_clock_epoch(stage->followers[FOLLOWERS - 1]), epoch);
    assert_int_equal(probe.stops, probe.starts); /* and what was started is stopped */
  }
  assert_int_equal(failures, FOLLOWERS); /* one for each */
  assert_followers_at(stage, 0);
  atomic_store(&allocations_left, 0); /* to no source it cannot fail */
  tb_status_t status = tb_source_set_default(NULL);
  tb_status_t refused = tb_clock_set_source(stage->none, TB_SOURCE_DEFAULT);
  atomic_store(&allocations_left, -1);
  assert_ok(status);
  assert_status(refused, TB_ERR_NO_MEMORY);
  assert_int_equal(state_of(stage->none), TB_CLOCK_INACTIVE);
  assert_ok(tb_source_destroy(probe.source));
}

typedef struct meddler {
  stage_t *stage;
  tb_source_t *idle; /* not running */
  tb_status_t set_default, destroy, create, create_own, create_idle;
  tb_clock_t *clock, *own;
  int64_t in_before_ns, in_after_ns;
} meddler_t;

static void meddle_before(const tb_jump_t *jump, void *user)
{
  (void)jump;
  meddler_t *meddler = user;
  tb_clock_options_t own = {TB_TIME_ROS, meddler->stage->b};
  tb_clock_options_t idle = {TB_TIME_ROS, meddler->idle};
  meddler->set_default = tb_source_set_default(meddler->stage->a);
  meddler->destroy = tb_source_destroy(meddler->stage->b);
  meddler->create = tb_clock_create(NULL, &meddler->clock);
  meddler->create_own = tb_clock_create(&own, &meddler->own);
  tb_clock_t *out;
  meddler->create_idle = tb_clock_create(&idle, &out);
  meddler->in_before_ns = now_ns(meddler->clock);
}

static void meddle_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  meddler_t *meddler = user;
  meddler->in_after_ns = now_ns(meddler->clock);
}

/* A backward jump of the default itself: the clocks made in its callbacks are on that timeline. */
static void test_J5_callbacks_may_create_followers_but_not_change_the_default(void **state)
{
  stage_t *stage = *state;
  meddler_t meddler = {.stage = stage};
  assert_ok(tb_manual_source_create(&meddler.idle));
  assert_ok(tb_source_set_default(stage->b));
  tb_jump_handler_options_t options = {
      "meddler", {{0}, {-1}, false}, meddle_before, meddle_after, &meddler};
  tb_jump_handler_t *handler;
  assert_ok(tb_jump_handler_create(stage->followers[0], &options, &handler));
  assert_ok(tb_manual_source_set(stage->b, 15 * S));
  assert_status(meddler.set_default, TB_ERR_DEADLOCK);
  assert_status(meddler.destroy, TB_ERR_DEADLOCK);
  assert_status(meddler.create_idle, TB_ERR_DEADLOCK);
  assert_ok(meddler.create);
  assert_ok(meddler.create_own);
  assert_int_equal(meddler.in_before_ns, 20 * S);
  assert_int_equal(meddler.in_after_ns, 15 * S);
  assert_int_equal(now_ns(meddler.own), 15 * S);
  assert_ok(tb_source_set_default(stage->a));
  assert_int_equal(now_ns(meddler.clock), 10 * S); /* it follows */
  assert_int_equal(now_ns(meddler.own), 15 * S);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_destroy(meddler.clock));
  assert_ok(tb_clock_destroy(meddler.own));
  assert_ok(tb_source_destroy(meddler.idle));
}

static void create_in_change(const tb_jump_t *jump, void *user)
{
  (void)jump;
  meddler_t *meddler = user;
  if (!meddler->clock) meddler->create = tb_clock_create(NULL, &meddler->clock);
}

static void test_X7_a_clock_made_while_the_default_changes_gets_the_new_one(void **state)
{
  stage_t *stage = *state;
  meddler_t meddler = {.stage = stage, .create = TB_ERR_INVALID};
  tb_jump_handler_t *handler = watch(stage->followers[2], create_in_change, NULL, &meddler);
  assert_ok(tb_source_set_default(stage->a));
  assert_ok(meddler.create);
  assert_int_equal(now_ns(meddler.clock), 10 * S);
  assert_followers_at(stage, 10 * S);
  assert_ok(tb_source_set_default(stage->b));
  assert_int_equal(now_ns(meddler.clock), 20 * S);
  tb_jump_handler_destroy(handler);
  assert_ok(tb_clock_destroy(meddler.clock));
}

typedef struct sleeping {
  tb_clock_t *clock;
  bool until;
  pthread_t thread;
  tb_status_t status;
} sleeping_t;

static void *sleep_once(void *argument)
{
  sleeping_t *sleeping = argument;
  if (sleeping->until)
    sleeping->status = tb_sleep_until(sleeping->clock, ((tb_time_t){50 * S, TB_TIME_ROS}), NULL);
  else
    sleeping->status = tb_sleep_for(sleeping->clock, (tb_duration_t){5 * S}, NULL);
  return NULL;
}

static void test_S2_a_change_of_the_default_is_a_clock_change_for_sleepers(void **state)
{
  stage_t *stage = *state;
  assert_ok(tb_source_set_default(stage->a));
  sleeping_t sleeping[] = {{.clock = stage->followers[0], .until = true},
                           {.clock = stage->followers[1]}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&sleeping[i].thread, NULL, sleep_once, &sleeping[i]), 0);
    wait_for_waiters(sleeping[i].clock, 1);
  }
  assert_ok(tb_manual_source_advance(stage->a, (tb_duration_t){2 * S}));
  assert_ok(tb_source_set_default(stage->b));
  pthread_join(sleeping[0].thread, NULL);
  assert_status(sleeping[0].status, TB_ERR_CLOCK_CHANGED);
  assert_ok(tb_manual_source_advance(stage->b, (tb_duration_t){3 * S - 1}));
  assert_int_equal(waiters_on(stage->followers[1]), 1); /* 1 ns is left */
  assert_ok(tb_manual_source_advance(stage->b, (tb_duration_t){1}));
  pthread_join(sleeping[1].thread, NULL);
  assert_ok(sleeping[1].status);
}

/* Two threads change the default, two make, move and destroy clocks, one reads. */
typedef struct crowd {
  stage_t *stage;
  _Atomic bool stop, bad;
} crowd_t;

static void *change_default(void *argument)
{
  crowd_t *crowd = argument;
  for (int i = 0; i < 300; i++) {
    tb_source_t *sources[] = {crowd->stage->a, crowd->stage->b, NULL};
    if (tb_source_set_default(sources[i % 3])) atomic_store(&crowd->bad, true);
    tb_source_t *brief;
    if (tb_manual_source_create(&brief) || tb_source_set_default(brief) || tb_source_destroy(brief))
      atomic_store(&crowd->bad, true);
  }
  return NULL;
}

static void *use_clocks(void *argument)
{
  crowd_t *crowd = argument;
  while (!atomic_load(&crowd->stop)) {
    tb_clock_t *clock;
    tb_clock_reading_t reading;
    if (tb_clock_create(NULL, &clock) || tb_clock_set_source(clock, crowd->stage->a) ||
        tb_clock_set_source(clock, TB_SOURCE_DEFAULT) || tb_clock_read(clock, &reading) ||
        tb_clock_destroy(clock))
      atomic_store(&crowd->bad, true);
  }
  return NULL;
}

static void test_X7_many_threads_change_the_default_and_its_clocks(void **state)
{
  stage_t *stage = *state;
  crowd_t crowd = {.stage = stage};
  pthread_t changers[2], users[2];
  for (int i = 0; i < 2; i++) {
    pthread_create(&users[i], NULL, use_clocks, &crowd);
    pthread_create(&changers[i], NULL, change_default, &crowd);
  }
  for (int i = 0; i < 2; i++)
    pthread_join(changers[i], NULL);
  atomic_store(&crowd.stop, true);
  for (int i = 0; i < 2; i++)
    pthread_join(users[i], NULL);
  assert_false(crowd.bad);
  assert_ok(tb_source_set_default(stage->b));
  assert_followers_at(stage, 20 * S); /* no clock was lost from the list */
  assert_ok(tb_source_set_default(NULL));
  assert_int_equal(stage->a->users, 1); /* `own`: no clock is counted twice */
  assert_int_equal(stage->b->users, 0);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_setup, stage_teardown)

/* ---- changes that are blocked ---- */

#define INSTANT ((tb_duration_t){1}) /* has passed when it is checked */

/* A handler that stays in "before" until it is released, and the thread that it runs on. */
typedef struct stuck {
  _Atomic bool inside, release;
  tb_source_t *source; /* the new default, or the source that jumps */
  pthread_t thread;
  tb_jump_handler_t *handler;
} stuck_t;

static void stay(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stuck_t *stuck = user;
  atomic_store(&stuck->inside, true);
  while (!atomic_load(&stuck->release))
    sched_yield();
}

static void *change_the_default(void *argument)
{
  assert_ok(tb_source_set_default(((stuck_t *)argument)->source));
  return NULL;
}

static void *jump_back(void *argument)
{
  assert_ok(tb_manual_source_set(((stuck_t *)argument)->source, 5 * S));
  return NULL;
}

static void get_stuck(stuck_t *stuck, tb_clock_t *clock, void *(*act)(void *), tb_source_t *source)
{
  tb_jump_handler_options_t options = {
      .name = "stuck", .threshold = {{0}, {-1}, true}, .before = stay, .user = stuck};
  *stuck = (stuck_t){.source = source};
  assert_ok(tb_jump_handler_create(clock, &options, &stuck->handler));
  pthread_create(&stuck->thread, NULL, act, stuck);
  while (!atomic_load(&stuck->inside))
    sched_yield();
}

static void release(stuck_t *stuck)
{
  atomic_store(&stuck->release, true);
  pthread_join(stuck->thread, NULL);
  tb_jump_handler_destroy(stuck->handler);
}

/* The first change moves the followers from the last one made to the first, the next one back. */
static void test_X7_a_clock_that_gives_up_joining_is_moved_with_the_others(void **state)
{
  stage_t *stage = *state;
  tb_clock_t *first = stage->followers[0], *last = stage->followers[FOLLOWERS - 1];
  stuck_t stuck;
  assert_ok(tb_source_set_default(stage->a));
  get_stuck(&stuck, first, change_the_default, stage->b);
  assert_status(tb_clock_set_source_within(last, TB_SOURCE_DEFAULT, INSTANT), TB_ERR_TIMEOUT);
  assert_int_equal(now_ns(last), 10 * S);
  release(&stuck);
  assert_followers_at(stage, 20 * S);
  assert_ok(tb_source_set_default(stage->a)); /* and later too */
  assert_followers_at(stage, 10 * S);
}

static void test_J6_X7_the_default_is_destroyed_in_time_or_still_there(void **state)
{
  stage_t *stage = *state;
  tb_source_t *source;
  stuck_t stuck;
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_manual_source_set(source, 30 * S));
  assert_ok(tb_source_set_default(source));
  get_stuck(&stuck, stage->followers[2], jump_back, source);
  assert_status(tb_source_destroy_within(source, INSTANT), TB_ERR_TIMEOUT);
  assert_null(tb_source_get_default());
  release(&stuck);
  int on_it = 0;
  for (int i = 0; i < FOLLOWERS; i++)
    if (tb_clock_is_active(stage->followers[i]) && now_ns(stage->followers[i]) == 5 * S) on_it++;
  assert_true(on_it > 0);
  assert_ok(tb_source_set_default(stage->b)); /* clocks left on it follow as before */
  assert_followers_at(stage, 20 * S);
  assert_ok(tb_source_destroy_within(source, TB_NO_LIMIT));
}

static void test_J6_X7_destroying_waits_for_a_change_of_the_default_in_time(void **state)
{
  stage_t *stage = *state;
  tb_source_t *other;
  stuck_t stuck;
  assert_ok(tb_manual_source_create(&other));
  get_stuck(&stuck, stage->followers[0], change_the_default, stage->b);
  assert_status(tb_source_destroy_within(other, INSTANT), TB_ERR_TIMEOUT);
  release(&stuck);
  assert_ok(tb_source_destroy_within(other, TB_NO_LIMIT));
}

static _Atomic int slow_reports;

static void count_slow(tb_log_level_t level, const char *message, void *user)
{
  (void)level, (void)user;
  if (strstr(message, "\"stuck\" has been running for")) atomic_fetch_add(&slow_reports, 1);
}

static void *set_default_again(void *source)
{
  assert_ok(tb_source_set_default(source));
  return NULL;
}

static void set_slow_limit(tb_source_t *source, tb_duration_t limit)
{
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.slow_handler_limit = limit;
  assert_ok(tb_timeline_set_options(tb_source_timeline(source), &options));
}

static void test_J7_X7_a_waiting_change_of_the_default_reports(void **state)
{
  stage_t *stage = *state;
  pthread_t thread;
  stuck_t stuck;
  set_slow_limit(stage->a, (tb_duration_t){0});
  set_slow_limit(stage->b, INSTANT);
  atomic_store(&slow_reports, 0);
  tb_log_set_hook(count_slow, NULL);
  get_stuck(&stuck, stage->followers[0], change_the_default, stage->b);
  pthread_create(&thread, NULL, set_default_again, stage->a);
  while (atomic_load(&slow_reports) == 0)
    sched_yield();
  set_slow_limit(stage->b, (tb_duration_t){0}); /* the change to come reports nothing */
  release(&stuck);
  pthread_join(thread, NULL);
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(atomic_load(&slow_reports), 1);
  assert_followers_at(stage, 10 * S);
}

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X7_no_default_is_the_state_no_source_logged_once),
      ON_STAGE(test_X7_setting_the_default_moves_every_follower_and_no_other_clock),
      ON_STAGE(test_J3_each_follower_has_its_clock_change),
      ON_STAGE(test_X7_a_clock_joins_and_leaves_by_its_source),
      ON_STAGE(test_X7_system_clocks_have_no_default),
      ON_STAGE(test_L1_destroying_the_default_clears_it),
      cmocka_unit_test(test_X1_the_default_runs_with_and_without_clocks_and_stops_last),
      ON_STAGE(test_X7_a_default_that_cannot_start_changes_nothing),
      ON_STAGE(test_X7_without_memory_for_one_clock_none_is_moved),
      ON_STAGE(test_J5_callbacks_may_create_followers_but_not_change_the_default),
      ON_STAGE(test_X7_a_clock_made_while_the_default_changes_gets_the_new_one),
      ON_STAGE(test_S2_a_change_of_the_default_is_a_clock_change_for_sleepers),
      ON_STAGE(test_X7_many_threads_change_the_default_and_its_clocks),
      ON_STAGE(test_X7_a_clock_that_gives_up_joining_is_moved_with_the_others),
      ON_STAGE(test_J6_X7_the_default_is_destroyed_in_time_or_still_there),
      ON_STAGE(test_J6_X7_destroying_waits_for_a_change_of_the_default_in_time),
      ON_STAGE(test_J7_X7_a_waiting_change_of_the_default_reports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

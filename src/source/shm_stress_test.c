/* Many threads at once on clocks that change between pages, a manual and an extrapolating source
 * and none, while publishers come and go, sources are destroyed, and the process and its threads
 * are stopped. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/extrapolating_source.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>
#include <unistd.h>

#include "clock/clock.h"
#include "clock/timeline_check.h"
#include "never_falls.h"
#include "platform/time.h"
#include "seed.h"
#include "stopping.h"
#include "test.h"

#define CLOCKS 32
#define PAGES  2
#define PLACES 5 /* of sources: two on the first page, one on the second, extrapolating, manual */
#define TIMERS 8
#define MS     INT64_C(1000000)

static const char *const page_names[PAGES] = {"one", "two"};

/* A thread that uses a source that may be destroyed holds the mutex; callbacks do not. */
typedef struct place {
  pthread_mutex_t mutex;
  tb_source_t *source, *inner; /* the inner one takes ticks, if any */
} place_t;

typedef struct world {
  char directory[64];
  tb_shm_options_t options;
  place_t places[PLACES];
  tb_source_t *lasting[PAGES];
  tb_clock_t *clocks[CLOCKS]; /* the last ones stay on the lasting sources */
  never_falls_t seen[CLOCKS];
  never_falls_reader_t readers[PAGES]; /* of those */
  tb_timer_queue_t *queue;
  _Atomic bool stop;         /* actors end */
  _Atomic uint32_t sleeping; /* threads that may be in a sleep without a limit */
  _Atomic(const char *) failure;
} world_t;

typedef struct actor {
  uint32_t index;
  uint64_t random;
  pthread_t thread;
} actor_t;

static world_t world;

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      atomic_store(&world.failure, __FILE__ ":" TEXT_OF(__LINE__) ": " #condition);                \
  } while (0)

static uint32_t draw(actor_t *actor, uint32_t below)
{
  return (uint32_t)((test_random(&actor->random) >> 20) % below);
}

static bool running(void)
{
  return !atomic_load(&world.stop);
}

static tb_clock_t *any_clock(actor_t *actor)
{
  return world.clocks[draw(actor, CLOCKS)];
}

/* ---- sources ---- */

static void place_fill(uint32_t i)
{
  place_t *place = &world.places[i];
  place->source = place->inner = NULL;
  if (i < 3) {
    CHECK(!tb_shm_source_create(page_names[i / 2], &world.options, &place->source, NULL));
    return;
  }
  CHECK(!tb_manual_source_create(&place->inner));
  place->source = place->inner;
  if (i == 3) CHECK(!tb_extrapolating_source_create(place->inner, NULL, &place->source));
}

static void place_clear(uint32_t i)
{
  CHECK(!tb_source_destroy(world.places[i].source));
}

static void *destroy_sources(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    uint32_t i = draw(actor, PLACES);
    pthread_mutex_lock(&world.places[i].mutex);
    place_clear(i);
    place_fill(i);
    pthread_mutex_unlock(&world.places[i].mutex);
    poll(NULL, 0, (int)draw(actor, 3));
  }
  return NULL;
}

static void *change_sources(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    uint32_t i = draw(actor, PLACES + 1) % PLACES; /* pages more often */
    tb_clock_t *own;
    pthread_mutex_lock(&world.places[i].mutex);
    tb_source_t *source = draw(actor, 8) ? world.places[i].source : NULL;
    CHECK(!tb_clock_set_source(world.clocks[draw(actor, CLOCKS - PAGES)], source));
    tb_clock_options_t options = {TB_TIME_ROS, world.places[i].source};
    bool brief = draw(actor, 4) == 0;
    if (brief) CHECK(!tb_clock_create(&options, &own));
    pthread_mutex_unlock(&world.places[i].mutex);
    if (brief) CHECK(!tb_clock_destroy(own));
  }
  return NULL;
}

static void *tick_locally(void *argument)
{
  actor_t *actor = argument;
  while (running()) {
    place_t *place = &world.places[3 + draw(actor, 2)];
    pthread_mutex_lock(&place->mutex);
    tb_timeline_t *timeline = tb_source_timeline(place->inner);
    int64_t time_ns = draw(actor, 32) ? tb__steady_now_ns() : (int64_t)draw(actor, 1000) * MS;
    tb_status_t status = draw(actor, 4) ? tb_timeline_tick(timeline, time_ns, TB_JUMP_REASON_NONE)
                                        : tb_timeline_try_tick(timeline, time_ns);
    CHECK(!status || status == TB_ERR_DETACHED || status == TB_ERR_BUSY);
    pthread_mutex_unlock(&place->mutex);
    sched_yield();
  }
  return NULL;
}

/* ---- publishers ---- */

static void publish_once(actor_t *actor, tb_shm_publisher_t *publisher, int64_t *time_ns)
{
  tb_anchor_t anchor = TB_ANCHOR_INIT;
  uint32_t dice = draw(actor, 64), back = draw(actor, 8);
  if (dice == 0)
    *time_ns = back ? *time_ns / 2 + 1 : 0;
  else if (back == 0) /* soon it is past where it was */
    *time_ns -= *time_ns > 5 * MS ? (int64_t)draw(actor, 5) * MS : 0;
  else
    *time_ns += (int64_t)draw(actor, dice == 1 ? 1000 : 3) * MS;
  anchor.time_ns = *time_ns;
  if (dice % 8 == 2) {
    anchor.rate = (double)(draw(actor, 40) + 1) / 4;
    anchor.steady.ns = tb__steady_now_ns() - draw(actor, 2) * MS;
    anchor.bound.ns = draw(actor, 20) * MS;
    *time_ns += anchor.bound.ns;
  }
  CHECK(!tb_shm_publisher_anchor(publisher, &anchor, TB_JUMP_REASON_NONE));
  if (dice % 4 == 3) poll(NULL, 0, 1);
}

/* Two of them conflict on the first page. */
static void *publish(void *argument)
{
  actor_t *actor = argument;
  const char *name = page_names[actor->index % PAGES];
  int64_t time_ns = 1;
  while (running()) {
    tb_shm_publisher_t *publisher;
    tb_status_t status = tb_shm_publisher_open(name, &world.options, &publisher, NULL);
    CHECK(!status || status == TB_ERR_BUSY);
    for (uint32_t i = status ? 0 : draw(actor, 200); i > 0 && running(); i--)
      publish_once(actor, publisher, &time_ns);
    if (!status) tb_shm_publisher_close(publisher);
    sched_yield();
  }
  return NULL;
}

/* ---- readers ---- */

/* A timeline lives as long as any clock that has pointed at it. */
static void check_timeline_of(const tb_clock_t *clock)
{
  const char *wrong = tb__timeline_check(tb__clock_timeline(clock));
  if (wrong) atomic_store(&world.failure, wrong);
}

static void *read_clocks(void *argument)
{
  actor_t *actor = argument;
  for (uint32_t step = 0; running(); step++) {
    uint32_t i = draw(actor, CLOCKS);
    CHECK(never_falls_check(&world.seen[i], world.clocks[i]));
    if (step % 16 == 0) check_timeline_of(world.clocks[i]);
  }
  return NULL;
}

/* ---- sleepers ---- */

static void check_slept(const tb_clock_reading_t *before, const tb_clock_t *clock,
                        int64_t target_ns)
{
  tb_clock_reading_t after;
  CHECK(!tb_clock_read(clock, &after));
  CHECK(after.epoch >= before->epoch);
  CHECK(after.epoch > before->epoch || is_wall_time(&after) || after.time.ns >= target_ns);
}

static void sleep_once(actor_t *actor)
{
  tb_clock_t *clock = any_clock(actor);
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.flags = draw(actor, 16);
  options.forward_min.ns = (draw(actor, 20) + 1) * MS;
  options.limit.ns = draw(actor, 8) ? draw(actor, 4 * MS) + 1 : 0;
  tb_clock_reading_t before;
  CHECK(!tb_clock_read(clock, &before));
  int64_t length_ns = draw(actor, 20 * MS);
  tb_time_t target = {before.time.ns + length_ns + 1, TB_TIME_ROS};
  tb_status_t status;
  if (draw(actor, 8) == 0)
    status = tb_clock_wait_until_started(clock, &options);
  else if (draw(actor, 2)) {
    status = tb_clock_sleep_until(clock, target, &options);
    if (!status) check_slept(&before, clock, target.ns);
  } else {
    status = tb_clock_sleep_for(clock, (tb_duration_t){length_ns}, &options);
    if (!status) check_slept(&before, clock, before.time.ns + length_ns);
  }
  CHECK(!status || (status == TB_ERR_TIMEOUT && options.limit.ns) ||
        status == TB_ERR_CLOCK_CHANGED ||
        (status == TB_ERR_JUMP_FORWARD && (options.flags & TB_WAIT_FAIL_ON_FORWARD)) ||
        (status == TB_ERR_JUMP_BACKWARD && (options.flags & TB_WAIT_FAIL_ON_BACKWARD)));
}

static void *sleep_often(void *argument)
{
  atomic_fetch_add(&world.sleeping, 1);
  while (running())
    sleep_once(argument);
  atomic_fetch_sub(&world.sleeping, 1);
  return NULL;
}

/* ---- handlers ---- */

typedef struct pair {
  tb_clock_t *clock;
  bool open; /* "before" without its "after"; jumps of one clock are one after the other */
} pair_t;

static void before_jump(const tb_jump_t *jump, void *user)
{
  pair_t *pair = user;
  tb_time_t now;
  CHECK(!pair->open);
  pair->open = true;
  CHECK(!tb_clock_now(pair->clock, &now));
  CHECK(jump->kind == TB_JUMP_CLOCK_CHANGE || now.ns == jump->before.ns);
  CHECK(tb_clock_set_source(pair->clock, NULL) == TB_ERR_DEADLOCK);
  CHECK(tb_clock_sleep_for(pair->clock, (tb_duration_t){1}, NULL) == TB_ERR_DEADLOCK);
  tb_status_t status = tb_clock_now(world.clocks[0], &now);
  CHECK(!status || status == TB_ERR_BUSY);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  pair_t *pair = user;
  tb_time_t now;
  CHECK(pair->open);
  pair->open = false;
  CHECK(!tb_clock_now(pair->clock, &now));
  CHECK(jump->kind == TB_JUMP_CLOCK_CHANGE || now.ns == jump->after.ns);
}

static void *handle_jumps(void *argument)
{
  actor_t *actor = argument;
  atomic_fetch_add(&world.sleeping, 1);
  while (running()) {
    pair_t pair = {.clock = any_clock(actor)};
    tb_jump_threshold_t threshold = {{draw(actor, 4) * MS}, {-1}, true};
    tb_jump_handler_options_t options = {"pair", threshold, before_jump, after_jump, &pair};
    tb_jump_handler_t *handler;
    CHECK(!tb_jump_handler_create(pair.clock, &options, &handler));
    for (uint32_t i = draw(actor, 4); i > 0; i--)
      sleep_once(actor);
    tb_jump_handler_destroy(handler);
    CHECK(!pair.open);
  }
  atomic_fetch_sub(&world.sleeping, 1);
  return NULL;
}

/* ---- timers ---- */

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)user;
  (void)timer;
  CHECK(info->actual.ns >= info->scheduled.ns);
}

static void *set_timers(void *argument)
{
  actor_t *actor = argument;
  tb_timer_t *timers[TIMERS] = {0};
  while (running()) {
    tb_timer_t **timer = &timers[draw(actor, TIMERS)];
    if (!*timer) {
      tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
      options.period.ns = (int64_t)(draw(actor, 10) + 1) * MS / 2;
      options.callback = on_timer;
      CHECK(!tb_timer_create(world.queue, any_clock(actor), &options, timer));
    }
    uint32_t what = draw(actor, 4);
    if (what == 0) {
      tb_timer_destroy(*timer);
      *timer = NULL;
    } else {
      CHECK(!(what == 1 ? tb_timer_stop(*timer) : tb_timer_start(*timer)));
    }
    sched_yield();
  }
  for (int i = 0; i < TIMERS; i++)
    tb_timer_destroy(timers[i]);
  return NULL;
}

/* ---- all together ---- */

static void world_open(void)
{
  world = (world_t){.directory = "/tmp/timebase-shm-stress-XXXXXX", .options = TB_SHM_OPTIONS_INIT};
  assert_non_null(mkdtemp(world.directory));
  world.options.directory = world.directory;
  for (uint32_t i = 0; i < PLACES; i++) {
    pthread_mutex_init(&world.places[i].mutex, NULL);
    place_fill(i);
  }
  for (int i = 0; i < PAGES; i++)
    assert_ok(tb_shm_source_create(page_names[i], &world.options, &world.lasting[i], NULL));
  for (int i = 0; i < CLOCKS; i++) {
    world.seen[i] = (never_falls_t)NEVER_FALLS_INIT;
    tb_source_t *lasting = i < CLOCKS - PAGES ? NULL : world.lasting[i - CLOCKS + PAGES];
    tb_clock_options_t options = {TB_TIME_ROS, lasting ? lasting : world.places[i % PLACES].source};
    assert_ok(tb_clock_create(&options, &world.clocks[i]));
  }
  assert_ok(tb_timer_queue_create(&world.queue));
  assert_ok(tb_timer_queue_start_thread(world.queue));
  for (int i = 0; i < PAGES; i++)
    never_falls_start(&world.readers[i], world.clocks[CLOCKS - PAGES + i]);
}

/* Sleepers without a limit end by themselves once time runs: none may be lost. Some keep a target
 * in wall time. */
static void sleepers_end(void)
{
  tb_shm_publisher_t *publishers[PAGES];
  for (int i = 0; i < CLOCKS; i++)
    assert_ok(tb_clock_set_source(world.clocks[i], world.places[i % 3].source));
  for (int i = 0; i < PAGES; i++)
    assert_ok(tb_shm_publisher_open(page_names[i], &world.options, &publishers[i], NULL));
  for (int64_t time_ns = INT64_MAX / 2; atomic_load(&world.sleeping); time_ns += TB_NS_PER_S) {
    for (int i = 0; i < PAGES; i++)
      assert_ok(tb_shm_publisher_tick(publishers[i], time_ns, TB_JUMP_REASON_NONE));
    poll(NULL, 0, 1);
  }
  for (int i = 0; i < PAGES; i++)
    tb_shm_publisher_close(publishers[i]);
}

static void world_close(void)
{
  char path[128];
  assert_ok(tb_timer_queue_destroy(world.queue));
  for (int i = 0; i < PAGES; i++)
    never_falls_stop(&world.readers[i]);
  for (int i = 0; i < CLOCKS; i++)
    assert_ok(tb_clock_destroy(world.clocks[i]));
  for (int i = 0; i < PAGES; i++)
    assert_ok(tb_source_destroy(world.lasting[i]));
  for (uint32_t i = 0; i < PLACES; i++)
    place_clear(i);
  for (int i = 0; i < PAGES; i++) {
    snprintf(path, sizeof path, "%s/timebase.%s", world.directory, page_names[i]);
    unlink(path);
  }
  rmdir(world.directory);
  if (atomic_load(&world.failure)) fail_msg("%s", atomic_load(&world.failure));
}

static void run_all(void)
{
  static void *(*const roles[])(void *) = {
      publish,         publish,      publish,      change_sources, change_sources,
      destroy_sources, tick_locally, read_clocks,  read_clocks,    sleep_often,
      sleep_often,     sleep_often,  handle_jumps, handle_jumps,   set_timers,
  };
  enum { ACTORS = sizeof roles / sizeof *roles, MOVERS = 7 };
  actor_t actors[ACTORS];
  int64_t until_ns = tb__steady_now_ns() + test_duration_ms(1000) * MS;
  uint64_t seed = test_seed();
  world_open();
  for (uint32_t i = 0; i < ACTORS; i++) {
    actors[i] = (actor_t){.index = i, .random = (seed + i + 1) * UINT64_C(0x9E3779B97F4A7C15)};
    assert_int_equal(pthread_create(&actors[i].thread, NULL, roles[i], &actors[i]), 0);
  }
  while (tb__steady_now_ns() < until_ns && !atomic_load(&world.failure))
    poll(NULL, 0, 1);
  atomic_store(&world.stop, true);
  for (uint32_t i = 0; i < MOVERS; i++)
    pthread_join(actors[i].thread, NULL);
  sleepers_end();
  for (uint32_t i = MOVERS; i < ACTORS; i++)
    pthread_join(actors[i].thread, NULL);
  world_close();
}

static void test_everything_at_once_on_pages(void **state)
{
  (void)state;
  stopping_run(run_all, test_seed());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_at_once_on_pages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

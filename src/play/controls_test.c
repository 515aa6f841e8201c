/* Everything at once that others may do to a player and to the limit of its transport, in any order
 * and on any pacer. TB_TEST_SEED=n repeats a run, except for the order of threads. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <timebase/clock.h>
#include <timebase/manual_source.h>

#include "play/play_fixture.h"
#include "within.h"

#define MESSAGES 60
#define ACTS     300
#define ROUNDS   300 /* on the manual pacer */
#define TURNS    40  /* of each thread, each time */
#define THREADS  3
#define CLOCK_NS (100 * TB_NS_PER_S)
#define LATCHED  "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

static const tb__fake_topic_t topics[] = {{"/a", "std_msgs/msg/String", NULL, NULL},
                                          {"/b", "std_msgs/msg/String", NULL, NULL},
                                          {"/map", "std_msgs/msg/String", LATCHED, NULL}};

typedef struct stage {
  fixture_t f;
  tb__fake_message_t messages[MESSAGES];
  int64_t first_ns, last_ns;
  bool is_manual; /* time advances only in waits */
  tb__manual_act_t acts[ACTS + 2];
  uint64_t quiet_messages;

  /* Of the thread that plays. */
  int64_t asked_ns;            /* the limit it got last */
  int64_t allowed_ns;          /* what its time may be */
  int64_t jump_ns;             /* which is about to come, or 0 */
  int64_t tick_ns, message_ns; /* since the last jump */

  _Atomic int64_t limit_ns;
  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t moved;
  uint64_t sent;
  bool limits_messages;
  unsigned short dice[3];
  void (*wake)(void *user);
  void *wake_user;
} stage_t;

/* Threads cannot fail a test. */
static void check(bool holds, const char *what, int64_t a, int64_t b)
{
  if (holds) return;
  fprintf(stderr, "%s: %lld, %lld\n", what, (long long)a, (long long)b);
  abort();
}

static int64_t below(stage_t *stage, int64_t limit)
{
  pthread_mutex_lock(&stage->mutex);
  long value = nrand48(stage->dice);
  pthread_mutex_unlock(&stage->mutex);
  return value % limit;
}

static int64_t time_of(tb_player_t *player)
{
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  tb__mutex_lock(&player->mutex);
  int64_t time_ns = tb__flow_time(&player->flow, now_ns);
  tb__mutex_unlock(&player->mutex);
  return time_ns;
}

/* --- a transport with a limit --- */

static tb_status_t add_topic(void *self, const tb_bag_topic_t *topic, void **out_handle,
                             tb_error_t *error)
{
  (void)error;
  *out_handle = self;
  return topic ? TB_OK : TB_ERR_INVALID;
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  stage_t *stage = self;
  (void)handle, (void)error;
  tb_player_t *player = stage->f.player;
  int64_t time_ns = player->message.time_ns;
  check(size == 0 || data, "data", (int64_t)size, 0);
  check(time_ns <= stage->asked_ns, "a message beyond the limit", time_ns, stage->asked_ns);
  check(time_ns >= stage->message_ns, "messages out of order", time_ns, stage->message_ns);
  check(time_of(player) >= time_ns, "before its time", time_of(player), time_ns);
  stage->message_ns = time_ns;
  bool limits = below(stage, 2);
  pthread_mutex_lock(&stage->mutex);
  if (stage->limits_messages && limits) atomic_store(&stage->limit_ns, 0);
  stage->sent++;
  pthread_cond_broadcast(&stage->moved);
  pthread_mutex_unlock(&stage->mutex);
  return TB_OK;
}

static tb_status_t tick(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  stage_t *stage = self;
  (void)error;
  if (reason == TB_JUMP_REASON_TICK)
    check(time_ns >= stage->tick_ns, "time runs back", time_ns, stage->tick_ns);
  check(time_ns <= stage->allowed_ns, "time beyond the limit", time_ns, stage->allowed_ns);
  stage->tick_ns = time_ns;
  return TB_OK;
}

/* What has been reached stays. Only where time is stopped it is known what that is. */
static tb_status_t limit(void *self, int64_t *out_ns, tb_error_t *error)
{
  stage_t *stage = self;
  (void)error;
  int64_t limit_ns = atomic_load(&stage->limit_ns);
  int64_t reached_ns = stage->is_manual ? time_of(stage->f.player) : stage->allowed_ns;
  if (stage->jump_ns > 0) reached_ns = stage->jump_ns;
  stage->jump_ns = 0;
  stage->asked_ns = limit_ns;
  stage->allowed_ns = limit_ns > reached_ns ? limit_ns : reached_ns;
  *out_ns = limit_ns;
  return TB_OK;
}

static void set_time(void *self, int64_t time_ns, bool jumps)
{
  stage_t *stage = self;
  if (!jumps) return;
  stage->jump_ns = time_ns;
  stage->tick_ns = stage->message_ns = 0;
}

static void name_holder(void *self, char *out, size_t size)
{
  (void)self;
  snprintf(out, size, "a subscription");
}

static void watch_limit(void *self, void (*wake)(void *user), void *user)
{
  stage_t *stage = self;
  pthread_mutex_lock(&stage->mutex);
  stage->wake = wake;
  stage->wake_user = user;
  pthread_mutex_unlock(&stage->mutex);
}

static void limit_messages(stage_t *stage, bool limits)
{
  pthread_mutex_lock(&stage->mutex);
  stage->limits_messages = limits;
  pthread_mutex_unlock(&stage->mutex);
}

static void set_limit(stage_t *stage, int64_t limit_ns)
{
  atomic_store(&stage->limit_ns, limit_ns);
  pthread_mutex_lock(&stage->mutex);
  if (stage->wake) stage->wake(stage->wake_user);
  pthread_mutex_unlock(&stage->mutex);
}

static const tb_play_transport_ops_t ops = {.add_topic = add_topic,
                                            .publish = publish,
                                            .limit = limit,
                                            .set_time = set_time,
                                            .name_holder = name_holder,
                                            .watch_limit = watch_limit};

/* --- what may happen --- */

static int64_t any_time(stage_t *stage)
{
  return stage->first_ns + below(stage, stage->last_ns - stage->first_ns + 1);
}

static void check_status(stage_t *stage)
{
  tb_player_status_t status;
  tb_player_status(stage->f.player, &status);
  check(status.position_ns >= stage->first_ns, "position", status.position_ns, stage->first_ns);
  check(status.position_ns <= stage->last_ns, "position", status.position_ns, stage->last_ns);
  check(status.played_ns >= 0, "played", status.played_ns, 0);
}

static void any_rate(stage_t *stage)
{
  static const double rates[] = {0.5, 1, 3, TB_PLAYER_FASTEST};
  assert_ok(tb_player_set_rate(stage->f.player, rates[below(stage, COUNT(rates))], NULL));
}

static void any_repeat(stage_t *stage)
{
  int64_t from_ns = any_time(stage), to_ns = any_time(stage);
  tb_player_repeat(stage->f.player, from_ns, to_ns, NULL); /* or they are not in order */
}

static void any_play(stage_t *stage)
{
  const tb_player_range_t range = {{below(stage, stage->last_ns - stage->first_ns + 1)}, {-1}, -1};
  tb_player_play(stage->f.player, below(stage, 2) ? &range : NULL, NULL);
}

static void any_burst(stage_t *stage)
{
  if (stage->is_manual) return;
  tb_status_t status = tb_player_burst(stage->f.player, (uint64_t)below(stage, 5),
                                       WITHIN((tb_duration_t){MS}), NULL);
  (void)status; /* any */
}

static void act(stage_t *stage)
{
  tb_player_t *player = stage->f.player;
  switch (below(stage, 16)) {
  case 0:
    return tb_player_pause(player);
  case 1:
  case 2:
    return tb_player_resume(player);
  case 3:
    return any_rate(stage);
  case 4:
    tb_player_seek(player, any_time(stage), NULL);
    return;
  case 5:
  case 6:
    tb_player_play_next(player);
    return;
  case 7:
    tb_player_play_previous(player);
    return;
  case 8:
    return any_repeat(stage);
  case 9:
    return tb_player_end_repeat(player);
  case 10:
    if (below(stage, 3) == 0) tb_player_halt(player);
    return any_play(stage);
  case 11:
    return any_burst(stage);
  case 12:
    return set_limit(stage, below(stage, 2) ? 0 : any_time(stage));
  case 13:
  case 14:
    return set_limit(stage, TB_PLAY_NO_LIMIT);
  default:
    return check_status(stage);
  }
}

/* Then it plays, whatever was before. */
static void let_go(stage_t *stage)
{
  tb_player_t *player = stage->f.player;
  bool frees_first = below(stage, 2);
  limit_messages(stage, false);
  if (frees_first) set_limit(stage, TB_PLAY_NO_LIMIT);
  tb_player_end_repeat(player);
  assert_ok(tb_player_set_rate(player, 1, NULL));
  tb_player_resume(player);
  tb_player_play(player, NULL, NULL);
  if (!frees_first) set_limit(stage, TB_PLAY_NO_LIMIT);
}

/* --- the stage --- */

static unsigned seed_of_run(void)
{
  const char *text = getenv("TB_TEST_SEED");
  unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 20261121;
  print_message("TB_TEST_SEED=%u\n", seed);
  return seed;
}

static void stage_init(stage_t *stage, unsigned seed)
{
  *stage = (stage_t){.mutex = PTHREAD_MUTEX_INITIALIZER,
                     .moved = PTHREAD_COND_INITIALIZER,
                     .limit_ns = TB_PLAY_NO_LIMIT,
                     .dice = {(unsigned short)seed, (unsigned short)(seed >> 16), 1}};
  int64_t time_ns = stage->first_ns = 1000 * MS;
  for (size_t i = 0; i < MESSAGES; i++) {
    stage->messages[i] =
        (tb__fake_message_t){.topic = (size_t)below(stage, 3), .log_time_ns = time_ns};
    stage->last_ns = time_ns;
    if (below(stage, 4)) time_ns += below(stage, 5 * MS);
  }
  fixture_t *f = &stage->f;
  fixture_init(f, stage->messages, MESSAGES);
  tb_bag_reader_close(f->reader);
  f->bag.topics = topics;
  assert_ok(tb__fake_bag_open(&f->bag, NULL, &f->reader, NULL));
  f->transport = (tb_play_transport_t){&ops, stage, {tick, stage}};
  f->options.loop = true;
  f->options.clock_hz = below(stage, 2) ? 500 : 0; /* ticks wake it, too */
  f->options.clock_topics_all = below(stage, 2);
  f->options.on_demand = below(stage, 2);
  f->options.delay.ns = below(stage, 2) * 3 * MS;
  f->options.start_offset.ns = below(stage, 2) * (stage->last_ns - stage->first_ns) / 2;
  f->pacer.user = stage;
  stage->limits_messages = below(stage, 2);
}

static void act_any(void *user)
{
  act(user);
}

static void act_let_go(void *user)
{
  stage_t *stage = user;
  let_go(stage);
  stage->quiet_messages = stage->sent;
}

static void play_manual(unsigned seed)
{
  static stage_t stage;
  stage_init(&stage, seed);
  int64_t at_ns = 0;
  for (size_t i = 0; i < ACTS; i++) {
    if (below(&stage, 3) == 0) at_ns += below(&stage, 10 * MS);
    stage.acts[i] = (tb__manual_act_t){at_ns, act_any};
  }
  stage.acts[ACTS] = (tb__manual_act_t){at_ns, act_let_go};
  stage.acts[ACTS + 1] = (tb__manual_act_t){at_ns + TB_NS_PER_S, act_stop};
  fixture_act(&stage.f, stage.acts, ACTS + 2);
  stage.is_manual = true;
  fixture_create(&stage.f);
  assert_ok(tb_player_run(stage.f.player, NULL, NULL));
  if (stage.sent < stage.quiet_messages + MESSAGES) fail_msg("seed %u: it does not continue", seed);
  fixture_fini(&stage.f);
}

static void test_any_order(void **state)
{
  (void)state;
  unsigned seed = seed_of_run();
  for (unsigned i = 0; i < ROUNDS; i++)
    play_manual(seed + i);
}

/* --- threads --- */

static void *run(void *user)
{
  check(tb_player_run(((stage_t *)user)->f.player, NULL, NULL) == TB_OK, "run", 0, 0);
  return NULL;
}

static void *disturb(void *user)
{
  for (int i = 0; i < TURNS; i++)
    act(user);
  return NULL;
}

static void await_messages(stage_t *stage, uint64_t count)
{
  pthread_mutex_lock(&stage->mutex);
  uint64_t goal = stage->sent + count;
  while (stage->sent < goal)
    pthread_cond_wait(&stage->moved, &stage->mutex);
  pthread_mutex_unlock(&stage->mutex);
}

static void disturb_and_let_go(stage_t *stage)
{
  pthread_t threads[THREADS];
  limit_messages(stage, below(stage, 2));
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, disturb, stage), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  let_go(stage);
  await_messages(stage, MESSAGES / 2);
}

/* `*clock_stops` is set when the clock is to stop; NULL: there is none. */
static void play_threads(stage_t *stage, atomic_bool *clock_stops)
{
  pthread_t player;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_player_create(stage->f.reader, &stage->f.transport, &stage->f.options, &stage->f.player,
                       &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_int_equal(pthread_create(&player, NULL, run, stage), 0);
  for (int i = 0; i < 5; i++)
    disturb_and_let_go(stage);
  if (clock_stops) atomic_store(clock_stops, true);
  disturb(stage); /* held or not, paused or not */
  tb_player_stop(stage->f.player);
  assert_int_equal(pthread_join(player, NULL), 0);
  fixture_fini(&stage->f);
}

static void test_threads_on_steady_time(void **state)
{
  (void)state;
  static const size_t read_ahead[] = {0, 3, 1000};
  static stage_t stage;
  unsigned seed = seed_of_run();
  for (unsigned i = 0; i < COUNT(read_ahead); i++) {
    stage_init(&stage, seed + i);
    stage.f.options.read_ahead_messages = read_ahead[i];
    play_threads(&stage, NULL);
  }
}

typedef struct driver {
  tb_source_t *source;
  atomic_bool stopping, clock_stops;
} driver_t;

/* Steps, jumps, and now and then time runs back. */
static void *drive(void *user)
{
  driver_t *driver = user;
  int64_t time_ns = CLOCK_NS;
  for (int i = 1; !atomic_load(&driver->stopping); i++) {
    time_ns += i % 50 == 0 ? 200 * MS : 2 * MS;
    if (i % 70 == 0) time_ns = CLOCK_NS;
    if (!atomic_load(&driver->clock_stops))
      check(tb_manual_source_set(driver->source, time_ns) == TB_OK, "clock", time_ns, 0);
    sched_yield();
  }
  return NULL;
}

static void test_threads_on_a_clock(void **state)
{
  (void)state;
  static stage_t stage;
  driver_t driver = {.stopping = false};
  pthread_t thread;
  tb_clock_t *clock;
  assert_ok(tb_manual_source_create(&driver.source));
  tb_clock_options_t options = {TB_TIME_ROS, driver.source};
  assert_ok(tb_clock_create(&options, &clock));
  assert_int_equal(pthread_create(&thread, NULL, drive, &driver), 0);
  for (unsigned i = 0; i < 2; i++) {
    stage_init(&stage, seed_of_run() + i);
    stage.f.options.read_ahead_messages = 100 * i;
    stage.f.options.clock = clock;
    atomic_store(&driver.clock_stops, false);
    play_threads(&stage, &driver.clock_stops);
  }
  atomic_store(&driver.stopping, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(driver.source));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_threads_on_steady_time),
      cmocka_unit_test(test_threads_on_a_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

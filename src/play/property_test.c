/* Any recording, rate, clock and pauses: what a receiver may rely on; any requests: the invariants
 * of the player. TB_TEST_SEED=n repeats a run. */
#include <stdlib.h>

#include "play/play_fixture.h"

#define ROUNDS   400
#define MESSAGES 60
#define PAUSES   6
#define REQUESTS 40
#define EVERY    3 /* ticks and messages from check to check */

/* Rates are numerator / denominator, which a double holds exactly. */
typedef struct watch {
  fixture_t *f;
  int64_t numerator, denominator;
  bool paused_at_times;
  const tb__fake_message_t *messages;
  size_t next; /* message expected */
  int64_t last_tick_ns, last_tick_steady_ns;
  int64_t end_ns, start_ns;
  size_t loops;
  unsigned events;
} watch_t;

static int64_t random_below(int64_t limit)
{
  return (int64_t)(((uint64_t)lrand48() << 31 ^ (uint64_t)lrand48()) % (uint64_t)limit);
}

/* The first instant at or after `time_ns`, worked out without the flow. */
static int64_t due_ns(const watch_t *w, int64_t time_ns)
{
  int64_t scaled = (time_ns - w->start_ns) * w->denominator;
  return TB__MANUAL_PACER_START + (scaled + w->numerator - 1) / w->numerator;
}

static void watch_tick(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason)
{
  watch_t *w = user;
  if (++w->events % EVERY == 0) fixture_check(w->f);
  assert_int_equal(reason, TB_JUMP_REASON_TICK);
  assert_true(time_ns >= w->last_tick_ns && time_ns > 0);
  assert_true(time_ns <= w->end_ns);
  assert_true(time_ns <= w->messages[w->next].log_time_ns); /* not ahead of the data */
  if (w->last_tick_ns == 0) assert_int_equal(time_ns, w->start_ns);
  int64_t period_ns = (int64_t)(1e9 / w->f->options.clock_hz + 0.5);
  if (w->last_tick_ns > 0) assert_true(steady_ns - w->last_tick_steady_ns <= period_ns);
  if (!w->paused_at_times) assert_true(steady_ns >= due_ns(w, time_ns));
  w->last_tick_ns = time_ns;
  w->last_tick_steady_ns = steady_ns;
}

static void watch_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                          size_t size)
{
  watch_t *w = user;
  (void)data;
  (void)size;
  if (++w->events % EVERY == 0) fixture_check(w->f);
  const tb__fake_message_t *message = &w->messages[w->next++];
  assert_string_equal(topic, fixture_topics[message->topic].name);
  assert_int_equal(w->last_tick_ns, message->log_time_ns);
  if (w->paused_at_times)
    assert_true(steady_ns >= due_ns(w, message->log_time_ns));
  else
    assert_int_equal(steady_ns, due_ns(w, message->log_time_ns));
}

static void act_toggle(void *user)
{
  tb_player_toggle_paused(((fixture_t *)user)->player);
}

static void make_messages(tb__fake_message_t *messages)
{
  static const int64_t steps_ns[] = {1, 1000, 3 * MS, 200 * MS};
  int64_t time_ns = 1 + random_below(1700000000 * TB_NS_PER_S);
  for (size_t i = 0; i < MESSAGES; i++) {
    messages[i] = (tb__fake_message_t){.topic = (size_t)random_below(2), .log_time_ns = time_ns};
    if (random_below(4)) time_ns += random_below(steps_ns[random_below(4)] + 1);
  }
}

static void play_any(void)
{
  static const int64_t rates[][2] = {{1, 8}, {1, 2}, {1, 1}, {3, 1}, {10, 1}, {25, 2}, {1000, 1}};
  tb__fake_message_t messages[MESSAGES];
  tb__manual_act_t acts[PAUSES];
  make_messages(messages);
  const int64_t *rate = rates[random_below(7)];
  fixture_t f;
  fixture_init(&f, messages, MESSAGES);
  watch_t watch = {.f = &f,
                   .numerator = rate[0],
                   .denominator = rate[1],
                   .paused_at_times = random_below(2),
                   .messages = messages,
                   .start_ns = messages[0].log_time_ns,
                   .end_ns = messages[MESSAGES - 1].log_time_ns};
  for (size_t i = 0; i < PAUSES; i++)
    acts[i] = (tb__manual_act_t){(i ? acts[i - 1].at_ns : 0) + random_below(50 * MS), act_toggle};
  f.options.rate = (double)rate[0] / (double)rate[1];
  f.options.clock_hz = 10 + (double)random_below(200);
  f.fake.user = &watch;
  f.fake.on_tick = watch_tick;
  f.fake.on_message = watch_message;
  if (watch.paused_at_times) {
    f.pacer.acts = acts;
    f.pacer.act_count = PAUSES;
  }
  fixture_create(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(watch.next, MESSAGES);
  assert_int_equal(watch.last_tick_ns, watch.end_ns);
  assert_int_equal(fixture_status(&f).late, 0);
  fixture_fini(&f);
}

static void seed_from_environment(void)
{
  const char *text = getenv("TB_TEST_SEED");
  unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 20240602;
  print_message("TB_TEST_SEED=%u\n", seed);
  srand48(seed);
}

static void test_random_recordings(void **state)
{
  (void)state;
  seed_from_environment();
  for (int i = 0; i < ROUNDS; i++)
    play_any();
}

/* --- any requests --- */

static void check_tick(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason)
{
  (void)steady_ns;
  (void)time_ns;
  (void)reason;
  fixture_check(user);
}

static void check_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                          size_t size)
{
  (void)steady_ns;
  (void)topic;
  (void)data;
  (void)size;
  fixture_check(user);
}

/* Requests may be refused; what they leave must be consistent. */
static void act_any(void *user)
{
  fixture_t *f = user;
  static const double rates[] = {0.5, 1, 20, TB_PLAYER_FASTEST};
  const tb_bag_info_t *info = tb_bag_reader_info(f->reader);
  int64_t length_ns = info->end_ns - info->start_ns + 1;
  int64_t time_ns = info->start_ns + random_below(length_ns);
  tb_player_range_t range = TB_PLAYER_RANGE_INIT;
  switch (random_below(10)) {
  case 0:
  case 1:
    tb_player_toggle_paused(f->player);
    break;
  case 2:
    (void)tb_player_seek(f->player, time_ns, NULL);
    break;
  case 3:
    (void)tb_player_play_next(f->player);
    break;
  case 4:
    (void)tb_player_play_previous(f->player);
    break;
  case 5:
    (void)tb_player_repeat(f->player, time_ns, time_ns + random_below(length_ns), NULL);
    break;
  case 6:
    tb_player_end_repeat(f->player);
    break;
  case 7:
    (void)tb_player_set_rate(f->player, rates[random_below(4)], NULL);
    break;
  case 8:
    tb_player_halt(f->player);
    break;
  default:
    range.start_offset.ns = random_below(length_ns);
    range.playback_duration.ns = random_below(length_ns + 2) - 1;
    (void)tb_player_play(f->player, &range, NULL);
    break;
  }
  fixture_check(f);
}

/* One of the two: the recording may start before its first message. */
static void choose_topic(fixture_t *f)
{
  const char *names[] = {fixture_topics[f->bag.messages[MESSAGES - 1].topic].name};
  const tb_bag_reader_options_t filter = {.topics = names, .topic_count = 1};
  tb_bag_reader_close(f->reader);
  assert_ok(tb__fake_bag_open(&f->bag, &filter, &f->reader, NULL));
}

static void request_any(void)
{
  tb__fake_message_t messages[MESSAGES];
  tb__manual_act_t acts[REQUESTS + 1];
  make_messages(messages);
  fixture_t f;
  fixture_init(&f, messages, MESSAGES);
  if (random_below(2)) choose_topic(&f);
  f.options.playback_duration.ns = random_below(3) ? -1 : random_below(100 * MS) - 10 * MS;
  int64_t at_ns = 0;
  for (size_t i = 0; i < REQUESTS + 1; i++) {
    acts[i] = (tb__manual_act_t){at_ns, act_any};
    if (random_below(3)) at_ns += random_below(50 * MS);
  }
  acts[REQUESTS].act = act_stop;
  f.options.clock_hz = 10 + (double)random_below(200);
  f.options.on_demand = random_below(2);
  f.options.loop = true;
  f.fake.user = &f;
  f.fake.on_tick = check_tick;
  f.fake.on_message = check_message;
  fixture_act(&f, acts, COUNT(acts));
  fixture_create(&f);
  fixture_check(&f);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  fixture_check(&f);
  fixture_fini(&f);
}

static void test_random_requests_keep_the_invariants(void **state)
{
  (void)state;
  seed_from_environment();
  for (int i = 0; i < ROUNDS; i++)
    request_any();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_recordings),
                                     cmocka_unit_test(test_random_requests_keep_the_invariants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

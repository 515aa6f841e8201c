/* The player on a ROS 2 graph, as another process sees it. */
#include <dds/dds.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/player.h>
#include <timebase/ros2_play_transport.h>
#include <timebase/ros2_service.h>
#include <unistd.h>

#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define FIRST_DOMAIN 83
#define TRIES        5 /* where a machine that is busy may lose what is sent with best effort */
#define START_NS     (1700000000 * TB_NS_PER_S)
#define END_NS       (START_NS + 30 * TB_NS_PER_S)

typedef struct stage {
  tb_bag_reader_t *reader;
  tb_ros2_context_t *context;
  tb_ros2_play_transport_t *transport;
  tb_player_t *player;
  peer_t peer;
} stage_t;

static int next_domain = FIRST_DOMAIN + 1;

static void check(tb_status_t status, const tb_error_t *error)
{
  if (status != TB_OK) fail_msg("%s: %s", tb_status_name(status), error->text);
}

static void stage_peer(stage_t *stage, int64_t clock_end_ns, int chatter)
{
  char end[32], count[16];
  snprintf(end, sizeof end, "%lld", (long long)clock_end_ns);
  snprintf(count, sizeof count, "%d", chatter);
  const char *const argv[] = {TB_PLAY_PEER, end, count, NULL};
  peer_start(&stage->peer, argv);
  peer_expect_line(&stage->peer, "ready");
  loopback_check(stage->peer.pid);
}

static void stage_open_as(stage_t *stage, const tb_player_options_t *options, bool batch)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_play_transport_options_t transport = {.clock = options->clock_hz > 0,
                                                .batch.ns = batch ? TB_NS_PER_S : 0};
  check(tb_bag_reader_open(TB_DEMO_BAG, NULL, &stage->reader, &error), &error);
  check(tb_ros2_context_create(NULL, &stage->context, &error), &error);
  check(tb_ros2_play_transport_create(stage->context, &transport, &stage->transport, &error),
        &error);
  tb_play_transport_t interface = tb_ros2_play_transport_interface(stage->transport);
  check(tb_player_create(stage->reader, &interface, options, &stage->player, &error), &error);
}

static void stage_open(stage_t *stage, const tb_player_options_t *options)
{
  stage_open_as(stage, options, false);
}

static void topic_of(dds_entity_t writer, char *out, size_t size)
{
  out[0] = '\0';
  dds_get_name(dds_get_topic(writer), out, size);
}

/* Those of topics of ROS. Each has an implicit publisher. */
static int writers_of(const stage_t *stage, dds_entity_t *out, int room)
{
  dds_entity_t publishers[128], writers[8];
  dds_entity_t participant = tb__participant_handle(tb__ros2_context_participant(stage->context));
  int count = 0, publisher_count = dds_get_children(participant, publishers, 128);
  assert_in_range(publisher_count, 1, 128);
  for (int i = 0; i < publisher_count; i++) {
    int writer_count = dds_get_children(publishers[i], writers, 8);
    for (int k = 0; k < writer_count && k < 8; k++) {
      char name[64];
      dds_publication_matched_status_t status;
      if (dds_get_publication_matched_status(writers[k], &status) != DDS_RETCODE_OK) continue;
      topic_of(writers[k], name, sizeof name);
      if (strncmp(name, "rt/", 3) == 0 && count < room) out[count++] = writers[k];
    }
  }
  return count;
}

static bool is_met(dds_entity_t writer)
{
  dds_publication_matched_status_t status;
  assert_int_equal(dds_get_publication_matched_status(writer, &status), DDS_RETCODE_OK);
  return status.current_count > 0;
}

/* Messages that are not kept for late joiners must not be sent before the peer can take them, and
 * the player knows of that. */
static void stage_meet(stage_t *stage)
{
  dds_entity_t writers[64];
  peer_expect_line(&stage->peer, "matched");
  int count = writers_of(stage, writers, 64);
  assert_in_range(count, 4, 64);
  for (int i = 0; i < count; i++)
    while (!is_met(writers[i]))
      sched_yield();
}

static void stage_close(stage_t *stage)
{
  loopback_check(0);
  tb_player_destroy(stage->player);
  tb_ros2_play_transport_destroy(stage->transport);
  tb_ros2_context_destroy(stage->context);
  tb_bag_reader_close(stage->reader);
}

static long long value_of(stage_t *stage, const char *name)
{
  char line[128];
  peer_read_line(&stage->peer, line, sizeof line);
  size_t length = strlen(name);
  if (strncmp(line, name, length) != 0 || line[length] != ' ')
    fail_msg("'%s' instead of %s", line, name);
  return atoll(line + length + 1);
}

/* Best effort: a peer that is delayed loses some. False if it got too few of them. */
static bool another_process_gets_all(void)
{
  stage_t stage = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  loopback_setup(FIRST_DOMAIN);
  options.rate = 20;
  options.clock_hz = TB_PLAYER_CLOCK_HZ;
  stage_peer(&stage, END_NS, 61);
  stage_open(&stage, &options);
  stage_meet(&stage);
  check(tb_player_run(stage.player, NULL, &error), &error);
  tb_player_status_t status;
  tb_player_status(stage.player, &status);
  assert_int_equal(status.messages, 363);
  assert_int_equal(status.position_ns, END_NS);
  assert_int_equal(value_of(&stage, "chatter"), 61);
  long long stamped = value_of(&stage, "stamped");
  assert_int_equal(value_of(&stage, "map"), 1);
  long long ticks = value_of(&stage, "ticks"), first = value_of(&stage, "first");
  assert_int_equal(value_of(&stage, "last"), END_NS);
  assert_int_equal(value_of(&stage, "back"), 0);
  long long early = value_of(&stage, "early");
  peer_stop(&stage.peer);
  stage_close(&stage);
  assert_in_range(stamped, 0, 301);
  assert_in_range(ticks, 1, (uintmax_t)status.ticks);
  bool complete = stamped == 301 && ticks == (long long)status.ticks;
  if (!complete && (stamped < 290 || ticks < 290 || first != START_NS || early > 0)) return false;
  assert_int_equal(first, START_NS);
  assert_int_equal(early, 0);
  return true;
}

static void test_another_process_gets_messages_not_before_their_time(void **state)
{
  (void)state;
  int tries = 1;
  while (!another_process_gets_all())
    if (++tries > TRIES) fail_msg("much was lost each time");
}

static void test_a_start_offset_leaves_out_all_but_the_state_before(void **state)
{
  (void)state;
  stage_t stage = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  loopback_setup(next_domain++);
  options.rate = 20;
  options.clock_hz = TB_PLAYER_CLOCK_HZ;
  options.start_offset.ns = 20 * TB_NS_PER_S;
  stage_peer(&stage, END_NS, 21);
  stage_open(&stage, &options);
  stage_meet(&stage);
  check(tb_player_run(stage.player, NULL, &error), &error);
  assert_int_equal(value_of(&stage, "chatter"), 21);
  value_of(&stage, "stamped");
  assert_int_equal(value_of(&stage, "map"), 1);
  value_of(&stage, "ticks");
  assert_int_equal(value_of(&stage, "first"), START_NS + 20 * TB_NS_PER_S);
  peer_stop(&stage.peer);
  stage_close(&stage);
}

static const tb_bag_topic_t *topic_named(const stage_t *stage, const char *name)
{
  const tb_bag_info_t *info = tb_bag_reader_info(stage->reader);
  for (size_t i = 0; i < info->topic_count; i++)
    if (strcmp(info->topics[i].name, name) == 0) return &info->topics[i];
  fail_msg("the recording has no %s", name);
  return NULL;
}

static void answer_add(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  int64_t numbers[2];
  uint8_t reply[12] = {0, 1};
  (void)user;
  if (request->size != 4 + sizeof numbers) return;
  memcpy(numbers, (const uint8_t *)request->cdr + 4, sizeof numbers);
  numbers[0] += numbers[1];
  memcpy(reply + 4, &numbers[0], sizeof numbers[0]);
  tb_ros2_service_reply(service, &request->id, reply, sizeof reply, NULL);
}

/* While a message is kept to go out with others, a service answers; and a tick takes it along. */
static void test_a_batch_delays_neither_replies_nor_the_clock(void **state)
{
  (void)state;
  static const uint8_t text[] = {0, 1, 0, 0, 2, 0, 0, 0, 'a', 0};
  stage_t stage = {0};
  peer_t caller;
  tb_error_t error = TB_ERROR_INIT;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  tb_ros2_service_t *service = NULL;
  void *chatter = NULL;
  loopback_setup(next_domain++);
  options.clock_hz = TB_PLAYER_CLOCK_HZ;
  options.rate = TB_PLAYER_FASTEST;
  stage_peer(&stage, END_NS, 1);
  stage_open_as(&stage, &options, true);
  stage_meet(&stage);
  tb_play_transport_t to = tb_ros2_play_transport_interface(stage.transport);
  check(to.ops->add_topic(to.self, topic_named(&stage, "/chatter"), &chatter, &error), &error);
  check(tb_ros2_service_create(stage.context, "/add", "example_interfaces/srv/AddTwoInts", NULL,
                               answer_add, NULL, &service, &error),
        &error);
  peer_start(&caller, (const char *const[]){TB_ROS2_PEER, "call-add", "add", "20", "3", NULL});
  peer_expect_line(&caller, "matched");
  check(to.ops->publish(to.self, chatter, text, sizeof text, &error), &error);
  peer_go_on(&caller);
  peer_expect_line(&caller, "sum 23");
  check(to.clock.tick(to.clock.self, END_NS, TB_JUMP_REASON_TICK, &error), &error);
  assert_int_equal(value_of(&stage, "chatter"), 1);
  peer_stop(&caller);
  peer_stop(&stage.peer);
  tb_ros2_service_destroy(service);
  stage_close(&stage);
}

static int64_t steady_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * TB_NS_PER_S + now.tv_nsec;
}

static _Atomic pid_t runner; /* the thread that plays */

static void *run(void *user)
{
  runner = gettid();
  return (void *)(intptr_t)tb_player_run(user, NULL, NULL);
}

static bool runner_sleeps(void)
{
  char path[64], state = '?';
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)runner);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
  fclose(file);
  return state == 'S';
}

/* A stop takes effect in a wait of 50 s of steady time, and while settling. */
static void test_stop_from_another_thread_ends_at_once(void **state)
{
  (void)state;
  for (int wait_for_first = 0; wait_for_first < 2; wait_for_first++) {
    stage_t stage = {0};
    tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
    loopback_setup(next_domain++);
    options.rate = 0.001;
    stage_open(&stage, &options);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, stage.player), 0);
    tb_player_status_t status = {0};
    while (wait_for_first && (status.messages < 2 || !runner_sleeps())) {
      sched_yield();
      tb_player_status(stage.player, &status);
    }
    int64_t before_ns = steady_ns();
    tb_player_stop(stage.player);
    void *result;
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, TB_OK);
    assert_true(steady_ns() - before_ns < 40 * TB_NS_PER_S);
    tb_player_status(stage.player, &status);
    assert_true(status.finished && status.messages <= 2);
    stage_close(&stage);
  }
}

/* While paused `/clock` repeats its time, and nothing else is sent. */
static void test_pause_from_another_thread(void **state)
{
  (void)state;
  stage_t stage = {0};
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  loopback_setup(next_domain++);
  options.rate = 20;
  options.clock_hz = 1000;
  stage_peer(&stage, END_NS, 61);
  stage_open(&stage, &options);
  stage_meet(&stage);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run, stage.player), 0);
  tb_player_status_t before = {0}, status;
  while (before.messages < 20) {
    sched_yield();
    tb_player_status(stage.player, &before);
  }
  tb_player_toggle_paused(stage.player);
  assert_true(tb_player_is_paused(stage.player));
  tb_player_status(stage.player, &before);
  do {
    sched_yield();
    tb_player_status(stage.player, &status);
  } while (status.ticks < before.ticks + 20);
  assert_int_equal(status.position_ns, before.position_ns);
  assert_true(status.messages <= before.messages + 1); /* one that was just being sent */
  tb_player_resume(stage.player);
  void *result;
  pthread_join(thread, &result);
  assert_int_equal((intptr_t)result, TB_OK);
  assert_int_equal(value_of(&stage, "chatter"), 61);
  peer_stop(&stage.peer);
  stage_close(&stage);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_another_process_gets_messages_not_before_their_time),
      cmocka_unit_test(test_a_start_offset_leaves_out_all_but_the_state_before),
      cmocka_unit_test(test_a_batch_delays_neither_replies_nor_the_clock),
      cmocka_unit_test(test_pause_from_another_thread),
      cmocka_unit_test(test_stop_from_another_thread_ends_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Measured in another process: at the receipt of each message `now` is at least its log time. */
#include <dds/dds.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_play_transport.h>

#include "bag/fake_bag.h"
#include "play/player.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN   2
#define MESSAGES 10000 /* on each topic */
#define TRIES    5     /* /clock is best effort: a machine that is busy may lose a tick */
#define START_NS (1700000000 * TB_NS_PER_S)
#define STEP_NS  TB_NS_PER_MS

#define OFFER(reliability)                                                                         \
  "- history: 1\n  depth: 10\n  reliability: " reliability "\n  durability: 2\n"

static const tb__fake_topic_t topics[] = {
    {"/reliable", "std_msgs/msg/Header", OFFER("1"), NULL},
    {"/best_effort", "std_msgs/msg/Header", OFFER("2"), NULL},
};

/* None is replaced by later ones while the other process does not run. */
static const char keep_all[] = "/reliable: {history: keep_all}\n";

static tb__fake_message_t messages[2 * MESSAGES];
static tb__fake_header_t payloads[MESSAGES];

/* Their stamp is their log time. */
static void make_messages(void)
{
  for (int64_t i = 0; i < MESSAGES; i++) {
    int64_t time_ns = START_NS + i * STEP_NS;
    payloads[i] = tb__fake_header(time_ns);
    for (size_t topic = 0; topic < 2; topic++)
      messages[2 * i + (int64_t)topic] = (tb__fake_message_t){
          .topic = topic, .log_time_ns = time_ns, .data = &payloads[i], .size = sizeof payloads[i]};
  }
}

static long long value_of(peer_t *peer, const char *name)
{
  char line[128];
  peer_read_line(peer, line, sizeof line);
  size_t length = strlen(name);
  if (strncmp(line, name, length) != 0 || line[length] != ' ')
    fail_msg("'%s' instead of %s", line, name);
  return atoll(line + length + 1);
}

static bool is_ours(dds_entity_t writer)
{
  char name[64] = "";
  dds_publication_matched_status_t status;
  if (dds_get_publication_matched_status(writer, &status) != DDS_RETCODE_OK) return false;
  dds_get_name(dds_get_topic(writer), name, sizeof name);
  return strcmp(name, "rt/reliable") == 0 || strcmp(name, "rt/best_effort") == 0 ||
         strcmp(name, "rt/clock") == 0;
}

static void await_match(dds_entity_t writer)
{
  dds_publication_matched_status_t status = {0};
  while (status.current_count == 0) {
    assert_int_equal(dds_get_publication_matched_status(writer, &status), DDS_RETCODE_OK);
    sched_yield();
  }
}

/* The peer knows of the publishers; they know of it, too. */
static void wait_until_matched(tb_ros2_context_t *context)
{
  dds_entity_t publishers[64], writers[64];
  dds_entity_t participant = tb__participant_handle(tb__ros2_context_participant(context));
  int met = 0, count = dds_get_children(participant, publishers, 64);
  for (int i = 0; i < count; i++) {
    int below = dds_get_children(publishers[i], writers, 64);
    for (int k = 0; k < below; k++) {
      if (!is_ours(writers[k])) continue;
      await_match(writers[k]);
      met++;
    }
  }
  assert_int_equal(met, 3);
}

/* False: some message came too early, after a tick that was lost. */
static bool measure(double rate)
{
  tb__fake_bag_t bag = {
      .topics = topics, .topic_count = 2, .messages = messages, .message_count = 2 * MESSAGES};
  tb_bag_reader_t *reader = NULL;
  tb_ros2_context_t *context = NULL;
  tb_ros2_play_transport_t *transport = NULL;
  tb_player_t *player = NULL;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  tb_ros2_play_transport_options_t transport_options = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
  tb_qos_overrides_t *overrides = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char count[16];
  peer_t peer;
  options.rate = rate;
  options.clock_hz = TB_PLAYER_CLOCK_HZ;
  transport_options.clock = true;
  assert_ok(tb_qos_overrides_parse(keep_all, sizeof keep_all - 1, &overrides, NULL));
  transport_options.qos_overrides = overrides;
  snprintf(count, sizeof count, "%d", MESSAGES);
  peer_start(&peer, (const char *const[]){TB_NOW_PEER, count, NULL});
  peer_expect_line(&peer, "ready");
  loopback_check(peer.pid);
  assert_ok(tb__fake_bag_open(&bag, NULL, &reader, NULL));
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  assert_ok(tb_ros2_play_transport_create(context, &transport_options, &transport, NULL));
  tb_play_transport_t interface = tb_ros2_play_transport_interface(transport);
  assert_ok(tb_player_create(reader, &interface, &options, &player, NULL));
  peer_expect_line(&peer, "matched");
  wait_until_matched(context);
  if (tb_player_run(player, NULL, &error) != TB_OK) fail_msg("%s", error.text);
  assert_int_equal(value_of(&peer, "reliable"), MESSAGES);
  long long best_effort = value_of(&peer, "best_effort");
  long long lost = value_of(&peer, "lost");
  long long violations = value_of(&peer, "violations"), worst_ns = value_of(&peer, "worst");
  print_message("%gx: %d reliable, %lld best effort, %lld ticks lost, %lld violations, "
                "worst %lld ns\n",
                rate, MESSAGES, best_effort, lost, violations, worst_ns);
  assert_true(best_effort > 0);
  if (violations) assert_true(lost > 0);
  peer_stop(&peer);
  tb_player_destroy(player);
  tb_ros2_play_transport_destroy(transport);
  tb_ros2_context_destroy(context);
  tb_bag_reader_close(reader);
  tb_qos_overrides_destroy(overrides);
  return violations == 0;
}

static void assert_none_too_early(double rate)
{
  for (int i = 0; i < TRIES; i++)
    if (measure(rate)) return;
  fail_msg("messages came before their time");
}

static void test_real_time(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  assert_none_too_early(1);
}

static void test_ten_times(void **state)
{
  (void)state;
  loopback_setup(DOMAIN + 1);
  assert_none_too_early(10);
}

static int setup(void **state)
{
  (void)state;
  make_messages();
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_real_time),
      cmocka_unit_test(test_ten_times),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}

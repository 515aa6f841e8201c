/* Replay that waits: for acknowledgements, and for what a node in another process answers. */
#include <dds/dds.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_play_transport.h>
#include <unistd.h>

#include "bag/fake_bag.h"
#include "play/player.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN   6
#define MESSAGES 60
#define START_NS (1700000000 * TB_NS_PER_S)
#define STEP_NS  (10 * TB_NS_PER_MS)

static const tb__fake_topic_t topics[] = {
    {"/in", "std_msgs/msg/Header", "- history: 2\n  depth: 0\n  reliability: 1\n  durability: 2\n",
     NULL},
};
static tb__fake_message_t messages[MESSAGES];
static tb__fake_header_t payloads[MESSAGES];

static tb__fake_bag_t bag = {
    .topics = topics, .topic_count = 1, .messages = messages, .message_count = MESSAGES};
static tb__fake_bag_t large_bag;

/* A player in this process, on a separate thread. */
typedef struct session {
  tb_bag_reader_t *reader;
  tb_ros2_context_t *context;
  tb_ros2_play_transport_t *transport;
  tb_player_t *player;
  pthread_t thread;
  tb_status_t status;
  tb_error_t error;
  uint64_t messages; /* sent in the end */
} session_t;

static const tb_ros2_play_transport_options_t no_waits = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
static const tb_player_options_t defaults = TB_PLAYER_OPTIONS_INIT;

/* Their stamp is their log time. */
static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  for (int64_t i = 0; i < MESSAGES; i++) {
    int64_t time_ns = START_NS + i * STEP_NS;
    payloads[i] = tb__fake_header(time_ns);
    messages[i] = (tb__fake_message_t){
        .log_time_ns = time_ns, .data = &payloads[i], .size = sizeof payloads[i]};
  }
  return 0;
}

static void *run(void *user)
{
  session_t *session = user;
  session->status = tb_player_run(session->player, NULL, &session->error);
  return NULL;
}

static void begin_of(session_t *session, const tb_ros2_play_transport_options_t *waits,
                     const tb_player_options_t *player, tb__fake_bag_t *played)
{
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  context.prompt_acks = true;
  *session = (session_t){.error = TB_ERROR_INIT};
  assert_ok(tb__fake_bag_open(played, NULL, &session->reader, NULL));
  assert_ok(tb_ros2_context_create(&context, &session->context, NULL));
  assert_ok(tb_ros2_play_transport_create(session->context, waits, &session->transport, NULL));
  tb_play_transport_t interface = tb_ros2_play_transport_interface(session->transport);
  assert_ok(
      tb_player_create(session->reader, &interface, player, &session->player, &session->error));
  assert_int_equal(pthread_create(&session->thread, NULL, run, session), 0);
}

static void begin(session_t *session, const tb_ros2_play_transport_options_t *waits,
                  const tb_player_options_t *player)
{
  begin_of(session, waits, player, &bag);
}

static tb_player_status_t status_of(session_t *session)
{
  tb_player_status_t status;
  tb_player_status(session->player, &status);
  return status;
}

/* What the player returned. */
static tb_status_t end(session_t *session)
{
  pthread_join(session->thread, NULL);
  session->messages = status_of(session).messages;
  tb_player_destroy(session->player);
  tb_ros2_play_transport_destroy(session->transport);
  tb_ros2_context_destroy(session->context);
  tb_bag_reader_close(session->reader);
  return session->status;
}

static void start_node(peer_t *peer, const char *name, const char *type, const char *delay_ms)
{
  peer_start(peer, (const char *const[]){TB_WAIT_PEER, name, "/in", "/out", type, delay_ms, NULL});
  peer_expect_line(peer, "ready");
}

typedef struct report {
  long received;
  long long lead_ns, clock_ns;
} report_t;

static report_t report_of(peer_t *peer)
{
  char line[128];
  report_t report = {0};
  peer_say(peer, "report");
  peer_read_line(peer, line, sizeof line);
  if (sscanf(line, "received %ld lead %lld clock %lld", &report.received, &report.lead_ns,
             &report.clock_ns) != 3)
    fail_msg("'%s'", line);
  return report;
}

/* Waits until the player reports that it waits for something with `text` in it. */
static tb_player_status_t wait_until_it_waits_for(session_t *session, const char *text)
{
  tb_player_status_t status = status_of(session);
  for (int i = 0; i < PEER_LIMIT_MS && !strstr(status.waits_for, text) && !status.finished; i++) {
    usleep(1000);
    status = status_of(session);
  }
  if (!strstr(status.waits_for, text))
    fail_msg("after %llu messages%s it waits for '%s', not for '%s'",
             (unsigned long long)status.messages, status.finished ? ", finished," : "",
             status.waits_for, text);
  return status;
}

/* Of the player's writer of /in, wherever it is below `parent`. */
static uint32_t readers_below(dds_entity_t parent)
{
  dds_entity_t entities[64];
  dds_publication_matched_status_t status;
  char name[64] = "";
  if (dds_get_publication_matched_status(parent, &status) == DDS_RETCODE_OK) {
    dds_get_name(dds_get_topic(parent), name, sizeof name);
    return strcmp(name, "rt/in") == 0 ? status.current_count : 0;
  }
  uint32_t readers = 0;
  int count = dds_get_children(parent, entities, 64);
  for (int i = 0; i < count && i < 64; i++)
    readers += readers_below(entities[i]);
  return readers;
}

/* Subscriptions of /in that are known with the names of their nodes. */
static uint32_t named_readers(tb_ros2_graph_t *graph)
{
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  const tb_ros2_graph_endpoint_t *readers = NULL;
  uint32_t named = 0;
  assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
  size_t count = tb_ros2_graph_subscriptions(snapshot, "/in", &readers);
  for (size_t i = 0; i < count; i++)
    named += readers[i].node >= 0;
  tb_ros2_graph_snapshot_release(snapshot);
  return named;
}

/* The player knows of `count` readers, and their names: while a node blocks DDS's own threads it
 * announces nothing, and after 10 s it is taken for gone. */
static void wait_for_readers(const session_t *session, uint32_t count)
{
  tb__participant_t *participant = tb__ros2_context_participant(session->context);
  tb_ros2_graph_t *graph = NULL;
  bool are_known = false;
  assert_ok(tb_ros2_graph_create(session->context, &graph, NULL));
  for (int i = 0; i < PEER_LIMIT_MS && !are_known; i++) {
    are_known = readers_below(tb__participant_handle(participant)) == count &&
                named_readers(graph) == count;
    if (!are_known) usleep(1000);
  }
  tb_ros2_graph_destroy(graph);
  if (!are_known) fail_msg("the player has not found its readers");
}

static void wait_until_matched(peer_t *peer)
{
  peer_say(peer, "meet");
  peer_expect_line(peer, "met");
}

static void test_no_message_goes_before_the_last_is_acknowledged(void **state)
{
  (void)state;
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t quick, slow;
  char line[64];
  waits.wait_for_acks = true;
  options.rate = TB_PLAYER_FASTEST;
  options.start_paused = true;
  start_node(&quick, "quick", "std_msgs/msg/Header", "0");
  start_node(&slow, "slow", "std_msgs/msg/Header", "-1");
  begin(&session, &waits, &options);
  wait_until_matched(&quick);
  wait_until_matched(&slow);
  wait_for_readers(&session, 2);
  tb_player_resume(session.player);
  for (uint64_t i = 1; i <= 3; i++) {
    peer_read_line(&slow, line, sizeof line);
    tb_player_status_t status = wait_until_it_waits_for(&session, "/slow to acknowledge /in");
    assert_null(strstr(status.waits_for, "quick"));
    assert_int_equal(status.messages, i);
    assert_int_equal(status.position_ns, START_NS + (int64_t)(i - 1) * STEP_NS);
    assert_int_equal(report_of(&quick).received, i);
    peer_go_on(&slow);
  }
  for (uint64_t i = 4; i <= MESSAGES; i++) {
    peer_read_line(&slow, line, sizeof line);
    uint64_t messages_sent = status_of(&session).messages;
    if (messages_sent > i)
      fail_msg("%llu were sent, it has %llu", (unsigned long long)messages_sent,
               (unsigned long long)i);
    peer_go_on(&slow);
  }
  assert_ok(end(&session));
  peer_stop(&quick);
  peer_stop(&slow);
}

static void test_seeks_and_stops_do_not_wait_for_acknowledgements(void **state)
{
  (void)state;
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t slow;
  char line[64];
  waits.wait_for_acks = true;
  options.start_paused = true;
  start_node(&slow, "slow", "std_msgs/msg/Header", "-1");
  begin(&session, &waits, &options);
  wait_until_matched(&slow);
  wait_for_readers(&session, 1);
  tb_player_resume(session.player);
  peer_read_line(&slow, line, sizeof line);
  for (int64_t i = 1; i <= 3; i++) {
    wait_until_it_waits_for(&session, "/slow to acknowledge /in");
    assert_ok(tb_player_seek(session.player, START_NS + 10 * i * STEP_NS, NULL));
    for (int ms = 0; ms < PEER_LIMIT_MS && status_of(&session).messages == (uint64_t)i; ms++)
      usleep(1000);
    tb_player_status_t status = wait_until_it_waits_for(&session, "/slow to acknowledge /in");
    assert_int_equal(status.messages, i + 1);
    assert_int_equal(status.position_ns, START_NS + 10 * i * STEP_NS);
  }
  tb_player_stop(session.player);
  assert_ok(end(&session));
  assert_int_equal(session.messages, 4);
  peer_go_on(&slow);
  peer_stop(&slow);
}

static void note_warning(tb_log_level_t level, const char *message, void *user)
{
  if (level >= TB_LOG_WARN) snprintf(user, 256, "%s", message);
}

static void test_a_missing_acknowledgement_is_named_at_the_end(void **state)
{
  (void)state;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t quick, slow;
  char line[64], warnings[256] = "";
  options.rate = TB_PLAYER_FASTEST;
  options.start_paused = true;
  options.ack_limit.ns = 5 * TB_NS_PER_S; /* the quick one's is there long before */
  start_node(&quick, "quick", "std_msgs/msg/Header", "0");
  start_node(&slow, "slow", "std_msgs/msg/Header", "-1");
  tb_log_set_hook(note_warning, warnings);
  begin(&session, &no_waits, &options);
  wait_until_matched(&quick);
  wait_until_matched(&slow);
  wait_for_readers(&session, 2);
  tb_player_resume(session.player);
  peer_read_line(&slow, line, sizeof line);
  assert_ok(end(&session));
  tb_log_set_hook(NULL, NULL);
  assert_string_equal(warnings, "player: not everything was acknowledged in time: /in by /slow");
  peer_stop(&quick);
  peer_stop(&slow);
}

#define LARGE      900 /* messages, fewer than a node queues */
#define LARGE_SIZE 4096

/* A player that is paused, and a node that it knows, for a topic that was recorded with a depth of
 * 10. */
static void begin_large(session_t *session, const tb_ros2_play_transport_options_t *kept,
                        tb_player_options_t options, peer_t *node)
{
  static const tb__fake_topic_t topic = {
      "/in", "std_msgs/msg/Header",
      "- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n", NULL};
  static tb__fake_message_t large[LARGE];
  static uint8_t payload[LARGE_SIZE];
  memcpy(payload, payloads, sizeof *payloads);
  for (int64_t i = 0; i < LARGE; i++)
    large[i] = (tb__fake_message_t){
        .log_time_ns = START_NS + i * TB_NS_PER_MS / 3, .data = payload, .size = sizeof payload};
  large_bag = (tb__fake_bag_t){
      .topics = &topic, .topic_count = 1, .messages = large, .message_count = LARGE};
  options.start_paused = true;
  options.ack_limit.ns = 60 * TB_NS_PER_S;
  start_node(node, "slow", "std_msgs/msg/Header", "0");
  begin_of(session, kept, &options, &large_bag);
  wait_until_matched(node);
  wait_for_readers(session, 1);
}

/* To a node that is stopped meanwhile, whose socket has no room for all of them. */
static void test_a_player_that_does_not_run_ahead_loses_nothing(void **state)
{
  (void)state;
  static const uint64_t backlogs[] = {UINT64_C(256) << 20, 20000}; /* below the writer's limit */
  for (size_t i = 0; i < 2; i++) {
    tb_ros2_play_transport_options_t kept = no_waits;
    tb_player_options_t options = defaults;
    session_t session;
    peer_t slow;
    kept.backlog_max = backlogs[i];
    kept.batch.ns = TB_NS_PER_MS;
    options.rate = TB_PLAYER_FASTEST;
    begin_large(&session, &kept, options, &slow);
    assert_int_equal(kill(slow.pid, SIGSTOP), 0);
    tb_player_resume(session.player);
    tb_player_status_t held = wait_until_it_waits_for(&session, "/slow to acknowledge /in");
    assert_in_range(held.messages, 1, LARGE - 1);
    assert_int_equal(kill(slow.pid, SIGCONT), 0);
    assert_ok(end(&session));
    assert_int_equal(session.messages, LARGE);
    assert_int_equal(report_of(&slow).received, LARGE);
    peer_stop(&slow);
  }
}

/* While messages come, it asks again for some that it has missed. */
static void test_a_subscription_that_falls_behind_is_named_at_the_end(void **state)
{
  (void)state;
  char warnings[256] = "";
  tb_player_options_t options = defaults;
  session_t session;
  peer_t slow;
  options.loop = true;
  begin_large(&session, &no_waits, options, &slow);
  tb_log_set_hook(note_warning, warnings);
  tb_player_resume(session.player);
  for (int i = 0; i < 30; i++) {
    assert_int_equal(kill(slow.pid, i % 2 ? SIGCONT : SIGSTOP), 0);
    usleep(100000);
  }
  tb_player_stop(session.player);
  assert_ok(end(&session));
  tb_log_set_hook(NULL, NULL);
  if (!strstr(warnings, " messages of /in were lost: /slow was too slow"))
    fail_msg("'%s'", warnings);
  peer_stop(&slow);
}

static void play_with_lag(int64_t lag_ns, double rate, report_t *out)
{
  const tb_ros2_play_wait_t wait = {"out", "echo", {lag_ns}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t echo;
  waits.clock = true;
  waits.waits = &wait;
  waits.wait_count = 1;
  options.rate = rate;
  options.clock_hz = 1000;
  start_node(&echo, "echo", "std_msgs/msg/Header", "12");
  begin(&session, &waits, &options);
  assert_ok(end(&session));
  *out = report_of(&echo);
  print_message("lag %lld ns, rate %g: lead %lld ns, of the clock %lld ns\n", (long long)lag_ns,
                rate, out->lead_ns, out->clock_ns);
  assert_int_equal(out->received, MESSAGES);
  peer_stop(&echo);
}

static void test_one_message_at_a_time_without_lag(void **state)
{
  (void)state;
  report_t report;
  play_with_lag(0, TB_PLAYER_FASTEST, &report);
  assert_int_equal(report.lead_ns, STEP_NS);
  play_with_lag(0, 1, &report);
  assert_int_equal(report.lead_ns, STEP_NS);
  assert_in_range(report.clock_ns, 0, STEP_NS);
}

static void test_no_further_ahead_than_the_lag(void **state)
{
  (void)state;
  static const double rates[] = {TB_PLAYER_FASTEST, 10};
  for (size_t i = 0; i < 2; i++) {
    report_t report;
    play_with_lag(5 * STEP_NS / 2, rates[i], &report);
    assert_int_equal(report.lead_ns, 2 * STEP_NS);
    assert_in_range(report.clock_ns, 0, 5 * STEP_NS / 2);
  }
}

static void test_rounds_wait_again(void **state)
{
  (void)state;
  const tb_ros2_play_wait_t wait = {"/out", "/echo", {0}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t echo;
  waits.waits = &wait;
  waits.wait_count = 1;
  options.rate = TB_PLAYER_FASTEST;
  options.loop = true;
  start_node(&echo, "echo", "std_msgs/msg/Header", "1");
  begin(&session, &waits, &options);
  while (status_of(&session).loops < 3)
    usleep(1000);
  tb_player_stop(session.player);
  assert_ok(end(&session));
  assert_int_equal(report_of(&echo).lead_ns, STEP_NS);
  peer_stop(&echo);
}

static void test_a_node_that_is_not_there_is_named(void **state)
{
  (void)state;
  const tb_ros2_play_wait_t others[] = {{"/out", "/echo", {0}}, {"/out", "/quiet", {0}}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t echo, quiet;
  waits.waits = others;
  waits.wait_count = 2;
  start_node(&quiet, "quiet", "std_msgs/msg/Header", "-1");
  begin(&session, &waits, &options);
  wait_until_it_waits_for(&session, "/echo, to publish /out: no such node");
  start_node(&echo, "echo", "std_msgs/msg/Header", "0");
  tb_player_status_t status = wait_until_it_waits_for(&session, "/quiet, which was sent ");
  assert_int_equal(status.messages, 1);
  assert_int_equal(status.position_ns, START_NS);
  tb_player_stop(session.player);
  assert_ok(end(&session));
  peer_stop(&echo);
  peer_stop(&quiet);
}

/* A node that is killed is there until its lease has run out; a new one of its name starts from
 * scratch. */
static void test_a_node_that_is_killed_is_named_until_another_comes(void **state)
{
  (void)state;
  const tb_ros2_play_wait_t wait = {"/out", "/echo", {0}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t echo;
  waits.waits = &wait;
  waits.wait_count = 1;
  options.rate = TB_PLAYER_FASTEST;
  start_node(&echo, "echo", "std_msgs/msg/Header", "20");
  begin(&session, &waits, &options);
  while (status_of(&session).messages < 10)
    usleep(1000);
  assert_int_equal(kill(echo.pid, SIGKILL), 0);
  peer_wait_killed(&echo);
  tb_player_status_t status = wait_until_it_waits_for(&session, "published no more than 17000000");
  assert_true(status.messages < MESSAGES);
  wait_until_it_waits_for(&session, "no such node");
  assert_int_equal(status_of(&session).messages, status.messages);
  start_node(&echo, "echo", "std_msgs/msg/Header", "0");
  assert_ok(end(&session));
  assert_int_equal(report_of(&echo).received, MESSAGES - status.messages);
  peer_stop(&echo);
}

static void assert_refused(const char *type, const char *why, uint64_t messages_sent)
{
  const tb_ros2_play_wait_t wait = {"/out", "/odd", {0}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_player_options_t options = defaults;
  session_t session;
  peer_t odd;
  char text[256];
  waits.waits = &wait;
  waits.wait_count = 1;
  options.rate = TB_PLAYER_FASTEST;
  start_node(&odd, "odd", type, "0");
  begin(&session, &waits, &options);
  assert_status(end(&session), TB_ERR_INVALID);
  snprintf(text, sizeof text, "output /out of /odd: its type, %s, %s", type, why);
  if (!strstr(session.error.text, text)) fail_msg("'%s'", session.error.text);
  assert_int_equal(session.messages, messages_sent);
  peer_stop(&odd);
}

static void test_an_output_without_header_is_refused(void **state)
{
  (void)state;
  assert_refused("std_msgs/msg/String", "has no std_msgs/Header: wait for",
                 0); /* by its definition */
  assert_refused("odd_msgs/msg/Odd", "does not begin with a std_msgs/Header, and its",
                 1); /* by its message */
}

static void test_waits_that_make_no_sense(void **state)
{
  (void)state;
  static const tb_ros2_play_wait_t bad[] = {
      {NULL, "/a", {0}}, {"", "/a", {0}}, {"/a", "", {0}}, {"/a", "/b", {-1}}};
  tb_ros2_play_transport_options_t waits = no_waits;
  tb_ros2_play_transport_t *transport = NULL;
  tb_ros2_context_t *context = NULL;
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  waits.wait_count = 1;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    waits.waits = &bad[i];
    assert_status(tb_ros2_play_transport_create(context, &waits, &transport, NULL), TB_ERR_INVALID);
  }
  waits.wait_count = 65;
  assert_status(tb_ros2_play_transport_create(context, &waits, &transport, NULL), TB_ERR_LIMIT);
  assert_null(transport);
  tb_ros2_context_destroy(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_message_goes_before_the_last_is_acknowledged),
      cmocka_unit_test(test_seeks_and_stops_do_not_wait_for_acknowledgements),
      cmocka_unit_test(test_a_missing_acknowledgement_is_named_at_the_end),
      cmocka_unit_test(test_a_player_that_does_not_run_ahead_loses_nothing),
      cmocka_unit_test(test_a_subscription_that_falls_behind_is_named_at_the_end),
      cmocka_unit_test(test_one_message_at_a_time_without_lag),
      cmocka_unit_test(test_no_further_ahead_than_the_lag),
      cmocka_unit_test(test_rounds_wait_again),
      cmocka_unit_test(test_a_node_that_is_not_there_is_named),
      cmocka_unit_test(test_a_node_that_is_killed_is_named_until_another_comes),
      cmocka_unit_test(test_an_output_without_header_is_refused),
      cmocka_unit_test(test_waits_that_make_no_sense),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}

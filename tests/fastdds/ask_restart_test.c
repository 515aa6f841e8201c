/* What a server of Fast DDS gets that appears while an earlier one has not acknowledged what it was
 * sent: nothing that is older than itself. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "fastdds/ask.h"
#include "held/parking.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN  "20"
#define SERVICE "/restarted"
#define THREADS 8
#define LIMIT   ((tb_duration_t){60 * TB_NS_PER_S})
#define INSTANT ((tb_duration_t){1})
#define SHORT   ((tb_duration_t){100000000})

static tb_ros2_context_t *context;

static void obey(peer_t *peer, const char *line, const char *answer)
{
  peer_say(peer, "%s", line);
  peer_expect_line(peer, answer);
}

/* Requests of another number count as malformed there. */
static void start(peer_t *peer, uint8_t number)
{
  char line[128];
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/node", NULL});
  peer_expect_line(peer, "ready");
  snprintf(line, sizeof line, "echo " SERVICE " " ASK_TYPE " 00010000%02x000000", number);
  obey(peer, line, "ok");
}

static void freeze(const peer_t *peer)
{
  int status;
  assert_int_equal(kill(peer->pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
  assert_true(WIFSTOPPED(status));
}

static void peer_kill(peer_t *peer)
{
  assert_int_equal(kill(peer->pid, SIGKILL), 0);
  peer_wait_killed(peer);
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(atoi(DOMAIN));
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  return 0;
}

static tb_ros2_client_t *client_of(const char *service, const tb_qos_t *qos)
{
  tb_ros2_client_t *client;
  assert_ok(tb_ros2_client_create(context, service, ASK_TYPE, qos, &client, NULL));
  return client;
}

static tb_status_t ask(tb_ros2_client_t *client, uint8_t number, tb_duration_t limit)
{
  const uint8_t request[8] = {0, 1, 0, 0, number};
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status =
      tb_ros2_client_call(client, request, sizeof request, WITHIN(limit), &response, NULL);
  tb_ros2_response_release(&response);
  return status;
}

/* Until a server that is not frozen has been found. */
static void ask_until_answered(tb_ros2_client_t *client, uint8_t number)
{
  tb_status_t status;
  while ((status = ask(client, number, SHORT)))
    assert_true(status == TB_ERR_TIMEOUT || status == TB_ERR_NOT_FOUND || status == TB_ERR_CLOSED);
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  *(tb_status_t *)user = status;
}

/* The answers of the new server prove that what came before has been decided: a reader gets the
 * samples of a writer in their order. */
static void restart_under_requests(const tb_qos_t *qos)
{
  const uint8_t request[8] = {0, 1, 0, 0, 1};
  peer_t old, new;
  tb_status_t open = TB_OK;
  tb_ros2_client_t *client = client_of(SERVICE, qos);
  start(&old, 1);
  ask_until_answered(client, 1);
  freeze(&old);
  for (int i = 0; i < 3; i++)
    assert_status(ask(client, 1, SHORT), TB_ERR_TIMEOUT);
  assert_ok(
      tb_ros2_client_call_async(client, request, sizeof request, LIMIT, on_response, &open, NULL));
  start(&new, 2);
  ask_until_answered(client, 2);
  assert_true(requests_of(&new) > 0);
  peer_kill(&old);
  peer_stop(&new);
  tb_ros2_client_destroy(client);
  assert_status(open, TB_ERR_CLOSED);
}

static void test_a_new_server_gets_no_earlier_request(void **state)
{
  (void)state;
  tb_qos_t all = TB_QOS_INIT_DEFAULT;
  all.history = TB_QOS_KEEP_ALL;
  restart_under_requests(NULL);
  restart_under_requests(&all);
}

/* ---- requests that cannot be sent ---- */

static void ignore_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status;
  (void)response;
  (void)user;
}

/* Sends large ones until the writer takes no more, since the server acknowledges none. */
static void fill(tb_ros2_client_t *client)
{
  static const uint8_t request[200000] = {0, 1};
  tb_status_t status;
  do
    status = tb_ros2_client_call_async(client, request, sizeof request, INSTANT, ignore_response,
                                       NULL, NULL);
  while (status == TB_OK);
  assert_status(status, TB_ERR_TIMEOUT);
}

static void *ask_shortly(void *client)
{
  return (void *)(uintptr_t)ask(client, 1, SHORT);
}

/* The writer blocks the thread that has the turn; the others wait for the turn. */
static void test_the_limit_of_each_thread_ends_its_wait_for_a_full_writer(void **state)
{
  (void)state;
  peer_t peer;
  pthread_t threads[THREADS];
  tb_qos_t all = TB_QOS_INIT_DEFAULT;
  all.history = TB_QOS_KEEP_ALL;
  tb_ros2_client_t *client = client_of(SERVICE, &all);
  start(&peer, 1);
  ask_until_answered(client, 1);
  freeze(&peer);
  fill(client);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask_shortly, client), 0);
  for (int i = 0; i < THREADS; i++) {
    void *status;
    pthread_join(threads[i], &status);
    assert_status((tb_status_t)(uintptr_t)status, TB_ERR_TIMEOUT);
  }
  peer_kill(&peer);
  tb_ros2_client_destroy(client);
}

/* ---- a writer that readers of Fast DDS must get nothing from ---- */

#define TOPIC   "rt/history"
#define MESSAGE "std_msgs/msg/Empty"

static tb__endpoint_options_t topic_options(const tb_qos_t *qos)
{
  return (tb__endpoint_options_t){.topic = TOPIC,
                                  .type = "std_msgs::msg::dds_::Empty_",
                                  .qos = qos,
                                  .partition = "*",
                                  .resend = TB__RESEND_NOTHING};
}

static void await_matched(_Atomic uint32_t *events, uint32_t (*matched)(const void *endpoint),
                          const void *endpoint, uint32_t count)
{
  for (uint32_t seen; seen = atomic_load(events), matched(endpoint) < count;)
    tb__futex_wait(events, seen, TB__NO_DEADLINE);
}

static uint32_t writer_matched(const void *writer)
{
  return tb__raw_writer_matched(writer);
}

static uint32_t reader_matched(const void *reader)
{
  return tb__raw_reader_matched(reader);
}

/* In a process of its own, which is never asked to end. */
static int reader_run(void)
{
  const tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb__endpoint_options_t options = topic_options(&qos);
  tb__raw_reader_t *reader;
  options.partition = NULL;
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  assert_ok(tb__raw_reader_create(tb__ros2_context_participant(context), &options, NULL, NULL,
                                  &reader, NULL));
  await_matched(tb__raw_reader_match_word(reader), reader_matched, reader, 1);
  puts("matched");
  fflush(stdout);
  return getchar() == EOF;
}

/* The reader of Fast DDS has matched the writer when that sends to it, so it gets this sample, and
 * all that the writer would send again has come before. */
static void test_a_late_reader_in_a_partition_is_sent_nothing_again(void **state)
{
  const uint8_t sample[8] = {0, 1, 0, 0};
  const tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const tb__endpoint_options_t options = topic_options(&qos);
  tb__raw_writer_t *writer;
  peer_t frozen, fast;
  (void)state;
  assert_ok(tb__raw_writer_create(tb__ros2_context_participant(context), &options, &writer, NULL));
  peer_start(&frozen, (const char *const[]){"/proc/self/exe", "reader", NULL});
  peer_expect_line(&frozen, "matched");
  await_matched(tb__raw_writer_match_word(writer), writer_matched, writer, 1);
  freeze(&frozen);
  for (int i = 0; i < 3; i++)
    assert_ok(tb__raw_writer_write(writer, sample, sizeof sample, NULL));
  peer_start(&fast, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/node", NULL});
  peer_expect_line(&fast, "ready");
  obey(&fast, "partition apart", "ok");
  obey(&fast, "sub /history " MESSAGE " reliable", "ok");
  obey(&fast, "matched /history 1", "matched 1");
  await_matched(tb__raw_writer_match_word(writer), writer_matched, writer, 2);
  assert_ok(tb__raw_writer_write(writer, sample, sizeof sample, NULL));
  obey(&fast, "received /history 1", "received 1 8");
  peer_kill(&frozen);
  peer_stop(&fast);
  tb__raw_writer_destroy(writer);
}

int main(int argc, char **argv)
{
  (void)argv;
  if (argc == 2) return reader_run();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_late_reader_in_a_partition_is_sent_nothing_again),
      cmocka_unit_test(test_a_new_server_gets_no_earlier_request),
      cmocka_unit_test(test_the_limit_of_each_thread_ends_its_wait_for_a_full_writer),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

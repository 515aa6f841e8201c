/* What clients and services do when the other side is stuck, slow to be found, or in another
 * process: limits, queues and forks. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/log.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_service.h>
#include <timebase/testing.h>
#include <unistd.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "forking.h"
#include "platform/time.h"
#include "ros2/context.h"
#include "ros2/match_wait.h"
#include "ros2/service_pair.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/service_header.h"
#include "within.h"

#define LIMIT     ((tb_duration_t){120 * TB_NS_PER_S})
#define INSTANT   ((tb_duration_t){1})
#define TYPE      "std_srvs/srv/Trigger"
#define ADD       "example_interfaces/srv/AddTwoInts"
#define DOMAIN    35
#define WRITE_NS  (50 * TB_NS_PER_MS) /* for which a request or a reply may block, */
#define READER_NS (30 * TB_NS_PER_S)  /* for which a reply waits for its reader */
#define BIG       (64 * 1024)
#define MANY      1000 /* of the big ones: more than any writer keeps */

static tb_ros2_context_t *context;
static uint8_t big[BIG] = {0, 1, 0, 0};

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_context_destroy(context);
  return 0;
}

static void wait_for(sem_t *semaphore)
{
  while (sem_wait(semaphore) != 0)
    ;
}

/* ---- the other side is stopped ---- */

/* A process that may be stopped for a while without losing its lease. */
static void peer_start_patient(peer_t *peer, const char *const argv[])
{
  char config[2048], *kept = strdup(getenv("CYCLONEDDS_URI"));
  assert_non_null(kept);
  snprintf(config, sizeof config,
           "%s,<CycloneDDS><Domain><Discovery><LeaseDuration>600 s</LeaseDuration></Discovery>"
           "</Domain></CycloneDDS>",
           kept);
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  peer_start(peer, argv);
  assert_int_equal(setenv("CYCLONEDDS_URI", kept, 1), 0);
  free(kept);
}

static void peer_freeze(const peer_t *peer)
{
  int status;
  assert_int_equal(kill(peer->pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
  assert_true(WIFSTOPPED(status));
}

typedef struct tally {
  sem_t each;
  _Atomic int in_time;
} tally_t;

static void tally_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  tally_t *tally = user;
  if (status != TB_ERR_TIMEOUT) atomic_fetch_add(&tally->in_time, 1);
  sem_post(&tally->each);
}

static void test_requests_that_cannot_be_sent_run_into_their_limit(void **state)
{
  (void)state;
  peer_t peer;
  tally_t tally = {.in_time = 0};
  tb_ros2_client_t *client;
  tb_ros2_response_t response = {NULL, 0};
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const char *const argv[] = {TB_SERVICE_PEER, "echo", NULL};
  qos.history = TB_QOS_KEEP_ALL; /* otherwise old samples are replaced, and writes never block */
  sem_init(&tally.each, 0, 0);
  assert_ok(tb_ros2_client_create(context, "/echo", TYPE, &qos, &client, NULL));
  peer_start_patient(&peer, argv);
  peer_expect_line(&peer, "ready");
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  peer_freeze(&peer);

  int sent = 0;
  int64_t begin_ns;
  tb_status_t status;
  do
    begin_ns = tb__steady_now_ns();
  while (!(status = tb_ros2_client_call_async(client, big, sizeof big, INSTANT, tally_response,
                                              &tally, &error)) &&
         ++sent < MANY);
  assert_status(status, TB_ERR_TIMEOUT); /* nothing was sent, so the callback is not called: */
  assert_true(tb__steady_now_ns() - begin_ns >= WRITE_NS);
  for (int i = 0; i < sent; i++)
    wait_for(&tally.each);
  assert_int_equal(tally.in_time, 0);
  tb_duration_t limit = {4 * WRITE_NS}; /* the caller's, which holds */
  begin_ns = tb__steady_now_ns();
  assert_status(tb_ros2_client_call(client, big, sizeof big, WITHIN(limit), &response, NULL),
                TB_ERR_TIMEOUT);
  assert_true(tb__steady_now_ns() - begin_ns >= limit.ns);
  assert_null(response.cdr);

  assert_int_equal(kill(peer.pid, SIGCONT), 0);
  assert_ok(tb_ros2_client_call(client, big, 16, WITHIN(LIMIT), &response, &error));
  assert_int_equal(response.size, 16);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  assert_int_not_equal(sem_trywait(&tally.each), 0);
  peer_stop(&peer);
}

typedef struct noted {
  sem_t request;
  tb_ros2_request_id_t id;
} noted_t;

static void note_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service;
  noted_t *noted = user;
  noted->id = request->id;
  sem_post(&noted->request);
}

static void test_replies_that_cannot_be_sent_end_soon(void **state)
{
  (void)state;
  peer_t peer;
  noted_t noted;
  tb_ros2_service_t *service;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const char *const argv[] = {TB_ROS2_PEER, "call-add", "add", "20", "3", NULL};
  qos.history = TB_QOS_KEEP_ALL;
  sem_init(&noted.request, 0, 0);
  assert_ok(
      tb_ros2_service_create(context, "/add", ADD, &qos, note_request, &noted, &service, NULL));
  peer_start_patient(&peer, argv);
  peer_expect_line(&peer, "matched");
  peer_go_on(&peer);
  wait_for(&noted.request);
  peer_freeze(&peer);
  int sent = 0;
  tb_status_t status;
  int64_t begin_ns;
  do
    begin_ns = tb__steady_now_ns();
  while (!(status = tb_ros2_service_reply(service, &noted.id, big, sizeof big, &error)) &&
         ++sent < MANY);
  assert_status(status, TB_ERR_TIMEOUT);
  assert_true(tb__steady_now_ns() - begin_ns >= WRITE_NS);
  tb_ros2_service_destroy(service); /* what it has sent arrives nowhere, which it does not await */
  assert_int_equal(kill(peer.pid, SIGKILL), 0);
  peer_wait_killed(&peer);
}

/* ---- a client whose reader of replies is found late ---- */

/* A client in parts. */
typedef struct half {
  tb__service_pair_t pair;
  tb__raw_writer_t *writer;
  tb__raw_reader_t *reader;
  sem_t arrived;
} half_t;

static void half_open(half_t *half)
{
  tb__participant_t *participant = tb__ros2_context_participant(context);
  memset(half, 0, sizeof *half);
  sem_init(&half->arrived, 0, 0);
  assert_ok(tb__service_pair_init(&half->pair, context, "/half", TYPE, NULL, "clientid", NULL));
  assert_ok(tb__raw_writer_create(participant, &half->pair.request, &half->writer, NULL));
  assert_ok(tb__writer_wait_for_matched(half->writer, 1, NULL));
}

static void half_arrived(const tb_ros2_sample_t *sample, void *user)
{
  (void)sample;
  sem_post(&((half_t *)user)->arrived);
}

static void half_complete(half_t *half)
{
  assert_ok(tb__raw_reader_create(tb__ros2_context_participant(context), &half->pair.reply,
                                  half_arrived, half, &half->reader, NULL));
}

static void half_close(half_t *half)
{
  tb__raw_reader_destroy(half->reader);
  tb__raw_writer_destroy(half->writer);
}

static void half_request(half_t *half)
{
  static const uint8_t empty[] = {0, 1, 0, 0};
  uint8_t message[sizeof empty + TB__SERVICE_HEADER_SIZE];
  tb__service_header_t header = {tb__raw_writer_instance(half->writer), 1};
  assert_ok(tb__service_header_insert(&header, empty, sizeof empty, message));
  assert_ok(tb__raw_writer_write(half->writer, message, sizeof message, NULL));
}

static sem_t dropped;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  (void)user;
  if (strstr(message, "service /half: replies dropped: 1: ")) sem_post(&dropped);
}

/* Steady time is the test's: nothing is dropped unless the test moves time. */
static void test_a_reply_waits_for_the_reader_of_its_client(void **state)
{
  (void)state;
  noted_t noted;
  half_t first, second;
  tb_ros2_service_t *service;
  sem_init(&noted.request, 0, 0);
  sem_init(&dropped, 0, 0);
  tb_log_set_hook(on_log, NULL);
  assert_ok(
      tb_ros2_service_create(context, "/half", TYPE, NULL, note_request, &noted, &service, NULL));
  half_open(&first);
  half_request(&first);
  wait_for(&noted.request);
  assert_ok(tb_testing_hold_os_time());

  assert_ok(tb_ros2_service_reply(service, &noted.id, big, 16, NULL));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){READER_NS - 1}));
  assert_int_not_equal(sem_trywait(&dropped), 0);
  half_complete(&first);
  wait_for(&first.arrived);

  half_open(&second);
  half_request(&second);
  wait_for(&noted.request);
  assert_status(tb_ros2_service_reply(service, &noted.id, "xxxx", 4, NULL), TB_ERR_INVALID);
  assert_ok(tb_ros2_service_reply(service, &noted.id, big, 16, NULL));
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, (tb_duration_t){READER_NS}));
  wait_for(&dropped);
  half_complete(&second);
  assert_ok(tb_ros2_service_reply(service, &noted.id, big, 16, NULL));
  wait_for(&second.arrived);
  assert_int_not_equal(sem_trywait(&second.arrived), 0);
  assert_ok(tb_testing_release_os_time());

  half_close(&second);
  tb_status_t status;
  do
    status = tb_ros2_service_reply(service, &noted.id, big, 16, NULL);
  while (status == TB_OK); /* DDS reports it on its own thread */
  assert_status(status, TB_ERR_CLOSED);
  half_close(&first);
  tb_ros2_service_destroy(service);
  tb_log_set_hook(NULL, NULL);
}

/* ---- more requests than wait ---- */

typedef struct slow {
  sem_t entered, go_on;
  char order[16];
  _Atomic int count;
} slow_t;

static void serve_slowly(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  slow_t *slow = user;
  const uint8_t *body = request->cdr;
  slow->order[atomic_fetch_add(&slow->count, 1)] = (char)('0' + body[4]);
  sem_post(&slow->entered);
  wait_for(&slow->go_on);
  tb_ros2_service_reply(service, &request->id, request->cdr, request->size, NULL);
}

typedef struct outcome {
  sem_t done;
  tb_status_t status;
} outcome_t;

static void outcome_put(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  outcome_t *outcome = user;
  outcome->status = status;
  sem_post(&outcome->done);
}

static void send_request(tb_ros2_client_t *client, uint8_t number, outcome_t *outcome)
{
  uint8_t message[8] = {0, 1, 0, 0, number};
  sem_init(&outcome->done, 0, 0);
  assert_ok(tb_ros2_client_call_async(client, message, sizeof message, LIMIT, outcome_put, outcome,
                                      NULL));
}

/* Samples for an endpoint of the same process are there when the call that sends them returns. */
static void test_requests_that_wait_push_out_the_oldest(void **state)
{
  (void)state;
  slow_t slow = {.order = ""};
  outcome_t outcomes[7];
  tb_ros2_service_t *service;
  tb_ros2_client_t *client;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT, wide = TB_QOS_INIT_DEFAULT;
  qos.depth = 3;
  wide.depth = MANY;
  sem_init(&slow.entered, 0, 0);
  sem_init(&slow.go_on, 0, 0);
  assert_ok(
      tb_ros2_service_create(context, "/slow", TYPE, &qos, serve_slowly, &slow, &service, NULL));
  assert_ok(tb_ros2_client_create(context, "/slow", TYPE, &wide, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  send_request(client, 1, &outcomes[1]);
  wait_for(&slow.entered); /* it waits no more */
  for (uint8_t i = 2; i <= 6; i++)
    send_request(client, i, &outcomes[i]);
  for (int i = 0; i < 6; i++)
    sem_post(&slow.go_on);
  for (int i = 1; i <= 6; i++) {
    if (i == 2 || i == 3) continue;
    wait_for(&outcomes[i].done);
    assert_ok(outcomes[i].status);
  }
  tb_ros2_client_destroy(client);
  for (int i = 2; i <= 3; i++) {
    wait_for(&outcomes[i].done);
    assert_status(outcomes[i].status, TB_ERR_CLOSED);
  }
  tb_ros2_service_destroy(service);
  assert_string_equal(slow.order, "1456");
}

/* ---- forks ---- */

typedef struct child {
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  tb_ros2_request_id_t id;
} child_t;

static void abort_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status;
  (void)response;
  if (getpid() != *(pid_t *)user) abort();
}

/* Makes all calls in a forked child, where DDS has no threads: 0, or the line of the one that
 * failed. */
static int child_run(const child_t *child)
{
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  tb_ros2_response_t response;
  if (tb_ros2_client_create(context, "/c", TYPE, NULL, &client, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_service_create(context, "/c", TYPE, NULL, note_request, NULL, &service, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_client_is_service_ready(child->client)) return __LINE__;
  if (tb_ros2_client_wait_for_service(child->client, WITHIN(LIMIT)) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_client_call(child->client, big, 16, WITHIN(LIMIT), &response, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_client_call_async(child->client, big, 16, LIMIT, abort_response, NULL, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_service_reply(child->service, &child->id, big, 16, NULL) != TB_ERR_FORKED)
    return __LINE__;
  tb_ros2_client_destroy(child->client); /* with a request open, whose callback is the parent's */
  tb_ros2_service_destroy(child->service);
  tb_ros2_context_destroy(context);
  return 0;
}

static void *call_once(void *client)
{
  tb_ros2_response_t response;
  assert_status(tb_ros2_client_call(client, big, 16, WITHIN(LIMIT), &response, NULL),
                TB_ERR_CLOSED);
  return NULL;
}

static void test_C7_a_forked_child_is_refused_and_destroys_without_dds(void **state)
{
  (void)state;
  noted_t noted;
  child_t child;
  pthread_t caller;
  pid_t parent = getpid();
  sem_init(&noted.request, 0, 0);
  assert_ok(tb_ros2_service_create(context, "/mute", TYPE, NULL, note_request, &noted,
                                   &child.service, NULL));
  assert_ok(tb_ros2_client_create(context, "/mute", TYPE, NULL, &child.client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(child.client, WITHIN(LIMIT)));
  assert_ok(tb_ros2_client_call_async(child.client, big, 16, LIMIT, abort_response, &parent, NULL));
  wait_for(&noted.request);
  assert_int_equal(pthread_create(&caller, NULL, call_once, child.client), 0);
  wait_for(&noted.request);
  child.id = noted.id;
  pid_t pid = fork();
  if (pid == 0) {
    int line = child_run(&child);
    if (line) fprintf(stderr, "child: line %d\n", line);
    _exit(line ? 1 : 0);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  tb_ros2_service_destroy(child.service);
  pthread_join(caller, NULL);
  tb_ros2_client_destroy(child.client);
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(test_requests_that_cannot_be_sent_run_into_their_limit),
      IN_CONTEXT(test_replies_that_cannot_be_sent_end_soon),
      IN_CONTEXT(test_a_reply_waits_for_the_reader_of_its_client),
      IN_CONTEXT(test_requests_that_wait_push_out_the_oldest),
      IN_CONTEXT(test_C7_a_forked_child_is_refused_and_destroys_without_dds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

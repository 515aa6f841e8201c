/* A server of Fast DDS that is killed and started again while threads ask: no request is carried
 * out twice, whichever answers and acknowledgements are lost with a server. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>

#include "fastdds/ask.h"
#include "seed.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "test_folder.h"
#include "within.h"

#define DOMAIN  "23"
#define SERVICE "/stressed"
#define CLIENTS 3
#define THREADS 6
#define USUAL   12000 /* ms */
#define LARGE   20000 /* in fragments */

typedef struct asker {
  tb_ros2_client_t *client;
  uint64_t random;
  pthread_t thread;
} asker_t;

static tb_ros2_context_t *context;
static _Atomic bool stop;
static _Atomic uint64_t last; /* request; each has a number of its own */
static _Atomic unsigned answered, unanswered;
static char journal[64];

/* Some are answered without being waited for. */
static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)response;
  (void)user;
  if (status)
    unanswered++;
  else
    answered++;
}

static void ask_once(asker_t *asker)
{
  static _Thread_local uint8_t request[LARGE] = {0, 1};
  uint64_t number = ++last, random = test_random(&asker->random);
  size_t size = random % 16 == 0 ? LARGE : 12;
  tb_duration_t limit = {(int64_t)(1 + (random >> 8) % 300) * TB_NS_PER_MS};
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status;
  memcpy(request + 4, &number, sizeof number);
  if (random % 8 == 1) {
    status =
        tb_ros2_client_call_async(asker->client, request, size, limit, on_response, NULL, NULL);
    if (status == TB_OK) return;
  } else {
    status = tb_ros2_client_call(asker->client, request, size, WITHIN(limit), &response, NULL);
  }
  if (!status && memcmp(response.cdr, request, 12) != 0) fail_msg("the answer of another request");
  if (status && status != TB_ERR_TIMEOUT && status != TB_ERR_NOT_FOUND && status != TB_ERR_CLOSED)
    fail_msg("%s", tb_status_name(status));
  on_response(status, NULL, NULL);
  tb_ros2_response_release(&response);
}

static void *asker_run(void *argument)
{
  while (!stop)
    ask_once(argument);
  return NULL;
}

static void start(peer_t *peer)
{
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/node", NULL});
  peer_expect_line(peer, "ready");
  peer_say(peer, "journal %s", journal);
  peer_expect_line(peer, "ok");
  peer_say(peer, "echo " SERVICE " " ASK_TYPE);
  peer_expect_line(peer, "ok");
}

static void await_answers(unsigned count)
{
  unsigned before = answered;
  while (answered - before < count)
    sched_yield();
}

static void peer_kill(peer_t *peer)
{
  assert_int_equal(kill(peer->pid, SIGKILL), 0);
  peer_wait_killed(peer);
}

static void freeze(const peer_t *peer)
{
  int status;
  assert_int_equal(kill(peer->pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
  assert_true(WIFSTOPPED(status));
}

/* A server that has answered some requests ends: as it should, or by SIGKILL, at once or frozen
 * while others were sent. */
static void server_run(uint64_t *random)
{
  peer_t peer;
  uint64_t choice = test_random(random);
  start(&peer);
  await_answers((unsigned)(1 + choice % 200));
  if (choice % 8 == 1) {
    peer_stop(&peer);
    return;
  }
  if (choice % 3 == 0) {
    unsigned before = unanswered;
    freeze(&peer);
    while (unanswered - before < 5)
      sched_yield();
  }
  peer_kill(&peer);
}

static int compare(const void *a, const void *b)
{
  return memcmp(a, b, 25);
}

/* The lines of the journal that are there again. */
static unsigned count_twice(unsigned *out_lines)
{
  FILE *file = fopen(journal, "r");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  size_t count = (size_t)ftell(file) / 25, twice = 0;
  char(*lines)[25] = malloc(count * 25 + 1);
  assert_non_null(lines);
  rewind(file);
  assert_int_equal(fread(lines, 25, count, file), count);
  fclose(file);
  qsort(lines, count, 25, compare);
  for (size_t i = 1; i < count; i++)
    twice += compare(lines[i - 1], lines[i]) == 0;
  free(lines);
  *out_lines = (unsigned)count;
  return (unsigned)twice;
}

static void test_no_request_is_carried_out_twice(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  tb_ros2_client_t *clients[CLIENTS];
  asker_t askers[THREADS];
  unsigned servers = 0, lines;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  time_t begin = time(NULL);
  for (int i = 0; i < CLIENTS; i++) {
    if (i == 1) qos.history = TB_QOS_KEEP_ALL;
    assert_ok(tb_ros2_client_create(context, SERVICE, ASK_TYPE, &qos, &clients[i], NULL));
  }
  for (int i = 0; i < THREADS; i++) {
    askers[i] = (asker_t){.client = clients[i % CLIENTS], .random = test_random(&random)};
    assert_int_equal(pthread_create(&askers[i].thread, NULL, asker_run, &askers[i]), 0);
  }
  do {
    server_run(&random);
    servers++;
  } while ((time(NULL) - begin) * 1000 < test_duration_ms(USUAL));
  stop = true;
  for (int i = 0; i < THREADS; i++)
    pthread_join(askers[i].thread, NULL);
  for (int i = 0; i < CLIENTS; i++)
    tb_ros2_client_destroy(clients[i]);
  unsigned twice = count_twice(&lines);
  print_message("%u servers, %u requests: %u carried out, %u of them twice, %u answered\n", servers,
                (unsigned)last, lines, twice, (unsigned)answered);
  assert_int_equal(twice, 0);
}

static int setup(void **state)
{
  tb_error_t error = TB_ERROR_INIT;
  if (test_folder_setup(state)) return -1;
  snprintf(journal, sizeof journal, "%s/journal", test_folder);
  loopback_setup(atoi(DOMAIN));
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  tb_ros2_context_destroy(context);
  return test_folder_teardown(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_request_is_carried_out_twice),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

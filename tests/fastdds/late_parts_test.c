/* Clients on Fast DDS of which a part comes late: a reply waits for its reader; and a first request
 * arrives, however late its writer becomes known. */
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/log.h>
#include <timebase/ros2_service.h>
#include <timebase/testing.h>

#include "dds/first_sample.h"
#include "dds/inner_writer.h"
#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "held/parking.h"
#include "ros2/context.h"
#include "ros2/service_pair.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#include <dds/ddsi/ddsi_entity_index.h> /* which need inner_writer.h */
#include <dds/ddsi/ddsi_proxy_endpoint.h>

#define DOMAIN "33"
#define LIMIT  ((tb_duration_t){120 * TB_NS_PER_S})
#define TYPE   "std_srvs/srv/Trigger"
#define PARKED ((tb_duration_t){30 * TB_NS_PER_S})

static tb_ros2_context_t *context;
static sem_t dropped, dropped_rest;

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  (void)user;
  if (strstr(message, "replies dropped: 1:")) sem_post(&dropped);
  if (strstr(message, "replies dropped: 3:")) sem_post(&dropped_rest);
}

static int setup(void **state)
{
  tb_error_t error = TB_ERROR_INIT;
  (void)state;
  loopback_setup(atoi(DOMAIN));
  sem_init(&dropped, 0, 0);
  sem_init(&dropped_rest, 0, 0);
  tb_log_set_hook(on_log, NULL);
  if (tb_ros2_context_create(NULL, &context, &error)) fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  tb_log_set_hook(NULL, NULL);
  return 0;
}

static void start(peer_t *peer, const char *node)
{
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", node, NULL});
  peer_expect_line(peer, "ready");
}

static void wait_for(sem_t *semaphore)
{
  while (sem_wait(semaphore) != 0)
    ;
}

/* ---- replies ---- */

static sem_t replied;

static void echo(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  assert_ok(tb_ros2_service_reply(service, &request->id, request->cdr, request->size, NULL));
  sem_post(&replied);
}

static tb_ros2_service_t *serve(const char *name)
{
  tb_ros2_service_t *service;
  sem_init(&replied, 0, 0);
  assert_ok(tb_ros2_service_create(context, name, TYPE, NULL, echo, NULL, &service, NULL));
  return service;
}

/* The reply returns while there is no reader, and the reader gets it. */
static void test_a_reply_waits_and_its_thread_does_not(void **state)
{
  (void)state;
  peer_t peers[2];
  tb_ros2_service_t *service = serve("/echo");
  start(&peers[0], "/deaf");
  start(&peers[1], "/other");
  for (int i = 0; i < 3; i++) {
    peer_say(&peers[0],
             i == 1 ? "post /echo " TYPE " --size 200000" : "post /echo " TYPE " --size 16");
    peer_expect_line(&peers[0], "posted");
    wait_for(&replied);
    if (i < 2) continue;
    peer_say(&peers[1], "call /echo " TYPE " --size 24");
    peer_expect_line(&peers[1], "reply 24 same");
  }
  peer_say(&peers[0], "listen /echo");
  peer_expect_line(&peers[0], "reply 16 same");
  peer_say(&peers[0], "strays /echo");
  char line[64];
  unsigned strays = 0;
  peer_read_line(&peers[0], line, sizeof line);
  assert_int_equal(sscanf(line, "strays %u", &strays), 1);
  assert_true(strays >= 2); /* to the two before, and perhaps that of the other client */
  peer_say(&peers[0], "call /echo " TYPE " --size 32");
  peer_expect_line(&peers[0], "reply 32 same");
  peer_stop(&peers[0]);
  peer_stop(&peers[1]);
  tb_ros2_service_destroy(service);
  assert_int_not_equal(sem_trywait(&dropped), 0);
}

/* Steady time is the test's. */
static void test_a_reply_does_not_wait_for_ever(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_service_t *service = serve("/echo");
  start(&peer, "/deaf");
  peer_say(&peer, "post /echo " TYPE " --size 16");
  peer_expect_line(&peer, "posted");
  wait_for(&replied);
  assert_ok(tb_testing_hold_os_time());
  assert_ok(tb_testing_advance(TB_TESTING_STEADY, PARKED));
  wait_for(&dropped);
  peer_say(&peer, "post /echo " TYPE " --size 20");
  peer_expect_line(&peer, "posted");
  wait_for(&replied);
  peer_say(&peer, "listen /echo");
  peer_expect_line(&peer, "reply 20 same");
  peer_say(&peer, "strays /echo");
  peer_expect_line(&peer, "strays 0");
  assert_ok(tb_testing_release_os_time());
  peer_stop(&peer);
  tb_ros2_service_destroy(service);
}

static void test_what_waits_goes_with_its_service_and_its_client(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_service_t *service = serve("/echo");
  start(&peer, "/deaf");
  for (int i = 0; i < 20; i++) { /* more than are kept for one participant */
    peer_say(&peer, "post /echo " TYPE " --size 16");
    peer_expect_line(&peer, "posted");
    wait_for(&replied);
  }
  wait_for(&dropped);
  peer_stop(&peer);
  start(&peer, "/deaf");
  peer_say(&peer, "post /echo " TYPE " --size 16");
  peer_expect_line(&peer, "posted");
  wait_for(&replied);
  assert_int_not_equal(sem_trywait(&dropped_rest), 0);
  tb_ros2_service_destroy(service);
  assert_int_equal(sem_trywait(&dropped_rest), 0); /* the others of the 20 */
  peer_stop(&peer);
}

/* ---- requests ---- */

typedef struct requests {
  tb__service_pair_t pair;
  tb__raw_reader_t *reader;
  tb__raw_writer_t *writer;
  tb__guid_t writer_of_last;
  sem_t arrived;
} requests_t;

static void on_request(const tb_ros2_sample_t *sample, void *user)
{
  requests_t *requests = user;
  if (sample->size != 200000) return;
  requests->writer_of_last = tb__guid_of(sample->writer_guid);
  sem_post(&requests->arrived);
}

/* The endpoints of a server: Cyclone DDS connects them, and nothing else is done for a request. */
static void requests_open(requests_t *requests)
{
  tb__participant_t *participant = tb__ros2_context_participant(context);
  sem_init(&requests->arrived, 0, 0);
  assert_ok(
      tb__service_pair_init(&requests->pair, context, "/echo", TYPE, NULL, "serviceid", NULL));
  assert_ok(tb__raw_writer_create(participant, &requests->pair.reply, &requests->writer, NULL));
  assert_ok(tb__raw_reader_create(participant, &requests->pair.request, on_request, requests,
                                  &requests->reader, NULL));
}

static void requests_close(requests_t *requests)
{
  tb__raw_reader_destroy(requests->reader);
  tb__raw_writer_destroy(requests->writer);
}

static void expect_request(requests_t *requests, peer_t *peer)
{
  peer_say(peer, "call --limit 1 /none " TYPE " --size 16"); /* its participant is there */
  peer_expect_line(peer, "no service");
  peer_say(peer, "post /echo " TYPE " --size 200000");
  peer_expect_line(peer, "posted");
  wait_for(&requests->arrived);
}

/* A request of many fragments comes with many heartbeats. */
static void test_the_first_request_arrives_whatever_threads_do(void **state)
{
  (void)state;
  requests_t requests;
  peer_t peers[3];
  requests_open(&requests);
  for (int i = 0; i < 3; i++) {
    start(&peers[i], "/asker");
    expect_request(&requests, &peers[i]);
  }
  requests_close(&requests);
  requests_open(&requests); /* of clients that were known before */
  for (int i = 0; i < 3; i++) {
    expect_request(&requests, &peers[i]);
    peer_stop(&peers[i]);
  }
  requests_close(&requests);
}

/* ---- a server after a server ---- */

static requests_t *removed_late; /* its reader goes while the next one is being made */

typedef struct seen_writer {
  bool has_reader, has_seen_heartbeat;
} seen_writer_t;

/* What Cyclone DDS knows of a remote writer. */
static seen_writer_t look(const struct ddsi_sertype *type, const tb__guid_t *writer)
{
  struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  struct thread_state *thread = lookup_thread_state();
  ddsi_guid_t guid = tb__inner_guid(writer->bytes);
  thread_state_awake(thread, domain);
  struct ddsi_proxy_writer *found = entidx_lookup_proxy_writer_guid(domain->entity_index, &guid);
  assert_non_null(found);
  ddsrt_mutex_lock(&found->e.lock);
  seen_writer_t seen = {found->n_reliable_readers > 0, found->have_seen_heartbeat};
  ddsrt_mutex_unlock(&found->e.lock);
  thread_state_asleep(thread);
  return seen;
}

dds_return_t __real_tb__first_sample_expect(dds_entity_t participant,
                                            const struct ddsi_sertype *type, const char *topic,
                                            bool is_own);
dds_return_t __wrap_tb__first_sample_expect(dds_entity_t participant,
                                            const struct ddsi_sertype *type, const char *topic,
                                            bool is_own);

dds_return_t __wrap_tb__first_sample_expect(dds_entity_t participant,
                                            const struct ddsi_sertype *type, const char *topic,
                                            bool is_own)
{
  dds_return_t code = __real_tb__first_sample_expect(participant, type, topic, is_own);
  if (!removed_late) return code;
  tb__raw_reader_destroy(removed_late->reader);
  while (look(type, &removed_late->writer_of_last).has_reader)
    sched_yield(); /* a thread of Cyclone DDS removes it */
  removed_late = NULL;
  return code;
}

static void freeze(const peer_t *peer)
{
  int status;
  assert_int_equal(kill(peer->pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
  assert_true(WIFSTOPPED(status));
}

/* As when a server is closed and opened again at once. */
static void test_the_first_request_arrives_while_the_last_reader_is_removed(void **state)
{
  (void)state;
  requests_t first, second;
  peer_t peer;
  requests_open(&first);
  start(&peer, "/asker");
  expect_request(&first, &peer);
  freeze(&peer); /* so that no heartbeat comes */
  removed_late = &first;
  requests_open(&second);
  assert_null(removed_late);
  seen_writer_t seen = look(tb__raw_reader_peers(second.reader).type, &first.writer_of_last);
  assert_true(seen.has_reader && seen.has_seen_heartbeat);
  assert_int_equal(kill(peer.pid, SIGCONT), 0);
  expect_request(&second, &peer);
  peer_stop(&peer);
  tb__raw_writer_destroy(first.writer);
  requests_close(&second);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_reply_waits_and_its_thread_does_not, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_reply_does_not_wait_for_ever, setup, teardown),
      cmocka_unit_test_setup_teardown(test_what_waits_goes_with_its_service_and_its_client, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_the_first_request_arrives_whatever_threads_do, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(
          test_the_first_request_arrives_while_the_last_reader_is_removed, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

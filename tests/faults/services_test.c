/* The faults of ros2_test.c for clients and services. */
#include <dds/dds.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_service.h>

#include "faults.h"
#include "loopback.h"
#include "platform/time.h"
#include "ros2/context.h"
#include "within.h"

#define TYPE  "std_srvs/srv/Trigger"
#define LIMIT ((tb_duration_t){120 * TB_NS_PER_S})

/* What is there before, and works after. */
typedef struct stage {
  tb_ros2_context_t *context;
  tb_ros2_service_t *service; /* NULL: none before, and no dispatch thread */
} stage_t;

static _Atomic bool taken_for_gone; /* the client: nothing could be learned of it */

/* The second attempt succeeds: one call fails in a run. */
static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  tb_status_t status = TB_ERR_NO_MEMORY;
  for (int attempt = 0; attempt < 2 && status; attempt++)
    status = tb_ros2_service_reply(service, &request->id, request->cdr, request->size, NULL);
  if (status == TB_ERR_CLOSED) atomic_store(&taken_for_gone, true);
}

static tb_status_t makes_service(const stage_t *stage)
{
  tb_status_t status;
  tb_ros2_service_t *service = NULL;
  tb_ros2_client_t *client = NULL;
  TRY_MAKE(service, tb_ros2_service_create(stage->context, "/faulty", TYPE, NULL, answer, NULL,
                                           &service, NULL));
  TRY_MAKE(client, tb_ros2_client_create(stage->context, "/faulty", TYPE, NULL, &client, NULL));
  status = tb_ros2_client_wait_for_service(client, WITHIN(TB_NO_WAIT));
  if (status == TB_ERR_TIMEOUT) status = TB_OK; /* an endpoint without data counts as gone */
end:
  tb_ros2_client_destroy(client);
  tb_ros2_service_destroy(service);
  return status;
}

typedef struct answered {
  sem_t done;
  tb_status_t status;
} answered_t;

static void on_answer(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  answered_t *answered = user;
  answered->status = status;
  if (response) assert_int_equal(response->size, 8);
  sem_post(&answered->done);
}

/* False if no answer may come any more: the service did not get the request for lack of memory, or
 * does not know the client. It may still come late. */
static bool wait_for_answer(answered_t *answered)
{
  int64_t late_ns = tb__steady_now_ns() + TB_NS_PER_S;
  while (sem_trywait(&answered->done) != 0) {
    bool is_lost = fault_status() == TB_ERR_NO_MEMORY || atomic_load(&taken_for_gone);
    if (is_lost && tb__steady_now_ns() > late_ns) return false;
    sched_yield();
  }
  return true;
}

/* The client does not learn which resource the service lacked. */
static tb_status_t requests(const stage_t *stage)
{
  static const uint8_t request[] = {0, 1, 0, 0, 7};
  tb_ros2_client_t *client;
  answered_t answered = {.status = TB_OK};
  fault_arm(false);
  atomic_store(&taken_for_gone, false);
  sem_init(&answered.done, 0, 0);
  assert_ok(tb_ros2_client_create(stage->context, "/before", TYPE, NULL, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  fault_arm(true);
  tb_status_t status =
      tb_ros2_client_call_async(client, request, sizeof request, LIMIT, on_answer, &answered, NULL);
  bool lost = !status && !wait_for_answer(&answered);
  tb_ros2_client_destroy(client);
  if (lost) assert_int_equal(sem_trywait(&answered.done), 0);
  if (lost && answered.status == TB_ERR_CLOSED) return fault_status();
  if (!status) status = answered.status;
  return status ? status : fault_status();
}

static void stage_serve(stage_t *stage)
{
  assert_ok(tb_ros2_service_create(stage->context, "/before", TYPE, NULL, answer, NULL,
                                   &stage->service, NULL));
}

static void answers_a_call(const stage_t *stage)
{
  static const uint8_t request[] = {0, 1, 0, 0, 7};
  tb_ros2_client_t *client;
  tb_ros2_response_t response;
  assert_ok(tb_ros2_client_create(stage->context, "/before", TYPE, NULL, &client, NULL));
  assert_ok(tb_ros2_client_call(client, request, sizeof request, WITHIN(LIMIT), &response, NULL));
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
}

static int entities(const stage_t *stage)
{
  int count = dds_get_children(tb__participant_handle(tb__ros2_context_participant(stage->context)),
                               NULL, 0);
  assert_true(count >= 0);
  return count;
}

/* Cyclone makes a subscriber for the first reader of a builtin topic, and keeps it. */
static void builtin_subscriber_make(const stage_t *stage)
{
  dds_entity_t participant = tb__participant_handle(tb__ros2_context_participant(stage->context));
  dds_entity_t reader =
      dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, NULL, NULL);
  assert_true(reader > 0);
  dds_delete(reader);
}

/* Each run has a domain, as in ros2_test.c. */
static tb_status_t in_a_domain(tb_status_t (*scenario)(const stage_t *), bool is_served)
{
  stage_t stage = {0};
  fault_arm(false);
  assert_ok(tb_ros2_context_create(NULL, &stage.context, NULL));
  builtin_subscriber_make(&stage);
  if (is_served) stage_serve(&stage);
  int entities_before = entities(&stage);
  fault_arm(true);
  tb_status_t status = scenario(&stage);
  fault_arm(false);
  assert_int_equal(entities(&stage), entities_before);
  if (!is_served) stage_serve(&stage);
  assert_ok(makes_service(&stage));
  answers_a_call(&stage);
  tb_ros2_service_destroy(stage.service);
  tb_ros2_context_destroy(stage.context);
  return status;
}

static tb_status_t makes_service_in_a_domain(void)
{
  return in_a_domain(makes_service, false);
}

static tb_status_t requests_in_a_domain(void)
{
  return in_a_domain(requests, true);
}

static int only_loopback(void **state)
{
  (void)state;
  loopback_setup(36);
  signal(SIGSEGV,
         SIG_DFL); /* a crash inside the middleware leaves it locked: nothing can continue */
  return 0;
}

static void test_faults_of_clients_and_services(void **state)
{
  (void)state;
  fault_sweep(makes_service_in_a_domain, NULL);
}

static void test_faults_of_a_call(void **state)
{
  (void)state;
  fault_sweep(requests_in_a_domain, NULL);
}

/* A type as idlc makes them, of a string. */
static tb_status_t makes_a_message_of_a_struct(void)
{
  static const uint32_t code[] = {DDS_OP_ADR | DDS_OP_TYPE_STR, 0, DDS_OP_RTS};
  static const dds_topic_descriptor_t type = {
      .m_size = sizeof(char *), .m_typename = "Text", .m_ops = code};
  const char *text = "some text";
  void *cdr = NULL, *sample = NULL;
  size_t size;
  tb_status_t status;
  TRY_MAKE(cdr, tb_ros2_idl_encode(&type, &text, &cdr, &size, NULL));
  TRY_MAKE(sample, tb_ros2_idl_decode(&type, cdr, size, &sample, NULL));
  assert_string_equal(*(char **)sample, text);
end:
  tb_ros2_idl_free(sample);
  tb_ros2_idl_free(cdr);
  return status;
}

static void test_faults_of_structs_and_messages(void **state)
{
  (void)state;
  fault_sweep(makes_a_message_of_a_struct, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_faults_of_clients_and_services, only_loopback),
      cmocka_unit_test_setup(test_faults_of_a_call, only_loopback),
      cmocka_unit_test(test_faults_of_structs_and_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

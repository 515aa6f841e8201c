/* Requests and answers that cannot be marked for Fast DDS: they are too large for packets with
 * inline QoS, or there is no memory to begin with it. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_service.h>

#include "dds/transport_hook.h"
#include "fastdds/ask.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN    "22"
#define LIMIT     ((tb_duration_t){60 * TB_NS_PER_S})
#define SMALL     64
#define TOO_LARGE 65440 /* with the packets of `setup` */

static peer_t fast;
static tb_ros2_context_t *context;
static _Atomic bool has_no_memory; /* for the function in the transport */
static uint8_t large[TOO_LARGE] = {0, 1};

tb__inline_qos_support_t __real_tb__transport_hook_install(int32_t writer,
                                                           const struct ddsi_sertype *type);
tb__inline_qos_support_t __wrap_tb__transport_hook_install(int32_t writer,
                                                           const struct ddsi_sertype *type);

tb__inline_qos_support_t __wrap_tb__transport_hook_install(int32_t writer,
                                                           const struct ddsi_sertype *type)
{
  if (has_no_memory) return (tb__inline_qos_support_t){.state = TB__INLINE_QOS_OFF_MEMORY};
  return __real_tb__transport_hook_install(writer, type);
}

static void obey(const char *line, const char *answer)
{
  peer_say(&fast, "%s", line);
  peer_expect_line(&fast, answer);
}

/* Fragments fill a packet. */
static int setup(void **state)
{
  char config[2048];
  (void)state;
  loopback_setup(atoi(DOMAIN));
  int length = snprintf(config, sizeof config,
                        "%s,<CycloneDDS><Domain><General><MaxMessageSize>65500B</MaxMessageSize>"
                        "<FragmentSize>65400B</FragmentSize></General></Domain></CycloneDDS>",
                        getenv("CYCLONEDDS_URI"));
  assert_true(length < (int)sizeof config);
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  peer_start(&fast, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/node", NULL});
  peer_expect_line(&fast, "ready");
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(context);
  peer_stop(&fast);
  return 0;
}

static tb_ros2_client_t *client_of(const char *service)
{
  tb_ros2_client_t *client;
  assert_ok(tb_ros2_client_create(context, service, ASK_TYPE, NULL, &client, NULL));
  return client;
}

static tb_status_t ask(tb_ros2_client_t *client, const void *request, size_t size,
                       tb_error_t *error)
{
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status = tb_ros2_client_call(client, request, size, WITHIN(LIMIT), &response, error);
  if (!status) assert_int_equal(response.size, size);
  tb_ros2_response_release(&response);
  return status;
}

static _Atomic unsigned requests, large_requests;

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  requests++;
  if (request->size >= TOO_LARGE) large_requests++;
  tb_ros2_service_reply(service, &request->id, request->cdr, request->size, NULL);
}

static tb_ros2_service_t *service_of(const char *name)
{
  tb_ros2_service_t *service;
  assert_ok(tb_ros2_service_create(context, name, ASK_TYPE, NULL, answer, NULL, &service, NULL));
  return service;
}

/* ---- too large ---- */

/* Requests of another size count as malformed. */
static void open_fast(const char *service)
{
  char line[256];
  int used = snprintf(line, sizeof line, "echo %s " ASK_TYPE " ", service);
  for (size_t i = 0; i < SMALL; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, "%02x", large[i]);
  obey(line, "ok");
}

static void test_a_request_too_large_for_fast_dds_goes_to_the_others(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *client = client_of("/large");
  open_fast("/large");
  assert_ok(ask(client, large, SMALL, NULL));
  assert_status(ask(client, large, sizeof large, &error), TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, "General/FragmentSize"));
  tb_ros2_service_t *service = service_of("/large");
  while (requests == 0)
    assert_ok(ask(client, large, SMALL, NULL));
  assert_ok(ask(client, large, sizeof large, &error));
  assert_int_equal(large_requests, 1);
  tb_ros2_service_destroy(service);
  assert_ok(ask(client, large, SMALL, NULL));
  requests_of(&fast); /* none was malformed */
  tb_ros2_client_destroy(client);
  obey("close /large", "ok");
}

/* ---- no memory ---- */

/* The writer for such servers is not made without the mark, which it would keep lacking. */
static void test_a_client_marks_its_requests_once_there_is_memory(void **state)
{
  (void)state;
  tb_ros2_client_t *client = client_of("/memory");
  has_no_memory = true;
  open_fast("/memory");
  assert_status(ask(client, large, SMALL, NULL), TB_ERR_NO_MEMORY);
  has_no_memory = false;
  assert_ok(ask(client, large, SMALL, NULL));
  tb_ros2_service_t *service = service_of("/memory");
  requests = 0;
  while (requests == 0) /* TB_ERR_UNSUPPORTED if the kinds cannot be kept apart */
    assert_ok(ask(client, large, SMALL, NULL));
  tb_ros2_service_destroy(service);
  tb_ros2_client_destroy(client);
  obey("close /memory", "ok");
}

typedef struct noted {
  pthread_mutex_t mutex;
  _Atomic unsigned count;
  char text[512];
} noted_t;

static void note(tb_log_level_t level, const char *text, void *user)
{
  noted_t *noted = user;
  if (!strstr(text, "/answered")) return;
  pthread_mutex_lock(&noted->mutex);
  assert_int_equal(level, TB_LOG_WARN);
  snprintf(noted->text, sizeof noted->text, "%s", text);
  noted->count++;
  pthread_mutex_unlock(&noted->mutex);
}

/* "no service": it has not been found yet. */
static void call_in_vain(void)
{
  char line[64];
  do {
    peer_say(&fast, "call --limit 500 /answered " ASK_TYPE " --size 16");
    peer_read_line(&fast, line, sizeof line);
  } while (strcmp(line, "no service") == 0);
  assert_string_equal(line, "no answer");
}

static void test_a_service_logs_once_that_it_cannot_answer(void **state)
{
  (void)state;
  noted_t noted = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  tb_log_set_hook(note, &noted);
  has_no_memory = true;
  requests = 0;
  tb_ros2_service_t *service = service_of("/answered");
  while (noted.count == 0) /* the first request may come late */
    call_in_vain();
  call_in_vain();
  call_in_vain();
  assert_int_equal(requests, 0);
  assert_int_equal(noted.count, 1);
  assert_string_equal(noted.text,
                      "service /answered does not answer clients of Fast DDS: out of memory");
  has_no_memory = false;
  obey("call /answered " ASK_TYPE " --size 16", "reply 16 same");
  assert_true(requests > 0);
  tb_log_set_hook(NULL, NULL);
  tb_ros2_service_destroy(service);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_request_too_large_for_fast_dds_goes_to_the_others),
      cmocka_unit_test(test_a_client_marks_its_requests_once_there_is_memory),
      cmocka_unit_test(test_a_service_logs_once_that_it_cannot_answer),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

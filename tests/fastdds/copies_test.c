/* Two copies of the library in one process: that of this program, and a shared one that it loads.
 * Each inserts what its requests to servers of Fast DDS need into packets, after the other. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_client.h>

#include "dds/inner_writer.h"
#include "dds/raw_type.h"
#include "fastdds/ask.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#include <dds/ddsi/ddsi_builtin_topic_if.h> /* which needs inner_writer.h */

#define DOMAIN  "21"
#define SERVICE "/copies"
#define ROUNDS  6
#define LIMIT   ((tb_duration_t){60 * TB_NS_PER_S})
#define SHORT   ((tb_duration_t){100000000})

/* What is asked with. */
typedef struct copy {
  tb_status_t (*context_create)(const tb_ros2_context_options_t *, size_t, tb_ros2_context_t **,
                                tb_error_t *);
  void (*context_destroy)(tb_ros2_context_t *);
  tb_status_t (*client_create)(tb_ros2_context_t *, const char *, const char *, const tb_qos_t *,
                               tb_ros2_client_t **, tb_error_t *);
  void (*client_destroy)(tb_ros2_client_t *);
  tb_status_t (*call)(tb_ros2_client_t *, const void *, size_t, const tb_wait_options_t *, size_t,
                      tb_ros2_response_t *, tb_error_t *);
  void (*release)(tb_ros2_response_t *);
  tb_ros2_context_t *context;
  tb_ros2_client_t *client;
} copy_t;

static copy_t own = {
    .context_create = tb_ros2_context_create_sized,
    .context_destroy = tb_ros2_context_destroy,
    .client_create = tb_ros2_client_create,
    .client_destroy = tb_ros2_client_destroy,
    .call = tb_ros2_client_call_sized,
    .release = tb_ros2_response_release,
};
static copy_t loaded;
static peer_t fast, cyclone;

static void find(void *library, const char *name, void *function)
{
  void *found = dlsym(library, name);
  if (!found) fail_msg("%s", dlerror());
  memcpy(function, &found, sizeof found);
}

static void load(void)
{
  void *library = dlopen(TB_ROS2_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  find(library, "tb_ros2_context_create_sized", &loaded.context_create);
  find(library, "tb_ros2_context_destroy", &loaded.context_destroy);
  find(library, "tb_ros2_client_create", &loaded.client_create);
  find(library, "tb_ros2_client_destroy", &loaded.client_destroy);
  find(library, "tb_ros2_client_call_sized", &loaded.call);
  find(library, "tb_ros2_response_release", &loaded.release);
  assert_ptr_not_equal(loaded.call, own.call);
}

static void obey(peer_t *peer, const char *line, const char *answer)
{
  peer_say(peer, "%s", line);
  peer_expect_line(peer, answer);
}

/* Any request that is not of ask.h is counted as malformed. */
static void start_fast(peer_t *peer)
{
  char line[256];
  int used = snprintf(line, sizeof line, "echo " SERVICE " " ASK_TYPE " ");
  for (size_t i = 0; i < sizeof ask_request; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, "%02x", ask_request[i]);
  peer_start(peer, (const char *const[]){TB_FASTDDS_PEER, DOMAIN, "lo", "/node", NULL});
  peer_expect_line(peer, "ready");
  obey(peer, line, "ok");
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(atoi(DOMAIN));
  load();
  start_fast(&fast);
  peer_start(&cyclone, (const char *const[]){TB_CYCLONE_SERVER, NULL});
  peer_expect_line(&cyclone, "ready");
  obey(&cyclone, "open " SERVICE, "ok");
  return 0;
}

static void open_copy(copy_t *copy)
{
  tb_error_t error = TB_ERROR_INIT;
  if (copy->context_create(NULL, 0, &copy->context, &error) ||
      copy->client_create(copy->context, SERVICE, ASK_TYPE, NULL, &copy->client, &error))
    fail_msg("%s", error.text);
}

static void close_copy(copy_t *copy)
{
  copy->client_destroy(copy->client);
  copy->context_destroy(copy->context);
}

static tb_status_t ask(copy_t *copy, tb_duration_t limit)
{
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status = copy->call(copy->client, ask_request, sizeof ask_request, WITHIN(limit),
                                  sizeof(tb_wait_options_t), &response, NULL);
  copy->release(&response);
  return status;
}

/* Until both servers have had a request. */
static void ask_both(copy_t *copy)
{
  unsigned fast_before = requests_of(&fast), cyclone_before = requests_of(&cyclone);
  do
    assert_ok(ask(copy, LIMIT));
  while (requests_of(&fast) == fast_before || requests_of(&cyclone) == cyclone_before);
}

/* The one that is opened first makes the domain, and is closed last, with which the domain is
 * deleted. Connections of the next one may be at the same addresses. */
static void test_each_copy_asks_both_kinds_in_domain_after_domain(void **state)
{
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    copy_t *first = round % 4 < 2 ? &own : &loaded, *second = first == &own ? &loaded : &own;
    open_copy(first);
    if (round % 2) ask_both(first);
    open_copy(second);
    ask_both(second);
    ask_both(first);
    ask_both(second);
    close_copy(second);
    ask_both(first);
    close_copy(first);
  }
}

static void freeze(const peer_t *peer)
{
  int status;
  assert_int_equal(kill(peer->pid, SIGSTOP), 0);
  assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
  assert_true(WIFSTOPPED(status));
}

/* Without an answer while the servers are frozen. */
static void ask_other(copy_t *copy)
{
  const uint8_t request[8] = {0, 1, 0, 0, 1};
  tb_ros2_response_t response = {NULL, 0};
  for (int i = 0; i < 3; i++)
    assert_status(copy->call(copy->client, request, sizeof request, WITHIN(SHORT),
                             sizeof(tb_wait_options_t), &response, NULL),
                  TB_ERR_TIMEOUT);
}

static void ask_until_answered(copy_t *copy)
{
  tb_status_t status;
  while ((status = ask(copy, SHORT)))
    assert_status(status, TB_ERR_TIMEOUT);
}

/* A reader of Fast DDS has one function that decides, which is of one of the copies. */
static void test_a_new_server_gets_no_earlier_request_of_either_copy(void **state)
{
  peer_t late;
  (void)state;
  open_copy(&own);
  open_copy(&loaded);
  ask_both(&own);
  ask_both(&loaded);
  freeze(&fast);
  freeze(&cyclone);
  ask_other(&own);
  ask_other(&loaded);
  start_fast(&late);
  ask_until_answered(&own);
  ask_until_answered(&loaded);
  assert_true(requests_of(&late) > 0);
  assert_int_equal(kill(fast.pid, SIGKILL), 0);
  peer_wait_killed(&fast);
  assert_int_equal(kill(cyclone.pid, SIGKILL), 0);
  peer_wait_killed(&cyclone);
  peer_stop(&late);
  close_copy(&loaded);
  close_copy(&own);
}

/* What Cyclone DDS calls for each endpoint of the participant's domain: of which library it is. */
static const char *caller_of_endpoints(dds_entity_t participant)
{
  Dl_info info;
  struct ddsi_sertype *type = tb__raw_type_create("Type", false);
  assert_non_null(type);
  assert_true(dds_create_topic_sertype(participant, "topic", &type, NULL, NULL, NULL) > 0);
  const struct ddsi_domaingv *domain = ddsrt_atomic_ldvoidp(&type->gv);
  void (*function)(const struct ddsi_entity_common *, ddsrt_wctime_t, bool, void *) =
      domain->builtin_topic_interface->builtintopic_write_endpoint;
  void *address;
  memcpy(&address, &function, sizeof address);
  assert_true(dladdr(address, &info));
  return info.dli_fname;
}

/* The copy that was first in a domain need not be first in the next one with this id. */
static void test_each_copy_knows_that_the_program_has_made_a_new_domain(void **state)
{
  (void)state;
  dds_entity_t participant = dds_create_participant((dds_domainid_t)atoi(DOMAIN), NULL, NULL);
  open_copy(&own);
  open_copy(&loaded);
  assert_string_equal(caller_of_endpoints(participant), TB_ROS2_LIBRARY);
  close_copy(&loaded);
  close_copy(&own);
  dds_delete(participant);
  participant = dds_create_participant((dds_domainid_t)atoi(DOMAIN), NULL, NULL);
  open_copy(&loaded);
  assert_string_equal(caller_of_endpoints(participant), TB_ROS2_LIBRARY);
  close_copy(&loaded);
  dds_delete(participant);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_copy_knows_that_the_program_has_made_a_new_domain),
      cmocka_unit_test(test_each_copy_asks_both_kinds_in_domain_after_domain),
      cmocka_unit_test(test_a_new_server_gets_no_earlier_request_of_either_copy),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}

/* Contexts under DDS Security. security_test.py starts it in a separate domain, with security on
 * and the enclaves "/", "/arm", "/mute" (may neither publish nor subscribe "/chatter") and
 * "/expired" in the keystore. */
#include <dds/dds.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>

#include "dds/raw_writer.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define LIMIT ((tb_duration_t){60 * TB_NS_PER_S})
#define TYPE  "std_msgs/msg/Empty"

static const char *service_peer;

static int security_on(void **state)
{
  (void)state;
  setenv("ROS_SECURITY_ENABLE", "true", 1);
  return 0;
}

static tb_ros2_context_t *context_of(const char *enclave)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.enclave = enclave;
  if (tb_ros2_context_create(&options, &context, &error) != TB_OK) fail_msg("%s", error.text);
  loopback_check(0);
  return context;
}

static void assert_refused(const char *enclave, tb_status_t expected, const char *part)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.enclave = enclave;
  assert_status(tb_ros2_context_create(&options, &context, &error), expected);
  assert_null(context);
  if (!strstr(error.text, part)) fail_msg("'%s' does not contain '%s'", error.text, part);
}

static void send_one(tb_ros2_context_t *from, tb_ros2_context_t *to)
{
  static const uint8_t empty[] = {0, 1, 0, 0, 0, 0, 0, 0};
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_sample_t sample;
  assert_ok(tb_ros2_publisher_create(from, "/chatter", TYPE, NULL, &publisher, NULL));
  assert_ok(tb_ros2_subscription_create(to, "/chatter", TYPE, NULL, NULL, &subscription, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_publisher_publish(publisher, empty, sizeof empty, NULL));
  assert_ok(tb_ros2_subscription_take(subscription, &sample)); /* delivered by the writing thread */
  assert_int_equal(sample.size, sizeof empty);
  tb_ros2_sample_release(&sample);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
}

static void test_contexts_come_and_go(void **state)
{
  (void)state;
  for (int i = 0; i < 5; i++) {
    tb_ros2_context_t *first = context_of("/arm"), *second = context_of("/arm");
    send_one(first, second);
    tb_ros2_context_destroy(first);
    send_one(second, second);
    tb_ros2_context_destroy(second);
  }
}

static void *come_and_go(void *argument)
{
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.enclave = "/arm";
  for (int i = 0; i < 10; i++) {
    tb_ros2_context_t *context = NULL;
    tb_ros2_publisher_t *publisher = NULL;
    if (tb_ros2_context_create(&options, &context, NULL) != TB_OK ||
        tb_ros2_publisher_create(context, "/chatter", TYPE, NULL, &publisher, NULL) != TB_OK)
      return argument;
    tb_ros2_publisher_destroy(publisher);
    tb_ros2_context_destroy(context);
  }
  return NULL;
}

static void test_threads_may_come_and_go(void **state)
{
  (void)state;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, threads), 0);
  for (int i = 0; i < 3; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

static void test_a_refused_context_leaves_nothing_allocated(void **state)
{
  (void)state;
  for (int i = 0; i < 3; i++) {
    assert_refused("/expired", TB_ERR_INVALID, "/expired/cert.pem");
    assert_refused("/nowhere", TB_ERR_NOT_FOUND, "/nowhere");
    assert_refused("nowhere", TB_ERR_INVALID, "enclave 'nowhere'");
    tb_ros2_context_destroy(context_of("/arm"));
  }
}

static void test_contexts_of_a_domain_have_one_security(void **state)
{
  (void)state;
  tb_ros2_context_t *context = context_of("/arm");
  assert_refused("/", TB_ERR_INVALID, "other security");
  setenv("ROS_SECURITY_ENABLE", "false", 1);
  assert_refused("/arm", TB_ERR_INVALID, "other security");
  tb_ros2_context_destroy(context);
  context = context_of("/arm");
  setenv("ROS_SECURITY_ENABLE", "true", 1);
  assert_refused("/arm", TB_ERR_INVALID, "no security");
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(context_of(NULL)); /* no other context is left */
}

static void test_a_domain_created_by_the_program_is_not_secured(void **state)
{
  (void)state;
  dds_entity_t mine =
      dds_create_participant((dds_domainid_t)atoi(getenv("ROS_DOMAIN_ID")), NULL, NULL);
  assert_true(mine > 0);
  assert_refused("/arm", TB_ERR_UNSUPPORTED, "created by the program itself");
  dds_delete(mine);
}

static void test_permissions_count(void **state)
{
  (void)state;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = context_of("/mute");
  assert_status(tb_ros2_publisher_create(context, "/chatter", TYPE, NULL, &publisher, &error),
                TB_ERR_TRANSPORT);
  assert_non_null(strstr(error.text, "permissions"));
  assert_null(publisher);
  assert_status(
      tb_ros2_subscription_create(context, "/chatter", TYPE, NULL, NULL, &subscription, &error),
      TB_ERR_TRANSPORT);
  assert_non_null(strstr(error.text, "permissions"));
  assert_ok(tb_ros2_publisher_create(context, "/allowed", TYPE, NULL, &publisher, &error));
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_context_destroy(context);
}

static void test_services_are_called_across_processes(void **state)
{
  (void)state;
  static const uint8_t request[8] = {0, 1, 0, 0, 1, 2, 3, 4};
  const char *const argv[] = {service_peer, "echo", NULL};
  peer_t peer;
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response = {NULL, 0};
  tb_ros2_context_t *context = context_of("/arm");
  peer_start(&peer, argv); /* in the enclave "/" */
  peer_expect_line(&peer, "ready");
  assert_ok(tb_ros2_client_create(context, "/echo", "std_srvs/srv/Trigger", NULL, &client, NULL));
  assert_ok(tb_ros2_client_call(client, request, sizeof request, WITHIN(LIMIT), &response, NULL));
  assert_int_equal(response.size, sizeof request);
  assert_memory_equal(response.cdr, request, sizeof request);
  tb_ros2_response_release(&response);
  loopback_check(peer.pid);
  tb_ros2_client_destroy(client);
  peer_stop(&peer);
  tb_ros2_context_destroy(context);
}

/* The USER_DATA of the participants that a new one of this process sees. */
static void assert_user_data(const char *expected)
{
  void *samples[8] = {NULL};
  dds_sample_info_t infos[8];
  void *data = NULL;
  size_t size = 0;
  bool seen = false;
  dds_entity_t mine =
      dds_create_participant((dds_domainid_t)atoi(getenv("ROS_DOMAIN_ID")), NULL, NULL);
  dds_entity_t reader = dds_create_reader(mine, DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, NULL, NULL);
  assert_true(reader > 0);
  dds_return_t count = dds_read(reader, samples, infos, 8, 8);
  for (dds_return_t i = 0; i < count; i++) {
    const dds_builtintopic_participant_t *other = samples[i];
    if (!dds_qget_userdata(other->qos, &data, &size) || !data) continue;
    if (size == strlen(expected) && memcmp(data, expected, size) == 0) seen = true;
    dds_free(data);
  }
  dds_return_loan(reader, samples, count);
  dds_delete(mine);
  assert_true(seen);
}

static void test_nodes_live_in_secured_contexts(void **state)
{
  (void)state;
  tb_ros2_node_t *node = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = context_of("/arm");
  if (tb_ros2_node_create(context, "arm", "/robot", NULL, &node, &error))
    fail_msg("%s", error.text);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
}

static void test_the_enclave_is_announced(void **state)
{
  (void)state;
  const char *const argv[] = {"program", "--ros-args", "--enclave", "/leg"};
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  setenv("ROS_SECURITY_ENABLE", "false", 1);
  tb_ros2_context_t *context = context_of("/arm");
  assert_user_data("enclave=/arm;");
  tb_ros2_context_destroy(context);
  context = context_of(NULL);
  assert_user_data("enclave=/;");
  tb_ros2_context_destroy(context);
  options.argc = 4;
  options.argv = argv;
  options.enclave = "/arm";
  assert_ok(tb_ros2_context_create(&options, &context, NULL));
  assert_user_data("enclave=/leg;");
  tb_ros2_context_destroy(context);
}

#define SECURITY_TEST(test) cmocka_unit_test_setup(test, security_on)

/* Packets may be signed or encrypted, so nothing is inserted into them. */
static void test_inline_qos_is_off(void **state)
{
  (void)state;
  tb_ros2_context_t *context = context_of("/");
  tb__raw_writer_t *writer;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb__endpoint_options_t options = {
      .topic = "rt/chatter", .type = "std_msgs::msg::dds_::Empty_", .qos = &qos};
  assert_ok(tb__raw_writer_create(tb__ros2_context_participant(context), &options, &writer, NULL));
  assert_int_equal(tb__raw_writer_inline_qos(writer), TB__INLINE_QOS_OFF_SECURITY);
  assert_status(tb__raw_writer_write_with(writer, "\0\1\0\0", 4, "\0\0\0\0", 4, NULL, &error),
                TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "not possible with DDS Security"));
  tb__raw_writer_destroy(writer);
  tb_ros2_context_destroy(context);
}

int main(int argc, char **argv)
{
  if (argc != 2 || !getenv("ROS_DOMAIN_ID")) return 2;
  service_peer = argv[1];
  const struct CMUnitTest tests[] = {
      SECURITY_TEST(test_contexts_come_and_go),
      SECURITY_TEST(test_threads_may_come_and_go),
      SECURITY_TEST(test_a_refused_context_leaves_nothing_allocated),
      SECURITY_TEST(test_contexts_of_a_domain_have_one_security),
      SECURITY_TEST(test_a_domain_created_by_the_program_is_not_secured),
      SECURITY_TEST(test_permissions_count),
      SECURITY_TEST(test_services_are_called_across_processes),
      SECURITY_TEST(test_nodes_live_in_secured_contexts),
      SECURITY_TEST(test_the_enclave_is_announced),
      SECURITY_TEST(test_inline_qos_is_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Nodes as others see them: what ros_discovery_info and the announcements of endpoints contain. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "forking.h"
#include "system/loopback.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define DOMAIN 10
#define LIMIT  ((tb_duration_t){60 * TB_NS_PER_S})

static tb_ros2_context_t *context, *observer;
static tb_ros2_subscription_t *infos;
static tb__participant_entities_info_t *seen; /* the last sample */
static bool seen_humble;

static int setup_with(tb_ros2_distro_t distro)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  loopback_setup(DOMAIN);
  options.distro = distro;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.history = TB_QOS_KEEP_ALL;
  qos.avoid_ros_namespace_conventions = true;
  if (tb_ros2_context_create(&options, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &observer, &error) != TB_OK ||
      tb_ros2_subscription_create(observer, "ros_discovery_info",
                                  "rmw_dds_common/msg/ParticipantEntitiesInfo", &qos, NULL, &infos,
                                  &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int setup(void **state)
{
  (void)state;
  return setup_with(TB_ROS2_DISTRO_ENVIRONMENT);
}

static int setup_humble(void **state)
{
  (void)state;
  return setup_with(TB_ROS2_DISTRO_HUMBLE);
}

static int setup_humble_by_environment(void **state)
{
  assert_int_equal(setenv("ROS_DISTRO", "humble", 1), 0);
  return setup(state);
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_subscription_destroy(infos);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(observer);
  free(seen);
  seen = NULL;
  unsetenv("ROS_DISTRO");
  return 0;
}

static void take_snapshot(void)
{
  tb_ros2_sample_t sample;
  tb__participant_entities_info_t *info;
  while (tb_ros2_subscription_take(infos, &sample) == TB_OK) {
    assert_ok(tb__participant_entities_info_decode(sample.cdr, sample.size, &info, &seen_humble));
    free(seen);
    seen = info;
    tb_ros2_sample_release(&sample);
  }
}

typedef struct expected {
  const char *name_space, *name;
  size_t readers, writers;
} expected_t;

static bool sees(const expected_t *expected, size_t count)
{
  take_snapshot();
  if (!seen || seen->node_entities_info_seq.count != count) return false;
  for (size_t i = 0; i < count; i++) {
    const tb__node_entities_info_t *node = &seen->node_entities_info_seq.items[i];
    if (strcmp(node->node_name, expected[i].name) != 0 ||
        strcmp(node->node_namespace, expected[i].name_space) != 0 ||
        node->reader_gid_seq.count != expected[i].readers ||
        node->writer_gid_seq.count != expected[i].writers)
      return false;
  }
  return true;
}

static void wait_until_seen(const expected_t *expected, size_t count)
{
  while (!sees(expected, count))
    sched_yield();
}

static tb_ros2_node_t *node_create(const char *name, const char *name_space)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_node_t *node;
  options.no_parameter_services = options.no_parameter_events = true;
  if (tb_ros2_node_create(context, name, name_space, &options, &node, &error) != TB_OK)
    fail_msg("%s", error.text);
  return node;
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

static void test_nodes_of_a_context_come_and_go(void **state)
{
  (void)state;
  tb_ros2_node_t *alpha = node_create("alpha", "first");
  wait_until_seen((expected_t[]){{"/first", "alpha", 0, 0}}, 1);
  tb_ros2_node_t *beta = node_create("beta", "/second/deep");
  assert_string_equal(tb_ros2_node_fully_qualified_name(beta), "/second/deep/beta");
  wait_until_seen((expected_t[]){{"/first", "alpha", 0, 0}, {"/second/deep", "beta", 0, 0}}, 2);
  assert_false(seen_humble);
  tb_ros2_node_destroy(alpha);
  wait_until_seen((expected_t[]){{"/second/deep", "beta", 0, 0}}, 1);
  tb_ros2_node_destroy(beta);
  wait_until_seen(NULL, 0);
}

static void test_endpoints_are_listed_under_their_node(void **state)
{
  (void)state;
  tb_ros2_node_t *node = node_create("talker", "");
  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  assert_ok(tb_ros2_node_create_publisher(node, "~/chatter", "std_msgs/msg/String", NULL,
                                          &publisher, NULL));
  wait_until_seen((expected_t[]){{"/", "talker", 0, 1}}, 1);
  assert_ok(tb_ros2_node_create_subscription(node, "/talker/chatter", "std_msgs/msg/String", NULL,
                                             NULL, &subscription, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  wait_until_seen((expected_t[]){{"/", "talker", 1, 1}}, 1);
  assert_ok(tb_ros2_node_create_client(node, "add", "std_srvs/srv/Trigger", NULL, &client, NULL));
  wait_until_seen((expected_t[]){{"/", "talker", 2, 2}}, 1);
  assert_ok(tb_ros2_node_create_service(node, "/add", "std_srvs/srv/Trigger", NULL, on_request,
                                        NULL, &service, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  wait_until_seen((expected_t[]){{"/", "talker", 3, 3}}, 1);
  tb_ros2_publisher_destroy(publisher);
  wait_until_seen((expected_t[]){{"/", "talker", 3, 2}}, 1);
  tb_ros2_client_destroy(client);
  wait_until_seen((expected_t[]){{"/", "talker", 2, 1}}, 1);
  tb_ros2_service_destroy(service);
  tb_ros2_subscription_destroy(subscription);
  wait_until_seen((expected_t[]){{"/", "talker", 0, 0}}, 1);
  tb_ros2_node_destroy(node);
}

static void test_the_form_of_humble(void **state)
{
  (void)state;
  tb_ros2_node_t *node = node_create("old", "");
  tb_ros2_publisher_t *publisher;
  assert_ok(tb_ros2_node_create_publisher(node, "chatter", "std_msgs/msg/String", NULL, &publisher,
                                          NULL));
  wait_until_seen((expected_t[]){{"/", "old", 0, 1}}, 1);
  assert_true(seen_humble);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
}

static void test_names_that_break_the_rules_are_refused(void **state)
{
  (void)state;
  static const char *const bad[][2] = {{"", ""},     {"1a", ""}, {"a-b", ""}, {"a", "b//c"},
                                       {"a", "/b/"}, {"a", "1"}, {"a/b", ""}};
  tb_ros2_node_t *node = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_ros2_node_create(context, bad[i][0], bad[i][1], NULL, &node, &error),
                  TB_ERR_INVALID);
    assert_true(error.text[0]);
  }
  assert_null(node);
}

static void test_arguments_name_the_node_and_its_topics(void **state)
{
  (void)state;
  static const char *const argv[] = {"program", "--ros-args",     "-r", "__node:=renamed",
                                     "-r",      "chatter:=/talk", "-r", "__ns:=/here",
                                     "-p",      "gain:=0.5",      "--", "more"};
  static const char *const own[] = {"", "--ros-args", "-r", "__node:=own"};
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_node_options_t node_options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_parameter_value_t gain = tb_ros2_parameter_double(1.0);
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *remapped;
  tb_ros2_node_t *node;
  char name[TB_ROS2_NAME_SIZE];
  options.argc = sizeof argv / sizeof argv[0];
  options.argv = argv;
  assert_ok(tb_ros2_context_create(&options, &remapped, &error));
  assert_ok(tb_ros2_node_create(remapped, "given", "there", &node_options, &node, &error));
  assert_string_equal(tb_ros2_node_fully_qualified_name(node), "/here/renamed");
  assert_ok(tb_ros2_node_resolve_topic_name(node, "chatter", name, NULL));
  assert_string_equal(name, "/talk");
  assert_ok(tb_ros2_node_resolve_service_name(node, "~/reset", name, NULL));
  assert_string_equal(name, "/here/renamed/reset");
  assert_ok(tb_ros2_node_declare_parameter(node, "gain", &gain, NULL, NULL));
  assert_ok(tb_ros2_node_get_parameter(node, "gain", &gain));
  assert_true(gain.double_value < 0.75);
  tb_ros2_node_destroy(node);
  node_options.argc = sizeof own / sizeof own[0];
  node_options.argv = own;
  assert_ok(tb_ros2_node_create(remapped, "given", "there", &node_options, &node, &error));
  assert_string_equal(tb_ros2_node_fully_qualified_name(node), "/here/own");
  tb_ros2_node_destroy(node);
  node_options = (tb_ros2_node_options_t){.ignore_global_arguments = true};
  assert_ok(tb_ros2_node_create(remapped, "given", "there", &node_options, &node, &error));
  assert_string_equal(tb_ros2_node_fully_qualified_name(node), "/there/given");
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(remapped);
  options.argv = (const char *const[]){"program", "--ros-args", "--no-such"};
  options.argc = 3;
  assert_status(tb_ros2_context_create(&options, &remapped, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "--no-such"));
}

static void test_C7_a_forked_child_creates_no_node_and_destroys_its_own(void **state)
{
  (void)state;
  tb_ros2_node_t *node = node_create("parent", ""), *other;
  pid_t child = fork();
  if (child == 0) {
    bool refused = tb_ros2_node_create(context, "child", "", NULL, &other, NULL) == TB_ERR_FORKED;
    tb_ros2_node_destroy(node);
    _exit(refused ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  wait_until_seen((expected_t[]){{"/", "parent", 0, 0}}, 1);
  tb_ros2_node_destroy(node);
}

#define TEST(name, set) cmocka_unit_test_setup_teardown(name, set, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_nodes_of_a_context_come_and_go, setup),
      TEST(test_endpoints_are_listed_under_their_node, setup),
      TEST(test_the_form_of_humble, setup_humble),
      TEST(test_the_form_of_humble, setup_humble_by_environment),
      TEST(test_names_that_break_the_rules_are_refused, setup),
      TEST(test_arguments_name_the_node_and_its_topics, setup),
      TEST(test_C7_a_forked_child_creates_no_node_and_destroys_its_own, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

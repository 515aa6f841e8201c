/* The graph as it is seen: nodes of this process and of others, endpoints of plain DDS programs,
 * and what hostile participants send. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "forking.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/messages.h"
#include "within.h"

#define LIMIT        ((tb_duration_t){60 * TB_NS_PER_S})
#define DOMAIN       15
#define LEASE_DOMAIN 16

static tb_ros2_context_t *context, *other;
static tb_ros2_graph_t *graph;
static const tb_ros2_graph_snapshot_t *snapshot;

static tb_ros2_context_t *context_make(tb_ros2_distro_t distro)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *made;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.distro = distro;
  if (tb_ros2_context_create(&options, &made, &error) != TB_OK) fail_msg("%s", error.text);
  return made;
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  context = context_make(TB_ROS2_DISTRO_JAZZY);
  other = context_make(TB_ROS2_DISTRO_JAZZY);
  assert_ok(tb_ros2_graph_create(context, &graph, NULL));
  return 0;
}

static int setup_short_lease(void **state)
{
  (void)state;
  char config[2048];
  loopback_setup(LEASE_DOMAIN);
  snprintf(config, sizeof config,
           "%s,<CycloneDDS><Domain><Discovery><LeaseDuration>1 s</LeaseDuration></Discovery>"
           "</Domain></CycloneDDS>",
           getenv("CYCLONEDDS_URI"));
  assert_int_equal(setenv("CYCLONEDDS_URI", config, 1), 0);
  context = context_make(TB_ROS2_DISTRO_JAZZY);
  assert_ok(tb_ros2_graph_create(context, &graph, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_graph_snapshot_release(snapshot);
  tb_ros2_graph_destroy(graph);
  tb_ros2_context_destroy(other);
  tb_ros2_context_destroy(context);
  snapshot = NULL;
  graph = NULL;
  context = other = NULL;
  unsetenv("ROS_DISTRO");
  return 0;
}

static void take_snapshot(void)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_graph_snapshot_release(snapshot);
  snapshot = NULL;
  if (tb_ros2_graph_snapshot(graph, &snapshot, &error) != TB_OK) fail_msg("%s", error.text);
}

/* Takes snapshots until it is true. */
#define WAIT_UNTIL(condition)                                                                      \
  for (take_snapshot(); !(condition); take_snapshot())                                             \
  assert_ok(tb_ros2_graph_wait_for_change(graph, snapshot->change, WITHIN(LIMIT)))

static tb_ros2_node_t *node_make(tb_ros2_context_t *where, const char *name, const char *name_space)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_t *node;
  if (tb_ros2_node_create(where, name, name_space, NULL, &node, &error) != TB_OK)
    fail_msg("%s", error.text);
  return node;
}

static tb_ros2_publisher_t *publisher_make(tb_ros2_context_t *where, tb_ros2_node_t *node,
                                           const char *topic, const char *type, const tb_qos_t *qos)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_publisher_t *publisher;
  tb_status_t status =
      node ? tb_ros2_node_create_publisher(node, topic, type, qos, &publisher, &error)
           : tb_ros2_publisher_create(where, topic, type, qos, &publisher, &error);
  if (status != TB_OK) fail_msg("%s", error.text);
  return publisher;
}

static const tb_ros2_graph_node_t *node_seen(const char *full_name)
{
  return tb_ros2_graph_find_node(snapshot, full_name);
}

/* The endpoint of a node, NULL if it has none such. */
static const tb_ros2_graph_endpoint_t *endpoint_seen(const char *full_name,
                                                     tb_ros2_endpoint_kind_t kind,
                                                     bool is_publisher, const char *name)
{
  const tb_ros2_graph_node_t *node = node_seen(full_name);
  for (size_t i = 0; node && i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (endpoint->kind == kind && endpoint->is_publisher == is_publisher &&
        strcmp(endpoint->name, name) == 0)
      return endpoint;
  }
  return NULL;
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

static void node_with_endpoints(tb_ros2_context_t *where, bool is_own)
{
  const tb_qos_t qos = {TB_QOS_BEST_EFFORT,
                        TB_QOS_TRANSIENT_LOCAL,
                        TB_QOS_KEEP_LAST,
                        7,
                        {2 * TB_NS_PER_S},
                        {3 * TB_NS_PER_S},
                        TB_QOS_LIVELINESS_MANUAL_BY_TOPIC,
                        {5 * TB_NS_PER_S},
                        false,
                        false,
                        {0}};
  tb_ros2_node_t *node = node_make(where, "camera", "/front");
  tb_ros2_publisher_t *publisher =
      publisher_make(where, node, "image", "std_msgs/msg/String", &qos);
  tb_ros2_service_t *service;
  assert_ok(tb_ros2_node_create_service(node, "~/add", "example_interfaces/srv/AddTwoInts", NULL,
                                        on_request, NULL, &service, NULL));
  assert_ok(tb_ros2_graph_wait_for_node(graph, "/front/camera", WITHIN(LIMIT)));
  WAIT_UNTIL(
      endpoint_seen("/front/camera", TB_ROS2_ENDPOINT_SERVICE_REPLY, true, "/front/camera/add") &&
      endpoint_seen("/front/camera", TB_ROS2_ENDPOINT_SERVICE_REQUEST, false,
                    "/front/camera/add") &&
      endpoint_seen("/front/camera", TB_ROS2_ENDPOINT_TOPIC, true, "/front/image"));
  const tb_ros2_graph_node_t *seen = node_seen("/front/camera");
  assert_string_equal(seen->name, "camera");
  assert_string_equal(seen->name_space, "/front");
  assert_string_equal(seen->enclave, "/");
  assert_int_equal(seen->distro, TB_ROS2_DISTRO_JAZZY);
  assert_true(seen->is_own == is_own && !seen->is_duplicate);
  const tb_ros2_graph_endpoint_t *image =
      endpoint_seen("/front/camera", TB_ROS2_ENDPOINT_TOPIC, true, "/front/image");
  assert_string_equal(image->type, "std_msgs/msg/String");
  assert_string_equal(image->type_hash, "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503"
                                        "259e948f6b1a18");
  assert_int_equal(image->qos.reliability, TB_QOS_BEST_EFFORT);
  assert_int_equal(image->qos.durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(image->qos.history, TB_QOS_KEEP_LAST);
  assert_int_equal(image->qos.depth, 7);
  assert_true(image->qos.deadline.ns == 2 * TB_NS_PER_S);
  assert_true(image->qos.lifespan.ns == 3 * TB_NS_PER_S);
  assert_int_equal(image->qos.liveliness, TB_QOS_LIVELINESS_MANUAL_BY_TOPIC);
  assert_true(image->qos.liveliness_lease.ns == 5 * TB_NS_PER_S);
  assert_int_equal(image->dds_qos.representations, 1);
  assert_memory_equal(image->participant_guid, seen->participant_guid, 16);
  assert_string_equal(
      endpoint_seen("/front/camera", TB_ROS2_ENDPOINT_SERVICE_REPLY, true, "/front/camera/add")
          ->type,
      "example_interfaces/srv/AddTwoInts");
  tb_ros2_service_destroy(service);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
  WAIT_UNTIL(!node_seen("/front/camera"));
}

static void test_nodes_of_the_own_context_are_seen(void **state)
{
  (void)state;
  node_with_endpoints(context, true);
}

static void test_nodes_of_others_are_seen(void **state)
{
  (void)state;
  node_with_endpoints(other, false);
}

static void test_what_was_there_before_is_seen(void **state)
{
  (void)state;
  tb_ros2_graph_t *late;
  tb_ros2_node_t *node = node_make(other, "early", "");
  tb_ros2_node_t *own = node_make(context, "own", "");
  tb_ros2_publisher_t *publisher =
      publisher_make(other, node, "/chatter", "std_msgs/msg/String", NULL);
  WAIT_UNTIL(endpoint_seen("/early", TB_ROS2_ENDPOINT_TOPIC, true, "/chatter"));
  assert_ok(tb_ros2_graph_create(context, &late, NULL));
  assert_ok(tb_ros2_graph_wait_for_node(late, "/early", WITHIN(LIMIT)));
  assert_ok(tb_ros2_graph_wait_for_node(late, "/own", WITHIN(LIMIT)));
  tb_ros2_graph_t *kept = graph;
  graph = late; /* DDS knew its endpoint all the time */
  take_snapshot();
  assert_non_null(endpoint_seen("/early", TB_ROS2_ENDPOINT_TOPIC, true, "/chatter"));
  graph = kept;
  tb_ros2_graph_destroy(late);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(node);
  tb_ros2_node_destroy(own);
}

static void test_both_forms_are_understood(void **state)
{
  (void)state;
  tb_ros2_context_t *humble = context_make(TB_ROS2_DISTRO_HUMBLE);
  tb_ros2_node_t *old = node_make(humble, "old", "/");
  tb_ros2_publisher_t *publisher = publisher_make(humble, old, "x", "std_msgs/msg/String", NULL);
  WAIT_UNTIL(endpoint_seen("/old", TB_ROS2_ENDPOINT_TOPIC, true, "/x"));
  assert_int_equal(node_seen("/old")->distro, TB_ROS2_DISTRO_HUMBLE);
  assert_null(endpoint_seen("/old", TB_ROS2_ENDPOINT_TOPIC, true, "/x")->type_hash);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_node_destroy(old);
  tb_ros2_context_destroy(humble);
  WAIT_UNTIL(!node_seen("/old"));
}

static void test_two_nodes_of_one_name_are_both_listed_and_reported(void **state)
{
  (void)state;
  tb_ros2_node_t *first = node_make(context, "twin", ""), *second = node_make(other, "twin", "");
  tb_ros2_node_t *third = node_make(other, "single", "");
  WAIT_UNTIL(snapshot->node_count == 3);
  assert_string_equal(snapshot->nodes[0].full_name, "/single");
  assert_false(snapshot->nodes[0].is_duplicate);
  assert_true(snapshot->nodes[1].is_duplicate && snapshot->nodes[2].is_duplicate);
  assert_ptr_equal(node_seen("/twin"), &snapshot->nodes[1]);
  tb_ros2_node_destroy(second);
  WAIT_UNTIL(snapshot->node_count == 2);
  assert_false(node_seen("/twin")->is_duplicate);
  tb_ros2_node_destroy(first);
  tb_ros2_node_destroy(third);
}

static void test_nodes_that_share_a_subscription_both_have_it(void **state)
{
  (void)state;
  static const tb_ros2_parameter_value_t on = {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true};
  tb_ros2_node_t *first = node_make(other, "first", ""), *second = node_make(other, "second", "");
  assert_ok(tb_ros2_node_set_parameter(first, "use_sim_time", &on, NULL));
  assert_ok(tb_ros2_node_set_parameter(second, "use_sim_time", &on, NULL));
  WAIT_UNTIL(endpoint_seen("/first", TB_ROS2_ENDPOINT_TOPIC, false, "/clock") &&
             endpoint_seen("/second", TB_ROS2_ENDPOINT_TOPIC, false, "/clock"));
  const tb_ros2_graph_endpoint_t *subscriptions;
  assert_int_equal(tb_ros2_graph_subscriptions(snapshot, "/clock", &subscriptions), 1);
  assert_string_equal(snapshot->nodes[subscriptions->node].full_name, "/first");
  tb_ros2_node_destroy(first);
  WAIT_UNTIL(!node_seen("/first"));
  assert_non_null(endpoint_seen("/second", TB_ROS2_ENDPOINT_TOPIC, false, "/clock"));
  tb_ros2_node_destroy(second);
}

/* Of a program that knows nothing of ROS: a Clock and a String, best effort, on rt/clock. */
static void test_a_publisher_of_a_plain_dds_program_has_no_node(void **state)
{
  (void)state;
  const char *const argv[] = {TB_ROS2_PEER, "write-clock", "rt/clock", "be", "1", "2", NULL};
  tb_qos_t reliable = TB_QOS_INIT_DEFAULT;
  const tb_ros2_graph_endpoint_t *publishers = NULL, *subscriptions = NULL;
  tb_ros2_subscription_t *subscription;
  peer_t peer;
  peer_start(&peer, argv);
  assert_ok(tb_ros2_subscription_create(context, "/clock", "rosgraph_msgs/msg/Clock", &reliable,
                                        NULL, &subscription, NULL));
  WAIT_UNTIL(tb_ros2_graph_publishers(snapshot, "/clock", &publishers) == 2 &&
             tb_ros2_graph_subscriptions(snapshot, "/clock", &subscriptions) == 1);
  assert_string_equal(publishers[0].type, "rosgraph_msgs/msg/Clock");
  assert_string_equal(publishers[1].type, "std_msgs/msg/String");
  assert_int_equal(publishers[0].node, -1);
  assert_null(publishers[0].type_hash);
  assert_memory_not_equal(publishers[0].participant_guid, subscriptions->participant_guid, 16);
  assert_int_equal(tb_ros2_graph_mismatches(&publishers[0], subscriptions),
                   TB_QOS_POLICY_RELIABILITY);
  assert_int_equal(tb_ros2_graph_mismatches(&publishers[1], subscriptions),
                   TB_QOS_POLICY_RELIABILITY | TB_QOS_POLICY_TYPE);
  assert_int_equal(snapshot->node_count, 0);
  assert_int_equal(tb_ros2_graph_publishers(snapshot, "/cloc", &publishers), 0);
  tb_ros2_subscription_destroy(subscription);
  kill(peer.pid, SIGKILL);
  peer_wait_killed(&peer);
}

static void test_a_killed_process_goes_when_its_lease_ends(void **state)
{
  (void)state;
  const char *const argv[] = {TB_GRAPH_PEER, "victim", NULL};
  const tb_ros2_graph_endpoint_t *publishers;
  peer_t peer;
  peer_start(&peer, argv);
  peer_expect_line(&peer, "ready");
  WAIT_UNTIL(endpoint_seen("/victim", TB_ROS2_ENDPOINT_TOPIC, true, "/clock"));
  loopback_check(peer.pid);
  kill(peer.pid, SIGKILL);
  peer_wait_killed(&peer);
  WAIT_UNTIL(!node_seen("/victim"));
  WAIT_UNTIL(tb_ros2_graph_publishers(snapshot, "/clock", &publishers) == 0);
}

static void test_a_process_that_ends_goes_at_once_and_comes_again(void **state)
{
  (void)state;
  const char *const argv[] = {TB_GRAPH_PEER, "guest", NULL};
  assert_int_equal(setenv("ROS_DISTRO", "humble", 1), 0);
  for (int i = 0; i < 2; i++) {
    peer_t peer;
    peer_start(&peer, argv);
    peer_expect_line(&peer, "ready");
    WAIT_UNTIL(endpoint_seen("/guest", TB_ROS2_ENDPOINT_TOPIC, true, "/clock"));
    assert_int_equal(node_seen("/guest")->distro, TB_ROS2_DISTRO_HUMBLE);
    peer_stop(&peer);
    WAIT_UNTIL(!node_seen("/guest"));
  }
}

static void send(tb_ros2_publisher_t *publisher, const void *bytes, size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_publisher_publish(publisher, bytes, size, &error) != TB_OK)
    fail_msg("%s", error.text);
}

static tb_ros2_publisher_t *liar_make(tb_ros2_context_t *where)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.history = TB_QOS_KEEP_ALL;
  qos.avoid_ros_namespace_conventions = true;
  tb_ros2_publisher_t *liar = publisher_make(where, NULL, "ros_discovery_info",
                                             "rmw_dds_common/msg/ParticipantEntitiesInfo", &qos);
  assert_ok(tb_ros2_publisher_wait_for_matched(liar, 1, WITHIN(LIMIT)));
  return liar;
}

static void send_nodes(tb_ros2_publisher_t *publisher, const tb_ros2_context_t *of,
                       const char *name_space, const char *name)
{
  uint8_t *bytes;
  size_t size;
  tb__node_entities_info_t node = {.node_namespace = name_space, .node_name = name};
  tb__participant_entities_info_t info = {.node_entities_info_seq = {&node, name ? 1 : 0}};
  tb__guid_t guid = tb__participant_guid(tb__ros2_context_participant(of));
  tb__guid_copy(&guid, info.gid.data);
  assert_ok(tb__cdr_encode(&tb__participant_entities_info_type, &info, false, &bytes, &size));
  send(publisher, bytes, size);
  free(bytes);
}

static void test_garbage_is_counted_and_adds_nothing(void **state)
{
  (void)state;
  static const uint8_t hostile[][48] = {
      {0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff},        /* a length of 4 billion, or a gid cut */
      {0, 1, 0, 0, [20] = 0xff, 0xff, 0xff, 0xff}, /* as many nodes */
      {0, 1, 0, 0, [20] = 1, [24] = 0xff, 0xff, 0xff, 0xff}, /* a namespace of as many bytes */
      {0, 1, 0, 0, [20] = 1, [24] = 8, [28] = 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'}, /* no NUL */
      {0, 0, 0, 0, [20] = 0xff, 0xff, 0xff, 0xff},
      {0, 6, 0, 0},
  };
  tb_ros2_publisher_t *liar = liar_make(other);
  uint64_t malformed = 0, foreign = 0;
  srand(4); /* which bytes they are does not matter */
  for (size_t i = 0; i + 1 < sizeof hostile / sizeof hostile[0]; i++, malformed++)
    send(liar, hostile[i], sizeof hostile[i]);
  for (int i = 0; i < 200; i++, malformed++) {
    uint8_t noise[200] = {0, 1};
    for (size_t k = 4; k < sizeof noise; k++)
      noise[k] = (uint8_t)rand();
    send(liar, noise, 4 + 4 * (size_t)(rand() % 49));
  }
  send_nodes(liar, context, "/", "cuckoo"), foreign++;
  send_nodes(liar, other, "/", "1st"), malformed++;
  send_nodes(liar, other, "/", ""), malformed++;
  send_nodes(liar, other, "no/slash", "x"), malformed++;
  send_nodes(liar, other, "/", "\033[2J"), malformed++;
  WAIT_UNTIL(snapshot->malformed == malformed && snapshot->foreign == foreign);
  assert_int_equal(snapshot->node_count, 0);
  assert_status(tb_ros2_graph_wait_for_node(graph, "/cuckoo", WITHIN(TB_NO_WAIT)), TB_ERR_TIMEOUT);

  send_nodes(liar, other, "/", "honest");
  assert_ok(tb_ros2_graph_wait_for_node(graph, "/honest", WITHIN(LIMIT)));
  send(liar, hostile[1], sizeof hostile[1]), malformed++;
  WAIT_UNTIL(snapshot->malformed == malformed);
  assert_non_null(node_seen("/honest")); /* the last valid message counts */
  tb_ros2_publisher_destroy(liar);
  WAIT_UNTIL(!node_seen("/honest"));
}

/* Another type, and no enclave, do not get as far. */
static void test_another_type_on_the_topic_is_not_received(void **state)
{
  (void)state;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.avoid_ros_namespace_conventions = true;
  tb_ros2_publisher_t *stranger =
      publisher_make(other, NULL, "ros_discovery_info", "std_msgs/msg/String", &qos);
  tb_ros2_publisher_t *liar = liar_make(other);
  send_nodes(stranger, other, "/", "stranger");
  send_nodes(liar, other, "/", "honest");
  WAIT_UNTIL(node_seen("/honest") && snapshot->endpoint_count >= 3);
  assert_null(node_seen("/stranger"));
  bool listed = false;
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    listed |= snapshot->endpoints[i].kind == TB_ROS2_ENDPOINT_DDS &&
              strcmp(snapshot->endpoints[i].name, "ros_discovery_info") == 0;
  assert_true(listed);
  tb_ros2_publisher_destroy(liar);
  tb_ros2_publisher_destroy(stranger);
}

static void test_waits_have_an_end(void **state)
{
  (void)state;
  take_snapshot();
  assert_status(tb_ros2_graph_wait_for_node(graph, "/nobody", WITHIN(TB_NO_WAIT)), TB_ERR_TIMEOUT);
  assert_status(tb_ros2_graph_wait_for_node(graph, "/nobody", WITHIN((tb_duration_t){1000000})),
                TB_ERR_TIMEOUT);
  uint32_t seen;
  do { /* until nothing happens for a moment */
    seen = tb_ros2_graph_changes(graph);
  } while (tb_ros2_graph_wait_for_change(graph, seen, WITHIN((tb_duration_t){100000000})) == TB_OK);
  tb_ros2_node_t *node = node_make(context, "somebody", "");
  assert_ok(tb_ros2_graph_wait_for_change(graph, seen, WITHIN(LIMIT)));
  assert_ok(tb_ros2_graph_wait_for_node(graph, "/somebody", WITHIN(LIMIT)));
  tb_ros2_node_destroy(node);
}

static void test_a_snapshot_outlives_the_graph(void **state)
{
  (void)state;
  tb_ros2_node_t *node = node_make(context, "kept", "/a/b");
  WAIT_UNTIL(node_seen("/a/b/kept"));
  tb_ros2_graph_destroy(graph);
  graph = NULL;
  tb_ros2_node_destroy(node);
  assert_string_equal(node_seen("/a/b/kept")->name_space, "/a/b");
}

static void test_a_forked_child_is_refused(void **state)
{
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const tb_ros2_graph_snapshot_t *out = NULL;
    tb_ros2_graph_t *made = NULL;
    bool ok = tb_ros2_graph_snapshot(graph, &out, NULL) == TB_ERR_FORKED &&
              tb_ros2_graph_wait_for_change(graph, 0, WITHIN(LIMIT)) == TB_ERR_FORKED &&
              tb_ros2_graph_wait_for_node(graph, "/x", WITHIN(LIMIT)) == TB_ERR_FORKED &&
              tb_ros2_graph_create(context, &made, NULL) == TB_ERR_FORKED && !made && !out;
    tb_ros2_graph_destroy(graph);
    _exit(ok ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_nodes_of_the_own_context_are_seen),
      TEST(test_nodes_of_others_are_seen),
      TEST(test_what_was_there_before_is_seen),
      TEST(test_both_forms_are_understood),
      TEST(test_two_nodes_of_one_name_are_both_listed_and_reported),
      TEST(test_nodes_that_share_a_subscription_both_have_it),
      TEST(test_a_publisher_of_a_plain_dds_program_has_no_node),
      TEST(test_a_process_that_ends_goes_at_once_and_comes_again),
      TEST(test_garbage_is_counted_and_adds_nothing),
      TEST(test_another_type_on_the_topic_is_not_received),
      TEST(test_waits_have_an_end),
      TEST(test_a_snapshot_outlives_the_graph),
      TEST(test_a_forked_child_is_refused),
      cmocka_unit_test_setup_teardown(test_a_killed_process_goes_when_its_lease_ends,
                                      setup_short_lease, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A node on the wire, endpoint by endpoint: like one of rclcpp, whose endpoints were recorded. The
 * node is in a separate process, so that what DDS reports has been sent.
 *
 * A node of rclcpp has these as well, and ours has not:
 *
 *   rt/rosout writer                  the library writes no logs of ROS
 *   ~/get_type_description            descriptions of types are for tools that show any message;
 *                                     nothing of ROS needs them to know a node
 *   rt/parameter_events reader        rclcpp learns of use_sim_time by its own event; ours does not
 *                                     need to
 *   ros_discovery_info reader         only while a tb_ros2_graph_t follows the graph */
#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_graph.h>

#include "captures/captures.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "system/qos_text.h"
#include "test.h"
#include "within.h"

#define DOMAIN   45
#define LIMIT    ((tb_duration_t){60 * TB_NS_PER_S})
#define SEEN_MAX 64

typedef struct seen {
  bool is_writer;
  char topic[128], type[128], user_data[256], qos[QOS_TEXT_SIZE];
  char node[64]; /* that lists it; "" if none */
} seen_t;

static tb_ros2_context_t *context;
static tb_ros2_graph_t *graph;
static seen_t seen[SEEN_MAX];
static size_t seen_count;

/* ---- what DDS reports of the peer's endpoints ---- */

/* The node that our graph gives the endpoint to. */
static void node_find(const uint8_t guid[16], char out[64])
{
  const tb_ros2_graph_snapshot_t *snapshot;
  assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
  out[0] = '\0';
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (memcmp(endpoint->guid, guid, 16) == 0 && endpoint->node >= 0)
      snprintf(out, 64, "%s", snapshot->nodes[endpoint->node].full_name);
  }
  tb_ros2_graph_snapshot_release(snapshot);
}

static void seen_add(const dds_builtintopic_endpoint_t *endpoint, bool is_writer)
{
  void *user_data = NULL;
  size_t size = 0;
  assert_true(seen_count < SEEN_MAX);
  seen_t *added = &seen[seen_count++];
  added->is_writer = is_writer;
  snprintf(added->topic, sizeof added->topic, "%s", endpoint->topic_name);
  snprintf(added->type, sizeof added->type, "%s", endpoint->type_name);
  if (dds_qget_userdata(endpoint->qos, &user_data, &size) && user_data)
    snprintf(added->user_data, sizeof added->user_data, "%.*s", (int)size, (char *)user_data);
  else
    added->user_data[0] = '\0';
  dds_free(user_data);
  qos_text(endpoint->qos, is_writer, added->qos);
  node_find(endpoint->key.v, added->node);
}

static void seen_take(dds_entity_t builtin, bool is_writer, const uint8_t participant[16])
{
  dds_sample_info_t info[SEEN_MAX];
  void *samples[SEEN_MAX] = {NULL};
  dds_entity_t reader = dds_create_reader(
      tb__participant_handle(tb__ros2_context_participant(context)), builtin, NULL, NULL);
  assert_true(reader > 0);
  dds_return_t count = dds_read(reader, samples, info, SEEN_MAX, SEEN_MAX);
  assert_in_range(count, 0, SEEN_MAX - 1);
  for (dds_return_t i = 0; i < count; i++) {
    const dds_builtintopic_endpoint_t *endpoint = samples[i];
    if (info[i].valid_data && memcmp(endpoint->participant_key.v, participant, 16) == 0)
      seen_add(endpoint, is_writer);
  }
  if (count > 0) dds_return_loan(reader, samples, count);
  dds_delete(reader);
}

static const seen_t *seen_find(const char *topic, bool is_writer)
{
  for (size_t i = 0; i < seen_count; i++) {
    if (seen[i].is_writer == is_writer && strcmp(seen[i].topic, topic) == 0) return &seen[i];
  }
  return NULL;
}

/* ---- the peer ---- */

#define ENDPOINTS 14 /* six services, /clock, /parameter_events */

static void peer_see(peer_t *peer, const char *distro)
{
  const char *const argv[] = {TB_NODE_PEER, "plain", "true", NULL};
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  const tb_ros2_graph_node_t *node;
  uint8_t participant[16];
  assert_int_equal(setenv("ROS_DISTRO", distro, 1), 0);
  peer_start(peer, argv);
  peer_expect_line(peer, "ready");
  peer_say(peer, "graph");
  peer_expect_line(peer, "graph");
  for (;;) {
    uint32_t change = tb_ros2_graph_changes(graph);
    assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
    node = tb_ros2_graph_find_node(snapshot, "/plain");
    if (node) memcpy(participant, node->participant_guid, sizeof participant);
    if (node && node->endpoint_count == ENDPOINTS) {
      seen_count = 0;
      seen_take(DDS_BUILTIN_TOPIC_DCPSPUBLICATION, true, participant);
      seen_take(DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, false, participant);
      if (seen_find("ros_discovery_info", false)) break;
    }
    tb_ros2_graph_snapshot_release(snapshot);
    assert_ok(tb_ros2_graph_wait_for_change(graph, change, WITHIN(LIMIT)));
  }
  tb_ros2_graph_snapshot_release(snapshot);
  assert_int_equal(seen_count, ENDPOINTS + 2);
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  unsetenv("ROS_DISTRO");
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_graph_create(context, &graph, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  unsetenv("ROS_DISTRO");
  tb_ros2_graph_destroy(graph);
  tb_ros2_context_destroy(context);
  return 0;
}

/* ---- what is expected ---- */

/* rmw_cyclonedds writes the id of the participant and a number, in hex, the first with a space. */
static void assert_service_id(const char *user_data)
{
  unsigned bytes[16];
  int end = 0;
  assert_memory_equal(user_data, "serviceid= 1.10.", 16);
  assert_int_equal(sscanf(user_data, "serviceid=%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x.%x;%n",
                          &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5],
                          &bytes[6], &bytes[7], &bytes[8], &bytes[9], &bytes[10], &bytes[11],
                          &bytes[12], &bytes[13], &bytes[14], &bytes[15], &end),
                   16);
  assert_true(end > 0);
}

/* What follows the service id. */
static const char *after_id(const char *user_data)
{
  const char *end = strncmp(user_data, "serviceid=", 10) == 0 ? strchr(user_data, ';') : NULL;
  return end ? end + 1 : user_data;
}

/* Our writers of services and events give up after 50 ms: how long a write may block concerns the
 * writer alone, and no reader checks it. */
static void with_our_limit(char *qos)
{
  static const char there[] = "\"max_blocking_time_ns\":\"infinite\"";
  static const char ours[] = "\"max_blocking_time_ns\":50000000";
  char *found = strstr(qos, there);
  assert_non_null(found);
  memmove(found + sizeof ours - 1, found + sizeof there - 1, strlen(found + sizeof there - 1) + 1);
  memcpy(found, ours, sizeof ours - 1);
}

static void assert_seen(const char *topic, bool is_writer, const char *type, const char *qos,
                        const char *user_data, const char *node)
{
  char expected[QOS_TEXT_SIZE];
  const seen_t *found = seen_find(topic, is_writer);
  if (!found) fail_msg("no %s of %s", is_writer ? "writer" : "reader", topic);
  snprintf(expected, sizeof expected, "%s", qos);
  if (is_writer && strncmp(topic, "r", 1) == 0 && topic[2] == '/') with_our_limit(expected);
  assert_string_equal(found->type, type);
  assert_string_equal(found->qos, expected);
  assert_string_equal(found->node, node);
  assert_string_equal(after_id(found->user_data), after_id(user_data));
  if (strncmp(topic, "rq/", 3) == 0 || strncmp(topic, "rr/", 3) == 0)
    assert_service_id(found->user_data);
}

/* ---- vectors of our own ---- */

#define TIMES        "\"latency_budget_ns\":0,"
#define READER_TIMES "\"deadline_ns\":\"infinite\"," TIMES "\"time_based_filter_ns\":0,"
#define WRITER_TIMES "\"deadline_ns\":\"infinite\",\"lifespan_ns\":\"infinite\"," TIMES
#define ALIVE        "\"liveliness\":{\"kind\":\"AUTOMATIC\",\"lease_duration_ns\":\"infinite\"},"
#define ORDER                                                                                      \
  "\"destination_order\":\"BY_RECEPTION_TIMESTAMP\",\"presentation\":{\"access_scope\":"           \
  "\"INSTANCE\",\"coherent\":false,\"ordered\":false},\"transport_priority\":0,"
#define FORM  "\"partition\":[],\"data_representation\":[\"XCDR1\"]"
#define PURGE "\"reader_autopurge_ns\":[\"infinite\",\"infinite\"],"
#define TYPES                                                                                      \
  ",\"type_consistency\":{\"kind\":\"ALLOW_TYPE_COERCION\",\"ignore_sequence_bounds\":true,"       \
  "\"ignore_string_bounds\":true,\"ignore_member_names\":false,\"prevent_type_widening\":false,"   \
  "\"force_type_validation\":false}"
#define RELIABLE    "{\"reliability\":{\"kind\":\"RELIABLE\",\"max_blocking_time_ns\":\"infinite\"},"
#define BEST_EFFORT "{\"reliability\":{\"kind\":\"BEST_EFFORT\",\"max_blocking_time_ns\":0},"
#define LIMITS      "\"resource_limits\":[-1,-1,-1],"
#define KEPT(durability, kind, depth)                                                              \
  "\"durability\":\"" durability "\",\"history\":{\"kind\":\"" kind "\",\"depth\":" depth "},"
#define SERVED                                                                                     \
  "\"durability_service\":{\"cleanup_delay_ns\":0,\"history\":\"KEEP_LAST\",\"depth\":1,"          \
  "\"max_samples\":-1,\"max_instances\":-1,\"max_samples_per_instance\":-1},"
#define READER LIMITS READER_TIMES ALIVE "\"ownership\":\"SHARED\"," ORDER PURGE FORM TYPES "}"
#define WRITER                                                                                     \
  LIMITS WRITER_TIMES ALIVE "\"ownership\":\"SHARED\",\"ownership_strength\":0," ORDER             \
                            "\"writer_autodispose\":false," FORM "}"

static const char service_reader[] = RELIABLE KEPT("VOLATILE", "KEEP_LAST", "1000") READER;
static const char service_writer[] = RELIABLE KEPT("VOLATILE", "KEEP_LAST", "1000") SERVED WRITER;

static const struct vector {
  const char *topic;
  bool is_writer;
  const char *type, *qos, *hash, *node;
} vectors[] = {
    {"ros_discovery_info", false, "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
     RELIABLE KEPT("TRANSIENT_LOCAL", "KEEP_ALL", "-1") READER,
     "91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e", ""},
    {"ros_discovery_info", true, "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
     RELIABLE KEPT("TRANSIENT_LOCAL", "KEEP_LAST", "1") SERVED WRITER,
     "91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e", ""},
    {"rt/clock", false, "rosgraph_msgs::msg::dds_::Clock_",
     BEST_EFFORT KEPT("VOLATILE", "KEEP_LAST", "1") READER,
     "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564", "/plain"},
    {"rt/parameter_events", true, "rcl_interfaces::msg::dds_::ParameterEvent_", service_writer,
     "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204", "/plain"},
    {"rq/plain/set_parametersRequest", false, "rcl_interfaces::srv::dds_::SetParameters_Request_",
     service_reader, "130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932", "/plain"},
    {"rr/plain/set_parametersReply", true, "rcl_interfaces::srv::dds_::SetParameters_Response_",
     service_writer, "7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266", "/plain"},
};

static void test_the_essentials(void **state)
{
  (void)state;
  static const char *const distros[] = {"jazzy", "humble"};
  for (int i = 0; i < 2; i++) {
    peer_t peer;
    peer_see(&peer, distros[i]);
    loopback_check(peer.pid);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
      const struct vector *vector = &vectors[k];
      char user_data[128] = "";
      if (i == 0) snprintf(user_data, sizeof user_data, "typehash=RIHS01_%s;", vector->hash);
      assert_seen(vector->topic, vector->is_writer, vector->type, vector->qos, user_data,
                  vector->node);
    }
    peer_stop(&peer);
  }
}

/* In the form of humble no endpoint has a type hash, and all else is the same. */
static void test_humble_announces_no_type_hashes(void **state)
{
  (void)state;
  peer_t peer;
  peer_see(&peer, "humble");
  for (size_t i = 0; i < seen_count; i++) {
    assert_null(strstr(seen[i].user_data, "typehash"));
    assert_int_equal(seen[i].user_data[0] != '\0',
                     seen[i].topic[1] == 'q' || seen[i].topic[1] == 'r');
  }
  peer_stop(&peer);
}

/* ---- as rclcpp ---- */

static bool is_left_out(const char *topic, bool is_writer)
{
  return strcmp(topic, "rt/rosout") == 0 || strstr(topic, "/get_type_description") ||
         (strcmp(topic, "rt/parameter_events") == 0 && !is_writer);
}

/* The text of a member, "" for null. */
static void member_text(const char *object, const char *end, const char *key, char *out,
                        size_t size)
{
  const char *found = captures_member(object, end, key);
  assert_non_null(found);
  size_t length = *found == '"' ? strcspn(found + 1, "\"") : 0;
  assert_true(length < size);
  memcpy(out, found + 1, length);
  out[length] = '\0';
}

/* The object after "qos", without white space. */
static void member_qos(const char *object, const char *end, char out[QOS_TEXT_SIZE])
{
  const char *at = captures_member(object, end, "qos");
  size_t length = 0;
  int depth = 0;
  assert_non_null(at);
  do {
    depth += (*at == '{') - (*at == '}');
    if (*at != ' ' && *at != '\n') out[length++] = *at;
    assert_true(length < QOS_TEXT_SIZE);
    at++;
  } while (depth > 0);
  out[length] = '\0';
}

static void test_every_endpoint_of_rclcpp_but_those_left_out(void **state)
{
  (void)state;
  char topic[128], type[128], side[16], user_data[256], node[64], qos[QOS_TEXT_SIZE], kind[16];
  char *text = captures_read("endpoints_rclcpp_sim_node.json");
  const char *end = text;
  size_t compared = 0, left_out = 0;
  peer_t peer;
  peer_see(&peer, "jazzy");
  for (const char *object; (object = captures_object(end, &end));) {
    member_text(object, end, "kind", kind, sizeof kind);
    if (strcmp(kind, "endpoint") != 0) continue;
    member_text(object, end, "topic", topic, sizeof topic);
    member_text(object, end, "type", type, sizeof type);
    member_text(object, end, "endpoint", side, sizeof side);
    member_text(object, end, "user_data", user_data, sizeof user_data);
    member_text(object, end, "node", node, sizeof node);
    member_qos(object, end, qos);
    bool is_writer = strcmp(side, "writer") == 0;
    if (is_left_out(topic, is_writer)) {
      assert_null(seen_find(topic, is_writer));
      left_out++;
    } else {
      assert_seen(topic, is_writer, type, qos, user_data, node);
      compared++;
    }
  }
  assert_int_equal(compared, seen_count);
  assert_int_equal(left_out, 4);
  free(text);
  peer_stop(&peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_the_essentials),
      TEST(test_humble_announces_no_type_hashes),
      TEST(test_every_endpoint_of_rclcpp_but_those_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

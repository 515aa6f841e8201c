/* What ROS 2 announced of itself, in the order in which it came: our graph must list the nodes that
 * it listed, and give each endpoint to the node that the capture gives it to. */
#include <stdlib.h>
#include <string.h>

#include "ros2/graph_snapshot.h"
#include "test.h"

#define FOLDER TB_SHARED_DIR "/captures/"

static tb__graph_model_t model;
static tb_ros2_graph_snapshot_t *snapshot;

static char *file_read(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, FOLDER "%s", name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    print_message("no captures at %s\n", path);
    skip();
  }
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
  fclose(file);
  return text;
}

/* The text of a member of the object, "" for null; false if it has none. */
static bool text_of(const char *object, const char *key, char *out, size_t size)
{
  char pattern[80];
  snprintf(pattern, sizeof pattern, "\n  \"%s\": ", key);
  const char *found = strstr(object, pattern);
  out[0] = '\0';
  if (!found) return false;
  found += strlen(pattern);
  if (*found != '"') return true;
  size_t length = strcspn(found + 1, "\"");
  assert_true(length < size);
  memcpy(out, found + 1, length);
  out[length] = '\0';
  return true;
}

static size_t hex_of(const char *object, const char *key, uint8_t *out, size_t room)
{
  static char hex[1 << 16];
  size_t size = 0;
  assert_true(text_of(object, key, hex, sizeof hex));
  for (unsigned byte; sscanf(hex + 2 * size, "%2x", &byte) == 1; size++) {
    assert_true(size < room);
    out[size] = (uint8_t)byte;
  }
  return size;
}

static void take_participant(const char *object)
{
  tb__seen_participant_t seen = {0};
  assert_int_equal(hex_of(object, "guid", seen.guid.bytes, 16), 16);
  text_of(object, "user_data", seen.user_data, sizeof seen.user_data);
  assert_ok(tb__graph_model_participant(&model, &seen));
}

static void take_endpoint(const char *object)
{
  char topic[256], type[256], kind[16];
  tb__seen_endpoint_t seen = {.topic = topic, .type = type, .qos = TB_QOS_INIT_DEFAULT};
  hex_of(object, "guid", seen.guid.bytes, 16);
  hex_of(object, "participant_guid", seen.participant_guid.bytes, 16);
  text_of(object, "topic", topic, sizeof topic);
  text_of(object, "type", type, sizeof type);
  text_of(object, "endpoint", kind, sizeof kind);
  text_of(object, "user_data", seen.user_data, sizeof seen.user_data);
  seen.is_writer = strcmp(kind, "writer") == 0;
  assert_ok(tb__graph_model_endpoint(&model, &seen));
}

static void take_sample(const char *object)
{
  static uint8_t cdr[1 << 15];
  tb__guid_t writer;
  hex_of(object, "writer_guid", writer.bytes, 16);
  assert_ok(tb__graph_model_info(&model, &writer, cdr, hex_of(object, "cdr_hex", cdr, sizeof cdr)));
}

static void take_snapshot(void)
{
  static const tb__guid_t own;
  free(snapshot);
  snapshot = NULL;
  assert_ok(tb__graph_snapshot_build(&model, &own, 0, &snapshot));
}

static bool is_listed(const char *name_space, const char *name, const uint8_t guid[16])
{
  for (size_t i = 0; i < snapshot->node_count; i++) {
    const tb_ros2_graph_node_t *node = &snapshot->nodes[i];
    if (memcmp(node->participant_guid, guid, 16) == 0 && strcmp(node->name, name) == 0 &&
        strcmp(node->name_space, name_space) == 0)
      return true;
  }
  return false;
}

/* The nodes of the sample's participant are those of its "value", and no others. */
static size_t check_nodes(const char *object)
{
  char name_space[128], name[128];
  uint8_t guid[16];
  size_t count = 0, listed = 0;
  hex_of(object, "writer_guid", guid, 16);
  memcpy(guid + 12, "\0\0\1\xc1", 4);
  take_snapshot();
  for (const char *at = object; (at = strstr(at, "\"node_namespace\": ")); count++) {
    assert_int_equal(sscanf(at, "\"node_namespace\": \"%127[^\"]\" , \"node_name\": \"%127[^\"]\"",
                            name_space, name),
                     2);
    assert_true(is_listed(name_space, name, guid));
    at++;
  }
  for (size_t i = 0; i < snapshot->node_count; i++) {
    listed += memcmp(snapshot->nodes[i].participant_guid, guid, 16) == 0;
    assert_int_equal(snapshot->nodes[i].distro, TB_ROS2_DISTRO_JAZZY);
  }
  assert_int_equal(listed, count);
  return count;
}

static void check_endpoint(const char *object)
{
  uint8_t guid[16];
  char node[128], user_data[256], topic[256];
  const tb_ros2_graph_endpoint_t *found = NULL;
  hex_of(object, "guid", guid, 16);
  text_of(object, "node", node, sizeof node);
  text_of(object, "user_data", user_data, sizeof user_data);
  text_of(object, "topic", topic, sizeof topic);
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    if (memcmp(snapshot->endpoints[i].guid, guid, 16) == 0) found = &snapshot->endpoints[i];
  }
  assert_non_null(found);
  if (node[0])
    assert_string_equal(snapshot->nodes[found->node].full_name, node);
  else
    assert_int_equal(found->node, -1);
  assert_non_null(found->type_hash);
  assert_non_null(strstr(user_data, found->type_hash));
  assert_int_equal(found->kind == TB_ROS2_ENDPOINT_DDS, strncmp(topic, "ros_", 4) == 0);
  assert_non_null(strchr(found->type, '/'));
  assert_null(strstr(found->type, "_Re"));
}

typedef void (*visit_t)(const char *object, const char *kind);

/* Objects one by one; each ends with a NUL while it is read. */
static void file_visit(const char *name, visit_t visit)
{
  char *text = file_read(name), kind[32];
  for (char *object = strstr(text, "\n {"), *end; object; object = strstr(end + 1, "\n {")) {
    end = strstr(object, "\n }");
    assert_non_null(end);
    *end = '\0';
    text_of(object, "kind", kind, sizeof kind);
    visit(object, kind);
  }
  free(text);
}

static int steps, nodes_seen;

static void step(const char *object, const char *kind)
{
  if (strcmp(kind, "participant") == 0) {
    take_participant(object);
  } else if (strcmp(kind, "endpoint") == 0) {
    take_endpoint(object);
  } else {
    take_sample(object);
    nodes_seen += (int)check_nodes(object);
    steps++;
  }
}

static int endpoints_checked, endpoints_with_node;

static void check(const char *object, const char *kind)
{
  if (strcmp(kind, "endpoint") != 0) return;
  char node[128];
  check_endpoint(object);
  text_of(object, "node", node, sizeof node);
  endpoints_checked++;
  endpoints_with_node += node[0] != '\0';
}

static int teardown(void **state)
{
  (void)state;
  tb__graph_model_fini(&model);
  model = (tb__graph_model_t){0};
  free(snapshot);
  snapshot = NULL;
  return 0;
}

static void test_nodes_after_each_step(void **state)
{
  (void)state;
  steps = nodes_seen = 0;
  file_visit("discovery.json", step);
  assert_int_equal(steps, 33);
  assert_int_equal(nodes_seen, 32);
  assert_int_equal(snapshot->node_count, 0); /* all have announced their end */
  assert_true(model.malformed == 0 && model.foreign == 0);
}

static void test_every_endpoint_has_its_node(void **state)
{
  (void)state;
  static const char *const files[] = {"endpoints_bag_play.json", "endpoints_bag_record.json",
                                      "endpoints_rclcpp_sim_node.json", "endpoints_topic_pub.json"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    file_visit(files[i], step);
  take_snapshot();
  endpoints_checked = endpoints_with_node = 0;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    file_visit(files[i], check);
  assert_int_equal(endpoints_checked, 100);
  assert_int_equal(endpoints_with_node, 92);
  assert_true(model.malformed == 0 && model.foreign == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_nodes_after_each_step, teardown),
      cmocka_unit_test_teardown(test_every_endpoint_has_its_node, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

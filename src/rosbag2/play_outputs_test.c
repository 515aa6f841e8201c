/* What a player makes of a graph and of the answers of nodes in it. */
#include "rosbag2/play_outputs.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { IN = 1, LATCHED, OTHER, OUT, STRANGE_OUT, NODE_IN, NODE_LATCHED, OTHER_IN };

#define ENDPOINT(number, publishes, topic, of_node)                                                \
  {                                                                                                \
    .is_publisher = (publishes), .name = (topic), .type = "a/msg/B", .qos = TB_QOS_INIT_DEFAULT,   \
    .guid = {number}, .node = (of_node)                                                            \
  }

static const tb_ros2_graph_node_t nodes[] = {
    {.name = "player", .full_name = "/player"},
    {.name = "slam", .full_name = "/slam"},
    {.name = "other", .full_name = "/other"},
};
static const tb_ros2_graph_endpoint_t endpoints[] = {
    ENDPOINT(IN, true, "/in", 0),         ENDPOINT(NODE_IN, false, "/in", 1),
    ENDPOINT(LATCHED, true, "/map", 0),   ENDPOINT(NODE_LATCHED, false, "/map", 1),
    ENDPOINT(OUT, true, "/out", 1),       ENDPOINT(STRANGE_OUT, true, "/out", 2),
    ENDPOINT(OTHER, true, "/unheard", 0), ENDPOINT(OTHER_IN, false, "/unheard", 2),
};
static const tb_ros2_graph_snapshot_t whole = {
    .nodes = nodes, .node_count = 3, .endpoints = endpoints, .endpoint_count = COUNT(endpoints)};
static const tb_ros2_graph_snapshot_t without_output = {
    .nodes = nodes, .node_count = 3, .endpoints = endpoints, .endpoint_count = 4};
static const tb_ros2_graph_snapshot_t without_node = {
    .nodes = nodes, .node_count = 1, .endpoints = endpoints, .endpoint_count = 1};

typedef struct fixture {
  tb__play_outputs_t outputs;
  tb__play_output_t item;
  size_t inputs[3];
} fixture_t;

static void init(fixture_t *f, const char *node)
{
  static const uint8_t own[] = {IN, LATCHED, OTHER};
  static const tb_bag_topic_t topic = {.type = "a/msg/B"};
  *f = (fixture_t){.item = {.topic = (char *)(uintptr_t) "/out", .node = (char *)(uintptr_t)node}};
  tb__mutex_init(&f->outputs.mutex);
  f->outputs.items = &f->item;
  f->outputs.count = 1;
  f->item.all = &f->outputs;
  for (size_t i = 0; i < 3; i++) {
    tb__guid_t guid = {{own[i]}};
    assert_ok(tb__play_outputs_add_input(&f->outputs, &guid, &topic, own[i] == LATCHED,
                                         &f->inputs[i], NULL));
  }
  tb__play_outputs_time(&f->outputs, 1000, true);
}

static void fini(fixture_t *f)
{
  for (size_t i = 0; i < f->outputs.input_count; i++)
    tb__stamp_reader_fini(&f->outputs.inputs[i].stamps);
  free(f->outputs.inputs);
}

static int64_t limit_of(fixture_t *f)
{
  int64_t limit_ns = -1;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__play_outputs_limit(&f->outputs, &limit_ns, &error) != TB_OK) fail_msg("%s", error.text);
  return limit_ns;
}

static void assert_names(fixture_t *f, const char *expected)
{
  char text[256];
  tb__play_outputs_name(&f->outputs, text, sizeof text);
  assert_string_equal(text, expected);
}

/* The node is there, and knows of us. */
static void match(fixture_t *f, const tb_ros2_graph_snapshot_t *graph)
{
  tb__play_outputs_look(&f->outputs, graph, 0);
  tb__play_outputs_look(&f->outputs, graph, TB_NS_PER_S);
}

static void send(fixture_t *f, size_t input, int64_t time_ns)
{
  tb__play_outputs_time(&f->outputs, time_ns, false);
  tb__play_outputs_sending(&f->outputs, f->inputs[input], "", 0);
}

static void publish(fixture_t *f, uint8_t writer, uint8_t stamp_ns)
{
  const tb__guid_t guid = {{writer}};
  const uint8_t message[] = {0, 1, 0, 0, 0, 0, 0, 0, stamp_ns, 4, 0, 0, 1, 0, 0, 0, 0};
  tb__play_output_take(&f->item, &guid, message, sizeof message); /* 1024 and stamp_ns */
}

static void test_nothing_moves_until_the_node_is_there(void **state)
{
  (void)state;
  fixture_t f;
  init(&f, "/slam");
  tb__play_outputs_look(&f.outputs, &without_node, 0);
  assert_int_equal(limit_of(&f), 0);
  assert_names(&f, "/slam, to publish /out: no such node");
  tb__play_outputs_look(&f.outputs, &without_output, 1);
  assert_int_equal(limit_of(&f), 0);
  assert_names(&f, "/slam, which does not publish /out");
  tb__play_outputs_look(&f.outputs, &whole, 2);
  assert_int_equal(limit_of(&f), 0);
  assert_names(&f, "/slam, which has just appeared");
  tb__play_outputs_look(&f.outputs, &whole, 2 + 500 * TB_NS_PER_MS - 1);
  assert_int_equal(limit_of(&f), 0);
  tb__play_outputs_look(&f.outputs, &whole, 2 + 500 * TB_NS_PER_MS);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  assert_string_equal(f.item.type, "a/msg/B");
  fini(&f);
}

static void test_only_what_the_node_subscribes_to_counts(void **state)
{
  (void)state;
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  send(&f, 1, 1010); /* latched */
  send(&f, 2, 1020);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  send(&f, 0, 1030);
  assert_int_equal(limit_of(&f), 1030);
  assert_names(&f, "/slam, which was sent 0.000001030 s and has published nothing on /out");
  fini(&f);
}

static void test_a_node_after_others_gets_all(void **state)
{
  (void)state;
  static const tb_ros2_graph_endpoint_t indirect[] = {
      ENDPOINT(IN, true, "/in", 0), ENDPOINT(LATCHED, true, "/map", 0),
      ENDPOINT(OUT, true, "/out", 1), ENDPOINT(OTHER, true, "/unheard", 0)};
  const tb_ros2_graph_snapshot_t graph = {
      .nodes = nodes, .node_count = 3, .endpoints = indirect, .endpoint_count = COUNT(indirect)};
  fixture_t f;
  init(&f, "/slam");
  match(&f, &graph);
  send(&f, 1, 1010);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  send(&f, 2, 1020);
  assert_int_equal(limit_of(&f), 1020);
  fini(&f);
}

static void test_only_the_nodes_own_stamps_count(void **state)
{
  (void)state;
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  send(&f, 0, 1030);
  publish(&f, STRANGE_OUT, 100);
  assert_int_equal(limit_of(&f), 1030);
  publish(&f, OUT, 5); /* 1029 */
  assert_int_equal(limit_of(&f), 1030);
  assert_names(&f, "/slam, which was sent 0.000001030 s and has published no more than "
                   "0.000001029 s on /out");
  publish(&f, OUT, 6);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  fini(&f);
}

/* A sample of a second publisher of the node may arrive before the graph has its node. */
static void test_a_stamp_counts_when_its_writer_becomes_known(void **state)
{
  (void)state;
  tb_ros2_graph_endpoint_t more[COUNT(endpoints)];
  memcpy(more, endpoints, sizeof more);
  more[5].node = 1;
  const tb_ros2_graph_snapshot_t graph = {
      .nodes = nodes, .node_count = 3, .endpoints = more, .endpoint_count = COUNT(more)};
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  send(&f, 0, 1030);
  publish(&f, STRANGE_OUT, 6);
  assert_int_equal(limit_of(&f), 1030);
  tb__play_outputs_look(&f.outputs, &graph, 2 * TB_NS_PER_S);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  fini(&f);
  init(&f, "/slam");
  match(&f, &whole);
  send(&f, 0, 1030);
  publish(&f, STRANGE_OUT, 6);
  tb__play_outputs_time(&f.outputs, 1030, true);
  send(&f, 0, 1030);
  tb__play_outputs_look(&f.outputs, &graph, 2 * TB_NS_PER_S);
  assert_int_equal(limit_of(&f), 1030); /* that was before the jump */
  fini(&f);
}

static void test_a_node_that_comes_again_starts_from_scratch(void **state)
{
  (void)state;
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  send(&f, 0, 1030);
  tb__play_outputs_look(&f.outputs, &without_node, 2 * TB_NS_PER_S);
  assert_int_equal(limit_of(&f), 0);
  tb__play_outputs_look(&f.outputs, &whole, 3 * TB_NS_PER_S);
  assert_int_equal(limit_of(&f), 0);
  tb__play_outputs_look(&f.outputs, &whole, 4 * TB_NS_PER_S);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  fini(&f);
}

/* It begins as a header would, with 2 ns; its own comes later, with 1028 ns. */
static void test_stamps_are_those_of_the_recorded_definition(void **state)
{
  (void)state;
  static const uint8_t message[] = {0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0,
                                    0, 0, 0, 0, 0, 0, 0, 4, 4, 0, 0, 1, 0, 0, 0, 0};
  static const tb_bag_topic_t topic = {
      .type = "a/msg/B",
      .definition = "uint32 a\nuint32 b\nstring c\nstd_msgs/Header h\n====================\n"
                    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
                    "====================\nMSG: builtin_interfaces/Time\nint32 sec\n"
                    "uint32 nanosec\n",
      .definition_encoding = "ros2msg"};
  const tb__guid_t guid = {{IN}};
  fixture_t f;
  size_t input;
  init(&f, "/slam");
  assert_ok(tb__play_outputs_add_input(&f.outputs, &guid, &topic, false, &input, NULL));
  match(&f, &whole);
  tb__play_outputs_time(&f.outputs, 1030, false);
  tb__play_outputs_sending(&f.outputs, input, message, sizeof message);
  publish(&f, OUT, 2);
  assert_int_equal(limit_of(&f), 1030);
  publish(&f, OUT, 4);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  fini(&f);
}

static void test_a_message_without_header_is_refused_where_it_is_the_nodes(void **state)
{
  (void)state;
  static const tb__guid_t stranger = {{STRANGE_OUT}}, own = {{OUT}};
  tb_error_t error = TB_ERROR_INIT;
  int64_t limit_ns;
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  tb__play_output_take(&f.item, &stranger, "", 0);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  tb__play_output_take(&f.item, &own, "", 0);
  assert_status(tb__play_outputs_limit(&f.outputs, &limit_ns, &error), TB_ERR_INVALID);
  assert_string_equal(error.text,
                      "output /out of /slam: its type, a/msg/B, does not begin with a "
                      "std_msgs/Header, and its definition is unknown: wait for a topic whose "
                      "messages do, or set AMENT_PREFIX_PATH");
  fini(&f);
}

static void test_more_publishers_than_are_kept(void **state)
{
  (void)state;
  fixture_t f;
  init(&f, "/slam");
  match(&f, &whole);
  for (uint8_t i = 0; i < 3 * TB__PLAY_WRITERS_MAX; i++)
    publish(&f, (uint8_t)(100 + i), i);
  assert_int_equal(f.item.writer_count, TB__PLAY_WRITERS_MAX);
  tb__play_outputs_look(&f.outputs, &whole, 2 * TB_NS_PER_S);
  send(&f, 0, 1030);
  publish(&f, OUT, 6);
  assert_int_equal(limit_of(&f), TB_PLAY_NO_LIMIT);
  fini(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_moves_until_the_node_is_there),
      cmocka_unit_test(test_only_what_the_node_subscribes_to_counts),
      cmocka_unit_test(test_a_node_after_others_gets_all),
      cmocka_unit_test(test_only_the_nodes_own_stamps_count),
      cmocka_unit_test(test_a_stamp_counts_when_its_writer_becomes_known),
      cmocka_unit_test(test_a_node_that_comes_again_starts_from_scratch),
      cmocka_unit_test(test_stamps_are_those_of_the_recorded_definition),
      cmocka_unit_test(test_a_message_without_header_is_refused_where_it_is_the_nodes),
      cmocka_unit_test(test_more_publishers_than_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

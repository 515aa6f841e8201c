#include "bridge_view.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <timebase/ros1_publisher.h>
#include <unistd.h>

#include "bridge_topics.h"
#include "test.h"

#define NODES 80

static const command_t command = {.name = "bridge"};

/* A master that takes connections and never answers. Returns the descriptor. */
static int silent_master(char *uri, size_t size)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 1024), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
  snprintf(uri, size, "http://127.0.0.1:%u/", (unsigned)ntohs(address.sin_port));
  return fd;
}

static tb_ros1_context_t *node(const char *master, const char *name)
{
  tb_ros1_context_t *context = NULL;
  const tb_ros1_context_options_t options = {master, "127.0.0.1", name};
  assert_int_equal(tb_ros1_context_create(&options, &context, NULL), TB_OK);
  return context;
}

/* Whether a node at that URI, in a process of that id, is a namesake of the bridge /b. */
static bool is_namesake(const bridge_ends_t *ends, const char *name, const char *uri, long pid,
                        tb_ros1_node_state_t state)
{
  tb_ros1_graph_node_t one = {.name = name, .uri = uri, .pid = (int32_t)pid, .state = state};
  tb_ros1_graph_snapshot_t graph = {.nodes = &one, .node_count = 1};
  const bridge_view_t view = {.ends = ends, .own = "/b", .ros1 = &graph};
  return bridge_view_namesake(&view) == &one;
}

static void test_a_namesake_is_another_process_or_at_another_uri(void **state)
{
  (void)state;
  char master[64];
  int fd = silent_master(master, sizeof master);
  bridge_ends_t ends = {.command = &command, .ros1 = node(master, "/b")};
  const char *own = tb_ros1_context_node_uri(ends.ros1), *other = "http://robot:1/";
  assert_non_null(own);
  assert_false(is_namesake(&ends, "/b", own, getpid(), TB_ROS1_NODE_ALIVE));
  assert_true(is_namesake(&ends, "/b", other, getpid(), TB_ROS1_NODE_ALIVE));
  assert_true(is_namesake(&ends, "/b", own, getpid() + 1L, TB_ROS1_NODE_ALIVE));
  assert_false(is_namesake(&ends, "/c", other, getpid() + 1L, TB_ROS1_NODE_ALIVE));
  assert_false(is_namesake(&ends, "/b", other, getpid(), TB_ROS1_NODE_DEAD));
  tb_ros1_context_destroy(ends.ros1);
  close(fd);
}

/* Each would be waited for, which takes longer than the alarm. */
static void test_ends_of_many_nodes_do_not_add_up(void **state)
{
  (void)state;
  char master[64], name[32];
  static tb_ros1_context_t *nodes[NODES];
  static tb_ros1_publisher_t *publishers[NODES];
  int calls[NODES];
  const tb_ros1_message_type_t type = {"std_msgs/String", "992ce8a1687cec8c8bd883ec73ca41d1", ""};
  bridge_ends_t ends = {.command = &command};
  int fd = silent_master(master, sizeof master);
  assert_int_equal(tb_steady_clock_create(&ends.steady), TB_OK);
  alarm(60);
  for (int i = 0; i < NODES; i++) {
    snprintf(name, sizeof name, "/b_latched_%d", i + 2);
    nodes[i] = node(master, name);
    assert_int_equal(
        tb_ros1_publisher_create(nodes[i], "/topic", &type, NULL, &publishers[i], NULL), TB_OK);
    calls[i] = accept(fd, NULL, NULL); /* it registers */
    assert_true(calls[i] >= 0);
  }
  bridge_ends_begin_end(&ends);
  ends.end_ns = bridge_now_ns(&ends); /* the whole has used it up */
  for (int i = 0; i < NODES; i++) {
    tb_ros1_publisher_destroy(publishers[i]);
    bridge_ends_close_ros1(&ends, nodes[i]);
    close(calls[i]);
  }
  alarm(0);
  tb_steady_clock_destroy(ends.steady);
  close(fd);
}

static void test_topics_above_the_limit_are_reported(void **state)
{
  (void)state;
  const bridge_choice_t choice = {.is_given = true, .all = true};
  bridge_topics_t topics = {.command = &command, .choice = &choice, .count = BRIDGE_TOPICS_MAX};
  const uint32_t index = 0;
  const tb_ros1_graph_topic_t topic = {
      .name = "/a", .type = "std_msgs/String", .publisher_count = 1};
  const tb_ros1_graph_node_t talker = {
      .name = "/talker", .publications = &index, .publication_count = 1};
  tb_ros1_graph_snapshot_t ros1 = {
      .nodes = &talker, .node_count = 1, .topics = &topic, .topic_count = 1};
  const tb_ros2_graph_snapshot_t ros2 = {.node_count = 0};
  const bridge_view_t view = {.own = "/b", .ros1 = &ros1, .ros2 = &ros2};
  assert_int_equal(bridge_topics_look(&topics, &view), EXIT_OK);
  assert_true(topics.has_reported_limit);
  assert_null(topics.first);
}

static void test_a_graph_that_changes_all_the_time_is_waited_for_so_long(void **state)
{
  (void)state;
  bridge_ends_t ends = {.command = &command};
  const tb_ros2_graph_snapshot_t graph = {0};
  const bridge_view_t view = {.ends = &ends, .ros2 = &graph};
  assert_int_equal(tb_steady_clock_create(&ends.steady), TB_OK);
  int64_t now_ns = bridge_now_ns(&ends);
  bridge_look_t look = {.ends = &ends, .begin_ns = now_ns, .quiet_ns = now_ns};
  look.changed_ns = now_ns + 60 * TB_NS_PER_S; /* it changes as it is looked at */
  assert_false(bridge_look_is_settled(&look, &view));
  look.quiet_ns = now_ns - 10 * TB_NS_PER_S;
  assert_true(bridge_look_is_settled(&look, &view));
  assert_true(look.has_reported_changes);
  look.changed_ns = now_ns - TB_NS_PER_S; /* a pause, and the next changes are waited for again */
  assert_true(bridge_look_is_settled(&look, &view));
  look.changed_ns = now_ns + 60 * TB_NS_PER_S;
  assert_false(bridge_look_is_settled(&look, &view));
  tb_steady_clock_destroy(ends.steady);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_namesake_is_another_process_or_at_another_uri),
      cmocka_unit_test(test_ends_of_many_nodes_do_not_add_up),
      cmocka_unit_test(test_topics_above_the_limit_are_reported),
      cmocka_unit_test(test_a_graph_that_changes_all_the_time_is_waited_for_so_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

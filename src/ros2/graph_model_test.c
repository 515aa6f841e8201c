#include "ros2/graph_model.h"

#include <stdlib.h>
#include <string.h>

#include "ros2/graph_snapshot.h"
#include "test.h"

static tb__graph_model_t model;
static tb_ros2_graph_snapshot_t *snapshot;

static int setup(void **state)
{
  (void)state;
  model = (tb__graph_model_t){0};
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb__graph_model_fini(&model);
  free(snapshot);
  snapshot = NULL;
  return 0;
}

/* Participant `p` has the entity 1c1, endpoint `n` of it its own number. */
static void guid_fill(uint8_t out[TB__GUID_SIZE], uint8_t p, uint32_t n)
{
  memset(out, p, 12);
  for (int i = 0; i < 4; i++)
    out[12 + i] = (uint8_t)(n >> (24 - 8 * i));
}

static void participant(uint8_t p, const char *user_data)
{
  tb__seen_participant_t seen = {.is_gone = !user_data};
  guid_fill(seen.guid.bytes, p, 0x1c1);
  if (user_data) strcpy(seen.user_data, user_data);
  assert_ok(tb__graph_model_participant(&model, &seen));
}

static void endpoint(uint8_t p, uint32_t n, bool is_writer, const char *topic, const char *type,
                     const char *user_data)
{
  tb__seen_endpoint_t seen = {
      .is_writer = is_writer, .topic = topic, .type = type, .qos = TB_QOS_INIT_DEFAULT};
  guid_fill(seen.guid.bytes, p, n);
  guid_fill(seen.participant_guid.bytes, p, 0x1c1);
  strcpy(seen.user_data, user_data);
  assert_ok(tb__graph_model_endpoint(&model, &seen));
}

static void endpoint_gone(uint8_t p, uint32_t n)
{
  tb__seen_endpoint_t seen = {.is_gone = true};
  guid_fill(seen.guid.bytes, p, n);
  assert_ok(tb__graph_model_endpoint(&model, &seen));
}

/* Nodes "NS NAME", each with the writers 1 + 10 * its place and the readers 2 + 10 * its place. */
static void info_of(uint8_t writer_p, uint8_t p, bool humble, size_t count,
                    const char *const names[][2])
{
  tb__guid_t writer;
  uint8_t *bytes;
  size_t size;
  tb__node_entities_info_t nodes[8] = {0};
  tb__gid_t gids[8][2] = {0};
  tb__participant_entities_info_t info = {.node_entities_info_seq = {nodes, count}};
  guid_fill(writer.bytes, writer_p, 0x403);
  guid_fill(info.gid.data, p, 0x1c1);
  for (size_t i = 0; i < count; i++) {
    guid_fill(gids[i][0].data, p, (uint32_t)(1 + 10 * i));
    guid_fill(gids[i][1].data, p, (uint32_t)(2 + 10 * i));
    nodes[i] =
        (tb__node_entities_info_t){names[i][0], names[i][1], {&gids[i][1], 1}, {&gids[i][0], 1}};
  }
  assert_ok(tb__cdr_encode(humble ? &tb__participant_entities_info_humble_type
                                  : &tb__participant_entities_info_type,
                           &info, false, &bytes, &size));
  assert_ok(tb__graph_model_info(&model, &writer, bytes, size));
  free(bytes);
}

static void info(uint8_t p, const char *name_space, const char *name)
{
  const char *const names[][2] = {{name_space, name}};
  info_of(p, p, false, name ? 1 : 0, names);
}

static void take_snapshot(void)
{
  tb__guid_t own;
  guid_fill(own.bytes, 1, 0x1c1);
  free(snapshot);
  snapshot = NULL;
  assert_ok(tb__graph_snapshot_build(&model, &own, 7, &snapshot));
  assert_int_equal(snapshot->change, 7);
}

/* Full names, joined by blanks. */
static void assert_nodes(const char *expected)
{
  char all[1024] = "";
  take_snapshot();
  for (size_t i = 0; i < snapshot->node_count; i++) {
    strcat(all, i ? " " : "");
    strcat(all, snapshot->nodes[i].full_name);
  }
  assert_string_equal(all, expected);
}

static void test_nodes_need_a_ros_participant_in_either_order(void **state)
{
  (void)state;
  info(2, "/", "early");
  assert_nodes("");
  participant(2, "enclave=/;");
  assert_nodes("/early");
  participant(3, "");
  info(3, "/", "plain");
  assert_nodes("/early");
  participant(3, "x=y;enclave=/sec;");
  assert_nodes("/early /plain");
  assert_string_equal(snapshot->nodes[1].enclave, "/sec");
  participant(2, NULL);
  assert_nodes("/plain");
  participant(2, "enclave=/;"); /* comes back, and has not spoken yet */
  assert_nodes("/plain");
}

static void test_the_last_word_counts(void **state)
{
  (void)state;
  participant(1, "enclave=/;");
  info(1, "/", "a");
  info(1, "/x/y", "b");
  assert_nodes("/x/y/b");
  assert_string_equal(snapshot->nodes[0].name, "b");
  assert_string_equal(snapshot->nodes[0].name_space, "/x/y");
  assert_true(snapshot->nodes[0].is_own);
  assert_int_equal(snapshot->nodes[0].distro, TB_ROS2_DISTRO_JAZZY);
  info_of(1, 1, true, 1, (const char *const[][2]){{"/", "old"}});
  assert_nodes("/old");
  assert_int_equal(snapshot->nodes[0].distro, TB_ROS2_DISTRO_HUMBLE);
  info(1, NULL, NULL);
  assert_nodes("");
}

static void test_nodes_go_with_the_writer_that_spoke_of_them(void **state)
{
  (void)state;
  participant(1, "enclave=/;");
  endpoint(1, 0x403, true, "ros_discovery_info",
           "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", "");
  info(1, "/", "a");
  assert_nodes("/a");
  endpoint_gone(1, 0x404);
  assert_nodes("/a");
  endpoint_gone(1, 0x403);
  assert_nodes("");
}

static void test_order_and_duplicates(void **state)
{
  (void)state;
  participant(2, "enclave=/;");
  participant(1, "enclave=/;");
  info_of(2, 2, false, 4,
          (const char *const[][2]){{"/b", "a"}, {"/", "z"}, {"/", "b"}, {"/b", "a"}});
  info_of(1, 1, false, 2, (const char *const[][2]){{"/b", "a"}, {"/", "b0"}});
  assert_nodes("/b /b/a /b/a /b/a /b0 /z");
  static const bool duplicates[] = {false, true, true, true, false, false};
  for (size_t i = 0; i < 6; i++)
    assert_true(snapshot->nodes[i].is_duplicate == duplicates[i]);
  assert_true(snapshot->nodes[1].is_own && !snapshot->nodes[2].is_own);
}

static void test_endpoints_have_the_node_that_lists_them(void **state)
{
  (void)state;
  participant(1, "enclave=/;");
  participant(2, "enclave=/;");
  participant(3, "");
  endpoint(1, 1, true, "rt/x", "p::msg::dds_::T_", "");
  endpoint(1, 2, true, "rt/not_a_reader", "p::msg::dds_::T_", "");
  endpoint(1, 12, false, "rt/x", "p::msg::dds_::T_", "");
  endpoint(2, 1, true, "rt/x", "p::msg::dds_::T_", "");
  endpoint(3, 1, true, "rt/x", "Plain", "typehash=RIHS01_00;");
  endpoint(4, 1, true, "rt/x", "of_nobody", "");
  info_of(1, 1, false, 2, (const char *const[][2]){{"/", "b"}, {"/", "a"}});
  assert_nodes("/a /b");
  assert_int_equal(snapshot->endpoint_count, 5);
  assert_int_equal(snapshot->nodes[0].endpoint_count, 1);
  assert_int_equal(snapshot->nodes[1].endpoint_count, 1);
  const tb_ros2_graph_endpoint_t *first = &snapshot->endpoints[snapshot->nodes[1].endpoints[0]];
  assert_true(first->is_publisher && first->guid[15] == 1 && first->node == 1);
  const tb_ros2_graph_endpoint_t *publishers = NULL, *subscriptions = NULL;
  assert_int_equal(tb_ros2_graph_publishers(snapshot, "/x", &publishers), 3);
  assert_string_equal(publishers[0].type, "Plain"); /* by type, then GUID */
  assert_int_equal(publishers[0].node, -1);
  assert_null(publishers[0].type_hash);
  assert_int_equal(publishers[1].node, 1);
  assert_int_equal(publishers[2].node, -1); /* its participant has said nothing */
  assert_int_equal(tb_ros2_graph_subscriptions(snapshot, "/x", &subscriptions), 1);
  assert_int_equal(subscriptions[0].node, 0);
  assert_int_equal(tb_ros2_graph_publishers(snapshot, "/y", &publishers), 0);
  participant(1, NULL); /* its endpoints go with it, reported or not */
  take_snapshot();
  assert_int_equal(snapshot->endpoint_count, 2);
}

/* Two nodes of one participant list each of two endpoints, one of them twice, and one that
 * is not there. */
static void test_nodes_may_share_an_endpoint(void **state)
{
  (void)state;
  tb__guid_t writer;
  uint8_t *bytes;
  size_t size;
  tb__gid_t gids[4] = {0};
  tb__node_entities_info_t nodes[] = {{"/", "b", {0}, {gids, 4}}, {"/", "a", {0}, {gids, 2}}};
  tb__participant_entities_info_t shared = {.node_entities_info_seq = {nodes, 2}};
  participant(1, "enclave=/;");
  endpoint(1, 1, true, "rt/y", "p::msg::dds_::T_", "");
  endpoint(1, 2, true, "rt/x", "p::msg::dds_::T_", "");
  guid_fill(writer.bytes, 1, 0x403);
  guid_fill(shared.gid.data, 1, 0x1c1);
  guid_fill(gids[0].data, 1, 1);
  guid_fill(gids[1].data, 1, 2);
  guid_fill(gids[2].data, 1, 1);
  guid_fill(gids[3].data, 1, 7);
  assert_ok(tb__cdr_encode(&tb__participant_entities_info_type, &shared, false, &bytes, &size));
  assert_ok(tb__graph_model_info(&model, &writer, bytes, size));
  free(bytes);
  assert_nodes("/a /b");
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(snapshot->nodes[i].endpoint_count, 2);
    assert_int_equal(snapshot->nodes[i].unseen_count, i); /* of "/b" */
    assert_int_equal(snapshot->nodes[i].endpoints[0], 0);
    assert_int_equal(snapshot->nodes[i].endpoints[1], 1);
    assert_int_equal(snapshot->endpoints[i].node, 0);
  }
}

static void test_an_endpoint_that_changes_is_replaced(void **state)
{
  (void)state;
  static const char hash[] =
      "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564";
  char user_data[128];
  participant(1, "enclave=/;");
  endpoint(1, 1, true, "rt/clock", "rosgraph_msgs::msg::dds_::Clock_", "typehash=RIHS01_xyz;");
  take_snapshot();
  assert_null(snapshot->endpoints[0].type_hash);
  snprintf(user_data, sizeof user_data, "clientid=1.2;typehash=%s;", hash);
  endpoint(1, 1, true, "rt/clock", "rosgraph_msgs::msg::dds_::Clock_", user_data);
  take_snapshot();
  assert_int_equal(snapshot->endpoint_count, 1);
  assert_string_equal(snapshot->endpoints[0].type_hash, hash);
  assert_string_equal(snapshot->endpoints[0].name, "/clock");
  assert_string_equal(snapshot->endpoints[0].type, "rosgraph_msgs/msg/Clock");
  endpoint_gone(1, 1);
  endpoint_gone(1, 1);
  take_snapshot();
  assert_int_equal(snapshot->endpoint_count, 0);
}

static void assert_counts(uint64_t malformed, uint64_t foreign)
{
  assert_true(model.malformed == malformed && model.foreign == foreign);
}

static void test_announcements_for_another_participant_are_ignored(void **state)
{
  (void)state;
  participant(1, "enclave=/;");
  participant(2, "enclave=/;");
  info(1, "/", "honest");
  info_of(2, 1, false, 1, (const char *const[][2]){{"/", "cuckoo"}});
  assert_counts(0, 1);
  assert_nodes("/honest");
  const tb__guid_t zeros = {{0}};
  assert_ok(tb__graph_model_info(&model, &zeros, "", 0)); /* gone before its sample was read */
  assert_counts(0, 1);
}

static void test_names_that_break_the_rules_are_ignored(void **state)
{
  (void)state;
  static const char *const names[][2] = {{"/", ""},    {"/", "a/b"},  {"/", "1a"}, {"", "a"},
                                         {"a", "b"},   {"/a/", "b"},  {"//", "b"}, {"/", "\033"},
                                         {"/1a", "b"}, {"/", "a\xff"}};
  participant(1, "enclave=/;");
  info(1, "/", "honest");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    info(1, names[i][0], names[i][1]);
    assert_counts(i + 1, 0);
  }
  assert_nodes("/honest");
}

static void test_participants_that_only_announce_are_limited(void **state)
{
  (void)state;
  for (int p = 1; p < 255; p++)
    info((uint8_t)p, "/", "unheard_of");
  assert_int_equal(model.participant_count, 64);
  participant(254, "enclave=/;");
  assert_nodes("/unheard_of");
}

static void test_what_keeps_a_pair_apart(void **state)
{
  (void)state;
  const tb_ros2_graph_endpoint_t base = {
      .type = "a", .qos = TB_QOS_INIT_DEFAULT, .dds_qos = {.representations = 1}};
  tb_ros2_graph_endpoint_t publisher = base, subscription = base;
  assert_int_equal(tb_ros2_graph_mismatches(&base, &base), 0);
  publisher.qos.reliability = TB_QOS_BEST_EFFORT;
  assert_int_equal(tb_ros2_graph_mismatches(&publisher, &base), TB_QOS_POLICY_RELIABILITY);
  subscription.type = "b";
  assert_int_equal(tb_ros2_graph_mismatches(&publisher, &subscription),
                   TB_QOS_POLICY_RELIABILITY | TB_QOS_POLICY_TYPE);
  publisher = subscription = base;
  publisher.dds_qos.durability = 2;
  subscription.dds_qos.durability = 3;
  subscription.dds_qos.liveliness = 1;
  publisher.dds_qos.exclusive_ownership = true;
  subscription.dds_qos.has_partition = true;
  publisher.dds_qos.representations = 4;
  assert_int_equal(tb_ros2_graph_mismatches(&publisher, &subscription),
                   TB_QOS_POLICY_DURABILITY | TB_QOS_POLICY_LIVELINESS | TB_QOS_POLICY_OWNERSHIP |
                       TB_QOS_POLICY_PARTITION | TB_QOS_POLICY_DATA_REPRESENTATION);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_nodes_need_a_ros_participant_in_either_order),
      TEST(test_the_last_word_counts),
      TEST(test_nodes_go_with_the_writer_that_spoke_of_them),
      TEST(test_order_and_duplicates),
      TEST(test_endpoints_have_the_node_that_lists_them),
      TEST(test_nodes_may_share_an_endpoint),
      TEST(test_an_endpoint_that_changes_is_replaced),
      TEST(test_announcements_for_another_participant_are_ignored),
      TEST(test_names_that_break_the_rules_are_ignored),
      TEST(test_participants_that_only_announce_are_limited),
      TEST(test_what_keeps_a_pair_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

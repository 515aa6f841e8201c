#include "contract/manifest_draft.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define NODE(name_, sim)                                                                           \
  {                                                                                                \
    .name = (name_), .sim_time = (sim), .evidence = "its parameter use_sim_time"                   \
  }

/* What was drafted is a manifest. Returns its text, to be freed. */
static char *draft(const tb__draft_facts_t *facts, tb__manifest_t *out, size_t *out_marks)
{
  tb__problems_t problems = {0};
  char *text = NULL;
  assert_ok(tb__manifest_draft(facts, &text, out_marks));
  tb_status_t status = tb__manifest_parse(text, strlen(text), &problems, out);
  if (status)
    fail_msg("%s:%zu: %s\n%s", tb_status_name(status), problems.items[0].line,
             problems.items[0].text, text);
  return text;
}

static size_t count(const char *text, const char *part)
{
  size_t found = 0;
  for (; (text = strstr(text, part)); text++)
    found++;
  return found;
}

/* One on wall time among nine is marked, and not expected to be there. */
static void test_a_minority_is_marked_and_never_expected(void **state)
{
  (void)state;
  char names[10][8];
  tb__draft_node_t nodes[10];
  tb__draft_facts_t facts = {.source = "the graph",
                             .has_clock = true,
                             .clock_publishers = 1,
                             .clock_publisher = "/sim",
                             .nodes = nodes,
                             .node_count = 10};
  for (int wall = 0; wall < 10; wall++) { /* the other way round from 6 on */
    for (int i = 0; i < 10; i++) {
      snprintf(names[i], sizeof names[i], "/n%d", i);
      nodes[i] = (tb__draft_node_t)NODE(names[i], i < wall ? TB__IS_FALSE : TB__IS_TRUE);
    }
    tb__manifest_t manifest;
    size_t marks;
    char *text = draft(&facts, &manifest, &marks);
    bool expected = wall <= 5; /* at a tie the clock decides */
    size_t minority = expected ? (size_t)wall : (size_t)(10 - wall);
    assert_int_equal(tb__draft_expects_sim_time(&facts), expected);
    for (size_t i = 0; i < 10; i++)
      assert_int_equal(tb__manifest_node(&manifest, names[i], NULL)->use_sim_time, expected);
    assert_int_equal(marks, minority);
    assert_int_equal(count(text, "# CHECK: it is on "), minority);
    if (wall == 1)
      assert_non_null(strstr(text, "/n0:\n    use_sim_time: true  # CHECK: it is on "
                                   "wall time, unlike most nodes (its parameter"));
    tb__manifest_fini(&manifest);
    free(text);
  }
}

static void test_recorders_viewers_and_publishers_of_the_clock_do_not_vote(void **state)
{
  (void)state;
  tb__draft_node_t nodes[] = {NODE("/_ros2cli_1", TB__IS_FALSE),
                              NODE("/ekf", TB__IS_TRUE),
                              NODE("/quiet", 0),
                              NODE("/rosbag2_recorder", TB__IS_FALSE),
                              NODE("/rviz2", TB__IS_FALSE),
                              NODE("/sim", TB__IS_FALSE)};
  nodes[5].publishes_clock = true;
  tb__draft_facts_t facts = {.source = "the graph",
                             .has_clock = true,
                             .clock_publishers = 1,
                             .clock_publisher = "/sim",
                             .clock_rate_hz = 99.96,
                             .clock_factor = 0.5,
                             .nodes = nodes,
                             .node_count = 6};
  tb__manifest_t manifest;
  size_t marks;
  bool declared;
  char *text = draft(&facts, &manifest, &marks);
  assert_int_equal(marks, 0);
  assert_int_equal(manifest.mode, TB__MODE_SIMULATION);
  assert_string_equal(manifest.clock.publisher, "/sim");
  assert_true(manifest.clock.rate_hz == 100 && manifest.clock.factor_min == 0.5);
  assert_true(tb__manifest_node(&manifest, "/ekf", NULL)->use_sim_time);
  assert_true(tb__manifest_node(&manifest, "/quiet", NULL)->use_sim_time);
  assert_false(tb__manifest_node(&manifest, "/rviz2", NULL)->use_sim_time);
  assert_false(tb__manifest_node(&manifest, "/sim", NULL)->use_sim_time);
  assert_string_equal(tb__manifest_node(&manifest, "/sim", NULL)->role, "clock");
  assert_string_equal(tb__manifest_node(&manifest, "/rosbag2_recorder", NULL)->role, "recorder");
  tb__manifest_node(&manifest, "/_ros2cli_1", &declared);
  assert_false(declared);
  tb__manifest_fini(&manifest);
  free(text);
}

static void test_the_mode_follows_from_the_clock(void **state)
{
  (void)state;
  tb__draft_node_t nodes[] = {NODE("/a", TB__IS_FALSE), NODE("/b", TB__IS_FALSE),
                              NODE("/c", TB__IS_TRUE)};
  tb__draft_facts_t facts = {.source = "x", .nodes = nodes, .node_count = 3};
  tb__manifest_t manifest;
  size_t marks;
  char *text = draft(&facts, &manifest, &marks);
  assert_int_equal(manifest.mode, TB__MODE_VEHICLE);
  assert_int_equal(marks, 1); /* /c waits for a clock */
  assert_false(tb__manifest_node(&manifest, "/c", NULL)->use_sim_time);
  tb__manifest_fini(&manifest);
  free(text);

  nodes[1].sim_time = TB__IS_TRUE;
  text = draft(&facts, &manifest, &marks);
  assert_int_equal(manifest.mode, TB__MODE_SIMULATION);
  assert_int_equal(marks, 2); /* no publisher, and /a */
  tb__manifest_fini(&manifest);
  free(text);

  facts.has_clock = facts.is_replay = true;
  facts.clock_publishers = 2;
  facts.clock_publisher = "/rosbag2_player";
  text = draft(&facts, &manifest, &marks);
  assert_int_equal(manifest.mode, TB__MODE_REPLAY);
  assert_null(manifest.clock.publisher); /* of two none is expected */
  assert_int_equal(marks, 2);
  assert_non_null(strstr(text, "2 publishers, where one is right"));
  tb__manifest_fini(&manifest);
  free(text);
}

static void test_topics_have_types_rates_and_marks(void **state)
{
  (void)state;
  static const tb__draft_topic_t topics[] = {
      {"/imu", "sensor_msgs/msg/Imu", 199.7, NULL},
      {"/map", "nav_msgs/msg/OccupancyGrid", 0, NULL},
      {"/odd", "a: \"b\"\n", 1234.5, "12 of 40 stamps are zero"},
      {"/slow", "x/msg/Y", 0.125, NULL},
      {"/thirty", "x/msg/Y", 29.97, NULL},
  };
  tb__draft_facts_t facts = {.source = "the recording \n x",
                             .is_recording = true,
                             .has_clock = true,
                             .clock_mark = "3 gaps",
                             .topics = topics,
                             .topic_count = 5};
  tb__manifest_t manifest;
  size_t marks;
  char *text = draft(&facts, &manifest, &marks);
  assert_int_equal(marks, 2);
  assert_true(tb__manifest_topic(&manifest, "/imu", NULL)->rate_hz == 200);
  assert_true(tb__manifest_topic(&manifest, "/map", NULL)->rate_hz == 0);
  assert_true(tb__manifest_topic(&manifest, "/odd", NULL)->rate_hz == 1234 ||
              tb__manifest_topic(&manifest, "/odd", NULL)->rate_hz == 1235);
  assert_true(tb__manifest_topic(&manifest, "/slow", NULL)->rate_hz == 0.125);
  assert_true(tb__manifest_topic(&manifest, "/thirty", NULL)->rate_hz == 30);
  assert_non_null(strstr(text, "/odd:  # CHECK: 12 of 40 stamps are zero\n"));
  assert_non_null(strstr(text, "topic: /clock  # CHECK: 3 gaps\n"));
  assert_string_equal(manifest.topics[0].type, "sensor_msgs/msg/Imu");
  tb__manifest_fini(&manifest);
  free(text);
}

static void test_what_is_no_name_is_left_out(void **state)
{
  (void)state;
  static const tb__draft_node_t nodes[] = {NODE("/a\n  /b", TB__IS_TRUE),
                                           NODE("/e\x1b[2J", TB__IS_TRUE)};
  static const tb__draft_topic_t topics[] = {{"x: y\n", "t", 1, NULL}, {"", "", 1, "m"}};
  tb__draft_facts_t facts = {.source = "x",
                             .has_clock = true,
                             .nodes = nodes,
                             .node_count = 2,
                             .topics = topics,
                             .topic_count = 2};
  tb__manifest_t manifest;
  size_t marks;
  char *text = draft(&facts, &manifest, &marks);
  assert_int_equal(marks, 4);
  assert_int_equal(manifest.node_count, 0);
  assert_int_equal(manifest.topic_count, 0);
  assert_null(strchr(text, '\x1b'));
  tb__manifest_fini(&manifest);
  free(text);
}

static void test_roles_by_name(void **state)
{
  (void)state;
  assert_string_equal(tb__draft_role("/rviz2"), "viewer");
  assert_string_equal(tb__draft_role("/ns/rosbag2_player"), "player");
  assert_string_equal(tb__draft_role("/rosbag2_recorder_12"), "recorder");
  assert_null(tb__draft_role("/rviz/camera"));
  assert_null(tb__draft_role("/ekf"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_minority_is_marked_and_never_expected),
      cmocka_unit_test(test_recorders_viewers_and_publishers_of_the_clock_do_not_vote),
      cmocka_unit_test(test_the_mode_follows_from_the_clock),
      cmocka_unit_test(test_topics_have_types_rates_and_marks),
      cmocka_unit_test(test_what_is_no_name_is_left_out),
      cmocka_unit_test(test_roles_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is found of edges, and what is not. */
#include "contract/tf_findings.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__tf_cover_t cover;
static char found[4096]; /* "RULE SUBJECT CAUSE: EVIDENCE", lines */

static int start(void **state)
{
  (void)state;
  *found = '\0';
  return tb__tf_cover_init(&cover, 1);
}

static int stop(void **state)
{
  (void)state;
  tb__tf_cover_fini(&cover);
  return 0;
}

static const char *topic(void *user, uint32_t number)
{
  (void)user;
  return number == 0 ? "/scan" : "?";
}

/* Of publisher 9 no node is known. */
static const char *publisher(void *user, uint64_t number)
{
  static const char *const names[] = {"/one", "/two", "/three"};
  (void)user;
  return number <= 3 ? names[number - 1] : NULL;
}

static tb_status_t add(void *user, const tb__finding_input_t *input, const char *evidence)
{
  size_t length = strlen(found);
  (void)user;
  snprintf(found + length, sizeof found - length, "%s %s %s: %s\n", tb__rule(input->rule)->id,
           input->subject, input->cause ? input->cause : "-", evidence);
  return TB_OK;
}

static void judge(void)
{
  tb__tf_judge_t of = {
      .cover = &cover, .late_ns = S, .topic = topic, .publisher = publisher, .add = add};
  assert_ok(tb__tf_cover_judge(&of));
}

static void send(uint64_t number, bool is_static, const char *parent, const char *child,
                 int64_t at_ns)
{
  tb__tf_transform_t transform = {.parent = parent,
                                  .child = child,
                                  .parent_length = strlen(parent),
                                  .child_length = strlen(child),
                                  .stamp_ns = at_ns,
                                  .received_ns = at_ns,
                                  .publisher = number,
                                  .is_static = is_static};
  assert_ok(tb__tf_cover_transform(&cover, &transform));
}

/* Messages that the edge odom -> base answers so much later. */
static void wait_for(int count, int64_t wait_ns)
{
  send(1, false, "odom", "base", 100 * S);
  for (int i = 0; i < count; i++)
    assert_ok(tb__tf_cover_message(&cover, 0, "base", 4, 101 * S, 101 * S));
  tb__tf_transform_t late = {.parent = "odom",
                             .child = "base",
                             .parent_length = 4,
                             .child_length = 4,
                             .stamp_ns = 101 * S,
                             .received_ns = 101 * S + wait_ns,
                             .publisher = 1};
  assert_ok(tb__tf_cover_transform(&cover, &late));
}

static void test_late(void **state)
{
  (void)state;
  wait_for(3, 1500 * MS);
  judge();
  assert_string_equal(found, "tf-late odom -> base /one: 3 messages waited for it, 0 of them in "
                             "vain; up to 1.500 s (99 %), the longest on /scan\n");
}

static void test_late_by_less(void **state)
{
  (void)state;
  wait_for(3, S);
  judge();
  assert_string_equal(found, "");
}

static void test_few_that_waited(void **state)
{
  (void)state;
  wait_for(2, 5 * S);
  judge();
  assert_string_equal(found, "");
}

static void test_publishers_by_turns(void **state)
{
  (void)state;
  for (int i = 0; i < 5; i++)
    send(i % 2 ? 2 : 9, false, "odom", "base", i * MS);
  judge();
  assert_string_equal(found, "tf-two-publishers odom -> base -: a program without a node and /two "
                             "send it by turns, 4 times\n");
}

static void test_parents_by_turns(void **state)
{
  (void)state;
  for (int i = 0; i < 5; i++)
    send(0, false, i % 2 ? "odom" : "map", "base", i * MS);
  judge();
  assert_string_equal(found, "tf-two-publishers map -> base -: its parent changes between 'map' "
                             "and 'odom', 4 times\n");
}

static void test_publishers_with_their_own_parents(void **state)
{
  (void)state;
  for (int i = 0; i < 5; i++)
    send(i % 2 ? 1 : 2, false, i % 2 ? "odom" : "map", "base", i * MS);
  judge();
  assert_string_equal(found, "tf-two-publishers map -> base -: /two and /one send it by turns, 4 "
                             "times, with the parents 'map' and 'odom'\n");
}

static void test_static_and_with_time(void **state)
{
  (void)state;
  send(3, true, "base", "laser", 0);
  send(1, false, "base", "laser", S);
  judge();
  assert_string_equal(found, "tf-two-publishers base -> laser -: /three sends it as a static "
                             "transform, and /one with time\n");
}

/* As in a recording. */
static void test_static_and_with_time_of_publishers_that_are_not_known(void **state)
{
  (void)state;
  send(0, true, "base", "laser", 0);
  send(0, false, "base", "laser", S);
  judge();
  assert_string_equal(found, "tf-two-publishers base -> laser -: it is sent as a static transform, "
                             "and with time\n");
}

static void test_of_an_old_epoch(void **state)
{
  (void)state;
  tb__tf_transform_t old = {.parent = "odom",
                            .child = "base",
                            .parent_length = 4,
                            .child_length = 4,
                            .stamp_ns = 900 * S,
                            .publisher = 2};
  assert_ok(tb__tf_cover_old_epoch(&cover, &old, 100 * S));
  judge();
  assert_string_equal(found,
                      "tf-old-epoch odom -> base /two: 1 stamps, the first at 100.000 (stamp "
                      "900.000)\n");
}

/* Publishers of their own edges, one that takes over, and transforms out of order. */
static void test_near_misses(void **state)
{
  (void)state;
  send(1, true, "base", "laser", 0);
  send(2, true, "base", "laser", 0);
  for (int i = 0; i < 10; i++) {
    send(1, false, "odom", "base", 100 * S + i * 20 * MS);
    send(2, false, "map", "odom", 100 * S + (i ^ 1) * 20 * MS);
    send(3, false, "base", i < 5 ? "arm" : "hand", 100 * S + i * 20 * MS);
    assert_ok(tb__tf_cover_message(&cover, 0, "laser", 5, 100 * S + i * 20 * MS + 5 * MS,
                                   100 * S + i * 20 * MS + 6 * MS));
  }
  send(2, false, "odom", "base", 101 * S);
  judge();
  assert_string_equal(found, "");
}

#define SCENARIO(function) cmocka_unit_test_setup_teardown(function, start, stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SCENARIO(test_late),
      SCENARIO(test_late_by_less),
      SCENARIO(test_few_that_waited),
      SCENARIO(test_publishers_by_turns),
      SCENARIO(test_parents_by_turns),
      SCENARIO(test_publishers_with_their_own_parents),
      SCENARIO(test_static_and_with_time),
      SCENARIO(test_static_and_with_time_of_publishers_that_are_not_known),
      SCENARIO(test_of_an_old_epoch),
      SCENARIO(test_near_misses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

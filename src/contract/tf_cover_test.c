/* Whether transforms cover messages, and which edge is late. */
#include "contract/tf_cover.h"

#include <stdio.h>
#include <string.h>

#include "seed.h"
#include "test.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__tf_cover_t cover;

static int start(void **state)
{
  (void)state;
  return tb__tf_cover_init(&cover, 2);
}

static int stop(void **state)
{
  (void)state;
  tb__tf_cover_fini(&cover);
  return 0;
}

static void send_by(uint64_t publisher, const char *parent, const char *child, int64_t stamp_ns,
                    int64_t now_ns)
{
  tb__tf_transform_t transform = {.parent = parent,
                                  .child = child,
                                  .parent_length = strlen(parent),
                                  .child_length = strlen(child),
                                  .stamp_ns = stamp_ns,
                                  .received_ns = now_ns,
                                  .publisher = publisher};
  assert_ok(tb__tf_cover_transform(&cover, &transform));
}

static void send(const char *parent, const char *child, int64_t stamp_ns, int64_t now_ns)
{
  send_by(0, parent, child, stamp_ns, now_ns);
}

static void send_static(const char *parent, const char *child)
{
  tb__tf_transform_t transform = {.parent = parent,
                                  .child = child,
                                  .parent_length = strlen(parent),
                                  .child_length = strlen(child),
                                  .is_static = true};
  assert_ok(tb__tf_cover_transform(&cover, &transform));
}

static void take(const char *frame, int64_t stamp_ns, int64_t now_ns)
{
  assert_ok(tb__tf_cover_message(&cover, 1, frame, strlen(frame), stamp_ns, now_ns));
}

static const tb__tf_topic_t *counts(void)
{
  return tb__tf_cover_topic(&cover, 1);
}

static const tb__tf_edge_t *edge_to(const char *child)
{
  for (uint32_t i = 0; i < cover.name_count; i++)
    if (strcmp(tb__tf_cover_name(&cover, i), child) == 0) return tb__tf_cover_edge(&cover, i);
  return NULL;
}

/* map -> odom (dated ahead) -> base -> laser (static), at 100 s. */
static void make_tree(void)
{
  send_static("base", "/laser");
  send("odom", "base", 100 * S, 100 * S);
  send("map", "odom", 99 * S, 98 * S);
  send("map", "odom", 101 * S, 100 * S);
}

static void test_covered_at_receipt(void **state)
{
  (void)state;
  make_tree();
  take("laser", 100 * S, 100 * S);
  take("/laser", 100 * S, 101 * S);
  take("map", 5 * S, 101 * S); /* the root needs no transform */
  assert_int_equal(counts()->covered, 3);
}

static void test_answered_later(void **state)
{
  (void)state;
  make_tree();
  take("laser", 100 * S + 20 * MS, 100 * S + 25 * MS);
  assert_int_equal(counts()->covered, 0);
  send("odom", "base", 100 * S + 19 * MS, 100 * S + 30 * MS); /* not yet */
  assert_int_equal(counts()->waited, 0);
  send("odom", "base", 100 * S + 20 * MS, 100 * S + 55 * MS);
  assert_int_equal(counts()->waited, 1);
  assert_int_equal(counts()->worst_ns, 30 * MS);
  assert_string_equal(tb__tf_cover_name(&cover, counts()->worst_edge), "base");
  assert_int_equal(edge_to("base")->late, 1);
  assert_int_equal(edge_to("odom")->late, 0);
}

static void test_the_last_of_two_late_edges(void **state)
{
  (void)state;
  make_tree();
  take("laser", 102 * S, 102 * S);
  send("odom", "base", 102 * S, 102 * S + 10 * MS);
  assert_int_equal(counts()->waited, 0);
  send("map", "odom", 103 * S, 102 * S + 40 * MS);
  assert_int_equal(counts()->waited, 1);
  assert_int_equal(edge_to("base")->late, 0);
  assert_int_equal(edge_to("odom")->late, 1);
  assert_int_equal(edge_to("odom")->wait->moments.max_ns, 40 * MS);
}

static void test_never(void **state)
{
  (void)state;
  make_tree();
  take("laser", 102 * S, 102 * S);
  send("map", "odom", 200 * S, 112 * S); /* just as long as tf2 keeps transforms */
  assert_int_equal(counts()->never, 0);
  send("map", "odom", 200 * S, 112 * S + 1);
  assert_int_equal(counts()->never, 1);
  assert_int_equal(edge_to("base")->never, 1);
  send("odom", "base", 102 * S, 113 * S);
  assert_int_equal(counts()->waited, 0);
}

static void test_too_old(void **state)
{
  (void)state;
  make_tree();
  take("laser", 100 * S - 1, 100 * S); /* before the first transform */
  send("odom", "base", 111 * S, 111 * S);
  take("laser", 101 * S - 1, 111 * S);
  assert_int_equal(counts()->too_old, 2);
  take("laser", 101 * S, 111 * S);
  assert_int_equal(counts()->covered, 1);
}

static void test_frames_that_are_in_no_transform(void **state)
{
  (void)state;
  make_tree();
  take("gps", 100 * S, 100 * S);
  take("", 100 * S, 100 * S); /* no frame: no question */
  assert_int_equal(counts()->messages, 1);
  assert_int_equal(counts()->unknown, 1);
}

static void test_a_jump_back_clears_the_buffers(void **state)
{
  (void)state;
  make_tree();
  take("laser", 102 * S, 102 * S);
  tb__tf_cover_clear(&cover);
  assert_int_equal(counts()->dropped, 1);
  take("laser", 50 * S, 103 * S);
  assert_int_equal(counts()->covered, 0);
  send("odom", "base", 50 * S, 103 * S + MS);
  send("map", "odom", 50 * S, 103 * S + 2 * MS);
  assert_int_equal(counts()->waited, 1);
  assert_int_equal(counts()->worst_ns, 2 * MS);
}

static void test_two_publishers_of_an_edge(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++)
    send_by(1 + (uint64_t)i % 2, "odom", "base", i * MS, i * MS);
  assert_true(tb__tf_edge_is_shared(edge_to("base")));
}

static void test_a_publisher_that_takes_over(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++)
    send_by(1 + (uint64_t)(i > 5), "odom", "base", i * MS, i * MS);
  assert_false(tb__tf_edge_is_shared(edge_to("base")));
  send("map", "base", 11 * MS, 11 * MS); /* the tree was changed once */
  assert_false(tb__tf_edge_is_shared(edge_to("base")));
}

static void test_two_parents_of_a_frame(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++)
    send(i % 2 ? "odom" : "map", "base", i * MS, i * MS);
  assert_true(tb__tf_edge_is_shared(edge_to("base")));
}

static void send_static_by(uint64_t publisher, const char *parent, const char *child)
{
  tb__tf_transform_t transform = {.parent = parent,
                                  .child = child,
                                  .parent_length = strlen(parent),
                                  .child_length = strlen(child),
                                  .publisher = publisher,
                                  .is_static = true};
  assert_ok(tb__tf_cover_transform(&cover, &transform));
}

static void test_static_and_not(void **state)
{
  (void)state;
  send_static_by(1, "base", "laser");
  send_static_by(2, "base", "laser"); /* the same again, as of a second description of the robot */
  send_by(3, "odom", "base", S, S);
  assert_false(tb__tf_edge_is_shared(edge_to("laser")));
  assert_false(tb__tf_edge_is_shared(edge_to("base")));
  send_by(3, "base", "laser", S, S);
  assert_true(tb__tf_edge_is_shared(edge_to("laser")));
  tb__tf_cover_restart(&cover);
  assert_true(tb__tf_edge_is_shared(edge_to("laser")));
  tb__tf_cover_gone(&cover, 4);
  assert_true(tb__tf_edge_is_shared(edge_to("laser")));
  tb__tf_cover_gone(&cover, 2);
  assert_false(tb__tf_edge_is_shared(edge_to("laser")));
}

static void test_a_cut(void **state)
{
  (void)state;
  make_tree();
  take("laser", 102 * S, 102 * S); /* the edge is 2 s behind it */
  take("laser", 100 * S + 400 * MS, 102 * S);
  take("laser", 100 * S + 400 * MS + 1, 102 * S);
  assert_ok(tb__tf_cover_cut(&cover, 102 * S + 600 * MS, S));
  assert_int_equal(counts()->never, 2);
  assert_int_equal(counts()->dropped, 1); /* exactly a second */
  assert_int_equal(counts()->worst_ns, 2 * S + 600 * MS);
  assert_int_equal(edge_to("base")->never, 2);
  assert_int_equal(cover.waiting_count, 0);
}

static void test_a_cut_after_a_jump(void **state)
{
  (void)state;
  make_tree();
  tb__tf_cover_clear(&cover);
  take("laser", 50 * S, 50 * S); /* of the edge there is no transform of the new time */
  take("laser", 50 * S + MS, 50 * S + MS);
  assert_ok(tb__tf_cover_cut(&cover, 51 * S + 1, S));
  assert_int_equal(counts()->never, 1);
  assert_int_equal(counts()->dropped, 1);
}

static void test_a_restart_keeps_the_tree(void **state)
{
  (void)state;
  make_tree();
  take("laser", 101 * S, 101 * S);
  send("odom", "base", 101 * S, 101 * S + MS);
  for (int i = 0; i < 10; i++)
    send_by(1 + (uint64_t)i % 2, "map", "odom", 101 * S, 101 * S);
  tb__tf_cover_end(&cover);
  tb__tf_cover_restart(&cover);
  assert_int_equal(counts()->waited, 0);
  assert_null(counts()->wait);
  assert_int_equal(edge_to("base")->late, 0);
  assert_null(edge_to("base")->wait);
  assert_false(tb__tf_edge_is_shared(edge_to("odom")));
  take("laser", 101 * S, 101 * S);
  assert_int_equal(counts()->covered, 1);
}

static void test_old_epochs(void **state)
{
  (void)state;
  make_tree();
  tb__tf_transform_t old = {.parent = "odom",
                            .child = "base",
                            .parent_length = 4,
                            .child_length = 4,
                            .stamp_ns = 900 * S,
                            .received_ns = 100 * S,
                            .publisher = 7};
  assert_ok(tb__tf_cover_old_epoch(&cover, &old, 100 * S));
  old.stamp_ns = 901 * S;
  assert_ok(tb__tf_cover_old_epoch(&cover, &old, 101 * S));
  assert_int_equal(edge_to("base")->old_epoch, 2);
  assert_int_equal(edge_to("base")->old_stamp_ns, 900 * S);
  assert_int_equal(edge_to("base")->old_at_ns, 100 * S);
  assert_int_equal(edge_to("base")->old_publisher, 7);
  take("laser", 101 * S, 101 * S); /* it covers nothing */
  assert_int_equal(counts()->covered, 0);
  old.child = "arm"; /* nothing else is known of it */
  old.child_length = 3;
  assert_ok(tb__tf_cover_old_epoch(&cover, &old, 101 * S));
  take("arm", 101 * S, 101 * S);
  assert_int_equal(counts()->covered, 0);
}

static void test_loops_end(void **state)
{
  (void)state;
  send("a", "b", S, S);
  send("b", "a", S, S);
  send("c", "c", S, S);
  take("a", S, S);
  take("c", S, S);
  take("a", 2 * S, S); /* waits, and comes round to itself */
  send("a", "b", 3 * S, S);
  send("b", "a", 3 * S, S);
  assert_int_equal(counts()->covered, 0);
  assert_int_equal(counts()->unknown, 3);
}

static void test_more_that_wait_than_there_is_room_for(void **state)
{
  (void)state;
  make_tree();
  for (int i = 0; i < 2 * TB__TF_WAITING_MAX; i++)
    take("laser", 102 * S + i, 102 * S + i);
  assert_int_equal(counts()->dropped, TB__TF_WAITING_MAX);
  send("odom", "base", 103 * S, 103 * S);
  send("map", "odom", 104 * S, 103 * S);
  assert_int_equal(counts()->waited, TB__TF_WAITING_MAX);
  assert_int_equal(cover.waiting_count, 0);
}

static void test_more_frames_than_there_is_room_for(void **state)
{
  (void)state;
  for (int i = 0; i < 2 * TB__TF_FRAMES_MAX; i++) {
    char name[32];
    snprintf(name, sizeof name, "frame_%d", i);
    send("root", name, S, S);
    take(name, S, S);
  }
  assert_int_equal(cover.name_count, TB__TF_FRAMES_MAX);
  assert_int_equal(counts()->covered, TB__TF_FRAMES_MAX - 1);
}

static void test_anything(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  static const char *const names[] = {"a", "b", "c", "d", "/a", "e", ""};
  for (int i = 0; i < 200000; i++) {
    const char *one = names[test_random(&seed) % 7], *other = names[test_random(&seed) % 7];
    int64_t stamp_ns = (int64_t)test_random(&seed) >> (test_random(&seed) % 64);
    int64_t now_ns = (int64_t)test_random(&seed) >> (test_random(&seed) % 64);
    switch (test_random(&seed) % 8) {
    case 0:
      send_static(one, other);
      break;
    case 1:
      if (test_random(&seed) % 1000 == 0) tb__tf_cover_clear(&cover);
      if (test_random(&seed) % 1000 == 0) assert_ok(tb__tf_cover_cut(&cover, now_ns, stamp_ns));
      break;
    case 2:
    case 3:
      send_by(test_random(&seed) % 3, one, other, stamp_ns, now_ns);
      break;
    default:
      take(one, stamp_ns, now_ns);
    }
  }
  tb__tf_cover_end(&cover);
  const tb__tf_topic_t *all = counts();
  assert_int_equal(all->covered + all->waited + all->never + all->too_old + all->unknown +
                       all->dropped,
                   all->messages);
}

#define SCENARIO(function) cmocka_unit_test_setup_teardown(function, start, stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SCENARIO(test_covered_at_receipt),
      SCENARIO(test_answered_later),
      SCENARIO(test_the_last_of_two_late_edges),
      SCENARIO(test_never),
      SCENARIO(test_too_old),
      SCENARIO(test_frames_that_are_in_no_transform),
      SCENARIO(test_a_jump_back_clears_the_buffers),
      SCENARIO(test_two_publishers_of_an_edge),
      SCENARIO(test_a_publisher_that_takes_over),
      SCENARIO(test_two_parents_of_a_frame),
      SCENARIO(test_static_and_not),
      SCENARIO(test_a_cut),
      SCENARIO(test_a_cut_after_a_jump),
      SCENARIO(test_a_restart_keeps_the_tree),
      SCENARIO(test_old_epochs),
      SCENARIO(test_loops_end),
      SCENARIO(test_more_that_wait_than_there_is_room_for),
      SCENARIO(test_more_frames_than_there_is_room_for),
      SCENARIO(test_anything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

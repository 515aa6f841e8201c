#include "bridge_sources.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static bridge_sources_t sources;
static unsigned closed;

static void close_one(bridge_source_t *source)
{
  (void)source;
  closed++;
}

static bridge_source_t *take(const char *publisher, const char *md5sum, bool latched)
{
  const tb_ros1_sample_t sample = {.publisher = publisher,
                                   .type = {"std_msgs/String", md5sum, "string data\n"},
                                   .latched = latched};
  return bridge_sources_take(&sources, &sample);
}

static bridge_source_t *take_number(unsigned number)
{
  char name[32];
  snprintf(name, sizeof name, "/node_%u", number);
  bridge_source_t *source = take(name, "1", false);
  if (source) bridge_source_release(source);
  return source;
}

static int begin(void **state)
{
  (void)state;
  closed = 0;
  bridge_sources_init(&sources);
  return 0;
}

static int end(void **state)
{
  (void)state;
  size_t count = sources.count;
  bridge_sources_fini(&sources, close_one);
  return closed == count ? 0 : 1;
}

static void test_each_definition_of_a_node_is_told_apart(void **state)
{
  (void)state;
  bridge_source_t *first = take("/a", "1", false);
  assert_ptr_equal(take("/a", "1", false), first);
  assert_ptr_not_equal(take("/a", "2", false), first);
  assert_ptr_not_equal(take("/a", "1", true), first);
  assert_ptr_not_equal(take("/b", "1", false), first);
  assert_int_equal(sources.count, 4);
}

static void test_nodes_without_end_are_carried(void **state)
{
  (void)state;
  const char *there[] = {"/static"};
  bridge_source_t *latched = take("/static", "1", true);
  bridge_source_release(latched);
  for (unsigned i = 0; i < 10 * BRIDGE_SOURCES_MAX; i++) {
    bridge_source_t *source = take_number(i);
    assert_non_null(source);
    assert_false(source->is_open);
    source->is_open = true;
  }
  assert_int_equal(sources.count, BRIDGE_SOURCES_MAX);
  assert_true(bridge_sources_are_many(&sources));
  bridge_sources_look(&sources, there, 1);
  assert_ptr_equal(take("/static", "1", true), latched);
  assert_string_equal(latched->publisher, "/static");
}

static void test_one_that_has_gone_gives_its_place_before_a_silent_one(void **state)
{
  (void)state;
  const char *there[BRIDGE_SOURCES_MAX];
  static char names[BRIDGE_SOURCES_MAX][32];
  bridge_source_t *all[BRIDGE_SOURCES_MAX];
  for (unsigned i = 0; i < BRIDGE_SOURCES_MAX; i++) {
    all[i] = take_number(i);
    snprintf(names[i], sizeof names[i], "/node_%u", i == 100 ? 0 : i);
    there[i] = names[i];
  }
  bridge_sources_look(&sources, there, BRIDGE_SOURCES_MAX);
  assert_ptr_equal(take_number(1000), all[100]);
  assert_ptr_equal(take_number(1001), all[0]);
}

static void test_one_with_a_message_waiting_keeps_its_place(void **state)
{
  (void)state;
  bridge_source_t *first = take("/waits", "1", false);
  for (unsigned i = 0; i < 2 * BRIDGE_SOURCES_MAX; i++)
    assert_ptr_not_equal(take_number(i), first);
  bridge_source_release(first);
  assert_ptr_equal(take_number(5000), first);
}

static void test_latched_ones_that_are_there_are_not_replaced(void **state)
{
  (void)state;
  char name[32];
  for (unsigned i = 0; i < BRIDGE_SOURCES_MAX; i++) {
    snprintf(name, sizeof name, "/static_%u", i);
    bridge_source_release(take(name, "1", true));
  }
  assert_null(take("/late", "1", true));
  bridge_sources_look(&sources, NULL, 0);
  assert_non_null(take("/late", "1", true));
}

static void test_what_nobody_publishes_any_more_is_freed(void **state)
{
  (void)state;
  bridge_source_t *waiting = take("/waits", "1", true);
  bridge_source_release(take("/static", "1", true));
  take_number(1);
  bridge_sources_forget(&sources, close_one);
  assert_int_equal(closed, 2);
  assert_int_equal(sources.count, 1);
  assert_ptr_equal(take("/waits", "1", true), waiting);
  bridge_source_release(waiting);
  bridge_source_release(waiting);
  bridge_sources_forget(&sources, close_one);
  assert_int_equal(closed, 3);
  assert_true(bridge_sources_are_none(&sources));
  assert_false(take_number(1)->is_open);
  closed = 0; /* counted at the end */
}

static void test_what_may_pass_is_tried_again_a_second_later(void **state)
{
  (void)state;
  static const tb_status_t passing[] = {TB_ERR_NO_MEMORY, TB_ERR_SYSTEM, TB_ERR_TRANSPORT};
  bridge_source_t *source = take_number(1);
  assert_true(bridge_source_is_due(source, 5));
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
    bridge_source_opened(source, passing[i], 5);
    assert_true(source->has_failed);
    assert_false(bridge_source_is_due(source, TB_NS_PER_S + 4));
    assert_true(bridge_source_is_due(source, TB_NS_PER_S + 5));
  }
  bridge_source_opened(source, TB_ERR_NOT_FOUND, 5);
  assert_false(bridge_source_is_due(source, INT64_MAX));
  bridge_source_opened(source, TB_OK, 5);
  assert_false(source->has_failed);
  assert_false(bridge_source_is_due(source, INT64_MAX));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each_definition_of_a_node_is_told_apart, begin, end),
      cmocka_unit_test_setup_teardown(test_nodes_without_end_are_carried, begin, end),
      cmocka_unit_test_setup_teardown(test_one_that_has_gone_gives_its_place_before_a_silent_one,
                                      begin, end),
      cmocka_unit_test_setup_teardown(test_one_with_a_message_waiting_keeps_its_place, begin, end),
      cmocka_unit_test_setup_teardown(test_latched_ones_that_are_there_are_not_replaced, begin,
                                      end),
      cmocka_unit_test_setup_teardown(test_what_nobody_publishes_any_more_is_freed, begin, end),
      cmocka_unit_test_setup_teardown(test_what_may_pass_is_tried_again_a_second_later, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

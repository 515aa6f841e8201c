/* The table of rules: each row is whole, and each id is its own. */
#include "contract/rules.h"

#include <string.h>

#include "contract/finding.h"
#include "test.h"

static void assert_is_id(const char *id)
{
  assert_non_null(id);
  assert_true(strlen(id) > 3);
  assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz-"), strlen(id));
}

/* A place that is misspelt would be printed as it is. */
static void assert_places_are_known(const char *text)
{
  static const char *const places[] = {"{subject}", "{subjects}", "{list}",
                                       "{count}",   "{of}",       "{detail}"};
  for (const char *at = text; (at = strchr(at, '{')); at++) {
    bool is_known = strncmp(at, "{'", 2) == 0 || at[1] == 't' || at[1] == 'n' || at[1] == 'm';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
      is_known = is_known || strncmp(at, places[i], strlen(places[i])) == 0;
    if (!is_known) fail_msg("unknown place in: %s", text);
  }
}

static void test_each_row_is_whole(void **state)
{
  (void)state;
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    const tb__rule_t *rule = tb__rule((tb__rule_id_t)i);
    const char *texts[] = {
        rule->one,          rule->many, rule->consequence, rule->remedy_ros, rule->remedy_timebase,
        rule->remedy_launch};
    assert_is_id(rule->id);
    assert_in_range(rule->severity, TB__SEVERITY_NOTE, TB__SEVERITY_ERROR);
    for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
      if (!texts[j] || !texts[j][0]) fail_msg("%s: text %zu is missing", rule->id, j);
      assert_places_are_known(texts[j]);
    }
    assert_non_null(strstr(rule->one, "{subject}"));
    assert_non_null(strstr(rule->many, "{count}"));
    assert_non_null(strstr(rule->many, "{list}"));
    assert_int_equal(rule->consequence[strlen(rule->consequence) - 1], '.');
  }
}

static void test_remedies_of_ros1_are_whole(void **state)
{
  (void)state;
  int count = 0;
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    const tb__remedies_t *own = tb__rule_ros1((tb__rule_id_t)i);
    if (!own) continue;
    const char *texts[] = {own->remedy_ros, own->remedy_timebase, own->remedy_launch};
    for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
      if (!texts[j] || !texts[j][0])
        fail_msg("%s: text %zu is missing", tb__rule((tb__rule_id_t)i)->id, j);
      assert_places_are_known(texts[j]);
      assert_null(strstr(texts[j], "ros2"));
    }
    count++;
  }
  assert_true(count > 5);
  assert_null(tb__rule_ros1(TB__RULE_CLOCK_QOS)); /* ROS 1 has no QoS */
}

/* What `check` finds in a recording of ROS 1 too: texts that are those of ROS 2 do not help there.
 */
static void test_rules_of_recordings_have_remedies_of_ros1(void **state)
{
  (void)state;
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    static const char *const of_graphs[] = {
        "mixed-shared-time", "shared-time-stopped", "time-base-declared", "node-missing",
        "clock-declared",    "clock-qos",           "clock-error",        "active-before-clock",
        "stamp-declared",    "topic-declared",      "node-unannounced",   "node-name-shared"};
    const tb__rule_t *rule = tb__rule((tb__rule_id_t)i);
    bool is_of_graph = false;
    for (size_t k = 0; k < sizeof of_graphs / sizeof *of_graphs; k++)
      is_of_graph |= strcmp(rule->id, of_graphs[k]) == 0 || i >= TB__RULE_REPLAY_MISSING;
    bool is_of_ros2 = strstr(rule->remedy_ros, "ros2") || strstr(rule->remedy_launch, "Node(") ||
                      strstr(rule->remedy_launch, "ExecuteProcess(");
    if (is_of_ros2 && !is_of_graph && !tb__rule_ros1((tb__rule_id_t)i))
      fail_msg("%s has none", rule->id);
  }
}

static void test_ids_find_their_row(void **state)
{
  (void)state;
  tb__rule_id_t id;
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    assert_true(tb__rule_find(tb__rule((tb__rule_id_t)i)->id, &id));
    assert_int_equal(id, i);
  }
  assert_false(tb__rule_find("mixed", &id));
  assert_false(tb__rule_find("", &id));
}

static void test_names_of_severities(void **state)
{
  (void)state;
  assert_string_equal(tb__severity_name(TB__SEVERITY_NOTE), "note");
  assert_string_equal(tb__severity_name(TB__SEVERITY_WARN), "warn");
  assert_string_equal(tb__severity_name(TB__SEVERITY_ERROR), "error");
  assert_string_equal(tb__severity_name((tb__severity_t)7), "none");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_row_is_whole),
      cmocka_unit_test(test_remedies_of_ros1_are_whole),
      cmocka_unit_test(test_rules_of_recordings_have_remedies_of_ros1),
      cmocka_unit_test(test_ids_find_their_row),
      cmocka_unit_test(test_names_of_severities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Findings: grouped by rule and cause, folded below what causes them, bounded. */
#include "contract/finding.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static int setup(void **state)
{
  *state = tb__findings_create();
  return *state ? 0 : -1;
}

static int teardown(void **state)
{
  tb__findings_destroy(*state);
  return 0;
}

static tb__finding_input_t topic(tb__rule_id_t rule, const char *name, const char *cause)
{
  return (tb__finding_input_t){
      .rule = rule, .kind = TB__SUBJECT_TOPIC, .subject = name, .cause = cause};
}

static tb__finding_input_t node(tb__rule_id_t rule, const char *name)
{
  return (tb__finding_input_t){.rule = rule, .kind = TB__SUBJECT_NODE, .subject = name};
}

static void assert_title(const tb__finding_t *finding, const char *expected)
{
  char text[TB__FINDING_TEXT_SIZE];
  assert_int_equal(tb__finding_title(finding, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
}

static void test_nothing(void **state)
{
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 0);
  assert_int_equal(tb__findings_gravest(*state), 0);
  tb__findings_destroy(NULL);
}

static void test_one_fault_on_200_topics_is_one_finding(void **state)
{
  for (int i = 199; i >= 0; i--) {
    char name[32];
    snprintf(name, sizeof name, "/topic_%03d", i);
    tb__finding_input_t input = topic(TB__RULE_STAMP_ZERO, name, "/driver");
    assert_ok(tb__findings_add(*state, &input, "%d of 9 messages", i));
  }
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 1);
  const tb__finding_t *finding = tb__findings_at(*state, 0);
  assert_int_equal(tb__finding_subject_count(finding), 200);
  assert_title(finding, "200 topics of /driver have messages with the stamp 0: /topic_000, "
                        "/topic_001, /topic_002, /topic_003, /topic_004 and 195 more");
  assert_string_equal(finding->subjects[7].evidence[0], "7 of 9 messages");
}

static void test_topics_are_folded_below_their_node(void **state)
{
  tb__finding_input_t late = topic(TB__RULE_STAMP_FUTURE, "/odom", "/ekf");
  tb__finding_input_t other = topic(TB__RULE_STAMP_FUTURE, "/scan", "/lidar");
  tb__finding_input_t wall = node(TB__RULE_MIXED_TIME_BASE, "/ekf");
  assert_ok(tb__findings_add(*state, &late, "+3.0 s"));
  assert_ok(tb__findings_add(*state, &other, "+2.0 s"));
  assert_ok(tb__findings_add(*state, &wall, "parameter use_sim_time is false"));
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 3);
  const tb__finding_t *first = tb__findings_at(*state, 0), *second = tb__findings_at(*state, 1);
  assert_title(first, "/ekf is on wall time in a graph with /clock");
  assert_title(second, "/scan of /lidar has stamps in the future");
  assert_null(second->below);
  assert_int_equal(first->caused_count, 1);
  assert_title(first->caused[0], "/odom of /ekf has stamps in the future");
  assert_ptr_equal(first->caused[0], tb__findings_at(*state, 2));
  assert_ptr_equal(first->caused[0]->below, first);
  assert_int_equal(tb__findings_count_of(*state, TB__SEVERITY_ERROR), 1);
  assert_int_equal(tb__findings_count_of(*state, TB__SEVERITY_WARN), 2);
  assert_int_equal(tb__findings_count_of(*state, (tb__severity_t)0), 3);
  assert_int_equal(tb__findings_gravest(*state), TB__SEVERITY_ERROR);
}

/* The subject of a rule that explains nothing takes no other finding below it. */
static void test_only_causes_explain(void **state)
{
  tb__finding_input_t log = node(TB__RULE_LOG_EVIDENCE, "/ekf");
  tb__finding_input_t late = topic(TB__RULE_STAMP_FUTURE, "/odom", "/ekf");
  assert_ok(tb__findings_add(*state, &log, "TF_OLD_DATA"));
  assert_ok(tb__findings_add(*state, &late, "+3.0 s"));
  assert_ok(tb__findings_finish(*state));
  assert_null(tb__findings_at(*state, 0)->below);
  assert_null(tb__findings_at(*state, 1)->below);
}

static void test_of_two_causes_the_first_rule_is_it(void **state)
{
  tb__finding_input_t early = node(TB__RULE_ACTIVE_BEFORE_CLOCK, "/ekf");
  tb__finding_input_t wall = node(TB__RULE_MIXED_TIME_BASE, "/ekf");
  tb__finding_input_t late = topic(TB__RULE_STAMP_FUTURE, "/odom", "/ekf");
  assert_ok(tb__findings_add(*state, &early, "a"));
  assert_ok(tb__findings_add(*state, &late, "b"));
  assert_ok(tb__findings_add(*state, &wall, "c"));
  assert_ok(tb__findings_finish(*state));
  const tb__finding_t *first = tb__findings_at(*state, 0);
  assert_int_equal(first->id, TB__RULE_MIXED_TIME_BASE);
  assert_int_equal(first->caused_count, 1);
  assert_int_equal(first->caused[0]->id, TB__RULE_STAMP_FUTURE);
}

/* Two that name each other: one of them stays on top. */
static void test_causes_in_a_circle(void **state)
{
  tb__finding_input_t one = node(TB__RULE_MIXED_TIME_BASE, "/a");
  tb__finding_input_t two = node(TB__RULE_NO_CLOCK_RECEIVED, "/b");
  tb__finding_input_t self = node(TB__RULE_HOST_OFFSET, "/c");
  one.cause = "/b";
  two.cause = "/a";
  self.cause = "/c";
  assert_ok(tb__findings_add(*state, &one, "x"));
  assert_ok(tb__findings_add(*state, &two, "x"));
  assert_ok(tb__findings_add(*state, &self, "x"));
  assert_ok(tb__findings_finish(*state));
  size_t top = 0;
  for (size_t i = 0; i < 3; i++)
    top += tb__findings_at(*state, i)->below == NULL;
  assert_int_equal(top, 2);
}

static void test_evidence_is_bounded_and_not_repeated(void **state)
{
  tb__finding_input_t input = node(TB__RULE_MIXED_TIME_BASE, "/ekf");
  char longer[2 * TB__FINDING_LINE_SIZE];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  assert_ok(tb__findings_add(*state, &input, "the same"));
  assert_ok(tb__findings_add(*state, &input, "the same"));
  assert_ok(tb__findings_add_evidence(*state, "%s", longer));
  for (int i = 0; i < TB__FINDING_EVIDENCE_MAX + 3; i++)
    assert_ok(tb__findings_add_evidence(*state, "line %d", i));
  assert_ok(tb__findings_finish(*state));
  const tb__finding_t *finding = tb__findings_at(*state, 0);
  assert_int_equal(finding->subject_count, 1);
  const tb__finding_subject_t *subject = &finding->subjects[0];
  assert_int_equal(subject->evidence_count, TB__FINDING_EVIDENCE_MAX);
  assert_int_equal(subject->evidence_dropped, 5);
  assert_string_equal(subject->evidence[0], "the same");
  assert_int_equal(strlen(subject->evidence[1]), TB__FINDING_LINE_SIZE - 1);
}

/* Also with a name that is longer than what is kept of it. */
static void test_subjects_are_bounded(void **state)
{
  static char name[3 * TB__FINDING_NAME_SIZE];
  memset(name, 'n', sizeof name - 1);
  tb__finding_input_t input = topic(TB__RULE_STAMP_ZERO, name, name);
  for (int i = 0; i < 3; i++)
    assert_ok(tb__findings_add(*state, &input, "x"));
  for (int i = 0; i < TB__FINDING_SUBJECTS_MAX + 41; i++) {
    char text[32], cause[32];
    snprintf(text, sizeof text, "/t%d", i);
    snprintf(cause, sizeof cause, "/n%d", i % 3);
    tb__finding_input_t next = topic(TB__RULE_STAMP_ZERO, text, cause);
    assert_ok(tb__findings_add(*state, &next, "x"));
    assert_ok(tb__findings_add_evidence(*state, "y"));
  }
  tb__finding_input_t stranger = topic(TB__RULE_STAMP_ZERO, "/new", "/new");
  stranger.severity = TB__SEVERITY_ERROR;
  assert_ok(tb__findings_add(*state, &stranger, "x"));
  assert_ok(tb__findings_finish(*state));
  size_t kept = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < tb__findings_count(*state); i++) {
    kept += tb__findings_at(*state, i)->subject_count;
    count += tb__finding_subject_count(tb__findings_at(*state, i));
  }
  assert_int_equal(tb__findings_count(*state), 4);
  assert_int_equal(kept, TB__FINDING_SUBJECTS_MAX);
  assert_int_equal(count, TB__FINDING_SUBJECTS_MAX + 43);
}

static void test_rules_are_switched_off(void **state)
{
  tb__finding_input_t zero = topic(TB__RULE_STAMP_ZERO, "/odom", NULL);
  tb__finding_input_t old = topic(TB__RULE_STAMP_OLD, "/odom", NULL);
  uint64_t count = 7;
  assert_ok(tb__findings_switch_off(*state, TB__RULE_STAMP_ZERO, "the driver cannot do better"));
  assert_ok(tb__findings_add(*state, &old, "x"));
  assert_ok(tb__findings_add(*state, &zero, "x"));
  assert_ok(tb__findings_add_evidence(*state, "not of /odom's old stamps"));
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 1);
  assert_int_equal(tb__findings_at(*state, 0)->subjects[0].evidence_count, 1);
  assert_string_equal(tb__findings_switched_off(*state, TB__RULE_STAMP_ZERO, &count),
                      "the driver cannot do better");
  assert_int_equal(count, 1);
  assert_null(tb__findings_switched_off(*state, TB__RULE_STAMP_OLD, NULL));
}

static const char *off_for_odom(void *user, tb__rule_id_t rule, const char *subject)
{
  assert_ptr_equal(user, off_for_odom);
  return rule == TB__RULE_STAMP_ZERO && strcmp(subject, "/odom") == 0 ? "known" : NULL;
}

static void test_rules_are_off_for_subjects(void **state)
{
  const char *names[] = {"/odom", "/scan"};
  uint64_t count;
  tb__findings_ask_off(*state, off_for_odom, (void *)off_for_odom);
  for (int i = 0; i < 2; i++) {
    tb__finding_input_t zero = topic(TB__RULE_STAMP_ZERO, names[i], NULL);
    tb__finding_input_t old = topic(TB__RULE_STAMP_OLD, names[i], NULL);
    assert_ok(tb__findings_add(*state, &old, "x"));
    assert_ok(tb__findings_add(*state, &zero, "x"));
  }
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 2);
  assert_title(tb__findings_at(*state, 0), "/scan has messages with the stamp 0");
  assert_int_equal(tb__findings_at(*state, 1)->subject_count, 2);
  assert_null(tb__findings_switched_off(*state, TB__RULE_STAMP_ZERO, &count));
  assert_int_equal(count, 1);
}

static void test_rules_that_are_off_for_some_are_shown(void **state)
{
  bool is_some = false;
  uint64_t count;
  assert_null(tb__findings_off(*state, TB__RULE_STAMP_ZERO, &is_some, &count));
  assert_false(is_some);
  assert_ok(tb__findings_switch_off_some(*state, TB__RULE_STAMP_ZERO, "known"));
  assert_ok(tb__findings_switch_off(*state, TB__RULE_STAMP_OLD, "maps"));
  tb__findings_ask_off(*state, off_for_odom, (void *)off_for_odom);
  tb__finding_input_t scan = topic(TB__RULE_STAMP_ZERO, "/scan", NULL);
  assert_ok(tb__findings_add(*state, &scan, "x"));
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_count(*state), 1); /* it is on for the others */
  assert_string_equal(tb__findings_off(*state, TB__RULE_STAMP_ZERO, &is_some, &count), "known");
  assert_true(is_some);
  assert_int_equal(count, 0);
  assert_string_equal(tb__findings_off(*state, TB__RULE_STAMP_OLD, &is_some, NULL), "maps");
  assert_false(is_some);
}

/* Of /ekf, as the cause or the subject. */
static const char *graver_for_ekf(void *user, const tb__finding_input_t *input,
                                  tb__severity_t *severity)
{
  assert_ptr_equal(user, graver_for_ekf);
  if (!input->cause || strcmp(input->cause, "/ekf") != 0) return NULL;
  assert_int_equal(*severity, TB__SEVERITY_WARN);
  *severity = TB__SEVERITY_ERROR;
  return "it matters";
}

static void test_severity_that_is_asked(void **state)
{
  tb__finding_input_t ekf = topic(TB__RULE_STAMP_OLD, "/odom", "/ekf");
  tb__finding_input_t other = topic(TB__RULE_STAMP_OLD, "/scan", "/laser");
  tb__findings_ask_severity(*state, graver_for_ekf, (void *)graver_for_ekf);
  assert_ok(tb__findings_add(*state, &ekf, "x"));
  assert_ok(tb__findings_add(*state, &other, "x"));
  assert_ok(tb__findings_finish(*state));
  const tb__finding_t *first = tb__findings_at(*state, 0), *second = tb__findings_at(*state, 1);
  assert_int_equal(first->severity, TB__SEVERITY_ERROR);
  assert_int_equal(first->subjects[0].evidence_count, 2);
  assert_string_equal(first->subjects[0].evidence[1], "it matters");
  assert_int_equal(second->severity, TB__SEVERITY_WARN);
  assert_int_equal(second->subjects[0].evidence_count, 1);
}

static void test_severity_of_its_own(void **state)
{
  tb__finding_input_t input = topic(TB__RULE_CLOCK_RATE, "/clock", NULL);
  assert_ok(tb__findings_add(*state, &input, "11 %% off"));
  input.severity = TB__SEVERITY_ERROR;
  assert_ok(tb__findings_add(*state, &input, "60 %% off"));
  input.severity = TB__SEVERITY_NOTE;
  assert_ok(tb__findings_add(*state, &input, "now"));
  assert_ok(tb__findings_finish(*state));
  assert_int_equal(tb__findings_at(*state, 0)->severity, TB__SEVERITY_ERROR);
  assert_string_equal(tb__findings_at(*state, 0)->subjects[0].evidence[0], "11 % off");
}

static void assert_command(const tb__finding_t *finding, const char *text, const char *expected)
{
  char buffer[256];
  tb__finding_text(finding, text, true, buffer, sizeof buffer);
  assert_string_equal(buffer, expected);
}

/* Names come from others, and commands are made to be pasted into a shell. */
static void test_commands_quote_names(void **state)
{
  tb__finding_input_t good = node(TB__RULE_MIXED_TIME_BASE, "/ns/node_1.x");
  tb__finding_input_t bad = node(TB__RULE_MIXED_TIME_BASE, "/x;'$(reboot)");
  assert_ok(tb__findings_add(*state, &bad, "x"));
  assert_ok(tb__findings_add(*state, &good, "x"));
  assert_ok(tb__findings_finish(*state));
  const tb__finding_t *finding = tb__findings_at(*state, 0);
  assert_command(finding, "a {subjects}", "a /ns/node_1.x '/x;'\\''$(reboot)'");
  assert_command(finding, "{'use_sim_time': True} {unknown} {",
                 "{'use_sim_time': True} {unknown} {");
}

static void test_text_that_does_not_fit(void **state)
{
  char small[5] = "....", none[1] = "x";
  tb__finding_input_t input = node(TB__RULE_MIXED_TIME_BASE, "/ekf");
  assert_ok(tb__findings_add(*state, &input, "x"));
  assert_ok(tb__findings_finish(*state));
  const tb__finding_t *finding = tb__findings_at(*state, 0);
  assert_int_equal(tb__finding_text(finding, "{subject}: x", false, small, sizeof small), 7);
  assert_string_equal(small, "/ekf");
  assert_int_equal(tb__finding_text(finding, "{subject}", false, NULL, 0), 4);
  assert_int_equal(tb__finding_text(finding, "{subject}", false, none, 1), 4);
  assert_string_equal(none, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_nothing),
      TEST(test_one_fault_on_200_topics_is_one_finding),
      TEST(test_topics_are_folded_below_their_node),
      TEST(test_only_causes_explain),
      TEST(test_of_two_causes_the_first_rule_is_it),
      TEST(test_causes_in_a_circle),
      TEST(test_evidence_is_bounded_and_not_repeated),
      TEST(test_subjects_are_bounded),
      TEST(test_rules_are_switched_off),
      TEST(test_rules_that_are_off_for_some_are_shown),
      TEST(test_severity_that_is_asked),
      TEST(test_rules_are_off_for_subjects),
      TEST(test_severity_of_its_own),
      TEST(test_commands_quote_names),
      TEST(test_text_that_does_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

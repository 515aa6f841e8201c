/* What a report makes of what it is fed; the pages themselves are looked at in tests/report. */
#include "contract/report.h"

#include <string.h>

#include "test.h"

#define NS_PER_S INT64_C(1000000000)
#define START_NS (INT64_C(1714564800) * NS_PER_S)

static tb__markup_t html(tb__report_t *report)
{
  tb__markup_t page = {0};
  tb__findings_t *findings = tb__findings_create();
  assert_non_null(findings);
  assert_ok(tb__findings_finish(findings));
  assert_ok(tb__report_html(report, findings, &page));
  tb__findings_destroy(findings);
  return page;
}

static void assert_shows(const tb__markup_t *page, const char *text, bool is_there)
{
  if ((strstr(page->text, text) != NULL) != is_there)
    fail_msg("the page %s '%s'", is_there ? "lacks" : "has", text);
}

/* Times before the clock of the recorder was set are in no number and no picture. */
static void test_wrong_times_at_the_start(void **state)
{
  (void)state;
  tb__report_t *report = tb__report_create("bag", "log time");
  tb__report_topic_t *topic = tb__report_topic(report, "/a", "x");
  for (int i = 0; i < 3; i++)
    tb__report_message(report, topic, 5 + i, NULL);
  for (int i = 0; i < 103; i++) {
    tb__report_message(report, topic, START_NS + i * NS_PER_S / 10, NULL);
    tb__report_tick(report, START_NS + i * NS_PER_S / 10, (i + 1) * NS_PER_S / 20,
                    i ? TB__TICK_FORWARD : TB__TICK_FIRST);
  }
  tb__markup_t page = html(report);
  assert_shows(&page, ">106</td>", true);
  assert_shows(&page, ">10.0 Hz</td>", true);
  assert_shows(&page, "100 ms to 100 ms", true);
  assert_shows(&page, "years", false);
  assert_shows(&page, "6 messages are in no picture", true);
  tb__markup_fini(&page);
  tb__report_destroy(report);
}

static void test_one_message(void **state)
{
  (void)state;
  tb__report_t *report = tb__report_create("bag", "log time");
  tb__report_message(report, tb__report_topic(report, "/a", ""), INT64_MAX, NULL);
  tb__markup_t page = html(report);
  assert_shows(&page, "2262-04-11", true);
  tb__markup_fini(&page);
  tb__report_destroy(report);
}

static void test_topics_and_facts_are_bounded(void **state)
{
  (void)state;
  tb__report_t *report = tb__report_create("bag", "log time");
  for (int i = 0; i < TB__REPORT_TOPICS_MAX + 5; i++) {
    tb__report_topic_t *topic = tb__report_topic(report, "/a", "");
    assert_int_equal(topic != NULL, i < TB__REPORT_TOPICS_MAX);
    tb__report_message(report, topic, START_NS, NULL);
    tb__report_topic_stamps(topic, NULL);
  }
  for (int i = 0; i < TB__REPORT_FACTS_MAX + 5; i++)
    tb__report_fact(report, "key", i < TB__REPORT_FACTS_MAX ? "kept" : "dropped");
  tb__markup_t page = html(report);
  assert_shows(&page, "5 more topics are not shown", true);
  assert_shows(&page, "kept", true);
  assert_shows(&page, "dropped", false);
  tb__markup_fini(&page);
  tb__report_destroy(report);
}

static void test_factor_and_its_absence(void **state)
{
  (void)state;
  tb__report_t *report = tb__report_create("bag", "log time");
  for (int i = 1; i < 200; i++) {
    tb__report_message(report, NULL, START_NS + i * NS_PER_S / 100, NULL);
    tb__report_tick(report, START_NS + i * NS_PER_S / 100, i * NS_PER_S / 50, TB__TICK_FORWARD);
  }
  tb__markup_t page = html(report);
  assert_shows(&page, "<b>Factor</b>", true);
  tb__markup_fini(&page);
  tb__report_no_factor(report, "There is <none>.");
  page = html(report);
  assert_shows(&page, "<b>Factor</b>", false);
  assert_shows(&page, "There is &lt;none&gt;.", true);
  tb__markup_fini(&page);
  tb__report_destroy(report);
  tb__report_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_times_at_the_start),
      cmocka_unit_test(test_one_message),
      cmocka_unit_test(test_topics_and_facts_are_bounded),
      cmocka_unit_test(test_factor_and_its_absence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

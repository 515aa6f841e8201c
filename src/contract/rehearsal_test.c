/* The steps of a rehearsal: what passes, what fails, and what is not proven. */
#include "contract/rehearsal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static tb__rehearsal_t rehearsal; /* large */

static void begin(void)
{
  memset(&rehearsal, 0, sizeof rehearsal);
}

/* The verdict of the step, whose last line has the words. */
#define assert_step(step, proof, words)                                                            \
  do {                                                                                             \
    size_t count_ = rehearsal.steps[step].count;                                                   \
    assert_int_equal(tb__rehearsal_proof(&rehearsal, step), proof);                                \
    assert_true(count_ > 0);                                                                       \
    const char *text_ = rehearsal.steps[step].lines[count_ - 1].text;                              \
    if (!strstr(text_, words)) fail_msg("no '%s' in '%s'", words, text_);                          \
  } while (0)

/* --- lines and verdicts --- */

static void test_nothing_is_proven_by_nothing(void **state)
{
  (void)state;
  begin();
  assert_int_equal(tb__rehearsal_proof(&rehearsal, TB__STEP_RUN), TB__PROOF_NONE);
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_NONE);
  tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_PASS, "good");
  tb__rehearsal_end(&rehearsal, "not reached: why");
  assert_step(TB__STEP_RUN, TB__PROOF_PASS, "good");
  assert_step(0, TB__PROOF_NONE, "not reached: why");
  assert_step(TB__STEP_PAUSE, TB__PROOF_NONE, "not reached, as ");
  assert_step(TB__STEP_PAUSE, TB__PROOF_NONE, tb__rehearsal_step_name(0));
}

static void test_the_gravest_line_decides(void **state)
{
  (void)state;
  begin();
  for (int step = 0; step < TB__STEP_COUNT; step++)
    tb__rehearsal_note(&rehearsal, (tb__rehearsal_step_t)step, TB__PROOF_PASS, "good");
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_PASS);
  tb__rehearsal_note(&rehearsal, TB__STEP_SEEK, TB__PROOF_NONE, "unknown");
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_NONE);
  tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_FAIL, "bad");
  tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_NONE, "unknown");
  assert_int_equal(tb__rehearsal_proof(&rehearsal, TB__STEP_RUN), TB__PROOF_FAIL);
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_FAIL);
}

static void test_what_does_not_apply_is_no_obstacle(void **state)
{
  (void)state;
  begin();
  for (int step = 0; step < TB__STEP_COUNT; step++)
    tb__rehearsal_note(&rehearsal, (tb__rehearsal_step_t)step,
                       step == TB__STEP_PAUSE ? TB__PROOF_NEEDLESS : TB__PROOF_PASS, "why");
  assert_int_equal(tb__rehearsal_proof(&rehearsal, TB__STEP_PAUSE), TB__PROOF_NEEDLESS);
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_PASS);
  tb__rehearsal_note(&rehearsal, TB__STEP_PAUSE, TB__PROOF_NONE, "unknown");
  assert_int_equal(tb__rehearsal_verdict(&rehearsal), TB__PROOF_NONE);
}

static void test_a_failure_has_room_among_many_lines(void **state)
{
  (void)state;
  bool is_there = false;
  begin();
  for (int i = 0; i < 100; i++)
    tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_PASS, "good %d", i);
  tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_FAIL, "bad");
  assert_int_equal(rehearsal.steps[TB__STEP_RUN].count, TB__REHEARSAL_LINES);
  assert_int_equal(rehearsal.steps[TB__STEP_RUN].dropped, 101 - TB__REHEARSAL_LINES);
  for (int i = 0; i < TB__REHEARSAL_LINES; i++)
    is_there |= strcmp(rehearsal.steps[TB__STEP_RUN].lines[i].text, "bad") == 0;
  assert_true(is_there);
  assert_int_equal(tb__rehearsal_proof(&rehearsal, TB__STEP_RUN), TB__PROOF_FAIL);
}

/* --- steps --- */

static void test_time_bases(void **state)
{
  (void)state;
  static const struct {
    tb__base_t base;
    bool should_follow;
    tb__proof_t proof;
  } cases[] = {
      {TB__BASE_CLOCK, true, TB__PROOF_PASS},   {TB__BASE_WALL, true, TB__PROOF_FAIL},
      {TB__BASE_WALL, false, TB__PROOF_PASS},   {TB__BASE_CLOCK, false, TB__PROOF_FAIL},
      {TB__BASE_UNKNOWN, true, TB__PROOF_NONE}, {TB__BASE_OTHER, true, TB__PROOF_PASS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin();
    tb__base_verdict_t verdict = {cases[i].base, TB__BASE_BY_ANSWER};
    tb__rehearsal_judge_base(&rehearsal, "/ekf", cases[i].should_follow, verdict);
    assert_step(TB__STEP_TIME_BASE, cases[i].proof, "/ekf");
  }
}

static void test_a_quiet_start(void **state)
{
  (void)state;
  tb__quiet_facts_t facts = {.topic = "/odom", .is_known = true, .has_stamp = true};
  begin();
  tb__rehearsal_judge_quiet(&rehearsal, &facts);
  assert_step(TB__STEP_QUIET, TB__PROOF_PASS, "no message");
  facts.is_latched = true;
  facts.messages = 1;
  tb__rehearsal_judge_quiet(&rehearsal, &facts);
  assert_step(TB__STEP_QUIET, TB__PROOF_PASS, "1 message, latched");
  facts = (tb__quiet_facts_t){.topic = "/stop", .is_known = true, .messages = 9};
  tb__rehearsal_judge_quiet(&rehearsal, &facts); /* without a stamp */
  assert_int_equal(rehearsal.steps[TB__STEP_QUIET].count, 2);
  facts = (tb__quiet_facts_t){.topic = "/own"};
  tb__rehearsal_judge_quiet(&rehearsal, &facts);
  assert_step(TB__STEP_QUIET, TB__PROOF_NONE, "definition of its type is unknown");
  facts = (tb__quiet_facts_t){
      .topic = "/odom", .node = "/ekf", .is_known = true, .has_stamp = true, .unseen = 3};
  tb__rehearsal_judge_quiet(&rehearsal, &facts);
  assert_step(TB__STEP_QUIET, TB__PROOF_FAIL, "/odom of /ekf: 3 messages");
  facts.messages = 2;
  tb__rehearsal_judge_quiet(&rehearsal, &facts);
  assert_step(TB__STEP_QUIET, TB__PROOF_FAIL, "5 messages");
}

static void judge_factor(double factor)
{
  tb__run_factor_t run = {0};
  for (int i = 0; i < 1000; i++)
    tb__run_factor_feed(&run, S + (int64_t)(i * 10e6 * factor), S + i * 10 * MS);
  begin();
  tb__rehearsal_judge_factor(&rehearsal, &run);
}

static void test_the_factor_of_a_run(void **state)
{
  (void)state;
  judge_factor(0.985);
  assert_step(TB__STEP_RUN, TB__PROOF_PASS, "the real-time factor was 0.985 to 0.985");
  judge_factor(0.97);
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "not an acceptance run: the real-time factor was 0.97");
  judge_factor(1.03);
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "not an acceptance run");
  begin();
  tb__rehearsal_judge_factor(&rehearsal, &(tb__run_factor_t){0});
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "not an acceptance run: 0 ticks");
}

static void feed_ages(tb__stamps_t *stamps, int64_t age_ns)
{
  tb__stamps_init(stamps, NULL);
  for (int i = 0; i < 100; i++) {
    tb__stamp_sample_t sample = {.has_stamp = true,
                                 .stamp_ns = 100 * S + i * 10 * MS - age_ns,
                                 .ros_ns = 100 * S + i * 10 * MS,
                                 .system_ns = 1700000000 * S + i * 10 * MS,
                                 .arrival_ns = S + i * 10 * MS};
    tb__stamps_feed(stamps, &sample);
  }
}

static void test_ages_in_a_run(void **state)
{
  (void)state;
  static tb__stamps_t stamps;
  feed_ages(&stamps, 20 * MS);
  begin();
  tb__rehearsal_judge_age(&rehearsal, "/odom", 30 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_PASS, "99 % of 100 messages are at most 20ms old");
  tb__rehearsal_judge_age(&rehearsal, "/odom", 10 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "budget 10ms");
  feed_ages(&stamps, 100 * S - 1700000000 * S); /* system time */
  begin();
  tb__rehearsal_judge_age(&rehearsal, "/odom", 10 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "100 of 100 stamps are not of ROS time");
  tb__stamps_init(&stamps, NULL);
  begin();
  tb__rehearsal_judge_age(&rehearsal, "/odom", 10 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "no message with a stamp came");
}

static void test_paths_in_a_run(void **state)
{
  (void)state;
  static tb__path_t path;
  tb__path_init(&path, 50 * MS);
  begin();
  tb__rehearsal_judge_path(&rehearsal, "/scan", "/odom", &path);
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "/scan to /odom: no input");
  for (int i = 1; i <= 100; i++) {
    tb__path_sample_t sample = {i * 10 * MS, S + i * 10 * MS, i * 10 * MS, 0};
    tb__path_input(&path, &sample);
  }
  begin();
  tb__rehearsal_judge_path(&rehearsal, "/scan", "/odom", &path);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "100 inputs, and no output");
  for (int i = 1; i <= 50; i++) {
    tb__path_sample_t sample = {i * 10 * MS, S + i * 10 * MS + 40 * MS, i * 10 * MS + 40 * MS, 0};
    tb__path_output(&path, &sample);
  }
  begin();
  tb__rehearsal_judge_path(&rehearsal, "/scan", "/odom", &path);
  assert_step(TB__STEP_RUN, TB__PROOF_PASS, "99 % of 50 outputs within 40ms");
  path.budget_ns = 30 * MS;
  tb__rehearsal_judge_path(&rehearsal, "/scan", "/odom", &path);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "budget 30ms");
  path.budget_ns = 50 * MS;
  path.state = TB__PATH_BACKLOG;
  begin();
  tb__rehearsal_judge_path(&rehearsal, "/scan", "/odom", &path);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "the latency grows");
}

static void test_outputs_after_a_seek(void **state)
{
  (void)state;
  const tb__resume_facts_t good = {
      .topic = "/odom", .good = 9, .in_flight = 2, .after_ns = 80 * MS, .limit_ns = 100 * MS};
  tb__resume_facts_t facts = good;
  begin();
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_PASS, "resumed after 80ms, limit 100ms; 9 messages");
  facts.after_ns = 120 * MS;
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_FAIL, "resumed after 120ms");
  begin();
  facts = good;
  facts.limit_ns = 0;
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_NONE, "declare rehearsal.resume");
  facts = good;
  facts.stale = 1;
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_FAIL, "1 messages of the time before the seek");
  begin();
  facts = good;
  facts.wrong = 3;
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_FAIL, "3 of another");
  begin();
  facts = good;
  facts.good = 0;
  tb__rehearsal_judge_resume(&rehearsal, &facts);
  assert_step(TB__STEP_SEEK, TB__PROOF_FAIL, "no message of the new time within 100ms");
}

static void test_a_safety_output(void **state)
{
  (void)state;
  const tb__trip_facts_t good = {.topic = "/stop",
                                 .cause = "time was paused",
                                 .is_known = true,
                                 .has_tripped = true,
                                 .after_ns = 200 * MS,
                                 .within_ns = 500 * MS};
  tb__trip_facts_t facts = good;
  begin();
  tb__rehearsal_judge_trip(&rehearsal, TB__STEP_PAUSE, &facts);
  assert_step(TB__STEP_PAUSE, TB__PROOF_PASS, "tripped 200ms of steady time after time was paused");
  facts.after_ns = 600 * MS;
  tb__rehearsal_judge_trip(&rehearsal, TB__STEP_PAUSE, &facts);
  assert_step(TB__STEP_PAUSE, TB__PROOF_FAIL, "tripped 600ms");
  begin();
  facts.has_tripped = false;
  tb__rehearsal_judge_trip(&rehearsal, TB__STEP_WITHHOLD, &facts);
  assert_step(TB__STEP_WITHHOLD, TB__PROOF_FAIL, "did not trip within 500ms");
  begin();
  facts = good;
  facts.was_tripped = true;
  tb__rehearsal_judge_trip(&rehearsal, TB__STEP_PAUSE, &facts);
  assert_step(TB__STEP_PAUSE, TB__PROOF_NONE, "had tripped before time was paused");
  facts.is_known = false;
  tb__rehearsal_judge_trip(&rehearsal, TB__STEP_PAUSE, &facts);
  assert_step(TB__STEP_PAUSE, TB__PROOF_NONE, "no message came before");
}

/* What is late while time does not run at 1x proves nothing; what holds does. */
static void test_budgets_without_an_acceptance_run(void **state)
{
  (void)state;
  static tb__stamps_t stamps;
  feed_ages(&stamps, 20 * MS);
  judge_factor(0.9);
  tb__rehearsal_judge_age(&rehearsal, "/odom", 10 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_NONE, "budget 10ms");
  tb__rehearsal_judge_age(&rehearsal, "/odom", 30 * MS, &stamps);
  assert_int_equal(rehearsal.steps[TB__STEP_RUN].lines[2].proof, TB__PROOF_PASS);
  feed_ages(&stamps, 100 * S - 1700000000 * S); /* a fault at any factor */
  tb__rehearsal_judge_age(&rehearsal, "/odom", 30 * MS, &stamps);
  assert_step(TB__STEP_RUN, TB__PROOF_FAIL, "not of ROS time");
}

/* --- JUnit XML --- */

static void test_junit(void **state)
{
  char path[300], text[8192] = "";
  (void)state;
  begin();
  tb__rehearsal_note(&rehearsal, TB__STEP_RUN, TB__PROOF_PASS, "good");
  tb__rehearsal_note(&rehearsal, TB__STEP_SEEK, TB__PROOF_FAIL, "</failure><script>\x1b[31m");
  tb__rehearsal_end(&rehearsal, "not reached");
  snprintf(path, sizeof path, "%s/junit.xml", test_folder);
  assert_ok(tb__rehearsal_junit_write(&rehearsal, "bag \"1\"", path, NULL));
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_non_null(strstr(text, "tests=\"7\" failures=\"1\" errors=\"5\""));
  assert_non_null(strstr(text, "name=\"run\" time=\"0\">\n<system-out>PASS: good"));
  assert_non_null(strstr(text, "<failure type=\"FAIL\""));
  assert_non_null(strstr(text, "<error type=\"NOT PROVEN\""));
  assert_non_null(strstr(text, "&lt;/failure&gt;&lt;script&gt;"));
  assert_null(strchr(text, '\x1b'));
  snprintf(path, sizeof path, "%s/none/junit.xml", test_folder);
  assert_int_equal(tb__rehearsal_junit_write(&rehearsal, "bag", path, NULL), TB_ERR_NOT_FOUND);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_proven_by_nothing),
      cmocka_unit_test(test_the_gravest_line_decides),
      cmocka_unit_test(test_what_does_not_apply_is_no_obstacle),
      cmocka_unit_test(test_a_failure_has_room_among_many_lines),
      cmocka_unit_test(test_time_bases),
      cmocka_unit_test(test_a_quiet_start),
      cmocka_unit_test(test_the_factor_of_a_run),
      cmocka_unit_test(test_ages_in_a_run),
      cmocka_unit_test(test_paths_in_a_run),
      cmocka_unit_test(test_outputs_after_a_seek),
      cmocka_unit_test(test_a_safety_output),
      cmocka_unit_test(test_budgets_without_an_acceptance_run),
      cmocka_unit_test(test_junit),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}

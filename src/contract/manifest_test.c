#include "contract/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

#define HEAD       "timebase_manifest: 1\n"
#define SIMULATION HEAD "mode: simulation\n"
#define VEHICLE    HEAD "mode: vehicle\n"

static const char *const whole =
    SIMULATION "name: forklift\n"
               "max_error: 20ms\n"
               "topics: # before the thresholds, which hold for them all the same\n"
               "  /points: {rate: 10, budget: 100ms, thresholds: {age_min: -2s, rate_warn: 20%}}\n"
               "  /cam_*/image:\n"
               "  /cam_1/image: {type: sensor_msgs/msg/Image}\n"
               "thresholds:\n"
               "  age_max: 8s\n"
               "  stall_periods: 7.5\n"
               "clock: {publisher: /gazebo, rate: 100, factor: [0.9, 1.1],\n"
               "  qos: {reliability: reliable, depth: 3}}\n"
               "nodes:\n"
               "  /driv*: {role: pattern}\n"
               "  /ekf: {role: estimator, timing_critical: true, hardware_timeouts: none}\n"
               "  /driver: {timers: steady, use_sim_time: true}\n"
               "  /rviz*: {use_sim_time: false}\n"
               "  /**: {role: other}\n"
               "paths:\n"
               "  - {name: scan, from: /points, to: /odom, budget: 1.5s}\n"
               "evidence: [/clock, /tf]\n"
               "rehearsal:\n"
               "  inputs: [/points, /imu/*]\n"
               "  outputs: [/odom]\n"
               "  quiet: 1s\n"
               "  run: 30s\n"
               "  resume: 1500ms\n"
               "  withhold: [/points]\n"
               "  safety: {topic: /stop, field: data, trips: true, within: 500ms}\n"
               "rules_off:\n"
               "  stamp-old: the map is sent once\n"
               "  receipt-stamped: {reason: no clock, subjects: [/usb/*]}\n";

static void parse(const char *text, tb__manifest_t *out)
{
  tb__problems_t problems = {0};
  tb_status_t status = tb__manifest_parse(text, strlen(text), &problems, out);
  if (status) fail_msg("%s: %s", tb_status_name(status), problems.items[0].text);
}

static void test_everything_that_is_declared_is_read(void **state)
{
  (void)state;
  tb__manifest_t manifest;
  parse(whole, &manifest);
  assert_string_equal(manifest.name, "forklift");
  assert_int_equal(manifest.mode, TB__MODE_SIMULATION);
  assert_int_equal(manifest.max_error_ns, 20 * MS);
  assert_string_equal(manifest.clock.topic, "/clock");
  assert_string_equal(manifest.clock.publisher, "/gazebo");
  assert_true(manifest.clock.rate_hz == 100);
  assert_true(manifest.clock.factor_min == 0.9 && manifest.clock.factor_max == 1.1);
  assert_true(manifest.clock.has_qos);
  assert_int_equal(manifest.clock.reliability, TB_QOS_RELIABLE);
  assert_int_equal(manifest.clock.durability, TB_QOS_VOLATILE);
  assert_int_equal(manifest.clock.depth, 3);
  assert_int_equal(manifest.limits.age_max_ns, 8 * S);
  assert_true(manifest.limits.stall_periods == 7.5);
  assert_int_equal(manifest.node_count, 5);
  assert_int_equal(manifest.topic_count, 3);
  assert_int_equal(manifest.path_count, 1);
  assert_string_equal(manifest.paths[0].name, "scan");
  assert_string_equal(manifest.paths[0].from, "/points");
  assert_string_equal(manifest.paths[0].to, "/odom");
  assert_int_equal(manifest.paths[0].budget_ns, 1500 * MS);
  assert_int_equal(manifest.evidence.count, 2);
  assert_string_equal(manifest.evidence.items[1], "/tf");
  tb__manifest_fini(&manifest);
}

static void test_a_rehearsal_is_read(void **state)
{
  (void)state;
  tb__manifest_t manifest;
  parse(whole, &manifest);
  const tb__manifest_rehearsal_t *rehearsal = &manifest.rehearsal;
  assert_true(rehearsal->is_declared);
  assert_int_equal(rehearsal->inputs.count, 2);
  assert_string_equal(rehearsal->inputs.items[1], "/imu/*");
  assert_string_equal(rehearsal->outputs.items[0], "/odom");
  assert_string_equal(rehearsal->withhold.items[0], "/points");
  assert_int_equal(rehearsal->quiet_ns, S);
  assert_int_equal(rehearsal->run_ns, 30 * S);
  assert_int_equal(rehearsal->resume_ns, 1500 * MS);
  assert_string_equal(rehearsal->safety.topic, "/stop");
  assert_string_equal(rehearsal->safety.field, "data");
  assert_string_equal(rehearsal->safety.trips, "true");
  assert_int_equal(rehearsal->safety.within_ns, 500 * MS);
  tb__manifest_fini(&manifest);
  parse(SIMULATION, &manifest);
  assert_false(manifest.rehearsal.is_declared);
  assert_int_equal(manifest.rehearsal.quiet_ns, 2 * S);
  tb__manifest_fini(&manifest);
}

static void test_a_name_has_its_entry_else_the_first_pattern_else_the_defaults(void **state)
{
  (void)state;
  tb__manifest_t manifest;
  bool declared = false;
  parse(whole, &manifest);
  const tb__manifest_node_t *ekf = tb__manifest_node(&manifest, "/ekf", &declared);
  assert_true(declared && ekf->timing_critical && ekf->use_sim_time && !ekf->has_use_sim_time);
  assert_string_equal(ekf->role, "estimator");
  assert_int_equal(ekf->bases[TB__KIND_HARDWARE_TIMEOUTS], TB__TIME_NONE);
  assert_int_equal(ekf->bases[TB__KIND_TIMERS], TB__TIME_ROS);
  const tb__manifest_node_t *driver = tb__manifest_node(&manifest, "/driver", NULL);
  assert_true(driver->use_sim_time && driver->has_use_sim_time);
  assert_null(driver->role); /* its own entry, though the pattern is before it */
  assert_string_equal(tb__manifest_node(&manifest, "/driving", NULL)->role, "pattern");
  assert_int_equal(driver->bases[TB__KIND_TIMERS], TB__TIME_STEADY);
  assert_true(driver->has_base[TB__KIND_TIMERS] && !driver->has_base[TB__KIND_TF]);
  assert_int_equal(driver->bases[TB__KIND_HARDWARE_TIMEOUTS], TB__TIME_STEADY);
  assert_false(tb__manifest_node(&manifest, "/rviz2", NULL)->use_sim_time);
  assert_string_equal(tb__manifest_node(&manifest, "/a/b", &declared)->role, "other");
  assert_true(declared);

  const tb__manifest_topic_t *points = tb__manifest_topic(&manifest, "/points", &declared);
  assert_true(declared && points->rate_hz == 10);
  assert_int_equal(points->budget_ns, 100 * MS);
  assert_int_equal(points->limits.age_min_ns, -2 * S);
  assert_int_equal(points->limits.age_max_ns, 8 * S);
  assert_true(points->limits.rate_warn == 0.2 && points->limits.rate_error == 0.5);
  assert_string_equal(tb__manifest_topic(&manifest, "/cam_1/image", NULL)->type,
                      "sensor_msgs/msg/Image"); /* its own, though the pattern is before it */
  assert_string_equal(tb__manifest_topic(&manifest, "/cam_2/image", NULL)->name, "/cam_*/image");
  const tb__manifest_topic_t *other = tb__manifest_topic(&manifest, "/other", &declared);
  assert_false(declared);
  assert_int_equal(other->limits.age_max_ns, 8 * S);
  assert_int_equal(other->budget_ns, 0);
  tb__manifest_fini(&manifest);
}

static void test_rules_are_off_for_all_or_for_their_subjects(void **state)
{
  (void)state;
  tb__manifest_t manifest;
  parse(whole, &manifest);
  assert_string_equal(tb__manifest_off_reason(&manifest, TB__RULE_STAMP_OLD, "/map"),
                      "the map is sent once");
  assert_string_equal(tb__manifest_off_reason(&manifest, TB__RULE_STAMP_OLD, NULL),
                      "the map is sent once");
  assert_string_equal(tb__manifest_off_reason(&manifest, TB__RULE_RECEIPT_STAMPED, "/usb/image"),
                      "no clock");
  assert_null(tb__manifest_off_reason(&manifest, TB__RULE_RECEIPT_STAMPED, "/points"));
  assert_null(tb__manifest_off_reason(&manifest, TB__RULE_RECEIPT_STAMPED, NULL));
  assert_null(tb__manifest_off_reason(&manifest, TB__RULE_STAMP_ZERO, "/usb/image"));
  tb__manifest_fini(&manifest);
}

static void test_the_mode_gives_defaults(void **state)
{
  (void)state;
  tb__manifest_t manifest;
  parse(HEAD "mode: replay\nnodes: {/a: }\n", &manifest);
  assert_string_equal(manifest.clock.topic, "/clock");
  assert_true(tb__manifest_node(&manifest, "/a", NULL)->use_sim_time);
  assert_true(tb__manifest_node(&manifest, "/b", NULL)->use_sim_time);
  assert_string_equal(manifest.evidence.items[0], "/clock");
  assert_int_equal(manifest.limits.future_ns, 5 * MS);
  tb__manifest_fini(&manifest);

  parse(HEAD "mode: replay\nclock: {topic: /sim/clock}\n", &manifest);
  assert_string_equal(manifest.evidence.items[0], "/sim/clock");
  tb__manifest_fini(&manifest);

  parse(VEHICLE "clock: {source: system}\nnodes: {/a: }\n", &manifest);
  assert_null(manifest.clock.topic);
  assert_false(tb__manifest_node(&manifest, "/a", NULL)->use_sim_time);
  assert_false(tb__manifest_node(&manifest, "/b", NULL)->use_sim_time);
  for (size_t i = 0; i < manifest.evidence.count; i++)
    assert_string_not_equal(manifest.evidence.items[i], "/clock");
  assert_string_equal(manifest.evidence.items[manifest.evidence.count - 1], TB__POINTS_TOPIC);
  tb__manifest_fini(&manifest);
}

/* The first problem is at `line` and `column` and contains `text`. */
typedef struct fault {
  const char *manifest;
  size_t line, column;
  const char *text;
} fault_t;

static void check_faults(const fault_t *faults, size_t count, bool is_error)
{
  for (size_t i = 0; i < count; i++) {
    const fault_t *fault = &faults[i];
    tb__problems_t problems = {0};
    tb__manifest_t manifest = {0};
    tb_status_t status =
        tb__manifest_parse(fault->manifest, strlen(fault->manifest), &problems, &manifest);
    const tb__problem_t *first = &problems.items[0];
    if (!problems.count) fail_msg("no problem: %s", fault->manifest);
    if (first->line != fault->line || first->column != fault->column ||
        !strstr(first->text, fault->text))
      fail_msg("%s\n%zu:%zu: %s\nexpected %zu:%zu: %s", fault->manifest, first->line, first->column,
               first->text, fault->line, fault->column, fault->text);
    assert_int_equal(first->is_error, is_error);
    if ((status == TB_ERR_CORRUPT) != is_error)
      fail_msg("%s: %s", fault->manifest, tb_status_name(status));
    tb__manifest_fini(&manifest); /* left alone if it failed */
  }
}

static void test_errors_have_line_and_column(void **state)
{
  (void)state;
  static const fault_t faults[] = {
      {"", 1, 1, "nothing in it"},
      {"mode: vehicle\n", 1, 1, "'timebase_manifest: 1' is missing"},
      {HEAD, 1, 1, "'mode' is missing"},
      {HEAD "mode:\n", 1, 1, "'mode' is missing"},
      {"[]\n", 1, 1, "this is a list"},
      {"timebase_manifest: 2\nmode: vehicle\n", 1, 20, "version is not known; write 1"},
      {HEAD "mode: car\n", 2, 7, "mode: 'car' is unknown; write vehicle, simulation or replay"},
      {SIMULATION "node: {}\n", 3, 1, "unknown key 'node'; use timebase_manifest, name, mode"},
      {SIMULATION "mode: replay\n", 3, 1, "the key 'mode' is in line 2 too"},
      {SIMULATION "max_error: 5\n", 3, 12, "'5' is no duration; write a number with its unit"},
      {SIMULATION "max_error: -5ms\n", 3, 12, "max_error: '-5ms' must be above 0"},
      {SIMULATION "max_error: [5ms]\n", 3, 12, "this is a list"},
      {SIMULATION "name: ''\n", 3, 7, "the text is empty"},
      {SIMULATION "clock: /clock\n", 3, 8, "write a mapping"},
      {SIMULATION "clock: {rate: fast}\n", 3, 15, "clock.rate: 'fast' is no number above 0"},
      {SIMULATION "clock: {rate: 0}\n", 3, 15, "clock.rate: '0' is no number above 0"},
      {SIMULATION "clock: {rate: nan}\n", 3, 15, "'nan' is no number"},
      {SIMULATION "clock: {rate: 1e3}\n", 3, 15, "'1e3' is no number"},
      {SIMULATION "clock: {factor: [2, 1]}\n", 3, 17, "the lower one first"},
      {SIMULATION "clock: {factor: [2]}\n", 3, 17, "a range is two numbers"},
      {SIMULATION "clock: {factor: [1, 2, 3]}\n", 3, 17, "a range is two numbers"},
      {SIMULATION "clock: {source: system}\n", 3, 9, "does not go with mode simulation"},
      {SIMULATION "clock: {publisher: gazebo}\n", 3, 20, "'gazebo' begins without '/'"},
      {SIMULATION "clock: {publisher: /g*}\n", 3, 20, "is a pattern"},
      {SIMULATION "clock: {qos: {reliability: best}}\n", 3, 28,
       "clock.qos.reliability: 'best' is unknown; write reliable or best_effort"},
      {SIMULATION "clock: {qos: {depth: 0}}\n", 3, 22, "whole number from 1 up"},
      {SIMULATION "thresholds: {age: 1s}\n", 3, 14, "unknown key 'age'; use age_min, age_max"},
      {SIMULATION "thresholds: {rate_warn: 60%}\n", 3, 13, "rate_warn (0.6) is above rate_error"},
      {SIMULATION "thresholds: {age_min: 6s}\n", 3, 13, "age_min is above age_max"},
      {SIMULATION "nodes:\n  ekf: {}\n", 4, 3, "nodes: 'ekf' begins without '/'"},
      {SIMULATION "nodes:\n  /a b: {}\n", 4, 3, "characters that no name of ROS has"},
      {SIMULATION "nodes:\n  /a/: {}\n", 4, 3, "ends with '/'"},
      {SIMULATION "nodes:\n  /a//b: {}\n", 4, 3, "has '//' in it"},
      {SIMULATION "nodes:\n  /a: {}\n  /a: {}\n", 5, 3, "the key '/a' is in line 4 too"},
      {SIMULATION "nodes:\n  /ekf:\n    timers: stedy\n", 5, 13,
       "nodes./ekf.timers: 'stedy' is unknown; write ros, system, steady or none"},
      {SIMULATION "nodes:\n  /ekf:\n    hardware_timeouts: ros\n", 5, 24,
       "hardware timeouts must be steady"},
      {SIMULATION "nodes:\n  /ekf:\n    headers: steady\n", 5, 14, "mean nothing to other"},
      {SIMULATION "nodes:\n  /ekf: {use_sim_time: yes}\n", 4, 24, "write true or false"},
      {SIMULATION "nodes:\n  /ekf: {use_sim_time: 'true'}\n", 4, 24, "write true or false"},
      {SIMULATION "topics: {/a: {budget: soon}}\n", 3, 23, "topics./a.budget: 'soon'"},
      {SIMULATION "topics: {/a: {thresholds: {diagnostics_stale: 1s}}}\n", 3, 28, "unknown key"},
      {SIMULATION "paths:\n  - {from: /a, to: /b}\n", 4, 5, "budget is missing"},
      {SIMULATION "paths:\n  - {from: /a, to: /a, budget: 1s}\n", 4, 5, "to itself"},
      {SIMULATION "paths:\n  - /a\n", 4, 5, "write a mapping"},
      {SIMULATION "evidence: /clock\n", 3, 11, "write a list"},
      {SIMULATION "evidence: [/clock, /clock]\n", 3, 20, "there twice"},
      {SIMULATION "rules_off: {no-such-rule: because}\n", 3, 13, "no rule is called"},
      {SIMULATION "rules_off:\n  stamp-old:\n", 4, 3, "no reason is given"},
      {SIMULATION "rules_off:\n  stamp-old: ' '\n", 4, 14, "the text is empty"},
      {SIMULATION "rules_off: {stamp-old: {subjects: [/a]}}\n", 3, 13, "no reason is given"},
      {SIMULATION "rehearsal: [/a]\n", 3, 12, "write a mapping"},
      {SIMULATION "rehearsal: {input: [/a]}\n", 3, 13, "unknown key 'input'; use inputs, outputs"},
      {SIMULATION "rehearsal: {run: 5}\n", 3, 18, "rehearsal.run: '5' is no duration"},
      {SIMULATION "rehearsal:\n  withhold: /a\n", 4, 13, "write a list"},
      {SIMULATION "rehearsal:\n  safety: {topic: /a, field: x, trips: 1}\n", 4, 3,
       "rehearsal.safety: within is missing; safety has topic, field, trips and within"},
      {SIMULATION "rehearsal:\n  safety: {topic: /*, field: x, trips: 1}\n", 4, 19, "a pattern"},
      {SIMULATION "rehearsal:\n  inputs: [/a]\n"
                  "  safety: {topic: /a, field: x, trips: 1, within: 1s}\n",
       4, 3, "/a is the safety output"},
      {VEHICLE "rehearsal: {run: 5s}\n", 3, 1, "which mode vehicle has not"},
      {VEHICLE "clock: {source: topic}\n", 3, 9, "does not go with mode vehicle; write system"},
      {VEHICLE "clock: {rate: 100}\n", 3, 9, "mode vehicle has no clock topic"},
      {VEHICLE "nodes:\n  /a: {use_sim_time: true}\n", 4, 8, "would wait for it forever"},
      {HEAD "mode: &a vehicle\nname: *a\n", 3, 7, "aliases are not allowed"},
      {HEAD "mode: [\n", 3, 1, "did not find"},
      {HEAD "mode: vehicle\n---\nmode: vehicle\n", 3, 1, "a second document"},
      {HEAD "name: \"a\\0b\"\n", 2, 7, "a NUL in a text"},
      {HEAD "name: \xff\n", 2, 7, "invalid"},
  };
  check_faults(faults, sizeof faults / sizeof *faults, true);
}

static void test_warnings_have_line_and_column(void **state)
{
  (void)state;
  static const fault_t faults[] = {
      {SIMULATION "clock: {rate: 100}\nmax_error: 5ms\n", 4, 1,
       "less than one tick of the clock (10 ms); a rate above 200"},
      {SIMULATION "clock: {rate: 1000, factor: 10}\nmax_error: 5ms\n", 4, 1, "a rate above 2000"},
      {SIMULATION "nodes:\n  /a: {timing_critical: true, use_sim_time: false}\n", 4, 31,
       "timing-critical, but on wall time in mode simulation"},
      {SIMULATION "nodes:\n  /a: {headers: system}\n", 4, 8, "stamps of system time"},
      {SIMULATION "topics: {/a: {budget: 6s}}\n", 3, 15, "above age_max"},
      {SIMULATION "evidence: [/tf]\n", 3, 1, "/clock is not in it"},
      {SIMULATION "rehearsal: {withhold: [/a]}\n", 3, 13, "declare safety"},
      {VEHICLE "evidence: [/clock, /timebase/points]\n", 3, 1, "mode vehicle has no /clock"},
      {VEHICLE "evidence: [/tf]\n", 3, 1, "/timebase/points is not in it"},
  };
  check_faults(faults, sizeof faults / sizeof *faults, false);
}

/* Near misses of the warnings. */
static void test_what_fits_has_no_warning(void **state)
{
  (void)state;
  static const char *const texts[] = {
      SIMULATION "clock: {rate: 200}\nmax_error: 5ms\n",
      SIMULATION "nodes:\n  /a: {timing_critical: false, use_sim_time: false}\n",
      VEHICLE "nodes:\n  /a: {timing_critical: true, headers: system}\n",
      SIMULATION "topics: {/a: {budget: 6s, thresholds: {age_max: 6s}}}\n",
      VEHICLE "evidence: [/timebase/points]\n",
      SIMULATION "clock: {topic: /c}\nevidence: [/c]\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb__problems_t problems = {0};
    tb__manifest_t manifest;
    assert_ok(tb__manifest_parse(texts[i], strlen(texts[i]), &problems, &manifest));
    if (problems.count) fail_msg("%s: %s", texts[i], problems.items[0].text);
    tb__manifest_fini(&manifest);
  }
}

static void test_size_number_and_depth_are_bounded(void **state)
{
  (void)state;
  size_t size = TB__MANIFEST_SIZE_MAX + 1;
  char *text = malloc(size);
  tb__manifest_t manifest;
  tb__problems_t problems = {0};
  assert_non_null(text);
  memset(text, ' ', size);
  assert_status(tb__manifest_parse(text, size, &problems, &manifest), TB_ERR_CORRUPT);
  assert_non_null(strstr(problems.items[0].text, "more than"));

  problems = (tb__problems_t){0};
  for (size_t i = 0; i < size; i++)
    text[i] = i < 4 ? "a: ["[i] : i % 2 ? ',' : '1';
  assert_status(tb__manifest_parse(text, size - 1, &problems, &manifest), TB_ERR_CORRUPT);
  assert_non_null(strstr(problems.items[0].text, "values"));

  problems = (tb__problems_t){0};
  memset(text, '[', 100);
  assert_status(tb__manifest_parse(text, 100, &problems, &manifest), TB_ERR_CORRUPT);
  assert_non_null(strstr(problems.items[0].text, "levels"));

  problems = (tb__problems_t){0};
  size_t used = (size_t)snprintf(text, size, SIMULATION "nodes:\n");
  for (int i = 0; i <= TB__MANIFEST_ENTRIES_MAX; i++)
    used += (size_t)snprintf(text + used, size - used, "  /n%d:\n", i);
  assert_status(tb__manifest_parse(text, used, &problems, &manifest), TB_ERR_CORRUPT);
  assert_non_null(strstr(problems.items[0].text, "4097 entries; at most 4096"));
  free(text);
}

static void test_all_errors_are_counted_and_the_first_is_named(void **state)
{
  (void)state;
  tb__problems_t problems = {0};
  tb__manifest_t manifest;
  tb_error_t error = TB_ERROR_INIT;
  char text[8192];
  size_t used = (size_t)snprintf(text, sizeof text, SIMULATION "topics:\n");
  for (int i = 0; i < TB__PROBLEMS_MAX + 10; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "  /t%d: {rate: x}\n", i);
  assert_status(tb__manifest_parse(text, used, &problems, &manifest), TB_ERR_CORRUPT);
  assert_int_equal(problems.count, TB__PROBLEMS_MAX);
  assert_int_equal(problems.error_count, TB__PROBLEMS_MAX + 10);
  assert_status(tb__problems_status(&problems, "m.yaml", &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "m.yaml:4:15: topics./t0.rate: 'x' is no number"));
  assert_non_null(strstr(error.text, "(and 59 more)"));
}

static void test_text_of_others_is_escaped(void **state)
{
  (void)state;
  static const fault_t fault = {SIMULATION "\"a\\e[2J\": 1\n", 3, 1, "unknown key 'a\\x1b[2J'"};
  (void)state;
  check_faults(&fault, 1, true);
}

static void test_files(void **state)
{
  (void)state;
  tb__problems_t problems = {0};
  tb__manifest_t manifest;
  tb_error_t error = TB_ERROR_INIT;
  char path[] = "/tmp/manifest_test_XXXXXX", *text = NULL;
  assert_status(tb__manifest_load("/nowhere/m.yaml", &problems, &manifest, NULL, &error),
                TB_ERR_NOT_FOUND);
  assert_status(tb__manifest_load("/dev/null", &problems, &manifest, NULL, &error), TB_ERR_INVALID);
  FILE *file = fdopen(mkstemp(path), "w");
  assert_non_null(file);
  fputs(VEHICLE, file);
  assert_int_equal(fclose(file), 0);
  assert_ok(tb__manifest_load(path, &problems, &manifest, &text, &error));
  assert_string_equal(text, VEHICLE);
  tb__manifest_fini(&manifest);
  free(text);
  remove(path);
}

static void test_names_of_words(void **state)
{
  (void)state;
  assert_string_equal(tb__manifest_mode_name(TB__MODE_REPLAY), "replay");
  assert_string_equal(tb__manifest_mode_name((tb__manifest_mode_t)0), "unknown");
  assert_string_equal(tb__time_base_name(TB__TIME_NONE), "none");
  assert_string_equal(tb__time_kind_name(TB__KIND_HARDWARE_TIMEOUTS), "hardware_timeouts");
  assert_true(tb__time_kind_is_observable(TB__KIND_HEADERS));
  assert_false(tb__time_kind_is_observable(TB__KIND_HARDWARE_TIMEOUTS));
}

static void test_factors(void **state)
{
  tb__contract_limits_t limits = tb__contract_limits_default();
  const tb__manifest_clock_t none = {0}, number = {.factor_min = 2, .factor_max = 2},
                             range = {.factor_min = 0.9, .factor_max = 1.1};
  (void)state;
  assert_true(tb__manifest_factor_fits(&none, &limits, 17));
  assert_true(tb__manifest_factor_fits(&number, &limits, 1.85));
  assert_true(tb__manifest_factor_fits(&number, &limits, 2.15));
  assert_false(tb__manifest_factor_fits(&number, &limits, 1.75));
  assert_false(tb__manifest_factor_fits(&number, &limits, 2.25));
  assert_true(tb__manifest_factor_fits(&range, &limits, 1.1));
  assert_false(tb__manifest_factor_fits(&range, &limits, 1.11)); /* a range has its tolerance */
  assert_false(tb__manifest_factor_fits(&range, &limits, 0.89));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_that_is_declared_is_read),
      cmocka_unit_test(test_a_rehearsal_is_read),
      cmocka_unit_test(test_factors),
      cmocka_unit_test(test_a_name_has_its_entry_else_the_first_pattern_else_the_defaults),
      cmocka_unit_test(test_rules_are_off_for_all_or_for_their_subjects),
      cmocka_unit_test(test_the_mode_gives_defaults),
      cmocka_unit_test(test_errors_have_line_and_column),
      cmocka_unit_test(test_warnings_have_line_and_column),
      cmocka_unit_test(test_what_fits_has_no_warning),
      cmocka_unit_test(test_size_number_and_depth_are_bounded),
      cmocka_unit_test(test_all_errors_are_counted_and_the_first_is_named),
      cmocka_unit_test(test_text_of_others_is_escaped),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_names_of_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

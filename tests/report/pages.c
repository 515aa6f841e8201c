/* Makes pages of reports and JUnit files in a folder, for the tests that parse them and look at
 * them in a browser: a sound recording, one with many faults, 1,000 topics, nothing at all, the
 * greatest page that there can be, and `hostile` ones with random text in every field. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/junit.h"
#include "contract/report.h"

#define NS_PER_S INT64_C(1000000000)
#define START_NS (INT64_C(1714564800) * NS_PER_S)

static uint64_t state = 88172645463325252;
static const char *folder;

static uint64_t draw(uint64_t below)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

static void fail(const char *what)
{
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void write_page(tb__report_t *report, tb__findings_t *findings, const char *name)
{
  char path[512];
  tb_error_t error = TB_ERROR_INIT;
  snprintf(path, sizeof path, "%s/%s.html", folder, name);
  if (tb__findings_finish(findings)) fail("finish");
  if (tb__report_write(report, findings, path, &error)) fail(error.text);
  snprintf(path, sizeof path, "%s/%s.xml", folder, name);
  if (tb__junit_write(findings, name, TB__SEVERITY_ERROR, path, &error)) fail(error.text);
  tb__report_destroy(report);
  tb__findings_destroy(findings);
}

static tb__report_t *begin(const char *title, tb__findings_t **findings)
{
  tb__report_t *report = tb__report_create(title, "log time");
  *findings = tb__findings_create();
  if (!report || !*findings) fail("memory");
  return report;
}

static void add(tb__findings_t *findings, tb__rule_id_t rule, tb__subject_kind_t kind,
                const char *subject, const char *cause, const char *evidence)
{
  tb__finding_input_t input = {
      .rule = rule, .kind = kind, .subject = subject, .cause = cause, .detail = "2"};
  if (tb__findings_add(findings, &input, "%s", evidence)) fail("add");
}

/* `period_ns` with as much jitter, ages about `age_ns`. */
static void feed(tb__report_t *report, tb__report_topic_t *topic, tb__stamps_t *stamps,
                 int64_t length_ns, int64_t period_ns, int64_t jitter_ns, int64_t age_ns)
{
  tb__stamps_init(stamps, NULL);
  for (int64_t t = (int64_t)draw((uint64_t)period_ns); t < length_ns; t += period_ns) {
    int64_t age = age_ns + (int64_t)draw((uint64_t)age_ns / 2 + 1);
    if (draw(400) == 0) age *= 12;
    int64_t at = START_NS + t + (int64_t)draw((uint64_t)jitter_ns + 1);
    tb__stamp_sample_t sample = {
        .has_stamp = true, .stamp_ns = at - age, .ros_ns = at, .arrival_ns = at};
    tb__stamps_feed(stamps, &sample);
    tb__report_message(report, topic, at, &age);
  }
  tb__report_topic_stamps(topic, stamps);
}

static void feed_clock(tb__report_t *report, int64_t length_ns, double factor, bool has_jumps)
{
  tb__ticks_t *ticks = calloc(1, sizeof *ticks);
  if (!ticks) fail("memory");
  tb__ticks_init(ticks, NULL, true);
  tb__report_topic_t *topic = tb__report_topic(report, "/clock", "rosgraph_msgs/msg/Clock");
  int64_t tick = 100 * NS_PER_S;
  for (int64_t t = 0; t < length_ns; t += NS_PER_S / 100) {
    double now = has_jumps && t > length_ns / 2 ? factor * 0.6 : factor;
    int64_t step = (int64_t)(now * 1e7) + (int64_t)draw(2000000) - 1000000;
    if (has_jumps && t % (length_ns / 4) == 0 && t > 0) step = -(length_ns / 8);
    tick += step;
    int64_t at = START_NS + t + (int64_t)draw(400000);
    tb__report_message(report, topic, at, NULL);
    tb__report_tick(report, at, tick, tb__ticks_feed(ticks, 1, tick, at));
  }
  free(ticks);
}

static void make_healthy(void)
{
  static const struct {
    const char *name, *type;
    int64_t period_ms, age_us;
  } topics[] = {{"/camera/image_raw", "sensor_msgs/msg/Image", 33, 28000},
                {"/imu/data", "sensor_msgs/msg/Imu", 5, 900},
                {"/odom", "nav_msgs/msg/Odometry", 20, 3100},
                {"/scan", "sensor_msgs/msg/LaserScan", 100, 52000},
                {"/tf", "tf2_msgs/msg/TFMessage", 20, 2100},
                {"/tf_static", "tf2_msgs/msg/TFMessage", 600000, 10}};
  tb__findings_t *findings;
  tb__report_t *report = begin("rosbag2_2024_05_01-12_00_00", &findings);
  tb__stamps_t *stamps = calloc(6, sizeof *stamps);
  if (!stamps) fail("memory");
  tb__report_fact(report, "Recording", "/data/rosbag2_2024_05_01-12_00_00");
  tb__report_fact(report, "Storage", "mcap");
  tb__report_fact(report, "Duration", "2 min");
  tb__report_fact(report, "Log times", "system time at reception (declared)");
  feed_clock(report, 120 * NS_PER_S, 1, false);
  for (size_t i = 0; i < 6; i++)
    feed(report, tb__report_topic(report, topics[i].name, topics[i].type), &stamps[i],
         120 * NS_PER_S, topics[i].period_ms * 1000000, topics[i].period_ms * 20000,
         topics[i].age_us * 1000);
  write_page(report, findings, "healthy");
  free(stamps);
}

static void make_faults(void)
{
  tb__findings_t *findings;
  tb__report_t *report = begin("replay of the warehouse", &findings);
  tb__stamps_t *stamps = calloc(60, sizeof *stamps);
  char name[64];
  if (!stamps) fail("memory");
  feed_clock(report, 1800 * NS_PER_S, 1, true);
  for (int i = 0; i < 60; i++) {
    snprintf(name, sizeof name, "/robot_%d/sensors/%s", i / 6, i % 2 ? "points" : "imu");
    feed(report, tb__report_topic(report, name, "sensor_msgs/msg/PointCloud2"), &stamps[i],
         (i % 7 + 1) * 257 * NS_PER_S, 100000000 + i * 3000000, 20000000, 15000000 + i * 1000000);
    if (i % 5 == 0)
      add(findings, TB__RULE_STAMP_FUTURE, TB__SUBJECT_TOPIC, name, "/ekf", "+3.012 s, 118 of 118");
    if (i % 4 == 0)
      add(findings, TB__RULE_STAMP_ZERO, TB__SUBJECT_TOPIC, name, NULL, "9 of 1200 messages");
    if (i % 9 == 0)
      add(findings, TB__RULE_RECEIPT_STAMPED, TB__SUBJECT_TOPIC, name, NULL, "score 0.97");
  }
  add(findings, TB__RULE_MIXED_TIME_BASE, TB__SUBJECT_NODE, "/ekf", NULL,
      "parameter use_sim_time is false");
  add(findings, TB__RULE_CLOCK_BACKWARDS, TB__SUBJECT_CLOCK, "/clock", NULL,
      "3 jumps, the greatest -3 min 45 s");
  add(findings, TB__RULE_TF_LATE, TB__SUBJECT_FRAME, "map -> odom", "/amcl", "812 ms late");
  add(findings, TB__RULE_DEFINITION_UNKNOWN, TB__SUBJECT_TOPIC, "/robot_3/sensors/imu", NULL,
      "no definition in the recording");
  tb__report_fact(report, "Recording", "/data/warehouse.mcap");
  if (tb__findings_switch_off(findings, TB__RULE_CLOCK_GAP, "pauses are part of the exercise"))
    fail("switch off");
  write_page(report, findings, "faults");
  free(stamps);
}

static void make_topics(void)
{
  tb__findings_t *findings;
  tb__report_t *report = begin("1000 topics", &findings);
  tb__stamps_t *stamps = calloc(1000, sizeof *stamps);
  char name[128];
  if (!stamps) fail("memory");
  for (int i = 0; i < 1100; i++) {
    snprintf(name, sizeof name, "/fleet/vehicle_%03d/subsystem_%d/a_rather_long_name_of_a_topic",
             i / 10, i % 10);
    tb__report_topic_t *topic =
        tb__report_topic(report, name, "diagnostic_msgs/msg/DiagnosticArray");
    if (!topic) {
      tb__report_message(report, NULL, START_NS, NULL);
      continue;
    }
    feed(report, topic, &stamps[i], 120 * NS_PER_S, 200000000 + 700000 * i, 300000000, 9000000);
    if (i % 3 == 0)
      add(findings, TB__RULE_STAMP_ZERO, TB__SUBJECT_TOPIC, name, NULL, "3 of 300 messages");
  }
  write_page(report, findings, "topics");
  free(stamps);
}

/* Shorter than the finest part of time. */
static void make_short(void)
{
  tb__findings_t *findings;
  tb__report_t *report = begin("short", &findings);
  for (int i = 0; i < 3; i++) {
    int64_t age = 700 + i;
    tb__report_topic_t *topic = tb__report_topic(report, "/short", "std_msgs/msg/String");
    for (int k = 0; k < 1 + 100 * i; k++)
      tb__report_message(report, topic, START_NS + 2 * k, &age);
    tb__report_tick(report, START_NS + i, i + 1, i ? TB__TICK_FORWARD : TB__TICK_FIRST);
  }
  write_page(report, findings, "short");
}

static void make_empty(void)
{
  tb__findings_t *findings;
  tb__report_t *report = begin("nothing", &findings);
  write_page(report, findings, "empty");
}

/* Long names of what becomes longest in markup, as much of all as is kept. */
static void make_worst(void)
{
  char name[300], line[600];
  tb__findings_t *findings;
  memset(name, '"', sizeof name);
  memset(line, '"', sizeof line - 1);
  line[sizeof line - 1] = '\0';
  tb__report_t *report = begin(line, &findings);
  for (int i = 0; i < 200; i++)
    tb__report_fact(report, line, line);
  for (int i = 0; i < 1200; i++) {
    snprintf(name + 280, 20, "%d", i);
    tb__report_topic_t *topic = tb__report_topic(report, name, name);
    for (int k = 0; k < 300; k++) {
      int64_t age = (int64_t)draw(1000000000);
      tb__report_message(report, topic, START_NS + (int64_t)draw(1000) * NS_PER_S, &age);
    }
    for (int rule = 0; rule < TB__RULE_COUNT; rule++)
      for (int k = 0; k < 2; k++) {
        line[0] = (char)('0' + k);
        add(findings, (tb__rule_id_t)rule, TB__SUBJECT_TOPIC, name, i % 2 ? name : NULL, line);
      }
  }
  feed_clock(report, 2000 * NS_PER_S, 1, true);
  write_page(report, findings, "worst");
}

/* Bytes of all kinds, often those that mean something in markup. */
static const char *random_text(void)
{
  static const char *const parts[] = {"<",
                                      ">",
                                      "&",
                                      "\"",
                                      "'",
                                      "]]>",
                                      "-->",
                                      "<script>",
                                      "</style>",
                                      "&#0;",
                                      "\x1b[m",
                                      "\n",
                                      "\xff",
                                      "\xed\xa0\x80",
                                      "<img src=x onerror=alert(1)>",
                                      "\xe2\x80\xae",
                                      "\xef\xbf\xbe",
                                      "\xef\xbf\xbf",
                                      "\xd7\xa9",
                                      "%s%n",
                                      "\xf0\x9f\xa4\x96",
                                      "javascript:",
                                      "{subject}",
                                      "/"};
  static char texts[8][2048];
  static int next;
  char *text = texts[next = (next + 1) % 8];
  size_t length = 0, wanted = draw(20) == 0 ? 1900 : draw(60);
  while (length < wanted) {
    if (draw(3)) {
      text[length++] = (char)(1 + draw(255));
      continue;
    }
    const char *part = parts[draw(sizeof parts / sizeof *parts)];
    size_t size = strlen(part);
    memcpy(text + length, part, size);
    length += size;
  }
  text[length] = '\0';
  return text;
}

static int64_t random_time(void)
{
  switch (draw(4)) {
  case 0:
    return (int64_t)draw(INT64_MAX) * (draw(2) ? 1 : -1);
  case 1:
    return (int64_t)draw(3) - 1;
  case 2:
    return draw(2) ? INT64_MAX : INT64_MIN;
  default:
    return START_NS + (int64_t)draw(1000000000000);
  }
}

static void make_hostile(uint64_t seed)
{
  char name[64];
  tb__findings_t *findings;
  state = seed * 2654435761u + 88172645463325252;
  tb__report_t *report = tb__report_create(random_text(), random_text());
  findings = tb__findings_create();
  if (!report || !findings) fail("memory");
  if (tb__findings_switch_off(findings, (tb__rule_id_t)draw(TB__RULE_COUNT), random_text()))
    fail("switch off");
  if (draw(2)) tb__report_no_factor(report, random_text());
  for (uint64_t i = draw(12); i > 0; i--)
    tb__report_fact(report, random_text(), random_text());
  for (uint64_t i = draw(60); i > 0; i--) {
    const char *topic_name = random_text();
    tb__report_topic_t *topic = tb__report_topic(report, topic_name, random_text());
    for (uint64_t k = draw(200); k > 0; k--) {
      int64_t age = random_time();
      tb__report_message(report, topic, random_time(), draw(2) ? &age : NULL);
    }
    add(findings, (tb__rule_id_t)draw(TB__RULE_COUNT), (tb__subject_kind_t)draw(7), topic_name,
        draw(2) ? random_text() : NULL, random_text());
  }
  for (uint64_t i = draw(300); i > 0; i--) {
    int64_t time_ns = random_time();
    tb__report_message(report, NULL, time_ns, NULL);
    tb__report_tick(report, time_ns, random_time(),
                    (tb__tick_kind_t)(1 + draw(TB__TICK_KIND_COUNT - 1)));
  }
  snprintf(name, sizeof name, "hostile-%llu", (unsigned long long)seed);
  write_page(report, findings, name);
}

int main(int argc, char **argv)
{
  if (argc != 4) fail("usage: report_pages FOLDER SEED HOSTILE_COUNT");
  folder = argv[1];
  uint64_t seed = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
  make_healthy();
  make_faults();
  make_topics();
  make_short();
  make_empty();
  make_worst();
  for (uint64_t i = 0; i < count; i++)
    make_hostile(seed + i);
  return 0;
}

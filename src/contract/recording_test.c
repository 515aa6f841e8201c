/* One scenario for each fault, as a recording that has it gives exactly that finding; and its near
 * miss, which gives none. */
#include "contract/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/test_recording.h"
#include "seed.h"
#include "test.h"

#define MS      TB__TEST_MS
#define S       TB__TEST_S
#define NOW     (INT64_C(1700000000) * S)
#define SIM     (100 * S)
#define UNKNOWN INT64_MIN

/* As a recording has the types in a type. */
#define RULE_OF_TEN   "=========="
#define RULE_OF_FORTY RULE_OF_TEN RULE_OF_TEN RULE_OF_TEN RULE_OF_TEN
#define NEXT_TYPE     RULE_OF_FORTY RULE_OF_FORTY "\nMSG: "
#define HEADER_DEFINITION                                                                          \
  NEXT_TYPE "std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" NEXT_TYPE          \
            "builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"

typedef struct scene {
  tb__recording_t recording;
  tb__findings_t *findings;
  tb__manifest_t manifest;
  bool has_manifest;
  uint32_t clock, point, odom, sensor, edges, statics, latched;
  int64_t now_ns;     /* system time */
  int64_t sim_ns;     /* of /clock */
  int64_t send_ns;    /* how long messages are under way, or UNKNOWN: there are no publish times */
  int64_t log_off_ns; /* how far stamps of log messages are behind */
  bool logs_ros;      /* log times are ROS time */
  uint64_t place;     /* in the file; 0: not known */
} scene_t;

static scene_t *scene;

static uint32_t add_topic(const char *name, const char *type, bool is_latched, uint32_t offers)
{
  uint32_t number;
  tb__recorded_topic_input_t input = {
      .name = name, .type = type, .is_cdr = true, .is_latched = is_latched, .offer_count = offers};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  return number;
}

static void begin(const tb__manifest_t *manifest)
{
  assert_ok(tb__recording_init(&scene->recording, manifest, NULL));
  scene->clock = add_topic("/clock", "rosgraph_msgs/msg/Clock", false, 1);
  scene->point = add_topic("/point", "geometry_msgs/msg/PointStamped", false, 1);
  scene->odom = add_topic("/other", "geometry_msgs/msg/PointStamped", false, 1);
  scene->sensor = add_topic("/field", "sensor_msgs/msg/MagneticField", false, 1);
  scene->edges = add_topic("/tf", "tf2_msgs/msg/TFMessage", false, 3);
  scene->statics = add_topic("/tf_static", "tf2_msgs/msg/TFMessage", true, 1);
  scene->latched = add_topic("/map", "geometry_msgs/msg/PointStamped", true, 1);
}

static int start(void **state)
{
  (void)state;
  scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  scene->now_ns = NOW;
  scene->sim_ns = SIM;
  scene->send_ns = MS;
  begin(NULL);
  return 0;
}

static int stop(void **state)
{
  (void)state;
  tb__recording_fini(&scene->recording);
  tb__findings_destroy(scene->findings);
  if (scene->has_manifest) tb__manifest_fini(&scene->manifest);
  free(scene);
  return 0;
}

/* Received now. */
static void take(uint32_t topic, const tb__test_cdr_t *cdr)
{
  tb__recorded_message_t message = {
      .topic = topic,
      .log_ns = scene->logs_ros ? scene->sim_ns : scene->now_ns,
      .publish_ns = scene->send_ns == UNKNOWN ? -1 : scene->now_ns - scene->send_ns,
      .place = scene->place,
      .data = cdr->bytes,
      .size = cdr->size};
  assert_ok(tb__recording_take(&scene->recording, &message));
}

static void take_point(uint32_t topic, int64_t stamp_ns, const char *frame)
{
  tb__test_cdr_t cdr;
  tb__test_cdr_point(&cdr, stamp_ns, frame);
  take(topic, &cdr);
}

static void take_edge(uint32_t topic, int64_t stamp_ns, const char *parent, const char *child)
{
  tb__test_cdr_t cdr;
  tb__test_cdr_edge(&cdr, stamp_ns, parent, child);
  take(topic, &cdr);
}

static void take_clock(int64_t tick_ns)
{
  tb__test_cdr_t cdr;
  tb__test_cdr_begin(&cdr);
  tb__test_cdr_time(&cdr, tick_ns);
  take(scene->clock, &cdr);
}

/* A healthy vehicle: `count` times 100 ms. */
static void drive(int count)
{
  for (int i = 0; i < count; i++) {
    scene->now_ns += 100 * MS;
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
    take_point(scene->odom, scene->now_ns - 30 * MS, "base");
    take_edge(scene->edges, scene->now_ns - 2 * MS, "odom", "base");
    take_edge(scene->edges, scene->now_ns + 900 * MS, "map", "odom"); /* as AMCL stamps */
    take_edge(scene->statics, NOW - 100 * S, "base", "laser");
  }
}

/* A healthy simulation at half of real time. */
static void simulate(int count)
{
  for (int i = 0; i < count; i++) {
    scene->now_ns += 20 * MS;
    scene->sim_ns += 10 * MS;
    take_clock(scene->sim_ns);
    take_point(scene->point, scene->sim_ns - 20 * MS, "laser");
    take_point(scene->odom, scene->sim_ns, "base");
    take_edge(scene->edges, scene->sim_ns - 10 * MS, "odom", "base");
  }
}

static void judge(void)
{
  tb__recording_finish(&scene->recording);
  scene->findings = tb__findings_create();
  assert_non_null(scene->findings);
  assert_ok(tb__recording_judge(&scene->recording, scene->findings));
  assert_ok(tb__findings_finish(scene->findings));
}

static void fail_with_findings(void)
{
  for (size_t i = 0; i < tb__findings_count(scene->findings); i++) {
    const tb__finding_t *finding = tb__findings_at(scene->findings, i);
    for (size_t k = 0; k < finding->subject_count; k++)
      print_message("%s: %s: %s\n", finding->rule->id, finding->subjects[k].name,
                    finding->subjects[k].evidence[0]);
  }
  fail_msg("%zu findings", tb__findings_count(scene->findings));
}

static void assert_none(void)
{
  judge();
  if (tb__findings_count(scene->findings)) fail_with_findings();
}

/* Exactly one finding, of one subject. */
static const tb__finding_subject_t *assert_one(const char *rule, const char *subject)
{
  judge();
  if (tb__findings_count(scene->findings) != 1) fail_with_findings();
  const tb__finding_t *finding = tb__findings_at(scene->findings, 0);
  assert_string_equal(finding->rule->id, rule);
  assert_int_equal(tb__finding_subject_count(finding), 1);
  assert_string_equal(finding->subjects[0].name, subject);
  return &finding->subjects[0];
}

static void assert_evidence(const tb__finding_subject_t *subject, const char *text)
{
  for (size_t i = 0; i < subject->evidence_count; i++)
    if (strstr(subject->evidence[i], text)) return;
  fail_msg("no '%s' in '%s'", text, subject->evidence_count ? subject->evidence[0] : "");
}

/* --- healthy ones --- */

static void test_an_empty_recording(void **state)
{
  (void)state;
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_UNKNOWN);
}

static void test_a_healthy_vehicle(void **state)
{
  (void)state;
  drive(300);
  assert_none();
  const tb__provenance_t *provenance = &scene->recording.provenance;
  assert_int_equal(provenance->log_time, TB__LOG_TIME_RECEIVED);
  assert_false(provenance->is_declared);
}

static void test_a_healthy_vehicle_without_publish_times(void **state)
{
  (void)state;
  scene->send_ns = UNKNOWN;
  drive(300);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_SYSTEM);
}

static void test_a_healthy_simulation(void **state)
{
  (void)state;
  simulate(500);
  assert_none();
  bool is_steady;
  const tb__tick_stream_t *all = &tb__recording_ticks(&scene->recording, &is_steady)->all;
  assert_true(is_steady);
  assert_true(fabs(tb__tick_stream_rate(all) - 50) < 0.1);
  assert_true(fabs(tb__tick_stream_factor(all) - 0.5) < 0.01);
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_RECEIVED);
}

static void test_a_healthy_simulation_logged_in_ros_time(void **state)
{
  (void)state;
  scene->logs_ros = true;
  simulate(500);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_ROS);
  /* Publish times are system time: by them the factor is known. */
  bool is_steady;
  const tb__ticks_t *ticks = tb__recording_ticks(&scene->recording, &is_steady);
  assert_true(is_steady && ticks == &scene->recording.sent_ticks);
  assert_true(fabs(tb__tick_stream_factor(&ticks->all) - 0.5) < 0.01);
}

static void test_a_simulation_logged_in_ros_time_without_publish_times(void **state)
{
  (void)state;
  scene->logs_ros = true;
  scene->send_ns = UNKNOWN;
  simulate(500);
  assert_none();
  bool is_steady;
  tb__recording_ticks(&scene->recording, &is_steady);
  assert_false(is_steady);
}

static void test_latched_messages_are_as_old_as_they_are(void **state)
{
  (void)state;
  take_point(scene->latched, NOW - 3600 * S, "map");
  take_point(scene->latched, 0, "map");
  drive(20);
  assert_none();
}

static void test_ros_time_declared_by_the_recorder(void **state)
{
  (void)state;
  tb__recording_note(&scene->recording, "timebase_jump_1", "kind=start");
  drive(10);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_ROS);
  assert_true(scene->recording.provenance.is_declared);
}

/* --- what the recorder noted (docs/provenance.md) --- */

static void note(const char *key, const char *value)
{
  tb__recording_note(&scene->recording, key, value);
}

static void test_losses_that_the_recorder_noted(void **state)
{
  (void)state;
  note("timebase.lost./scan",
       "on_the_way=3 in_queue=4 in_file=0 first_at_ns=1700000001000000000 last_at_ns=5");
  drive(10);
  assert_evidence(assert_one("messages-lost", "/scan"),
                  "3 lost on the way, 4 in the recorder's queue, 0 by the file system; from 17");
}

static void test_losses_of_recordings_that_were_merged(void **state)
{
  (void)state;
  note("timebase.lost./scan (2)", "on_the_way=3 in_queue=0 in_file=0 first_at_ns=1 last_at_ns=5");
  drive(10);
  assert_one("messages-lost", "/scan");
}

/* A pause of 2 s that ended at `at_ns`. */
static void note_pause(int64_t at_ns, int messages)
{
  char value[200];
  snprintf(value, sizeof value, "at_ns=%lld event=resumed messages=%d paused_ns=2000000000",
           (long long)at_ns, messages);
  note("timebase.event.2", value);
}

static void test_a_pause_in_the_recording(void **state)
{
  (void)state;
  note("timebase.log_time", "receive");
  drive(20);
  scene->now_ns += 2 * S; /* which is no silence of the topics */
  drive(20);
  note_pause(scene->now_ns - 2 * S, 5);
  assert_evidence(assert_one("recording-paused", "the recording"), "for 2.000 s");
}

/* Also of a recording that was cut down to what is after it. */
static void test_a_pause_before_the_recording(void **state)
{
  (void)state;
  note("timebase.log_time", "receive");
  note_pause(scene->now_ns - 60 * S, 5);
  note("timebase.event.1", "at_ns=5 event=paused messages=0");
  drive(10);
  note_pause(scene->now_ns, 0); /* it began paused */
  assert_none();
}

static void test_a_recorder_whose_clock_was_not_synchronized(void **state)
{
  (void)state;
  note("timebase.host", "robot");
  note("timebase.clock.start", "at_ns=1 synchronized=yes max_error_ns=500");
  note("timebase.clock.end", "at_ns=9 synchronized=no");
  note("timebase.publisher.1", "topic=/scan type=a/msg/B host=robot");
  note("timebase.log_time", "receive");
  drive(10);
  const tb__finding_subject_t *found = assert_one("recorder-unsynchronized", "robot");
  assert_evidence(found, "at the end of the recording");
  assert_int_equal(tb__findings_at(scene->findings, 0)->severity, TB__SEVERITY_NOTE);
}

/* Nothing is on that time. */
static void test_a_recorder_in_ros_time_whose_clock_was_not_synchronized(void **state)
{
  (void)state;
  note("timebase.clock.end", "at_ns=9 synchronized=no");
  note("timebase.log_time", "ros");
  drive(10);
  assert_none();
}

/* There it is known that times do not fit each other. */
static void test_a_recorder_that_was_not_synchronized_with_other_hosts(void **state)
{
  (void)state;
  note("timebase.host", "robot");
  note("timebase.clock.start", "at_ns=1 synchronized=no");
  note("timebase.publisher.1", "topic=/scan type=a/msg/B host=other middleware=Cyclone DDS");
  drive(10);
  assert_one("recorder-unsynchronized", "robot");
  assert_int_equal(tb__findings_at(scene->findings, 0)->severity, TB__SEVERITY_WARN);
}

static void test_log_times_that_the_recorder_noted(void **state)
{
  (void)state;
  note("timebase.log_time", "source");
  drive(10);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_SENT);
  assert_true(scene->recording.provenance.is_declared);
}

static void take_clocks(uint32_t topic, int64_t ros_ns)
{
  tb__test_cdr_t cdr;
  tb__point_t point = {.reason = TB__POINT_START,
                       .has_ros = true,
                       .ros_ns = ros_ns,
                       .steady_ns = 5 * S,
                       .system_ns = scene->now_ns - MS};
  char text[TB__POINT_TEXT_SIZE];
  tb__point_format(&point, text);
  tb__test_cdr_begin(&cdr);
  tb__test_cdr_text(&cdr, text);
  take(topic, &cdr);
}

static void test_log_times_by_the_points_of_the_recorder(void **state)
{
  (void)state;
  uint32_t points = add_topic(TB__POINTS_TOPIC, "std_msgs/msg/String", true, 1);
  scene->logs_ros = true;
  simulate(10);
  take_clocks(points, scene->sim_ns);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_ROS);
  assert_true(scene->recording.provenance.is_declared);
}

static void test_received_log_times_by_the_points_of_the_recorder(void **state)
{
  (void)state;
  uint32_t points = add_topic(TB__POINTS_TOPIC, "std_msgs/msg/String", true, 1);
  simulate(10);
  take_clocks(points, scene->sim_ns);
  assert_none();
  assert_int_equal(scene->recording.provenance.log_time, TB__LOG_TIME_RECEIVED);
  assert_true(scene->recording.provenance.is_declared);
}

/* --- stamps --- */

static void test_zero_stamps(void **state)
{
  (void)state;
  take_point(scene->point, 0, "laser");
  drive(20);
  assert_evidence(assert_one("stamp-zero", "/point"), "frame laser: 1 of 21 stamps are 0");
}

static void test_zero_for_now(void **state)
{
  (void)state;
  uint32_t number;
  tb__recorded_topic_input_t input = {.name = "/command",
                                      .type = "trajectory_msgs/msg/Own",
                                      .definition = "std_msgs/Header header\n" HEADER_DEFINITION,
                                      .definition_encoding = "ros2msg",
                                      .is_cdr = true};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  tb__test_cdr_t cdr;
  tb__test_cdr_header(&cdr, 0, "arm");
  take(number, &cdr);
  assert_none();
  assert_non_null(scene->recording.topics[number].first);
}

static void test_zero_stamps_before_the_clock_began(void **state)
{
  (void)state;
  scene->recording.awaits_clock = true;
  take_point(scene->point, 0, "laser");
  take_point(scene->odom, scene->now_ns, "base"); /* before ROS time is known: not judged */
  simulate(20);
  assert_evidence(assert_one("stamp-zero", "/point"), "before /clock began");
}

static void test_the_first_nanosecond_is_not_zero(void **state)
{
  (void)state;
  scene->sim_ns = 30 * MS;
  simulate(3);
  take_point(scene->odom, 1, "another");
  simulate(3);
  assert_none();
}

/* As a driver makes it that puts all nanoseconds since 1970, or what fits, into the one field. */
static void set_nanosec(tb__test_cdr_t *cdr, size_t at, uint32_t nanosec)
{
  for (int i = 0; i < 4; i++)
    cdr->bytes[at + (size_t)i] = (uint8_t)(nanosec >> (8 * i));
}

static void take_with_nanosec(uint32_t topic, uint32_t nanosec)
{
  tb__test_cdr_t cdr;
  if (topic == scene->edges) {
    tb__test_cdr_edge(&cdr, scene->now_ns, "odom", "base");
    set_nanosec(&cdr, 12, nanosec);
  } else {
    tb__test_cdr_point(&cdr, scene->now_ns, topic == scene->point ? "laser" : "base");
    set_nanosec(&cdr, 8, nanosec);
  }
  take(topic, &cdr);
}

static void test_stamps_with_a_second_of_nanoseconds(void **state)
{
  (void)state;
  drive(20);
  take_with_nanosec(scene->point, 1000000000);
  drive(1);
  take_with_nanosec(scene->point, UINT32_MAX);
  const tb__finding_subject_t *subject = assert_one("stamp-invalid", "/point");
  assert_evidence(subject, "frame laser: 2 of 23 stamps are no valid time, first nanosec "
                           "1000000000");
  assert_int_equal(subject->severity, TB__SEVERITY_ERROR);
}

static void test_transforms_with_a_second_of_nanoseconds(void **state)
{
  (void)state;
  drive(20);
  take_with_nanosec(scene->edges, 3000000000u);
  assert_evidence(assert_one("stamp-invalid", "/tf"), "odom -> base: 1 of 21 stamps");
}

static void test_stamps_below_zero(void **state)
{
  (void)state;
  drive(20);
  take_point(scene->odom, -5 * S, "base");
  assert_evidence(assert_one("stamp-invalid", "/other"), "1 of 21 stamps are no valid time, first "
                                                         "sec -5");
}

static void test_stamps_with_a_nanosecond_less_than_a_second(void **state)
{
  (void)state;
  drive(20);
  scene->now_ns += S - 1; /* NOW is at a whole second, and so is this but for 1 ns */
  take_with_nanosec(scene->point, 999999999);
  assert_none();
}

static void test_one_topic_on_wall_time_in_a_simulation(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    simulate(1);
    tb__test_cdr_t cdr;
    tb__test_cdr_sensor(&cdr, scene->now_ns - 2 * MS, "imu");
    take(scene->sensor, &cdr);
  }
  assert_evidence(assert_one("stamp-other-domain", "/field"), "100 of 100 stamps are system time");
}

static void test_stamps_of_no_known_time(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++) {
    drive(1);
    take_point(scene->odom, 4242 * S + i * S, "uptime");
  }
  assert_evidence(assert_one("stamp-other-domain", "/other"), "of no time of the recording");
}

static void test_stamps_in_the_future(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    drive(1);
    take_point(scene->odom, scene->now_ns + 6 * MS, "ahead");
  }
  const tb__finding_subject_t *subject = assert_one("stamp-future", "/other");
  assert_evidence(subject,
                  "frame ahead: 100 of 100 stamps are ahead of ROS time by up to 6.000 ms");
  assert_int_equal(subject->severity, TB__SEVERITY_WARN);
}

static void test_stamps_far_in_the_future(void **state)
{
  (void)state;
  drive(100);
  take_point(scene->odom, scene->now_ns + 1100 * MS, "ahead");
  assert_int_equal(assert_one("stamp-future", "/other")->severity, TB__SEVERITY_ERROR);
}

static void test_stamps_a_little_in_the_future(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    drive(1);
    take_point(scene->odom, scene->now_ns + 4 * MS, "ahead");
  }
  take_point(scene->odom, scene->now_ns + 500 * MS, "ahead"); /* once is no fault of the stamps */
  assert_none();
}

/* One of each `step` stamps. */
static void drive_ahead(int step, int64_t by_ns)
{
  for (int i = 0; i < 1000; i++) {
    drive(1);
    take_point(scene->odom, scene->now_ns + (i % step == 10 ? by_ns : 0), "ahead");
    scene->now_ns += 100 * MS;
  }
}

static void test_a_few_stamps_of_many_in_the_future(void **state)
{
  (void)state;
  drive_ahead(250, 150 * MS);
  assert_none();
}

static void test_more_of_many_far_in_the_future(void **state)
{
  (void)state;
  drive_ahead(25, 150 * MS);
  assert_one("stamp-future", "/other");
}

static void test_disorder_on_a_busy_machine(void **state)
{
  (void)state;
  drive_ahead(25, 50 * MS);
  assert_none();
}

static void test_too_much_disorder(void **state)
{
  (void)state;
  drive_ahead(15, 50 * MS);
  assert_one("stamp-future", "/other");
}

static void test_in_simulated_time_a_stamp_may_be_a_tick_ahead(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    simulate(1);
    take_point(scene->odom, scene->sim_ns + 9 * MS, "ahead");
  }
  assert_none();
}

static void test_clocks_of_hosts_that_are_apart(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    drive(1);
    scene->send_ns = -50 * MS; /* the other host's clock is ahead: its stamps are right by it */
    take_point(scene->odom, scene->now_ns + 50 * MS, "ahead");
    scene->send_ns = MS;
  }
  assert_evidence(assert_one("host-offset", "the publisher of /other"), "before they were sent");
}

static void test_clocks_of_hosts_that_are_near(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    drive(1);
    scene->send_ns = -4 * MS;
    take_point(scene->latched, scene->now_ns, "ahead");
    scene->send_ns = MS;
  }
  assert_none();
}

static void test_old_stamps(void **state)
{
  (void)state;
  drive(60);
  take_point(scene->odom, scene->now_ns - 5001 * MS, "late");
  assert_evidence(assert_one("stamp-old", "/other"), "have an age of up to 5.001 s");
}

static void test_stamps_of_the_greatest_age(void **state)
{
  (void)state;
  drive(60);
  take_point(scene->odom, scene->now_ns - 5000 * MS, "late");
  assert_none();
}

/* Played from a recording of a day before, without its /clock. */
static void drive_shifted(int count, int64_t drift_ns)
{
  for (int i = 0; i < count; i++) {
    drive(1);
    take_point(scene->odom, scene->now_ns - 86400 * S - i * drift_ns, "yesterday");
  }
}

static void test_stamps_that_are_always_as_far_behind(void **state)
{
  (void)state;
  drive_shifted(20, MS);
  assert_evidence(assert_one("stamp-old", "/other"),
                  "all 20 stamps are 86400 s behind, always the same to 19.0 ms");
}

static void test_stamps_that_fall_further_behind(void **state)
{
  (void)state;
  drive_shifted(20, 60 * MS);
  assert_evidence(assert_one("stamp-old", "/other"), "have an age of up to 86401 s");
}

static void test_backward_stamps(void **state)
{
  (void)state;
  drive(10);
  take_point(scene->point, scene->now_ns - 21 * MS, "laser");
  drive(10);
  assert_evidence(assert_one("stamp-backward", "/point"), "1 steps back, by up to 1.000 ms");
}

static void test_equal_stamps_and_other_frames_are_not_backward(void **state)
{
  (void)state;
  drive(10);
  take_point(scene->point, scene->now_ns - 20 * MS, "laser");
  take_point(scene->point, scene->now_ns - 50 * MS, "laser_2");
  drive(10);
  assert_none();
}

static void test_stamps_that_repeat(void **state)
{
  (void)state;
  int64_t stamp_ns = 0;
  for (int i = 0; i < 100; i++) {
    drive(1);
    if (i % 9 != 8) stamp_ns = scene->now_ns - 20 * MS; /* one of nine is the one before */
    take_point(scene->odom, stamp_ns, "again");
  }
  assert_evidence(assert_one("stamp-repeated", "/other"),
                  "frame again: 11 of 100 stamps repeat the one before");
}

static void test_a_few_stamps_that_repeat(void **state)
{
  (void)state;
  int64_t stamp_ns = 0;
  for (int i = 0; i < 110; i++) {
    drive(1);
    if (i % 11 != 10) stamp_ns = scene->now_ns - 20 * MS;
    take_point(scene->odom, stamp_ns, "again");
  }
  assert_none();
}

/* Parts of one scan, each a message. */
static void test_messages_of_one_moment_have_one_stamp(void **state)
{
  (void)state;
  for (int i = 0; i < 100; i++) {
    drive(1);
    int64_t stamp_ns = scene->now_ns - 20 * MS;
    for (int k = 0; k < 4; k++) {
      take_point(scene->odom, stamp_ns, "part");
      scene->now_ns += 5 * MS;
    }
  }
  assert_none();
}

static void drive_whole(int count, int64_t unit_ns)
{
  for (int i = 0; i < count; i++) {
    drive(1);
    scene->now_ns += 3 * MS;
    take_point(scene->odom, scene->now_ns / unit_ns * unit_ns, "cut");
  }
}

static void test_stamps_of_whole_seconds(void **state)
{
  (void)state;
  drive_whole(100, S);
  assert_evidence(assert_one("stamp-whole-seconds", "/other"),
                  "frame cut: all 100 stamps are whole seconds");
}

static void test_stamps_of_whole_milliseconds(void **state)
{
  (void)state;
  drive_whole(100, MS);
  assert_none();
}

static void drive_off(int64_t by_ns)
{
  for (int i = 0; i < 10; i++) {
    drive(1);
    take_point(scene->odom, scene->now_ns + by_ns - (i % 2) * 90 * MS, "off");
  }
}

static void assert_offset(int64_t by_ns, const char *cause)
{
  drive_off(by_ns);
  const tb__finding_subject_t *subject = assert_one("stamp-offset", "/other");
  assert_evidence(subject, cause);
  assert_non_null(subject->detail);
}

static void test_stamps_of_tai(void **state)
{
  (void)state;
  assert_offset(37 * S, "always the same to 90.0 ms, first at 1700000000.100 (stamp "
                        "1700000037.100): TAI (PTP), which is 37 s ahead of UTC");
}

static void test_stamps_of_gps(void **state)
{
  (void)state;
  assert_offset(18 * S, ": GPS time, which is 18 s ahead of UTC");
}

static void test_stamps_of_a_time_zone(void **state)
{
  (void)state;
  assert_offset(-19800 * S, "taken for UTC (UTC-05:30)");
}

static void test_stamps_that_are_always_as_far_ahead(void **state)
{
  (void)state;
  assert_offset(25 * S, "all 10 stamps are 24.955 s ahead");
}

static void test_stamps_that_are_not_always_as_far_ahead(void **state)
{
  (void)state;
  drive_off(37 * S);
  drive(1);
  take_point(scene->odom, scene->now_ns + 38001 * MS,
             "off"); /* the greatest of them is 1.9 s off */
  assert_one("stamp-future", "/other");
}

static void test_several_publishers_are_not_in_order(void **state)
{
  (void)state;
  uint32_t shared = add_topic("/shared", "geometry_msgs/msg/PointStamped", false, 2);
  drive(10);
  take_point(shared, scene->now_ns - 1 * MS, "a");
  take_point(shared, scene->now_ns - 2 * MS, "a");
  assert_none();
}

/* --- made on reception --- */

static void take_sensor(bool is_receipt, uint64_t *seed)
{
  tb__test_cdr_t cdr;
  int64_t made_ns = NOW + (scene->now_ns - NOW + 50 * MS) / (100 * MS) * (100 * MS);
  scene->now_ns = made_ns + (int64_t)(test_random(seed) % (uint64_t)(4 * MS));
  int64_t stamp_ns = is_receipt ? scene->now_ns : made_ns;
  scene->now_ns += 100000 + (int64_t)(test_random(seed) % 100000);
  tb__test_cdr_sensor(&cdr, stamp_ns, "imu");
  take(scene->sensor, &cdr);
  scene->now_ns = made_ns + 100 * MS;
}

static void test_sensor_stamps_made_on_reception(void **state)
{
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < 200; i++)
    take_sensor(true, &seed);
  assert_evidence(assert_one("receipt-stamped", "/field"), "correlation");
}

static void test_sensor_stamps_of_acquisition(void **state)
{
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < 200; i++)
    take_sensor(false, &seed);
  assert_none();
}

/* --- /clock --- */

static void test_a_jump_back(void **state)
{
  (void)state;
  simulate(300);
  scene->sim_ns -= 2 * S;
  simulate(300);
  assert_evidence(assert_one("clock-backwards", "/clock"), "1 jumps back, by up to 1.990 s");
}

static void test_a_late_tick_is_no_jump(void **state)
{
  (void)state;
  simulate(300);
  take_clock(scene->sim_ns - 30 * MS);
  simulate(300);
  assert_none();
}

static void test_samples_of_the_time_before_a_jump(void **state)
{
  (void)state;
  simulate(300);
  int64_t before_ns = scene->sim_ns;
  scene->sim_ns -= 60 * S;
  simulate(1);
  take_point(scene->point, before_ns - 5 * MS, "laser");
  take_edge(scene->edges, before_ns - 5 * MS, "odom", "base");
  simulate(100);
  judge();
  assert_int_equal(tb__findings_count(scene->findings), 3);
  assert_string_equal(tb__findings_at(scene->findings, 0)->rule->id, "clock-backwards");
  assert_int_equal(tb__findings_at(scene->findings, 0)->caused_count, 2);
  assert_string_equal(tb__findings_at(scene->findings, 0)->caused[0]->rule->id, "stale-epoch");
  char title[TB__FINDING_TEXT_SIZE];
  tb__finding_title(tb__findings_at(scene->findings, 0)->caused[0], title, sizeof title);
  assert_string_equal(title, "/point has messages of the time before a jump");
  const tb__finding_t *edges = tb__findings_at(scene->findings, 0)->caused[1];
  assert_string_equal(edges->rule->id, "tf-old-epoch");
  assert_string_equal(edges->subjects[0].name, "odom -> base");
}

static void test_a_gap(void **state)
{
  (void)state;
  simulate(300);
  scene->sim_ns += 1200 * MS;
  scene->now_ns += 2400 * MS;
  simulate(300);
  assert_evidence(assert_one("clock-gap", "/clock"), "1 gaps, up to 1.210 s");
}

static void test_a_jump_forward(void **state)
{
  (void)state;
  simulate(300);
  scene->sim_ns += 30 * S;
  simulate(300);
  assert_evidence(assert_one("clock-gap", "/clock"), "1 jumps forward, by up to 30.010 s");
}

static void test_a_small_gap(void **state)
{
  (void)state;
  simulate(300);
  scene->sim_ns += 400 * MS;
  scene->now_ns += 800 * MS;
  simulate(300);
  assert_none();
}

static void test_a_stall(void **state)
{
  (void)state;
  simulate(300);
  scene->now_ns += 3 * S;
  simulate(300);
  assert_evidence(assert_one("clock-stall", "/clock"), "1 times without a tick, up to 3.020 s");
}

static void test_a_stall_at_the_end(void **state)
{
  (void)state;
  simulate(300);
  scene->now_ns += 3 * S;
  take_edge(scene->statics, 0, "a", "b");
  assert_one("clock-stall", "/clock");
}

static void test_a_pause(void **state)
{
  (void)state;
  simulate(300);
  for (int i = 0; i < 50; i++) {
    scene->now_ns += 100 * MS;
    take_clock(scene->sim_ns);
  }
  simulate(300);
  assert_none();
}

static void test_two_streams_of_clock(void **state)
{
  (void)state;
  simulate(10);
  for (int i = 0; i < 100; i++) {
    simulate(1);
    take_clock(scene->sim_ns + 1500 * S);
    scene->now_ns += 10 * MS;
    take_clock(scene->sim_ns + 1 * MS);
  }
  assert_evidence(assert_one("clock-two-streams", "/clock"), "up to 1500 s away");
}

static void test_two_publishers_of_clock(void **state)
{
  (void)state;
  scene->recording.topics[scene->clock].offer_count = 2;
  for (int i = 0; i < 100; i++) {
    scene->now_ns += 10 * MS;
    scene->sim_ns += 10 * MS;
    take_clock(scene->sim_ns);
    take_clock(scene->sim_ns + 1500 * S);
  }
  assert_one("clock-two-publishers", "/clock");
}

static void test_a_clock_that_ticks_zero(void **state)
{
  (void)state;
  simulate(10);
  take_clock(0);
  simulate(10);
  assert_one("clock-zero", "/clock");
}

static void test_ticks_that_are_no_time(void **state)
{
  (void)state;
  tb__test_cdr_t cdr;
  simulate(20);
  tb__test_cdr_begin(&cdr);
  tb__test_cdr_time(&cdr, scene->sim_ns);
  set_nanosec(&cdr, 8, 1500000000);
  take(scene->clock, &cdr);
  take_clock(-5 * S);
  const tb__finding_subject_t *subject = assert_one("clock-invalid", "/clock");
  assert_evidence(subject, "2 of 22 ticks are no valid time, first nanosec 1500000000");
  assert_int_equal(subject->severity, TB__SEVERITY_ERROR);
}

static void test_only_ticks_that_are_no_time(void **state)
{
  (void)state;
  for (int i = 0; i < 20; i++) {
    scene->now_ns += 20 * MS;
    take_clock(-5 * S);
  }
  assert_evidence(assert_one("clock-invalid", "/clock"), "20 of 20 ticks");
}

static void test_a_simulation_may_begin_at_zero(void **state)
{
  (void)state;
  take_clock(0);
  take_clock(0);
  simulate(10);
  assert_none();
}

/* --- transforms --- */

static void test_a_transform_that_is_late(void **state)
{
  (void)state;
  take_edge(scene->statics, 0, "base", "laser");
  for (int i = 0; i < 100; i++) {
    scene->now_ns += 100 * MS;
    take_edge(scene->edges, scene->now_ns - 1500 * MS, "odom", "base");
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
  }
  const tb__finding_subject_t *subject = assert_one("tf-late", "odom -> base");
  assert_evidence(subject, "the longest on /point");
  const tb__tf_topic_t *counts = tb__tf_cover_topic(&scene->recording.cover, scene->point);
  assert_int_equal(counts->messages, 100);
  assert_int_equal(counts->waited, 85);
  assert_int_equal(counts->dropped, 15);
}

static void test_a_transform_that_stops(void **state)
{
  (void)state;
  drive(50);
  for (int i = 0; i < 200; i++) {
    scene->now_ns += 100 * MS;
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
    take_edge(scene->edges, scene->now_ns + 900 * MS, "map", "odom");
  }
  assert_evidence(assert_one("tf-late", "odom -> base"), "of them in vain; up to 10.000 s");
}

static void test_a_transform_that_is_a_little_late(void **state)
{
  (void)state;
  take_edge(scene->statics, 0, "base", "laser");
  for (int i = 0; i < 100; i++) {
    scene->now_ns += 100 * MS;
    take_edge(scene->edges, scene->now_ns - 800 * MS, "odom", "base");
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
  }
  assert_none();
}

static void test_transforms_begin_again_after_a_jump(void **state)
{
  (void)state;
  take_edge(scene->statics, 0, "base", "laser");
  simulate(300);
  scene->sim_ns -= 60 * S;
  simulate(300);
  assert_one("clock-backwards", "/clock");
  const tb__tf_topic_t *counts = tb__tf_cover_topic(&scene->recording.cover, scene->point);
  assert_true(counts->too_old < 5); /* before the first transform */
  assert_true(counts->covered + counts->waited > 590);
}

static void test_two_publishers_of_a_transform(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    drive(1);
    take_edge(scene->edges, scene->now_ns - 30 * MS, "odom", "base");
  }
  assert_one("tf-two-publishers", "odom -> base");
}

static void test_one_transform_out_of_order(void **state)
{
  (void)state;
  drive(50);
  take_edge(scene->edges, scene->now_ns - 30 * MS, "odom", "base");
  assert_evidence(assert_one("stamp-backward", "/tf"), "odom -> base: 1 steps back");
}

static void test_two_parents_of_a_frame(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    drive(1);
    take_edge(scene->edges, scene->now_ns - 1 * MS, "map", "base");
  }
  assert_evidence(assert_one("tf-two-publishers", "map -> base"), "between 'map' and 'odom'");
}

/* The same frames of two robots, of which one has another parent and the other one stops. */
static void drive_two(const char *first, const char *second, int count)
{
  uint32_t trees[2] = {add_topic(first, "tf2_msgs/msg/TFMessage", false, 1),
                       add_topic(second, "tf2_msgs/msg/TFMessage", false, 1)};
  uint32_t scans[2] = {add_topic("/r1/scan", "geometry_msgs/msg/PointStamped", false, 1),
                       add_topic("/r2/scan", "geometry_msgs/msg/PointStamped", false, 1)};
  for (int i = 0; i < count; i++) {
    scene->now_ns += 100 * MS;
    take_edge(trees[0], scene->now_ns - 1 * MS, "odom", "base");
    if (i < 20) take_edge(trees[1], scene->now_ns - 1 * MS, "world", "base");
    for (int robot = 0; robot < 2; robot++)
      take_point(scans[robot], scene->now_ns - 2 * MS, "base");
  }
}

static void test_robots_have_trees_of_their_own(void **state)
{
  (void)state;
  drive_two("/r1/tf", "/r2/tf", 20);
  assert_none();
}

static void test_a_transform_that_stops_in_one_of_two_trees(void **state)
{
  (void)state;
  drive_two("/r1/tf", "/r2/tf", 200);
  assert_one("tf-late", "[/r2] world -> [/r2] base");
}

static void test_namespaces_without_transforms_share_a_tree(void **state)
{
  (void)state;
  drive_two("/tf", "/r11/tf", 20); /* which is of neither */
  const tb__tf_topic_t *counts = tb__tf_cover_topic(&scene->recording.cover, 10);
  assert_int_equal(counts->messages, 20);
  assert_true(counts->unknown <= 1); /* the first one is before the transform has two stamps */
  assert_none();
}

static void test_a_frame_that_gets_another_parent_once(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    drive(1);
    take_edge(scene->edges, scene->now_ns - 1 * MS, i < 25 ? "shelf" : "arm", "box");
  }
  assert_none();
}

/* --- evidence --- */

static void test_simulated_time_without_a_clock(void **state)
{
  (void)state;
  for (int i = 0; i < 50; i++) {
    scene->now_ns += 100 * MS;
    take_point(scene->point, SIM + i * 100 * MS, "laser");
    take_point(scene->odom, SIM + i * 100 * MS, "base");
  }
  assert_one("missing-evidence", "/clock");
}

static void test_messages_that_are_not_of_their_definition(void **state)
{
  (void)state;
  tb__test_cdr_t cdr;
  drive(10);
  tb__test_cdr_point(&cdr, scene->now_ns, "laser");
  cdr.size = 10;
  take(scene->point, &cdr);
  assert_evidence(assert_one("definition-unknown", "/point"), "1 of 11 messages");
}

static void test_a_recorded_definition_that_does_not_fit(void **state)
{
  (void)state;
  uint32_t number;
  tb__recorded_topic_input_t input = {.name = "/odd",
                                      .type = "geometry_msgs/msg/PointStamped",
                                      .definition = "string text\n",
                                      .definition_encoding = "ros2msg",
                                      .is_cdr = true};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  take_point(number, scene->now_ns, "frame");
  assert_none();
  assert_int_equal(scene->recording.topics[number].known->origin, TB__DEFINITION_BUILT_IN);
  assert_int_equal(scene->recording.topics[number].first->stamps.kinds[TB__STAMP_GOOD], 1);
}

static void test_a_definition_that_fits_no_message(void **state)
{
  (void)state;
  uint32_t number;
  tb__recorded_topic_input_t input = {.name = "/odd",
                                      .type = "odd_msgs/msg/Odd",
                                      .definition = "string text\n",
                                      .definition_encoding = "ros2msg",
                                      .is_cdr = true};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  take_point(number, scene->now_ns, "frame");
  assert_evidence(assert_one("definition-unknown", "/odd"), "odd_msgs/msg/Odd: ");
}

static void test_a_definition_of_the_other_generation_is_not_used(void **state)
{
  (void)state;
  uint32_t number;
  tb__recorded_topic_input_t input = {.name = "/odd",
                                      .type = "odd_msgs/Odd",
                                      .definition = "std_msgs/Header header\n" HEADER_DEFINITION,
                                      .definition_encoding = "ros1msg",
                                      .is_cdr = true};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  take_point(number, scene->now_ns, "frame");
  assert_none();
  assert_null(scene->recording.topics[number].first);
}

static void test_a_type_without_any_definition_is_listed_only(void **state)
{
  (void)state;
  uint32_t odd = add_topic("/odd", "odd_msgs/msg/Odd", false, 1);
  take_point(odd, scene->now_ns, "frame");
  assert_none();
}

/* --- the log --- */

static void take_log(uint32_t topic, const char *logger, const char *text)
{
  tb__test_cdr_t cdr;
  tb__test_cdr_begin(&cdr);
  tb__test_cdr_time(&cdr, scene->now_ns - scene->log_off_ns);
  cdr.bytes[cdr.size++] = 30; /* WARN */
  tb__test_cdr_text(&cdr, logger);
  tb__test_cdr_text(&cdr, text);
  tb__test_cdr_text(&cdr, "file.cpp");
  tb__test_cdr_text(&cdr, "function");
  tb__test_cdr_u32(&cdr, 1);
  take(topic, &cdr);
}

static void test_sentences_in_the_log(void **state)
{
  (void)state;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  drive(10);
  take_log(log, "costmap", "Lookup would require extrapolation into the future.");
  take_log(log, "costmap", "Lookup would require extrapolation into the future.");
  take_log(log, "planner", "all is well");
  assert_evidence(assert_one("log-evidence", "costmap"), "(2 times, first at 170000000");
}

static void test_the_log_of_a_host_whose_clock_is_behind(void **state)
{
  (void)state;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  drive_shifted(20, MS);
  take_log(log, "planner", "all is well");
  scene->log_off_ns = 86400 * S;
  take_log(log, "driver", "started");
  judge();
  assert_int_equal(tb__findings_count_of(scene->findings, 0), 2);
  const tb__finding_t *host = tb__findings_at(scene->findings, 0);
  assert_string_equal(host->rule->id, "host-offset");
  assert_string_equal(host->subjects[0].name, "driver");
  assert_evidence(&host->subjects[0], "are stamped 86400 s before log times");
  assert_int_equal(host->caused_count, 1);
  assert_string_equal(host->caused[0]->rule->id, "stamp-old");
}

static void test_log_messages_that_were_kept_for_later(void **state)
{
  (void)state;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  drive(20);
  scene->log_off_ns = 10 * S;
  take_log(log, "driver", "started");
  assert_none();
}

static void test_a_log_without_such_sentences(void **state)
{
  (void)state;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  drive(10);
  for (int i = 0; i < 100; i++)
    take_log(log, "planner", "the future is bright, the queue is short");
  assert_none();
}

static void test_a_log_message_that_is_cut(void **state)
{
  (void)state;
  tb__test_cdr_t cdr;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  tb__test_cdr_begin(&cdr);
  tb__test_cdr_time(&cdr, scene->now_ns);
  take(log, &cdr);
  assert_evidence(assert_one("definition-unknown", "/rosout"), "1 of 1 messages");
}

static void test_sentences_below_the_jump_that_explains_them(void **state)
{
  (void)state;
  uint32_t log = add_topic("/rosout", "rcl_interfaces/msg/Log", true, 2);
  simulate(200);
  scene->sim_ns -= S;
  simulate(200);
  take_log(log, "ekf", "Detected jump back in time. Clearing TF buffer.");
  judge();
  const tb__finding_t *jump = tb__findings_at(scene->findings, 0);
  assert_string_equal(jump->rule->id, "clock-backwards");
  assert_int_equal(jump->caused_count, 1);
  assert_string_equal(jump->caused[0]->rule->id, "log-evidence");
}

static void test_runs_that_begin_again(void **state)
{
  (void)state;
  scene->logs_ros = true;
  scene->send_ns = UNKNOWN;
  for (int run = 0; run < 3; run++) {
    scene->sim_ns = NOW + run * S;
    if (run) tb__recording_begin_run(&scene->recording);
    for (int i = 0; i < 50; i++) {
      scene->sim_ns += 100 * MS;
      take_point(scene->point, scene->sim_ns - 20 * MS, "laser");
    }
  }
  assert_none();
  assert_int_equal(scene->recording.log_epoch.number, 2);
  assert_int_equal(scene->recording.topics[scene->point].first->stamps.backward, 0);
}

/* --- log times --- */

static void test_a_topic_of_two_types(void **state)
{
  (void)state;
  uint32_t number;
  tb__recorded_topic_input_t input = {.name = "/point_2",
                                      .type = "std_msgs/msg/Empty",
                                      .is_cdr = true,
                                      .oddity = "a.mcap: topic /point is std_msgs/msg/Empty here"};
  assert_ok(tb__recording_add_topic(&scene->recording, &input, &number));
  drive(20);
  assert_evidence(assert_one("topic-two-types", "/point"), input.oddity);
}

static void test_the_system_clock_is_set_forward(void **state)
{
  (void)state;
  drive(50);
  scene->now_ns += 2 * 3600 * S;
  drive(50);
  const tb__finding_subject_t *subject = assert_one("system-step", "log times");
  assert_evidence(subject, "forward by 7200 s at 1700000005.000, on all topics");
  assert_string_equal(subject->detail, "1700000005.001");
}

static void test_all_topics_are_silent(void **state)
{
  (void)state;
  drive(50);
  scene->now_ns += 950 * MS; /* with the usual gap it is above a second */
  drive(50);
  assert_evidence(assert_one("recording-silent", "all topics"),
                  "no message for 1.050 s after 1700000005.000, though 3 topics are regular");
}

/* Of a hostile file: nothing overflows. */
static void test_times_at_the_ends_of_what_there_is(void **state)
{
  (void)state;
  note("timebase.log_time", "receive");
  note("timebase.event.1", "at_ns=-9223372036854775808 event=resumed messages=1 paused_ns=1");
  note("timebase.event.2", "at_ns=1 event=resumed messages=1 paused_ns=9223372036854775807");
  static const int64_t times[] = {0, 1, INT64_MAX - 500, INT64_MAX - 1};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    scene->now_ns = times[i];
    take_point(scene->point, NOW, "laser");
    take_point(scene->odom, NOW, "base");
  }
  judge();
  assert_true(tb__findings_count(scene->findings) > 0);
}

static void test_all_topics_are_silent_for_a_second(void **state)
{
  (void)state;
  drive(50);
  scene->now_ns += 900 * MS;
  drive(50);
  assert_none();
}

static void test_topics_without_a_rate_are_not_silent(void **state)
{
  (void)state;
  for (int i = 0; i < 40; i++) {
    scene->now_ns += (i % 4 + 1) * S;
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
    take_point(scene->odom, scene->now_ns - 30 * MS, "base");
  }
  assert_none();
}

/* Two passes over `back` messages of each topic, in the order of their log times. */
static void drive_twice(int back)
{
  scene->place = 100;
  for (int i = 0; i < 50; i++) {
    if (i >= 50 - back) scene->place = 200 + (uint64_t)i;
    drive(1);
    if (i < 50 - back) continue;
    scene->now_ns += 10 * MS;
    scene->place = 100 + (uint64_t)i;
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
    take_point(scene->odom, scene->now_ns - 30 * MS, "base");
    scene->now_ns -= 10 * MS;
  }
  scene->place = 300;
  drive(10);
}

static void test_the_system_clock_is_set_back(void **state)
{
  (void)state;
  drive_twice(20);
  assert_evidence(assert_one("system-step", "log times"),
                  "back by 1.910 s at 1700000005.010, on 2 of 4 topics");
}

static void test_messages_that_were_written_a_little_out_of_order(void **state)
{
  (void)state;
  drive_twice(1);
  assert_none();
}

static void test_log_times_of_zero(void **state)
{
  (void)state;
  scene->now_ns = 0;
  take_point(scene->latched, NOW, "map");
  scene->now_ns = NOW;
  drive(20);
  assert_evidence(assert_one("log-time-range", "log times"), "1 of 101 are 0");
}

static void test_log_times_of_1970(void **state)
{
  (void)state;
  scene->now_ns = 0;
  scene->send_ns = UNKNOWN;
  for (int i = 0; i < 20; i++) {
    scene->now_ns += 100 * MS;
    take_point(scene->point, scene->now_ns - 20 * MS, "laser");
  }
  const tb__finding_subject_t *subject = assert_one("log-time-range", "log times");
  assert_evidence(subject, "from 0.100 to 2.000: of a host whose clock was not set");
  assert_int_equal(subject->severity, TB__SEVERITY_NOTE);
}

static void test_log_times_beyond_2038(void **state)
{
  (void)state;
  scene->now_ns = INT64_C(2147483647) * S - 2 * S;
  scene->send_ns = UNKNOWN;
  for (int i = 0; i < 21; i++) {
    scene->now_ns += 100 * MS;
    take_edge(scene->statics, NOW, "base", "laser");
  }
  assert_evidence(assert_one("log-time-range", "log times"), "up to 2147483647.100: after");
}

static void test_log_times_until_2038(void **state)
{
  (void)state;
  scene->now_ns = INT64_C(2147483647) * S - 2 * S;
  scene->send_ns = UNKNOWN;
  for (int i = 0; i < 20; i++) {
    scene->now_ns += 100 * MS;
    take_edge(scene->statics, NOW, "base", "laser");
  }
  assert_none();
}

/* --- with a manifest --- */

static void with_manifest(const char *text)
{
  static tb__problems_t problems;
  memset(&problems, 0, sizeof problems);
  tb__recording_fini(&scene->recording);
  tb_status_t status = tb__manifest_parse(text, strlen(text), &problems, &scene->manifest);
  if (status) fail_msg("%s", problems.items[0].text);
  scene->has_manifest = true;
  begin(&scene->manifest);
}

static void test_a_budget(void **state)
{
  (void)state;
  with_manifest(
      "timebase_manifest: 1\nmode: vehicle\nevidence: []\ntopics:\n  /other:\n    budget: 29ms\n");
  drive(100);
  assert_evidence(assert_one("stamp-old", "/other"), "the budget is 29.0 ms");
}

static void test_a_budget_that_is_met(void **state)
{
  (void)state;
  with_manifest(
      "timebase_manifest: 1\nmode: vehicle\nevidence: []\ntopics:\n  /other:\n    budget: 31ms\n");
  drive(100);
  assert_none();
}

static void test_a_declared_rate(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: vehicle\nevidence: []\ntopics:\n"
                "  /point: {rate: 11}\n  /other: {rate: 11.2}\n  /map: {rate: 5}\n");
  drive(100);
  const tb__finding_subject_t *subject = assert_one("topic-rate", "/other");
  assert_evidence(subject, "10 Hz, declared are 11.2 Hz");
  assert_int_equal(subject->severity, TB__SEVERITY_WARN);
}

static void test_a_rate_far_from_the_declared_one(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: vehicle\nevidence: []\ntopics:\n"
                "  /point: {rate: 25}\n");
  drive(100);
  assert_int_equal(assert_one("topic-rate", "/point")->severity, TB__SEVERITY_ERROR);
}

static void test_a_declared_rate_is_in_ros_time(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: simulation\nevidence: []\ntopics:\n"
                "  /point: {rate: 100}\n");
  simulate(300); /* at half of real time */
  assert_none();
}

static void test_declared_evidence(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: vehicle\nevidence: [/tf, /map]\n");
  drive(100);
  assert_evidence(assert_one("missing-evidence", "/map"), "declares it as evidence");
}

static void test_evidence_by_default(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: vehicle\n");
  drive(100);
  judge();
  for (size_t i = 0; i < tb__findings_count(scene->findings); i++) {
    const tb__finding_t *finding = tb__findings_at(scene->findings, i);
    if (strcmp(finding->rule->id, "missing-evidence") != 0) continue;
    assert_evidence(&finding->subjects[0], "evidence of mode vehicle, as the manifest declares no");
    return;
  }
  fail_with_findings();
}

static void test_a_rule_that_is_off_for_a_topic(void **state)
{
  (void)state;
  with_manifest("timebase_manifest: 1\nmode: vehicle\nevidence: []\nrules_off:\n"
                "  stamp-zero: {reason: its driver has no clock, subjects: [/point]}\n");
  take_point(scene->point, 0, "laser");
  take_point(scene->odom, 0, "laser");
  drive(20);
  assert_one("stamp-zero", "/other");
}

/* --- bounds --- */

static void test_more_frames_than_there_is_room_for(void **state)
{
  (void)state;
  for (int i = 0; i < 3 * TB__RECORDING_FRAMES_MAX; i++) {
    char frame[32];
    snprintf(frame, sizeof frame, "frame_%d", i);
    scene->now_ns += MS;
    take_point(scene->point, scene->now_ns, frame);
  }
  assert_none();
  const tb__recorded_topic_t *topic = &scene->recording.topics[scene->point];
  assert_int_equal(topic->frame_count, TB__RECORDING_FRAMES_MAX);
  assert_int_equal(topic->rest->stamps.arrivals, 2 * TB__RECORDING_FRAMES_MAX);
  assert_null(tb__recorded_stream_frame(&scene->recording, topic->rest));
}

static void test_more_topics_than_are_judged(void **state)
{
  (void)state;
  uint32_t number = 0;
  while (number < TB__RECORDING_TOPICS_MAX) {
    char name[32];
    snprintf(name, sizeof name, "/topic_%u", number);
    number = add_topic(name, "geometry_msgs/msg/PointStamped", false, 1);
  }
  take_point(number, 0, "a");
  assert_none();
  assert_int_equal(scene->recording.topics[number].messages, 1);
  assert_null(scene->recording.topics[number].first);
  assert_null(scene->recording.topics[number].travel);
  take_point(number - 1, 0, "a");
  tb__findings_destroy(scene->findings);
  assert_one("stamp-zero", "/topic_4094");
}

static void test_random_messages(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  for (int i = 0; i < 20000; i++) {
    tb__test_cdr_t cdr;
    tb__test_cdr_edge(&cdr, 0, "parent", "child");
    for (int k = 0; k < 4; k++)
      cdr.bytes[test_random(&seed) % cdr.size] = (uint8_t)test_random(&seed);
    tb__recorded_message_t message = {
        .topic = (uint32_t)(test_random(&seed) % 8),
        .log_ns = (int64_t)(test_random(&seed) >> (1 + test_random(&seed) % 63)),
        .publish_ns = (int64_t)test_random(&seed) >> (test_random(&seed) % 64),
        .data = cdr.bytes,
        .size = test_random(&seed) % cdr.size};
    tb_status_t status = tb__recording_take(&scene->recording, &message);
    assert_true(status == TB_OK || (status == TB_ERR_INVALID && message.topic == 7));
  }
  judge();
}

#define SCENARIO(function) cmocka_unit_test_setup_teardown(function, start, stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SCENARIO(test_an_empty_recording),
      SCENARIO(test_a_healthy_vehicle),
      SCENARIO(test_a_healthy_vehicle_without_publish_times),
      SCENARIO(test_a_healthy_simulation),
      SCENARIO(test_a_healthy_simulation_logged_in_ros_time),
      SCENARIO(test_a_simulation_logged_in_ros_time_without_publish_times),
      SCENARIO(test_latched_messages_are_as_old_as_they_are),
      SCENARIO(test_ros_time_declared_by_the_recorder),
      SCENARIO(test_losses_that_the_recorder_noted),
      SCENARIO(test_losses_of_recordings_that_were_merged),
      SCENARIO(test_a_pause_in_the_recording),
      SCENARIO(test_a_pause_before_the_recording),
      SCENARIO(test_a_recorder_whose_clock_was_not_synchronized),
      SCENARIO(test_a_recorder_in_ros_time_whose_clock_was_not_synchronized),
      SCENARIO(test_a_recorder_that_was_not_synchronized_with_other_hosts),
      SCENARIO(test_log_times_that_the_recorder_noted),
      SCENARIO(test_log_times_by_the_points_of_the_recorder),
      SCENARIO(test_received_log_times_by_the_points_of_the_recorder),
      SCENARIO(test_zero_stamps),
      SCENARIO(test_zero_for_now),
      SCENARIO(test_zero_stamps_before_the_clock_began),
      SCENARIO(test_the_first_nanosecond_is_not_zero),
      SCENARIO(test_stamps_with_a_second_of_nanoseconds),
      SCENARIO(test_transforms_with_a_second_of_nanoseconds),
      SCENARIO(test_stamps_below_zero),
      SCENARIO(test_stamps_with_a_nanosecond_less_than_a_second),
      SCENARIO(test_one_topic_on_wall_time_in_a_simulation),
      SCENARIO(test_stamps_of_no_known_time),
      SCENARIO(test_stamps_in_the_future),
      SCENARIO(test_stamps_far_in_the_future),
      SCENARIO(test_stamps_a_little_in_the_future),
      SCENARIO(test_a_few_stamps_of_many_in_the_future),
      SCENARIO(test_more_of_many_far_in_the_future),
      SCENARIO(test_disorder_on_a_busy_machine),
      SCENARIO(test_too_much_disorder),
      SCENARIO(test_in_simulated_time_a_stamp_may_be_a_tick_ahead),
      SCENARIO(test_clocks_of_hosts_that_are_apart),
      SCENARIO(test_clocks_of_hosts_that_are_near),
      SCENARIO(test_old_stamps),
      SCENARIO(test_stamps_of_the_greatest_age),
      SCENARIO(test_stamps_that_are_always_as_far_behind),
      SCENARIO(test_stamps_that_fall_further_behind),
      SCENARIO(test_backward_stamps),
      SCENARIO(test_equal_stamps_and_other_frames_are_not_backward),
      SCENARIO(test_stamps_that_repeat),
      SCENARIO(test_a_few_stamps_that_repeat),
      SCENARIO(test_messages_of_one_moment_have_one_stamp),
      SCENARIO(test_stamps_of_whole_seconds),
      SCENARIO(test_stamps_of_whole_milliseconds),
      SCENARIO(test_stamps_of_tai),
      SCENARIO(test_stamps_of_gps),
      SCENARIO(test_stamps_of_a_time_zone),
      SCENARIO(test_stamps_that_are_always_as_far_ahead),
      SCENARIO(test_stamps_that_are_not_always_as_far_ahead),
      SCENARIO(test_several_publishers_are_not_in_order),
      SCENARIO(test_sensor_stamps_made_on_reception),
      SCENARIO(test_sensor_stamps_of_acquisition),
      SCENARIO(test_a_jump_back),
      SCENARIO(test_a_late_tick_is_no_jump),
      SCENARIO(test_samples_of_the_time_before_a_jump),
      SCENARIO(test_a_gap),
      SCENARIO(test_a_jump_forward),
      SCENARIO(test_a_small_gap),
      SCENARIO(test_a_stall),
      SCENARIO(test_a_stall_at_the_end),
      SCENARIO(test_a_pause),
      SCENARIO(test_two_streams_of_clock),
      SCENARIO(test_two_publishers_of_clock),
      SCENARIO(test_a_clock_that_ticks_zero),
      SCENARIO(test_ticks_that_are_no_time),
      SCENARIO(test_only_ticks_that_are_no_time),
      SCENARIO(test_a_simulation_may_begin_at_zero),
      SCENARIO(test_a_transform_that_is_late),
      SCENARIO(test_a_transform_that_stops),
      SCENARIO(test_a_transform_that_is_a_little_late),
      SCENARIO(test_transforms_begin_again_after_a_jump),
      SCENARIO(test_two_publishers_of_a_transform),
      SCENARIO(test_one_transform_out_of_order),
      SCENARIO(test_two_parents_of_a_frame),
      SCENARIO(test_robots_have_trees_of_their_own),
      SCENARIO(test_a_transform_that_stops_in_one_of_two_trees),
      SCENARIO(test_namespaces_without_transforms_share_a_tree),
      SCENARIO(test_a_frame_that_gets_another_parent_once),
      SCENARIO(test_simulated_time_without_a_clock),
      SCENARIO(test_messages_that_are_not_of_their_definition),
      SCENARIO(test_a_recorded_definition_that_does_not_fit),
      SCENARIO(test_a_definition_that_fits_no_message),
      SCENARIO(test_a_definition_of_the_other_generation_is_not_used),
      SCENARIO(test_a_type_without_any_definition_is_listed_only),
      SCENARIO(test_sentences_in_the_log),
      SCENARIO(test_the_log_of_a_host_whose_clock_is_behind),
      SCENARIO(test_log_messages_that_were_kept_for_later),
      SCENARIO(test_a_log_without_such_sentences),
      SCENARIO(test_a_log_message_that_is_cut),
      SCENARIO(test_sentences_below_the_jump_that_explains_them),
      SCENARIO(test_runs_that_begin_again),
      SCENARIO(test_a_topic_of_two_types),
      SCENARIO(test_the_system_clock_is_set_forward),
      SCENARIO(test_all_topics_are_silent),
      SCENARIO(test_times_at_the_ends_of_what_there_is),
      SCENARIO(test_all_topics_are_silent_for_a_second),
      SCENARIO(test_topics_without_a_rate_are_not_silent),
      SCENARIO(test_the_system_clock_is_set_back),
      SCENARIO(test_messages_that_were_written_a_little_out_of_order),
      SCENARIO(test_log_times_of_zero),
      SCENARIO(test_log_times_of_1970),
      SCENARIO(test_log_times_beyond_2038),
      SCENARIO(test_log_times_until_2038),
      SCENARIO(test_a_budget),
      SCENARIO(test_a_budget_that_is_met),
      SCENARIO(test_a_declared_rate),
      SCENARIO(test_a_rate_far_from_the_declared_one),
      SCENARIO(test_a_declared_rate_is_in_ros_time),
      SCENARIO(test_declared_evidence),
      SCENARIO(test_evidence_by_default),
      SCENARIO(test_a_rule_that_is_off_for_a_topic),
      SCENARIO(test_more_frames_than_there_is_room_for),
      SCENARIO(test_more_topics_than_are_judged),
      SCENARIO(test_random_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

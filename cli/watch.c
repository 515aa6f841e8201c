#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/ros2_clock_source.h>

#include "clock_gauge.h"
#include "clocks.h"
#include "manifest_clock.h"
#include "ros1_clock.h"
#include "text.h"

enum {
  OPTION_JSON = 256,
  OPTION_DURATION,
  OPTION_DOMAIN,
  OPTION_TOPIC,
  OPTION_PUBLISHERS,
  OPTION_MAX_ERROR,
  OPTION_MANIFEST,
  OPTION_ROS1
};

#define JUDGE_NS (5 * TB_NS_PER_S) /* between looks at a graph of ROS 1 */

#define WRITERS_DEFAULT 64
#define WRITERS_MAX     4096

typedef struct watch {
  const command_t *command;
  bool json, ros1;
  int domain;
  const char *topic;      /* NULL: /clock */
  tb_duration_t duration; /* 0: until interrupted */
  int writers_max;        /* as many publishers are distinguished */
  int64_t max_error_ns;   /* 0: nothing is demanded */
  const char *manifest;   /* NULL: none */
  ros_clock_t ros;
  clock_gauge_t second, total; /* fed with the samples of `ros` */
  tb_steady_clock_t *steady;
  uint64_t rules;   /* of ROS 1: what was found at the last look */
  int64_t judge_ns; /* steady: when the next one is due */
} watch_t;

/* The state at one moment. */
typedef struct snapshot {
  tb_steady_time_t when;
  tb_clock_reading_t reading;
  tb_timeline_stats_t stats;
  ros_clock_facts_t source;
  tb_ros2_clock_writer_t writers[WRITERS_MAX]; /* those that ticked last first */
  uint32_t writer_count;
} snapshot_t;

static void snapshot_take(const watch_t *watch, snapshot_t *out)
{
  out->writer_count = 0;
  tb_now(watch->steady, &out->when);
  tb_clock_read(watch->ros.clock, &out->reading);
  tb_timeline_stats(tb_source_timeline(watch->ros.source), &out->stats);
  out->source = ros_clock_facts(&watch->ros);
  if (!watch->ros1)
    tb_ros2_clock_source_writers(watch->ros.source, WRITERS_MAX, out->writers, &out->writer_count);
}

static uint64_t samples_of(const snapshot_t *snapshot, const uint8_t guid[16])
{
  for (uint32_t i = 0; i < snapshot->writer_count; i++)
    if (memcmp(snapshot->writers[i].guid, guid, 16) == 0) return snapshot->writers[i].samples;
  return 0;
}

/* The number of publishers that ticked between the two. */
static uint32_t active_between(const snapshot_t *from, const snapshot_t *to)
{
  uint32_t active = 0;
  for (uint32_t i = 0; i < to->writer_count; i++)
    active += to->writers[i].samples != samples_of(from, to->writers[i].guid);
  return active;
}

/* One line of the report: what happened between two moments. */
typedef struct report {
  double seconds, rate_hz, rtf;
  uint64_t ticks, jumps_forward, jumps_backward, dropped;
  uint32_t publishers;
  bool may_be_more; /* publishers than are distinguished */
  clock_error_t error;
  int64_t max_error_ns;
} report_t;

/* The seconds over which rates are computed: without those before the very first tick and, in the
 * summary, without those after the last. */
static double span_seconds(const snapshot_t *from, const snapshot_t *to, bool summary)
{
  int64_t begin_ns = from->when.ns, end_ns = to->when.ns;
  if (to->source.first_sample_ns > begin_ns) begin_ns = to->source.first_sample_ns;
  if (summary && to->source.last_sample_ns > begin_ns) end_ns = to->source.last_sample_ns;
  return (double)(end_ns - begin_ns) / (double)TB_NS_PER_S;
}

/* On a thread of DDS. */
static void on_sample(const tb_ros2_sample_t *sample, void *user)
{
  watch_t *watch = user;
  clock_gauge_feed(sample, &watch->second);
  clock_gauge_feed(sample, &watch->total);
}

static report_t report_between(watch_t *watch, const snapshot_t *from, const snapshot_t *to,
                               bool summary)
{
  report_t report = {
      .seconds = (double)(to->when.ns - from->when.ns) / (double)TB_NS_PER_S,
      .ticks = to->stats.ticks - from->stats.ticks,
      .jumps_forward = to->stats.jumps_forward - from->stats.jumps_forward,
      .jumps_backward = to->stats.jumps_backward - from->stats.jumps_backward,
      .dropped = to->stats.dropped - from->stats.dropped,
      .publishers = active_between(from, to),
  };
  report.error = clock_gauge_read(summary ? &watch->total : &watch->second).error;
  report.max_error_ns = watch->max_error_ns;
  if (watch->ros1)
    report.publishers = clock_gauge_publishers(summary ? &watch->total : &watch->second);
  clock_gauge_restart(&watch->second);
  report.may_be_more = report.publishers == (uint32_t)watch->writers_max;
  double advanced = (double)(to->stats.advanced.ns - from->stats.advanced.ns) / (double)TB_NS_PER_S;
  double span = span_seconds(from, to, summary);
  if (span > 0) {
    report.rate_hz = (double)report.ticks / span;
    report.rtf = advanced / span;
  }
  return report;
}

static const char *state_name(tb_clock_state_t state)
{
  static const char *const names[] = {
      "?",       "inactive", "no source", "no publisher", "QoS mismatch", "waiting",
      "running", "paused",   "stalled",   "lost",         "closed"};
  return (unsigned)state < sizeof names / sizeof *names ? names[state] : "?";
}

static void print_number(const char *key, double value)
{
  if (value > 0)
    text_out(", \"%s\": %.3f", key, value);
  else
    text_out(", \"%s\": null", key);
}

static void print_json_error(const report_t *report)
{
  const clock_error_t *error = &report->error;
  bool is_known = error->error_ns > 0;
  if (is_known)
    text_out(", \"error_ns\": %lld, \"error_latency_ns\": %lld, \"error_step_ns\": %lld",
             (long long)error->error_ns, (long long)error->latency_ns, (long long)error->step_ns);
  else
    text_out(", \"error_ns\": null, \"error_latency_ns\": null, \"error_step_ns\": null");
  if (!report->max_error_ns) return;
  text_out(", \"max_error_ns\": %lld", (long long)report->max_error_ns);
  print_number("rate_for_max_error_hz",
               is_known ? clock_error_rate(error, report->max_error_ns) : 0);
  print_number("rtf_for_max_error", clock_error_factor(error, report->max_error_ns));
}

static void print_json(const snapshot_t *now, const report_t *report, bool summary)
{
  text_out("{\"time_ns\": %lld, \"rate_hz\": %.3f, \"rtf\": %.6f, \"ticks\": %llu, "
           "\"jumps_forward\": %llu, \"jumps_backward\": %llu, \"publishers\": %u, "
           "\"matched\": %u, \"dropped\": %llu, \"largest_forward_ns\": %lld, "
           "\"largest_backward_ns\": %lld, \"state\": \"%s\", \"elapsed_s\": %.3f",
           (long long)now->reading.time.ns, report->rate_hz, report->rtf,
           (unsigned long long)report->ticks, (unsigned long long)report->jumps_forward,
           (unsigned long long)report->jumps_backward, report->publishers, now->source.matched,
           (unsigned long long)report->dropped, (long long)now->stats.largest_forward.ns,
           (long long)now->stats.largest_backward.ns, state_name(now->reading.state),
           report->seconds);
  print_json_error(report);
  text_out("%s}\n", summary ? ", \"summary\": true" : "");
}

/* The state comes early in the line; the line of one second fits into 80 columns. */
static void print_text(const snapshot_t *now, const report_t *report, bool summary)
{
  int64_t time_ns = now->reading.time.ns;
  text_out("%s", summary ? "total: " : "");
  if (now->stats.ticks == 0) {
    text_out("no time yet: %s\n", state_name(now->reading.state));
    return;
  }
  text_out("time %lld.%03d  %s  %.1f Hz  rtf %.3f", (long long)(time_ns / TB_NS_PER_S),
           (int)(time_ns % TB_NS_PER_S / TB_NS_PER_MS), state_name(now->reading.state),
           report->rate_hz, report->rtf);
  if (summary) text_out("  ticks %llu", (unsigned long long)report->ticks);
  text_out("  jumps +%llu -%llu", (unsigned long long)report->jumps_forward,
           (unsigned long long)report->jumps_backward);
  if (report->jumps_forward)
    text_out("  largest forward %+.3f s",
             (double)now->stats.largest_forward.ns / (double)TB_NS_PER_S);
  if (report->jumps_backward)
    text_out("  largest backward %+.3f s",
             (double)now->stats.largest_backward.ns / (double)TB_NS_PER_S);
  text_out("  publishers %u%s", report->publishers, report->may_be_more ? " or more" : "");
  if (report->publishers != now->source.matched) text_out(" (matched %u)", now->source.matched);
  if (!summary && report->max_error_ns && report->error.error_ns)
    text_out("  error %.1f ms", (double)report->error.error_ns / (double)TB_NS_PER_MS);
  text_out("\n");
  if (!summary || !report->error.error_ns) return;
  clock_error_print(&report->error, report->max_error_ns);
  text_out("\n");
}

/* False: standard output was closed. */
static bool print_report(watch_t *watch, const snapshot_t *from, const snapshot_t *to, bool summary)
{
  report_t report = report_between(watch, from, to, summary);
  if (watch->json)
    print_json(to, &report, summary);
  else
    print_text(to, &report, summary);
  return command_flush();
}

/* Waits until `deadline_ns` of steady time. False: a signal came first. */
static bool wait_until(const watch_t *watch, int64_t deadline_ns)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  for (;;) {
    tb_steady_time_t now;
    tb_now(watch->steady, &now);
    if (now.ns >= deadline_ns) return true;
    int64_t left_ms = (deadline_ns - now.ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS;
    if (poll(&fd, 1, (int)left_ms) > 0) return false;
  }
}

/* Prints what has come to be wrong with a graph of ROS 1. */
static void judge_graph(watch_t *watch, int64_t now_ns)
{
  if (!watch->ros1 || now_ns < watch->judge_ns) return;
  watch->judge_ns = now_ns + JUDGE_NS;
  ros1_clock_judge(watch->command, &watch->ros, &watch->total, &watch->rules, false);
}

/* Whether the error of the whole run is as demanded. */
static bool is_within(watch_t *watch)
{
  int64_t error_ns = clock_gauge_read(&watch->total).error.error_ns;
  return !watch->max_error_ns || (error_ns > 0 && error_ns <= watch->max_error_ns);
}

static int watch_run(watch_t *watch)
{
  static snapshot_t first, last, now; /* large */
  bool is_over = false;
  snapshot_take(watch, &first);
  last = first;
  int64_t end_ns = INT64_MAX;
  if (watch->duration.ns && watch->duration.ns < INT64_MAX - first.when.ns)
    end_ns = first.when.ns + watch->duration.ns;
  for (int64_t next_ns = first.when.ns + TB_NS_PER_S;; next_ns += TB_NS_PER_S) {
    bool last_round = next_ns > end_ns;
    bool is_signalled = !wait_until(watch, last_round ? end_ns : next_ns);
    is_over = last_round && !is_signalled;
    if (last_round || is_signalled) break;
    snapshot_take(watch, &now);
    if (!print_report(watch, &last, &now, false)) return EXIT_OK;
    if (now.stats.ticks == 0) ros_clock_explain(watch->command, &watch->ros);
    judge_graph(watch, now.when.ns);
    last = now;
    next_ns += (now.when.ns - next_ns) / TB_NS_PER_S * TB_NS_PER_S; /* stopped, as by Ctrl-Z */
  }
  snapshot_take(watch, &now);
  print_report(watch, &first, &now, true);
  if (now.stats.ticks > 0) return is_within(watch) ? EXIT_OK : EXIT_CHECK;
  if (is_over) return ros_clock_timed_out(watch->command, &watch->ros, watch->duration);
  ros_clock_explain(watch->command, &watch->ros);
  return EXIT_OK;
}

static int watch_open_ros1(watch_t *watch)
{
  const command_t *command = watch->command;
  const char *topic = watch->topic ? watch->topic : "/clock";
  int result = clock_gauge_begin(command, &watch->second);
  if (!result) result = clock_gauge_begin(command, &watch->total);
  watch->total.also = &watch->second;
  if (!result) result = ros1_clock_open(command, topic, &watch->total, &watch->ros);
  if (!result) result = ros1_require_master(command, watch->ros.ros1);
  tb_status_t status = result ? TB_OK : tb_steady_clock_create(&watch->steady);
  return status ? command_failed(command, status, NULL) : result;
}

static int watch_open(watch_t *watch)
{
  static manifest_clock_t declared; /* its topic is used until the end */
  const command_t *command = watch->command;
  tb_ros2_clock_source_options_t source = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  int result = watch->manifest ? manifest_clock_read(command, watch->manifest, &declared) : EXIT_OK;
  if (result) return result;
  if (watch->manifest && !watch->topic) watch->topic = declared.topic;
  if (watch->ros1) return watch_open_ros1(watch);
  if (!watch->max_error_ns) watch->max_error_ns = declared.max_error_ns;
  source.topic = watch->topic;
  source.writers_max = (uint32_t)watch->writers_max;
  source.observer = on_sample;
  source.observer_user = watch;
  result = clock_gauge_begin(command, &watch->second);
  if (!result) result = clock_gauge_begin(command, &watch->total);
  if (!result) result = topic_clock_open(command, watch->domain, &source, &watch->ros);
  tb_status_t status = result ? TB_OK : tb_steady_clock_create(&watch->steady);
  return status ? command_failed(command, status, NULL) : result;
}

static void watch_close(watch_t *watch)
{
  tb_steady_clock_destroy(watch->steady);
  ros_clock_close(&watch->ros);
  clock_gauge_close(&watch->second);
  clock_gauge_close(&watch->total);
}

/* False: a message has been printed. */
static bool parse(watch_t *watch, int option, char **argv)
{
  const command_t *command = watch->command;
  tb_duration_t allowed = {0};
  switch (option) {
  case OPTION_JSON:
    watch->json = true;
    return true;
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &watch->duration);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &watch->domain);
  case OPTION_TOPIC:
    watch->topic = optarg;
    return true;
  case OPTION_PUBLISHERS:
    return command_parse_int(command, "--publishers", optarg, 1, WRITERS_MAX, &watch->writers_max);
  case OPTION_MAX_ERROR:
    if (!command_parse_limit(command, "--max-error", optarg, &allowed)) return false;
    watch->max_error_ns = allowed.ns;
    return true;
  case OPTION_MANIFEST:
    watch->manifest = optarg;
    return true;
  case OPTION_ROS1:
    watch->ros1 = true;
    return true;
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"topic", required_argument, NULL, OPTION_TOPIC},
      {"publishers", required_argument, NULL, OPTION_PUBLISHERS},
      {"max-error", required_argument, NULL, OPTION_MAX_ERROR},
      {"manifest", required_argument, NULL, OPTION_MANIFEST},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  static watch_t watch; /* large */
  watch = (watch_t){.command = command, .domain = -1, .writers_max = WRITERS_DEFAULT};
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (!parse(&watch, option, argv)) return EXIT_USAGE;
  }
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  if (watch.ros1 && ros1_refuse_options(command, watch.domain, watch.max_error_ns))
    return EXIT_USAGE;
  command_show_log(command);
  command_catch_signals();
  int result = watch_open(&watch);
  if (!result) result = watch_run(&watch);
  watch_close(&watch);
  return command_finish(command, result);
}

const command_t command_watch = {
    .name = "watch",
    .summary = "follow /clock and report on it",
    .usage = "timebase watch [--json] [--duration S] [--topic T] [--domain N]\n"
             "                      [--publishers N] [--max-error D] [--manifest FILE] [--ros1]",
    .help =
        "Follows /clock and prints, once a second and for the whole run at the end: the latest\n"
        "time, its state, ticks per second, real-time factor (ROS seconds per second, without\n"
        "jumps), jumps forward and backward with the largest of the run, and the number of\n"
        "publishers that ticked. Rates count from the first tick, in the summary up to the last.\n"
        "The last line, and each line of JSON, has how wrong a time is at most that is read from\n"
        "/clock: factor x p99.9 of the latency of its ticks + the longest tick.\n"
        "A forward step is a jump if it exceeds 1 s and is not explained by the passing of "
        "time.\n\n"
        "  --json          one object per line; the last one has \"summary\": true\n"
        "  --duration S    end after S (10, 1.5s, 2m); otherwise on SIGINT or SIGTERM\n"
        "  --topic T       follow T instead of /clock\n"
        "  --domain N      DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --publishers N  distinguish at most N publishers, 1 to 4096 (default 64): those that\n"
        "                  ticked last\n"
        "  --max-error D   print that error each second, and the rate or the factor at which it\n"
        "                  would be D; status 1 if it is more, or unknown, over the whole run\n"
        "  --manifest FILE  topic and max_error as a manifest declares them\n"
        "  --ros1          follow /clock of the ROS 1 graph of ROS_MASTER_URI, whatever\n"
        "                  /use_sim_time is. What is wrong with that graph's time is printed, "
        "once,\n"
        "                  in a line: see timebase audit --ros1. The error of time is not known\n"
        "                  there: messages of ROS 1 do not carry when they were sent\n"
        "  -h, --help      this text\n\n"
        "Status 1 if no time was received within --duration; 3 if the ROS 1 master does not\n"
        "answer.\n",
    .run = run,
};

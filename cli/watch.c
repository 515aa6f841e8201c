#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/ros2_clock_source.h>

#include "clocks.h"
#include "text.h"

enum { OPTION_JSON = 256, OPTION_DURATION, OPTION_DOMAIN, OPTION_TOPIC, OPTION_PUBLISHERS };

#define WRITERS_DEFAULT 64
#define WRITERS_MAX     4096

typedef struct watch {
  const command_t *command;
  bool json;
  int domain;
  const char *topic;      /* NULL: /clock */
  tb_duration_t duration; /* 0: until interrupted */
  int writers_max;        /* as many publishers are distinguished */
  ros_clock_t ros;
  tb_steady_clock_t *steady;
} watch_t;

/* The state at one moment. */
typedef struct snapshot {
  tb_steady_time_t when;
  tb_clock_reading_t reading;
  tb_timeline_stats_t stats;
  tb_ros2_clock_source_status_t source;
  tb_ros2_clock_writer_t writers[WRITERS_MAX]; /* those that ticked last first */
  uint32_t writer_count;
} snapshot_t;

static void snapshot_take(const watch_t *watch, snapshot_t *out)
{
  out->writer_count = 0;
  tb_now(watch->steady, &out->when);
  tb_clock_read(watch->ros.clock, &out->reading);
  tb_timeline_stats(tb_source_timeline(watch->ros.source), &out->stats);
  tb_ros2_clock_source_status(watch->ros.source, &out->source);
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

static report_t report_between(const watch_t *watch, const snapshot_t *from, const snapshot_t *to,
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

static void print_json(const snapshot_t *now, const report_t *report, bool summary)
{
  text_out("{\"time_ns\": %lld, \"rate_hz\": %.3f, \"rtf\": %.6f, \"ticks\": %llu, "
           "\"jumps_forward\": %llu, \"jumps_backward\": %llu, \"publishers\": %u, "
           "\"matched\": %u, \"dropped\": %llu, \"largest_forward_ns\": %lld, "
           "\"largest_backward_ns\": %lld, \"state\": \"%s\", \"elapsed_s\": %.3f%s}\n",
           (long long)now->reading.time.ns, report->rate_hz, report->rtf,
           (unsigned long long)report->ticks, (unsigned long long)report->jumps_forward,
           (unsigned long long)report->jumps_backward, report->publishers, now->source.matched,
           (unsigned long long)report->dropped, (long long)now->stats.largest_forward.ns,
           (long long)now->stats.largest_backward.ns, state_name(now->reading.state),
           report->seconds, summary ? ", \"summary\": true" : "");
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
  text_out("\n");
}

/* False: standard output was closed. */
static bool print_report(const watch_t *watch, const snapshot_t *from, const snapshot_t *to,
                         bool summary)
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
    last = now;
    next_ns += (now.when.ns - next_ns) / TB_NS_PER_S * TB_NS_PER_S; /* stopped, as by Ctrl-Z */
  }
  snapshot_take(watch, &now);
  print_report(watch, &first, &now, true);
  if (now.stats.ticks > 0) return EXIT_OK;
  if (is_over) return ros_clock_timed_out(watch->command, &watch->ros, watch->duration);
  ros_clock_explain(watch->command, &watch->ros);
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"topic", required_argument, NULL, OPTION_TOPIC},
      {"publishers", required_argument, NULL, OPTION_PUBLISHERS},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  watch_t watch = {.command = command, .domain = -1, .writers_max = WRITERS_DEFAULT};
  int option;
  while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    switch (option) {
    case OPTION_JSON:
      watch.json = true;
      break;
    case OPTION_DURATION:
      if (!command_parse_limit(command, "--duration", optarg, &watch.duration)) return EXIT_USAGE;
      break;
    case OPTION_DOMAIN:
      if (!command_parse_domain(command, optarg, &watch.domain)) return EXIT_USAGE;
      break;
    case OPTION_TOPIC:
      watch.topic = optarg;
      break;
    case OPTION_PUBLISHERS:
      if (!command_parse_int(command, "--publishers", optarg, 1, WRITERS_MAX, &watch.writers_max))
        return EXIT_USAGE;
      break;
    case 'h':
      return command_help(command);
    default:
      return command_bad_option(command, option, argv);
    }
  }
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  command_show_log(command);
  command_catch_signals();
  int result =
      topic_clock_open(command, watch.domain, watch.topic, (uint32_t)watch.writers_max, &watch.ros);
  tb_status_t status = result ? TB_OK : tb_steady_clock_create(&watch.steady);
  if (status) result = command_failed(command, status, NULL);
  if (!result) result = watch_run(&watch);
  tb_steady_clock_destroy(watch.steady);
  ros_clock_close(&watch.ros);
  return command_finish(command, result);
}

const command_t command_watch = {
    .name = "watch",
    .summary = "follow /clock and report on it",
    .usage = "timebase watch [--json] [--duration S] [--topic T] [--domain N]\n"
             "                      [--publishers N]",
    .help =
        "Follows /clock and prints, once a second and for the whole run at the end: the latest\n"
        "time, its state, ticks per second, real-time factor (ROS seconds per second, without\n"
        "jumps), jumps forward and backward with the largest of the run, and the number of\n"
        "publishers that ticked. Rates count from the first tick, in the summary up to the last.\n"
        "A forward step is a jump if it exceeds 1 s and is not explained by the passing of "
        "time.\n\n"
        "  --json          one object per line; the last one has \"summary\": true\n"
        "  --duration S    end after S (10, 1.5s, 2m); otherwise on SIGINT or SIGTERM\n"
        "  --topic T       follow T instead of /clock\n"
        "  --domain N      DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --publishers N  distinguish at most N publishers, 1 to 4096 (default 64): those that\n"
        "                  ticked last\n"
        "  -h, --help      this text\n\n"
        "Status 1 if no time was received within --duration.\n",
    .run = run,
};

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe.h"
#include "observe_arguments.h"
#include "observe_diagnostics.h"
#include "observe_metrics.h"
#include "text.h"

enum {
  OPTION_JSON = 256,
  OPTION_DURATION,
  OPTION_HTTP,
  OPTION_DIAGNOSTICS,
};

#define HELP_SHOWN (-1)

typedef struct arguments {
  bool json;
  bool has_diagnostics;
  int http_port; /* -1: not served */
  observe_metrics_t *metrics;
  observe_diagnostics_t *diagnostics;
  tb_duration_t duration; /* 0: until interrupted */
  observe_arguments_t shared;
  observe_t observe;
} arguments_t;

/* --- the run --- */

/* Until `deadline_ns` of steady time. False: a signal came first. */
static bool wait_until(const observe_t *observe, int64_t deadline_ns)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  for (;;) {
    int64_t left_ns = deadline_ns - observe_steady_now(observe);
    if (left_ns <= 0) return true;
    if (poll(&fd, 1, (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS)) > 0) return false;
  }
}

/* Once a second. False: standard output was closed. */
static bool show(observe_t *observe, const arguments_t *arguments, bool is_summary)
{
  observe_view_t view = {observe_steady_now(observe), is_summary};
  bool is_screen = isatty(STDOUT_FILENO), is_good = true;
  if (arguments->json) {
    is_good = observe_print_json(observe, &view);
  } else if (is_screen || is_summary) {
    if (is_screen) text_out("\033[H\033[J");
    observe_print(stdout, observe, &view);
  }
  observe->shown_ns = view.steady_ns;
  return command_flush() && is_good;
}

/* What is to be reported by the exit status. */
static int verdict(observe_t *observe, const arguments_t *arguments)
{
  int result = EXIT_OK;
  uint64_t messages = 0;
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    messages += topic->messages;
    pthread_mutex_unlock(&topic->lock);
  }
  if (messages == 0 && arguments->duration.ns > 0) {
    text_err("timebase %s: no message was received\n", observe->command->name);
    result = EXIT_CHECK;
  }
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    const observe_path_t *path = &observe->paths[i];
    if (!path->from || path->is_candidate) continue;
    tb__path_state_t state = path->is.state; /* which only this thread writes */
    if (state != TB__PATH_HOLDS && state != TB__PATH_UNKNOWN) result = EXIT_CHECK;
  }
  return result;
}

static int observe_run(observe_t *observe, const arguments_t *arguments)
{
  int64_t end_ns = INT64_MAX;
  if (arguments->duration.ns && arguments->duration.ns < INT64_MAX - observe->begin_ns)
    end_ns = observe->begin_ns + arguments->duration.ns;
  observe_pace_t pace = observe_pace_begin(observe);
  bool is_open = true;
  while (is_open && observe_steady_now(observe) < end_ns) {
    if (observe_keep_pace(observe, &pace)) {
      observe_metrics_update(arguments->metrics);
      observe_diagnostics_update(arguments->diagnostics);
      is_open = show(observe, arguments, false);
    }
    if (!wait_until(observe, pace.step_ns < end_ns ? pace.step_ns : end_ns)) break;
  }
  observe_end(observe);
  if (is_open) show(observe, arguments, true);
  return verdict(observe, arguments);
}

/* --- arguments --- */

static bool take_option(const command_t *command, int option, char **argv, arguments_t *arguments)
{
  switch (option) {
  case OPTION_JSON:
    arguments->json = true;
    return true;
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &arguments->duration);
  case OPTION_DIAGNOSTICS:
    arguments->has_diagnostics = true;
    return true;
  case OPTION_HTTP:
    return command_parse_int(command, "--http", optarg, 0, UINT16_MAX, &arguments->http_port);
  default:
    return observe_take_option(&arguments->shared, option, argv);
  }
}

static int take_arguments(const command_t *command, int argc, char **argv, arguments_t *arguments)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      OBSERVE_OPTIONS,
      {"http", required_argument, NULL, OPTION_HTTP},
      {"diagnostics", no_argument, NULL, OPTION_DIAGNOSTICS},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option;
  while ((option = command_next_option(argc, argv, ":h", options)) != -1) {
    if (option == 'h') return command_help(command) == EXIT_OK ? HELP_SHOWN : EXIT_IO;
    if (!take_option(command, option, argv, arguments)) return EXIT_USAGE;
  }
  return observe_take_topics(&arguments->shared, argc, argv);
}

static int observe_all(arguments_t *arguments)
{
  observe_t *observe = &arguments->observe;
  command_show_log(observe->command);
  command_catch_signals();
  int result = observe_arguments_open(&arguments->shared);
  if (!result && arguments->http_port >= 0)
    result = observe_metrics_open(&arguments->metrics, observe, arguments->http_port);
  if (!result && arguments->has_diagnostics)
    result = observe_diagnostics_open(&arguments->diagnostics, observe);
  if (!result) result = observe_run(observe, arguments);
  observe_diagnostics_close(arguments->diagnostics);
  observe_metrics_close(arguments->metrics);
  observe_close(observe);
  return command_finish(observe->command, result);
}

static int run(const command_t *command, int argc, char **argv)
{
  arguments_t arguments = {.http_port = -1, .observe = {.command = command}};
  int result = observe_arguments_init(&arguments.shared, &arguments.observe);
  if (result == EXIT_OK) result = take_arguments(command, argc, argv, &arguments);
  if (result == EXIT_OK) result = observe_all(&arguments);
  observe_arguments_fini(&arguments.shared);
  return result == HELP_SHOWN ? EXIT_OK : result;
}

const command_t command_observe = {
    .name = "observe",
    .summary = "measure ages, rates, gaps, losses and stamps of topics, from outside",
    .usage = "timebase observe [TOPIC...] [--json] [--duration S] [--path FROM:TO[:BUDGET]]...\n"
             "                        [--find-paths] [--definitions DIR]... [--max-topics N]\n"
             "                        [--http PORT] [--diagnostics] [--domain N]",
    .help =
        "Receives topics of other nodes with readers that are best effort and keep no history,\n"
        "looks at nothing but the header of each message, and publishes nothing but what\n"
        "--diagnostics asks for. On a terminal it shows a table once a second ('timebase top'\n"
        "shows more there), and otherwise one at the end. TOPIC is a name or a pattern with *\n"
        "and ? (they match '/' too); without one all topics are observed.\n\n"
        "Of each publisher of a topic:\n\n"
        "  HZ         messages a second; in the table at the end those of the whole run\n"
        "  AGE, p99   ROS time at reception minus header.stamp, in ms: median and 99th\n"
        "             percentile. ROS time is that of /clock, or system time where there is no\n"
        "             publisher of /clock. Zero stamps and those of other time have no age\n"
        "  TRAVEL     median of reception minus publishing, in ms, both in system time: between\n"
        "             hosts it has the difference of their clocks in it, which JSON has beside "
        "it:\n"
        "             host_offset_ms, of nodes that answer for their parameters, which are asked\n"
        "             eight times every 10 s\n"
        "  JITTER     deviation of the time between messages, in ms of steady time\n"
        "  MAX GAP    the longest of these times, in ms\n"
        "  MISSED     messages that were published and were not received here, by their sequence\n"
        "             numbers. This reader does not ask for them again: a reliable reader may "
        "have\n"
        "             received them\n"
        "  STAMPS     how many were zero, in the future, of system time while ROS time is\n"
        "             that of /clock, far off, of the time before a jump back, older than 5 s,\n"
        "             before the stamp before them, or equal to it\n"
        "  GAPS       how often no message came for more than 1 s and 5 periods\n\n"
        "A header is read by the definition of the type: that of a node that publishes it, of\n"
        "AMENT_PREFIX_PATH, of --definitions, or one that is built in. One that does not fit the\n"
        "first message is not used. Without any, size and rate are shown.\n\n"
        "  --json             one object per line and second; the last one has \"summary\": true\n"
        "  --duration S       end after S (10, 1.5s, 2m); otherwise on SIGINT or SIGTERM\n"
        "  --http PORT        serve the same as OpenMetrics at http://127.0.0.1:PORT/metrics, for\n"
        "                     Prometheus; 0: any port, which is printed. As of the last second;\n"
        "                     64 publishers have series of their own, the others one together\n"
        "  --diagnostics      publish the same on /diagnostics, once a second of steady time, as\n"
        "                     node /timebase_observe\n" OBSERVE_OPTIONS_HELP
        "With --json each object has \"elapsed_s\", \"clock\" (null: ROS time is system time;\n"
        "its \"state\" is running, paused or silent), \"topics\", each with \"type\",\n"
        "\"definition\", \"definition_note\" (why another one was not used), \"malformed\"\n"
        "(messages whose header could not be read) and \"publishers\", \"topics_left_out\", and\n"
        "\"paths\". Quantiles, ages and counts are those of the whole run, \"rate_hz\" is that\n"
        "since the object before (0 after a gap), or in the last one of the whole run. Of\n"
        "\"stamps\", \"none\" counts messages whose stamp was not read (no header, no\n"
        "definition so far), \"unjudged\" those before the first tick of /clock, or within the\n"
        "first second, in which a publisher of /clock may not have been found. One ahead of\n"
        "/clock is counted when /clock has reached it, within half a second. \"receipt_score\", 0\n"
        "to 1, is how much stamps look made on receipt: no evidence while there is /clock.\n\n"
        "Status 1 if no message was received within --duration, or if at the end a path has no\n"
        "output, does not keep up, drops inputs, or is over its budget.\n",
    .run = run,
};

#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe.h"
#include "observe_metrics.h"
#include "text.h"

enum {
  OPTION_JSON = 256,
  OPTION_DURATION,
  OPTION_DOMAIN,
  OPTION_DEFINITIONS,
  OPTION_MAX_TOPICS,
  OPTION_PATH,
  OPTION_FIND_PATHS,
  OPTION_HTTP,
};

#define HELP_SHOWN (-1)
#define STEP_NS    (100 * TB_NS_PER_MS)

typedef struct arguments {
  bool json;
  int domain, topics_max;
  int http_port; /* -1: not served */
  observe_metrics_t *metrics;
  tb_duration_t duration; /* 0: until interrupted */
  const char *filters[OBSERVE_FILTERS_MAX], *folders[OBSERVE_FOLDERS_MAX];
  size_t filter_count, folder_count;
  observe_t observe;
} arguments_t;

/* --- the run --- */

static int64_t steady_now(const observe_t *observe)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(observe->steady, &now);
  return now.ns;
}

/* Until `deadline_ns` of steady time. False: a signal came first. */
static bool wait_until(const observe_t *observe, int64_t deadline_ns)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  for (;;) {
    int64_t left_ns = deadline_ns - steady_now(observe);
    if (left_ns <= 0) return true;
    if (poll(&fd, 1, (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS)) > 0) return false;
  }
}

/* Once a second. False: standard output was closed. */
static bool show(observe_t *observe, const arguments_t *arguments, bool is_summary)
{
  observe_view_t view = {steady_now(observe), is_summary};
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
  int64_t begin_ns = observe->begin_ns, end_ns = INT64_MAX;
  if (arguments->duration.ns && arguments->duration.ns < INT64_MAX - begin_ns)
    end_ns = begin_ns + arguments->duration.ns;
  int64_t step_ns = begin_ns, next_ns = begin_ns + TB_NS_PER_S;
  bool is_open = true;
  observe->shown_ns = begin_ns;
  while (is_open && step_ns < end_ns) {
    observe_step(observe);
    step_ns += STEP_NS;
    if (!wait_until(observe, step_ns < end_ns ? step_ns : end_ns)) break;
    int64_t now_ns = steady_now(observe);
    if (now_ns > step_ns + TB_NS_PER_S) step_ns = now_ns; /* it was stopped, as by Ctrl-Z */
    if (now_ns < next_ns) continue;
    observe_end_second(observe);
    observe_metrics_update(arguments->metrics);
    is_open = show(observe, arguments, false);
    next_ns += (now_ns - next_ns) / TB_NS_PER_S * TB_NS_PER_S + TB_NS_PER_S;
  }
  if (is_open) show(observe, arguments, true);
  return verdict(observe, arguments);
}

/* --- arguments --- */

/* "FROM:TO[:BUDGET]". Names of ROS have no ':'. */
static bool take_path(arguments_t *arguments, const char *text)
{
  observe_t *observe = &arguments->observe;
  const command_t *command = observe->command;
  const char *colon = strchr(text, ':');
  size_t to_length = colon ? strcspn(colon + 1, ":") : 0;
  tb_duration_t budget = {0};
  if (!colon || colon == text || to_length == 0) {
    command_usage_error(command, "--path: '%s': expected FROM:TO or FROM:TO:BUDGET", text);
    return false;
  }
  if (colon[1 + to_length] &&
      !command_parse_limit(command, "--path", colon + 2 + to_length, &budget))
    return false;
  if (observe->paths[OBSERVE_PATHS_MAX - 1].from) {
    command_usage_error(command, "--path: more than %d", OBSERVE_PATHS_MAX);
    return false;
  }
  if (observe_add_path(observe, observe_full_name(text, (size_t)(colon - text)),
                       observe_full_name(colon + 1, to_length), budget.ns, false))
    return true;
  command_failed(command, TB_ERR_NO_MEMORY, NULL);
  return false;
}

static bool take_option(const command_t *command, int option, char **argv, arguments_t *arguments)
{
  switch (option) {
  case OPTION_JSON:
    arguments->json = true;
    return true;
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &arguments->duration);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->domain);
  case OPTION_MAX_TOPICS:
    return command_parse_int(command, "--max-topics", optarg, 1, OBSERVE_TOPICS_MAX,
                             &arguments->topics_max);
  case OPTION_HTTP:
    return command_parse_int(command, "--http", optarg, 0, UINT16_MAX, &arguments->http_port);
  case OPTION_PATH:
    return take_path(arguments, optarg);
  case OPTION_FIND_PATHS:
    arguments->observe.finds_paths = true;
    return true;
  case OPTION_DEFINITIONS:
    if (arguments->folder_count == OBSERVE_FOLDERS_MAX) {
      command_usage_error(command, "--definitions: more than %d", OBSERVE_FOLDERS_MAX);
      return false;
    }
    if (access(optarg, R_OK | X_OK) != 0) {
      command_usage_error(command, "--definitions: cannot read the folder '%s'", optarg);
      return false;
    }
    arguments->folders[arguments->folder_count++] = optarg;
    return true;
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

static int take_arguments(const command_t *command, int argc, char **argv, arguments_t *arguments)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"definitions", required_argument, NULL, OPTION_DEFINITIONS},
      {"max-topics", required_argument, NULL, OPTION_MAX_TOPICS},
      {"path", required_argument, NULL, OPTION_PATH},
      {"find-paths", no_argument, NULL, OPTION_FIND_PATHS},
      {"http", required_argument, NULL, OPTION_HTTP},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option;
  while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (option == 'h') return command_help(command) == EXIT_OK ? HELP_SHOWN : EXIT_IO;
    if (!take_option(command, option, argv, arguments)) return EXIT_USAGE;
  }
  for (; optind < argc; optind++) {
    if (arguments->filter_count == OBSERVE_FILTERS_MAX)
      return command_usage_error(command, "more than %d topics", OBSERVE_FILTERS_MAX);
    if (argv[optind][0] == '\0') return command_usage_error(command, "an empty topic");
    arguments->filters[arguments->filter_count++] = argv[optind];
  }
  return EXIT_OK;
}

static int observe_all(arguments_t *arguments)
{
  observe_t *observe = &arguments->observe;
  command_show_log(observe->command);
  command_catch_signals();
  observe->filters = arguments->filters;
  observe->filter_count = arguments->filter_count;
  observe->topics_max = (size_t)arguments->topics_max;
  int result =
      observe_open(observe, arguments->domain, arguments->folders, arguments->folder_count);
  if (!result && arguments->http_port >= 0)
    result = observe_metrics_open(&arguments->metrics, observe, arguments->http_port);
  if (!result) result = observe_run(observe, arguments);
  observe_metrics_close(arguments->metrics);
  observe_close(observe);
  return command_finish(observe->command, result);
}

static int run(const command_t *command, int argc, char **argv)
{
  arguments_t arguments = {.domain = -1,
                           .http_port = -1,
                           .topics_max = OBSERVE_TOPICS_DEFAULT,
                           .observe = {.command = command}};
  observe_t *observe = &arguments.observe;
  observe->paths = calloc(OBSERVE_PATHS_MAX, sizeof *observe->paths);
  if (!observe->paths) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    pthread_mutex_init(&observe->paths[i].lock, NULL);
  int result = take_arguments(command, argc, argv, &arguments);
  if (result == EXIT_OK) result = observe_all(&arguments);
  observe_close_paths(observe);
  return result == HELP_SHOWN ? EXIT_OK : result;
}

const command_t command_observe = {
    .name = "observe",
    .summary = "measure ages, rates, gaps, losses and stamps of topics, from outside",
    .usage = "timebase observe [TOPIC...] [--json] [--duration S] [--path FROM:TO[:BUDGET]]...\n"
             "                        [--find-paths] [--definitions DIR]... [--max-topics N]\n"
             "                        [--http PORT] [--domain N]",
    .help =
        "Receives topics of other nodes with readers that are best effort and keep no history,\n"
        "looks at nothing but the header of each message, and publishes nothing. On a terminal\n"
        "it shows a table once a second, and otherwise one at the end. TOPIC is a name or a\n"
        "pattern with * and ? (they match '/' too); without one all topics are observed.\n\n"
        "Of each publisher of a topic:\n\n"
        "  HZ         messages a second; in the table at the end those of the whole run\n"
        "  AGE, p99   ROS time at reception minus header.stamp, in ms: median and 99th\n"
        "             percentile. ROS time is that of /clock, or system time where there is no\n"
        "             publisher of /clock. Zero stamps and those of other time have no age\n"
        "  TRAVEL     median of reception minus publishing, in ms, both in system time: between\n"
        "             hosts it has the difference of their clocks in it\n"
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
        "  --path FROM:TO[:BUDGET]\n"
        "                     the latency from messages of FROM to those of TO that repeat their\n"
        "                     header.stamp, in steady and in ROS time. Observes the two topics.\n"
        "                     \"cannot keep up\" if it grows in steady time; \"drops inputs\" if\n"
        "                     fewer of them have an output than at a lower factor. BUDGET (100ms,\n"
        "                     0.5) is compared with both latencies: \"over budget in ROS time\n"
        "                     alone\" is caused by the real-time factor. At most 16\n"
        "  --find-paths       show the paths too that nodes have from a topic that they subscribe\n"
        "                     to to one that they publish, where 9 of 10 outputs repeat the stamp\n"
        "                     of an input\n"
        "  --definitions DIR  look for DIR/package/msg/Name.msg or .idl too; may be repeated\n"
        "  --max-topics N     observe at most N topics, 1 to 10000 (default 500)\n"
        "  --http PORT        serve the same as OpenMetrics at http://127.0.0.1:PORT/metrics, for\n"
        "                     Prometheus; 0: any port, which is printed. As of the last second;\n"
        "                     64 publishers have series of their own, the others one together\n"
        "  --domain N         DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help         this text\n\n"
        "With --json each object has \"elapsed_s\", \"clock\" (null: ROS time is system time),\n"
        "\"topics\", each with \"type\", \"definition\", \"definition_note\" (why another one was "
        "not\n"
        "used), \"malformed\" (messages whose header could not be read) and \"publishers\",\n"
        "\"topics_left_out\", and \"paths\". Quantiles, ages and counts are those of the whole "
        "run,\n"
        "\"rate_hz\" is that since the object before, or in the last one of the whole run. Of\n"
        "\"stamps\", \"none\" counts messages whose stamp was not read (no header, no definition "
        "so\n"
        "far), \"unjudged\" those before the first tick of /clock.\n\n"
        "Status 1 if no message was received within --duration, or if at the end a path has no\n"
        "output, does not keep up, drops inputs, or is over its budget.\n",
    .run = run,
};

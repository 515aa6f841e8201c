#include "audit_ros1.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>

#include "audit_ros1_stamps.h"
#include "findings_changes.h"
#include "json.h"
#include "nodes_ros1.h"
#include "ros1_findings.h"
#include "text.h"

#define STEP_NS           (50 * TB_NS_PER_MS)
#define DURATION_NS       (2 * TB_NS_PER_S)
#define WATCH_DURATION_NS (5 * TB_NS_PER_S)

/* What only graphs of ROS 2 have. */
static const char *const refused[] = {
    "--wait is for the discovery of DDS; a ROS 1 master knows its graph at once",
    "--domain is of DDS; a graph of ROS 1 is that of ROS_MASTER_URI",
};

enum {
  OPTION_JSON = 256,
  OPTION_FAIL_ON,
  OPTION_DURATION,
  OPTION_LIMIT,
  OPTION_ROS1,
  OPTION_RULES,
  OPTION_WATCH,
  OPTION_REFUSED /* and those after it */
};

typedef struct arguments {
  bool json, watch;
  tb__severity_t fail_on;
  tb_duration_t duration, limit;
} arguments_t;

static size_t count_base(const ros1_look_t *look, tb__base_t base)
{
  size_t count = 0;
  for (size_t i = 0; i < look->graph->node_count; i++)
    count += look->nodes[i].base == base && !look->graph->nodes[i].is_own;
  return count;
}

static void print_text(const ros1_look_t *look, const ros1_stamps_t *stamps)
{
  size_t clock = count_base(look, TB__BASE_CLOCK), wall = count_base(look, TB__BASE_WALL);
  size_t unknown = count_base(look, TB__BASE_UNKNOWN), all = clock + wall + unknown;
  size_t topics = ros1_stamps_sampled(stamps);
  const char *value = look->graph->sim_time_text;
  findings_print(look->findings);
  findings_print_counts(look->findings);
  text_out("; %zu node%s: %zu on /clock, %zu on wall time, %zu unknown; %zu topic%s sampled; ", all,
           all == 1 ? "" : "s", clock, wall, unknown, topics, topics == 1 ? "" : "s");
  text_out("/use_sim_time is %s; ", *value ? value : "not set");
  ros1_look_print_clock(look);
  text_out("\n");
}

static json_t *report_json(const ros1_look_t *look, const ros1_stamps_t *stamps)
{
  json_t *root = json_object();
  json_put(root, "master", text_json(look->graph->master_uri));
  json_put(root, "findings", findings_json(look->findings));
  json_put(root, "counts", findings_counts_json(look->findings));
  json_put(root, "use_sim_time", sim_time_ros1_json(look));
  json_put(root, "clock", clock_ros1_json(look));
  json_put(root, "nodes", nodes_ros1_json(look));
  json_put(root, "topics_sampled", json_integer((json_int_t)ros1_stamps_sampled(stamps)));
  return root;
}

/* A look at the graph, after its topics were sampled for a while. */
typedef struct round {
  const ros1_look_t *look;
  ros1_stamps_t *stamps;
} round_t;

static void report_text_of(const void *user)
{
  const round_t *round = user;
  print_text(round->look, round->stamps);
}

static json_t *report_json_of(const void *user)
{
  const round_t *round = user;
  return report_json(round->look, round->stamps);
}

/* Samples topics until then, or until a signal comes. */
static void listen_until(const ros1_look_t *look, ros1_stamps_t *stamps, int64_t end_ns,
                         int *out_signal)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  for (;;) {
    tb_steady_time_t now = {0};
    tb_steady_clock_now(look->gauge->steady, &now);
    int64_t left_ns = end_ns - now.ns;
    if (left_ns <= 0) return;
    ros1_stamps_step(stamps);
    if (left_ns > STEP_NS) left_ns = STEP_NS;
    if (poll(&fd, 1, (int)((left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS)) > 0) break;
  }
  *out_signal = *command_catch_signals();
}

static int listen_for(ros1_look_t *look, ros1_stamps_t **stamps, int64_t duration_ns,
                      int *out_signal)
{
  tb_steady_time_t begin = {0};
  int64_t end_ns;
  tb_steady_clock_now(look->gauge->steady, &begin);
  if (__builtin_add_overflow(begin.ns, duration_ns, &end_ns)) end_ns = INT64_MAX;
  int result = ros1_stamps_open(look, stamps);
  if (result) return result;
  listen_until(look, *stamps, end_ns, out_signal);
  ros1_stamps_end(*stamps);
  return EXIT_OK;
}

/* To be closed with round_close either way. *out_signal: a signal came first. */
static int round_take(ros1_look_t *look, ros1_stamps_t **stamps, int64_t duration_ns,
                      int *out_signal)
{
  int result = listen_for(look, stamps, duration_ns, out_signal);
  return !result && !*out_signal ? ros1_look_take(look) : result;
}

static void round_close(ros1_look_t *look, ros1_stamps_t *stamps)
{
  ros1_stamps_close(stamps);
  ros1_look_release(look);
}

static int run_once(ros1_look_t *look, const arguments_t *arguments, int *out_signal)
{
  ros1_stamps_t *stamps = NULL;
  int64_t duration_ns = arguments->duration.ns ? arguments->duration.ns : DURATION_NS;
  int result = round_take(look, &stamps, duration_ns, out_signal);
  bool is_shown = !result && !*out_signal;
  if (is_shown && arguments->json)
    result = json_finish(look->command, report_json(look, stamps), EXIT_OK);
  else if (is_shown)
    print_text(look, stamps);
  if (is_shown && !result) result = findings_status(look->findings, arguments->fail_on);
  round_close(look, stamps);
  return result;
}

/* Until a signal comes; the status is that of the last round. */
static int run_watch(ros1_look_t *look, const arguments_t *arguments)
{
  findings_changes_t changes = {0};
  int64_t duration_ns = arguments->duration.ns ? arguments->duration.ns : WATCH_DURATION_NS;
  int result = EXIT_OK, status = EXIT_OK, signal_number = 0;
  bool goes_on = look->goes_on = true;
  while (goes_on) {
    round_t round = {look, NULL};
    findings_report_t report = {look->command, report_text_of, report_json_of, &round};
    result =
        round_take(look, &round.stamps, changes.rounds ? duration_ns : DURATION_NS, &signal_number);
    goes_on = !result && !signal_number;
    if (goes_on) {
      result = findings_changes_report(&changes, &report, look->findings, arguments->json);
      status = findings_status(look->findings, arguments->fail_on);
      goes_on = !result && command_flush();
    }
    round_close(look, round.stamps);
  }
  findings_changes_fini(&changes);
  return result ? result : status;
}

static int run_look(const command_t *command, const arguments_t *arguments, int *out_signal)
{
  static ros1_look_t look; /* large */
  int result = ros1_look_open(command, arguments->limit, &look);
  if (!result)
    result =
        arguments->watch ? run_watch(&look, arguments) : run_once(&look, arguments, out_signal);
  ros1_look_close(&look);
  return result;
}

static bool parse(const command_t *command, int option, char **argv, arguments_t *arguments)
{
  if (option >= OPTION_REFUSED) {
    command_usage_error(command, "%s", refused[option - OPTION_REFUSED]);
    return false;
  }
  switch (option) {
  case OPTION_JSON:
    arguments->json = true;
    return true;
  case OPTION_FAIL_ON:
    return findings_parse_fail_on(command, optarg, &arguments->fail_on);
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &arguments->duration);
  case OPTION_LIMIT:
    return command_parse_limit(command, "--limit", optarg, &arguments->limit);
  case OPTION_WATCH:
    arguments->watch = true;
    return true;
  case OPTION_ROS1:
    return true;
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

int audit_ros1_run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"rules", no_argument, NULL, OPTION_RULES},
      {"watch", no_argument, NULL, OPTION_WATCH},
      {"wait", required_argument, NULL, OPTION_REFUSED},
      {"domain", required_argument, NULL, OPTION_REFUSED + 1},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.fail_on = TB__SEVERITY_ERROR, .limit = {TB_NS_PER_S}};
  int signal_number = 0;
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option == OPTION_RULES) {
      findings_print_rules();
      return command_finish(command, EXIT_OK);
    }
    if (!parse(command, option, argv, &arguments)) return EXIT_USAGE;
  }
  if (optind < argc)
    return command_usage_error(
        command, "a manifest declares a graph of ROS 2, and is not judged with --ros1: '%s'",
        argv[optind]);
  int result = run_look(command, &arguments, &signal_number);
  if (signal_number) ros1_end_by_signal(signal_number);
  return command_finish(command, result);
}

#include "audit_ros1.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>

#include "audit_ros1_stamps.h"
#include "findings.h"
#include "json.h"
#include "nodes_ros1.h"
#include "ros1_findings.h"
#include "text.h"

#define STEP_NS     (50 * TB_NS_PER_MS)
#define DURATION_NS (2 * TB_NS_PER_S)

/* What only graphs of ROS 2 have. */
static const char *const refused[] = {
    ("--watch is for graphs of ROS 2; 'timebase watch --ros1' follows /clock and reports faults of "
     "the graph's time as they come"),
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
  OPTION_REFUSED /* and those after it */
};

typedef struct arguments {
  bool json;
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

static int print_json(const ros1_look_t *look, const ros1_stamps_t *stamps)
{
  json_t *root = json_object();
  json_put(root, "master", text_json(look->graph->master_uri));
  json_put(root, "findings", findings_json(look->findings));
  json_put(root, "counts", findings_counts_json(look->findings));
  json_put(root, "use_sim_time", sim_time_ros1_json(look));
  json_put(root, "clock", clock_ros1_json(look));
  json_put(root, "nodes", nodes_ros1_json(look));
  json_put(root, "topics_sampled", json_integer((json_int_t)ros1_stamps_sampled(stamps)));
  return json_finish(look->command, root, EXIT_OK);
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

static int run_look(const command_t *command, const arguments_t *arguments, int *out_signal)
{
  static ros1_look_t look; /* large */
  ros1_stamps_t *stamps = NULL;
  int result = ros1_look_open(command, arguments->limit, &look);
  if (!result) result = listen_for(&look, &stamps, arguments->duration.ns, out_signal);
  if (!result && !*out_signal) result = ros1_look_take(&look);
  bool is_shown = !result && !*out_signal;
  if (is_shown && arguments->json)
    result = print_json(&look, stamps);
  else if (is_shown)
    print_text(&look, stamps);
  if (is_shown && !result) result = findings_status(look.findings, arguments->fail_on);
  ros1_stamps_close(stamps);
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
      {"watch", no_argument, NULL, OPTION_REFUSED},
      {"wait", required_argument, NULL, OPTION_REFUSED + 1},
      {"domain", required_argument, NULL, OPTION_REFUSED + 2},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {
      .fail_on = TB__SEVERITY_ERROR, .duration = {DURATION_NS}, .limit = {TB_NS_PER_S}};
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

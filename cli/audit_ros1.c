#include "audit_ros1.h"

#include <getopt.h>
#include <poll.h>
#include <stdio.h>

#include "findings.h"
#include "json.h"
#include "nodes_ros1.h"
#include "ros1_findings.h"
#include "text.h"

#define DURATION_NS (2 * TB_NS_PER_S)

enum {
  OPTION_JSON = 256,
  OPTION_FAIL_ON,
  OPTION_DURATION,
  OPTION_LIMIT,
  OPTION_ROS1,
  OPTION_RULES
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

static void print_text(const ros1_look_t *look)
{
  size_t clock = count_base(look, TB__BASE_CLOCK), wall = count_base(look, TB__BASE_WALL);
  size_t unknown = count_base(look, TB__BASE_UNKNOWN), all = clock + wall + unknown;
  const char *value = look->graph->sim_time_text;
  findings_print(look->findings);
  findings_print_counts(look->findings);
  text_out("; %zu node%s: %zu on /clock, %zu on wall time, %zu unknown; ", all, all == 1 ? "" : "s",
           clock, wall, unknown);
  text_out("/use_sim_time is %s; ", *value ? value : "not set");
  ros1_look_print_clock(look);
  text_out("\n");
}

static int print_json(const ros1_look_t *look)
{
  json_t *root = json_object();
  json_put(root, "master", text_json(look->graph->master_uri));
  json_put(root, "findings", findings_json(look->findings));
  json_put(root, "counts", findings_counts_json(look->findings));
  json_put(root, "use_sim_time", sim_time_ros1_json(look));
  json_put(root, "clock", clock_ros1_json(look));
  json_put(root, "nodes", nodes_ros1_json(look));
  return json_finish(look->command, root, EXIT_OK);
}

static void listen_for(int64_t duration_ns, int *out_signal)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  if (poll(&fd, 1, (int)(duration_ns / TB_NS_PER_MS)) > 0) *out_signal = *command_catch_signals();
}

static int run_look(const command_t *command, const arguments_t *arguments, int *out_signal)
{
  static ros1_look_t look; /* large */
  int result = ros1_look_open(command, arguments->limit, &look);
  if (!result) listen_for(arguments->duration.ns, out_signal);
  if (!result && !*out_signal) result = ros1_look_take(&look);
  bool is_shown = !result && !*out_signal;
  if (is_shown && arguments->json)
    result = print_json(&look);
  else if (is_shown)
    print_text(&look);
  if (is_shown && !result) result = findings_status(look.findings, arguments->fail_on);
  ros1_look_close(&look);
  return result;
}

static bool parse(const command_t *command, int option, char **argv, arguments_t *arguments)
{
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
    return command_usage_error(command, "a manifest describes a graph of ROS 2: '%s'",
                               argv[optind]);
  int result = run_look(command, &arguments, &signal_number);
  if (signal_number) ros1_end_by_signal(signal_number);
  return command_finish(command, result);
}

/* Starts a command on a shared time: in its environment, and the processes that it starts inherit
 * that. */
#include "run.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define LIMIT ((tb_duration_t){10 * TB_NS_PER_S})

enum {
  OPTION_SOURCE = 256,
  OPTION_NAME,
  OPTION_DOMAIN,
  OPTION_REQUIRE,
  OPTION_NODE,
  OPTION_LIMIT,
  OPTION_PRINT_ENV,
  OPTION_CHECK,
  OPTION_JSON,
  OPTION_WALL_TIMERS,
};

static bool take_source(const command_t *command, run_arguments_t *arguments)
{
  const char *source = optarg;
  arguments->source = source;
  arguments->relay = !strcmp(source, "clock_topic")     ? RELAY_TOPIC
                     : !strcmp(source, "extrapolating") ? RELAY_EXTRAPOLATING
                                                        : RELAY_NONE;
  if (arguments->relay || (!strncmp(source, "shm:", 4) && source[4])) return true;
  command_usage_error(command, "--source %s: expected shm:NAME, clock_topic or extrapolating",
                      source);
  return false;
}

static bool take_node(const command_t *command, run_arguments_t *arguments)
{
  if (arguments->node_count == RUN_NODES_MAX) {
    command_usage_error(command, "--node: at most %d", RUN_NODES_MAX);
    return false;
  }
  arguments->nodes[arguments->node_count++] = optarg;
  return true;
}

static int parse_option(const command_t *command, int option, char **argv,
                        run_arguments_t *arguments)
{
  bool good = true;
  switch (option) {
  case OPTION_SOURCE:
    good = take_source(command, arguments);
    break;
  case OPTION_NAME:
    arguments->name = optarg;
    break;
  case OPTION_DOMAIN:
    good = command_parse_domain(command, optarg, &arguments->domain);
    break;
  case OPTION_REQUIRE:
    arguments->require = true;
    break;
  case OPTION_NODE:
    good = take_node(command, arguments);
    break;
  case OPTION_LIMIT:
    good = command_parse_limit(command, "--limit", optarg, &arguments->limit);
    break;
  case OPTION_PRINT_ENV:
    arguments->print_env = true;
    break;
  case OPTION_CHECK:
    arguments->check = true;
    break;
  case OPTION_JSON:
    arguments->json = true;
    break;
  case OPTION_WALL_TIMERS:
    arguments->wall_timers = true;
    break;
  default:
    return command_bad_option(command, option, argv);
  }
  return good ? EXIT_OK : EXIT_USAGE;
}

static int refuse_relay(const command_t *command, const run_arguments_t *arguments)
{
  char name[RUN_RELAY_NAME_SIZE];
  const char *source = arguments->source;
  run_relay_find_name(arguments, name);
  return command_usage_error(
      command,
      "--print-env needs --source shm:NAME: %s needs a process that follows "
      "/clock; keep one with 'timebase run --source %s -- sleep infinity &', "
      "and use --source shm:%s",
      source, source, name);
}

static int check(const command_t *command, const run_arguments_t *arguments)
{
  bool has_command = arguments->words[0] != NULL;
  if (arguments->print_env && has_command)
    return command_usage_error(command, "--print-env takes no command");
  if (!arguments->print_env && !has_command) return command_usage_error(command, "missing command");
  if (arguments->print_env && arguments->relay) return refuse_relay(command, arguments);
  if (arguments->name && !arguments->relay)
    return command_usage_error(command, "--name is for --source clock_topic and extrapolating");
  if (arguments->domain >= 0 && !arguments->relay && !arguments->node_count)
    return command_usage_error(
        command, "--domain is for --source clock_topic and extrapolating, and --node");
  if (arguments->node_count && !arguments->require)
    return command_usage_error(command, "--node needs --require");
  if (arguments->json && !arguments->check)
    return command_usage_error(command, "--json needs --check");
  return EXIT_OK;
}

static int parse(const command_t *command, int argc, char **argv, run_arguments_t *arguments,
                 bool *out_help)
{
  static const struct option options[] = {
      {"source", required_argument, NULL, OPTION_SOURCE},
      {"name", required_argument, NULL, OPTION_NAME},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"require", no_argument, NULL, OPTION_REQUIRE},
      {"node", required_argument, NULL, OPTION_NODE},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"print-env", no_argument, NULL, OPTION_PRINT_ENV},
      {"check", no_argument, NULL, OPTION_CHECK},
      {"json", no_argument, NULL, OPTION_JSON},
      {"wall-timers", no_argument, NULL, OPTION_WALL_TIMERS},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option, result = EXIT_OK;
  /* '+': options end at the command's name */
  while (!result && (option = command_next_option(argc, argv, "+:h", options)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    result = parse_option(command, option, argv, arguments);
  }
  if (result) return result;
  arguments->words = argv + optind;
  return check(command, arguments);
}

/* TIMEBASE_SOURCE is for `timebase run` too, unless --source is given. */
static int find_source(const command_t *command, run_arguments_t *arguments)
{
  const char *inherited = getenv("TIMEBASE_SOURCE");
  if (arguments->source) return EXIT_OK;
  if (!inherited || strncmp(inherited, "shm:", 4) != 0 || !inherited[4])
    return command_usage_error(command,
                               "missing --source: shm:NAME as of 'timebase serve --shm NAME', "
                               "clock_topic or extrapolating");
  arguments->source = inherited;
  return EXIT_OK;
}

/* What no process of the command could use is refused before it is started. */
static int start(const command_t *command, const run_arguments_t *arguments,
                 const run_environment_t *environment)
{
  run_time_t *time = NULL;
  int result = run_time_open(command, arguments, environment, &time);
  if (!result) {
    run_time_note(time);
    result = run_child(command, arguments, environment, time);
  }
  run_time_close(time);
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  run_environment_t environment = {0};
  run_relay_t *relay = NULL;
  run_arguments_t arguments = {.domain = -1, .limit = LIMIT};
  int result = parse(command, argc, argv, &arguments, &help);
  if (help) return command_help(command);
  if (!result) result = find_source(command, &arguments);
  if (!result && !arguments.relay) result = run_time_check_name(command, arguments.source);
  if (result) return result;
  command_show_log(command);
  command_steady_ns(); /* makes its clock, before there are threads */
  if (!arguments.print_env) run_block_signals();
  if (arguments.relay) result = run_relay_open(command, &arguments, &relay);
  if (!result) result = run_environment_find(command, &arguments, relay, &environment);
  if (!result && arguments.print_env) {
    run_environment_print(&environment);
    result = command_finish(command, EXIT_OK);
  } else if (!result) {
    result = start(command, &arguments, &environment);
  }
  run_relay_close(relay);
  run_environment_release(&environment);
  return result;
}

const command_t command_run = {
    .name = "run",
    .summary = "start a command, unchanged ROS 2 nodes too, on a shared time",
    .usage = "timebase run [--source SOURCE] [--require [--node NAME]...] [OPTION...] -- "
             "COMMAND...",
    .help =
        "Starts COMMAND with its time from SOURCE. The processes that it starts have it too. "
        "Programs\n"
        "that use timebase follow it by TIMEBASE_SOURCE; ROS 2 programs of rclcpp and rclpy, as "
        "they\n"
        "are, by a library that is loaded before theirs, libtimebase-rcl.so: their ROS clocks and\n"
        "timers are on that time, with no /clock and whatever use_sim_time is.\n\n"
        "  --source SOURCE  shm:NAME: the time of 'timebase serve|play --shm NAME'. clock_topic: "
        "that\n"
        "                   of /clock, which this command follows and shares with all that are "
        "started\n"
        "                   so. extrapolating: the same, and time runs on between ticks. "
        "(Default:\n"
        "                   TIMEBASE_SOURCE)\n"
        "  --name NAME      under which /clock is shared (default clock_topic-UID-DOMAIN,\n"
        "                   extrapolating-UID-DOMAIN); commands with one name have one time\n"
        "  --domain N       DDS domain of /clock and --node, 0 to 232 (default: ROS_DOMAIN_ID, "
        "else 0)\n"
        "  --require        fail, and end COMMAND, unless a process of it takes the time, and it "
        "begins\n"
        "  --node NAME      with --require: unless the process of node NAME does; may be repeated\n"
        "  --limit D        how long that may take (default 10s)\n"
        "  --wall-timers    put timers of steady clocks (create_wall_timer) on that time too\n"
        "  --print-env      print the settings for a shell instead: eval \"$(timebase run "
        "--source\n"
        "                   shm:sim --print-env)\"\n"
        "  --check          when COMMAND has ended, print which of its processes followed the "
        "time, with\n"
        "                   which release of rcl, and what of it was replaced\n"
        "  --json           with --check: a line of JSON for each report of a process\n"
        "  -h, --help       this text\n\n"
        "The exit status is that of COMMAND; 128 + N if signal N ended it; 126 if it cannot be "
        "started,\n"
        "127 if it is not found; 1 if --require was not met; 2 and 3 as of the other commands. "
        "Signals\n"
        "that this command gets are passed on. Programs that are setuid or linked statically do "
        "not load\n"
        "the library; without --require a note names that no process has taken the time.\n",
    .run = run,
};

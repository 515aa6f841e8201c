#include <getopt.h>
#include <stdio.h>
#include <timebase/sleep.h>

#include "clocks.h"
#include "text.h"

enum { OPTION_ROS = 256, OPTION_LIMIT, OPTION_DOMAIN };

typedef struct arguments {
  bool ros;
  int domain;
  tb_duration_t limit, duration;
} arguments_t;

static int sleep_steady(const command_t *command, const arguments_t *arguments)
{
  tb_steady_clock_t *clock;
  tb_status_t status = tb_steady_clock_create(&clock);
  if (status) return command_failed(command, status, NULL);
  tb_wait_options_t wait = {.limit = arguments->limit};
  status = tb_steady_clock_sleep_for(clock, arguments->duration, &wait);
  tb_steady_clock_destroy(clock);
  if (status == TB_ERR_TIMEOUT) {
    text_err("timebase %s: limit reached before DURATION had passed\n", command->name);
    return EXIT_CHECK;
  }
  return status ? command_failed(command, status, NULL) : EXIT_OK;
}

static int sleep_on(const command_t *command, const arguments_t *arguments, ros_clock_t *ros)
{
  clock_hint_t hint;
  tb_time_t now = {0};
  tb_wait_options_t wait = {.limit = arguments->limit};
  clock_hint_begin(command, ros, &hint);
  tb_status_t status = tb_clock_sleep_for(ros->clock, arguments->duration, &wait);
  clock_hint_end(&hint);
  if (status != TB_ERR_TIMEOUT) return status ? command_failed(command, status, NULL) : EXIT_OK;
  tb_clock_now(ros->clock, &now);
  if (!tb_time_is_set(now)) return ros_clock_timed_out(command, ros, arguments->limit);
  text_err("timebase %s: limit reached before DURATION had passed; ROS time is %.9f s\n",
           command->name, (double)now.ns / (double)TB_NS_PER_S);
  return EXIT_CHECK;
}

static int sleep_ros(const command_t *command, const arguments_t *arguments)
{
  ros_clock_t ros;
  int result = ros_clock_open(command, arguments->domain, &ros);
  if (!result) result = sleep_on(command, arguments, &ros);
  ros_clock_close(&ros);
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"ros", no_argument, NULL, OPTION_ROS},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.domain = -1};
  int option;
  while ((option = command_next_option(argc, argv, ":h", options)) != -1) {
    switch (option) {
    case OPTION_ROS:
      arguments.ros = true;
      break;
    case OPTION_LIMIT:
      if (!command_parse_limit(command, "--limit", optarg, &arguments.limit)) return EXIT_USAGE;
      break;
    case OPTION_DOMAIN:
      if (!command_parse_domain(command, optarg, &arguments.domain)) return EXIT_USAGE;
      break;
    case 'h':
      return command_help(command);
    default:
      return command_bad_option(command, option, argv);
    }
  }
  if (optind == argc) return command_usage_error(command, "missing DURATION");
  const char *text = argv[optind++];
  if (!command_parse_duration(command, "DURATION", text, &arguments.duration)) return EXIT_USAGE;
  if (arguments.duration.ns < 0)
    return command_usage_error(command, "DURATION %s: must not be negative", text);
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  if (!arguments.ros && arguments.domain >= 0)
    return command_usage_error(command, "--domain needs --ros");
  command_show_log(command);
  return arguments.ros ? sleep_ros(command, &arguments) : sleep_steady(command, &arguments);
}

const command_t command_sleep = {
    .name = "sleep",
    .summary = "wait for a duration, in steady or ROS time",
    .usage = "timebase sleep DURATION [--ros] [--limit D] [--domain N]",
    .help =
        "Waits until DURATION (1.5s, 200ms, 1h2m; a bare number is seconds) has passed.\n\n"
        "  --ros       in ROS time, as published on /clock (or by TIMEBASE_SOURCE, if set), at\n"
        "              its rate and with its pauses; counts from the first tick\n"
        "  --limit D   give up after D of steady time\n"
        "  --domain N  with --ros: DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "Status 1 if the limit was reached first, or if no ROS time was received.\n",
    .run = run,
};

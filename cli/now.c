#include <getopt.h>
#include <stdio.h>
#include <timebase/sleep.h>
#include <timebase/time.h>

#include "clocks.h"
#include "text.h"

#define LIMIT ((tb_duration_t){5 * TB_NS_PER_S})

enum { OPTION_DOMAIN = 256, OPTION_LIMIT };

typedef struct arguments {
  clock_choice_t clock;
  int domain;
  tb_duration_t limit;
} arguments_t;

static void print_time(tb_time_t time)
{
  char text[TB_TIME_TEXT_SIZE];
  if (tb_time_format(time, text, sizeof text)) text[0] = '\0';
  text_out("%lld.%09lld %s\n", (long long)(time.ns / TB_NS_PER_S),
           (long long)(time.ns % TB_NS_PER_S), text);
}

static int print_os_time(const command_t *command, clock_choice_t choice)
{
  if (choice == CLOCK_STEADY) {
    tb_steady_clock_t *clock = NULL;
    tb_steady_time_t time = {0};
    tb_status_t status = tb_steady_clock_create(&clock);
    if (status) return command_failed(command, status, NULL);
    tb_steady_clock_now(clock, &time);
    text_out("%lld.%09lld\n", (long long)(time.ns / TB_NS_PER_S),
             (long long)(time.ns % TB_NS_PER_S));
    tb_steady_clock_destroy(clock);
    return command_finish(command, EXIT_OK);
  }
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  tb_clock_t *clock = NULL;
  tb_time_t time = {0};
  tb_status_t status = tb_clock_create(&options, &clock);
  if (status) return command_failed(command, status, NULL);
  tb_clock_now(clock, &time);
  print_time(time);
  tb_clock_destroy(clock);
  return command_finish(command, EXIT_OK);
}

static int print_first_time(const command_t *command, const arguments_t *arguments,
                            ros_clock_t *ros)
{
  clock_hint_t hint;
  tb_time_t time = {0};
  tb_wait_options_t wait = {.limit = arguments->limit};
  clock_hint_begin(command, ros, &hint);
  tb_status_t status = tb_clock_wait_until_started(ros->clock, &wait);
  clock_hint_end(&hint);
  if (status == TB_ERR_TIMEOUT) return ros_clock_timed_out(command, ros, arguments->limit);
  if (!status) status = tb_clock_now(ros->clock, &time);
  if (status) return command_failed(command, status, NULL);
  print_time(time);
  return EXIT_OK;
}

static int print_ros_time(const command_t *command, const arguments_t *arguments)
{
  ros_clock_t ros;
  int result = ros_clock_open(command, arguments->domain, &ros);
  if (!result) result = print_first_time(command, arguments, &ros);
  ros_clock_close(&ros);
  return command_finish(command, result);
}

static bool choose(const command_t *command, clock_choice_t clock, arguments_t *arguments)
{
  if (arguments->clock != CLOCK_DEFAULT && arguments->clock != clock) {
    command_usage_error(command, "--steady, --system and --ros exclude each other");
    return false;
  }
  arguments->clock = clock;
  return true;
}

static int check(const command_t *command, const arguments_t *arguments)
{
  if (arguments->clock == CLOCK_ROS) return EXIT_OK;
  if (arguments->limit.ns) return command_usage_error(command, "--limit needs --ros");
  if (arguments->domain >= 0) return command_usage_error(command, "--domain needs --ros");
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"steady", no_argument, NULL, 't'},
      {"system", no_argument, NULL, 's'},
      {"ros", no_argument, NULL, 'r'},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.clock = CLOCK_DEFAULT, .domain = -1};
  int option;
  while ((option = command_next_option(argc, argv, ":h", options)) != -1) {
    switch (option) {
    case 't':
      if (!choose(command, CLOCK_STEADY, &arguments)) return EXIT_USAGE;
      break;
    case 's':
      if (!choose(command, CLOCK_SYSTEM, &arguments)) return EXIT_USAGE;
      break;
    case 'r':
      if (!choose(command, CLOCK_ROS, &arguments)) return EXIT_USAGE;
      break;
    case OPTION_DOMAIN:
      if (!command_parse_domain(command, optarg, &arguments.domain)) return EXIT_USAGE;
      break;
    case OPTION_LIMIT:
      if (!command_parse_limit(command, "--limit", optarg, &arguments.limit)) return EXIT_USAGE;
      break;
    case 'h':
      return command_help(command);
    default:
      return command_bad_option(command, option, argv);
    }
  }
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  int result = check(command, &arguments);
  if (result) return result;
  if (!arguments.limit.ns) arguments.limit = LIMIT;
  command_show_log(command);
  return arguments.clock == CLOCK_ROS ? print_ros_time(command, &arguments)
                                      : print_os_time(command, arguments.clock);
}

const command_t command_now = {
    .name = "now",
    .summary = "print the time of a clock",
    .usage = "timebase now [--steady | --system | --ros] [--limit D] [--domain N]",
    .help = "Prints seconds and, except for steady time, the same in UTC.\n\n"
            "  --system    the wall clock (default)\n"
            "  --steady    the clock that is never set, in seconds since boot\n"
            "  --ros       ROS time: the first tick on /clock, or of TIMEBASE_SOURCE if set\n"
            "              (shm:NAME, ros1)\n"
            "  --limit D   with --ros: wait at most D for it (default 5s)\n"
            "  --domain N  with --ros: DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
            "  -h, --help  this text\n\n"
            "Status 1 if no time was received within the limit.\n",
    .run = run,
};

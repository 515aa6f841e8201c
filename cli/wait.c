#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ready.h>

#include "clocks.h"
#include "json.h"
#include "text.h"

#define LIMIT    ((tb_duration_t){60 * TB_NS_PER_S})
#define RATE_MAX 1e9

enum {
  OPTION_RUNNING = 256,
  OPTION_MIN_RATE,
  OPTION_MAX_RATE,
  OPTION_RTF,
  OPTION_LIMIT,
  OPTION_JSON,
  OPTION_DOMAIN
};

typedef struct arguments {
  tb_ready_options_t ready;
  tb_duration_t limit;
  int domain;
  bool json;
} arguments_t;

/* ---- results ---- */

static void put_number(json_t *object, const char *key, double value, bool is_known)
{
  json_put(object, key, is_known ? json_real(value) : json_null());
}

static int print_json(const command_t *command, const tb_ready_result_t *result, int status)
{
  bool measured = result->observed.ns > 0;
  json_t *object = json_object();
  json_put(object, "ready", json_boolean(result->reason == TB_READY));
  json_put(object, "reason", json_string(tb_ready_reason_name(result->reason)));
  json_put(object, "time_ns", json_integer(result->time.ns));
  json_put(object, "paused", json_boolean(result->state == TB_CLOCK_PAUSED));
  json_put(object, "ticks", json_integer((json_int_t)result->ticks));
  json_put(object, "jumps_backward", json_integer((json_int_t)result->jumps_backward));
  json_put(object, "observed_ns", json_integer(result->observed.ns));
  put_number(object, "rate_hz", result->rate_hz, measured);
  put_number(object, "rtf", result->factor, measured);
  put_number(object, "min_rate_hz", result->min_rate_hz, result->min_rate_hz > 0);
  put_number(object, "max_rate_hz", result->max_rate_hz, result->max_rate_hz > 0);
  put_number(object, "min_rtf", result->min_factor, result->min_factor > 0);
  put_number(object, "max_rtf", result->max_factor, result->max_factor > 0);
  return json_finish(command, object, status);
}

static void print_ready(const tb_ready_result_t *result)
{
  text_out("%s: time %lld.%09lld", result->state == TB_CLOCK_PAUSED ? "paused" : "ready",
           (long long)(result->time.ns / TB_NS_PER_S), (long long)(result->time.ns % TB_NS_PER_S));
  if (result->observed.ns) text_out("  %.1f Hz  rtf %.3f", result->rate_hz, result->factor);
  text_out("\n");
}

/* Why it has no time is on the graph. */
static int fail(const command_t *command, const arguments_t *arguments, ros_clock_t *ros,
                const tb_ready_result_t *result, const tb_error_t *error)
{
  if (arguments->json) return print_json(command, result, EXIT_CHECK);
  if (!result->time.ns) return ros_clock_timed_out(command, ros, arguments->limit);
  text_err("timebase %s: %s\n", command->name, error->text);
  return EXIT_CHECK;
}

static int wait_for(const command_t *command, const arguments_t *arguments, ros_clock_t *ros)
{
  clock_hint_t hint;
  tb_ready_result_t result = {0};
  tb_error_t error = TB_ERROR_INIT;
  const tb_wait_options_t wait = {.limit = arguments->limit};
  if (!arguments->json) clock_hint_begin(command, ros, &hint);
  tb_status_t status = tb_ready_wait(ros->clock, &arguments->ready, &wait, &result, &error);
  if (!arguments->json) clock_hint_end(&hint);
  if (status == TB_ERR_TIMEOUT) return fail(command, arguments, ros, &result, &error);
  if (status) return command_failed(command, status, &error);
  if (arguments->json) return print_json(command, &result, EXIT_OK);
  print_ready(&result);
  return EXIT_OK;
}

static int wait_on_clock(const command_t *command, const arguments_t *arguments)
{
  ros_clock_t ros;
  int result = ros_clock_open(command, arguments->domain, &ros);
  if (!result) result = wait_for(command, arguments, &ros);
  ros_clock_close(&ros);
  return command_finish(command, result);
}

/* ---- arguments ---- */

/* "LO:HI"; one of them may be missing. */
static bool parse_range(const command_t *command, char *text, double *out_low, double *out_high)
{
  char *colon = strchr(text, ':');
  if (!colon || !text[1]) {
    command_usage_error(command, "--rtf: '%s' is not a range; give LO:HI, such as 0.9:1.1", text);
    return false;
  }
  *colon = '\0';
  bool good =
      (!text[0] || command_parse_double(command, "--rtf", text, 0, RATE_MAX, out_low)) &&
      (!colon[1] || command_parse_double(command, "--rtf", colon + 1, 0, RATE_MAX, out_high));
  *colon = ':';
  return good;
}

static bool parse(const command_t *command, int option, arguments_t *arguments)
{
  tb_ready_options_t *ready = &arguments->ready;
  switch (option) {
  case OPTION_RUNNING:
    ready->running = true;
    return true;
  case OPTION_MIN_RATE:
    return command_parse_double(command, "--min-rate", optarg, 0, RATE_MAX, &ready->min_rate_hz);
  case OPTION_MAX_RATE:
    return command_parse_double(command, "--max-rate", optarg, 0, RATE_MAX, &ready->max_rate_hz);
  case OPTION_RTF:
    return parse_range(command, optarg, &ready->min_factor, &ready->max_factor);
  case OPTION_LIMIT:
    return command_parse_limit(command, "--limit", optarg, &arguments->limit);
  case OPTION_JSON:
    arguments->json = true;
    return true;
  default:
    return command_parse_domain(command, optarg, &arguments->domain);
  }
}

/* A least above the greatest can never be met. */
static int check(const command_t *command, const tb_ready_options_t *ready)
{
  if (ready->max_rate_hz > 0 && ready->min_rate_hz > ready->max_rate_hz)
    return command_usage_error(command, "--min-rate is above --max-rate");
  if (ready->max_factor > 0 && ready->min_factor > ready->max_factor)
    return command_usage_error(command, "--rtf: LO is above HI");
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"running", no_argument, NULL, OPTION_RUNNING},
      {"min-rate", required_argument, NULL, OPTION_MIN_RATE},
      {"max-rate", required_argument, NULL, OPTION_MAX_RATE},
      {"rtf", required_argument, NULL, OPTION_RTF},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"json", no_argument, NULL, OPTION_JSON},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.limit = LIMIT, .domain = -1};
  int option;
  while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
    if (option == 'h') return command_help(command);
    if (option < OPTION_RUNNING) return command_bad_option(command, option, argv);
    if (!parse(command, option, &arguments)) return EXIT_USAGE;
  }
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  int result = check(command, &arguments.ready);
  if (result) return result;
  command_show_log(command);
  return wait_on_clock(command, &arguments);
}

const command_t command_wait = {
    .name = "wait",
    .summary = "wait until ROS time is ready",
    .usage = "timebase wait [--running] [--min-rate HZ] [--max-rate HZ] [--rtf LO:HI] [--limit D]"
             " [--json] [--domain N]",
    .help =
        "Waits for the first tick above zero on /clock, or of TIMEBASE_SOURCE if set (shm:NAME).\n"
        "A paused clock is ready too, unless it has to run.\n\n"
        "  --running      time must advance: two distinct ticks, over at least 0.1 s\n"
        "  --min-rate HZ  at least HZ ticks a second that move time, over 1 s\n"
        "  --max-rate HZ  at most\n"
        "  --rtf LO:HI    seconds of ROS time in a real second, over 1 s; LO or HI may be left "
        "out\n"
        "  --limit D      wait at most D (default 60s)\n"
        "  --json         one line: ready, reason, what was measured and what was asked for\n"
        "  --domain N     DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help     this text\n\n"
        "Reasons: no-source, no-publisher, qos, zero, lost, stalled, paused, observing, slow, "
        "fast,\n"
        "backwards. Status 1 if the clock was not ready within the limit.\n",
    .run = run,
};

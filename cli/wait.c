#include "wait.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/sleep.h>

#include "manifest_clock.h"
#include "ros1_clock.h"
#include "text.h"

#define LIMIT    ((tb_duration_t){30 * TB_NS_PER_S})
#define RATE_MAX 1e9

#define POLL_NS   (10 * TB_NS_PER_MS)
#define LOOK_NS   (100 * TB_NS_PER_MS) /* for a second tick */
#define PAUSE_NS  (250 * TB_NS_PER_MS) /* repeats are a pause after 0.1 s */
#define WINDOW_NS TB_NS_PER_S          /* in which publishers, streams and the error are found */

enum {
  OPTION_RUNNING = 256,
  OPTION_MIN_RATE,
  OPTION_MAX_RATE,
  OPTION_RTF,
  OPTION_MAX_ERROR,
  OPTION_MANIFEST,
  OPTION_LIMIT,
  OPTION_ACTIVATE,
  OPTION_JSON,
  OPTION_DOMAIN,
  OPTION_ROS1
};

/* ---- the clock ---- */

static int64_t steady_now(const wait_t *wait)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(wait->steady, &now);
  return now.ns;
}

tb_duration_t wait_left(const wait_t *wait)
{
  int64_t left_ns = wait->deadline_ns - steady_now(wait);
  return left_ns > 0 ? (tb_duration_t){left_ns} : TB_NO_WAIT;
}

void wait_rest(const wait_t *wait, int64_t rest_ns)
{
  tb_steady_clock_sleep_for(wait->steady, (tb_duration_t){rest_ns}, NULL);
}

/* Publishers that could tick. */
static uint32_t count_matched(const wait_t *wait)
{
  uint32_t matched = ros_clock_facts(&wait->ros).matched;
  return matched > wait->servers ? matched : wait->servers;
}

/* What only the ticks of the topic show; NULL: nothing. */
static const char *fault_of(const clock_gauge_facts_t *facts)
{
  if (facts->publishers > 1) return WAIT_TWO_PUBLISHERS;
  if (facts->is_double) return WAIT_TWO_STREAMS;
  return NULL;
}

/* Whether enough has been gathered to judge. */
static bool has_seen_enough(const wait_t *wait, int64_t since_ns)
{
  const clock_gauge_facts_t *facts = &wait->facts;
  if (wait->max_error_ns && (!facts->step_ns || facts->span_ns < WINDOW_NS)) return false;
  if (count_matched(wait) > 1) return facts->span_ns >= WINDOW_NS;
  return wait->ready.running || wait->result.state == TB_CLOCK_PAUSED || facts->distinct > 1 ||
         steady_now(wait) - since_ns >= (facts->repeats ? PAUSE_NS : LOOK_NS);
}

/* After the clock was found ready: observes its ticks, and reads its state again. NULL: it is
 * ready. */
static const char *judge_ticks(wait_t *wait)
{
  int64_t since_ns = steady_now(wait);
  /* On ROS 1 connections are made one by one, after the first tick of another. */
  if (wait->ros1) wait->servers = (uint32_t)ros1_clock_servers(&wait->ros);
  for (;;) {
    tb_clock_reading_t reading = {0};
    if (tb_clock_read(wait->ros.clock, &reading) == TB_OK) wait->result.state = reading.state;
    if (clock_gauge_listens(&wait->gauge)) wait->facts = clock_gauge_read(&wait->gauge);
    if (has_seen_enough(wait, since_ns) || wait_left(wait).ns < 0) break;
    wait_rest(wait, POLL_NS);
  }
  const char *fault = fault_of(&wait->facts);
  const clock_error_t *error = &wait->facts.error;
  if (fault || !wait->max_error_ns) return fault;
  return error->error_ns && error->error_ns <= wait->max_error_ns ? NULL : WAIT_INEXACT;
}

/* The reason at the limit: what the ticks show explains what the clock reports. `fault` was found
 * with `facts` in the window before; NULL: there was none. */
static const char *reason_at_limit(wait_t *wait, const char *fault,
                                   const clock_gauge_facts_t *facts)
{
  tb_ready_reason_t reason = wait->result.reason;
  const char *own = tb_ready_reason_name(reason);
  bool is_running = reason == TB_READY_OBSERVING || reason == TB_READY_BACKWARDS ||
                    reason == TB_READY_SLOW || reason == TB_READY_FAST;
  if (!clock_gauge_listens(&wait->gauge)) return own;
  wait->facts = clock_gauge_read(&wait->gauge);
  if (!is_running) return own;
  const char *now = fault_of(&wait->facts);
  if (now) return now;
  if (!fault || wait->facts.span_ns >= 2 * WINDOW_NS || reason == TB_READY_SLOW ||
      reason == TB_READY_FAST)
    return own;
  wait->facts = *facts;
  return fault;
}

/* TB_OK: it is ready. TB_ERR_TIMEOUT: the reason is why not. */
static tb_status_t wait_for_clock(wait_t *wait, tb_error_t *error)
{
  const char *fault = NULL;
  clock_gauge_facts_t facts = {0};
  for (;;) {
    const tb_wait_options_t limit = {.limit = wait_left(wait)};
    tb_status_t status = tb_ready_wait(wait->ros.clock, &wait->ready, &limit, &wait->result, error);
    if (status == TB_ERR_TIMEOUT) wait->reason = reason_at_limit(wait, fault, &facts);
    if (status) return status;
    wait->reason = fault = judge_ticks(wait);
    if (!fault) break;
    if (wait_left(wait).ns < 0) return TB_ERR_TIMEOUT;
    facts = wait->facts;
    clock_gauge_restart(&wait->gauge);
  }
  wait->reason = tb_ready_reason_name(TB_READY);
  return TB_OK;
}

/* Whether the ROS 1 master answers now. */
static bool has_master(wait_t *wait)
{
  return ros1_has_master(wait->ros.ros1);
}

/* What is wrong with the graph, which may be ready all the same. */
static void wait_judge_ros1(wait_t *wait)
{
  if (has_master(wait))
    ros1_clock_judge(wait->command, &wait->ros, &wait->gauge, &wait->rules, wait->json);
}

static int show_no_master(wait_t *wait)
{
  wait->reason = WAIT_NO_MASTER;
  if (wait->json) return wait_show_json(wait, EXIT_IO);
  ros_clock_timed_out(wait->command, &wait->ros, wait->limit);
  return EXIT_IO;
}

static int wait_for(wait_t *wait)
{
  const command_t *command = wait->command;
  clock_hint_t hint;
  tb_error_t error = TB_ERROR_INIT;
  if (!wait->json) clock_hint_begin(command, &wait->ros, &hint);
  tb_status_t status = wait_for_clock(wait, &error);
  if (!wait->json) clock_hint_end(&hint);
  if (status && status != TB_ERR_TIMEOUT) return command_failed(command, status, &error);
  if (wait->ros1 && wait->json) wait_judge_ros1(wait);
  if (status && wait->ros1 && !has_master(wait)) return show_no_master(wait);
  if (status)
    return wait->json ? wait_show_json(wait, EXIT_CHECK) : wait_show_failure(wait, &error);
  if (!wait->json) wait_show_ready(wait);
  command_flush();
  if (wait->ros1 && !wait->json) wait_judge_ros1(wait);
  int result = wait_nodes_activate(wait);
  if (result == EXIT_CHECK) wait->reason = WAIT_NOT_ACTIVE;
  if (wait->json && result != EXIT_IO) return wait_show_json(wait, result);
  return result;
}

static int open_clock(wait_t *wait)
{
  tb_ros2_clock_source_options_t source = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  source.topic = wait->topic;
  if (wait->ros1) {
    int result = clock_gauge_begin(wait->command, &wait->gauge);
    if (result) return result;
    return ros1_clock_open(wait->command, wait->topic[0] ? wait->topic : "/clock", &wait->gauge,
                           &wait->ros);
  }
  return wait->topic[0] ? topic_clock_open(wait->command, wait->domain, &source, &wait->ros)
                        : ros_clock_open(wait->command, wait->domain, &wait->ros);
}

static int wait_open(wait_t *wait)
{
  int result = open_clock(wait);
  tb_status_t status = result ? TB_OK : tb_steady_clock_create(&wait->steady);
  if (status) result = command_failed(wait->command, status, NULL);
  if (result) return result;
  if (__builtin_add_overflow(steady_now(wait), wait->limit.ns, &wait->deadline_ns))
    wait->deadline_ns = INT64_MAX;
  if (wait->ros1)
    result = EXIT_OK;
  else if (wait->ros.context)
    result = clock_gauge_open(wait->command, wait->ros.context, wait->ros.topic, &wait->gauge);
  else if (wait->max_error_ns || wait->node_count)
    result = command_usage_error(wait->command,
                                 "%s needs /clock, but TIMEBASE_SOURCE names another source",
                                 wait->max_error_ns ? "--max-error" : "--activate");
  return result ? result : wait_nodes_open(wait);
}

static int wait_run(wait_t *wait)
{
  int result = wait_open(wait);
  if (!result) result = wait_for(wait);
  wait_nodes_close(wait);
  if (wait->ros1) ros_clock_close(&wait->ros); /* its source feeds the gauge */
  clock_gauge_close(&wait->gauge);
  tb_steady_clock_destroy(wait->steady);
  ros_clock_close(&wait->ros);
  return command_finish(wait->command, result);
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

static bool add_node(wait_t *wait, const char *name)
{
  if (wait->node_count == WAIT_NODES) {
    command_usage_error(wait->command, "--activate: more than %d nodes; run it once for each part",
                        WAIT_NODES);
    return false;
  }
  wait->nodes[wait->node_count++].argument = name;
  return true;
}

static bool parse_error(wait_t *wait)
{
  tb_duration_t allowed = {0};
  if (!command_parse_limit(wait->command, "--max-error", optarg, &allowed)) return false;
  wait->max_error_ns = allowed.ns;
  wait->ready.running = true;
  return true;
}

static bool parse(wait_t *wait, int option)
{
  const command_t *command = wait->command;
  tb_ready_options_t *ready = &wait->ready;
  switch (option) {
  case OPTION_RUNNING:
    ready->running = true;
    return true;
  case OPTION_MIN_RATE:
    return command_parse_hz(command, "--min-rate", optarg, 0, RATE_MAX, &ready->min_rate_hz);
  case OPTION_MAX_RATE:
    return command_parse_hz(command, "--max-rate", optarg, 0, RATE_MAX, &ready->max_rate_hz);
  case OPTION_RTF:
    return parse_range(command, optarg, &ready->min_factor, &ready->max_factor);
  case OPTION_MAX_ERROR:
    return parse_error(wait);
  case OPTION_MANIFEST:
    wait->manifest = optarg;
    return true;
  case OPTION_LIMIT:
    return command_parse_limit(command, "--limit", optarg, &wait->limit);
  case OPTION_ACTIVATE:
    return add_node(wait, optarg);
  case OPTION_JSON:
    wait->json = true;
    return true;
  case OPTION_ROS1:
    wait->ros1 = true;
    return true;
  default:
    return command_parse_domain(command, optarg, &wait->domain);
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

/* What is not given by an option is as the manifest declares it. */
static int take_manifest(wait_t *wait)
{
  manifest_clock_t declared;
  tb_ready_options_t *ready = &wait->ready;
  int result = manifest_clock_read(wait->command, wait->manifest, &declared);
  if (result) return result;
  if (strcmp(declared.topic, "/clock") != 0)
    snprintf(wait->topic, sizeof wait->topic, "%s", declared.topic);
  if (!(ready->min_rate_hz > 0) && !(ready->max_rate_hz > 0)) {
    ready->min_rate_hz = declared.min_rate_hz;
    ready->max_rate_hz = declared.max_rate_hz;
  }
  if (!(ready->min_factor > 0) && !(ready->max_factor > 0)) {
    ready->min_factor = declared.min_factor;
    ready->max_factor = declared.max_factor;
  }
  if (!wait->max_error_ns && !wait->ros1) wait->max_error_ns = declared.max_error_ns;
  ready->running |= wait->max_error_ns != 0;
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"running", no_argument, NULL, OPTION_RUNNING},
      {"min-rate", required_argument, NULL, OPTION_MIN_RATE},
      {"max-rate", required_argument, NULL, OPTION_MAX_RATE},
      {"rtf", required_argument, NULL, OPTION_RTF},
      {"max-error", required_argument, NULL, OPTION_MAX_ERROR},
      {"manifest", required_argument, NULL, OPTION_MANIFEST},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"activate", required_argument, NULL, OPTION_ACTIVATE},
      {"json", no_argument, NULL, OPTION_JSON},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  static wait_t wait; /* large */
  wait = (wait_t){.command = command, .limit = LIMIT, .domain = -1};
  int option;
  while ((option = command_next_option(argc, argv, ":h", options)) != -1) {
    if (option == 'h') return command_help(command);
    if (option < OPTION_RUNNING) return command_bad_option(command, option, argv);
    if (!parse(&wait, option)) return EXIT_USAGE;
  }
  if (optind < argc && !wait.node_count)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  for (int i = optind; i < argc; i++)
    if (!add_node(&wait, argv[i])) return EXIT_USAGE;
  if (wait.ros1 && ros1_refuse_options(command, wait.domain, wait.max_error_ns)) return EXIT_USAGE;
  if (wait.ros1 && wait.node_count)
    return command_usage_error(command, "--activate: nodes of ROS 1 have no lifecycle");
  int result = wait.manifest ? take_manifest(&wait) : EXIT_OK;
  if (!result) result = check(command, &wait.ready);
  if (result) return result;
  command_show_log(command);
  return wait_run(&wait);
}

const command_t command_wait = {
    .name = "wait",
    .summary = "wait until ROS time is ready",
    .usage = "timebase wait [--running] [--min-rate HZ] [--max-rate HZ] [--rtf LO:HI]"
             " [--max-error D]\n"
             "                     [--manifest FILE] [--limit D] [--activate NODE...] [--json] "
             "[--domain N] [--ros1]",
    .help =
        "Waits for the first tick above zero on /clock, or of TIMEBASE_SOURCE if set (shm:NAME).\n"
        "A paused clock is ready too, unless it has to run; the output reports it. Discovery is "
        "not\n"
        "waited for. A clock with several publishers that tick at a time is not ready.\n\n"
        "  --running      time must advance: two distinct ticks, over at least 0.1 s\n"
        "  --min-rate HZ  at least HZ ticks a second that move time, over 1 s\n"
        "  --max-rate HZ  at most\n"
        "  --rtf LO:HI    seconds of ROS time in a real second, over 1 s; LO or HI may be left "
        "out\n"
        "  --max-error D  a node's time must be wrong by at most D: by factor x p99.9 of the\n"
        "                 latency of /clock + one tick, over 1 s\n"
        "  --manifest FILE  topic, rate, factor and max_error as a manifest declares them, where\n"
        "                 no option does\n"
        "  --limit D      wait at most D in all (default 30s)\n"
        "  --activate NODE...  once ready, activate these lifecycle nodes in this order;\n"
        "                 unconfigured ones are configured first\n"
        "  --json         one line: ready, reason, what was measured and what was asked for\n"
        "  --domain N     DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --ros1         wait for /clock of the ROS 1 graph of ROS_MASTER_URI, whatever\n"
        "                 /use_sim_time is; the master is waited for too. What is wrong with that\n"
        "                 graph's time is printed as warnings, and is \"rules\" in JSON: see\n"
        "                 timebase audit --ros1\n"
        "  -h, --help     this text\n\n"
        "Reasons: no-source, no-publisher, qos, zero, lost, stalled, paused, observing, slow, "
        "fast,\n"
        "backwards, two-publishers, two-streams, inexact, not-active, no-master. Status 1 if the\n"
        "clock was not ready, or a node not active, within the limit, 3 if it was the ROS 1 "
        "master\n"
        "that did not answer.\n",
    .run = run,
};

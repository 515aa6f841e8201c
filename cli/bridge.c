#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge_clock.h"
#include "bridge_direction.h"
#include "bridge_topics.h"
#include "terminal.h"
#include "text.h"

#define LOOK_MS       100
#define FOLDERS_MAX   16
#define STREAMS_JUMPS 5 /* back, in a second or so */

enum {
  OPTION_CLOCK = 256,
  OPTION_FROM,
  OPTION_TOPICS,
  OPTION_REGEX,
  OPTION_TO_ROS1,
  OPTION_TO_ROS2,
  OPTION_EXCLUDE,
  OPTION_EXCLUDE_REGEX,
  OPTION_DEFINITIONS,
  OPTION_JSON,
  OPTION_DURATION,
  OPTION_DOMAIN,
  OPTION_NODE,
  OPTION_NAMESPACE
};

typedef struct arguments {
  bool clock, json;
  bridge_side_t from;
  tb_duration_t duration; /* 0: until interrupted */
  bridge_place_t place;
  bridge_choice_t choice;
  const char *folders[FOLDERS_MAX];
} arguments_t;

typedef struct bridge {
  const command_t *command;
  const arguments_t *arguments;
  bridge_ends_t ends;
  bridge_look_t look;
  bridge_direction_t direction;
  bridge_topics_t topics;
  bridge_clock_t clock;
  terminal_t terminal;
  bridge_clock_stats_t shown; /* by the last line */
  int64_t shown_ns, end_ns;
  bool is_suspended, has_hinted;
  uint64_t jumps_before; /* backward, at jumps_ns: hint_at_two_streams */
  int64_t jumps_ns;
} bridge_t;

/* --- showing --- */

static double rate_of(const bridge_clock_stats_t *stats)
{
  double seconds = (double)(stats->last_steady_ns - stats->first_steady_ns) / 1e9;
  return seconds > 0 ? (double)(stats->ticks - 1) / seconds : 0;
}

static void print_json_counts(const bridge_clock_stats_t *stats)
{
  text_out("\"time_ns\": %lld, \"ticks\": %llu, \"repeated\": %llu, \"jumps_forward\": %llu, "
           "\"jumps_backward\": %llu, \"dropped\": %llu",
           (long long)stats->time_ns, (unsigned long long)stats->ticks,
           (unsigned long long)stats->repeated, (unsigned long long)stats->jumps_forward,
           (unsigned long long)stats->jumps_backward,
           (unsigned long long)bridge_clock_dropped(stats));
}

static void show_json(bridge_t *bridge, const bridge_clock_stats_t *stats, double rate_hz)
{
  uint64_t messages;
  size_t count = bridge_topics_count(&bridge->topics, &messages);
  text_out("{");
  if (bridge->arguments->clock) {
    text_out("\"from\": \"%s\", ", bridge_side_word(bridge->direction.from));
    print_json_counts(stats);
    text_out(", \"rate_hz\": %.3f, \"publishers\": %u, ", rate_hz,
             bridge_clock_connected(&bridge->clock));
  }
  text_out("\"topics\": %zu, \"messages\": %llu}\n", count, (unsigned long long)messages);
}

static void put_topics(FILE *out, const bridge_t *bridge)
{
  uint64_t messages;
  if (!bridge->arguments->choice.is_given) return;
  size_t count = bridge_topics_count(&bridge->topics, &messages);
  text_to(out, "  topics %zu  messages %llu", count, (unsigned long long)messages);
}

/* Once: as where a recorded /clock is played beside the player's own. */
static void hint_at_two_streams(bridge_t *bridge, const bridge_clock_stats_t *stats, int64_t now_ns)
{
  uint64_t jumps = stats->jumps_backward - bridge->jumps_before;
  if (now_ns - bridge->jumps_ns >= TB_NS_PER_S) {
    bridge->jumps_before = stats->jumps_backward;
    bridge->jumps_ns = now_ns;
  }
  if (jumps < STREAMS_JUMPS || bridge->has_hinted) return;
  bridge->has_hinted = true;
  command_begin_warning(bridge->command);
  text_err(BRIDGE_CLOCK_TOPIC " of %s jumps back and forth: it seems to carry two streams of time; "
                              "'timebase audit%s' names them\n",
           bridge_side_name(bridge->direction.from),
           bridge->direction.from == BRIDGE_ROS1 ? " --ros1" : "");
}

static void put_clock(FILE *out, const bridge_t *bridge, const bridge_clock_stats_t *stats,
                      double rate_hz)
{
  if (!bridge->arguments->clock) return;
  text_to(out, "%s to %s  time %lld.%03d  %.1f Hz  ticks %llu  jumps +%llu -%llu%s",
          bridge_side_name(bridge->direction.from),
          bridge_side_name(bridge_other_side(bridge->direction.from)),
          (long long)(stats->time_ns / TB_NS_PER_S),
          (int)(stats->time_ns % TB_NS_PER_S / TB_NS_PER_MS), rate_hz,
          (unsigned long long)stats->ticks, (unsigned long long)stats->jumps_forward,
          (unsigned long long)stats->jumps_backward,
          bridge->is_suspended                      ? "  suspended"
          : !bridge_clock_connected(&bridge->clock) ? "  no publisher"
                                                    : "");
}

static void show_text(bridge_t *bridge, const bridge_clock_stats_t *stats, double rate_hz)
{
  char *line = NULL;
  size_t size;
  FILE *stream = open_memstream(&line, &size);
  if (!stream) return;
  put_clock(stream, bridge, stats, rate_hz);
  put_topics(stream, bridge);
  if (fclose(stream) == 0 && line) {
    if (bridge->terminal.screen)
      terminal_show(line);
    else
      text_out("%s\n", line);
  }
  free(line);
}

/* False: standard output was closed. */
static bool show(bridge_t *bridge)
{
  bridge_clock_stats_t stats = {0};
  int64_t now_ns = bridge_now_ns(&bridge->ends);
  int64_t span_ns = now_ns - bridge->shown_ns;
  bool is_due = span_ns >= (int64_t)terminal_period_ms(&bridge->terminal) * TB_NS_PER_MS;
  if (!is_due) return true;
  if (bridge->arguments->clock) bridge_clock_stats(&bridge->clock, &stats);
  double rate_hz = (double)(stats.ticks - bridge->shown.ticks) / ((double)span_ns / 1e9);
  if (bridge->arguments->json)
    show_json(bridge, &stats, rate_hz);
  else
    show_text(bridge, &stats, rate_hz);
  hint_at_two_streams(bridge, &stats, now_ns);
  bridge->shown = stats;
  bridge->shown_ns = now_ns;
  return command_flush();
}

static void show_failure(bridge_t *bridge)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!bridge_clock_take_failure(&bridge->clock, &error)) return;
  command_begin_warning(bridge->command);
  text_err("a tick was not carried: %s; more of them are only counted\n", error.text);
}

static void show_clock_json(const bridge_clock_stats_t *stats, const bridge_latency_t *latency)
{
  print_json_counts(stats);
  text_out(", \"rate_hz\": %.3f, \"zero\": %llu, \"invalid\": %llu, \"beyond\": %llu, "
           "\"failed\": %llu, \"largest_backward_ns\": %lld, \"latency_median_ns\": %lld, "
           "\"latency_p99_ns\": %lld, \"latency_greatest_ns\": %lld, ",
           rate_of(stats), (unsigned long long)stats->zero, (unsigned long long)stats->invalid,
           (unsigned long long)stats->beyond, (unsigned long long)stats->failed,
           (long long)stats->largest_backward_ns, (long long)latency->median_ns,
           (long long)latency->p99_ns, (long long)latency->greatest_ns);
}

static void show_clock_text(const bridge_t *bridge, const bridge_clock_stats_t *stats,
                            const bridge_latency_t *latency)
{
  text_out(
      "%llu ticks from %s to %s, %.1f Hz  repeated %llu  jumps +%llu -%llu  not carried %llu\n",
      (unsigned long long)stats->ticks, bridge_side_name(bridge->direction.from),
      bridge_side_name(bridge_other_side(bridge->direction.from)), rate_of(stats),
      (unsigned long long)stats->repeated, (unsigned long long)stats->jumps_forward,
      (unsigned long long)stats->jumps_backward, (unsigned long long)bridge_clock_dropped(stats));
  if (stats->ticks)
    text_out("carried within %.0f us (median), %.0f us (p99)\n", (double)latency->median_ns / 1e3,
             (double)latency->p99_ns / 1e3);
}

static void show_summary(bridge_t *bridge)
{
  bridge_clock_stats_t stats;
  bridge_latency_t latency;
  bool clock = bridge->arguments->clock, json = bridge->arguments->json;
  bridge_topics_show(&bridge->topics, json);
  if (clock) {
    bridge_clock_stats(&bridge->clock, &stats);
    bridge_clock_latency(&bridge->clock, &latency);
  }
  if (json) {
    text_out("{");
    if (clock) text_out("\"from\": \"%s\", ", bridge_side_word(bridge->direction.from));
    if (clock) show_clock_json(&stats, &latency);
    text_out("\"summary\": true}\n");
  } else if (clock) {
    show_clock_text(bridge, &stats, &latency);
  }
}

/* --- running --- */

/* False: a signal came, or the duration has passed. */
static bool pause_for_a_look(bridge_t *bridge)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  int64_t left_ns = bridge->end_ns - bridge_now_ns(&bridge->ends);
  if (left_ns <= 0) return false;
  int64_t left_ms = (left_ns + TB_NS_PER_MS - 1) / TB_NS_PER_MS;
  return poll(&fd, 1, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS) <= 0;
}

/* The master would end the older one, and each takes the other for itself. True: printed. */
static bool has_namesake(const bridge_t *bridge, const bridge_view_t *view)
{
  const tb_ros1_graph_node_t *node = bridge_view_namesake(view);
  if (!node) return false;
  text_err(
      "timebase %s: a node of ROS 1 is named %s already (process %d, %s); give each bridge a name "
      "of its own with --node\n",
      bridge->command->name, node->name, (int)node->pid, node->uri);
  return true;
}

/* Whether to begin, by what is seen. */
static bridge_verdict_t decide_by(bridge_t *bridge, const bridge_view_t *view)
{
  if (!bridge_look_is_settled(&bridge->look, view)) return BRIDGE_WAIT;
  if (has_namesake(bridge, view)) return BRIDGE_REFUSED;
  return bridge->arguments->clock ? bridge_direction_decide(&bridge->direction, view) : BRIDGE_GO;
}

/* *out: whether to go on. */
static int decide(bridge_t *bridge, bool *out)
{
  bridge_view_t view;
  bridge_verdict_t verdict = BRIDGE_WAIT;
  *out = true;
  while (verdict == BRIDGE_WAIT && *out) {
    if (bridge_look_take(&bridge->look, &view)) {
      verdict = decide_by(bridge, &view);
      bridge_view_release(&view);
    }
    if (verdict == BRIDGE_WAIT) *out = pause_for_a_look(bridge);
  }
  return verdict == BRIDGE_REFUSED ? EXIT_CHECK : EXIT_OK;
}

static int check_clock(bridge_t *bridge, const bridge_view_t *view)
{
  if (!bridge->arguments->clock) return EXIT_OK;
  bridge_verdict_t verdict = bridge_direction_check(&bridge->direction, view);
  if (bridge->is_suspended != (verdict != BRIDGE_GO)) {
    bridge->is_suspended = verdict != BRIDGE_GO;
    bridge_clock_set_carrying(&bridge->clock, !bridge->is_suspended);
  }
  show_failure(bridge);
  return verdict == BRIDGE_REFUSED ? EXIT_CHECK : EXIT_OK;
}

static int carry(bridge_t *bridge)
{
  bridge_view_t view;
  int result = EXIT_OK;
  while (!result && show(bridge) && pause_for_a_look(bridge)) {
    if (!bridge_look_take(&bridge->look, &view)) continue;
    bridge_view_mark(&bridge->ends); /* again: the master may have been restarted */
    result = has_namesake(bridge, &view) ? EXIT_CHECK : check_clock(bridge, &view);
    if (!result) result = bridge_topics_look(&bridge->topics, &view);
    bridge_view_release(&view);
  }
  return result;
}

static void show_begin(const bridge_t *bridge)
{
  const arguments_t *arguments = bridge->arguments;
  const char *node = tb_ros2_node_fully_qualified_name(bridge->ends.node);
  bridge_side_t from = bridge->direction.from;
  if (arguments->json && arguments->clock)
    text_out("{\"from\": \"%s\", \"node\": \"%s\", \"begin\": true}\n", bridge_side_word(from),
             node);
  else if (arguments->json)
    text_out("{\"node\": \"%s\", \"begin\": true}\n", node);
  else if (arguments->clock)
    text_out("carrying " BRIDGE_CLOCK_TOPIC " from %s to %s%s, as %s\n", bridge_side_name(from),
             bridge_side_name(bridge_other_side(from)),
             arguments->choice.is_given ? ", and topics" : "", node);
  else
    text_out("carrying topics, as %s\n", node);
  command_flush();
}

static int begin(bridge_t *bridge)
{
  bridge_view_mark(&bridge->ends); /* else at the first look */
  int result = bridge_topics_open(bridge->command, &bridge->arguments->choice, &bridge->topics);
  if (!result && bridge->arguments->clock)
    result = bridge_clock_open(&bridge->ends, bridge->direction.from, &bridge->clock);
  bridge->shown_ns = bridge_now_ns(&bridge->ends);
  if (!result) show_begin(bridge);
  return result;
}

static int run_bridge(bridge_t *bridge)
{
  bool goes_on;
  const arguments_t *arguments = bridge->arguments;
  int result = bridge_ends_open(bridge->command, &arguments->place, &bridge->ends);
  if (result) return result;
  int64_t now_ns = bridge_now_ns(&bridge->ends);
  bridge->end_ns = arguments->duration.ns && arguments->duration.ns < INT64_MAX - now_ns
                       ? now_ns + arguments->duration.ns
                       : INT64_MAX;
  bridge_look_begin(&bridge->look, &bridge->ends);
  bridge_direction_begin(&bridge->direction, &bridge->ends, arguments->from);
  result = decide(bridge, &goes_on);
  if (result || !goes_on) return result;
  result = begin(bridge);
  if (result) return result;
  terminal_open(&bridge->terminal);
  result = carry(bridge);
  command_force_exit_on_repeat_signal();
  terminal_clear(&bridge->terminal);
  terminal_close(&bridge->terminal);
  if (arguments->clock) bridge_clock_set_carrying(&bridge->clock, false);
  bridge_topics_end(&bridge->topics);
  show_summary(bridge);
  command_flush();
  return result;
}

/* --- arguments --- */

/* Words up to the next option; with an argument of the option, that one first. False: a message has
 * been printed. */
static bool take_words(const command_t *command, int argc, char **argv, bool has_first,
                       bridge_names_t *names)
{
  int first = has_first ? optind - 1 : optind;
  if (names->items) {
    command_usage_error(command, "--%s: given twice; write all names after one",
                        command_option_name());
    return false;
  }
  if (has_first) argv[first] = optarg; /* of --option=NAME: the name */
  while (optind < argc && argv[optind][0] != '-')
    optind++;
  names->items = (const char *const *)argv + first;
  names->count = (size_t)(optind - first);
  return true;
}

static bool take_expression(const command_t *command, const char *name, tb_topic_expression_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_topic_expression_destroy(*out);
  *out = NULL;
  if (!tb_topic_expression_create(optarg, out, &error)) return true;
  command_usage_error(command, "%s '%s': %s", name, optarg, error.text);
  return false;
}

/* False: it is none of topics, or a message has been printed and *out_is_wrong is set. */
static bool parse_choice(const command_t *command, int option, int argc, char **argv,
                         bridge_choice_t *choice, bool *out_is_wrong)
{
  switch (option) {
  case OPTION_TOPICS:
    *out_is_wrong = !take_words(command, argc, argv, false, &choice->names);
    choice->all = choice->names.count == 0;
    break;
  case OPTION_TO_ROS1:
    *out_is_wrong = !take_words(command, argc, argv, true, &choice->to_ros1);
    break;
  case OPTION_TO_ROS2:
    *out_is_wrong = !take_words(command, argc, argv, true, &choice->to_ros2);
    break;
  case OPTION_REGEX:
    *out_is_wrong = !take_expression(command, "--regex", &choice->regex);
    break;
  case OPTION_EXCLUDE:
    *out_is_wrong = !take_words(command, argc, argv, true, &choice->exclude);
    return !*out_is_wrong;
  case OPTION_EXCLUDE_REGEX:
    *out_is_wrong = !take_expression(command, "--exclude-regex", &choice->exclude_regex);
    return !*out_is_wrong;
  default:
    return false;
  }
  choice->is_given = true;
  return !*out_is_wrong;
}

static bool take_folder(const command_t *command, arguments_t *arguments)
{
  bridge_folders_t *folders = &arguments->choice.folders;
  folders->items = arguments->folders;
  if (folders->count < FOLDERS_MAX) {
    arguments->folders[folders->count++] = optarg;
    return true;
  }
  command_usage_error(command, "more than %d times --definitions", FOLDERS_MAX);
  return false;
}

static bool parse(const command_t *command, int option, int argc, char **argv,
                  arguments_t *arguments)
{
  static const char *const sides[] = {"ros1", "ros2", NULL};
  int side;
  bool is_wrong = false;
  switch (option) {
  case OPTION_CLOCK:
    arguments->clock = true;
    return true;
  case OPTION_FROM:
    if (!command_parse_word(command, "--from", optarg, sides, &side)) return false;
    arguments->from = (bridge_side_t)side;
    return true;
  case OPTION_JSON:
    arguments->json = true;
    return true;
  case OPTION_DURATION:
    return command_parse_limit(command, "--duration", optarg, &arguments->duration);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->place.domain);
  case OPTION_NODE:
    arguments->place.node = optarg;
    return true;
  case OPTION_NAMESPACE:
    arguments->place.name_space = optarg;
    return true;
  case OPTION_DEFINITIONS:
    return take_folder(command, arguments);
  default:
    if (parse_choice(command, option, argc, argv, &arguments->choice, &is_wrong)) return true;
    if (!is_wrong) command_bad_option(command, option, argv);
    return false;
  }
}

static int check(const command_t *command, const arguments_t *arguments)
{
  const bridge_choice_t *choice = &arguments->choice;
  if (!arguments->clock && !choice->is_given)
    return command_usage_error(command, "nothing to carry: give --clock, --topics or both");
  if (!arguments->clock && arguments->from != BRIDGE_UNDECIDED)
    return command_usage_error(command, "--from: only with --clock; see --to-ros1 and --to-ros2");
  if (!choice->is_given && (choice->exclude.count || choice->exclude_regex))
    return command_usage_error(command, "--exclude: only with topics that are chosen");
  return EXIT_OK;
}

static int run_with(const command_t *command, const arguments_t *arguments)
{
  static bridge_t bridge;
  bridge = (bridge_t){.command = command, .arguments = arguments};
  bridge.topics.choice = &arguments->choice;
  command_show_log(command);
  command_catch_signals();
  int result = run_bridge(&bridge);
  bridge_ends_begin_end(&bridge.ends);
  bridge_clock_close(&bridge.clock);
  bridge_topics_close(&bridge.topics);
  bridge_view_unmark(&bridge.ends);
  bridge_ends_close(&bridge.ends);
  return command_finish(command, result);
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"clock", no_argument, NULL, OPTION_CLOCK},
      {"from", required_argument, NULL, OPTION_FROM},
      {"topics", no_argument, NULL, OPTION_TOPICS},
      {"regex", required_argument, NULL, OPTION_REGEX},
      {"to-ros1", required_argument, NULL, OPTION_TO_ROS1},
      {"to-ros2", required_argument, NULL, OPTION_TO_ROS2},
      {"exclude", required_argument, NULL, OPTION_EXCLUDE},
      {"exclude-regex", required_argument, NULL, OPTION_EXCLUDE_REGEX},
      {"definitions", required_argument, NULL, OPTION_DEFINITIONS},
      {"json", no_argument, NULL, OPTION_JSON},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"node", required_argument, NULL, OPTION_NODE},
      {"namespace", required_argument, NULL, OPTION_NAMESPACE},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.from = BRIDGE_UNDECIDED, .place = {.domain = -1}};
  int result = EXIT_OK;
  for (int option; !result && (option = command_next_option(argc, argv, "+:h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (!parse(command, option, argc, argv, &arguments)) result = EXIT_USAGE;
  }
  if (!result && optind < argc)
    result = command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  if (!result) result = check(command, &arguments);
  if (!result) result = run_with(command, &arguments);
  tb_topic_expression_destroy(arguments.choice.regex);
  tb_topic_expression_destroy(arguments.choice.exclude_regex);
  return result;
}

const command_t command_bridge = {
    .name = "bridge",
    .summary = "carry /clock and topics between ROS 1 and ROS 2",
    .usage = "timebase bridge [--clock [--from ros1|ros2]] [--topics [NAME...]] [OPTION...]",
    .help =
        "Joins the ROS 1 graph of ROS_MASTER_URI and a domain of ROS 2. Once a second, and for "
        "the\n"
        "whole run at the end, prints what was carried.\n\n"
        "  --clock         carry /clock: each tick once, as it is, with pauses, rates and jumps. "
        "On\n"
        "                  ROS 1 /use_sim_time is true while it is carried there; nodes read it\n"
        "                  when they start: start them after this\n"
        "  --from SIDE     /clock from ros1 or ros2; without it, from the side that has a "
        "publisher\n"
        "                  of it: waits for one; where both have one, status 1\n"
        "  --topics [NAME...]\n"
        "                  carry these topics, or all, from the side that publishes them; * "
        "stands\n"
        "                  for what has no slash, ** for anything. Each message is re-encoded by\n"
        "                  the definitions of its type; types that do not match are reported once\n"
        "  --regex EXPR    topics in which this (ECMAScript) is found, too\n"
        "  --to-ros1 NAME..., --to-ros2 NAME...\n"
        "                  these topics, in that direction alone\n"
        "  --exclude NAME..., --exclude-regex EXPR\n"
        "                  but not these. /clock, /rosout and /parameter_events never are\n"
        "  --definitions DIR  where definitions of ROS 2 are looked for after AMENT_PREFIX_PATH\n"
        "  --json          one object per line; the last one has \"summary\": true\n"
        "  --duration S    end after S (10, 1.5s, 2m); otherwise on SIGINT or SIGTERM\n"
        "  --domain N      DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --node NAME     name of both nodes (default: one that no other bridge has)\n"
        "  --namespace NS  of both nodes (default /)\n"
        "  -h, --help      this text\n\n"
        "A second bridge that carries the same between the same two graphs is refused, as "
        "messages\n"
        "would arrive twice or go in a circle: status 1 for /clock. A tick that the other side\n"
        "cannot carry is dropped and counted: zero, and on ROS 2 what is after 2038.\n",
    .run = run,
};

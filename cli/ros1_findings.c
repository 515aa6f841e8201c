#include "ros1_findings.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/durations.h"
#include "findings.h"
#include "text.h"

#define CLOCK      "/clock"
#define PARAMETER  "/use_sim_time"
#define STEP_NS    (10 * TB_NS_PER_MS)
#define CONNECT_NS (500 * TB_NS_PER_MS) /* a node of roscpp takes 170 ms */
#define STOPPED_NS (2 * TB_NS_PER_S)
#define NAMES_SIZE 512
#define NAMES_MAX  8

#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

static int64_t steady_now(const ros1_look_t *look)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(look->gauge->steady, &now);
  return now.ns;
}

/* --- the nodes --- */

static bool has_prefix(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(const char *text, const char *suffix)
{
  size_t length = strlen(text), wanted = strlen(suffix);
  return length >= wanted && !strcmp(text + length - wanted, suffix);
}

/* roscore's own, which starts before anything can be set, and nodes that commands make for
 * themselves. */
static bool is_tool(const char *name)
{
  return !strcmp(name, "/rosout") || has_prefix(name, "/rostopic_") ||
         has_prefix(name, "/roswtf_") || has_prefix(name, "/rosnode_") || tb__base_is_tool(name);
}

/* Topics that nodes have beside their work. */
static bool is_output(const char *topic)
{
  return strcmp(topic, "/rosout") != 0 && strcmp(topic, CLOCK) != 0 &&
         strcmp(topic, "/statistics") != 0 && !has_suffix(topic, "/parameter_descriptions") &&
         !has_suffix(topic, "/parameter_updates");
}

static bool has_output(const ros1_look_t *look, const tb_ros1_graph_node_t *node)
{
  for (uint32_t i = 0; i < node->publication_count; i++)
    if (is_output(look->graph->topics[node->publications[i]].name)) return true;
  return false;
}

/* A recorder and `rostopic echo` take messages of any type. */
static bool takes_any_type(const tb_ros1_graph_node_t *node)
{
  return node->subscribes_clock && !strcmp(node->clock_type, "*");
}

bool ros1_node_follows(const tb_ros1_graph_node_t *node)
{
  return node->subscribes_clock && !takes_any_type(node) && !is_tool(node->name) &&
         node->state != TB_ROS1_NODE_DEAD && node->state != TB_ROS1_NODE_FOREIGN;
}

static ros1_role_t role_of(const ros1_look_t *look, const tb_ros1_graph_node_t *node)
{
  if (node->publishes_clock) return ROS1_ROLE_CLOCK;
  if (node->is_own || is_tool(node->name)) return ROS1_ROLE_TOOL;
  bool has = has_output(look, node);
  if (!has && (takes_any_type(node) || has_prefix(node->name, "/record_")))
    return ROS1_ROLE_RECORDER;
  return has ? ROS1_ROLE_NODE : ROS1_ROLE_QUIET;
}

static void judge_node(const ros1_look_t *look, const tb_ros1_graph_node_t *node, ros1_node_t *out)
{
  *out = (ros1_node_t){.role = role_of(look, node), .base = TB__BASE_UNKNOWN};
  if (node->state == TB_ROS1_NODE_DEAD || node->state == TB_ROS1_NODE_FOREIGN) {
    out->why = "it is not there";
  } else if (takes_any_type(node)) {
    out->why = "it subscribes to /clock as a recorder does, whatever its time is";
  } else if (node->subscribes_clock) {
    out->base = TB__BASE_CLOCK;
    out->why = "it subscribes to /clock";
  } else {
    out->base = TB__BASE_WALL;
    out->why = "it does not subscribe to /clock, as each node does that found /use_sim_time set";
  }
}

/* --- /clock --- */

static void take_ticks(ros1_look_t *look)
{
  pthread_mutex_lock(&look->gauge->mutex);
  look->ticks = look->gauge->ticks;
  memcpy(look->names, look->gauge->names, sizeof look->names);
  if (look->goes_on) clock_gauge_go_on_locked(look->gauge);
  pthread_mutex_unlock(&look->gauge->mutex);
}

/* Those that answer, of the registered publishers of /clock. */
static size_t count_servers(const ros1_look_t *look, size_t *out_registered)
{
  size_t alive = 0, registered = 0;
  for (size_t i = 0; i < look->graph->node_count; i++) {
    registered += look->graph->nodes[i].publishes_clock;
    alive +=
        look->graph->nodes[i].publishes_clock && look->graph->nodes[i].state == TB_ROS1_NODE_ALIVE;
  }
  if (out_registered) *out_registered = registered;
  return alive;
}

static ros1_clock_state_t clock_state(const ros1_look_t *look)
{
  size_t registered, alive = count_servers(look, &registered);
  const tb__tick_stream_t *all = &look->ticks.all;
  if (all->ticks && steady_now(look) - all->heard_ns < STOPPED_NS) return ROS1_CLOCK_TICKS;
  if (!registered) return ROS1_CLOCK_NONE;
  if (!alive) return ROS1_CLOCK_DEAD;
  return all->ticks ? ROS1_CLOCK_STOPPED : ROS1_CLOCK_SILENT;
}

static void append_name(char *names, size_t *count, const char *name)
{
  size_t length = strlen(names);
  if ((*count)++ < NAMES_MAX)
    snprintf(names + length, NAMES_SIZE - length, "%s%s", length ? ", " : "", name);
  else if (*count == NAMES_MAX + 1)
    snprintf(names + length, NAMES_SIZE - length, " and others");
}

/* Those that ticked. */
static void ticking_names(const ros1_look_t *look, char names[NAMES_SIZE])
{
  size_t count = 0;
  names[0] = '\0';
  for (uint32_t i = 0; i < look->ticks.publisher_count; i++) {
    const char *name = look->names[i].id == look->ticks.publishers[i].id ? look->names[i].name : "";
    append_name(names, &count, *name ? name : "a publisher without a name");
  }
}

/* Registered publishers of /clock that answer, or of those that do not. */
static void server_names(const ros1_look_t *look, bool are_alive, char names[NAMES_SIZE])
{
  size_t count = 0;
  names[0] = '\0';
  for (size_t i = 0; i < look->graph->node_count; i++) {
    const tb_ros1_graph_node_t *node = &look->graph->nodes[i];
    if (node->publishes_clock && (node->state == TB_ROS1_NODE_ALIVE) == are_alive)
      append_name(names, &count, node->name);
  }
}

/* --- findings --- */

static void add_clock_problem(ros1_look_t *look, tb__rule_id_t rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_clock_problem(ros1_look_t *look, tb__rule_id_t rule, const char *format, ...)
{
  char line[TB__FINDING_LINE_SIZE], count[16];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  snprintf(count, sizeof count, "%u", tb__ticks_simultaneous(&look->ticks));
  tb__finding_input_t input = {
      .rule = rule, .kind = TB__SUBJECT_CLOCK, .subject = CLOCK, .detail = count};
  tb__findings_add(look->findings, &input, "%s", line);
}

static void find_clock_problems(ros1_look_t *look)
{
  char names[NAMES_SIZE];
  const tb__tick_stream_t *all = &look->ticks.all;
  ticking_names(look, names);
  if (tb__ticks_simultaneous(&look->ticks) > 1)
    add_clock_problem(look, TB__RULE_CLOCK_TWO_PUBLISHERS, "they tick by turns: %s", names);
  for (uint32_t i = 0; i < look->ticks.publisher_count; i++) {
    const tb__tick_stream_t *stream = &look->ticks.publishers[i].stream;
    if (tb__tick_stream_is_double(stream))
      add_clock_problem(look, TB__RULE_CLOCK_TWO_STREAMS,
                        "%s sends two times that are %.3f s apart", look->names[i].name,
                        SECONDS(stream->apart_ns));
    else if (stream->kinds[TB__TICK_BACKWARD])
      add_clock_problem(look, TB__RULE_CLOCK_BACKWARDS,
                        "%" PRIu64 " times, by up to %.3f s; first at %.3f s",
                        stream->kinds[TB__TICK_BACKWARD], SECONDS(stream->backward_ns),
                        SECONDS(stream->backward_at_ns));
  }
  if (all->kinds[TB__TICK_ZERO])
    add_clock_problem(look, TB__RULE_CLOCK_ZERO, "%" PRIu64 " of %" PRIu64 " ticks are 0",
                      all->kinds[TB__TICK_ZERO], all->ticks);
  if (all->kinds[TB__TICK_INVALID])
    add_clock_problem(look, TB__RULE_CLOCK_INVALID,
                      "%" PRIu64 " of %" PRIu64 " ticks are no valid time, first %s",
                      all->kinds[TB__TICK_INVALID], all->ticks,
                      tb__invalid_time_text(all->invalid_ns).text);
  if (look->clock == ROS1_CLOCK_STOPPED)
    add_clock_problem(look, TB__RULE_CLOCK_STALL, "no tick for %.1f s; the last one was %.3f s",
                      SECONDS(steady_now(look) - all->heard_ns), SECONDS(all->last_ns));
}

static tb__finding_input_t of_parameter(tb__rule_id_t rule, tb__severity_t severity)
{
  return (tb__finding_input_t){
      .rule = rule, .severity = severity, .kind = TB__SUBJECT_PARAMETER, .subject = PARAMETER};
}

static size_t count_base(const ros1_look_t *look, tb__base_t base)
{
  size_t count = 0;
  for (size_t i = 0; i < look->graph->node_count; i++)
    count += look->nodes[i].base == base && look->nodes[i].role != ROS1_ROLE_CLOCK &&
             look->nodes[i].role != ROS1_ROLE_TOOL;
  return count;
}

static void find_unset(ros1_look_t *look)
{
  char names[NAMES_SIZE];
  tb__finding_input_t input = of_parameter(TB__RULE_SIM_TIME_UNSET, 0);
  bool is_set = look->graph->sim_time != TB_ROS1_SIM_TIME_UNSET;
  tb__findings_add(look->findings, &input, "it is %s%s", is_set ? "set, to " : "not set",
                   look->graph->sim_time_text);
  ticking_names(look, names);
  tb__findings_add_evidence(look->findings, "/clock is published by %s", names);
  size_t count = count_base(look, TB__BASE_WALL);
  if (count)
    tb__findings_add_evidence(
        look->findings, "%zu node%s on wall time; once it is set, %s to be started again", count,
        count == 1 ? " is" : "s are", count == 1 ? "it has" : "they have");
}

static void find_odd(ros1_look_t *look)
{
  tb__finding_input_t input = of_parameter(TB__RULE_SIM_TIME_TYPE, 0);
  tb__findings_add(look->findings, &input,
                   "it is %s: roscpp takes the boolean true alone, rospy whatever is true",
                   look->graph->sim_time_text);
}

/* Nodes that wait for /clock: started when it was set. */
static void find_missing(ros1_look_t *look)
{
  char names[NAMES_SIZE];
  size_t waiting = count_base(look, TB__BASE_CLOCK);
  tb__finding_input_t input =
      of_parameter(TB__RULE_CLOCK_MISSING, waiting ? TB__SEVERITY_ERROR : TB__SEVERITY_WARN);
  if (look->clock == ROS1_CLOCK_NONE) {
    tb__findings_add(look->findings, &input, "no node publishes /clock");
  } else if (look->clock == ROS1_CLOCK_DEAD) {
    server_names(look, false, names);
    tb__findings_add(look->findings, &input,
                     "registered as publishers of /clock, and not answering: %s", names);
  } else {
    server_names(look, true, names);
    tb__findings_add(look->findings, &input,
                     "registered as publishers of /clock, and silent: %s; rosbag play publishes it "
                     "with --clock only",
                     names);
  }
  if (!waiting) tb__findings_add_evidence(look->findings, "no node waits for it yet");
}

static void find_sim_time(ros1_look_t *look)
{
  tb_ros1_sim_time_value_t value = look->graph->sim_time;
  bool is_missing = look->clock < ROS1_CLOCK_STOPPED;
  if (value == TB_ROS1_SIM_TIME_ODD)
    find_odd(look);
  else if (value != TB_ROS1_SIM_TIME_TRUE && look->clock == ROS1_CLOCK_TICKS)
    find_unset(look);
  if ((value == TB_ROS1_SIM_TIME_TRUE || value == TB_ROS1_SIM_TIME_ODD) && is_missing)
    find_missing(look);
}

/* With /use_sim_time set, or with other nodes on /clock. While it is not, and all are on wall time,
 * that is one finding, which is not of the nodes. */
static void find_mixed(ros1_look_t *look, size_t index)
{
  const tb_ros1_graph_node_t *node = &look->graph->nodes[index];
  const ros1_node_t *judged = &look->nodes[index];
  tb_ros1_sim_time_value_t value = look->graph->sim_time;
  bool is_set = value == TB_ROS1_SIM_TIME_TRUE || value == TB_ROS1_SIM_TIME_ODD;
  if (judged->base != TB__BASE_WALL || look->clock != ROS1_CLOCK_TICKS) return;
  if (judged->role == ROS1_ROLE_CLOCK || judged->role == ROS1_ROLE_TOOL) return;
  if (!is_set && !count_base(look, TB__BASE_CLOCK)) return;
  tb__finding_input_t input = {.rule = TB__RULE_MIXED_TIME_BASE,
                               .severity = judged->role == ROS1_ROLE_NODE ? TB__SEVERITY_ERROR
                                                                          : TB__SEVERITY_WARN,
                               .kind = TB__SUBJECT_NODE,
                               .subject = node->name,
                               .cause = value == TB_ROS1_SIM_TIME_TRUE ? NULL : PARAMETER};
  tb__findings_add(look->findings, &input, "%s", judged->why);
  if (value == TB_ROS1_SIM_TIME_TRUE)
    tb__findings_add_evidence(look->findings,
                              "it started before " PARAMETER " was set, and stays on wall time "
                              "until it is started again");
}

/* A node that follows /clock and gets nothing. */
static void find_starved(ros1_look_t *look, size_t index)
{
  const tb_ros1_graph_node_t *node = &look->graph->nodes[index];
  const ros1_node_t *judged = &look->nodes[index];
  bool is_missing = look->clock < ROS1_CLOCK_STOPPED;
  bool is_apart =
      look->clock == ROS1_CLOCK_TICKS && node->clock_connections == 0 && !look->is_brief;
  if (judged->base != TB__BASE_CLOCK || judged->role == ROS1_ROLE_TOOL ||
      judged->role == ROS1_ROLE_CLOCK || node->state != TB_ROS1_NODE_ALIVE)
    return;
  if (!is_missing && !is_apart) return;
  tb__finding_input_t input = {.rule = TB__RULE_NO_CLOCK_RECEIVED,
                               .kind = TB__SUBJECT_NODE,
                               .subject = node->name,
                               .cause = is_missing ? PARAMETER : NULL};
  tb__findings_add(look->findings, &input,
                   is_apart ? "it subscribes to /clock, and is connected to no publisher of it"
                            : "it subscribes to /clock, and nothing ticks");
}

static void find_unreachable(ros1_look_t *look, size_t index)
{
  const tb_ros1_graph_node_t *node = &look->graph->nodes[index];
  tb__finding_input_t input = {
      .rule = TB__RULE_NODE_UNREACHABLE, .kind = TB__SUBJECT_NODE, .subject = node->name};
  if (node->state == TB_ROS1_NODE_ALIVE || node->is_own) return;
  tb__findings_add(look->findings, &input, "%s: %s", tb_ros1_node_state_name(node->state),
                   node->problem);
  if (node->state == TB_ROS1_NODE_DEAD)
    tb__findings_add_evidence(look->findings,
                              "it ended without unregistering; 'rosnode cleanup' does it for it");
}

static int judge(ros1_look_t *look)
{
  size_t count = look->graph->node_count;
  look->nodes = calloc(count + 1, sizeof *look->nodes);
  look->findings = tb__findings_create();
  if (!look->nodes || !look->findings) return command_failed(look->command, TB_ERR_NO_MEMORY, NULL);
  tb__findings_of_ros1(look->findings);
  for (size_t i = 0; i < count; i++)
    judge_node(look, &look->graph->nodes[i], &look->nodes[i]);
  take_ticks(look);
  look->clock = clock_state(look);
  find_clock_problems(look);
  find_sim_time(look);
  for (size_t i = 0; i < count; i++) {
    find_mixed(look, i);
    find_starved(look, i);
    find_unreachable(look, i);
  }
  if (look->find) look->find(look, look->find_user);
  tb_status_t status = tb__findings_finish(look->findings);
  return status ? command_failed(look->command, status, NULL) : EXIT_OK;
}

/* --- taking --- */

static int take_graph(ros1_look_t *look)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_graph_snapshot_release(look->graph);
  look->graph = NULL;
  tb_status_t status = tb_ros1_graph_take(look->context, look->limit, &look->graph, &error);
  return status ? command_failed(look->command, status, &error) : EXIT_OK;
}

/* Waits for a signal. */
static bool rest(int64_t rest_ns, int *out_signal)
{
  struct pollfd fd = {.fd = command_signal_fd(), .events = POLLIN};
  if (poll(&fd, 1, (int)(rest_ns / TB_NS_PER_MS)) <= 0) return true;
  *out_signal = *command_catch_signals();
  return false;
}

/* A node of which the master knows has not connected yet. */
static bool has_starved(const ros1_look_t *look)
{
  for (size_t i = 0; i < look->graph->node_count; i++) {
    const tb_ros1_graph_node_t *node = &look->graph->nodes[i];
    if (node->subscribes_clock && !node->is_own && node->clock_connections == 0) return true;
  }
  return false;
}

int ros1_look_listen(ros1_look_t *look, int64_t duration_ns, int *out_signal)
{
  int64_t begin_ns = steady_now(look);
  int result = take_graph(look);
  if (result) return result;
  size_t servers = count_servers(look, NULL);
  while (servers && steady_now(look) - begin_ns < duration_ns) {
    if (servers == 1 && clock_gauge_publishers(look->gauge) && !has_starved(look)) break;
    if (!rest(STEP_NS, out_signal)) break;
  }
  return EXIT_OK;
}

int ros1_look_take(ros1_look_t *look)
{
  int result = take_graph(look);
  if (!result && !look->is_brief && has_starved(look) && clock_gauge_publishers(look->gauge)) {
    int signal_number = 0;
    if (rest(CONNECT_NS, &signal_number)) result = take_graph(look);
  }
  return result ? result : judge(look);
}

void ros1_look_release(ros1_look_t *look)
{
  tb_ros1_graph_snapshot_release(look->graph);
  tb__findings_destroy(look->findings);
  free(look->nodes);
  look->graph = NULL;
  look->findings = NULL;
  look->nodes = NULL;
}

int ros1_look_open(const command_t *command, tb_duration_t limit, ros1_look_t *out)
{
  static clock_gauge_t gauge; /* large */
  gauge.steady = NULL;
  *out = (ros1_look_t){.command = command, .gauge = &gauge, .limit = limit};
  command_catch_signals();
  int result = ros1_join(command, &out->context);
  if (!result) result = ros1_require_master(command, out->context);
  return result ? result : ros1_gauge_open(command, out->context, CLOCK, &gauge);
}

void ros1_look_close(ros1_look_t *look)
{
  ros1_look_release(look);
  clock_gauge_close(look->gauge);
  ros1_leave(look->context);
}

/* --- showing --- */

void ros1_look_print_lines(const ros1_look_t *look)
{
  for (size_t i = 0; i < tb__findings_count(look->findings); i++) {
    const tb__finding_t *finding = tb__findings_at(look->findings, i);
    if (!finding->below) findings_print_line(stdout, finding);
  }
}

const char *ros1_role_name(ros1_role_t role)
{
  static const char *const names[] = {"node", "quiet", "recorder", "clock", "tool"};
  return names[role];
}

const char *ros1_clock_state_name(ros1_clock_state_t state)
{
  static const char *const names[] = {"none", "dead", "silent", "stopped", "ticks"};
  return names[state];
}

void ros1_look_print_clock(const ros1_look_t *look)
{
  const tb__tick_stream_t *all = &look->ticks.all;
  if (look->clock == ROS1_CLOCK_NONE)
    text_out("no publisher of /clock");
  else if (look->clock == ROS1_CLOCK_DEAD)
    text_out("the publisher of /clock does not answer");
  else if (look->clock == ROS1_CLOCK_SILENT)
    text_out("no tick of /clock");
  else if (look->clock == ROS1_CLOCK_STOPPED)
    text_out("/clock has stopped at %.3f s", SECONDS(all->last_ns));
  else if (!all->usual_step_ns && all->kinds[TB__TICK_REPEAT])
    text_out("/clock is paused at %.3f s", SECONDS(all->last_ns));
  else if (!all->usual_step_ns)
    text_out("few ticks of /clock");
  else
    text_out("/clock at %.1f Hz, factor %.3f", tb__tick_stream_rate(all),
             tb__tick_stream_factor(all));
}

void ros1_end_by_signal(int signal_number)
{
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

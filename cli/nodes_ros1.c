/* `timebase nodes --ros1`. */
#include "nodes_ros1.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "json.h"
#include "ros1_findings.h"
#include "text.h"

#define LISTEN_NS TB_NS_PER_S /* for a first tick; a subscriber of roscpp waits for 170 ms */
#define COLUMNS   5           /* before the last one, which has no width */

enum { OPTION_JSON = 256, OPTION_CHECK, OPTION_LIMIT, OPTION_ROS1 };

typedef struct arguments {
  bool json, check;
  tb_duration_t limit;
} arguments_t;

/* --- as text --- */

/* A line of the table: the texts are valid as long as the look and the buffers. */
typedef struct row {
  const char *texts[COLUMNS + 1];
  char pid[16], clock[64];
} row_t;

static const char *base_text(const ros1_node_t *node)
{
  return node->base == TB__BASE_CLOCK  ? "/clock"
         : node->base == TB__BASE_WALL ? "wall time"
                                       : "unknown";
}

static void describe_clock(const tb_ros1_graph_node_t *node, char *out, size_t size)
{
  if (!node->subscribes_clock)
    snprintf(out, size, "%s", node->publishes_clock ? "publishes" : "-");
  else if (node->clock_connections < 0)
    snprintf(out, size, "%ssubscribes", node->publishes_clock ? "publishes, " : "");
  else
    snprintf(out, size, "%ssubscribes, %d connected", node->publishes_clock ? "publishes, " : "",
             (int)node->clock_connections);
}

static void fill_row(const ros1_look_t *look, size_t index, row_t *out)
{
  const tb_ros1_graph_node_t *node = &look->graph->nodes[index];
  snprintf(out->pid, sizeof out->pid, node->pid ? "%d" : "-", (int)node->pid);
  describe_clock(node, out->clock, sizeof out->clock);
  out->texts[0] = node->name;
  out->texts[1] = tb_ros1_node_state_name(node->state);
  out->texts[2] = out->pid;
  out->texts[3] = *node->host ? node->host : "-";
  out->texts[4] = base_text(&look->nodes[index]);
  out->texts[5] = out->clock;
}

static void print_row(const row_t *row, const int columns[COLUMNS])
{
  for (int i = 0; i < COLUMNS; i++)
    text_out("%-*s", columns[i], row->texts[i]);
  text_out("%s\n", row->texts[COLUMNS]);
}

static void widen(const row_t *row, int columns[COLUMNS])
{
  for (int i = 0; i < COLUMNS; i++) {
    int used = text_columns(row->texts[i]) + 2;
    if (used > columns[i]) columns[i] = used;
  }
}

static void print_nodes(const ros1_look_t *look)
{
  row_t row = {.texts = {"NODE", "state", "pid", "host", "time base", "/clock"}};
  int columns[COLUMNS] = {0};
  size_t count = look->graph->node_count;
  widen(&row, columns);
  for (size_t i = 0; i < count; i++) {
    row_t one;
    fill_row(look, i, &one);
    widen(&one, columns);
  }
  if (count) print_row(&row, columns);
  for (size_t i = 0; i < count; i++) {
    const tb_ros1_graph_node_t *node = &look->graph->nodes[i];
    if (node->is_own) continue;
    fill_row(look, i, &row);
    print_row(&row, columns);
    if (*node->problem) text_out("  ! %s\n", node->problem);
  }
  if (count) text_out("\n");
  const char *value = look->graph->sim_time_text;
  text_out("/use_sim_time is %s; ", *value ? value : "not set");
  ros1_look_print_clock(look);
  text_out("\n");
  ros1_look_print_lines(look);
}

/* --- as JSON --- */

static json_t *topics_json(const ros1_look_t *look, const uint32_t *topics, uint32_t count)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++) {
    const tb_ros1_graph_topic_t *topic = &look->graph->topics[topics[i]];
    json_t *item = json_object();
    json_put(item, "topic", text_json(topic->name));
    json_put(item, "type", *topic->type ? text_json(topic->type) : json_null());
    json_push(list, item);
  }
  return list;
}

json_t *nodes_ros1_json(const ros1_look_t *look)
{
  json_t *list = json_array();
  for (size_t i = 0; i < look->graph->node_count; i++) {
    const tb_ros1_graph_node_t *node = &look->graph->nodes[i];
    const ros1_node_t *judged = &look->nodes[i];
    json_t *item = json_object();
    if (node->is_own) {
      json_decref(item);
      continue;
    }
    json_put(item, "name", text_json(node->name));
    json_put(item, "state", json_string(tb_ros1_node_state_name(node->state)));
    json_put(item, "problem", *node->problem ? text_json(node->problem) : json_null());
    json_put(item, "pid", node->pid ? json_integer(node->pid) : json_null());
    json_put(item, "uri", text_json(node->uri));
    json_put(item, "host", text_json(node->host));
    json_put(item, "role", json_string(ros1_role_name(judged->role)));
    json_put(item, "time_base", json_string(tb__base_name(judged->base)));
    json_put(item, "evidence", json_string(judged->why));
    json_put(item, "publishes_clock", json_boolean(node->publishes_clock));
    json_put(item, "subscribes_clock", json_boolean(node->subscribes_clock));
    json_put(item, "clock_connections",
             node->clock_connections >= 0 ? json_integer(node->clock_connections) : json_null());
    json_put(item, "publishes", topics_json(look, node->publications, node->publication_count));
    json_put(item, "subscribes", topics_json(look, node->subscriptions, node->subscription_count));
    json_push(list, item);
  }
  return list;
}

json_t *sim_time_ros1_json(const ros1_look_t *look)
{
  static const char *const names[] = {"unset", "false", "true", "odd"};
  json_t *out = json_object();
  const char *text = look->graph->sim_time_text;
  json_put(out, "state", json_string(names[look->graph->sim_time]));
  json_put(out, "value", *text ? text_json(text) : json_null());
  return out;
}

json_t *clock_ros1_json(const ros1_look_t *look)
{
  const tb__tick_stream_t *all = &look->ticks.all;
  json_t *out = json_object();
  json_put(out, "state", json_string(ros1_clock_state_name(look->clock)));
  json_put(out, "publishers", json_integer(look->ticks.publisher_count));
  json_put(out, "ticks", json_integer((json_int_t)all->ticks));
  json_put(out, "rate_hz", json_real(tb__tick_stream_rate(all)));
  json_put(out, "factor", json_real(tb__tick_stream_factor(all)));
  json_put(out, "time_ns", json_integer(all->last_ns));
  json_put(out, "step_ns", json_integer(all->usual_step_ns));
  return out;
}

static int print_json(const ros1_look_t *look, int status)
{
  json_t *root = json_object();
  json_put(root, "master", text_json(look->graph->master_uri));
  json_put(root, "use_sim_time", sim_time_ros1_json(look));
  json_put(root, "clock", clock_ros1_json(look));
  json_put(root, "nodes", nodes_ros1_json(look));
  json_put(root, "findings", findings_json(look->findings));
  return json_finish(look->command, root, status);
}

/* --- the command --- */

static int show(const ros1_look_t *look, const arguments_t *arguments)
{
  int status = EXIT_OK;
  size_t errors = tb__findings_count_of(look->findings, TB__SEVERITY_ERROR);
  if (arguments->check && errors) status = EXIT_CHECK;
  if (arguments->json) return print_json(look, status);
  print_nodes(look);
  if (status)
    text_err("timebase %s: check failed: %zu error%s\n", look->command->name, errors,
             errors == 1 ? "" : "s");
  return status;
}

static int run_look(const command_t *command, const arguments_t *arguments, int *out_signal)
{
  static ros1_look_t look; /* large */
  int result = ros1_look_open(command, arguments->limit, &look);
  if (!result) result = ros1_look_listen(&look, LISTEN_NS, out_signal);
  if (!result && !*out_signal) result = ros1_look_take(&look);
  if (!result && !*out_signal) result = show(&look, arguments);
  ros1_look_close(&look);
  return result;
}

int nodes_ros1_run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"check", no_argument, NULL, OPTION_CHECK},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.limit = {TB_NS_PER_S}};
  int signal_number = 0;
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option == OPTION_LIMIT &&
        !command_parse_limit(command, "--limit", optarg, &arguments.limit))
      return EXIT_USAGE;
    if (option < OPTION_JSON) return command_bad_option(command, option, argv);
    arguments.json |= option == OPTION_JSON;
    arguments.check |= option == OPTION_CHECK;
  }
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  int result = run_look(command, &arguments, &signal_number);
  if (signal_number) ros1_end_by_signal(signal_number);
  return command_finish(command, result);
}

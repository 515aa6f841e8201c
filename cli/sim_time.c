#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter_client.h>

#include "graph_view.h"
#include "publishers.h"
#include "text.h"
#include "unnamed.h"

#define SERVICE    "set_parameters"
#define ROUNDS_MAX 8 /* of nodes that appear meanwhile */

enum { OPTION_ALL = 256 };

typedef struct arguments {
  bool value, all;
  graph_options_t graph;
  char **words; /* nodes */
  size_t count;
} arguments_t;

/* A node to set, and the outcome. */
typedef struct target {
  char *name;
  bool is_present, has_service;
  bool is_clock; /* it publishes /clock, and is not asked to follow its own time */
  tb_ros2_parameter_outcome_t outcome;
} target_t;

typedef struct work {
  graph_view_t view;
  const arguments_t *arguments;
  target_t *targets;
  size_t count, capacity;
  size_t begin; /* of the current round */
  tb_status_t status;
  tb_error_t error;
  size_t ok, refused, silent, skipped, absent, clocks;
} work_t;

/* --- setting --- */

static void set_all(size_t index, void *user)
{
  (void)index;
  work_t *work = user;
  size_t room = work->count - work->begin, count = 0;
  const char **names = calloc(room + 1, sizeof *names);
  tb_ros2_parameter_outcome_t *outcomes = calloc(room + 1, sizeof *outcomes);
  tb_ros2_parameter_t parameter = {"use_sim_time", tb_ros2_parameter_bool(work->arguments->value)};
  work->status = TB_ERR_NO_MEMORY;
  if (names && outcomes) {
    for (size_t i = work->begin; i < work->count; i++)
      if (work->targets[i].has_service) names[count++] = work->targets[i].name;
    work->status = tb_ros2_parameter_set_on_nodes(
        work->view.context, names, count, &parameter,
        &(tb_wait_options_t){.limit = work->arguments->graph.limit}, outcomes, &work->error);
    count = 0;
    for (size_t i = work->begin; i < work->count; i++)
      if (work->targets[i].has_service) work->targets[i].outcome = outcomes[count++];
  }
  free(names);
  free(outcomes);
}

/* Takes over `name`. */
static int add(work_t *work, char *name)
{
  if (work->count == work->capacity) {
    size_t capacity = work->capacity * 2 + 16;
    target_t *targets = realloc(work->targets, capacity * sizeof *targets);
    if (!targets) {
      free(name);
      return command_failed(work->view.command, TB_ERR_NO_MEMORY, NULL);
    }
    work->targets = targets;
    work->capacity = capacity;
  }
  work->targets[work->count++] = (target_t){.name = name};
  return EXIT_OK;
}

static bool is_added(const work_t *work, const char *name)
{
  for (size_t i = 0; i < work->count; i++)
    if (strcmp(work->targets[i].name, name) == 0) return true;
  return false;
}

/* --- showing --- */

static void print_line(const target_t *target, int columns, const char *what, const char *reason)
{
  text_out("%-*s", columns, target->name);
  text_out("%s", what);
  if (reason) text_out("%s", reason);
  text_out("\n");
}

static void show(work_t *work, const target_t *target, int columns)
{
  const tb_ros2_parameter_outcome_t *outcome = &target->outcome;
  if (target->is_clock) {
    work->clocks++;
    print_line(target, columns, "skipped: it publishes /clock", NULL);
  } else if (!target->is_present) {
    work->absent++;
    print_line(target, columns, "no such node", NULL);
  } else if (!target->has_service) {
    work->skipped++;
    print_line(target, columns, work->arguments->all ? "skipped: no parameters" : "no parameters",
               NULL);
  } else if (outcome->status) {
    work->silent++;
    print_line(target, columns, graph_view_answer_text(outcome->status), NULL);
  } else if (!outcome->result.successful) {
    const char *reason = outcome->result.reason;
    work->refused++;
    print_line(target, columns, "refused: ", reason[0] ? reason : "no reason given");
  } else {
    work->ok++;
    print_line(target, columns, "ok", NULL);
  }
}

static void show_round(work_t *work)
{
  int columns = 0;
  for (size_t i = work->begin; i < work->count; i++) {
    int used = text_columns(work->targets[i].name) + 2;
    if (used > columns) columns = used;
  }
  for (size_t i = work->begin; i < work->count; i++)
    show(work, &work->targets[i], columns);
  command_flush();
  for (size_t i = work->begin; i < work->count; i++)
    if (!work->targets[i].is_present) graph_view_no_such_node(&work->view, work->targets[i].name);
}

static void show_count(size_t count, const char *what)
{
  static bool is_later;
  if (!count) return;
  text_out("%s%zu %s", is_later ? ", " : "", count, what);
  is_later = true;
}

static int show_end(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  size_t failed = work->refused + work->silent + work->absent;
  if (!arguments->all) failed += work->skipped;
  if (work->count > 1) {
    show_count(work->ok, "ok");
    show_count(work->refused, "refused");
    show_count(work->silent, "without an answer");
    show_count(work->skipped, "without parameters");
    show_count(work->clocks, "publishing /clock");
    show_count(work->absent, "not found");
    text_out("\n");
  }
  if (work->count > 0) return failed ? EXIT_CHECK : EXIT_OK;
  graph_view_print_empty(&work->view);
  return EXIT_CHECK;
}

/* --- rounds --- */

static bool is_clock_publisher(const tb_ros2_graph_endpoint_t *endpoint)
{
  return endpoint->is_publisher && strcmp(endpoint->type, CLOCK_TYPE) == 0;
}

/* A simulator or a player on its own /clock would wait for itself. */
static bool publishes_clock(const work_t *work, const tb_ros2_graph_node_t *node)
{
  const tb_ros2_graph_snapshot_t *snapshot = work->view.snapshot;
  for (size_t i = 0; node && i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (is_clock_publisher(endpoint)) return true;
  }
  return false;
}

static int set_round(work_t *work)
{
  for (size_t i = work->begin; i < work->count; i++) {
    target_t *target = &work->targets[i];
    const tb_ros2_graph_node_t *node = tb_ros2_graph_find_node(work->view.snapshot, target->name);
    target->is_present = node != NULL;
    target->is_clock =
        work->arguments->all && work->arguments->value && publishes_clock(work, node);
    target->has_service = target->is_present && !target->is_clock &&
                          graph_view_has_service(&work->view, target->name, SERVICE);
  }
  int result = graph_view_each(&work->view, 1, set_all, work);
  if (result) return result;
  if (work->status) return command_failed(work->view.command, work->status, &work->error);
  show_round(work);
  return EXIT_OK;
}

static int set_named(work_t *work)
{
  const arguments_t *arguments = work->arguments;
  int result = EXIT_OK;
  const char **names = calloc(arguments->count + 1, sizeof *names);
  if (!names) return command_failed(work->view.command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < arguments->count && !result; i++) {
    char *name = graph_view_node_name(&work->view, arguments->words[i], &result);
    if (name && is_added(work, name))
      free(name);
    else if (name)
      result = add(work, name);
  }
  for (size_t i = 0; i < work->count; i++)
    names[i] = work->targets[i].name;
  if (!result)
    result = graph_view_await(&work->view, names, work->count, SERVICE, arguments->graph.wait);
  free(names);
  return result ? result : set_round(work);
}

/* Adds the nodes that have appeared since the last round. */
static int add_new(work_t *work)
{
  const tb_ros2_graph_snapshot_t *snapshot = work->view.snapshot;
  int result = EXIT_OK;
  work->begin = work->count;
  for (size_t i = 0; i < snapshot->node_count && !result; i++) {
    const char *full_name = snapshot->nodes[i].full_name;
    if (is_added(work, full_name)) continue;
    char *name = strdup(full_name);
    result = name ? add(work, name) : command_failed(work->view.command, TB_ERR_NO_MEMORY, NULL);
  }
  return result;
}

static int set_graph(work_t *work)
{
  tb_duration_t wait = work->arguments->graph.wait;
  for (int i = 0; i < ROUNDS_MAX; i++) {
    int result = graph_view_settle(&work->view, wait, NULL, NULL);
    if (!result) result = add_new(work);
    if (result) return result;
    if (work->begin == work->count) return EXIT_OK;
    result = set_round(work);
    if (result) return result;
    wait = (tb_duration_t){TB_NS_PER_MS}; /* for nodes that have appeared meanwhile */
  }
  return EXIT_OK;
}

/* Under whatever name: nodes may be remapped to it. */
static bool is_clock_published(const graph_view_t *view, void *user)
{
  (void)user;
  for (size_t i = 0; i < view->snapshot->endpoint_count; i++)
    if (is_clock_publisher(&view->snapshot->endpoints[i])) return true;
  return false;
}

/* A wait for named nodes may have ended before a publisher was discovered. */
static void hint_at_clock(work_t *work)
{
  if (!work->arguments->value || !work->ok) return;
  command_flush();
  int result = graph_view_settle(&work->view, (tb_duration_t){0}, is_clock_published, NULL);
  if (result || is_clock_published(&work->view, NULL)) return;
  text_err("timebase %s: no publisher of /clock, and nodes wait for it; start a simulator or "
           "'timebase serve'\n",
           work->view.command->name);
}

static int set(const command_t *command, const arguments_t *arguments)
{
  work_t work = {.arguments = arguments, .error = TB_ERROR_INIT};
  graph_view_limit_answers();
  int result = graph_view_open(command, arguments->graph.domain, &work.view);
  if (!result) result = arguments->all ? set_graph(&work) : set_named(&work);
  if (!result) {
    result = show_end(&work);
    if (arguments->all || work.absent) unnamed_warn(command->name, work.view.snapshot);
    hint_at_clock(&work);
  }
  for (size_t i = 0; i < work.count; i++)
    free(work.targets[i].name);
  free(work.targets);
  graph_view_close(&work.view);
  return command_finish(command, result);
}

/* --- arguments --- */

static int check(const command_t *command, arguments_t *arguments)
{
  const char *word = arguments->count ? arguments->words[0] : "";
  if (!word[0]) return command_usage_error(command, "expected 'on' or 'off'");
  if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
    return command_usage_error(command, "'%s': expected 'on' or 'off'", word);
  arguments->value = strcmp(word, "on") == 0;
  arguments->words++;
  arguments->count--;
  for (size_t i = 0; i < arguments->count; i++)
    if (!strcmp(arguments->words[i], "on") || !strcmp(arguments->words[i], "off"))
      return command_usage_error(command,
                                 "expected one 'on' or 'off'; write a node of that name as /%s",
                                 arguments->words[i]);
  if (arguments->all && arguments->count)
    return command_usage_error(command, "--all and names of nodes exclude each other");
  if (!arguments->all && !arguments->count)
    return command_usage_error(command, "no nodes given; name them, or use --all");
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"all", no_argument, NULL, OPTION_ALL},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  arguments_t arguments = {.graph = {.domain = -1, .limit = {5 * TB_NS_PER_S}}};
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, ":h", options)) != -1) {
    switch (option) {
    case OPTION_ALL:
      arguments.all = true;
      break;
    case 'h':
      return command_help(command);
    default:
      result = graph_options_take(command, option, argv, &arguments.graph);
    }
  }
  if (result) return result;
  arguments.words = argv + optind;
  arguments.count = (size_t)(argc - optind);
  result = check(command, &arguments);
  return result ? result : set(command, &arguments);
}

const command_t command_sim_time = {
    .name = "sim-time",
    .summary = "set use_sim_time on the whole graph or on some nodes",
    .usage = "timebase sim-time on|off --all | NODE... [--wait D] [--limit D] [--domain N]",
    .help =
        "Sets use_sim_time to true (on) or false (off) on all nodes at once, waits for the "
        "answers\n"
        "and prints a line for each node: ok, \"refused\" with the node's reason, \"no answer\", "
        "or\n"
        "\"no parameters\" where a node has no service to set them.\n\n"
        "  --all       all nodes of the graph, including those that appear meanwhile; nodes\n"
        "              without parameters are skipped, and with 'on' those that publish /clock:\n"
        "              they would wait for themselves\n"
        "  --wait D    with names: wait at most D for the nodes to appear; with --all: follow\n"
        "              discovery for D; default: until nothing new was found for 0.5 s (1 s while\n"
        "              there are no nodes) and all participants have announced their nodes, at\n"
        "              most 5 s\n"
        "  --limit D   wait at most D for all answers (default 5s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "Status 1 if a node refused, did not answer or was not found, if a named node has no\n"
        "parameters, or if there are no nodes at all. A node that did not answer may have set "
        "it.\n",
    .run = run,
};

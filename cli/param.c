#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter_client.h>

#include "graph_view.h"
#include "json.h"
#include "param_ros1.h"
#include "param_value.h"
#include "ros1_ticks.h"
#include "similar.h"
#include "text.h"
#include "unnamed.h"

enum { OPTION_JSON = 256, OPTION_HIDE_TYPE };

typedef struct arguments {
  bool json, hide_type;
  graph_options_t graph;
  char **words; /* after the action */
  size_t count;
} arguments_t;

/* A query of one node, made on a thread of its own. */
typedef struct query {
  const graph_view_t *view;
  const arguments_t *arguments;
  const char *node;
  bool has_services; /* it has parameter services */
  tb_status_t status;
  tb_error_t error;
  tb_ros2_parameter_client_t *client;
  tb_ros2_parameter_list_t list;     /* list; get and set: for suggestions */
  tb_ros2_parameter_value_t *values; /* get: of each name; set: the present one, if refused */
  bool *found;
  const tb_ros2_parameter_value_t *value; /* set */
  tb_ros2_parameter_result_t result;
} query_t;

static void query_begin(query_t *query, const graph_view_t *view, const arguments_t *arguments,
                        const char *node)
{
  *query = (query_t){.view = view, .arguments = arguments, .node = node, .error = TB_ERROR_INIT};
  query->has_services = graph_view_has_service(view, node, "list_parameters");
  if (query->has_services)
    query->status =
        tb_ros2_parameter_client_create(view->context, node, &query->client, &query->error);
}

static void query_end(query_t *query)
{
  tb_ros2_parameter_list_release(&query->list);
  tb_ros2_parameter_client_destroy(query->client);
}

/* Waits for the node that the arguments name. Returns its full name, to be freed. NULL: see
 * *out_status. */
static char *await_node(graph_view_t *view, const arguments_t *arguments, int *out_status)
{
  char *node = graph_view_node_name(view, arguments->words[0], out_status);
  if (!node) return NULL;
  const char *names[] = {node};
  *out_status = graph_view_await(view, names, 1, "list_parameters", arguments->graph.wait);
  if (!*out_status && !tb_ros2_graph_find_node(view->snapshot, node)) {
    graph_view_no_such_node(view, node);
    unnamed_warn(view->command->name, view->snapshot);
    *out_status = EXIT_CHECK;
  }
  if (!*out_status && !graph_view_has_service(view, node, "list_parameters")) {
    text_err("timebase %s: ", view->command->name);
    text_err("%s", node);
    text_err(" has no parameter services\n");
    *out_status = EXIT_CHECK;
  }
  if (*out_status) {
    free(node);
    return NULL;
  }
  return node;
}

/* Warns if other nodes of this name have been found meanwhile. Frees it. */
static void warn_of_duplicates(graph_view_t *view, char *node)
{
  const tb_ros2_graph_node_t *found = NULL;
  if (graph_view_refresh(view) == EXIT_OK) found = tb_ros2_graph_find_node(view->snapshot, node);
  if (found && found->is_duplicate)
    text_err("timebase %s: warning: several nodes have this name; one of them answered\n",
             view->command->name);
  free(node);
}

/* "timebase NAME: /camera: no answer within 2s" to standard error. */
static int query_failed(const query_t *query)
{
  tb_status_t status = query->status;
  char text[TB_DURATION_TEXT_SIZE] = "";
  bool is_late = status == TB_ERR_TIMEOUT || status == TB_ERR_NOT_FOUND;
  bool has_text = !is_late && status != TB_ERR_CLOSED && query->error.text[0];
  if (is_late) tb_duration_format(query->arguments->graph.limit, text, sizeof text);
  text_err("timebase %s: ", query->view->command->name);
  text_err("%s", query->node);
  text_err(": ");
  text_err("%s", has_text ? query->error.text : graph_view_answer_text(status));
  text_err("%s%s\n", is_late ? " within " : "", text);
  return EXIT_CHECK;
}

/* "; did you mean gain?", if one of the names is similar. */
static void print_similar(const char *wanted, const tb_ros2_parameter_list_t *list)
{
  int count = 0;
  for (size_t i = 0; i < list->name_count && count < 3; i++) {
    if (!is_similar(wanted, list->names[i])) continue;
    text_err("%s", count++ ? " or " : "; did you mean ");
    text_err("%s", list->names[i]);
  }
  if (count) text_err("?");
}

/* --- list --- */

static void list_names(size_t index, void *user)
{
  query_t *query = &((query_t *)user)[index];
  if (!query->has_services || query->status) return;
  query->status = tb_ros2_parameter_client_list(
      query->client, NULL, 0, 0, &(tb_wait_options_t){.limit = query->arguments->graph.limit},
      &query->list, &query->error);
}

static const char *list_status(const query_t *query)
{
  return query->has_services ? graph_view_answer_text(query->status) : "no parameters";
}

static void print_list(const query_t *query, bool is_one)
{
  if (!is_one) {
    text_out("%s:%s\n", query->node, query->has_services ? "" : " no parameters");
  }
  for (size_t i = 0; i < query->list.name_count; i++) {
    text_out("%s", is_one ? "" : "  ");
    text_out("%s", query->list.names[i]);
    text_out("\n");
  }
}

static json_t *list_json(const query_t *query)
{
  json_t *out = json_object(), *names = json_array();
  for (size_t i = 0; i < query->list.name_count; i++)
    json_push(names, text_json(query->list.names[i]));
  json_put(out, "name", text_json(query->node));
  json_put(out, "status", json_string(list_status(query)));
  json_put(out, "parameters", names);
  return out;
}

static int show_lists(const graph_view_t *view, const arguments_t *arguments,
                      const query_t *queries, size_t count)
{
  int result = EXIT_OK;
  bool is_one = arguments->count == 1;
  json_t *list = arguments->json ? json_array() : NULL;
  for (size_t i = 0; i < count; i++) {
    if (arguments->json)
      json_push(list, list_json(&queries[i]));
    else if (!queries[i].status)
      print_list(&queries[i], is_one);
  }
  if (arguments->json) {
    json_t *root = json_object();
    json_put(root, "domain", json_integer(tb_ros2_context_domain_id(view->context)));
    json_put(root, "nodes", list);
    result = json_finish(view->command, root, EXIT_OK);
  }
  command_flush();
  for (size_t i = 0; i < count; i++) {
    int failed = queries[i].status ? query_failed(&queries[i]) : EXIT_OK;
    if (!result) result = failed;
  }
  return result;
}

static int list_nodes(graph_view_t *view, const arguments_t *arguments, const char *const *nodes,
                      size_t count)
{
  query_t *queries = calloc(count + 1, sizeof *queries);
  if (!queries) return command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < count; i++)
    query_begin(&queries[i], view, arguments, nodes[i]);
  int result = graph_view_each(view, count, list_names, queries);
  if (!result) result = show_lists(view, arguments, queries, count);
  for (size_t i = 0; i < count; i++)
    query_end(&queries[i]);
  free(queries);
  return result;
}

static int list_all(graph_view_t *view, const arguments_t *arguments)
{
  int result = graph_view_settle(view, arguments->graph.wait, NULL, NULL);
  if (result) return result;
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  const char **nodes = calloc(snapshot->node_count + 1, sizeof *nodes);
  if (!nodes) return command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  size_t count = 0;
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (!graph_view_is_repeated(view, i)) nodes[count++] = snapshot->nodes[i].full_name;
  result = list_nodes(view, arguments, nodes, count);
  if (!count && !arguments->json) graph_view_print_empty(view);
  unnamed_warn(view->command->name, snapshot);
  free(nodes);
  return result;
}

static int param_list(graph_view_t *view, const arguments_t *arguments)
{
  int result = EXIT_OK;
  if (arguments->count == 0) return list_all(view, arguments);
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  const char *nodes[] = {node};
  result = list_nodes(view, arguments, nodes, 1);
  warn_of_duplicates(view, node);
  return result;
}

/* --- get --- */

static bool is_listed(const query_t *query, const char *name)
{
  for (size_t i = 0; i < query->list.name_count; i++)
    if (strcmp(query->list.names[i], name) == 0) return true;
  return false;
}

/* A node that lacks one of many parameters does not report which, and one of rclpy logs a warning:
 * then only what it lists is requested. */
static void get_values(size_t index, void *user)
{
  (void)index;
  query_t *query = user;
  const char *const *names = (const char *const *)query->arguments->words + 1;
  size_t count = query->arguments->count - 1, got = 0;
  const tb_wait_options_t options = {.limit = query->arguments->graph.limit};
  query->status = tb_ros2_parameter_client_get(query->client, names, count, &options, query->values,
                                               &got, &query->error);
  for (size_t i = 0; i < got; i++)
    query->found[i] = true;
  if (query->status || got > 0) return;
  tb_status_t status = /* for suggestions too; where one is enough, a failure does not matter */
      tb_ros2_parameter_client_list(query->client, NULL, 0, 0, &options, &query->list,
                                    count > 1 ? &query->error : NULL);
  if (count > 1) query->status = status;
  for (size_t i = 0; count > 1 && i < count && !query->status; i++) {
    size_t one = 0;
    if (is_listed(query, names[i]))
      query->status = tb_ros2_parameter_client_get(query->client, &names[i], 1, &options,
                                                   &query->values[i], &one, &query->error);
    query->found[i] = one == 1;
  }
}

static void print_values(const query_t *query)
{
  size_t count = query->arguments->count - 1;
  for (size_t i = 0; i < count; i++) {
    if (!query->found[i]) continue;
    if (count > 1) {
      text_out("%s", query->arguments->words[i + 1]);
      text_out(": ");
      param_print_value(stdout, &query->values[i]);
    } else {
      param_print_as_ros(&query->values[i], query->arguments->hide_type);
    }
    text_out("\n");
  }
}

static int print_values_json(const query_t *query)
{
  json_t *root = json_object(), *list = json_array();
  for (size_t i = 0; i + 1 < query->arguments->count; i++) {
    const tb_ros2_parameter_value_t *value = &query->values[i];
    json_t *one = json_object();
    json_put(one, "name", text_json(query->arguments->words[i + 1]));
    json_put(one, "type",
             query->found[i] ? json_string(tb_ros2_parameter_type_name(value->type)) : json_null());
    json_put(one, "value", query->found[i] ? param_value_json(value) : json_null());
    json_push(list, one);
  }
  json_put(root, "domain", json_integer(tb_ros2_context_domain_id(query->view->context)));
  json_put(root, "node", text_json(query->node));
  json_put(root, "parameters", list);
  return json_finish(query->view->command, root, EXIT_OK);
}

static int print_missing(const query_t *query)
{
  int result = EXIT_OK;
  for (size_t i = 0; i + 1 < query->arguments->count; i++) {
    if (query->found[i]) continue;
    text_err("timebase %s: ", query->view->command->name);
    text_err("%s", query->node);
    text_err(" has no parameter ");
    text_err("%s", query->arguments->words[i + 1]);
    print_similar(query->arguments->words[i + 1], &query->list);
    text_err("\n");
    result = EXIT_CHECK;
  }
  return result;
}

static int get_and_show(query_t *query)
{
  int result = graph_view_each(query->view, 1, get_values, query);
  if (result) return result;
  if (query->status) return query_failed(query);
  if (query->arguments->json)
    result = print_values_json(query);
  else
    print_values(query);
  command_flush();
  return result ? result : print_missing(query);
}

static int param_get(graph_view_t *view, const arguments_t *arguments)
{
  int result = EXIT_OK;
  query_t query;
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  query_begin(&query, view, arguments, node);
  query.values = calloc(arguments->count, sizeof *query.values);
  query.found = calloc(arguments->count, sizeof *query.found);
  if (!query.values || !query.found)
    result = command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  else if (query.status)
    result = query_failed(&query);
  else
    result = get_and_show(&query);
  for (size_t i = 0; query.values && i < arguments->count; i++)
    tb_ros2_parameter_value_release(&query.values[i]);
  free(query.values);
  free(query.found);
  query_end(&query);
  warn_of_duplicates(view, node);
  return result;
}

/* --- set --- */

static void set_value(size_t index, void *user)
{
  (void)index;
  query_t *query = user;
  tb_ros2_parameter_t parameter = {query->arguments->words[1], *query->value};
  const tb_wait_options_t options = {.limit = query->arguments->graph.limit};
  query->status = tb_ros2_parameter_client_set(query->client, &parameter, 1, &options,
                                               &query->result, &query->error);
  if (query->status || query->result.successful) return;
  size_t got = 0; /* the calls are for hints; a failure does not matter */
  (void)!tb_ros2_parameter_client_list(query->client, NULL, 0, 0, &options, &query->list, NULL);
  if (is_listed(query, parameter.name))
    (void)!tb_ros2_parameter_client_get(query->client, &parameter.name, 1, &options, query->values,
                                        &got, NULL);
}

static int show_refusal(const query_t *query)
{
  const char *name = query->arguments->words[1];
  text_err("timebase %s: ", query->view->command->name);
  text_err("%s", query->node);
  text_err(" refuses ");
  text_err("%s", name);
  text_err(": ");
  text_err("%s", query->result.reason[0] ? query->result.reason : "no reason given");
  if (is_listed(query, name))
    param_print_how_to_write(query->value, query->values[0].type);
  else
    print_similar(name, &query->list);
  text_err("\n");
  return EXIT_CHECK;
}

static int show_result(const query_t *query)
{
  if (query->status) {
    int result = query_failed(query);
    if (query->status == TB_ERR_TIMEOUT)
      text_err("timebase %s: it may have been set; check with 'timebase param get'\n",
               query->view->command->name);
    return result;
  }
  if (!query->result.successful) return show_refusal(query);
  text_out("%s", query->node);
  text_out(": ");
  text_out("%s", query->arguments->words[1]);
  text_out(" set to ");
  param_print_value(stdout, query->value);
  text_out("\n");
  return EXIT_OK;
}

static int param_set(graph_view_t *view, const arguments_t *arguments,
                     const tb_ros2_parameter_value_t *value)
{
  int result = EXIT_OK;
  query_t query;
  tb_ros2_parameter_value_t held = TB_ROS2_PARAMETER_VALUE_INIT;
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  query_begin(&query, view, arguments, node);
  query.value = value;
  query.values = &held;
  if (query.status)
    result = query_failed(&query);
  else
    result = graph_view_each(view, 1, set_value, &query);
  if (!result) result = show_result(&query);
  tb_ros2_parameter_value_release(&held);
  query_end(&query);
  warn_of_duplicates(view, node);
  return result;
}

/* --- arguments --- */

static int refuse_hide_type(const command_t *command)
{
  return command_usage_error(command, "--hide-type needs get with one NAME and without --json");
}

static int list_action(const command_t *command, const arguments_t *arguments)
{
  graph_view_t view;
  if (arguments->hide_type) return refuse_hide_type(command);
  if (arguments->count == 0) graph_view_limit_answers();
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = param_list(&view, arguments);
  graph_view_close(&view);
  return result;
}

static int get_action(const command_t *command, const arguments_t *arguments)
{
  graph_view_t view;
  if (arguments->hide_type && (arguments->json || arguments->count > 2))
    return refuse_hide_type(command);
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = param_get(&view, arguments);
  graph_view_close(&view);
  return result;
}

static int set_action(const command_t *command, const arguments_t *arguments)
{
  graph_view_t view = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  if (arguments->json) return command_usage_error(command, "set does not take --json");
  if (arguments->hide_type) return refuse_hide_type(command);
  tb_status_t status = tb_ros2_parameter_value_parse(arguments->words[2], &value, &error);
  if (status == TB_ERR_INVALID || status == TB_ERR_LIMIT) {
    text_err("timebase %s: ", command->name);
    text_err("%s", error.text);
    text_err("\n");
    return EXIT_USAGE;
  }
  if (status) return command_failed(command, status, &error);
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = param_set(&view, arguments, &value);
  graph_view_close(&view);
  tb_ros2_parameter_value_release(&value);
  return result;
}

typedef struct action {
  const char *name;
  const char *words; /* its arguments */
  size_t least, most;
  int (*run)(const command_t *command, const arguments_t *arguments);
} action_t;

static const action_t actions[] = {
    {"list", "[NODE]", 0, 1, list_action},
    {"get", "NODE NAME...", 2, SIZE_MAX, get_action},
    {"set", "NODE NAME VALUE", 3, 3, set_action},
};

#define ACTION_COUNT (sizeof actions / sizeof *actions)

static int run_action(const command_t *command, arguments_t *arguments)
{
  if (arguments->count == 0)
    return command_usage_error(command, "missing action; use list, get or set");
  for (size_t i = 0; i < ACTION_COUNT; i++) {
    const action_t *action = &actions[i];
    if (strcmp(arguments->words[0], action->name) != 0) continue;
    arguments->words++;
    arguments->count--;
    if (arguments->count < action->least || arguments->count > action->most)
      return command_usage_error(command, "%s takes %s", action->name, action->words);
    return command_finish(command, action->run(command, arguments));
  }
  return command_usage_error(command, "unknown action '%s'; use list, get or set",
                             arguments->words[0]);
}

static int parse(const command_t *command, int argc, char **argv, arguments_t *arguments,
                 bool *out_help)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"hide-type", no_argument, NULL, OPTION_HIDE_TYPE},
      GRAPH_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int result = EXIT_OK;
  while (!result) {
    while (optind < argc && param_is_number(argv[optind]))
      arguments->words[arguments->count++] = argv[optind++];
    int option = command_next_option(argc, argv, "-:h", options); /* in order: words are 1 */
    if (option == -1) break;
    switch (option) {
    case 1:
      arguments->words[arguments->count++] = optarg;
      break;
    case OPTION_JSON:
      arguments->json = true;
      break;
    case OPTION_HIDE_TYPE:
      arguments->hide_type = true;
      break;
    case 'h':
      *out_help = true;
      return EXIT_OK;
    default:
      result = graph_options_take(command, option, argv, &arguments->graph);
    }
  }
  while (optind < argc) /* after "--" */
    arguments->words[arguments->count++] = argv[optind++];
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  if (ros1_is_asked(argc, argv)) return param_ros1_run(command, argc, argv);
  bool help = false;
  arguments_t arguments = {.graph = {.domain = -1, .limit = {2 * TB_NS_PER_S}}};
  char **words = calloc((size_t)argc + 1, sizeof *words);
  if (!words) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  arguments.words = words;
  int result = parse(command, argc, argv, &arguments, &help);
  if (help)
    result = command_help(command);
  else if (!result)
    result = run_action(command, &arguments);
  free(words);
  return result;
}

const command_t command_param = {
    .name = "param",
    .summary = "list, get and set parameters of nodes",
    .usage = "timebase param list [NODE] | get NODE NAME... | set NODE NAME VALUE\n"
             "       [--json] [--hide-type] [--wait D] [--limit D] [--domain N]\n"
             "       timebase param --ros1 list [NAMESPACE] | get NAME... | set NAME VALUE | "
             "delete NAME...",
    .help =
        "  list [NODE]           the names of the parameters of a node, or of all nodes\n"
        "  get NODE NAME...      type and value of one parameter, as ros2 param get prints them; "
        "for\n"
        "                        several names NAME: VALUE, with the value in YAML\n"
        "  set NODE NAME VALUE   VALUE is YAML, as in ROS: true, 5, 1.5, text, '5' (a string),\n"
        "                        [1, 2]\n\n"
        "  --json      list prints {\"domain\", \"nodes\": [{\"name\", \"status\", "
        "\"parameters\":\n"
        "              [NAME...]}]}; get prints {\"domain\", \"node\", \"parameters\": "
        "[{\"name\",\n"
        "              \"type\", \"value\"}]}, where the type is null if there is no such "
        "parameter,\n"
        "              and \".inf\", \"-.inf\" and \".nan\" are the doubles that JSON does not "
        "have\n"
        "  --hide-type with get and one NAME: print only the value\n"
        "  --wait D    wait at most D for the node to appear; default: until nothing new was "
        "found\n"
        "              for 0.5 s (1 s while there are no nodes) and all participants have\n"
        "              announced their nodes, at most 5 s\n"
        "  --limit D   wait at most D for an answer (default 2s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "With --ros1 they are those of the ROS 1 master of ROS_MASTER_URI, which belong to no "
        "node.\n"
        "Types are kept: 1 is not true, nor is \"true\" in quotes. get prints values as JSON, "
        "which\n"
        "is YAML too; a namespace is a dictionary of what is in it. VALUE is YAML as above, a\n"
        "dictionary JSON: '{\"a\": [1, 2.5]}'. --json: list prints [NAME...], get\n"
        "{NAME: {\"type\", \"value\"}}. --limit is 5s there.\n\n"
        "Status 1 if there is no such node or parameter, or if a node does not answer or refuses;\n"
        "its reason is printed.\n",
    .run = run,
};

#include "param_actions.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "param_show.h"
#include "text.h"

/* What one node is asked, on a thread of its own. */
typedef struct ask {
  const graph_view_t *view;
  const param_arguments_t *arguments;
  const char *node;
  bool is_askable; /* it has services of parameters */
  tb_status_t status;
  tb_error_t error;
  tb_ros2_parameter_client_t *client;
  tb_ros2_parameter_list_t list;     /* list; of the others for what is missing */
  tb_ros2_parameter_value_t *values; /* get: of each name; set: what it holds, if refused */
  bool *found;
  const tb_ros2_parameter_value_t *value; /* set */
  tb_ros2_parameter_result_t result;
} ask_t;

static void ask_begin(ask_t *ask, const graph_view_t *view, const param_arguments_t *arguments,
                      const char *node)
{
  *ask = (ask_t){.view = view, .arguments = arguments, .node = node, .error = TB_ERROR_INIT};
  ask->is_askable = graph_view_has_service(view, node, "list_parameters");
  if (ask->is_askable)
    ask->status = tb_ros2_parameter_client_create(view->context, node, &ask->client, &ask->error);
}

static void ask_end(ask_t *ask)
{
  tb_ros2_parameter_list_release(&ask->list);
  tb_ros2_parameter_client_destroy(ask->client);
}

/* The name of the one node that is meant, to be freed, once it is there. NULL: see *out_status. */
static char *await_node(graph_view_t *view, const param_arguments_t *arguments, int *out_status)
{
  char *node = graph_view_node_name(view, arguments->words[0], out_status);
  if (!node) return NULL;
  const char *names[] = {node};
  *out_status = graph_view_await(view, names, 1, "list_parameters", arguments->graph.wait);
  if (!*out_status && !tb_ros2_graph_find_node(view->snapshot, node)) {
    graph_view_no_such_node(view, node);
    *out_status = EXIT_CHECK;
  }
  if (!*out_status && !graph_view_has_service(view, node, "list_parameters")) {
    text_err("timebase %s: ", view->command->name);
    text_err("%s", node);
    text_err(" has no parameters that others can see\n");
    *out_status = EXIT_CHECK;
  }
  if (*out_status) {
    free(node);
    return NULL;
  }
  return node;
}

/* Others of its name may have been found only while it was asked. Frees it. */
static void leave_node(graph_view_t *view, char *node)
{
  const tb_ros2_graph_node_t *found = NULL;
  if (graph_view_refresh(view) == EXIT_OK) found = tb_ros2_graph_find_node(view->snapshot, node);
  if (found && found->is_duplicate)
    text_err("timebase %s: warning: several nodes have this name; one of them answers\n",
             view->command->name);
  free(node);
}

static int ask_failed(const ask_t *ask)
{
  param_say_failed(ask->view->command, ask->node, ask->status, &ask->error,
                   ask->arguments->graph.limit);
  return EXIT_CHECK;
}

/* --- list --- */

static void list_names(size_t index, void *user)
{
  ask_t *ask = &((ask_t *)user)[index];
  if (!ask->is_askable || ask->status) return;
  ask->status = tb_ros2_parameter_client_list(ask->client, NULL, 0, 0, ask->arguments->graph.limit,
                                              &ask->list, &ask->error);
}

static const char *list_status(const ask_t *ask)
{
  return ask->is_askable ? param_status_text(ask->status) : "no parameters";
}

static void print_list(const ask_t *ask, bool is_one)
{
  if (!is_one) {
    text_out("%s:%s\n", ask->node, ask->is_askable ? "" : " no parameters");
  }
  for (size_t i = 0; i < ask->list.name_count; i++) {
    text_out("%s", is_one ? "" : "  ");
    text_out("%s", ask->list.names[i]);
    text_out("\n");
  }
}

static json_t *list_json(const ask_t *ask)
{
  json_t *out = json_object(), *names = json_array();
  for (size_t i = 0; i < ask->list.name_count; i++)
    json_push(names, text_json(ask->list.names[i]));
  json_put(out, "name", text_json(ask->node));
  json_put(out, "status", json_string(list_status(ask)));
  json_put(out, "parameters", names);
  return out;
}

static int show_lists(const graph_view_t *view, const param_arguments_t *arguments,
                      const ask_t *asks, size_t count)
{
  int result = EXIT_OK;
  bool is_one = arguments->count == 1;
  json_t *list = arguments->json ? json_array() : NULL;
  for (size_t i = 0; i < count; i++) {
    if (arguments->json)
      json_push(list, list_json(&asks[i]));
    else if (!asks[i].status)
      print_list(&asks[i], is_one);
  }
  if (arguments->json) {
    json_t *root = json_object();
    json_put(root, "domain", json_integer(tb_ros2_context_domain_id(view->context)));
    json_put(root, "nodes", list);
    result = json_finish(view->command, root, EXIT_OK);
  }
  command_flush();
  for (size_t i = 0; i < count; i++) {
    int failed = asks[i].status ? ask_failed(&asks[i]) : EXIT_OK;
    if (!result) result = failed;
  }
  return result;
}

static int list_nodes(graph_view_t *view, const param_arguments_t *arguments,
                      const char *const *nodes, size_t count)
{
  ask_t *asks = calloc(count + 1, sizeof *asks);
  if (!asks) return command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < count; i++)
    ask_begin(&asks[i], view, arguments, nodes[i]);
  int result = graph_view_each(view, count, list_names, asks);
  if (!result) result = show_lists(view, arguments, asks, count);
  for (size_t i = 0; i < count; i++)
    ask_end(&asks[i]);
  free(asks);
  return result;
}

static int list_all(graph_view_t *view, const param_arguments_t *arguments)
{
  int result = graph_view_look(view, arguments->graph.wait, NULL, NULL);
  if (result) return result;
  const tb_ros2_graph_snapshot_t *snapshot = view->snapshot;
  const char **nodes = calloc(snapshot->node_count + 1, sizeof *nodes);
  if (!nodes) return command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  size_t count = 0;
  for (size_t i = 0; i < snapshot->node_count; i++)
    if (!graph_view_is_repeated(view, i)) nodes[count++] = snapshot->nodes[i].full_name;
  result = list_nodes(view, arguments, nodes, count);
  if (!count && !arguments->json) graph_view_say_empty(view);
  free(nodes);
  return result;
}

int param_list(graph_view_t *view, const param_arguments_t *arguments)
{
  int result = EXIT_OK;
  if (arguments->count == 0) return list_all(view, arguments);
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  const char *nodes[] = {node};
  result = list_nodes(view, arguments, nodes, 1);
  leave_node(view, node);
  return result;
}

/* --- get --- */

/* A node that lacks one of many parameters does not say which: then each is asked for. */
static void get_values(size_t index, void *user)
{
  (void)index;
  ask_t *ask = user;
  const char *const *names = (const char *const *)ask->arguments->words + 1;
  size_t count = ask->arguments->count - 1, got = 0;
  tb_duration_t limit = ask->arguments->graph.limit;
  ask->status = tb_ros2_parameter_client_get(ask->client, names, count, limit, ask->values, &got,
                                             &ask->error);
  if (ask->status) return;
  for (size_t i = 0; i < count && !ask->status; i++) {
    ask->found[i] = got > 0;
    if (got > 0) continue;
    size_t one = 0;
    if (count > 1)
      ask->status = tb_ros2_parameter_client_get(ask->client, &names[i], 1, limit, &ask->values[i],
                                                 &one, &ask->error);
    ask->found[i] = one == 1;
  }
  if (got == 0 && !ask->status) /* for names to suggest; without them nothing is lost */
    (void)tb_ros2_parameter_client_list(ask->client, NULL, 0, 0, limit, &ask->list, NULL);
}

static void print_values(const ask_t *ask)
{
  size_t count = ask->arguments->count - 1;
  for (size_t i = 0; i < count; i++) {
    if (!ask->found[i]) continue;
    if (count > 1) {
      text_out("%s", ask->arguments->words[i + 1]);
      text_out(": ");
      param_print_value(stdout, &ask->values[i]);
    } else {
      param_print_as_ros(&ask->values[i], ask->arguments->hide_type);
    }
    text_out("\n");
  }
}

static int print_values_json(const ask_t *ask)
{
  json_t *root = json_object(), *list = json_array();
  for (size_t i = 0; i + 1 < ask->arguments->count; i++) {
    const tb_ros2_parameter_value_t *value = &ask->values[i];
    json_t *one = json_object();
    json_put(one, "name", text_json(ask->arguments->words[i + 1]));
    json_put(one, "type",
             ask->found[i] ? json_string(tb_ros2_parameter_type_name(value->type)) : json_null());
    json_put(one, "value", ask->found[i] ? param_value_json(value) : json_null());
    json_push(list, one);
  }
  json_put(root, "domain", json_integer(tb_ros2_context_domain_id(ask->view->context)));
  json_put(root, "node", text_json(ask->node));
  json_put(root, "parameters", list);
  return json_finish(ask->view->command, root, EXIT_OK);
}

static int say_missing(const ask_t *ask)
{
  int result = EXIT_OK;
  for (size_t i = 0; i + 1 < ask->arguments->count; i++) {
    if (ask->found[i]) continue;
    text_err("timebase %s: ", ask->view->command->name);
    text_err("%s", ask->node);
    text_err(" has no parameter ");
    text_err("%s", ask->arguments->words[i + 1]);
    param_say_near(ask->arguments->words[i + 1], &ask->list);
    text_err("\n");
    result = EXIT_CHECK;
  }
  return result;
}

static int get_and_show(ask_t *ask)
{
  int result = graph_view_each(ask->view, 1, get_values, ask);
  if (result) return result;
  if (ask->status) return ask_failed(ask);
  if (ask->arguments->json)
    result = print_values_json(ask);
  else
    print_values(ask);
  command_flush();
  return result ? result : say_missing(ask);
}

int param_get(graph_view_t *view, const param_arguments_t *arguments)
{
  int result = EXIT_OK;
  ask_t ask;
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  ask_begin(&ask, view, arguments, node);
  ask.values = calloc(arguments->count, sizeof *ask.values);
  ask.found = calloc(arguments->count, sizeof *ask.found);
  if (!ask.values || !ask.found)
    result = command_failed(view->command, TB_ERR_NO_MEMORY, NULL);
  else if (ask.status)
    result = ask_failed(&ask);
  else
    result = get_and_show(&ask);
  for (size_t i = 0; ask.values && i < arguments->count; i++)
    tb_ros2_parameter_value_release(&ask.values[i]);
  free(ask.values);
  free(ask.found);
  ask_end(&ask);
  leave_node(view, node);
  return result;
}

/* --- set --- */

static void set_value(size_t index, void *user)
{
  (void)index;
  ask_t *ask = user;
  tb_ros2_parameter_t parameter = {ask->arguments->words[1], *ask->value};
  tb_duration_t limit = ask->arguments->graph.limit;
  ask->status =
      tb_ros2_parameter_client_set(ask->client, &parameter, 1, limit, &ask->result, &ask->error);
  if (ask->status || ask->result.successful) return;
  size_t got = 0; /* for hints; without them nothing is lost */
  (void)tb_ros2_parameter_client_list(ask->client, NULL, 0, 0, limit, &ask->list, NULL);
  (void)tb_ros2_parameter_client_get(ask->client, &parameter.name, 1, limit, ask->values, &got,
                                     NULL);
}

static bool is_listed(const ask_t *ask)
{
  for (size_t i = 0; i < ask->list.name_count; i++)
    if (strcmp(ask->list.names[i], ask->arguments->words[1]) == 0) return true;
  return false;
}

static int show_refusal(const ask_t *ask)
{
  const char *name = ask->arguments->words[1];
  text_err("timebase %s: ", ask->view->command->name);
  text_err("%s", ask->node);
  text_err(" refuses ");
  text_err("%s", name);
  text_err(": ");
  text_err("%s", ask->result.reason[0] ? ask->result.reason : "it gives no reason");
  if (is_listed(ask))
    param_say_how_to_write(ask->value, ask->values[0].type);
  else
    param_say_near(name, &ask->list);
  text_err("\n");
  return EXIT_CHECK;
}

static int show_result(const ask_t *ask)
{
  if (ask->status) {
    int result = ask_failed(ask);
    if (ask->status == TB_ERR_TIMEOUT)
      text_err("timebase %s: it may still be set; 'timebase param get' tells\n",
               ask->view->command->name);
    return result;
  }
  if (!ask->result.successful) return show_refusal(ask);
  text_out("%s", ask->node);
  text_out(": ");
  text_out("%s", ask->arguments->words[1]);
  text_out(" set to ");
  param_print_value(stdout, ask->value);
  text_out("\n");
  return EXIT_OK;
}

int param_set(graph_view_t *view, const param_arguments_t *arguments,
              const tb_ros2_parameter_value_t *value)
{
  int result = EXIT_OK;
  ask_t ask;
  tb_ros2_parameter_value_t held = TB_ROS2_PARAMETER_VALUE_INIT;
  char *node = await_node(view, arguments, &result);
  if (!node) return result;
  ask_begin(&ask, view, arguments, node);
  ask.value = value;
  ask.values = &held;
  if (ask.status)
    result = ask_failed(&ask);
  else
    result = graph_view_each(view, 1, set_value, &ask);
  if (!result) result = show_result(&ask);
  tb_ros2_parameter_value_release(&held);
  ask_end(&ask);
  leave_node(view, node);
  return result;
}

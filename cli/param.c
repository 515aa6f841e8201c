#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "param_actions.h"
#include "text.h"

enum { OPTION_JSON = 256, OPTION_HIDE_TYPE };

static int only_of_get(const command_t *command)
{
  return command_usage_error(command, "--hide-type is of get, with one NAME and without --json");
}

static int list_action(const command_t *command, const param_arguments_t *arguments)
{
  graph_view_t view;
  if (arguments->hide_type) return only_of_get(command);
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = param_list(&view, arguments);
  graph_view_close(&view);
  return result;
}

static int get_action(const command_t *command, const param_arguments_t *arguments)
{
  graph_view_t view;
  if (arguments->hide_type && (arguments->json || arguments->count > 2))
    return only_of_get(command);
  int result = graph_view_open(command, arguments->graph.domain, &view);
  if (!result) result = param_get(&view, arguments);
  graph_view_close(&view);
  return result;
}

static int set_action(const command_t *command, const param_arguments_t *arguments)
{
  graph_view_t view = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  if (arguments->json) return command_usage_error(command, "set has no --json");
  if (arguments->hide_type) return only_of_get(command);
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
  const char *words; /* that it takes */
  size_t least, most;
  int (*run)(const command_t *command, const param_arguments_t *arguments);
} action_t;

static const action_t actions[] = {
    {"list", "[NODE]", 0, 1, list_action},
    {"get", "NODE NAME...", 2, SIZE_MAX, get_action},
    {"set", "NODE NAME VALUE", 3, 3, set_action},
};

#define ACTION_COUNT (sizeof actions / sizeof *actions)

static int act(const command_t *command, param_arguments_t *arguments)
{
  if (arguments->count == 0)
    return command_usage_error(command, "say what to do: list, get or set");
  for (size_t i = 0; i < ACTION_COUNT; i++) {
    const action_t *action = &actions[i];
    if (strcmp(arguments->words[0], action->name) != 0) continue;
    arguments->words++;
    arguments->count--;
    if (arguments->count < action->least || arguments->count > action->most)
      return command_usage_error(command, "%s takes %s", action->name, action->words);
    return command_finish(command, action->run(command, arguments));
  }
  return command_usage_error(command, "'%s': can only list, get and set", arguments->words[0]);
}

/* No option begins like a number: "-0.5" is a value. */
static bool is_number(const char *word)
{
  return word[0] == '-' && (isdigit((unsigned char)word[1]) || word[1] == '.');
}

static int parse(const command_t *command, int argc, char **argv, param_arguments_t *arguments,
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
    while (optind < argc && is_number(argv[optind]))
      arguments->words[arguments->count++] = argv[optind++];
    int option = getopt_long(argc, argv, "-:h", options, NULL); /* in order: words are 1 */
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
  while (optind < argc) /* behind "--" */
    arguments->words[arguments->count++] = argv[optind++];
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  param_arguments_t arguments = {.graph = {.domain = -1, .limit = {2 * TB_NS_PER_S}}};
  char **words = calloc((size_t)argc + 1, sizeof *words);
  if (!words) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  arguments.words = words;
  int result = parse(command, argc, argv, &arguments, &help);
  if (help)
    result = command_help(command);
  else if (!result)
    result = act(command, &arguments);
  free(words);
  return result;
}

const command_t command_param = {
    .name = "param",
    .summary = "list, get and set parameters of nodes",
    .usage = "timebase param list [NODE] | get NODE NAME... | set NODE NAME VALUE\n"
             "       [--json] [--hide-type] [--wait D] [--limit D] [--domain N]",
    .help =
        "  list [NODE]           the names of the parameters of a node, or of all nodes\n"
        "  get NODE NAME...      of one parameter the type and the value, as ros2 param get; of\n"
        "                        several NAME: VALUE, the value in YAML\n"
        "  set NODE NAME VALUE   VALUE is YAML, as in ROS: true, 5, 1.5, text, '5' (a string),\n"
        "                        [1, 2]\n\n"
        "  --json      of list: {\"domain\", \"nodes\": [{\"name\", \"status\", "
        "\"parameters\": [NAME...]}]};\n"
        "              of get: {\"domain\", \"node\", \"parameters\": [{\"name\", \"type\", "
        "\"value\"}]}, where\n"
        "              the type is null if there is no such parameter, and \".inf\", \"-.inf\" "
        "and\n"
        "              \".nan\" stand for doubles that JSON does not have\n"
        "  --hide-type of get with one NAME: the value alone\n"
        "  --wait D    wait at most D for the node to be there; otherwise until nothing new has\n"
        "              come for 0.5 s (1 s while there are no nodes), at most 5 s\n"
        "  --limit D   wait at most D for an answer (default 2s)\n"
        "  --domain N  DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help  this text\n\n"
        "Status 1 if there is no such node or parameter, if a node does not answer, or if it\n"
        "refuses, with its reason.\n",
    .run = run,
};

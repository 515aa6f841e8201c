#include "param_ros1.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_context.h>

#include "json.h"
#include "param_value.h"
#include "ros1_ticks.h"
#include "ros1_value.h"
#include "text.h"

#define NAME_SIZE 512

enum { OPTION_JSON = 256, OPTION_LIMIT, OPTION_ROS1 };

typedef struct call {
  const command_t *command;
  tb_ros1_context_t *context;
  tb_duration_t limit;
  bool json;
  char **words; /* after the action */
  size_t count;
} call_t;

/* "a/b" is "/a/b". False: a message has been printed. */
static bool full_name(const call_t *call, const char *word, char out[NAME_SIZE])
{
  int length = snprintf(out, NAME_SIZE, "%s%s", *word == '/' ? "" : "/", word);
  if (length > 0 && length < NAME_SIZE) return true;
  command_usage_error(call->command, "the name of the parameter is too long");
  return false;
}

/* A parameter that is not set is an answer; what is no name is wrong usage. */
static int failed(const call_t *call, tb_status_t status, const tb_error_t *error)
{
  if (status == TB_ERR_INVALID) return command_usage_error(call->command, "%s", error->text);
  command_failed(call->command, status, error);
  return status == TB_ERR_NOT_FOUND ? EXIT_CHECK : EXIT_IO;
}

static int print_value(const call_t *call, const char *name, const tb_ros1_value_t *value)
{
  json_t *json = ros1_value_json(value);
  char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
  json_decref(json);
  if (!text) return command_failed(call->command, TB_ERR_NO_MEMORY, NULL);
  if (name) text_out("%s: ", name);
  text_out("%s", text);
  text_out("\n");
  free(text);
  return EXIT_OK;
}

/* --- the actions --- */

static bool is_below(const char *name, const char *name_space)
{
  size_t length = strlen(name_space);
  if (length && name_space[length - 1] == '/') length--;
  return !strncmp(name, name_space, length) && (name[length] == '/' || !name[length]);
}

static int by_text(const void *a, const void *b)
{
  const tb_ros1_value_t *const *left = a, *const *right = b;
  return strcmp((*left)->text, (*right)->text);
}

static int list(const call_t *call)
{
  char name_space[NAME_SIZE] = "/";
  const tb_ros1_value_t *names;
  tb_error_t error = TB_ERROR_INIT;
  if (call->count && !full_name(call, call->words[0], name_space)) return EXIT_USAGE;
  tb_status_t status = tb_ros1_parameter_names(call->context, call->limit, &names, &error);
  if (status) return failed(call, status, &error);
  const tb_ros1_value_t **sorted = calloc(names->count + 1, sizeof *sorted);
  json_t *root = json_array();
  size_t count = 0;
  for (size_t i = 0; sorted && i < names->count; i++)
    if (names->items[i].type == TB_ROS1_PARAMETER_STRING &&
        is_below(names->items[i].text, name_space))
      sorted[count++] = &names->items[i];
  if (count) qsort(sorted, count, sizeof *sorted, by_text);
  for (size_t i = 0; i < count; i++) {
    if (call->json) json_push(root, text_json(sorted[i]->text));
    if (!call->json) text_out("%s", sorted[i]->text);
    if (!call->json) text_out("\n");
  }
  int result = sorted ? EXIT_OK : command_failed(call->command, TB_ERR_NO_MEMORY, NULL);
  if (call->json && !result)
    result = json_finish(call->command, root, result);
  else
    json_decref(root);
  free(sorted);
  tb_ros1_value_release(names);
  return result;
}

static int get(const call_t *call)
{
  json_t *root = json_object();
  int result = EXIT_OK;
  for (size_t i = 0; i < call->count && result != EXIT_IO && result != EXIT_USAGE; i++) {
    char name[NAME_SIZE];
    const tb_ros1_value_t *value = NULL;
    tb_error_t error = TB_ERROR_INIT;
    if (!full_name(call, call->words[i], name)) {
      result = EXIT_USAGE;
      break;
    }
    tb_status_t status = tb_ros1_parameter_read(call->context, name, call->limit, &value, &error);
    if (status) result = failed(call, status, &error);
    if (!status && call->json) {
      json_t *item = json_object();
      json_put(item, "type", json_string(ros1_value_type(value)));
      json_put(item, "value", ros1_value_json(value));
      json_put(root, name, item);
    } else if (!status && print_value(call, call->count > 1 ? name : NULL, value)) {
      result = EXIT_IO;
    }
    tb_ros1_value_release(value);
  }
  if (call->json && (result == EXIT_OK || result == EXIT_CHECK))
    return json_finish(call->command, root, result);
  json_decref(root);
  return result;
}

/* What roscpp and rospy disagree on, and what nodes that run do not see. */
static void warn_of_sim_time(const call_t *call, const tb_ros1_value_t *value)
{
  if (value->type != TB_ROS1_PARAMETER_BOOL) {
    command_begin_warning(call->command);
    text_err("/use_sim_time is the %s now: roscpp takes the boolean true alone, rospy whatever is "
             "true; set it to true or false\n",
             ros1_value_type(value));
  }
  text_err("timebase %s: nodes that are running keep their time: start them again\n",
           call->command->name);
}

static int set(const call_t *call)
{
  char name[NAME_SIZE];
  tb_ros1_value_t *value = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (!full_name(call, call->words[0], name)) return EXIT_USAGE;
  tb_status_t status = ros1_value_parse(call->words[1], &value, &error);
  if (status == TB_ERR_NO_MEMORY) return command_failed(call->command, status, &error);
  if (status) return command_usage_error(call->command, "%s", error.text);
  status = tb_ros1_parameter_write(call->context, name, value, call->limit, &error);
  int result = status ? failed(call, status, &error) : EXIT_OK;
  if (!status && !strcmp(name, "/use_sim_time")) warn_of_sim_time(call, value);
  ros1_value_free(value);
  return result;
}

static int delete (const call_t *call)
{
  int result = EXIT_OK;
  for (size_t i = 0; i < call->count && result != EXIT_IO && result != EXIT_USAGE; i++) {
    char name[NAME_SIZE];
    tb_error_t error = TB_ERROR_INIT;
    if (!full_name(call, call->words[i], name)) return EXIT_USAGE;
    tb_status_t status = tb_ros1_parameter_delete(call->context, name, call->limit, &error);
    if (status) result = failed(call, status, &error);
  }
  return result;
}

/* --- the command --- */

static const struct {
  const char *name, *words;
  size_t least, most;
  int (*run)(const call_t *call);
} actions[] = {
    {"list", "[NAMESPACE]", 0, 1, list},
    {"get", "NAME...", 1, SIZE_MAX, get},
    {"set", "NAME VALUE", 2, 2, set},
    {"delete", "NAME...", 1, SIZE_MAX, delete},
};

static int run_action(call_t *call)
{
  const command_t *command = call->command;
  const char *name = call->count ? call->words[0] : "";
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(name, actions[i].name) != 0) continue;
    call->words++;
    call->count--;
    if (call->count < actions[i].least || call->count > actions[i].most)
      return command_usage_error(command, "%s --ros1 takes %s", name, actions[i].words);
    int result = ros1_join(command, &call->context);
    if (!result) result = actions[i].run(call);
    ros1_leave(call->context);
    return result;
  }
  return call->count ? command_usage_error(
                           command, "unknown action '%s'; use list, get, set or delete", name)
                     : command_usage_error(command, "expected list, get, set or delete");
}

/* EXIT_OK, or a message has been printed; *out_help: the help is asked for. */
static int parse(call_t *call, int argc, char **argv, bool *out_help)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"limit", required_argument, NULL, OPTION_LIMIT},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  for (;;) {
    while (optind < argc && param_is_number(argv[optind]))
      call->words[call->count++] = argv[optind++];
    int option = command_next_option(argc, argv, "-:h", options); /* in order: words are 1 */
    if (option == -1) break;
    if (option == 1)
      call->words[call->count++] = optarg;
    else if (option == OPTION_JSON)
      call->json = true;
    else if (option == OPTION_LIMIT &&
             !command_parse_limit(call->command, "--limit", optarg, &call->limit))
      return EXIT_USAGE;
    else if (option == 'h')
      *out_help = true;
    else if (option < OPTION_JSON)
      return command_bad_option(call->command, option, argv);
  }
  while (optind < argc) /* after "--" */
    call->words[call->count++] = argv[optind++];
  return EXIT_OK;
}

int param_ros1_run(const command_t *command, int argc, char **argv)
{
  char **words = calloc((size_t)argc + 1, sizeof *words);
  call_t call = {.command = command, .limit = TB_NO_LIMIT, .words = words};
  bool help = false;
  if (!words) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = parse(&call, argc, argv, &help);
  if (!result) result = help ? command_help(command) : run_action(&call);
  free(words);
  return help ? result : command_finish(command, result);
}

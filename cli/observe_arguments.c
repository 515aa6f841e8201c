#include "observe_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int observe_arguments_init(observe_arguments_t *arguments, observe_t *observe)
{
  *arguments =
      (observe_arguments_t){.observe = observe, .domain = -1, .topics_max = OBSERVE_TOPICS_DEFAULT};
  observe->paths = calloc(OBSERVE_PATHS_MAX, sizeof *observe->paths);
  if (!observe->paths) return command_failed(observe->command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    pthread_mutex_init(&observe->paths[i].lock, NULL);
  return EXIT_OK;
}

void observe_arguments_fini(observe_arguments_t *arguments)
{
  if (arguments->observe->paths) observe_close_paths(arguments->observe);
}

/* "FROM:TO[:BUDGET]". Names of ROS have no ':'. */
static bool take_path(observe_t *observe, const char *text)
{
  const command_t *command = observe->command;
  const char *colon = strchr(text, ':');
  size_t to_length = colon ? strcspn(colon + 1, ":") : 0;
  tb_duration_t budget = {0};
  if (!colon || colon == text || to_length == 0) {
    command_usage_error(command, "--path: '%s': expected FROM:TO or FROM:TO:BUDGET", text);
    return false;
  }
  if (colon[1 + to_length] &&
      !command_parse_limit(command, "--path", colon + 2 + to_length, &budget))
    return false;
  if (observe->paths[OBSERVE_PATHS_MAX - 1].from) {
    command_usage_error(command, "--path: more than %d", OBSERVE_PATHS_MAX);
    return false;
  }
  if (observe_add_path(observe, observe_full_name(text, (size_t)(colon - text)),
                       observe_full_name(colon + 1, to_length), budget.ns, false))
    return true;
  command_failed(command, TB_ERR_NO_MEMORY, NULL);
  return false;
}

static bool take_folder(observe_arguments_t *arguments, const char *folder)
{
  const command_t *command = arguments->observe->command;
  if (arguments->folder_count == OBSERVE_FOLDERS_MAX) {
    command_usage_error(command, "--definitions: more than %d", OBSERVE_FOLDERS_MAX);
    return false;
  }
  if (access(folder, R_OK | X_OK) != 0) {
    command_usage_error(command, "--definitions: cannot read the folder '%s'", folder);
    return false;
  }
  arguments->folders[arguments->folder_count++] = folder;
  return true;
}

bool observe_take_option(observe_arguments_t *arguments, int option, char **argv)
{
  observe_t *observe = arguments->observe;
  switch (option) {
  case OBSERVE_OPTION_DOMAIN:
    return command_parse_domain(observe->command, optarg, &arguments->domain);
  case OBSERVE_OPTION_MAX_TOPICS:
    return command_parse_int(observe->command, "--max-topics", optarg, 1, OBSERVE_TOPICS_MAX,
                             &arguments->topics_max);
  case OBSERVE_OPTION_PATH:
    return take_path(observe, optarg);
  case OBSERVE_OPTION_FIND_PATHS:
    observe->finds_paths = true;
    return true;
  case OBSERVE_OPTION_DEFINITIONS:
    return take_folder(arguments, optarg);
  default:
    command_bad_option(observe->command, option, argv);
    return false;
  }
}

int observe_take_topics(observe_arguments_t *arguments, int argc, char **argv)
{
  const command_t *command = arguments->observe->command;
  for (; optind < argc; optind++) {
    if (arguments->filter_count == OBSERVE_FILTERS_MAX)
      return command_usage_error(command, "more than %d topics", OBSERVE_FILTERS_MAX);
    if (argv[optind][0] == '\0') return command_usage_error(command, "an empty topic");
    arguments->filters[arguments->filter_count++] = argv[optind];
  }
  return EXIT_OK;
}

int observe_arguments_open(const observe_arguments_t *arguments)
{
  observe_t *observe = arguments->observe;
  observe->filters = arguments->filters;
  observe->filter_count = arguments->filter_count;
  observe->topics_max = (size_t)arguments->topics_max;
  return observe_open(observe, arguments->domain, arguments->folders, arguments->folder_count);
}

#include "record_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The end of a part such as "std_msgs"; NULL: it is none. */
static const char *end_of_part(const char *at)
{
  if (!isalpha((unsigned char)*at)) return NULL;
  while (isalnum((unsigned char)*at) || *at == '_')
    at++;
  return at;
}

/* Events of services have types in srv, those of actions in action. */
static bool is_type(const char *type)
{
  static const char *const folders[] = {"/msg/", "/srv/", "/action/", NULL};
  const char *end = end_of_part(type);
  for (int i = 0; end && folders[i]; i++) {
    size_t length = strlen(folders[i]);
    if (strncmp(end, folders[i], length) != 0) continue;
    end = end_of_part(end + length);
    return end && !*end;
  }
  return false;
}

static int check_types(const command_t *command, const char *option, const char *const *types,
                       size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!is_type(types[i]))
      return command_usage_error(
          command, "%s: '%s' is not a type; write package/msg/Name, such as sensor_msgs/msg/Imu",
          option, types[i]);
  return EXIT_OK;
}

int record_names_check_types(const command_t *command, const record_arguments_t *arguments)
{
  const tb_ros2_recorder_options_t *graph = &arguments->options;
  int result =
      check_types(command, "--topic-types", arguments->lists[RECORD_TYPES], graph->type_count);
  return result ? result
                : check_types(command, "--exclude-topic-types",
                              arguments->lists[RECORD_EXCLUDED_TYPES], graph->exclude_type_count);
}

int record_names_resolve(const command_t *command, record_arguments_t *arguments,
                         const tb_ros2_node_t *node)
{
  const tb_ros2_recorder_options_t *graph = &arguments->options;
  const struct {
    const char *option;
    int list;
    size_t count;
  } lists[] = {
      {"--topics", RECORD_TOPICS, graph->topic_count},
      {"--exclude-topics", RECORD_EXCLUDED_TOPICS, graph->exclude_topic_count},
      {"--services", RECORD_SERVICES, graph->service_count},
      {"--exclude-services", RECORD_EXCLUDED_SERVICES, graph->exclude_service_count},
      {"--actions", RECORD_ACTIONS, graph->action_count},
      {"--exclude-actions", RECORD_EXCLUDED_ACTIONS, graph->exclude_action_count},
  };
  size_t count = 0, next = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    count += lists[i].count;
  arguments->names = calloc(count + 1, sizeof *arguments->names);
  if (!arguments->names) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (size_t k = 0; k < lists[i].count; k++) {
      const char **word = &arguments->lists[lists[i].list][k];
      tb_error_t error = TB_ERROR_INIT;
      char *name = arguments->names[next++];
      if (tb_ros2_node_resolve_topic_name(node, *word, name, &error))
        return command_usage_error(command, "%s: %s", lists[i].option, error.text);
      *word = name;
    }
  return EXIT_OK;
}

#include "record_names.h"

#include <ctype.h>
#include <string.h>

#define NAME_LENGTH_MAX 247 /* rmw/validate_full_topic_name.h: 255 less 8 for prefixes */

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

/* The rule that the name of a topic, service or action breaks; NULL: none. A first '/' may be left
 * out. */
static const char *broken_rule(const char *name)
{
  size_t length = strlen(name);
  if (length == 0) return "must not be empty";
  if (name[0] == '~') return "must be a full name, without '~'";
  if (name[length - 1] == '/') return "must not end with '/'";
  for (size_t i = 0; i < length; i++) {
    bool is_start = i == 0 || name[i - 1] == '/';
    if (name[i] != '/' && name[i] != '_' && !isalnum((unsigned char)name[i]))
      return "must have only letters, digits, '_' and '/'";
    if (name[i] == '/' && name[i + 1] == '/') return "must not have '//'";
    if (is_start && isdigit((unsigned char)name[i]))
      return "must not have a part that starts with a digit";
  }
  return length + (name[0] != '/') > NAME_LENGTH_MAX ? "must not be longer than 247 characters"
                                                     : NULL;
}

static int check_names(const command_t *command, const char *option, const char *const *names,
                       size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const char *rule = broken_rule(names[i]);
    if (rule) return command_usage_error(command, "%s: name '%s': %s", option, names[i], rule);
  }
  return EXIT_OK;
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

int record_names_check(const command_t *command, const record_arguments_t *arguments)
{
  const tb_ros2_recorder_options_t *graph = &arguments->options;
  const struct {
    const char *option;
    int list;
    size_t count;
  } lists[] = {
      {"--topics", RECORD_TOPICS, graph->topic_count},
      {"--exclude-topics", RECORD_EXCLUDED_TOPICS, graph->exclude_topic_count},
      {"--topic-types", RECORD_TYPES, graph->type_count},
      {"--exclude-topic-types", RECORD_EXCLUDED_TYPES, graph->exclude_type_count},
      {"--services", RECORD_SERVICES, graph->service_count},
      {"--exclude-services", RECORD_EXCLUDED_SERVICES, graph->exclude_service_count},
      {"--actions", RECORD_ACTIONS, graph->action_count},
      {"--exclude-actions", RECORD_EXCLUDED_ACTIONS, graph->exclude_action_count},
  };
  int result = EXIT_OK;
  for (size_t i = 0; i < sizeof lists / sizeof *lists && !result; i++) {
    bool are_types = lists[i].list == RECORD_TYPES || lists[i].list == RECORD_EXCLUDED_TYPES;
    const char *const *words = arguments->lists[lists[i].list];
    result = are_types ? check_types(command, lists[i].option, words, lists[i].count)
                       : check_names(command, lists[i].option, words, lists[i].count);
  }
  return result;
}

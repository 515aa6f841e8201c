#include "ros2/arguments.h"
#include "base/no_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <timebase/ros2_arguments.h>

#include "params/node_pattern.h"
#include "params/parameter_sections.h"
#include "ros2/remap.h"

struct tb__arguments {
  tb__remap_rules_t rules;
  tb__parameter_sections_t sections;
  char *enclave;
};

static tb_status_t take_remap(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  return tb__remap_rules_add(&arguments->rules, value, error);
}

/* Parts of letters, digits, '_' and '/', with '.' between them. */
static tb_status_t check_parameter_name(const char *name, tb_error_t *error)
{
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/";
  const char *part = name;
  for (;;) {
    size_t length = strspn(part, allowed);
    if (length == 0 || (part[length] != '.' && part[length] != '\0'))
      return tb_error_set(error, TB_ERR_INVALID,
                          "parameter '%s': its name must have only letters, digits, '_' and '/', "
                          "and '.' between them",
                          name);
    if (part[length] == '\0') return TB_OK;
    part += length + 1;
  }
}

static tb_status_t add_parameter(tb__arguments_t *arguments, const char *node, const char *name,
                                 const char *text, tb_error_t *error)
{
  tb_status_t status = check_parameter_name(name, error);
  if (status) return status;
  tb_ros2_parameter_value_t value;
  status = tb_ros2_parameter_value_parse(text, &value, error);
  if (status) return status;
  status = tb__parameter_sections_add(&arguments->sections, node);
  if (!status) status = tb__parameter_sections_add_value(&arguments->sections, name, &value);
  if (!status) return TB_OK;
  tb_ros2_parameter_value_release(&value);
  return tb__no_memory(error);
}

/* "name:=value" or "node:name:=value". */
static tb_status_t take_parameter(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  const char *separator = strstr(value, ":=");
  if (!separator)
    return tb_error_set(error, TB_ERR_INVALID, "must be name:=value or node:name:=value");
  char *left = strndup(value, (size_t)(separator - value));
  if (!left) return tb__no_memory(error);
  const char *node = "/**", *name = left;
  tb_status_t status = TB_OK;
  char *colon = strchr(left, ':');
  if (colon) {
    *colon = '\0';
    node = left;
    name = colon + 1;
    status = tb__node_name_check(node, error);
  }
  if (!status) status = add_parameter(arguments, node, name, separator + 2, error);
  free(left);
  return status;
}

static tb_status_t take_file(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  return tb__parameter_sections_read(&arguments->sections, value, error);
}

static tb_status_t take_enclave(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  char checked[TB__DDS_NAME_SIZE];
  tb_error_t detail = TB_ERROR_INIT;
  if (*value != '/') return tb_error_set(error, TB_ERR_INVALID, "must begin with '/'");
  if (tb__namespace_normalize(value, checked, &detail))
    return tb_error_set(error, TB_ERR_INVALID, "must have the form of a namespace: %s",
                        detail.text);
  char *enclave = strdup(value);
  if (!enclave) return tb__no_memory(error);
  free(arguments->enclave);
  arguments->enclave = enclave;
  return TB_OK;
}

/* "info" or "logger:=info", which have no effect here. */
static tb_status_t check_log_level(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  static const char *const levels[] = {"unset", "debug", "info", "warn", "error", "fatal"};
  (void)arguments;
  const char *separator = strstr(value, ":=");
  const char *level = separator ? separator + 2 : value;
  for (size_t i = 0; separator != value && i < sizeof levels / sizeof levels[0]; i++) {
    if (strcasecmp(level, levels[i]) == 0) return TB_OK;
  }
  return tb_error_set(error, TB_ERR_INVALID,
                      "must be a level (unset, debug, info, warn, error, fatal) or logger:=level");
}

static tb_status_t accept(tb__arguments_t *arguments, const char *value, tb_error_t *error)
{
  (void)arguments;
  (void)value;
  (void)error;
  return TB_OK;
}

typedef struct option {
  const char *name, *short_name;
  tb_status_t (*take)(tb__arguments_t *arguments, const char *value, tb_error_t *error);
} option_t;

static const option_t options[] = {
    {"--remap", "-r", take_remap},
    {"--param", "-p", take_parameter},
    {"--params-file", "--params-file", take_file},
    {"--enclave", "-e", take_enclave},
    {"--log-level", "--log-level", check_log_level},
    {"--log-config-file", "--log-config-file", accept},
    {"--log-file-name", "--log-file-name", accept},
};

static const char *const flags[] = {
    "--enable-rosout-logs",  "--disable-rosout-logs",      "--enable-stdout-logs",
    "--disable-stdout-logs", "--enable-external-lib-logs", "--disable-external-lib-logs",
};

static const option_t *find_option(const char *argument)
{
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    if (strcmp(argument, options[i].name) == 0 || strcmp(argument, options[i].short_name) == 0)
      return &options[i];
  }
  return NULL;
}

static bool is_flag(const char *argument)
{
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    if (strcmp(argument, flags[i]) == 0) return true;
  }
  return false;
}

static bool is_marker(const char *argument)
{
  return strcmp(argument, "--ros-args") == 0 || strcmp(argument, "--") == 0;
}

static tb_status_t take_option(tb__arguments_t *arguments, const char *argument, const char *value,
                               tb_error_t *error)
{
  const option_t *option = find_option(argument);
  if (!value || is_marker(value))
    return tb_error_set(error, TB_ERR_INVALID, "ROS argument '%s' needs a value", argument);
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = option->take(arguments, value, &detail);
  if (!status) return TB_OK;
  tb_error_set(error, status, "ROS argument '%s %.100s': %s", argument, value, detail.text);
  if (error) error->os_errno = detail.os_errno;
  return status;
}

static tb_status_t take_all(tb__arguments_t *arguments, int argc, const char *const *argv,
                            tb_error_t *error)
{
  bool for_ros = false;
  for (int i = 1; i < argc && argv[i]; i++) {
    if (is_marker(argv[i])) {
      for_ros = for_ros ? strcmp(argv[i], "--") != 0 : strcmp(argv[i], "--ros-args") == 0;
    } else if (for_ros && find_option(argv[i])) {
      const char *value = i + 1 < argc ? argv[i + 1] : NULL;
      tb_status_t status = take_option(arguments, argv[i], value, error);
      if (status) return status;
      i++;
    } else if (for_ros && !is_flag(argv[i])) {
      return tb_error_set(error, TB_ERR_INVALID,
                          "unknown ROS argument '%s'; arguments of the program go before "
                          "--ros-args or after --",
                          argv[i]);
    }
  }
  return TB_OK;
}

tb_status_t tb__arguments_parse(int argc, const char *const *argv, tb__arguments_t **out,
                                tb_error_t *error)
{
  if (argc < 0 || (argc > 0 && !argv) || !out)
    return tb_error_set(error, TB_ERR_INVALID, "arguments are NULL");
  tb__arguments_t *arguments = calloc(1, sizeof *arguments);
  if (!arguments) return tb__no_memory(error);
  tb_status_t status = take_all(arguments, argc, argv, error);
  if (status) {
    tb__arguments_destroy(arguments);
    return status;
  }
  *out = arguments;
  return TB_OK;
}

void tb__arguments_destroy(tb__arguments_t *arguments)
{
  if (!arguments) return;
  tb__remap_rules_fini(&arguments->rules);
  tb__parameter_sections_fini(&arguments->sections);
  free(arguments->enclave);
  free(arguments);
}

static const tb__remap_rules_t *rules_of(const tb__arguments_t *arguments)
{
  return arguments ? &arguments->rules : NULL;
}

tb_status_t tb__arguments_node_name(const tb__arguments_t *local, const tb__arguments_t *global,
                                    const char *name, char out[TB__DDS_NAME_SIZE])
{
  const tb__remap_rule_t *rule = tb__remap_find(rules_of(local), TB__REMAP_NODE, name);
  if (!rule) rule = tb__remap_find(rules_of(global), TB__REMAP_NODE, name);
  const char *result = rule ? rule->to : name;
  size_t length = strlen(result);
  if (length >= TB__DDS_NAME_SIZE) return TB_ERR_INVALID;
  memcpy(out, result, length + 1);
  return TB_OK;
}

tb_status_t tb__arguments_node_namespace(const tb__arguments_t *local,
                                         const tb__arguments_t *global, const char *name,
                                         const char *ns, char out[TB__DDS_NAME_SIZE])
{
  const tb__remap_rule_t *rule = tb__remap_find(rules_of(local), TB__REMAP_NAMESPACE, name);
  if (!rule) rule = tb__remap_find(rules_of(global), TB__REMAP_NAMESPACE, name);
  return tb__namespace_normalize(rule ? rule->to : ns, out, NULL);
}

tb_status_t tb__arguments_remap(const tb__arguments_t *local, const tb__arguments_t *global,
                                const char *node_name, const char *node_namespace, bool is_service,
                                const char *full, char out[TB__DDS_NAME_SIZE], tb_error_t *error)
{
  tb__remap_kind_t kind = is_service ? TB__REMAP_SERVICE : TB__REMAP_TOPIC;
  const tb__remap_rule_t *rule =
      tb__remap_find_name(rules_of(local), kind, node_name, node_namespace, full);
  if (!rule) rule = tb__remap_find_name(rules_of(global), kind, node_name, node_namespace, full);
  return tb__name_expand(rule ? rule->to : full, node_name, node_namespace, out, error);
}

static tb_status_t each_override(const tb__arguments_t *arguments, const char *full_node_name,
                                 tb__override_callback_t callback, void *user, tb_error_t *error)
{
  for (size_t i = 0; arguments && i < arguments->sections.count; i++) {
    const tb__parameter_section_t *section = &arguments->sections.items[i];
    if (!tb__node_pattern_matches(section->nodes, full_node_name)) continue;
    for (size_t k = 0; k < section->count; k++) {
      const tb_ros2_parameter_t *parameter = &section->parameters[k];
      tb_status_t status = callback(parameter->name, &parameter->value, user);
      if (status)
        return tb_error_set(error, status, "parameter '%s' for '%s', of node '%s': %s",
                            parameter->name, section->nodes, full_node_name,
                            tb_status_message(status));
    }
  }
  return TB_OK;
}

tb_status_t tb__arguments_overrides(const tb__arguments_t *local, const tb__arguments_t *global,
                                    const char *full_node_name, tb__override_callback_t callback,
                                    void *user, tb_error_t *error)
{
  tb_status_t status = each_override(global, full_node_name, callback, user, error);
  return status ? status : each_override(local, full_node_name, callback, user, error);
}

const char *tb__arguments_enclave(const tb__arguments_t *arguments)
{
  return arguments ? arguments->enclave : NULL;
}

int tb_ros2_remove_ros_arguments(int argc, char **argv)
{
  if (argc <= 0 || !argv) return 0;
  int kept = 1;
  bool for_ros = false;
  for (int i = 1; i < argc && argv[i]; i++) {
    if (for_ros)
      for_ros = strcmp(argv[i], "--") != 0;
    else if (strcmp(argv[i], "--ros-args") == 0)
      for_ros = true;
    else
      argv[kept++] = argv[i];
  }
  argv[kept] = NULL;
  return kept;
}

/* Any bytes as a value of a parameter, and as a rule of remapping and a name of nodes. An
 * accepted value must be read back from its own text. */
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_parameter.h>

#include "fuzz.h"
#include "params/node_pattern.h"
#include "ros2/remap.h"

static void check_value(const char *text)
{
  tb_ros2_parameter_value_t value, again;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_parameter_value_parse(text, &value, &error) != TB_OK) {
    if (error.status == TB_OK || error.text[0] == '\0') abort();
    return;
  }
  char *formatted = NULL;
  if (tb_ros2_parameter_value_format(&value, &formatted) != TB_OK) abort();
  if (tb_ros2_parameter_value_parse(formatted, &again, NULL) != TB_OK) abort();
  if (!tb_ros2_parameter_value_equal(&value, &again)) abort();
  tb_ros2_parameter_value_release(&again);
  tb_ros2_parameter_value_release(&value);
  free(formatted);
}

static void check_rule(const char *text)
{
  char out[TB__DDS_NAME_SIZE];
  tb__remap_rules_t rules = {0};
  if (tb__remap_rules_add(&rules, text, NULL) == TB_OK) {
    const tb__remap_rule_t *rule = &rules.items[0];
    if (rule->from && tb__name_expand(rule->from, "node", "/ns", out, NULL) != TB_OK) abort();
    if (rule->from && !rule->node &&
        tb__remap_find_name(&rules, (tb__remap_kind_t)rule->kinds, "node", "/ns", out) != rule)
      abort();
  }
  tb__remap_rules_fini(&rules);
}

static void check_pattern(const char *text)
{
  if (tb__node_pattern_check(text, NULL) != TB_OK) return;
  tb__node_pattern_matches(text, "/ns/node");
  if (!strchr(text, '*') && text[0] == '/' && !tb__node_pattern_matches(text, text)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  check_value(text);
  check_rule(text);
  check_pattern(text);
  free(text);
  return 0;
}

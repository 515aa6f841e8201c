#include "ros2/remap.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

#define TOPIC_SCHEME   "rostopic://"
#define SERVICE_SCHEME "rosservice://"

static bool skip(char **text, const char *prefix)
{
  size_t length = strlen(prefix);
  if (strncmp(*text, prefix, length) != 0) return false;
  *text += length;
  return true;
}

/* Takes a leading "node:", unless it is a scheme. */
static tb_status_t take_node(char **text, tb__remap_rule_t *rule, tb_error_t *error)
{
  char *colon = strchr(*text, ':');
  if (!colon || strncmp(colon, "://", 3) == 0) return TB_OK;
  *colon = '\0';
  rule->node = *text;
  *text = colon + 1;
  return tb__node_name_check(rule->node, error);
}

/* Names are resolved when a node uses them; this checks only that they can be valid. */
static tb_status_t check_name(const char *name, tb_error_t *error)
{
  char out[TB__DDS_NAME_SIZE];
  if (strchr(name, '*'))
    return tb_error_set(error, TB_ERR_INVALID,
                        "name '%s': wildcards are not supported in remap rules", name);
  if (strchr(name, '\\'))
    return tb_error_set(error, TB_ERR_INVALID,
                        "name '%s': back references are not supported in remap rules", name);
  return tb__name_expand(name, "node", "/ns", out, error);
}

static tb_status_t check_namespace(const char *to, tb_error_t *error)
{
  char out[TB__DDS_NAME_SIZE];
  if (*to != '/')
    return tb_error_set(error, TB_ERR_INVALID, "namespace '%s': must begin with '/' here", to);
  return tb__namespace_normalize(to, out, error);
}

static tb_status_t split(tb__remap_rule_t *rule, tb_error_t *error)
{
  char *from = rule->text;
  char *separator = strstr(from, ":=");
  if (!separator) return tb_error_set(error, TB_ERR_INVALID, "must be from:=to");
  *separator = '\0';
  rule->to = separator + 2;
  tb_status_t status = take_node(&from, rule, error);
  if (status) return status;
  if (strcmp(from, "__node") == 0 || strcmp(from, "__name") == 0) {
    rule->kinds = TB__REMAP_NODE;
    return tb__node_name_check(rule->to, error);
  }
  if (strcmp(from, "__ns") == 0) {
    rule->kinds = TB__REMAP_NAMESPACE;
    return check_namespace(rule->to, error);
  }
  rule->kinds = skip(&from, TOPIC_SCHEME)     ? TB__REMAP_TOPIC
                : skip(&from, SERVICE_SCHEME) ? TB__REMAP_SERVICE
                                              : TB__REMAP_TOPIC | TB__REMAP_SERVICE;
  rule->from = from;
  status = check_name(rule->from, error);
  return status ? status : check_name(rule->to, error);
}

static tb_status_t reserve(tb__remap_rules_t *rules)
{
  if (rules->count < rules->capacity) return TB_OK;
  size_t capacity = rules->capacity ? 2 * rules->capacity : 4;
  tb__remap_rule_t *items = realloc(rules->items, capacity * sizeof *items);
  if (!items) return TB_ERR_NO_MEMORY;
  rules->items = items;
  rules->capacity = capacity;
  return TB_OK;
}

tb_status_t tb__remap_rules_add(tb__remap_rules_t *rules, const char *text, tb_error_t *error)
{
  tb__remap_rule_t rule = {.text = strdup(text)};
  if (!rule.text || reserve(rules)) {
    free(rule.text);
    return tb__no_memory(error);
  }
  tb_status_t status = split(&rule, error);
  if (status) {
    free(rule.text);
    return status;
  }
  rules->items[rules->count++] = rule;
  return TB_OK;
}

void tb__remap_rules_fini(tb__remap_rules_t *rules)
{
  for (size_t i = 0; i < rules->count; i++)
    free(rules->items[i].text);
  free(rules->items);
  *rules = (tb__remap_rules_t){0};
}

static bool concerns(const tb__remap_rule_t *rule, tb__remap_kind_t kind, const char *node_name)
{
  return (rule->kinds & kind) && (!rule->node || strcmp(rule->node, node_name) == 0);
}

const tb__remap_rule_t *tb__remap_find(const tb__remap_rules_t *rules, tb__remap_kind_t kind,
                                       const char *name)
{
  for (size_t i = 0; rules && i < rules->count; i++) {
    if (concerns(&rules->items[i], kind, name)) return &rules->items[i];
  }
  return NULL;
}

const tb__remap_rule_t *tb__remap_find_name(const tb__remap_rules_t *rules, tb__remap_kind_t kind,
                                            const char *node_name, const char *node_namespace,
                                            const char *full)
{
  char from[TB__DDS_NAME_SIZE];
  for (size_t i = 0; rules && i < rules->count; i++) {
    const tb__remap_rule_t *rule = &rules->items[i];
    if (!concerns(rule, kind, node_name)) continue;
    /* A name that cannot be expanded for this node, as it is too long, does not match. */
    if (tb__name_expand(rule->from, node_name, node_namespace, from, NULL)) continue;
    if (strcmp(from, full) == 0) return rule;
  }
  return NULL;
}

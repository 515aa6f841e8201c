#include <timebase/qos_overrides.h>

#include <stdlib.h>
#include <string.h>

#include "bag/offers.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "platform/input_file.h"

#define MAX_SIZE ((size_t)1 << 20)

typedef struct entry {
  const char *topic; /* of the tree */
  tb__qos_offer_t offer;
  int32_t depth; /* 0: not given */
} entry_t;

struct tb_qos_overrides {
  tb__yaml_t yaml;
  entry_t *entries;
  size_t count;
  int32_t depth_max;
};

static tb_status_t check_keys(const tb__yaml_node_t *policies, tb_error_t *error)
{
  static const char *const known[] = {"history",
                                      "depth",
                                      "reliability",
                                      "durability",
                                      "deadline",
                                      "lifespan",
                                      "liveliness",
                                      "liveliness_lease_duration",
                                      "avoid_ros_namespace_conventions"};
  for (const tb__yaml_node_t *node = policies->first; node; node = node->next) {
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i], node->key) != 0)
      i++;
    if (i == sizeof known / sizeof *known)
      return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: unknown policy \"%.60s\"", node->line,
                          node->key);
  }
  return TB_OK;
}

static tb_status_t read_entry(const tb__yaml_node_t *node, entry_t *out, tb_error_t *error)
{
  if (node->kind != TB__YAML_MAPPING)
    return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: topic \"%.100s\" has no policies",
                        node->line, node->key);
  tb_status_t status = check_keys(node, error);
  if (!status) status = tb__qos_offer_read(node, &out->offer, error);
  if (status) return status;
  out->topic = node->key;
  const tb__yaml_node_t *depth = tb__yaml_find(node, "depth");
  uint64_t number = 0;
  if (depth && (!tb__yaml_to_uint64(depth, &number) || number > INT32_MAX))
    return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: bad depth", depth->line);
  out->depth = (int32_t)number;
  return TB_OK;
}

static tb_status_t read_entries(tb_qos_overrides_t *overrides, tb_error_t *error)
{
  const tb__yaml_node_t *root = overrides->yaml.root;
  if (tb__yaml_is_null(root)) return TB_OK;
  if (root->kind != TB__YAML_MAPPING)
    return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: not a mapping of topics to policies",
                        root->line);
  size_t count = 0;
  for (const tb__yaml_node_t *node = root->first; node; node = node->next)
    count++;
  overrides->entries = calloc(count + 1, sizeof *overrides->entries);
  if (!overrides->entries) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  for (const tb__yaml_node_t *node = root->first; node && !status; node = node->next)
    status = read_entry(node, &overrides->entries[overrides->count++], error);
  return status;
}

tb_status_t tb_qos_overrides_parse(const char *text, size_t size, tb_qos_overrides_t **out,
                                   tb_error_t *error)
{
  if (!text || !out)
    return tb_error_set(error, TB_ERR_INVALID, "QoS overrides: text or out is NULL");
  if (size > MAX_SIZE)
    return tb_error_set(error, TB_ERR_LIMIT, "QoS overrides: larger than %zu bytes", MAX_SIZE);
  tb_qos_overrides_t *overrides = calloc(1, sizeof *overrides);
  if (!overrides) return tb__no_memory_for(error, "QoS overrides");
  overrides->depth_max = TB_QOS_OVERRIDES_DEPTH_MAX;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__bag_yaml_parse(text, size, &overrides->yaml, &detail);
  if (!status) status = read_entries(overrides, &detail);
  if (status) {
    tb_qos_overrides_destroy(overrides);
    return tb_error_set(error, status, "QoS overrides, %s", detail.text);
  }
  *out = overrides;
  return TB_OK;
}

tb_status_t tb_qos_overrides_load(const char *path, tb_qos_overrides_t **out, tb_error_t *error)
{
  if (!path || !out)
    return tb_error_set(error, TB_ERR_INVALID, "QoS overrides: path or out is NULL");
  char *text = NULL;
  size_t size = 0;
  tb_status_t status = tb__input_file_read(path, MAX_SIZE, &text, &size, error);
  if (status) return status;
  tb_error_t detail = TB_ERROR_INIT;
  status = tb_qos_overrides_parse(text, size, out, &detail);
  free(text);
  return !status ? TB_OK : tb_error_set(error, status, "%s: %s", path, detail.text);
}

void tb_qos_overrides_destroy(tb_qos_overrides_t *overrides)
{
  if (!overrides) return;
  tb__yaml_fini(&overrides->yaml);
  free(overrides->entries);
  free(overrides);
}

static void apply(const entry_t *entry, int32_t depth_max, tb_qos_t *qos)
{
  const tb__qos_offer_t *offer = &entry->offer;
  if (offer->reliability == TB_QOS_RELIABLE || offer->reliability == TB_QOS_BEST_EFFORT)
    qos->reliability = (tb_qos_reliability_t)offer->reliability;
  if (offer->durability == TB_QOS_TRANSIENT_LOCAL || offer->durability == TB_QOS_VOLATILE)
    qos->durability = (tb_qos_durability_t)offer->durability;
  if (offer->history == TB_QOS_KEEP_LAST || offer->history == TB_QOS_KEEP_ALL)
    qos->history = (tb_qos_history_t)offer->history;
  if (offer->liveliness == TB_QOS_LIVELINESS_AUTOMATIC ||
      offer->liveliness == TB_QOS_LIVELINESS_MANUAL_BY_TOPIC)
    qos->liveliness = (tb_qos_liveliness_t)offer->liveliness;
  if (entry->depth > 0) qos->depth = entry->depth < depth_max ? entry->depth : depth_max;
  if (offer->deadline_ns > 0) qos->deadline.ns = offer->deadline_ns;
  if (offer->lifespan_ns > 0) qos->lifespan.ns = offer->lifespan_ns;
  if (offer->lease_ns > 0) qos->liveliness_lease.ns = offer->lease_ns;
  if (offer->avoid_ros_namespace_conventions) qos->avoid_ros_namespace_conventions = true;
}

static void report_reduction(const entry_t *entry, int32_t depth_max)
{
  if (entry->depth > depth_max)
    tb__log(TB_LOG_WARN,
            "QoS overrides: %.100s: depth %d reduced to %d (--max-depth, "
            "tb_qos_overrides_set_depth_max)",
            entry->topic, (int)entry->depth, (int)depth_max);
}

void tb_qos_overrides_set_depth_max(tb_qos_overrides_t *overrides, int32_t depth_max)
{
  if (overrides) overrides->depth_max = depth_max >= 1 ? depth_max : TB_QOS_OVERRIDES_DEPTH_MAX;
}

bool tb_qos_overrides_apply(const tb_qos_overrides_t *overrides, const char *topic, tb_qos_t *qos)
{
  for (size_t i = 0; overrides && i < overrides->count; i++) {
    const char *name = overrides->entries[i].topic;
    if (strcmp(name + (*name == '/'), topic + (*topic == '/')) != 0) continue;
    apply(&overrides->entries[i], overrides->depth_max, qos);
    report_reduction(&overrides->entries[i], overrides->depth_max);
    return true;
  }
  return false;
}

/* YAML of recordings: metadata.yaml and QoS. What it has that is no text is made one. */
#ifndef TB_BAG_BAG_YAML_H
#define TB_BAG_BAG_YAML_H

#include "storage/clean.h"
#include "yaml/yaml_tree.h"

#define TB__BAG_YAML_MAX_SIZE  ((size_t)16 << 20)
#define TB__BAG_YAML_MAX_NODES 1000000

TB_WARN_UNUSED static inline tb_status_t tb__bag_yaml_parse(const void *bytes, size_t size,
                                                            tb__yaml_t *out, tb_error_t *error)
{
  tb__yaml_limits_t limits = {
      .size = TB__BAG_YAML_MAX_SIZE, .nodes = TB__BAG_YAML_MAX_NODES, .clean = tb__bag_clean};
  return tb__yaml_parse(bytes, size, &limits, out, error);
}

#endif

#include "bag/metadata.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "storage/clean.h"

static tb_status_t bad_field(const tb__yaml_node_t *node, const char *key, const char *wanted,
                             tb_error_t *error)
{
  if (!node) return tb_error_set(error, TB_ERR_CORRUPT, "%s is missing", key);
  return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: %s is not %s", node->line, key, wanted);
}

static tb_status_t read_version(const tb__yaml_node_t *map, int *out, tb_error_t *error)
{
  const tb__yaml_node_t *node = tb__yaml_find(map, "version");
  int64_t version = 0;
  if (!tb__yaml_to_int64(node, &version) || version < 1 || version > INT_MAX)
    return bad_field(node, "version", "a positive number", error);
  *out = (int)version;
  return TB_OK;
}

/* Null and absent read as empty. */
static tb_status_t read_text(const tb__yaml_node_t *map, const char *key, const char **out,
                             tb_error_t *error)
{
  const tb__yaml_node_t *node = tb__yaml_find(map, key);
  if (tb__yaml_is_null(node)) {
    *out = "";
    return TB_OK;
  }
  if (!tb__yaml_text(node)) return bad_field(node, key, "a string", error);
  *out = tb__yaml_text(node);
  return TB_OK;
}

static tb_status_t read_list(const tb__yaml_node_t *map, const char *key, tb__yaml_kind_t item_kind,
                             const tb__yaml_node_t **out, tb_error_t *error)
{
  const tb__yaml_node_t *list = tb__yaml_find(map, key);
  if (tb__yaml_is_null(list)) return TB_OK;
  if (list->kind != TB__YAML_SEQUENCE) return bad_field(list, key, "a list", error);
  for (const tb__yaml_node_t *item = list->first; item; item = item->next)
    if (item->kind != item_kind)
      return bad_field(item, key,
                       item_kind == TB__YAML_SCALAR ? "a list of strings" : "a list of mappings",
                       error);
  *out = list;
  return TB_OK;
}

static tb_status_t read_fields(const tb__yaml_node_t *map, tb__bag_metadata_t *out,
                               tb_error_t *error)
{
  if (!map || map->kind != TB__YAML_MAPPING)
    return tb_error_set(error, TB_ERR_CORRUPT,
                        "rosbag2_bagfile_information is missing or not a mapping");
  tb_status_t status = read_version(map, &out->version, error);
  if (!status) status = read_text(map, "storage_identifier", &out->storage_id, error);
  if (!status) status = read_text(map, "compression_mode", &out->compression_mode, error);
  if (!status) status = read_text(map, "compression_format", &out->compression_format, error);
  if (!status) status = read_text(map, "ros_distro", &out->ros_distro, error);
  if (!status) status = read_list(map, "relative_file_paths", TB__YAML_SCALAR, &out->paths, error);
  if (!status)
    status = read_list(map, "topics_with_message_count", TB__YAML_MAPPING, &out->topics, error);
  const tb__yaml_node_t *custom = tb__yaml_find(map, "custom_data");
  if (custom && custom->kind == TB__YAML_MAPPING) out->custom = custom;
  const tb__yaml_node_t *count = tb__yaml_find(map, "message_count");
  if (!status && count && !tb__yaml_to_uint64(count, &out->message_count))
    status = bad_field(count, "message_count", "a number", error);
  return status;
}

tb_status_t tb__bag_metadata_parse(const void *bytes, size_t size, tb__bag_metadata_t *out,
                                   tb_error_t *error)
{
  tb__bag_metadata_t metadata = {0};
  tb_status_t status = tb__bag_yaml_parse(bytes, size, &metadata.yaml, error);
  if (status) return status;
  const tb__yaml_node_t *root = metadata.yaml.root;
  const tb__yaml_node_t *inner = tb__yaml_find(root, "rosbag2_bagfile_information");
  status = read_fields(inner ? inner : root, &metadata, error);
  if (status)
    tb__bag_metadata_fini(&metadata);
  else
    *out = metadata;
  return status;
}

void tb__bag_metadata_fini(tb__bag_metadata_t *metadata)
{
  tb__yaml_fini(&metadata->yaml);
  *metadata = (tb__bag_metadata_t){0};
}

tb_status_t tb__bag_metadata_compression(const tb__bag_metadata_t *metadata,
                                         tb__bag_compression_t *out, tb_error_t *error)
{
  const char *mode = metadata->compression_mode;
  const char *format = metadata->compression_format;
  if (*mode == '\0' || strcasecmp(mode, "NONE") == 0) {
    *out = TB__BAG_PLAIN;
    return TB_OK;
  }
  bool is_known = strcasecmp(mode, "MESSAGE") == 0 || strcasecmp(mode, "FILE") == 0;
  if (!is_known || (*format && strcmp(format, "zstd") != 0))
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "compressed (mode %.20s, format %.20s): only zstd of messages or files is "
                        "supported",
                        mode, format);
  *out = strcasecmp(mode, "FILE") == 0 ? TB__BAG_FILES : TB__BAG_MESSAGES;
  return TB_OK;
}

/* The name of a topic is read cleaned, whatever its bytes are here. */
static bool is_name(const char *listed, const char *name)
{
  if (!listed || strcmp(listed, name) == 0) return listed;
  char *clean = tb__yaml_can_hold(listed) ? NULL : tb__bag_clean(listed, strlen(listed), NULL);
  bool same = clean && strcmp(clean, name) == 0;
  free(clean);
  return same;
}

bool tb__bag_metadata_find_topic(const tb__bag_metadata_t *metadata, const char *name,
                                 tb__bag_metadata_topic_t *out)
{
  const tb__yaml_node_t *item = metadata->topics ? metadata->topics->first : NULL;
  for (; item; item = item->next) {
    const tb__yaml_node_t *topic = tb__yaml_find(item, "topic_metadata");
    const char *item_name = tb__yaml_text(tb__yaml_find(topic, "name"));
    if (!is_name(item_name, name)) continue;
    tb__bag_metadata_topic_t found = {0, tb__yaml_find(topic, "offered_qos_profiles")};
    tb__yaml_to_uint64(tb__yaml_find(item, "message_count"), &found.message_count);
    *out = found;
    return true;
  }
  return false;
}

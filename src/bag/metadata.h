/* metadata.yaml of a bag, versions 1 to 9. */
#ifndef TB_BAG_METADATA_H
#define TB_BAG_METADATA_H

#include "bag/bag_yaml.h"

/* Strings live in `yaml`. Times are not kept: they may be wrong, and the data has them. */
typedef struct tb__bag_metadata {
  tb__yaml_t yaml;
  int version;
  const char *storage_id;
  const char *compression_mode;   /* empty, "NONE", "FILE" or "MESSAGE" in any case */
  const char *compression_format; /* "zstd" */
  const char *ros_distro;
  uint64_t message_count;
  const tb__yaml_node_t *paths;  /* sequence of scalars, or NULL */
  const tb__yaml_node_t *topics; /* sequence of mappings, or NULL */
  const tb__yaml_node_t *custom; /* mapping, or NULL */
} tb__bag_metadata_t;

typedef struct tb__bag_metadata_topic {
  uint64_t message_count;
  const tb__yaml_node_t *offers; /* or NULL */
} tb__bag_metadata_topic_t;

/* The file's form (all below rosbag2_bagfile_information) and that of the table in newer databases
 * (without it). Unknown keys and newer versions are accepted. *out is zeroed by the caller. */
tb_status_t tb__bag_metadata_parse(const void *bytes, size_t size, tb__bag_metadata_t *out,
                                   tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_metadata_fini(tb__bag_metadata_t *metadata);

typedef enum tb__bag_compression {
  TB__BAG_PLAIN,
  TB__BAG_MESSAGES, /* each message by itself */
  TB__BAG_FILES,    /* whole files */
} tb__bag_compression_t;

/* TB_ERR_UNSUPPORTED for another mode, or another format than zstd. */
tb_status_t tb__bag_metadata_compression(const tb__bag_metadata_t *metadata,
                                         tb__bag_compression_t *out,
                                         tb_error_t *error) TB_WARN_UNUSED;

/* False if the topic is not listed. */
bool tb__bag_metadata_find_topic(const tb__bag_metadata_t *metadata, const char *name,
                                 tb__bag_metadata_topic_t *out);

#endif

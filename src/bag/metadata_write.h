/* metadata.yaml, version 9, as rosbag2 of jazzy writes it. */
#ifndef TB_BAG_METADATA_WRITE_H
#define TB_BAG_METADATA_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

typedef struct tb__bag_described_topic {
  const char *name;
  const char *type;
  const char *serialization_format;
  const char *offers; /* YAML; what cannot be read is left out */
  const char *type_hash;
  uint64_t message_count;
} tb__bag_described_topic_t;

typedef struct tb__bag_extent {
  uint64_t message_count;
  int64_t start_ns; /* both 0 without messages */
  int64_t end_ns;
} tb__bag_extent_t;

typedef struct tb__bag_described_file {
  const char *name; /* inside of the bag's folder */
  tb__bag_extent_t extent;
} tb__bag_described_file_t;

typedef struct tb__bag_custom {
  char *key;
  char *value;
} tb__bag_custom_t;

typedef struct tb__bag_description {
  const char *storage_id;
  const char *compression_mode;   /* "", "MESSAGE" or "FILE" */
  const char *compression_format; /* "" or "zstd" */
  const char *ros_distro;
  tb__bag_extent_t extent;
  const tb__bag_described_topic_t *topics;
  size_t topic_count;
  const tb__bag_described_file_t *files;
  size_t file_count;
  const tb__bag_custom_t *custom;
  size_t custom_count;
} tb__bag_description_t;

typedef enum tb__bag_metadata_form {
  TB__BAG_METADATA_FILE,     /* all below rosbag2_bagfile_information */
  TB__BAG_METADATA_EMBEDDED, /* as storage files carry it, without that */
} tb__bag_metadata_form_t;

/* *out is to be freed. TB_ERR_INVALID: a text is not UTF-8. */
tb_status_t tb__bag_metadata_write(const tb__bag_description_t *bag, tb__bag_metadata_form_t form,
                                   char **out, tb_error_t *error) TB_WARN_UNUSED;

#endif

/* What a storage format provides for writing one file of a bag. The bag's writer splits, compresses
 * and counts; a format knows only its own bytes. */
#ifndef TB_STORAGE_OUTPUT_H
#define TB_STORAGE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <timebase/error.h>

/* Inside the file: the chunks of MCAP (not bz2) and of bags of ROS 1 (not zstd). SQLite has none.
 */
typedef enum tb__bag_output_compression {
  TB__BAG_OUTPUT_NONE = 0,
  TB__BAG_OUTPUT_ZSTD,
  TB__BAG_OUTPUT_LZ4,
  TB__BAG_OUTPUT_BZ2,
} tb__bag_output_compression_t;

typedef struct tb__bag_output_format tb__bag_output_format_t;

/* An open file; first member of each format's own struct. Not thread-safe: one writer owns it. */
typedef struct tb__bag_output {
  const tb__bag_output_format_t *format;
  uint64_t whole_count; /* of the messages written: those that are readable if the process is killed
                           now, as far as is known */
} tb__bag_output_t;

/* What a format found out about its file; outlives the output. */
typedef struct tb__bag_output_doubts {
  bool is_unsynced; /* what was written since the last sync may be gone: a sync or close failed */
  bool may_be_cut;  /* another process may have shortened it: only reading it shows */
} tb__bag_output_doubts_t;

typedef struct tb__bag_output_options {
  size_t chunk_size; /* bytes of a chunk or of an open transaction; 0: the format's default */
  tb__bag_output_compression_t compression;
  int level;                       /* of the compression; 0: the library's default */
  const char *ros_distro;          /* NULL or "": unknown */
  const char *profile;             /* of MCAP; NULL: "ros2" */
  tb__bag_output_doubts_t *doubts; /* set by the output, never cleared; NULL: not wanted */
} tb__bag_output_options_t;

typedef struct tb__bag_output_topic {
  const char *name;
  const char *type;
  const char *serialization_format;
  const char *offers; /* YAML of the offered QoS, may be empty */
  const char *type_hash;
  const char *definition;          /* text; "": unknown */
  const char *definition_encoding; /* "ros2msg", "ros1msg" or "" */
  const char *publisher;           /* the node that sends it; "": unknown */
} tb__bag_output_topic_t;

/* Whether publishers keep messages for who comes later; pure. */
static inline bool tb__bag_offers_latch(const char *offers)
{
  return strstr(offers, "transient_local") || strstr(offers, "durability: 1");
}

/* What a file shall carry of its recording. */
typedef struct tb__bag_output_metadata {
  const char *text;          /* of metadata.yaml */
  const char *const *keys;   /* notes with a record of their own, where the format has such */
  const char *const *values; /* of them */
  size_t count;
} tb__bag_output_metadata_t;

struct tb__bag_output_format {
  const char *id;        /* as in metadata.yaml: "sqlite3", "mcap" */
  const char *extension; /* ".db3", ".mcap" */
  bool is_file;          /* a recording is a file, without a folder and metadata.yaml */
  bool has_publishers;   /* a topic may be there for each of its publishers */
  /* Refuses an existing file. */
  tb_status_t (*create)(const tb__bag_output_format_t *format, const char *path,
                        const tb__bag_output_options_t *options, tb__bag_output_t **out,
                        tb_error_t *error);
  tb_status_t (*add_topic)(tb__bag_output_t *output, const tb__bag_output_topic_t *topic,
                           uint32_t *out_id, tb_error_t *error);
  tb_status_t (*write)(tb__bag_output_t *output, uint32_t topic, int64_t log_time_ns,
                       int64_t publish_time_ns, const void *data, size_t size, tb_error_t *error);
  /* All that was written has reached the kernel (with `sync`: the disk), and is readable if the
   * process is killed now. */
  tb_status_t (*flush)(tb__bag_output_t *output, bool sync, tb_error_t *error);
  uint64_t (*size)(const tb__bag_output_t *output); /* of the file, with what is buffered */
  /* TB_ERR_TRUNCATED: the file is shorter than what was written to it. Also after a failure. */
  tb_status_t (*check)(tb__bag_output_t *output, tb_error_t *error);
  /* `metadata` may be NULL. Frees on failure too. */
  tb_status_t (*close)(tb__bag_output_t *output, const tb__bag_output_metadata_t *metadata,
                       tb_error_t *error);
};

#endif

/* What a storage format provides for one file of a bag. The reader merges files, topics and errors;
 * a format knows only its own bytes. */
#ifndef TB_STORAGE_STORAGE_H
#define TB_STORAGE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/error.h>

#include "storage/block_order.h"
#include "storage/output.h"

typedef struct tb__bag_storage tb__bag_storage_t;

/* An open file; first member of each format's own struct. */
typedef struct tb__bag_file {
  const tb__bag_storage_t *storage;
  tb__bag_wanted_t wanted; /* a hint, set before seek: rows of other topics may be left out */
  bool is_sparse;          /* a hint, set before seek: the payloads of many rows will not be read */
  bool is_estimate_enough; /* a hint, set before read_info: see tb__bag_file_info_t.is_estimate */
  bool is_count_needed;    /* a hint, set before read_info: a count that only one place in the file
                              gives is not enough */
} tb__bag_file_t;

typedef struct tb__bag_file_topic {
  int64_t id; /* the file's own; differs between the files of a bag */
  char *name;
  char *type;
  char *serialization_format;
  char *offers; /* YAML of the offered QoS, may be empty */
  char *type_hash;
  char *definition;          /* text of the message definition, or NULL */
  char *definition_encoding; /* "ros2msg", or NULL */
  bool is_cleaned;           /* a name or type held what no text can, see storage/clean.h */
  uint64_t message_count;    /* 0 until count_topics */
} tb__bag_file_topic_t;

typedef struct tb__bag_file_info {
  tb__bag_file_topic_t *topics; /* sorted by id */
  size_t topic_count;
  uint64_t message_count;
  tb_bag_counted_t counted; /* what that rests on */
  bool is_estimate;         /* message_count is right if no row was deleted, and else too high */
  bool has_damage_rows;     /* rows that report damage may come, besides those of messages */
  bool has_times;           /* a row with a usable time exists */
  int64_t start_ns;
  int64_t end_ns;
  char *metadata;           /* metadata that the file itself carries (YAML), or NULL */
  char *ros_distro;         /* or NULL */
  char *library;            /* that wrote the file, or NULL */
  const char *chunk_format; /* how its chunks are compressed, static; NULL: they are not */
  char *damage;             /* what is wrong with a file that can still be read, or NULL */
  char *oddity;             /* the same, where nothing is lost by it, or NULL */
  char *losses;             /* how much was lost of it, or NULL */
  bool is_unclosed;         /* it was not closed, and nothing else is wrong */
} tb__bag_file_info_t;

/* A stretch of a file in which time was not set back: its rows from `first_id` on, up to the next
 * one. */
typedef struct tb__bag_file_run {
  int64_t first_id;
  int64_t start_ns, end_ns;
  uint64_t message_count;
  uint64_t *topic_counts; /* by topic of the file's info */
} tb__bag_file_run_t;

typedef struct tb__bag_row {
  int64_t id;
  bool time_is_integer; /* false: log_time_ns means nothing */
  int64_t log_time_ns;
  int64_t publish_time_ns; /* -1: none */
  int64_t topic_id;
  const uint8_t *data; /* NULL: the row has no payload */
  size_t size;
  const char *publisher; /* the node that sent it, as long as the file is open; NULL: unknown */
  bool is_unclosed_end;  /* it will only report that the file was not closed */
} tb__bag_row_t;

/* From start_ns on and before end_ns; INT64_MAX: everything later. */
typedef struct tb__bag_span {
  int64_t start_ns, end_ns;
} tb__bag_span_t;

/* One thing that is wrong with a file. */
typedef void (*tb__bag_finding_fn)(void *user, const char *text);

struct tb__bag_storage {
  const char *id;        /* as in metadata.yaml */
  const char *extension; /* ".db3" */
  const char *item;      /* what errors call one of its messages: "row", "message" */
  /* `name` appears in errors: of a file that was unpacked to `path`, the packed one. `limits` has
   * no zeros, and outlives the file. */
  tb_status_t (*open)(const tb__bag_storage_t *storage, const char *path, const char *name,
                      const tb_bag_limits_t *limits, tb__bag_file_t **out, tb_error_t *error);
  void (*close)(tb__bag_file_t *file);

  /* Fills *out, which is zeroed; free with tb__bag_file_info_fini on failure too. */
  tb_status_t (*read_info)(tb__bag_file_t *file, tb__bag_file_info_t *out, tb_error_t *error);
  tb_status_t (*count_topics)(tb__bag_file_t *file, tb__bag_file_info_t *info, tb_error_t *error);

  /* Where time was set back in the file, as many as *out_count; free with tb__bag_file_runs_free.
   * 0: nowhere. NULL: the format cannot tell. */
  tb_status_t (*find_runs)(tb__bag_file_t *file, tb__bag_file_run_t **out, size_t *out_count,
                           tb_error_t *error);

  /* Before the first row with log time >= time_ns; INT64_MIN: before all rows, bad ones too. */
  tb_status_t (*seek)(tb__bag_file_t *file, int64_t time_ns, tb_error_t *error);
  /* To the next row by (time, id): id and times. A failure other than TB_ERR_END is final. */
  tb_status_t (*step)(tb__bag_file_t *file, tb__bag_row_t *out, tb_error_t *error);
  /* Of the row that step gave: topic_id, publisher; then data and size, valid until the next call.
   * Failures concern this row only. */
  tb_status_t (*read_topic)(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error);
  tb_status_t (*read_data)(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error);

  /* Finds what reading all rows does not show; NULL: nothing. Fails only if that could not be done.
   */
  tb_status_t (*verify)(tb__bag_file_t *file, tb__bag_finding_fn report, void *user,
                        tb_error_t *error);
  /* To an output of the same format: what there is beside messages, of that time; it is counted
   * in *count. With `to` NULL only that. NULL: there is nothing. */
  tb_status_t (*copy_extra_records)(tb__bag_file_t *file, tb__bag_output_t *to, tb__bag_span_t span,
                                    tb_bag_extra_records_t *count, tb_error_t *error);
  /* The same format for damaged files: gives what can be read, in whatever order, and rows that
   * fail in read_topic for what cannot. NULL: this one does so itself. */
  const tb__bag_storage_t *salvage;
};

void tb__bag_file_info_fini(tb__bag_file_info_t *info);
void tb__bag_file_runs_free(tb__bag_file_run_t *runs, size_t count);

#endif

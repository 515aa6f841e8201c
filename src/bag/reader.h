/* Inside of tb_bag_reader_t. bag_reader.c opens and describes, reader_source.c has the files,
 * reader_counts.c counts messages, reader_runs.c knows runs, reader_notes.c notes, merge.c reads,
 * read_ahead.c on a thread of its own.
 */
#ifndef TB_BAG_READER_H
#define TB_BAG_READER_H

#include <timebase/bag_reader.h>

#include "bag/location.h"
#include "bag/read_ahead.h"
#include "bag/topic_table.h"
#include "bag/zstd_codec.h"
#include "storage/storage.h"

typedef struct tb__bag_topic_link {
  int64_t id;   /* in the file */
  size_t topic; /* in the bag */
} tb__bag_topic_link_t;

/* One of the bags that are read together. */
typedef struct tb__bag_part {
  const tb__bag_storage_t *storage;
  tb__bag_location_t location;
  uint64_t message_count;
  uint64_t whole_count;    /* the same with files of other runs than the one that is read */
  bool is_single_messages; /* each message is compressed by itself */
  tb__bag_metadata_t own;  /* of the last file that has it inside, without a metadata.yaml */
} tb__bag_part_t;

/* One file: opened when reading reaches its first message, closed after its last. */
typedef struct tb__bag_source {
  tb__bag_part_t *part;
  const char *path;
  tb__bag_topic_link_t *links; /* sorted by id */
  size_t link_count;
  bool has_rows;
  bool is_left_out; /* of another run than the one that is read */
  bool is_lost;     /* nothing of it can be read; reported */
  uint64_t row_count;
  bool is_estimated; /* row_count, as tb__bag_file_info_t has it */
  int64_t start_ns;  /* 0 if no row has a usable time */
  int64_t end_ns;    /* INT64_MAX if no row has a usable time: never skipped */
  tb__bag_file_t *file;
  const bool *wanted; /* by topic of the bag, while the file is sought in */
  bool is_cut;        /* it could not be unpacked to its end; reported */
  bool has_head;
  tb__bag_row_t head; /* the next row of this file */
} tb__bag_source_t;

#define TB__ENCAPSULATION_SIZE 4 /* of payloads in "cdr" */

struct tb_bag_reader {
  tb_bag_reader_options_t options; /* topics are not valid any more */
  tb__bag_part_t *parts;
  size_t part_count;
  tb__topic_table_t table;
  bool *wanted;   /* by topic */
  bool *is_cdr;   /* by topic */
  bool is_sparse; /* many messages or payloads are not wanted */
  char *ros_distro;
  char *library; /* that wrote it, or NULL */
  char *damage;
  const char *chunk_format; /* static, or NULL */
  const char **files;       /* by source, for the info */
  tb_bag_note_t *notes;     /* the texts are the reader's own */
  tb_bag_run_t *runs;
  int64_t first_row, last_row; /* of the only file: other rows are not read */
  tb_bag_info_t info;
  tb__bag_source_t *sources; /* by file */
  size_t source_count;
  size_t *by_start; /* files sorted by start_ns */
  size_t opened;    /* how many of by_start are or were open since the last seek */
  size_t *active;   /* files that are open */
  size_t active_count;
  tb__bag_file_t *idle; /* closed last, and kept: opening it again is expensive */
  size_t idle_source;
  tb__zstd_t zstd;
  int64_t seek_ns;
  uint64_t *run_counts;    /* by topic, of a run inside of a file; NULL: there is none */
  tb__read_ahead_t *ahead; /* NULL: the caller's thread reads */
  bool is_at_unclosed_end; /* the last failure only reported that a file was not closed */
};

/* Whether a message is in CDR, and too short for that. */
static inline bool tb__bag_is_short(const tb_bag_reader_t *reader, const tb_bag_message_t *message)
{
  return reader->is_cdr[message->topic] && message->size < TB__ENCAPSULATION_SIZE;
}

/* What tb_bag_reader_open does once the files are known. Takes *location over, on failure too. */
tb_status_t tb__bag_reader_open_files(const tb__bag_storage_t *storage,
                                      tb__bag_location_t *location,
                                      const tb_bag_reader_options_t *options, tb_bag_reader_t **out,
                                      tb_error_t *error) TB_WARN_UNUSED;

/* tb_bag_reader_next, on the thread that has the reader. */
tb_status_t tb__bag_reader_read(tb_bag_reader_t *reader, tb_bag_message_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;

/* NULL: there is none. */
static inline const tb__bag_metadata_t *tb__bag_part_metadata(const tb__bag_part_t *part)
{
  return part->location.has_metadata ? &part->location.metadata : NULL;
}

/* The messages of each topic in one of the bags, when its files were looked into. */
tb_status_t tb__bag_reader_count(tb_bag_reader_t *reader, tb__bag_part_t *part,
                                 tb_error_t *error) TB_WARN_UNUSED;

/* Which files belong to which run, and which are read. TB_ERR_RANGE: there is no such run. */
tb_status_t tb__bag_reader_find_runs(tb_bag_reader_t *reader, tb_error_t *error) TB_WARN_UNUSED;
/* Of the only file, which is open: the runs that it has inside, if it has. TB_ERR_RANGE. */
tb_status_t tb__bag_reader_find_file_runs(tb_bag_reader_t *reader, tb__bag_source_t *source,
                                          tb_error_t *error) TB_WARN_UNUSED;
/* When the extents of the files are known: those of runs; files of others are not read. */
void tb__bag_reader_time_runs(tb_bag_reader_t *reader);
/* Whether an entry of custom_data is such a note. */
bool tb__bag_is_run_note(const char *key);

/* Notes, distribution and oddities, when the locations are known and the files were looked into. */
tb_status_t tb__bag_reader_fill_texts(tb_bag_reader_t *reader, tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_reader_free_texts(tb_bag_reader_t *reader);

/* The first is kept for the info. */
tb_status_t tb__bag_reader_note_damage(tb_bag_reader_t *reader, const char *text,
                                       tb_error_t *error) TB_WARN_UNUSED;

/* Opens the file of a source that is closed; a compressed one is unpacked, as far as that goes if
 * damage is skipped. */
tb_status_t tb__bag_source_open(tb_bag_reader_t *reader, size_t index,
                                tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_source_close(tb_bag_reader_t *reader, size_t index);
void tb__bag_reader_close_idle(tb_bag_reader_t *reader);

#endif

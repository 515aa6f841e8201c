/* Inside of tb_bag_writer_t. bag_writer.c is what callers see, writer_file.c begins and ends files,
 * writer_counts.c knows what of
 * them is there, writer_metadata.c describes what they hold, writer_notes.c has the
 * other entries of metadata.yaml. */
#ifndef TB_BAG_WRITER_H
#define TB_BAG_WRITER_H

#include <sys/types.h>
#include <timebase/bag_writer.h>

#include "bag/metadata_write.h"
#include "bag/zstd_codec.h"
#include "storage/output.h"

typedef struct tb__written_topic {
  char *name;
  char *type;
  char *serialization_format;
  char *offers;
  char *type_hash;
  char *definition;
  char *definition_encoding;
  char *publisher;  /* "": unknown */
  uint32_t id;      /* in the file that is written */
  uint64_t count;   /* in all files that are there */
  uint64_t removed; /* with files that made room */
  uint64_t in_file; /* in the file that is written */
  uint64_t whole;   /* of these, readable if the process is killed now, as far as is known */
  uint64_t synced;  /* of these, on the disk */
} tb__written_topic_t;

/* Keys of notes of how a recording was made (docs/provenance.md). */
#define TB__PROVENANCE_PREFIX "timebase."

typedef struct tb__written_file {
  char *name;
  tb__bag_extent_t extent;
  uint64_t *counts; /* by topic, once the next file begins; of a ring only, else NULL */
  size_t count;     /* of topics */
  uint64_t size;    /* the same: bytes */
} tb__written_file_t;

struct tb_bag_writer {
  char *path;
  int folder; /* descriptor of `path`, in which another folder may be by now; -1: none */
  char *name; /* the last part of the path */
  char *ros_distro;
  const char *profile; /* of MCAP; NULL: "ros2" */
  const tb__bag_output_format_t *format;
  tb_bag_writer_options_t options; /* texts are not valid any more */
  tb__written_topic_t *topics;
  size_t topic_count;
  tb__written_file_t *files; /* the last one is being written while there is an output */
  size_t file_count;
  size_t files_begun;   /* numbers of files are not used twice */
  size_t removed_count; /* of files */
  tb__bag_custom_t *custom;
  size_t custom_count;
  size_t run_count;         /* noted, the first one not counted */
  tb__bag_output_t *output; /* NULL after a failure */
  dev_t device;             /* of the file that is written */
  ino_t inode;
  tb__bag_extent_t whole, synced; /* of the file that is written, like those of its topics */
  tb__bag_output_doubts_t doubts; /* the same */
  uint64_t state_count;           /* messages that the file began with: they do not fill it */
  tb_error_t failure;             /* that ended the last file, until a split */
  tb_error_t detail;              /* of the write that failed; here, as clearing it takes time */
  tb__zstd_t zstd;
};

/* The file that is written, or the one that failed. */
tb__written_file_t *tb__writer_file(tb_bag_writer_t *writer);
/* Whether a message of this time goes to another file; there is an output. */
bool tb__writer_is_full(const tb_bag_writer_t *writer, int64_t log_time_ns);
/* "folder/name", NULL when out of memory. */
char *tb__writer_path(const tb_bag_writer_t *writer, const char *name);

/* Without output: makes one, with all topics. A failure leaves none. */
tb_status_t tb__writer_begin_file(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
/* Ends the output, which is freed in any case, and compresses the file if requested. */
tb_status_t tb__writer_end_file(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
/* Fails if the file was deleted or replaced: it would accept messages that no reader would see. */
tb_status_t tb__writer_check_place(const tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
/* After a failure of the output: ends it, keeps *failure and counts what has stayed. */
void tb__writer_abandon_file(tb_bag_writer_t *writer, const tb_error_t *failure);

/* tb_bag_writer_close in two steps: between them the counts can be read. */
tb_status_t tb__bag_writer_finish(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_writer_free(tb_bag_writer_t *writer);

/* ---- writer_counts.c ---- */

/* A file begins. */
void tb__writer_reset_counts(tb_bag_writer_t *writer);
/* What the output calls whole is noted, if that is just what has been counted. */
void tb__writer_note_whole(tb_bag_writer_t *writer);
/* The output was synced. */
void tb__writer_note_synced(tb_bag_writer_t *writer);
/* Counts what a file that has failed still holds. What is not known counts as lost. `may_be_cut`:
 * another process may have shortened the file, so it is read to its end. */
void tb__writer_recount(tb_bag_writer_t *writer, const char *path, bool may_be_cut);
/* Of a file that was closed: TB_ERR_TRUNCATED if it has bytes that were never written and fewer
 * messages than it was given; the counts are then of those. */
tb_status_t tb__writer_verify(tb_bag_writer_t *writer, const char *path,
                              tb_error_t *error) TB_WARN_UNUSED;

/* At the end: files that have been removed since they were closed leave the list, and their
 * messages the counts. TB_ERR_NOT_FOUND: there were any. */
tb_status_t tb__writer_drop_missing(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;

/* ---- writer_ring.c ---- */

/* Whether old files make room for new ones. */
bool tb__writer_is_ring(const tb_bag_writer_t *writer);
/* What the last file holds, before the next one begins. */
tb_status_t tb__writer_remember_file(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
/* Before the file with this index is removed from the list. A run that has no other file is none
 * any more: the next one takes its number. */
tb_status_t tb__writer_renumber_runs(tb_bag_writer_t *writer, size_t removed,
                                     tb_error_t *error) TB_WARN_UNUSED;
/* There are two files at least. metadata.yaml is written before the file is removed. */
tb_status_t tb__writer_remove_oldest(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;
/* After a file has begun: removes those that are too many, too large or too long. */
tb_status_t tb__writer_make_room(tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;

tb__bag_extent_t tb__writer_extent(const tb_bag_writer_t *writer);
tb_status_t tb__writer_describe(const tb_bag_writer_t *writer, tb__bag_metadata_form_t form,
                                char **out, tb_error_t *error) TB_WARN_UNUSED;
/* Replaces metadata.yaml. */
tb_status_t tb__writer_save_metadata(const tb_bag_writer_t *writer,
                                     tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__writer_sync_folder(const tb_bag_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;

#endif

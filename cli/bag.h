/* The commands `timebase bag ...`, and what they share. */
#ifndef TB_CLI_BAG_H
#define TB_CLI_BAG_H

#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>

#include "bag_latched.h"
#include "bag_limits.h"
#include "bag_reencode.h"
#include "bag_rename.h"
#include "bag_staging.h"
#include "command.h"
#include "progress.h"

extern const command_t command_bag_info;
extern const command_t command_bag_check;
extern const command_t command_bag_convert;
extern const command_t command_bag_cut;
extern const command_t command_bag_filter;
extern const command_t command_bag_merge;
extern const command_t command_bag_reindex;
extern const command_t command_bag_du;
extern const command_t command_bag_sort;
extern const command_t command_bag_compress;
extern const command_t command_bag_decompress;
extern const command_t command_bag_recover;
extern const command_t command_bag_list;
extern const command_t command_bag_get;
extern const command_t command_bag_add;
extern const command_t command_bag_cat;
/* The same as command_play and command_record, as they are called in `ros2 bag`. */
extern const command_t command_bag_play;
extern const command_t command_bag_record;
/* The player, with a burst at its start. */
extern const command_t command_bag_burst;

/* Options about what is written, for bag_output_option. */
enum {
  BAG_OPTION_MODE = 0x400,
  BAG_OPTION_FORMAT,
  BAG_OPTION_LEVEL,
  BAG_OPTION_CHUNKS,
  BAG_OPTION_CHUNK_SIZE,
  BAG_OPTION_MAX_SIZE,
  BAG_OPTION_MAX_DURATION,
  BAG_OPTION_SINGLE_FILE,
};
#define BAG_OUTPUT_OPTIONS                                                                         \
  {"output", required_argument, NULL, 'o'}, {"storage", required_argument, NULL, 's'},             \
      {"compression-mode", required_argument, NULL, BAG_OPTION_MODE},                              \
      {"compression-format", required_argument, NULL, BAG_OPTION_FORMAT},                          \
      {"compression-level", required_argument, NULL, BAG_OPTION_LEVEL},                            \
      {"chunk-compression", required_argument, NULL, BAG_OPTION_CHUNKS},                           \
      {"chunk-size", required_argument, NULL, BAG_OPTION_CHUNK_SIZE},                              \
      {"max-bag-size", required_argument, NULL, BAG_OPTION_MAX_SIZE},                              \
      {"max-bag-duration", required_argument, NULL, BAG_OPTION_MAX_DURATION},                      \
      {"single-file", no_argument, NULL, BAG_OPTION_SINGLE_FILE}, PROGRESS_OPTION,                 \
      BAG_LIMIT_OPTIONS
#define BAG_OUTPUT_HELP                                                                            \
  "  --compression-mode none|message|file\n"                                                       \
  "                     rosbag2's compression with zstd (default none)\n"                          \
  "  --compression-format zstd\n"                                                                  \
  "  --compression-level N\n"                                                                      \
  "                     1 (fast) to 19 (small)\n"                                                  \
  "  --chunk-compression none|zstd|lz4|bz2, --chunk-size BYTES\n"                                  \
  "                     of the chunks in MCAP (not bz2) and .bag files (not zstd); default: as\n"  \
  "                     those of BAG\n"                                                            \
  "  --max-bag-size BYTES, --max-bag-duration S\n"                                                 \
  "                     start another file beyond this\n"                                          \
  "  --single-file      OUT is the file itself, whatever its name: no folder, no "                 \
  "metadata.yaml\n" PROGRESS_HELP BAG_LIMIT_HELP

/* The topics of a writer by topic of the reader and publisher. */
typedef struct bag_publisher {
  size_t topic, target;
  char *name;
  tb_reencoder_t *reencoder; /* its own; NULL: that of the topic, if there is one */
} bag_publisher_t;

typedef struct bag_publishers {
  bag_publisher_t *items;
  size_t count, last; /* `last`: found last */
} bag_publishers_t;

/* A copy of a recording, or of a part of it. */
typedef struct bag_copy {
  const command_t *command;
  const char *output;
  tb_bag_writer_options_t options;
  uint64_t size_before;          /* bytes of the files that were read */
  const char *storage;           /* that was requested, or NULL */
  const char *default_storage;   /* if nothing decides; NULL: as it was */
  const char *path;              /* of a recording whose further runs are copied too, or NULL */
  tb_bag_reader_options_t input; /* with which it was opened */
  tb_bag_reader_t *reader;
  tb_bag_writer_t *writer;
  size_t *topics; /* of the writer, by topic of the reader; SIZE_MAX: left out, SIZE_MAX - 1: it is
                     added with its first message, which names a publisher */
  bag_publishers_t publishers; /* in ROS 1 and MCAP, topics of the writer for each publisher */
  bag_reencode_t reencode;
  bool has_chunk_compression; /* it was requested */
  int64_t start_ns,
      end_ns; /* messages from start_ns on and before end_ns; INT64_MAX: to the last */
  uint64_t copied, failures;
  bool is_at_limit;                 /* one of the failures is that of a ceiling */
  bool is_out_of_room;              /* a recovery was ended by bag_is_out_of_room */
  char failure[TB_ERROR_TEXT_SIZE]; /* the first failure to read, as it was reported */
  bool notes_losses;                /* in the copy, which is one of a damaged recording */
  char damage[TB_ERROR_TEXT_SIZE];  /* what opening it found, or "" */
  bool has_extra_records;           /* attachments or metadata records were copied */
  tb_bag_extra_records_t left;      /* that the new format has no place for */
  bool is_single_file;              /* the output is the file itself */
  bool may_be_file;                 /* it is one if its name has the extension of its storage */
  words_t renames;                  /* A:=B */
  bool keeps_part;                  /* what was written before a failure or a signal stays */
  bag_staging_t staging;            /* where the writer writes */
  const char *const *latched_paths; /* of the recordings whose latched messages from before
                                       start_ns are copied first, or NULL */
  size_t latched_path_count;
  uint64_t latched; /* messages of that kind */
} bag_copy_t;

#define BAG_READ_AHEAD (8u << 20) /* bytes, for commands that write what they read */

#define BAG_COPY_INIT(its_command)                                                                 \
  {                                                                                                \
    .command = (its_command), .reencode.command = (its_command),                                   \
    .options = TB_BAG_WRITER_OPTIONS_INIT, .input = TB_BAG_READER_OPTIONS_INIT,                    \
    .end_ns = INT64_MAX                                                                            \
  }

/* True if the option was one of BAG_OUTPUT_OPTIONS or BAG_LIMIT_OPTIONS; *result is EXIT_OK or
 * EXIT_USAGE then. */
bool bag_output_option(bag_copy_t *copy, int option, int *result);

/* The storage that was requested, or that the name of the output has, or the default; NULL: none.
 */
const char *bag_output_storage(const bag_copy_t *copy);

/* The writer with the reader's topics (all, or those with wanted[i]), then all messages; with a
 * path run by run. A failure to read one is reported and counted. EXIT_OK, or EXIT_IO with a
 * message. Ends both. */
int bag_copy_run(bag_copy_t *copy, const bool *wanted);
/* Whether its output can be written, before anything is. EXIT_OK, or a message was printed. */
int bag_copy_check(bag_copy_t *copy, const bool *wanted);
/* Where its output will be, however it was written; to be freed. NULL: out of memory. After
 * bag_copy_check. */
char *bag_copy_place(const bag_copy_t *copy);
void bag_copy_end(bag_copy_t *copy);
/* Nothing was recovered of a damaged recording. */
bool bag_copy_is_vain(const bag_copy_t *copy);
/* "timebase NAME: N parts could not be copied" where a copy that succeeded has failures. */
int bag_copy_result(const bag_copy_t *copy, int result);

/* Opens recordings to read one run: `options->run`, or 0 for the only one there is (of several
 * recordings all, merged). EXIT_OK, or a message was printed: also if `run` is 0 and there are
 * several. */
int bag_open_run(const command_t *command, const char *const *paths, size_t count,
                 const tb_bag_reader_options_t *options, tb_bag_reader_t **out);

/* The same, but with `run` 0 the first of several runs inside of a .bag. */
int bag_open_first_run(const command_t *command, const char *const *paths, size_t count,
                       const tb_bag_reader_options_t *options, tb_bag_reader_t **out);

/* Warns of recordings that are merged by log times of different kinds. One that cannot be read is
 * reported by what follows. */
void bag_warn_of_unlike(const command_t *command, const tb_bag_limits_t *limits,
                        const char *const *paths, size_t count);

/* That topics of one name and type have one definition in all recordings, of which `merged` has the
 * first; of topics that are wanted (NULL: all). EXIT_OK, or a message was printed. */
int bag_check_definitions(const command_t *command, const tb_bag_info_t *merged, const bool *wanted,
                          const tb_bag_reader_options_t *options, const char *const *paths,
                          size_t count);

/* Prints that the recording has no such topic, and which names are nearest. */
void bag_no_topic(const command_t *command, const char *option, const tb_bag_info_t *info,
                  const char *name);
/* The same as a warning. */
void bag_warn_no_topic(const command_t *command, const char *option, const tb_bag_info_t *info,
                       const char *name);

/* Names the commands for a damaged recording, on standard error. */
void bag_print_hint(const command_t *command, const char *const *paths, size_t count);

/* Reports why the recordings could not be opened whole, and the commands that help. Returns
 * EXIT_IO. */
int bag_refused(const command_t *command, const char *const *paths, size_t count,
                const tb_error_t *error);

/* Nothing of the recording could be opened, not even as damaged. Returns EXIT_IO. */
int bag_unreadable(const command_t *command, const char *path, tb_status_t status,
                   const tb_error_t *error);

/* Memory or descriptors were used up: that is no property of the recording. */
bool bag_is_out_of_room(const tb_error_t *error);

/* Of its files, in bytes. */
uint64_t bag_file_size(const tb_bag_info_t *info);

/* Of the file, or of the files with messages in the folder, in bytes. */
uint64_t bag_size_of_path(const char *path);

/* Like "1 message", "2 messages". */
const char *bag_plural(uint64_t count);

#endif

/* What the full screen of `timebase record` shows, as rows of text: it knows no terminal. */
#ifndef TB_CLI_RECORD_PICTURE_H
#define TB_CLI_RECORD_PICTURE_H

#include <timebase/recorder.h>

#include "screen_log.h"
#include "screen_text.h"

#define RECORD_PICTURE_ROWS_MIN    6
#define RECORD_PICTURE_COLUMNS_MIN 30

/* A topic, and how fast its messages come. */
typedef struct record_topic {
  tb_recorder_topic_status_t status;
  char *name;             /* does no harm on a terminal */
  uint64_t count, bytes;  /* at the last look */
  double hz, bytes_per_s; /* NAN: not known yet */
} record_topic_t;

typedef struct record_picture {
  const char *path;
  tb_recorder_status_t status;
  const record_topic_t *topics;
  size_t topic_count;
  bool snapshot_mode;
  uint64_t cache_size; /* of a snapshot */
  double growth;       /* bytes per second on disk; NAN: not known */
  uint64_t disk_left;  /* bytes; UINT64_MAX: not known */
  int64_t elapsed_ns;
  int *scrolled;        /* lines; corrected */
  const char *note;     /* "" for none */
  int64_t log_since_ns; /* lines of the log since then */
  screen_log_t *log;
} record_picture_t;

/* Of a record_picture_t. */
void record_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                         void *user);

/* "76 GB left, full in 3:20:00"; "" where it is not known. */
void record_disk_text(uint64_t left, double growth, char *out, size_t size);

#endif

/* What `timebase record` shows: the whole screen or one line while it records, and what became of
 * it. */
#ifndef TB_CLI_RECORD_SCREEN_H
#define TB_CLI_RECORD_SCREEN_H

#include <timebase/recorder.h>

#include "command.h"
#include "keys.h"
#include "record_picture.h"
#include "screen_log.h"
#include "screen_view.h"
#include "terminal.h"

#define RECORD_NOTE_SIZE 160

typedef struct record_screen_options {
  bool no_keyboard;
  bool plain; /* not the whole screen */
  bool snapshot_mode;
  uint64_t cache_size; /* 0: the default */
} record_screen_options_t;

typedef struct record_screen {
  terminal_t terminal;
  const command_t *command;
  const char *path;
  record_screen_options_t options;
  uint64_t lost_reported; /* losses that were reported already */
  keys_t keys;

  screen_view_t *view; /* NULL: one line; then what follows is not there */
  screen_log_t log;
  char *shown_path;
  record_topic_t *topics;
  size_t topic_count;
  int scrolled;
  int64_t begin_ns, looked_ns; /* steady */
  uint64_t file_size;          /* at the last look */
  double growth;
  char note[RECORD_NOTE_SIZE];
  int64_t note_end_ns;
  _Atomic int snapshot; /* what became of the last one: a tb_status_t, -1: nothing to report */
} record_screen_t;

void record_screen_open(record_screen_t *screen, const command_t *command, const char *path,
                        const record_screen_options_t *options);
/* Restores the terminal; may be called twice. */
void record_screen_close(record_screen_t *screen);
/* After the recorder has stopped. */
void record_screen_fini(record_screen_t *screen);

/* On a terminal in the place of what was there. Topics that have lost more go to standard error.
 */
void record_screen_show(record_screen_t *screen, tb_recorder_t *recorder);
/* What was typed. False: to end. */
bool record_screen_handle_input(record_screen_t *screen, tb_recorder_t *recorder);

/* Counts, and each topic that has lost anything. */
void record_screen_summary(const record_screen_t *screen, tb_recorder_t *recorder);

#endif

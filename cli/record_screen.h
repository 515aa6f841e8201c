/* What `timebase record` shows: one line while it records, and what became of it. */
#ifndef TB_CLI_RECORD_SCREEN_H
#define TB_CLI_RECORD_SCREEN_H

#include <timebase/recorder.h>

#include "terminal.h"

typedef struct record_screen {
  terminal_t terminal;
  const char *path;
  uint64_t lost_reported; /* losses that were reported already */
} record_screen_t;

void record_screen_open(record_screen_t *screen, const char *path);

/* On a terminal in the place of the line before. Topics that have lost more go to standard error.
 */
void record_screen_show(record_screen_t *screen, tb_recorder_t *recorder);

/* Counts, and each topic that has lost anything. */
void record_screen_summary(const record_screen_t *screen, tb_recorder_t *recorder);

#endif

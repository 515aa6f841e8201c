/* Lines of text that `timebase observe` and `timebase top` share. */
#ifndef TB_CLI_OBSERVE_TEXT_H
#define TB_CLI_OBSERVE_TEXT_H

#include <stdio.h>

#include "observe_rows.h"

typedef enum observe_clock_state {
  OBSERVE_CLOCK_RUNS,
  OBSERVE_CLOCK_PAUSED, /* the same time again and again */
  OBSERVE_CLOCK_SILENT, /* no tick for as long as that of a stall, or none at all */
} observe_clock_state_t;

observe_clock_state_t observe_clock_state(const tb__ticks_t *ticks, int64_t steady_ns);
/* "running", "paused", "silent" */
const char *observe_clock_state_text(observe_clock_state_t state);

/* "/clock: 12.500 s, factor 1.00, ...", and the end of the line. Factor and rate are those of the
 * last second, or in a summary of the whole run. */
void observe_print_clock(FILE *out, observe_t *observe, bool is_summary);
/* What is wrong with a publisher's messages: "zero 3, gaps 1"; nothing, where nothing is. */
void observe_print_words(FILE *out, const observe_row_t *row);
/* A path, and the end of the line. */
void observe_print_path(FILE *out, const observe_t *observe, observe_path_t *shared);

#endif

/* How far a command has come that reads recordings: one line on standard error, if that is a
 * terminal, from a second on. There is one for the process. */
#ifndef TB_CLI_PROGRESS_H
#define TB_CLI_PROGRESS_H

#include <stddef.h>

#include "command.h"

enum { PROGRESS_QUIET = 0x580 };
#define PROGRESS_OPTION                                                                            \
  {                                                                                                \
    "quiet", no_argument, NULL, PROGRESS_QUIET                                                     \
  }
#define PROGRESS_HELP                                                                              \
  "  --quiet            do not show the progress (without it on a terminal only)\n"

/* True if it was PROGRESS_OPTION: nothing is shown from now on. */
bool progress_option(int option);

/* Starts a thread that shows the line, unless that is not wanted, or it is there already. */
void progress_begin(const command_t *command);
/* Removes the line. May be called without progress_begin, and twice. */
void progress_end(void);

/* Without messages the bytes that the process reads show how far it is: about that many. 0: it is
 * not known. */
void progress_expect_bytes(uint64_t bytes);
/* The messages that follow go from one log time to the other. They are part `index` of `count`, 0
 * being the first; of equal size as far as is known. */
void progress_span(int64_t start_ns, int64_t end_ns, size_t index, size_t count);
/* A message of these was read. Cheap: no clock is read. [thread of progress_span] */
void progress_at(int64_t log_time_ns);

/* What a line shows. */
typedef struct progress_facts {
  double part;        /* 0 to 1; negative: not known */
  double rate;        /* bytes per second; negative: not known */
  uint64_t messages;  /* 0: not counted */
  int64_t elapsed_ns; /* since `part` was 0 */
} progress_facts_t;

/* "45 %  120 MB/s  1200000 messages  0:12 left" */
void progress_text(const progress_facts_t *facts, char *out, size_t size);

#endif

/* A terminal with one line that is updated in place, and keys without line buffering. */
#ifndef TB_CLI_TERMINAL_H
#define TB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

typedef struct terminal {
  bool screen;   /* standard output is a terminal: the line is updated in place */
  bool keyboard; /* standard input is a terminal and ours: keys are read at once */
  bool is_saved;
  struct termios saved;
} terminal_t;

/* Only one may be open. terminal_show notices when the shell has stopped the program, or moved it
 * to the background and back. */
void terminal_open(terminal_t *terminal);
/* After the program was stopped: reads keys at once again, if the terminal is ours. */
void terminal_continue(terminal_t *terminal);
/* Restores the terminal; may be called twice. */
void terminal_close(terminal_t *terminal);

/* The time between two lines. */
int terminal_period_ms(const terminal_t *terminal);
/* The width of a line. */
int terminal_columns(void);
/* Replaces the previous line; in the background, nothing. */
void terminal_show(const char *line);
void terminal_clear(const terminal_t *terminal);

/* Reads typed keys and returns how many. 0 at the end of input; then no more keys are read. */
size_t terminal_read(terminal_t *terminal, char *keys, size_t size);

#endif

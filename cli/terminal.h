/* A terminal that shows one line that changes, and gives keys as they are typed. */
#ifndef TB_CLI_TERMINAL_H
#define TB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

typedef struct terminal {
  bool screen;   /* standard output is a terminal: one line that changes */
  bool keyboard; /* standard input is a terminal and ours: keys come at once */
  bool is_saved;
  struct termios saved;
} terminal_t;

/* One at a time. Terminals that show lines notice when the shell stops the program, or takes it to
 * the background and back. */
void terminal_open(terminal_t *terminal);
/* Gives the terminal back; may be called twice. */
void terminal_close(terminal_t *terminal);

/* How long to wait until the next line. */
int terminal_period_ms(const terminal_t *terminal);
/* What fits into a line. */
int terminal_columns(void);
/* In the place of the line before. */
void terminal_show(const char *line);
void terminal_clear(const terminal_t *terminal);

/* Reads what was typed, returns how many. 0 and no more keys at the end of input. */
size_t terminal_read(terminal_t *terminal, char *keys, size_t size);

#endif

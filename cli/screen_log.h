/* Warnings and errors of the library while the screen is full: they are shown there, and printed
 * when it is closed. */
#ifndef TB_CLI_SCREEN_LOG_H
#define TB_CLI_SCREEN_LOG_H

#include <pthread.h>

#include "command.h"

#define SCREEN_LOG_LINES 200
#define SCREEN_LOG_SIZE  512

typedef struct screen_log {
  const command_t *command;
  bool open;
  pthread_mutex_t mutex;
  char (*lines)[SCREEN_LOG_SIZE]; /* the last ones */
  int64_t *times_ns;              /* steady, when each came */
  size_t count;                   /* of all */
} screen_log_t;

/* Redirects the log. False: out of memory. */
bool screen_log_open(screen_log_t *log, const command_t *command);
/* As a warning of the library. Only while it is open. [any thread] */
void screen_log_add(screen_log_t *log, const char *kind, const char *message);
/* Restores the log and prints what has come. May be called twice, and on zeroes. */
void screen_log_close(screen_log_t *log);

/* The last line but `back`, of those that came since `since_ns` (steady; 0: of all) and do not
 * begin with `hidden` (NULL: of all). False: there is none. [any thread] */
bool screen_log_line(screen_log_t *log, size_t back, int64_t since_ns, const char *hidden,
                     char *out, size_t size);

#endif

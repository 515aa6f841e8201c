/* Warnings and errors of the library while the screen is full: they are shown there, and printed
 * when it is closed. */
#ifndef TB_CLI_PLAY_LOG_H
#define TB_CLI_PLAY_LOG_H

#include <pthread.h>

#include "command.h"

#define PLAY_LOG_LINES 200
#define PLAY_LOG_SIZE  512

typedef struct play_log {
  const command_t *command;
  bool open;
  pthread_mutex_t mutex;
  char (*lines)[PLAY_LOG_SIZE]; /* the last ones */
  size_t count;                 /* of all */
} play_log_t;

/* Redirects the log. False: out of memory. */
bool play_log_open(play_log_t *log, const command_t *command);
/* As a warning of the library. Only while it is open. [any thread] */
void play_log_add(play_log_t *log, const char *kind, const char *message);
/* Restores the log and prints what has come. May be called twice, and on zeroes. */
void play_log_close(play_log_t *log);

/* The last line but `back`, without those of waits for a subscription unless the player `waits`.
 * False: there is none. [any thread] */
bool play_log_line(play_log_t *log, size_t back, bool waits, char *out, size_t size);

#endif

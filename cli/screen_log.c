#include "screen_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <unistd.h>

#include "text.h"

/* Where standard error is no terminal, it gets the line at once. */
void screen_log_add(screen_log_t *log, const char *kind, const char *message)
{
  pthread_mutex_lock(&log->mutex);
  log->times_ns[log->count % SCREEN_LOG_LINES] = command_steady_ns();
  snprintf(log->lines[log->count++ % SCREEN_LOG_LINES], SCREEN_LOG_SIZE, "%s: %s", kind, message);
  pthread_mutex_unlock(&log->mutex);
  if (!isatty(STDERR_FILENO)) text_err("timebase %s: %s: %s\n", log->command->name, kind, message);
}

static void take(tb_log_level_t level, const char *message, void *user)
{
  if (level >= TB_LOG_WARN)
    screen_log_add(user, level >= TB_LOG_ERROR ? "error" : "warning", message);
}

bool screen_log_open(screen_log_t *log, const command_t *command)
{
  *log = (screen_log_t){.command = command};
  log->lines = calloc(SCREEN_LOG_LINES, sizeof *log->lines);
  log->times_ns = calloc(SCREEN_LOG_LINES, sizeof *log->times_ns);
  if (!log->lines || !log->times_ns) {
    free(log->lines);
    free(log->times_ns);
    return false;
  }
  (void)command_steady_ns(); /* its clock is made here: lines come on any thread */
  pthread_mutex_init(&log->mutex, NULL);
  log->open = true;
  tb_log_set_hook(take, log);
  return true;
}

static void print_all(const screen_log_t *log)
{
  size_t first = log->count > SCREEN_LOG_LINES ? log->count - SCREEN_LOG_LINES : 0;
  if (first > 0)
    text_err("timebase %s: %zu earlier warnings were left out\n", log->command->name, first);
  for (size_t i = first; i < log->count; i++)
    text_err("timebase %s: %s\n", log->command->name, log->lines[i % SCREEN_LOG_LINES]);
}

void screen_log_close(screen_log_t *log)
{
  if (!log->open) return;
  command_show_log(log->command);
  if (isatty(STDERR_FILENO)) print_all(log);
  free(log->lines);
  free(log->times_ns);
  pthread_mutex_destroy(&log->mutex);
  log->open = false;
}

bool screen_log_line(screen_log_t *log, size_t back, int64_t since_ns, const char *hidden,
                     char *out, size_t size)
{
  bool found = false;
  if (!log->open) return false;
  pthread_mutex_lock(&log->mutex);
  for (size_t i = 0; !found && i < log->count && i < SCREEN_LOG_LINES; i++) {
    size_t at = (log->count - 1 - i) % SCREEN_LOG_LINES;
    const char *line = log->lines[at];
    if (log->times_ns[at] < since_ns) break;
    if ((hidden && strncmp(line, hidden, strlen(hidden)) == 0) || back-- > 0) continue;
    snprintf(out, size, "%s", line);
    found = true;
  }
  pthread_mutex_unlock(&log->mutex);
  return found;
}

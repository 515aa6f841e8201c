#include "play_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>
#include <timebase/player.h>
#include <unistd.h>

#include "text.h"

/* Where standard error is no terminal, it gets the line at once. */
void play_log_add(play_log_t *log, const char *kind, const char *message)
{
  pthread_mutex_lock(&log->mutex);
  snprintf(log->lines[log->count++ % PLAY_LOG_LINES], PLAY_LOG_SIZE, "%s: %s", kind, message);
  pthread_mutex_unlock(&log->mutex);
  if (!isatty(STDERR_FILENO)) text_err("timebase %s: %s: %s\n", log->command->name, kind, message);
}

static void take(tb_log_level_t level, const char *message, void *user)
{
  if (level >= TB_LOG_WARN)
    play_log_add(user, level >= TB_LOG_ERROR ? "error" : "warning", message);
}

bool play_log_open(play_log_t *log, const command_t *command)
{
  *log = (play_log_t){.command = command};
  log->lines = calloc(PLAY_LOG_LINES, sizeof *log->lines);
  if (!log->lines) return false;
  pthread_mutex_init(&log->mutex, NULL);
  log->open = true;
  tb_log_set_hook(take, log);
  return true;
}

static void print_all(const play_log_t *log)
{
  size_t first = log->count > PLAY_LOG_LINES ? log->count - PLAY_LOG_LINES : 0;
  if (first > 0)
    text_err("timebase %s: %zu earlier warnings were left out\n", log->command->name, first);
  for (size_t i = first; i < log->count; i++)
    text_err("timebase %s: %s\n", log->command->name, log->lines[i % PLAY_LOG_LINES]);
}

void play_log_close(play_log_t *log)
{
  if (!log->open) return;
  command_show_log(log->command);
  if (isatty(STDERR_FILENO)) print_all(log);
  free(log->lines);
  pthread_mutex_destroy(&log->mutex);
  log->open = false;
}

static bool is_shown(const char *line, bool waits)
{
  static const char of_a_wait[] = "warning: " TB_PLAYER_WAITS_FOR_LOG;
  return waits || strncmp(line, of_a_wait, sizeof of_a_wait - 1) != 0;
}

bool play_log_line(play_log_t *log, size_t back, bool waits, char *out, size_t size)
{
  bool found = false;
  if (!log->open) return false;
  pthread_mutex_lock(&log->mutex);
  for (size_t i = 0; !found && i < log->count && i < PLAY_LOG_LINES; i++) {
    const char *line = log->lines[(log->count - 1 - i) % PLAY_LOG_LINES];
    if (!is_shown(line, waits) || back-- > 0) continue;
    snprintf(out, size, "%s", line);
    found = true;
  }
  pthread_mutex_unlock(&log->mutex);
  return found;
}

#include "base/log.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>
#include <unistd.h>

#include "base/fork.h"

/* A hook in use is held by a read lock, so that replacing it waits for running calls. */
static pthread_rwlock_t hook_lock = PTHREAD_RWLOCK_INITIALIZER;
static tb_log_hook_t current_hook;
static void *current_user;
static uint32_t current_limit = 10;
_Thread_local int tb__log_depth;

void tb_log_set_hook(tb_log_hook_t hook, void *user)
{
  /* this thread holds the read lock, or the thread that does is in the parent */
  if (tb__log_depth > 0 || tb__is_forked()) {
    __atomic_store_n(&current_user, user, __ATOMIC_RELEASE);
    __atomic_store_n(&current_hook, hook, __ATOMIC_RELEASE);
    return;
  }
  pthread_rwlock_wrlock(&hook_lock);
  __atomic_store_n(&current_user, user, __ATOMIC_RELEASE);
  __atomic_store_n(&current_hook, hook, __ATOMIC_RELEASE);
  pthread_rwlock_unlock(&hook_lock);
}

void tb_log_set_limit(uint32_t messages)
{
  __atomic_store_n(&current_limit, messages, __ATOMIC_RELAXED);
}

uint32_t tb__log_limit(void)
{
  return __atomic_load_n(&current_limit, __ATOMIC_RELAXED);
}

/* --- without a hook --- */

static const struct {
  const char *name;
  int level;
} levels[] = {{"debug", TB_LOG_DEBUG},
              {"info", TB_LOG_INFO},
              {"warn", TB_LOG_WARN},
              {"error", TB_LOG_ERROR},
              {"off", INT_MAX}};

enum { LEVELS = sizeof levels / sizeof *levels };

/* The least level that is written: TIMEBASE_LOG, read once. */
static int written_from(void)
{
  static int from; /* 0: not read yet; whoever reads it finds the same */
  int known = __atomic_load_n(&from, __ATOMIC_RELAXED);
  if (known) return known;
  const char *wanted = getenv("TIMEBASE_LOG");
  known = TB_LOG_WARN;
  for (int i = 0; wanted && i < LEVELS; i++)
    if (strcmp(wanted, levels[i].name) == 0) known = levels[i].level;
  __atomic_store_n(&from, known, __ATOMIC_RELAXED);
  return known;
}

/* One call for a line, so that those of several threads stay apart. Errors have nowhere to go. */
static void write_line(tb_log_level_t level, const char *text)
{
  char line[1100];
  const char *word = level >= TB_LOG_ERROR  ? "error"
                     : level >= TB_LOG_WARN ? "warning"
                     : level >= TB_LOG_INFO ? "info"
                                            : "debug";
  int length = snprintf(line, sizeof line, "timebase: %s: %s\n", word, text);
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

void tb__log(tb_log_level_t level, const char *format, ...)
{
  bool has_hook = __atomic_load_n(&current_hook, __ATOMIC_RELAXED);
  if (!has_hook && (int)level < written_from()) return;
  char raw[1024], text[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(raw, sizeof raw, format, args);
  va_end(args);
  if (length < 0) return;
  tb_text_escape(raw, text, sizeof text);
  bool locks = tb__log_depth == 0 && !tb__is_forked();
  if (locks) pthread_rwlock_rdlock(&hook_lock);
  tb__log_depth++;
  tb_log_hook_t hook = __atomic_load_n(&current_hook, __ATOMIC_ACQUIRE);
  if (hook)
    hook(level, text, __atomic_load_n(&current_user, __ATOMIC_ACQUIRE));
  else if ((int)level >= written_from())
    write_line(level, text);
  tb__log_depth--;
  /* the hook may have forked */
  if (locks && !tb__is_forked()) pthread_rwlock_unlock(&hook_lock);
}

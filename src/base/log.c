#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <timebase/text.h>

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

void tb__log(tb_log_level_t level, const char *format, ...)
{
  if (!__atomic_load_n(&current_hook, __ATOMIC_RELAXED)) return;
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
  if (hook) hook(level, text, __atomic_load_n(&current_user, __ATOMIC_ACQUIRE));
  tb__log_depth--;
  /* the hook may have forked */
  if (locks && !tb__is_forked()) pthread_rwlock_unlock(&hook_lock);
}

#include "rcl/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <timebase/log.h>
#include <timebase/text.h>
#include <unistd.h>

void tb__rcl_note(const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char escaped[2 * sizeof text];
  tb_text_escape(text, escaped, sizeof escaped);
  dprintf(STDERR_FILENO, "timebase-rcl: %s\n", escaped);
}

static void on_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  if (level >= TB_LOG_WARN) tb__rcl_note("%s", message);
}

void tb__rcl_note_core_log(void)
{
  tb_log_set_hook(on_log, NULL);
}

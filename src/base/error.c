#include <timebase/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <timebase/text.h>

static void error_vset(tb_error_t *error, tb_status_t status, const char *format, va_list args)
{
  error->status = status;
  error->os_errno = 0;
  error->offset = -1;
  char text[TB_ERROR_TEXT_SIZE]; /* what it quotes may come from outside */
  if (vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
  tb_text_escape(text, error->text, sizeof error->text);
}

/* In parentheses: cmake/analyzer_model.h makes macros of these names. */
tb_status_t(tb_error_set)(tb_error_t *error, tb_status_t status, const char *format, ...)
{
  if (error) {
    va_list args;
    va_start(args, format);
    error_vset(error, status, format, args);
    va_end(args);
  }
  return status;
}

tb_status_t(tb_error_set_errno)(tb_error_t *error, tb_status_t status, int os_errno,
                                const char *format, ...)
{
  if (error) {
    va_list args;
    va_start(args, format);
    error_vset(error, status, format, args);
    va_end(args);
    error->os_errno = os_errno;
    size_t used = strlen(error->text);
    const char *name = strerrordesc_np(os_errno);
    snprintf(error->text + used, sizeof error->text - used, ": %s", name ? name : "unknown error");
  }
  return status;
}

/* Detail of a failure, in storage of the caller. Calls that take a `tb_error_t *` accept NULL. */
#ifndef TIMEBASE_ERROR_H
#define TIMEBASE_ERROR_H

#include <stdint.h>
#include <timebase/status.h>

/** Room for the text of an error, with its NUL. */
#define TB_ERROR_TEXT_SIZE 512

/** Written only when the call fails; unchanged on success. */
typedef struct tb_error {
  tb_status_t status;            /**< what the call returned */
  int os_errno;                  /**< errno of the failed call, 0 if none */
  int64_t offset;                /**< bytes into the file or packet, -1 if it does not apply */
  char text[TB_ERROR_TEXT_SIZE]; /**< what, where and what to do; one line, of tb_text_escape */
} tb_error_t;

/** No error. */
#define TB_ERROR_INIT                                                                              \
  {                                                                                                \
    TB_OK, 0, -1,                                                                                  \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Fills *error (may be NULL) and returns `status`, so that a failing function can end in
 * `return tb_error_set(error, TB_ERR_RANGE, "rate %g: must be above 0", rate);`. Text that does not
 * fit is cut; what it quotes is escaped (tb_text_escape). os_errno becomes 0 and offset -1.
 * [any thread] [from callbacks] For sources, transports and bag formats of users too. */
TB_API tb_status_t tb_error_set(tb_error_t *error, tb_status_t status, const char *format, ...)
    TB_PRINTF(3, 4);

/** The same with errno `os_errno`; ": " and its text are appended.
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_error_set_errno(tb_error_t *error, tb_status_t status, int os_errno,
                                      const char *format, ...) TB_PRINTF(4, 5);

TB_END_DECLS

#endif

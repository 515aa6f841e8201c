/* The only output functions of the command (scripts/check-text), for standard output, standard
 * error and text in memory for them: text of others may be any bytes, and must not harm a terminal.
 */
#ifndef TB_CLI_TEXT_H
#define TB_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* As printf, to standard output, standard error and a stream, but text of `%s` and `%c` is escaped
 * as by tb_text_escape, and its width and precision count columns. The format itself may have
 * newlines and control sequences. 'n', '$' and 'L' are not supported. */
void text_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_err(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_to(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_to_v(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Is called before anything goes to standard output or standard error, on the thread that prints;
 * NULL: nothing. */
void text_set_before(void (*before)(void));

/* The program's own text, unchanged: usage, help, JSON. */
void text_own(FILE *out, const char *text);

/* Of reports that may come in thousands and differ in numbers alone: what to print after this one,
 * "" for the first few of a kind, a remark for the last that is shown; NULL: it is not. */
const char *text_fold(const char *report);
/* Reports of another file begin, and are shown again. */
void text_fold_reset(void);

/* Escapes into memory, to be freed. NULL: out of memory. */
char *text_harmless(const char *text);
/* The approximate columns of the escaped text: one for each character. */
int text_columns(const char *text);

#endif

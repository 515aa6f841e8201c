/* All that the command prints on standard output, standard error and into memory for them goes
 * through here (scripts/check-text): text of others may be any bytes, and must do no harm on a
 * terminal. */
#ifndef TB_CLI_TEXT_H
#define TB_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* As printf, to standard output, standard error and a stream, but what `%s` and `%c` print is
 * escaped as by tb_text_escape, and its width and precision count columns. The format itself may
 * have newlines and control sequences. No 'n', no '$', no 'L'. */
void text_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_err(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_to(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_to_v(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* The program's own text, as it is: usage, help, JSON. */
void text_own(FILE *out, const char *text);

/* Escapes into memory, to be freed. NULL: out of memory. */
char *text_harmless(const char *text);
/* The columns of it, more or less: one for each character. */
int text_columns(const char *text);

#endif

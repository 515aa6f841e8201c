/* Rows of text of a full screen: what fits in a number of columns. No terminal is known here. */
#ifndef TB_CLI_SCREEN_TEXT_H
#define TB_CLI_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_TEXT_SIZE   4096 /* of a row */
#define SCREEN_COLUMNS_MAX 1000

typedef enum screen_style {
  SCREEN_PLAIN,
  SCREEN_TITLE,
  SCREEN_HEADING,
  SCREEN_QUIET,
  SCREEN_LOUD,
  SCREEN_CURSOR, /* the row that keys are about */
  SCREEN_GAUGE,  /* a time line */
  SCREEN_MUTED,
} screen_style_t;

/* `text` is one row, no wider than the screen. */
typedef void screen_emit_t(void *user, int row, screen_style_t style, const char *text);

/* Of escaped text, in the locale's encoding. */
int screen_columns(const char *text);

/* At most `columns` of `text`; where it is longer "…" replaces the rest, or with `keeps_end`
 * the beginning. */
void screen_fit(const char *text, int columns, bool keeps_end, char *out, size_t size);

/* The same; where it is longer "…" replaces the middle. */
void screen_fit_middle(const char *text, int columns, char *out, size_t size);

/* A row that is put together. */
typedef struct screen_line {
  char text[SCREEN_TEXT_SIZE];
  size_t length;
  int room; /* columns */
  bool full;
} screen_line_t;

screen_line_t screen_line_begin(int columns);
/* A piece of ASCII, if there is room for all of it; after one that was left out no others follow.
 */
void screen_line_put(screen_line_t *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

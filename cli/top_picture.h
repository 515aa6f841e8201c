/* What `timebase top` shows, as rows of text: it knows no terminal. */
#ifndef TB_CLI_TOP_PICTURE_H
#define TB_CLI_TOP_PICTURE_H

#include "screen_log.h"
#include "screen_text.h"
#include "top_control.h"
#include "top_findings.h"
#include "top_table.h"

#define TOP_PICTURE_ROWS_MIN    6
#define TOP_PICTURE_COLUMNS_MIN 30

typedef struct top_picture {
  const top_table_t *table;
  const top_findings_t *findings;
  top_control_t *control; /* cursor and scroll position are corrected */
  screen_log_t *log;
  const top_row_t **shown; /* room for all rows of the table */
  uint32_t domain;
  int64_t seconds; /* since counting began */
} top_picture_t;

/* Of a top_picture_t. */
void top_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                      void *user);

#endif

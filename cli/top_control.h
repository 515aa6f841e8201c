/* What keys request in `timebase top`: it knows neither the terminal nor what is observed. */
#ifndef TB_CLI_TOP_CONTROL_H
#define TB_CLI_TOP_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum top_column {
  TOP_TOPIC,
  TOP_TYPE,
  TOP_PUBLISHER,
  TOP_HZ,
  TOP_JITTER,
  TOP_AGE,
  TOP_P99,
  TOP_TRAVEL,
  TOP_GAPS,
  TOP_MISSED,
  TOP_STAMPS,
  TOP_COLUMNS,
} top_column_t;

typedef enum top_order {
  TOP_NOTHING,
  TOP_QUIT,
  TOP_RESTART, /* counts from now on */
} top_order_t;

typedef struct top_control {
  top_column_t sort;
  bool is_reversed; /* names fall, numbers rise */
  bool is_paused, helps, wrong_only;
  bool is_typing; /* the filter */
  char filter[64];
  int scrolled;     /* rows; corrected when drawing, which knows the end, as what follows */
  int cursor;       /* a row of those that are shown */
  int page;         /* rows on the screen, when it was drawn last */
  bool has_moved;   /* the cursor, by a key; else it stays at its row */
  char row[1024];   /* which the cursor is on: its topic */
  uint8_t guid[16]; /* and its publisher */
} top_control_t;

top_order_t top_control_take(top_control_t *control, int key);

#endif

/* Pictures of what happened over time, as SVG in a page of HTML. Labels are HTML: they keep their
 * size where a picture is narrow. All pictures of a page have the same axis of time: their unit in
 * x is one bin of it. Colours are those of the page's style. */
#ifndef TB_CONTRACT_SVG_H
#define TB_CONTRACT_SVG_H

#include "contract/markup.h"
#include "contract/series.h"

#define TB__SVG_HEIGHT 200 /* units in y of a chart */
#define TB__SVG_STRIP  16  /* of a time line */

/* The axis of time that pictures share. */
typedef struct tb__frame {
  size_t bins;
  const tb__axis_t *axis;
  char *labels; /* below a chart: markup */
} tb__frame_t;

/* Writes what pictures refer to: lines at labels of time, and at `count` jumps. To be called once
 * in a page, before them. False: no memory. */
bool tb__frame_begin(tb__frame_t *frame, const tb__axis_t *axis, const int64_t *jump_times_ns,
                     size_t count, tb__markup_t *page);
void tb__frame_fini(tb__frame_t *frame);

/* Values of a stretch of time. In a line all of them are the same. */
typedef struct tb__cell {
  double from, to; /* in bins */
  bool is_empty;
  double min, low, median, high, max;
} tb__cell_t;

typedef enum tb__quantity {
  TB__QUANTITY_DURATION, /* in ns */
  TB__QUANTITY_NUMBER,   /* with the unit of the chart */
} tb__quantity_t;

typedef struct tb__chart {
  const char *caption; /* our own text */
  const char *note;    /* after it; may be NULL */
  tb__quantity_t quantity;
  const char *unit;  /* of numbers; "" if they have none */
  bool is_from_zero; /* 0 is on the axis */
  bool is_whole;     /* all values are on the axis, outliers too */
  const tb__cell_t *cells;
  size_t cell_count;
} tb__chart_t;

void tb__chart_write(tb__markup_t *page, const tb__frame_t *frame, const tb__chart_t *chart);

/* How many samples each bin has, as a low picture without labels: `levels` heights, `coarser` bins
 * taken together. `label` is text of others. */
void tb__strip_write(tb__markup_t *page, const tb__frame_t *frame, const tb__counts_t *counts,
                     size_t coarser, int levels, const char *label);

#endif

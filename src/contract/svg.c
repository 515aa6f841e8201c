#include "contract/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_X 3
#define LABELS_Y 4

/* The least of 1, 2 and 5 times a power of ten that is not below `least`. */
static double nice_step(double least)
{
  if (!(least > 0) || !isfinite(least)) return 1;
  double power = pow(10, floor(log10(least)));
  double part = least / power;
  return power * (part <= 1.000001 ? 1 : part <= 2.000001 ? 2 : part <= 5.000001 ? 5 : 10);
}

static int decimals_of(double step)
{
  int decimals = (int)ceil(-log10(step) - 1e-9);
  return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

/* --- the axis of time --- */

static const struct {
  double ns, below_ns;
  const char *name;
} time_units[] = {{1e6, 2e9, "ms"},           {1e9, 300e9, "s"},
                  {60e9, 7200e9, "min"},      {3600e9, 172800e9, "h"},
                  {86400e9, 63115200e9, "d"}, {31557600e9, INFINITY, "years"}};

static void write_time_labels(const tb__frame_t *frame, tb__markup_t *labels, tb__markup_t *grid)
{
  const tb__axis_t *axis = frame->axis;
  double start = tb__axis_position(axis, axis->min_ns);
  double range = ldexp((double)frame->bins, axis->place.shift);
  size_t unit = 0;
  while (range >= time_units[unit].below_ns)
    unit++;
  double step = nice_step(range / time_units[unit].ns / LABELS_X);
  for (int i = 0; i <= 2 * LABELS_X; i++) {
    char number[TB__NUMBER_TEXT_SIZE], left[TB__NUMBER_TEXT_SIZE], x[TB__NUMBER_TEXT_SIZE];
    double bins = ldexp(i * step * time_units[unit].ns, -axis->place.shift);
    double share = (start + bins) / (double)frame->bins * 100;
    if (share > 100) break;
    tb__number_text(i * step, decimals_of(step), number);
    tb__number_text(share, 2, left);
    tb__number_text(start + bins, 2, x);
    tb__markup_print(labels, "<span style=\"left:%s%%\"%s>%s %s</span>", left,
                     share < 6    ? " class=\"a\""
                     : share > 92 ? " class=\"z\""
                                  : "",
                     number, time_units[unit].name);
    tb__markup_print(grid, "M%s 0V%d", x, TB__SVG_HEIGHT);
  }
}

static int by_number(const void *a, const void *b)
{
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Those that would be drawn over each other are drawn once. */
static void write_jumps(const tb__frame_t *frame, const int64_t *times_ns, size_t count,
                        tb__markup_t *page)
{
  double *places = count ? calloc(count, sizeof *places) : NULL;
  double last = -1;
  if (count && !places) page->is_lost = true;
  if (!places) return;
  for (size_t i = 0; i < count; i++)
    places[i] = tb__axis_position(frame->axis, times_ns[i]);
  qsort(places, count, sizeof *places, by_number);
  for (size_t i = 0; i < count; i++) {
    char x[TB__NUMBER_TEXT_SIZE];
    if (places[i] < 0 || places[i] > (double)frame->bins || places[i] < last + 0.5) continue;
    last = places[i];
    tb__number_text(places[i], 2, x);
    tb__markup_print(page, "M%s 0V%d", x, TB__SVG_HEIGHT);
  }
  free(places);
}

bool tb__frame_begin(tb__frame_t *frame, const tb__axis_t *axis, const int64_t *jump_times_ns,
                     size_t count, tb__markup_t *page)
{
  tb__markup_t labels = {0}, grid = {0};
  *frame = (tb__frame_t){.bins = tb__axis_count(axis), .axis = axis};
  if (frame->bins == 0) return true;
  tb__markup_raw(&labels, "<div class=\"x\">");
  write_time_labels(frame, &labels, &grid);
  tb__markup_raw(&labels, "</div>");
  tb__markup_raw(page, "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
                       "<path id=\"gx\" d=\"M0 0");
  tb__markup_raw(page, grid.text ? grid.text : "");
  tb__markup_raw(page, "\"/><path id=\"jm\" d=\"M0 0");
  write_jumps(frame, jump_times_ns, count, page);
  tb__markup_raw(page, "\"/></defs></svg>\n");
  bool is_whole = !labels.is_lost && !grid.is_lost;
  tb__markup_fini(&grid);
  frame->labels = labels.text;
  return is_whole;
}

void tb__frame_fini(tb__frame_t *frame)
{
  free(frame->labels);
  frame->labels = NULL;
}

static void begin_picture(tb__markup_t *page, const tb__frame_t *frame, int height)
{
  tb__markup_print(page,
                   "<svg viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\" "
                   "aria-label=\"",
                   frame->bins, height);
}

/* --- charts --- */

typedef struct scale {
  double low, high; /* of the picture */
  double step;      /* between labels */
  double unit;      /* labels are values by this */
  char unit_name[16];
} scale_t;

static double share_of(const double *sorted, size_t count, double share)
{
  return sorted[(size_t)lround(share * (double)(count - 1))];
}

/* What 90 % of the cells have, with half as much again: the others may be beyond the picture, and
 * are marked at its edge. */
static void find_range(const tb__chart_t *chart, double *low, double *high)
{
  double *lows = calloc(chart->cell_count + 1, sizeof *lows);
  double *highs = calloc(chart->cell_count + 1, sizeof *highs);
  size_t count = 0;
  *low = 0;
  *high = 1;
  for (size_t i = 0; lows && highs && i < chart->cell_count; i++) {
    if (chart->cells[i].is_empty) continue;
    lows[count] = chart->is_whole ? chart->cells[i].min : chart->cells[i].low;
    highs[count++] = chart->is_whole ? chart->cells[i].max : chart->cells[i].high;
  }
  if (count > 0) {
    qsort(lows, count, sizeof *lows, by_number);
    qsort(highs, count, sizeof *highs, by_number);
    double usual_low = share_of(lows, count, 0.1), usual_high = share_of(highs, count, 0.9);
    double more = 0.5 * fmax(usual_high - usual_low, fmax(fabs(usual_high), fabs(usual_low)));
    *low = chart->is_whole ? lows[0] : fmax(lows[0], usual_low - more);
    *high = chart->is_whole ? highs[count - 1] : fmin(highs[count - 1], usual_high + more);
  }
  if (chart->is_from_zero && *low > 0) *low = 0;
  if (chart->is_from_zero && *high < 0) *high = 0;
  free(lows);
  free(highs);
}

static scale_t find_scale(const tb__chart_t *chart)
{
  static const struct {
    double ns;
    const char *name;
  } units[] = {{31557600e9, "years"}, {86400e9, "d"}, {3600e9, "h"}, {60e9, "min"}, {1e9, "s"},
               {1e6, "ms"},           {1e3, "us"},    {1, "ns"}};
  scale_t scale = {.unit = 1};
  find_range(chart, &scale.low, &scale.high);
  double size = fmax(fabs(scale.low), fabs(scale.high));
  if (chart->quantity == TB__QUANTITY_DURATION) {
    size_t i = 0;
    while (i < 7 && size < units[i].ns * (i < 4 ? 3 : 1))
      i++;
    scale.unit = units[i].ns;
    snprintf(scale.unit_name, sizeof scale.unit_name, "%s", units[i].name);
  } else {
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    for (; i + 1 < sizeof prefixes / sizeof *prefixes && size / scale.unit >= 1e5; i++)
      scale.unit *= 1e3;
    snprintf(scale.unit_name, sizeof scale.unit_name, "%s%s", prefixes[i], chart->unit);
  }
  double least = size > 0 ? size * 1e-6 : scale.unit; /* a range of nothing has a height too */
  scale.step = nice_step(fmax(scale.high - scale.low, least) / scale.unit / LABELS_Y) * scale.unit;
  scale.low = floor(scale.low / scale.step + 1e-9) * scale.step;
  scale.high = ceil(scale.high / scale.step - 1e-9) * scale.step;
  if (scale.high <= scale.low) scale.high = scale.low + scale.step;
  return scale;
}

static int y_of(const scale_t *scale, double value)
{
  double share = (value - scale->low) / (scale->high - scale->low);
  share = share < 0 || isnan(share) ? 0 : share > 1 ? 1 : share;
  return (int)lround((1 - share) * TB__SVG_HEIGHT);
}

static void write_x(tb__markup_t *page, char command, double x)
{
  char text[TB__NUMBER_TEXT_SIZE];
  tb__number_text(x, 2, text);
  char *point = strchr(text, '.');
  if (point && strcmp(point, ".00") == 0) *point = '\0';
  tb__markup_print(page, "%c%s", command, text);
}

static void write_labels(tb__markup_t *page, const scale_t *scale)
{
  int count = (int)lround((scale->high - scale->low) / scale->step);
  tb__markup_raw(page, "<div class=\"y\">");
  for (int i = 0; i <= count && i <= 2 * LABELS_Y; i++) {
    char number[TB__NUMBER_TEXT_SIZE], bottom[TB__NUMBER_TEXT_SIZE];
    double value = (scale->low + i * scale->step) / scale->unit;
    tb__number_text(fabs(value) < 1e-9 * scale->step / scale->unit ? 0 : value,
                    decimals_of(scale->step / scale->unit), number);
    tb__number_text(100.0 * i / count, 1, bottom);
    tb__markup_print(page, "<span style=\"bottom:%s%%\">%s%s%s</span>", bottom, number,
                     *scale->unit_name ? " " : "", scale->unit_name);
  }
  tb__markup_raw(page, "</div>");
}

static void write_lines(tb__markup_t *page, const tb__frame_t *frame, const scale_t *scale)
{
  int count = (int)lround((scale->high - scale->low) / scale->step);
  tb__markup_raw(page, "<use href=\"#gx\" class=\"gl\"/><path class=\"gl\" d=\"");
  for (int i = 0; i <= count && i <= 2 * LABELS_Y; i++)
    tb__markup_print(page, "M0 %dH%zu", y_of(scale, scale->low + i * scale->step), frame->bins);
  tb__markup_raw(page, "\"/>");
  if (scale->low < 0 && scale->high > 0)
    tb__markup_print(page, "<path class=\"zero\" d=\"M0 %dH%zu\"/>", y_of(scale, 0), frame->bins);
}

/* From 5 % to 95 %. */
static void write_band(tb__markup_t *page, const tb__chart_t *chart, const scale_t *scale)
{
  tb__markup_raw(page, "<path class=\"b\" d=\"");
  for (size_t i = 0; i < chart->cell_count; i++) {
    const tb__cell_t *cell = &chart->cells[i];
    if (cell->is_empty || cell->low >= cell->high) continue;
    int top = y_of(scale, cell->high), bottom = y_of(scale, cell->low);
    if (top == bottom) continue;
    write_x(page, 'M', cell->from);
    tb__markup_print(page, " %d", top);
    write_x(page, 'H', cell->to);
    tb__markup_print(page, "V%d", bottom);
    write_x(page, 'H', cell->from);
    tb__markup_raw(page, "z");
  }
  tb__markup_raw(page, "\"/>");
}

/* From the least value to 5 %, and from 95 % to the greatest. */
static void write_whiskers(tb__markup_t *page, const tb__chart_t *chart, const scale_t *scale)
{
  tb__markup_raw(page, "<path class=\"w\" d=\"");
  for (size_t i = 0; i < chart->cell_count; i++) {
    const tb__cell_t *cell = &chart->cells[i];
    if (cell->is_empty) continue;
    double x = (cell->from + cell->to) / 2;
    int high = y_of(scale, cell->high), low = y_of(scale, cell->low);
    int max = y_of(scale, cell->max), min = y_of(scale, cell->min);
    if (max < high) {
      write_x(page, 'M', x);
      tb__markup_print(page, " %dV%d", high, max);
    }
    if (min > low) {
      write_x(page, 'M', x);
      tb__markup_print(page, " %dV%d", low, min);
    }
  }
  tb__markup_raw(page, "\"/>");
}

static void write_median(tb__markup_t *page, const tb__chart_t *chart, const scale_t *scale)
{
  double end = -1;
  tb__markup_raw(page, "<path class=\"m\" d=\"");
  for (size_t i = 0; i < chart->cell_count; i++) {
    const tb__cell_t *cell = &chart->cells[i];
    if (cell->is_empty) continue;
    if (cell->from > end) {
      write_x(page, 'M', cell->from);
      tb__markup_print(page, " %d", y_of(scale, cell->median));
    } else {
      tb__markup_print(page, "V%d", y_of(scale, cell->median));
    }
    write_x(page, 'H', cell->to);
    end = cell->to;
  }
  tb__markup_raw(page, "\"/>");
}

/* What is beyond the picture is a short line at its edge. */
static void write_outliers(tb__markup_t *page, const tb__chart_t *chart, const scale_t *scale)
{
  double slack = 1e-9 * (scale->high - scale->low);
  tb__markup_raw(page, "<path class=\"o\" d=\"");
  for (size_t i = 0; i < chart->cell_count; i++) {
    const tb__cell_t *cell = &chart->cells[i];
    if (cell->is_empty) continue;
    double x = (cell->from + cell->to) / 2;
    if (cell->max > scale->high + slack) {
      write_x(page, 'M', x);
      tb__markup_raw(page, " 0v16");
    }
    if (cell->min < scale->low - slack) {
      write_x(page, 'M', x);
      tb__markup_print(page, " %dv-16", TB__SVG_HEIGHT);
    }
  }
  tb__markup_raw(page, "\"/>");
}

void tb__chart_write(tb__markup_t *page, const tb__frame_t *frame, const tb__chart_t *chart)
{
  scale_t scale = find_scale(chart);
  tb__markup_raw(page, "<figure><figcaption><b>");
  tb__markup_raw(page, chart->caption);
  tb__markup_raw(page, "</b>");
  if (chart->note) tb__markup_raw(page, " <span>");
  if (chart->note) tb__markup_raw(page, chart->note);
  if (chart->note) tb__markup_raw(page, "</span>");
  tb__markup_raw(page, "</figcaption><div class=\"g\">");
  write_labels(page, &scale);
  begin_picture(page, frame, TB__SVG_HEIGHT);
  tb__markup_raw(page, chart->caption);
  tb__markup_raw(page, "\">");
  write_lines(page, frame, &scale);
  write_band(page, chart, &scale);
  write_whiskers(page, chart, &scale);
  write_median(page, chart, &scale);
  write_outliers(page, chart, &scale);
  tb__markup_raw(page, "<use href=\"#jm\" class=\"j\"/></svg></div>");
  tb__markup_raw(page, frame->labels ? frame->labels : "");
  tb__markup_raw(page, "</figure>\n");
}

/* --- time lines --- */

/* What part of a cell is on the axis, which begins and ends somewhere in a bin. */
static double covered(const tb__frame_t *frame, size_t cell, size_t width)
{
  double from = fmax((double)(cell * width), tb__axis_position(frame->axis, frame->axis->min_ns));
  double to =
      fmin((double)((cell + 1) * width), tb__axis_position(frame->axis, frame->axis->max_ns));
  return fmin(fmax((to - from) / (double)width, 0.1), 1);
}

/* How high a cell is, of `levels`; what has samples is seen. */
static int level_of(double sum, double most, int levels)
{
  if (!(sum > 0)) return 0;
  int level = (int)ceil(sum / most * levels - 0.25); /* chance alone changes no level */
  return level < 1 ? 1 : level > levels ? levels : level;
}

void tb__strip_write(tb__markup_t *page, const tb__frame_t *frame, const tb__counts_t *counts,
                     size_t coarser, int levels, const char *label)
{
  double most = 0, sums[TB__AXIS_BINS] = {0};
  size_t cells = (frame->bins + coarser - 1) / coarser;
  for (size_t i = 0; i < frame->bins && i < TB__AXIS_BINS; i++)
    sums[i / coarser] += (double)counts->bins[i];
  for (size_t i = 0; i < cells; i++)
    if (i > 0 && i + 1 < cells) most = fmax(most, sums[i]);
  if (most > 0 && cells > 2) {
    sums[0] /= covered(frame, 0, coarser);
    sums[cells - 1] /= covered(frame, cells - 1, coarser);
  } else {
    most = fmax(most, fmax(sums[0], sums[cells - 1]));
  }
  begin_picture(page, frame, TB__SVG_STRIP);
  tb__markup_text(page, label, 256);
  tb__markup_print(page, "\"><path class=\"s\" d=\"M0 %d", TB__SVG_STRIP);
  int height = 0; /* of the outline, which begins and ends at the bottom */
  for (size_t i = 0, run; i < cells; i += run) {
    int level = level_of(sums[i], most, levels), wanted = level * TB__SVG_STRIP / levels;
    for (run = 1; i + run < cells; run++)
      if (level_of(sums[i + run], most, levels) != level) break;
    if (wanted != height) tb__markup_print(page, "v%d", height - wanted);
    height = wanted;
    size_t end = (i + run) * coarser;
    tb__markup_print(page, "H%zu", end < frame->bins ? end : frame->bins);
  }
  tb__markup_print(page, "V%dz\"/><use href=\"#jm\" class=\"j\"/></svg>", TB__SVG_STRIP);
}

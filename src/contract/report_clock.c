/* The section of /clock: its time, factor and rate, and its jumps. */
#include <stdio.h>

#include "contract/durations.h"
#include "contract/report_parts.h"

#define JUMPS_LISTED   50
#define TICKS_PER_CELL 4

/* How many bins are a cell, so that most cells have some ticks. */
static size_t cell_width(const tb__beats_t *beats, size_t bins)
{
  size_t width = 1;
  for (; width < bins / 4; width *= 2) {
    uint64_t ticks = 0;
    size_t used = 0;
    for (size_t i = 0; i < bins; i += width) {
      uint32_t count = tb__beats_sum(beats, i, width).count;
      ticks += count;
      used += count > 0;
    }
    if (ticks >= TICKS_PER_CELL * used) break;
  }
  return width;
}

typedef enum measure { MEASURE_TIME, MEASURE_FACTOR, MEASURE_RATE } measure_t;

/* False: there is none. */
static bool value_of(const tb__beat_t *beat, measure_t what, int64_t origin_ns, tb__cell_t *cell)
{
  if (beat->count == 0) return false;
  if (what == MEASURE_TIME) {
    cell->min = cell->low = cell->median = (double)(beat->first_ns - origin_ns);
    cell->max = cell->high = (double)(beat->last_ns - origin_ns);
    if (cell->low > cell->high) { /* a jump back in between */
      cell->max = cell->high = cell->low;
      cell->min = cell->low = (double)(beat->last_ns - origin_ns);
    }
    return true;
  }
  if (beat->steps == 0 || beat->arrival_ns <= 0) return false;
  double value = what == MEASURE_FACTOR ? (double)beat->step_ns / (double)beat->arrival_ns
                                        : (double)beat->steps * 1e9 / (double)beat->arrival_ns;
  cell->min = cell->low = cell->median = cell->high = cell->max = value;
  return true;
}

static void write_chart(tb__markup_t *page, const tb__report_clock_t *clock,
                        const tb__frame_t *frame, measure_t what, const char *caption)
{
  tb__cell_t cells[TB__AXIS_BINS];
  size_t count = 0, width = cell_width(&clock->beats, frame->bins);
  int64_t origin_ns = INT64_MAX;
  char note[TB__INSTANT_TEXT_SIZE + 32] = "";
  bool has_values = false;
  for (size_t i = 0; i < frame->bins; i++) {
    const tb__beat_t *beat = &clock->beats.bins[i];
    if (beat->count && beat->first_ns < origin_ns) origin_ns = beat->first_ns;
    if (beat->count && beat->last_ns < origin_ns) origin_ns = beat->last_ns;
  }
  for (size_t i = 0; i < frame->bins; i += width) {
    tb__beat_t sum = tb__beats_sum(&clock->beats, i, width);
    tb__cell_t cell = {.from = (double)i, .to = (double)(i + width)};
    if (cell.to > (double)frame->bins) cell.to = (double)frame->bins;
    cell.is_empty = !value_of(&sum, what, origin_ns, &cell);
    has_values = has_values || !cell.is_empty;
    cells[count++] = cell;
  }
  if (!has_values) return;
  if (what == MEASURE_TIME) {
    char origin[TB__INSTANT_TEXT_SIZE];
    tb__instant_text(origin_ns, origin);
    snprintf(note, sizeof note, "from %s on", origin);
  }
  tb__chart_t chart = {.caption = caption,
                       .note = *note ? note : NULL,
                       .quantity =
                           what == MEASURE_TIME ? TB__QUANTITY_DURATION : TB__QUANTITY_NUMBER,
                       .unit = what == MEASURE_RATE ? "Hz" : "",
                       .is_from_zero = true,
                       .is_whole = what == MEASURE_TIME,
                       .cells = cells,
                       .cell_count = count};
  tb__chart_write(page, frame, &chart);
}

static void write_jumps(tb__markup_t *page, const tb__report_t *report)
{
  const tb__report_clock_t *clock = &report->clock;
  size_t shown = clock->kept_count < JUMPS_LISTED ? clock->kept_count : JUMPS_LISTED;
  tb__markup_print(page, "<details%s><summary>%llu jump%s</summary>",
                   shown <= 10 ? " open=\"open\"" : "", (unsigned long long)clock->jumps,
                   clock->jumps == 1 ? "" : "s");
  tb__markup_raw(page, "<table class=\"jumps\"><thead><tr><th>After</th><th>By</th><th>From</th>"
                       "<th>To</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < shown; i++) {
    const tb__report_jump_t *jump = &clock->kept[i];
    char from[TB__INSTANT_TEXT_SIZE], to[TB__INSTANT_TEXT_SIZE];
    tb__instant_text(jump->from_ns, from);
    tb__instant_text(jump->to_ns, to);
    tb__markup_print(page, "<tr><td>%s</td><td>%s%s</td><td>%s</td><td>%s</td></tr>\n",
                     tb__duration_text(jump->time_ns - report->axis.min_ns).text,
                     jump->to_ns > jump->from_ns ? "+" : "",
                     tb__duration_text(jump->to_ns - jump->from_ns).text, from, to);
  }
  tb__markup_raw(page, "</tbody></table>");
  if (clock->jumps > shown)
    tb__markup_print(page, "<p class=\"q\">and %llu more</p>",
                     (unsigned long long)(clock->jumps - shown));
  tb__markup_raw(page, "</details>\n");
}

void tb__report_write_clock(tb__markup_t *page, tb__report_t *report, const tb__frame_t *frame)
{
  tb__report_clock_t *clock = &report->clock;
  tb__markup_print(page,
                   "<section id=\"clock\"><h2>/clock <small>%llu tick%s</small></h2>\n"
                   "<div class=\"pair three\">\n",
                   (unsigned long long)clock->ticks, clock->ticks == 1 ? "" : "s");
  tb__beats_follow(&clock->beats, frame->axis);
  if (frame->bins > 0) {
    write_chart(page, clock, frame, MEASURE_TIME, "Simulated time");
    if (!clock->no_factor) write_chart(page, clock, frame, MEASURE_FACTOR, "Factor");
    if (!clock->no_factor) write_chart(page, clock, frame, MEASURE_RATE, "Rate");
  }
  tb__markup_raw(page, "</div>\n");
  if (clock->no_factor) {
    tb__markup_raw(page, "<p class=\"q\">");
    tb__markup_text(page, clock->no_factor, TB__REPORT_LINE_SHOWN);
    tb__markup_raw(page, "</p>\n");
  }
  if (clock->jumps > 0) write_jumps(page, report);
  tb__markup_raw(page, "</section>\n");
}

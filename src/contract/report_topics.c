/* The sections of topics: time lines with numbers, then ages and intervals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/durations.h"
#include "contract/report_parts.h"

#define FOLD_ABOVE       40      /* topics, the others are folded */
#define FINE_MOST        200     /* topics with time lines in full resolution */
#define HALF_MOST        500     /* in half of it */
#define CHARTS_MOST      100     /* topics with pictures of ages and intervals */
#define CHARTS_OPEN      8       /* of which so many are open */
#define LINES_MAX        950000  /* bytes of time lines */
#define PAGE_FOR_CHARTS  1750000 /* bytes of the page, after which there are no more pictures */
#define SAMPLES_PER_CELL 4

typedef struct row {
  tb__report_topic_t *topic;
  const tb__verdict_t *verdict; /* the gravest; NULL: there is none */
} row_t;

static int by_verdict(const void *a, const void *b)
{
  const row_t *left = a, *right = b;
  int gravity = left->verdict ? (int)left->verdict->severity : 0;
  int other = right->verdict ? (int)right->verdict->severity : 0;
  if (gravity != other) return other - gravity;
  int order = strcmp(left->topic->name, right->topic->name);
  return order ? order : strcmp(left->topic->type, right->topic->type);
}

/* The first of that name. */
static const tb__verdict_t *verdict_of(const tb__verdict_t *verdicts, size_t count,
                                       const char *name)
{
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(verdicts[middle].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && strcmp(verdicts[low].name, name) == 0 ? &verdicts[low] : NULL;
}

/* --- time lines --- */

static void write_rate(tb__markup_t *page, const tb__report_topic_t *topic)
{
  char number[TB__NUMBER_TEXT_SIZE];
  double range = (double)(topic->last_ns - topic->first_ns) / 1e9;
  double rate = topic->placed > 1 && range > 0 ? (double)(topic->placed - 1) / range : 0;
  if (rate <= 0) {
    tb__markup_raw(page, "-");
    return;
  }
  const char *unit = rate < 1e5 ? "Hz" : rate < 1e6 ? "kHz" : "MHz";
  double shown = rate < 1e5 ? rate : rate < 1e6 ? rate / 1e3 : rate / 1e6;
  tb__number_text(shown, shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, number);
  tb__markup_print(page, "%s %s", number, unit);
}

static void write_age(tb__markup_t *page, const tb__report_topic_t *topic)
{
  if (!topic->stamps || topic->stamps->age.moments.count == 0) {
    tb__markup_raw(page, "-");
    return;
  }
  const tb__spread_t *ages = &topic->stamps->age;
  tb__markup_print(page, "%s, 99 %%: %s", tb__duration_text(tb__spread_quantile(ages, 0.5)).text,
                   tb__duration_text(tb__spread_quantile(ages, 0.99)).text);
}

static void write_row(tb__markup_t *page, const tb__frame_t *frame, const row_t *row,
                      size_t coarser)
{
  tb__report_topic_t *topic = row->topic;
  tb__markup_raw(page, "<tr><th scope=\"row\">");
  if (row->verdict) {
    tb__markup_print(page, "<a href=\"#f%zu\">", row->verdict->number);
    tb__report_write_badge(page, row->verdict->severity);
    tb__markup_raw(page, "</a> ");
  }
  tb__markup_raw(page, "<bdi class=\"n\">");
  tb__markup_name(page, topic->name, TB__REPORT_NAME_SHOWN);
  tb__markup_raw(page, "</bdi> <bdi class=\"ty\">");
  tb__markup_text(page, topic->type, TB__REPORT_NAME_SHOWN);
  tb__markup_raw(page, "</bdi></th><td class=\"l\">");
  tb__counts_follow(&topic->counts, frame->axis);
  if (frame->bins > 0)
    tb__strip_write(page, frame, &topic->counts, coarser, coarser == 1 ? 8 : 4, "messages");
  tb__markup_print(page, "</td><td data-l=\"messages\">%llu</td><td data-l=\"rate\">",
                   (unsigned long long)topic->messages);
  write_rate(page, topic);
  tb__markup_raw(page, "</td><td data-l=\"age\">");
  write_age(page, topic);
  tb__markup_raw(page, "</td></tr>\n");
}

static size_t write_rows(tb__markup_t *page, const tb__frame_t *frame, const row_t *rows,
                         size_t count, size_t coarser, size_t limit)
{
  size_t i = 0;
  tb__markup_raw(page, "<table class=\"t\"><thead><tr><th>Topic</th><th class=\"l\">");
  tb__markup_raw(page, frame->labels ? frame->labels : "Messages over time");
  tb__markup_raw(page, "</th><th>Messages</th><th>Rate</th><th>Age, median</th></tr></thead><tbody>"
                       "\n");
  for (; i < count && page->length < limit; i++)
    write_row(page, frame, &rows[i], coarser);
  tb__markup_raw(page, "</tbody></table>\n");
  return count - i;
}

static void write_lines(tb__markup_t *page, const tb__report_t *report, const tb__frame_t *frame,
                        const row_t *rows, size_t count)
{
  size_t limit = page->length + LINES_MAX, judged = 0, left_out = 0;
  size_t coarser = count <= FINE_MOST ? 1 : count <= HALF_MOST ? 2 : 4;
  while (judged < count && rows[judged].verdict)
    judged++;
  /* Those with findings first; of these only the first ones where they are many. */
  size_t open = count <= FOLD_ABOVE ? count : judged < FOLD_ABOVE ? judged : FOLD_ABOVE;
  tb__markup_print(page, "<section id=\"topics\"><h2>Topics <small>%llu</small></h2>\n",
                   (unsigned long long)(report->topic_count + report->topics_more));
  if (open > 0) left_out = write_rows(page, frame, rows, open, coarser, limit);
  if (open < count) {
    tb__markup_print(page, "<details><summary>%zu %s</summary>\n", count - open,
                     open < judged ? "more topics" : "topics without findings");
    left_out += write_rows(page, frame, rows + open, count - open, coarser, limit);
    tb__markup_raw(page, "</details>\n");
  }
  uint64_t more = left_out + report->topics_more;
  if (more > 0)
    tb__markup_print(page, "<p class=\"q\">%llu more topics are not shown.</p>\n",
                     (unsigned long long)more);
  tb__markup_raw(page, "</section>\n");
}

/* --- ages and intervals --- */

/* How many bins are a cell, so that most cells have some samples. */
static size_t cell_width(const tb__bands_t *bands, size_t bins)
{
  size_t width = 1;
  for (; width < bins / 4; width *= 2) {
    uint64_t samples = 0;
    size_t used = 0;
    for (size_t i = 0; i < bins; i += width) {
      uint64_t sum = 0;
      for (size_t k = i; k < i + width && k < bins; k++)
        sum += bands->bins[k].count;
      samples += sum;
      used += sum > 0;
    }
    if (samples >= SAMPLES_PER_CELL * used) break;
  }
  return width;
}

static double within(double place, double last)
{
  return place < 0 ? 0 : place > last ? last : place;
}

static size_t make_cells(const tb__bands_t *bands, const tb__frame_t *frame, bool is_fine,
                         tb__cell_t *cells)
{
  size_t count = 0, odd = (size_t)(frame->axis->place.base & 1);
  size_t bins = (frame->bins + odd + 1) / 2, width = cell_width(bands, bins);
  if (!is_fine && width < 2) width = 2;
  for (size_t i = 0; i < bins; i += width) {
    tb__band_summary_t sum = tb__bands_summary(bands, i, width);
    double from = (double)(2 * i) - (double)odd;
    cells[count++] = (tb__cell_t){.from = within(from, (double)frame->bins),
                                  .to = within(from + 2 * (double)width, (double)frame->bins),
                                  .is_empty = sum.count == 0,
                                  .min = sum.min,
                                  .low = sum.low,
                                  .median = sum.median,
                                  .high = sum.high,
                                  .max = sum.max};
  }
  return count;
}

/* Values are kept as floats, and may be rounded beyond the range. */
static int64_t whole(double ns)
{
  return ns >= 9.2e18 ? INT64_MAX : ns <= -9.2e18 ? -INT64_MAX : (int64_t)ns;
}

static void write_chart(tb__markup_t *page, const tb__frame_t *frame, const char *caption,
                        tb__bands_t *bands, bool is_fine)
{
  tb__cell_t cells[TB__BAND_BINS];
  char note[160];
  if (!bands) return;
  tb__bands_follow(bands, frame->axis);
  tb__band_summary_t sum = tb__bands_summary(bands, 0, TB__BAND_BINS);
  if (sum.count == 0) return;
  snprintf(note, sizeof note, "%s to %s", tb__duration_text(whole(sum.min)).text,
           tb__duration_text(whole(sum.max)).text);
  tb__chart_t chart = {.caption = caption,
                       .note = note,
                       .quantity = TB__QUANTITY_DURATION,
                       .unit = "",
                       .is_from_zero = true,
                       .cells = cells,
                       .cell_count = make_cells(bands, frame, is_fine, cells)};
  tb__chart_write(page, frame, &chart);
}

static void write_pictures(tb__markup_t *page, const tb__frame_t *frame, const row_t *row,
                           bool is_fine, bool is_open)
{
  tb__report_topic_t *topic = row->topic;
  tb__markup_print(page, "<details class=\"c\"%s><summary>", is_open ? " open=\"open\"" : "");
  if (row->verdict) tb__report_write_badge(page, row->verdict->severity);
  tb__markup_raw(page, row->verdict ? " <bdi class=\"n\">" : "<bdi class=\"n\">");
  tb__markup_text(page, topic->name, TB__REPORT_NAME_SHOWN);
  tb__markup_raw(page, "</bdi></summary><div class=\"pair\">\n");
  write_chart(page, frame, "Age of messages", topic->ages, is_fine);
  write_chart(page, frame, "Interval between messages", topic->intervals, is_fine);
  tb__markup_raw(page, "</div></details>\n");
}

static void write_charts(tb__markup_t *page, const tb__frame_t *frame, const row_t *rows,
                         size_t count)
{
  size_t drawable = 0, drawn = 0;
  for (size_t i = 0; i < count; i++)
    drawable += rows[i].topic->ages || rows[i].topic->intervals;
  if (drawable == 0 || frame->bins == 0) return;
  tb__markup_raw(
      page,
      "<section id=\"ages\"><h2>Ages and intervals</h2>\n<p class=\"key\">"
      "<span><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\"><path class=\"m\" d=\"M0 6H24\"/>"
      "</svg> median</span> <span><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\"><path "
      "class=\"b\" d=\"M0 1H24V11H0z\"/></svg> 5 % to 95 %</span> <span><svg viewBox=\"0 0 24 "
      "12\" aria-hidden=\"true\"><path class=\"w\" d=\"M12 0V12\"/></svg> least to greatest"
      "</span> <span><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\"><path class=\"o\" d=\"M12 "
      "0V6\"/></svg> beyond the picture</span> <span><svg viewBox=\"0 0 24 12\" aria-hidden="
      "\"true\"><path class=\"j\" d=\"M12 0V12\"/></svg> jump of /clock</span></p>\n");
  for (size_t i = 0; i < count && drawn < CHARTS_MOST && page->length < PAGE_FOR_CHARTS; i++) {
    const tb__report_topic_t *topic = rows[i].topic;
    if (!topic->ages && !topic->intervals) continue;
    write_pictures(page, frame, &rows[i], drawable <= CHARTS_MOST / 2, drawn < CHARTS_OPEN);
    drawn++;
  }
  if (drawn < drawable)
    tb__markup_print(page, "<p class=\"q\">%zu more topics have no pictures here.</p>\n",
                     drawable - drawn);
  tb__markup_raw(page, "</section>\n");
}

void tb__report_write_topics(tb__markup_t *page, tb__report_t *report, const tb__frame_t *frame,
                             const tb__verdict_t *verdicts, size_t verdict_count)
{
  size_t count = report->topic_count;
  row_t *rows = calloc(count, sizeof *rows);
  if (!rows) {
    page->is_lost = true;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    tb__report_topic_t *topic = report->topics[i];
    rows[i] = (row_t){topic, verdict_of(verdicts, verdict_count, topic->name)};
    if (topic->is_lost) page->is_lost = true;
  }
  qsort(rows, count, sizeof *rows, by_verdict);
  write_lines(page, report, frame, rows, count);
  write_charts(page, frame, rows, count);
  free(rows);
}

#include "contract/metrics_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/metric_buckets.h"
#include "base/metric_text.h"
#include "base/number_text.h"

#define TEXT_MAX ((size_t)4 << 20)

static void put(tb__metrics_text_t *text, const char *bytes, size_t size)
{
  if (text->is_failed) return;
  if (size > text->room - text->size) {
    size_t room = 2 * text->room + size + 4096;
    char *larger = room <= 2 * TEXT_MAX ? realloc(text->text, room) : NULL;
    if (!larger) {
      text->is_failed = true;
      return;
    }
    text->text = larger;
    text->room = room;
  }
  memcpy(text->text + text->size, bytes, size);
  text->size += size;
  if (text->size > TEXT_MAX) text->is_failed = true;
}

static void put_text(tb__metrics_text_t *text, const char *what)
{
  put(text, what, strlen(what));
}

static void put_to(void *text, const char *bytes, size_t size)
{
  put(text, bytes, size);
}

static tb__metric_sink_t sink_of(tb__metrics_text_t *text)
{
  return (tb__metric_sink_t){put_to, text};
}

/* `le`: one more label, or NULL. */
static void put_labels(tb__metrics_text_t *text, const tb__metrics_labels_t *labels, const char *le)
{
  const char *before = "{";
  for (size_t i = 0; labels && i < TB__METRICS_LABELS && labels->of[i].name; i++) {
    tb__metric_label(sink_of(text), before, labels->of[i].name, labels->of[i].value);
    before = ",";
  }
  if (le) {
    tb__metric_label(sink_of(text), before, "le", le);
    before = ",";
  }
  put_text(text, before[0] == ',' ? "} " : " ");
}

void tb__metrics_head(tb__metrics_text_t *text, const char *name, const char *type,
                      const char *unit, const char *help)
{
  tb__metric_head(sink_of(text), name, type, unit, help);
}

void tb__metrics_count(tb__metrics_text_t *text, const char *name,
                       const tb__metrics_labels_t *labels, uint64_t value)
{
  char number[TB__NUMBER_TEXT_SIZE];
  snprintf(number, sizeof number, "%llu\n", (unsigned long long)value);
  put_text(text, name);
  put_labels(text, labels, NULL);
  put_text(text, number);
}

void tb__metrics_number(tb__metrics_text_t *text, const char *name,
                        const tb__metrics_labels_t *labels, double value)
{
  char number[TB__NUMBER_TEXT_SIZE];
  tb__number_text(value, number);
  put_text(text, name);
  put_labels(text, labels, NULL);
  put_text(text, number);
  put_text(text, "\n");
}

/* --- histograms --- */

/* `limit_ns` is above 0 unless all count. */
static uint64_t part_at_most(const tb__spread_t *spread, tb__metrics_part_t part, int64_t limit_ns)
{
  if (part == TB__METRICS_ALL) return tb__spread_at_most(spread, limit_ns);
  uint64_t negative = tb__spread_at_most(spread, -1);
  if (part == TB__METRICS_NOT_NEGATIVE) return tb__spread_at_most(spread, limit_ns) - negative;
  return negative - tb__spread_at_most(spread, -limit_ns - (limit_ns < INT64_MAX));
}

void tb__metrics_histogram(tb__metrics_text_t *text, const char *name,
                           const tb__metrics_labels_t *labels, const tb__spread_t *spread,
                           tb__metrics_part_t part)
{
  uint64_t count = 0;
  char full[160], number[TB__NUMBER_TEXT_SIZE];
  for (size_t i = part == TB__METRICS_ALL ? 0 : TB__FIRST_POSITIVE_BUCKET;
       i < TB__METRIC_BUCKET_COUNT; i++) {
    count = part_at_most(spread, part, tb__metric_buckets[i].ns);
    snprintf(full, sizeof full, "%s_bucket", name);
    snprintf(number, sizeof number, "%llu\n", (unsigned long long)count);
    put_text(text, full);
    put_labels(text, labels, tb__metric_buckets[i].text);
    put_text(text, number);
  }
  if (part == TB__METRICS_ALL) return;
  double sum_ns = tb__spread_sum_below(spread);
  if (part == TB__METRICS_NOT_NEGATIVE)
    sum_ns += spread->moments.mean_ns * (double)spread->moments.count;
  snprintf(full, sizeof full, "%s_count", name);
  tb__metrics_count(text, full, labels, count);
  snprintf(full, sizeof full, "%s_sum", name);
  tb__metrics_number(text, full, labels, sum_ns > 0 && count ? sum_ns / 1e9 : 0);
}

void tb__metrics_end(tb__metrics_text_t *text)
{
  put_text(text, "# EOF\n");
}

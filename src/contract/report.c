#include "contract/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "contract/output_file.h"
#include "contract/report_parts.h"

#define FACTS_MAX_SIZE 60000 /* bytes of the page */

static char *copy(const char *text)
{
  return strndup(text, (size_t)4 * TB__REPORT_LINE_SHOWN);
}

tb__report_t *tb__report_create(const char *title, const char *time_name)
{
  tb__report_t *report = calloc(1, sizeof *report);
  if (!report) return NULL;
  report->title = copy(title);
  report->time_name = copy(time_name);
  if (report->title && report->time_name) return report;
  tb__report_destroy(report);
  return NULL;
}

static void topic_destroy(tb__report_topic_t *topic)
{
  free(topic->name);
  free(topic->type);
  free(topic->ages);
  free(topic->intervals);
  free(topic);
}

void tb__report_destroy(tb__report_t *report)
{
  if (!report) return;
  for (size_t i = 0; i < report->topic_count; i++)
    topic_destroy(report->topics[i]);
  for (size_t i = 0; i < report->fact_count; i++) {
    free(report->facts[i].key);
    free(report->facts[i].value);
  }
  free(report->clock.kept);
  free(report->clock.no_factor);
  free(report->title);
  free(report->time_name);
  free(report);
}

void tb__report_fact(tb__report_t *report, const char *key, const char *value)
{
  if (report->fact_count == TB__REPORT_FACTS_MAX) return;
  char *own_key = copy(key), *own_value = copy(value);
  if (!own_key || !own_value) {
    free(own_key);
    free(own_value);
    report->is_lost = true;
    return;
  }
  report->facts[report->fact_count].key = own_key;
  report->facts[report->fact_count++].value = own_value;
}

tb__report_topic_t *tb__report_topic(tb__report_t *report, const char *name, const char *type)
{
  if (report->topic_count == TB__REPORT_TOPICS_MAX) {
    report->topics_more++;
    return NULL;
  }
  tb__report_topic_t *topic = calloc(1, sizeof *topic);
  if (topic) topic->name = copy(name);
  if (topic) topic->type = copy(type);
  if (!topic || !topic->name || !topic->type) {
    if (topic) topic_destroy(topic);
    report->is_lost = true;
    return NULL;
  }
  return report->topics[report->topic_count++] = topic;
}

static uint64_t stamp_count(const tb__stamps_t *stamps)
{
  return stamps->arrivals - stamps->kinds[TB__STAMP_NONE];
}

void tb__report_topic_stamps(tb__report_topic_t *topic, const tb__stamps_t *stamps)
{
  if (!topic || !stamps || (topic->stamps && stamp_count(topic->stamps) >= stamp_count(stamps)))
    return;
  topic->stamps = stamps;
}

static void add_to_band(tb__report_topic_t *topic, const tb__axis_t *axis, tb__bands_t **bands,
                        int64_t time_ns, int64_t value_ns)
{
  if (!*bands) *bands = calloc(1, sizeof **bands);
  if (!*bands) topic->is_lost = true;
  if (*bands) tb__bands_add(*bands, axis, time_ns, (double)value_ns);
}

void tb__report_message(tb__report_t *report, tb__report_topic_t *topic, int64_t time_ns,
                        const int64_t *age_ns)
{
  bool is_on_axis = tb__axis_add(&report->axis, time_ns);
  if (!topic) {
    report->messages_more++;
    return;
  }
  topic->messages++;
  if (!is_on_axis) return;
  if (topic->round != report->axis.place.round) { /* times before it were wrong */
    topic->round = report->axis.place.round;
    topic->placed = 0;
    topic->first_ns = topic->last_ns = 0;
  }
  topic->placed++;
  tb__counts_add(&topic->counts, &report->axis, time_ns);
  if (topic->first_ns && time_ns > topic->last_ns)
    add_to_band(topic, &report->axis, &topic->intervals, time_ns, time_ns - topic->last_ns);
  if (age_ns) add_to_band(topic, &report->axis, &topic->ages, time_ns, *age_ns);
  if (!topic->first_ns || time_ns < topic->first_ns) topic->first_ns = time_ns;
  if (time_ns > topic->last_ns) topic->last_ns = time_ns;
}

static void add_jump(tb__report_t *report, int64_t time_ns, int64_t from_ns, int64_t to_ns)
{
  tb__report_clock_t *clock = &report->clock;
  clock->jumps++;
  if (!clock->kept) clock->kept = calloc(TB__REPORT_JUMPS_MAX, sizeof *clock->kept);
  if (!clock->kept) report->is_lost = true;
  if (!clock->kept || clock->kept_count == TB__REPORT_JUMPS_MAX) return;
  clock->kept[clock->kept_count++] = (tb__report_jump_t){time_ns, from_ns, to_ns};
}

void tb__report_tick(tb__report_t *report, int64_t time_ns, int64_t tick_ns, tb__tick_kind_t kind)
{
  tb__report_clock_t *clock = &report->clock;
  clock->is_there = true;
  clock->ticks++;
  if (tick_ns <= 0 || !tb__axis_covers(&report->axis, time_ns)) return;
  if (clock->round != report->axis.place.round) clock->has_last = false;
  clock->round = report->axis.place.round;
  bool is_step = kind == TB__TICK_FORWARD || kind == TB__TICK_REPEAT || kind == TB__TICK_GAP;
  int64_t step_ns = clock->has_last && is_step ? tick_ns - clock->last_tick_ns : 0;
  int64_t took_ns = step_ns > 0 ? time_ns - clock->last_time_ns : 0;
  tb__beats_add(&clock->beats, &report->axis, time_ns, tick_ns, step_ns, took_ns);
  if (clock->has_last && (kind == TB__TICK_BACKWARD || kind == TB__TICK_SKIP))
    add_jump(report, time_ns, clock->last_tick_ns, tick_ns);
  if (kind == TB__TICK_REORDERED) return;
  if (kind == TB__TICK_REPEAT && clock->has_last) return;
  clock->has_last = true;
  clock->last_time_ns = time_ns;
  clock->last_tick_ns = tick_ns;
}

void tb__report_no_factor(tb__report_t *report, const char *why)
{
  char *text = copy(why);
  if (!text) report->is_lost = true;
  free(report->clock.no_factor);
  report->clock.no_factor = text;
}

/* --- the page --- */

/* By name, of one name the gravest first. */
static int by_name_and_gravity(const void *a, const void *b)
{
  const tb__verdict_t *left = a, *right = b;
  int order = strcmp(left->name, right->name);
  if (order) return order;
  if (left->severity != right->severity) return left->severity > right->severity ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}

static bool is_of_topic(const tb__finding_subject_t *subject)
{
  return subject->kind == TB__SUBJECT_TOPIC || subject->kind == TB__SUBJECT_CLOCK;
}

/* NULL with *out_count 0: there are none; with another count: no memory. */
static tb__verdict_t *find_verdicts(const tb__findings_t *findings, const bool *is_shown,
                                    size_t *out_count)
{
  size_t count = 0, most = 0;
  for (size_t i = 0; i < tb__findings_count(findings); i++)
    most += tb__findings_at(findings, i)->subject_count;
  *out_count = most;
  tb__verdict_t *verdicts = most ? calloc(most, sizeof *verdicts) : NULL;
  if (!verdicts) return NULL;
  for (size_t i = 0; i < tb__findings_count(findings); i++) {
    const tb__finding_t *finding = tb__findings_at(findings, i);
    for (size_t k = 0; k < finding->subject_count; k++) {
      const tb__finding_subject_t *subject = &finding->subjects[k];
      if (is_shown[i] && is_of_topic(subject))
        verdicts[count++] = (tb__verdict_t){subject->name, subject->severity, i + 1};
    }
  }
  qsort(verdicts, count, sizeof *verdicts, by_name_and_gravity);
  *out_count = count;
  return verdicts;
}

static void write_facts(tb__markup_t *page, const tb__report_t *report)
{
  char text[TB__INSTANT_TEXT_SIZE];
  tb__markup_raw(page, "<section id=\"facts\"><h2>What was judged</h2>\n<dl class=\"facts\">");
  size_t limit = page->length + FACTS_MAX_SIZE;
  for (size_t i = 0; i < report->fact_count && page->length < limit; i++) {
    tb__markup_raw(page, "<div><dt>");
    tb__markup_text(page, report->facts[i].key, TB__REPORT_NAME_SHOWN);
    tb__markup_raw(page, "</dt><dd><bdi>");
    tb__markup_text(page, report->facts[i].value, TB__REPORT_LINE_SHOWN);
    tb__markup_raw(page, "</bdi></dd></div>\n");
  }
  tb__markup_raw(page, "</dl>\n");
  if (report->axis.inside > 0) {
    tb__markup_raw(page, "<p class=\"q\">Pictures are by ");
    tb__markup_text(page, report->time_name, TB__REPORT_NAME_SHOWN);
    tb__instant_text(report->axis.min_ns, text);
    tb__markup_print(page, ", counted from the first message: %s", text);
    tb__instant_text(report->axis.max_ns, text);
    tb__markup_print(page, ". The last one: %s.</p>\n", text);
  }
  if (report->axis.outside > 0)
    tb__markup_print(
        page,
        "<p class=\"q\">%llu messages are in no picture: their time is 0, or more than "
        "a day away from the others.</p>\n",
        (unsigned long long)report->axis.outside);
  tb__markup_raw(page, "</section>\n");
}

static void write_head(tb__markup_t *page, const tb__report_t *report)
{
  tb__markup_raw(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'\"/>"
                       "<meta name=\"color-scheme\" content=\"light dark\"/><title>");
  tb__markup_text(page, report->title, TB__REPORT_NAME_SHOWN);
  tb__markup_raw(page, " - timebase</title><style>");
  tb__markup_raw(page, tb__report_style);
  tb__markup_raw(page, "</style></head><body><header><h1><bdi>");
  tb__markup_text(page, report->title, TB__REPORT_LINE_SHOWN);
  tb__markup_raw(page, "</bdi></h1>\n<nav><a href=\"#findings\">Findings</a>");
  if (report->clock.is_there) tb__markup_raw(page, " <a href=\"#clock\">/clock</a>");
  if (report->topic_count > 0) tb__markup_raw(page, " <a href=\"#topics\">Topics</a>");
  tb__markup_raw(page, " <a href=\"#facts\">What was judged</a></nav></header>\n<main>\n");
}

static void write_body(tb__report_t *report, const tb__findings_t *findings, bool *is_shown,
                       tb__markup_t *page)
{
  int64_t *jumps = calloc(report->clock.kept_count + 1, sizeof *jumps);
  size_t count = 0;
  tb__frame_t frame;
  for (size_t i = 0; jumps && i < report->clock.kept_count; i++)
    jumps[i] = report->clock.kept[i].time_ns;
  if (!jumps || !tb__frame_begin(&frame, &report->axis, jumps, report->clock.kept_count, page)) {
    free(jumps);
    page->is_lost = true;
    return;
  }
  tb__report_write_findings(page, findings, is_shown);
  tb__verdict_t *verdicts = find_verdicts(findings, is_shown, &count);
  if (!verdicts && count > 0) page->is_lost = true;
  if (report->clock.is_there) tb__report_write_clock(page, report, &frame);
  if (report->topic_count > 0)
    tb__report_write_topics(page, report, &frame, verdicts, verdicts ? count : 0);
  write_facts(page, report);
  free(verdicts);
  tb__frame_fini(&frame);
  free(jumps);
}

tb_status_t tb__report_html(tb__report_t *report, const tb__findings_t *findings, tb__markup_t *out)
{
  tb__markup_t page = {0};
  bool *is_shown = calloc(tb__findings_count(findings) + 1, sizeof *is_shown);
  if (!is_shown) return TB_ERR_NO_MEMORY;
  write_head(&page, report);
  write_body(report, findings, is_shown, &page);
  tb__markup_raw(&page, "</main></body></html>\n");
  free(is_shown);
  if (page.is_lost || report->is_lost) {
    tb__markup_fini(&page);
    return TB_ERR_NO_MEMORY;
  }
  *out = page;
  return TB_OK;
}

tb_status_t tb__report_write(tb__report_t *report, const tb__findings_t *findings, const char *path,
                             tb_error_t *error)
{
  tb__markup_t page = {0};
  tb_status_t status = tb__report_html(report, findings, &page);
  if (status) return tb__no_memory_for(error, path);
  status = tb__output_file_write(path, page.text, page.length, error);
  tb__markup_fini(&page);
  return status;
}

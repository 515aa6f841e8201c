#include "top_table.h"

#include <stdlib.h>
#include <string.h>

#include "contract/spread.h"
#include "observe_rows.h"
#include "observe_text.h"
#include "text.h"

#define MS 1e6

typedef struct update {
  top_table_t *table;
  top_findings_t *findings;
  size_t rows; /* of this topic */
} update_t;

/* --- text --- */

/* What is printed to a stream, without the end of the line. */
typedef struct text_stream {
  FILE *out;
  char *text;
  size_t size;
} text_stream_t;

static bool stream_open(text_stream_t *stream)
{
  *stream = (text_stream_t){0};
  stream->out = open_memstream(&stream->text, &stream->size);
  return stream->out;
}

/* To be freed. NULL: out of memory. */
static char *stream_close(text_stream_t *stream)
{
  bool is_whole = fclose(stream->out) == 0;
  if (!is_whole || !stream->text) {
    free(stream->text);
    return NULL;
  }
  if (stream->size && stream->text[stream->size - 1] == '\n') stream->text[stream->size - 1] = '\0';
  return stream->text;
}

static char *words_of(const observe_row_t *row)
{
  text_stream_t stream;
  if (!stream_open(&stream)) return NULL;
  observe_print_words(stream.out, row);
  return stream_close(&stream);
}

static char *clock_text(observe_t *observe)
{
  text_stream_t stream;
  if (!stream_open(&stream)) return NULL;
  observe_print_clock(stream.out, observe, false);
  return stream_close(&stream);
}

static char *path_text(const observe_t *observe, observe_path_t *path)
{
  text_stream_t stream;
  if (!stream_open(&stream)) return NULL;
  observe_print_path(stream.out, observe, path);
  return stream_close(&stream);
}

/* --- rows --- */

static void row_fini(top_row_t *row)
{
  free(row->topic);
  free(row->type);
  free(row->node);
  free(row->words);
}

static void push(top_table_t *table, top_row_t *row)
{
  if (table->count == table->room) {
    size_t room = table->room ? 2 * table->room : 64;
    top_row_t *grown = reallocarray(table->rows, room, sizeof *grown);
    if (grown) {
      table->rows = grown;
      table->room = room;
    }
  }
  if (table->count < table->room && row->topic && row->type && row->node && row->words) {
    table->rows[table->count++] = *row;
    return;
  }
  row_fini(row);
  table->is_cut = true;
}

static uint64_t wrong_of(const tb__stamps_t *stamps)
{
  uint64_t wrong = stamps->backward;
  for (size_t i = 0; i < OBSERVE_STAMP_WORDS; i++)
    wrong += stamps->kinds[observe_stamp_words[i].kind];
  return wrong;
}

static void take_row(const observe_row_t *from, void *user)
{
  update_t *update = user;
  const tb__stamps_t *stamps = &from->is.stamps;
  top_row_t row = {
      .topic = text_harmless(from->topic->name),
      .type = text_harmless(from->topic->type),
      .node = text_harmless(from->node ? from->node : ""),
      .words = words_of(from),
      .definition = observe_definition_text(from->topic),
      .has_age = stamps->age.moments.count > 0,
      .is_undefined = !observe_is_defined(from->topic),
      .rate_hz = from->rate_hz,
      .jitter_ms = tb__moments_deviation(&stamps->gap) / MS,
      .age_ms = (double)tb__spread_quantile(&stamps->age, 0.5) / MS,
      .age_p99_ms = (double)tb__spread_quantile(&stamps->age, 0.99) / MS,
      .travel_ms = (double)tb__spread_quantile(&from->is.travel, 0.5) / MS,
      .longest_gap_ms = (double)stamps->gap.max_ns / MS,
      .messages = stamps->arrivals,
      .gaps = from->is.gaps,
      .missed = from->is.not_received,
      .wrong = wrong_of(stamps),
  };
  memcpy(row.guid, from->guid, sizeof row.guid);
  push(update->table, &row);
  update->rows++;
  top_findings_note_row(update->findings, from);
}

static void take_topic(update_t *update, observe_topic_t *topic, const observe_view_t *view)
{
  update->rows = 0;
  observe_each_row(topic, view, take_row, update);
  pthread_mutex_lock(&topic->lock);
  update->table->unattributed += topic->unattributed;
  pthread_mutex_unlock(&topic->lock);
  update->table->topics++;
  if (update->rows) return;
  top_row_t row = {.topic = text_harmless(topic->name),
                   .type = text_harmless(topic->type),
                   .node = text_harmless(""),
                   .words = text_harmless(topic->is_failed ? "not observed" : "no message"),
                   .is_undefined = !observe_is_defined(topic),
                   .definition = observe_definition_text(topic)};
  push(update->table, &row);
  update->table->silent++;
}

/* --- all of it --- */

static void clear(top_table_t *table)
{
  for (size_t i = 0; i < table->count; i++)
    row_fini(&table->rows[i]);
  for (size_t i = 0; i < table->path_count; i++)
    free(table->paths[i]);
  free(table->clock);
  *table = (top_table_t){.rows = table->rows, .room = table->room};
}

void top_table_update(top_table_t *table, observe_t *observe, top_findings_t *findings)
{
  update_t update = {.table = table, .findings = findings};
  observe_view_t view = {observe_steady_now(observe), false};
  clear(table);
  findings->system_ns = observe_system_now(observe);
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next)
    take_topic(&update, topic, &view);
  table->left_out = observe->left_out;
  table->clock = clock_text(observe);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    if (!observe_is_path(&observe->paths[i])) continue;
    char *text = path_text(observe, &observe->paths[i]);
    if (text) table->paths[table->path_count++] = text;
  }
  top_findings_note_clock(findings, observe);
  top_findings_note_paths(findings, observe);
  observe->shown_ns = view.steady_ns;
}

void top_table_fini(top_table_t *table)
{
  clear(table);
  free(table->rows);
  *table = (top_table_t){0};
}

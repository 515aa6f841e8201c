#include "record_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/duration.h>

#include "play_table.h"
#include "text.h"

#define NAME_COLUMNS 40
#define FULL_COLUMNS 70
#define FOREVER_S    (100.0 * 24 * 3600) /* more is not shown */
#define SMALL_ROWS   9

typedef struct canvas {
  const record_picture_t *picture;
  int rows, columns, name_columns;
  screen_emit_t *emit;
  void *user;
} canvas_t;

static void show(const canvas_t *canvas, int row, screen_style_t style, const char *text)
{
  char fitted[SCREEN_TEXT_SIZE];
  if (row < 0 || row >= canvas->rows) return;
  screen_fit(text, canvas->columns, false, fitted, sizeof fitted);
  canvas->emit(canvas->user, row, style, fitted);
}

/* --- the head --- */

static const char *state_of(const record_picture_t *picture)
{
  const tb_recorder_status_t *status = &picture->status;
  if (status->failing) return "THE FILE CANNOT BE WRITTEN";
  if (status->waits_for_clock) return "waiting for /clock";
  if (status->paused) return "paused (SPACE resumes)";
  return picture->snapshot_mode ? "snapshot mode (s writes)" : "recording";
}

static void draw_title(const canvas_t *canvas)
{
  char path[SCREEN_TEXT_SIZE], text[2 * SCREEN_TEXT_SIZE];
  const char *state = state_of(canvas->picture);
  int room = canvas->columns - screen_columns(state) - 2;
  screen_fit(canvas->picture->path, room, true, path, sizeof path);
  int gap = room - screen_columns(path) + 2;
  snprintf(text, sizeof text, "%s%*s%s", path, gap > 0 ? gap : 0, "", state);
  show(canvas, 0, SCREEN_TITLE, text);
}

static void put_span(char *out, size_t size, double seconds)
{
  int64_t whole = (int64_t)seconds;
  snprintf(out, size, "%" PRId64 ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60),
           (int)(whole % 60));
}

static double rate_of_all(const record_picture_t *picture)
{
  double sum = NAN;
  for (size_t i = 0; i < picture->topic_count; i++)
    if (!isnan(picture->topics[i].bytes_per_s))
      sum = (isnan(sum) ? 0 : sum) + picture->topics[i].bytes_per_s;
  return sum;
}

static void draw_counts(const canvas_t *canvas, int row)
{
  const record_picture_t *picture = canvas->picture;
  const tb_recorder_status_t *status = &picture->status;
  char span[32], rate[16], size[16];
  screen_line_t line = screen_line_begin(canvas->columns);
  put_span(span, sizeof span, (double)picture->elapsed_ns / 1e9);
  play_table_bytes(rate_of_all(picture), rate, sizeof rate);
  play_table_bytes((double)status->file_size, size, sizeof size);
  screen_line_put(&line, "%s", span);
  screen_line_put(&line, "   %" PRIu64 " message%s", status->written,
                  status->written == 1 ? "" : "s");
  screen_line_put(&line, "   %" PRIu64 " lost", status->lost);
  screen_line_put(&line, "   %sB/s", rate);
  screen_line_put(&line, "   file %zu: %sB", status->file_count, size);
  if (status->jumps > 0) screen_line_put(&line, "   %" PRIu64 " jumps back", status->jumps);
  show(canvas, row, status->lost > 0 ? SCREEN_LOUD : SCREEN_PLAIN, line.text);
}

void record_disk_text(uint64_t left, double growth, char *out, size_t size)
{
  char bytes[16], span[32];
  out[0] = '\0';
  if (left == UINT64_MAX) return;
  play_table_bytes((double)left, bytes, sizeof bytes);
  double seconds = growth > 0 ? (double)left / growth : INFINITY;
  put_span(span, sizeof span, seconds < FOREVER_S ? seconds : 0);
  if (seconds < FOREVER_S)
    snprintf(out, size, "disk: %sB left, full in %s", bytes, span);
  else
    snprintf(out, size, "disk: %sB left", bytes);
}

/* In snapshot mode what is held, of how much. */
static void draw_disk(const canvas_t *canvas, int row)
{
  const record_picture_t *picture = canvas->picture;
  char disk[80], held[16], limit[16];
  uint64_t messages = 0;
  screen_line_t line = screen_line_begin(canvas->columns);
  for (size_t i = 0; i < picture->topic_count; i++)
    messages += picture->topics[i].status.waiting;
  play_table_bytes((double)picture->status.waiting_bytes, held, sizeof held);
  play_table_bytes((double)picture->cache_size, limit, sizeof limit);
  if (picture->snapshot_mode) {
    screen_line_put(&line, "held: %.1f s, %sB", (double)picture->status.held_ns / 1e9, held);
    screen_line_put(&line, " of %sB", limit);
    screen_line_put(&line, ", %" PRIu64 " message%s   ", messages, messages == 1 ? "" : "s");
  }
  record_disk_text(picture->disk_left, picture->growth, disk, sizeof disk);
  screen_line_put(&line, "%s", disk);
  if (!picture->snapshot_mode && picture->status.waiting_bytes > 0)
    screen_line_put(&line, "   %sB wait for it", held);
  show(canvas, row, SCREEN_PLAIN, line.text);
}

/* --- topics --- */

typedef struct cells {
  const char *name, *written, *held, *lost, *hz, *bytes;
} cells_t;

static void draw_cells(const canvas_t *canvas, int row, screen_style_t style, const cells_t *cells)
{
  char fitted[SCREEN_TEXT_SIZE], numbers[96], text[2 * SCREEN_TEXT_SIZE];
  if (canvas->columns < FULL_COLUMNS)
    snprintf(numbers, sizeof numbers, "%9s %7s", cells->written, cells->hz);
  else if (canvas->picture->snapshot_mode)
    snprintf(numbers, sizeof numbers, "%9s %7s %7s %7s %6s", cells->written, cells->held,
             cells->lost, cells->hz, cells->bytes);
  else
    snprintf(numbers, sizeof numbers, "%9s %7s %7s %6s", cells->written, cells->lost, cells->hz,
             cells->bytes);
  int room = canvas->columns - screen_columns(numbers) - 1;
  if (room > canvas->name_columns) room = canvas->name_columns;
  if (style == SCREEN_HEADING)
    screen_fit(cells->name, room, false, fitted, sizeof fitted);
  else
    screen_fit_middle(cells->name, room, fitted, sizeof fitted);
  int gap = room + 1 - screen_columns(fitted);
  snprintf(text, sizeof text, "%s%*s%s", fitted, gap > 0 ? gap : 0, "", numbers);
  show(canvas, row, style, text);
}

static void draw_topic(const canvas_t *canvas, int row, const record_topic_t *topic)
{
  const tb_recorder_topic_status_t *status = &topic->status;
  uint64_t lost = status->lost_on_the_way + status->lost_in_queue + status->lost_in_file;
  char written[24], held[24], lost_text[24], hz[24] = "-", bytes[16];
  snprintf(written, sizeof written, "%" PRIu64, status->written);
  snprintf(held, sizeof held, "%" PRIu64, status->waiting);
  snprintf(lost_text, sizeof lost_text, "%" PRIu64, lost);
  if (!isnan(topic->hz)) snprintf(hz, sizeof hz, "%.*f", topic->hz < 99.95 ? 1 : 0, topic->hz);
  play_table_bytes(topic->bytes_per_s, bytes, sizeof bytes);
  cells_t cells = {topic->name, written, held, lost_text, hz, bytes};
  draw_cells(canvas, row, lost > 0 ? SCREEN_LOUD : SCREEN_PLAIN, &cells);
}

static void draw_topics(const canvas_t *canvas, int first, int room)
{
  const record_picture_t *picture = canvas->picture;
  int count = (int)picture->topic_count, visible = room - 1;
  int most = count > visible ? count - visible : 0;
  char heading[96] = "topic";
  if (visible < 1) return;
  if (*picture->scrolled > most) *picture->scrolled = most;
  int skipped = *picture->scrolled, last = skipped + visible < count ? skipped + visible : count;
  if (most > 0)
    snprintf(heading, sizeof heading, "topic %d-%d of %d %s%s", skipped + 1, last, count,
             skipped > 0 ? "↑" : "", last < count ? "↓" : "");
  cells_t cells = {heading, "written", "held", "lost", "Hz", "B/s"};
  draw_cells(canvas, first, SCREEN_HEADING, &cells);
  for (int i = skipped; i < last; i++)
    draw_topic(canvas, first + 1 + i - skipped, &picture->topics[i]);
}

/* --- the foot --- */

/* Returns whether there is a line. */
static bool draw_notice(const canvas_t *canvas, int row)
{
  const record_picture_t *picture = canvas->picture;
  char line[SCREEN_LOG_SIZE];
  if (*picture->note) {
    show(canvas, row, SCREEN_LOUD, picture->note);
    return true;
  }
  if (!screen_log_line(picture->log, 0, picture->log_since_ns, NULL, line, sizeof line))
    return false;
  char *harmless = text_harmless(line);
  show(canvas, row, SCREEN_LOUD, harmless ? harmless : "");
  free(harmless);
  return true;
}

static void draw_hints(const canvas_t *canvas, int row)
{
  screen_line_t line = screen_line_begin(canvas->columns);
  screen_line_put(&line, "q end  SPACE pause");
  if (canvas->picture->snapshot_mode) screen_line_put(&line, "  s write what is held");
  screen_line_put(&line, "  PGUP PGDN scroll");
  show(canvas, row, SCREEN_QUIET, line.text);
}

static int name_columns_of(const record_picture_t *picture)
{
  int longest = NAME_COLUMNS;
  for (size_t i = 0; i < picture->topic_count; i++) {
    int columns = screen_columns(picture->topics[i].name);
    if (columns > longest) longest = columns;
  }
  return longest;
}

void record_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                         void *user)
{
  const record_picture_t *picture = of_picture;
  canvas_t canvas = {.picture = picture,
                     .rows = rows,
                     .columns = columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX,
                     .name_columns = name_columns_of(picture),
                     .emit = emit,
                     .user = user};
  if (rows < 1 || columns < 3) return;
  draw_title(&canvas);
  if (rows < 4) return;
  draw_counts(&canvas, 1);
  draw_disk(&canvas, 2);
  int next = 3 + (rows >= SMALL_ROWS), end = rows - 1;
  if (rows >= SMALL_ROWS) draw_notice(&canvas, --end);
  if (rows >= SMALL_ROWS || !draw_notice(&canvas, rows - 1)) draw_hints(&canvas, rows - 1);
  if (end - next >= 2) draw_topics(&canvas, next, end - next);
}

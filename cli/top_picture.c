#include "top_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/time.h>

#include "text.h"
#include "top_rows.h"

#define TOPIC_COLUMNS 14 /* of the name, at least */
#define WORDS_COLUMNS 16
#define ROOMY_ROWS    16
#define SMALL_ROWS    10

static const char *const help[] = {
    "UP DOWN PGUP PGDN  move, g G: to the first, the last row",
    "s S, arrows        sort by the next, the previous column; r: the other way round",
    "/                  show rows whose topic, type or publisher has this text in it",
    "w                  show rows with stamps that are wrong or gaps, or all",
    "SPACE              pause the screen, resume; measuring goes on",
    "z                  count from now on: ages, jitter, gaps, missed, stamps",
    "ESC                no filter",
    "?                  show or hide this help",
    "q                  quit",
    "",
    "HZ      messages a second          JITTER  deviation of the time between them, ms",
    "AGE     ROS time at reception minus header.stamp, ms: median; P99: 99th percentile.",
    "        ?: the definition of the type is not known (so far); -: no such stamp",
    "TRAVEL  reception minus publishing, ms, in system time: median",
    "GAPS    no message for 1 s and 5 periods",
    "MISSED  published and not received here, by their numbers",
    "STAMPS  what is wrong; 'timebase audit' explains it. !: such a row",
};

#define HELP_COUNT ((int)(sizeof help / sizeof *help))

/* Shown where the screen is as wide. Those of text take what is left. */
static const struct column {
  const char *title;
  int width;
  int from; /* columns of the screen */
} columns_of_table[TOP_COLUMNS] = {
    [TOP_TOPIC] = {"TOPIC", 0, 0},
    [TOP_TYPE] = {"TYPE", 30, 160},
    [TOP_PUBLISHER] = {"PUBLISHER", 20, 120},
    [TOP_HZ] = {"HZ", 7, 0},
    [TOP_JITTER] = {"JITTER", 7, 60},
    [TOP_AGE] = {"AGE", 7, 0},
    [TOP_P99] = {"P99", 7, 40},
    [TOP_TRAVEL] = {"TRAVEL", 7, 72},
    [TOP_GAPS] = {"GAPS", 5, 78},
    [TOP_MISSED] = {"MISSED", 7, 66},
    [TOP_STAMPS] = {"STAMPS", 0, 95},
};

typedef struct canvas {
  const top_picture_t *picture;
  int rows, columns;
  int count;         /* rows of the table that the filter leaves */
  int topic_columns; /* of the name */
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

static void draw_title(const canvas_t *canvas)
{
  const top_picture_t *picture = canvas->picture;
  const top_table_t *table = picture->table;
  const top_control_t *control = picture->control;
  screen_line_t line = screen_line_begin(canvas->columns);
  screen_line_put(&line, "%s%" PRId64 ":%02d:%02d", control->is_paused ? "paused " : "",
                  picture->seconds / 3600, (int)(picture->seconds / 60 % 60),
                  (int)(picture->seconds % 60));
  screen_line_put(&line, "  domain %u", (unsigned)picture->domain);
  screen_line_put(&line, "  %zu topics", table->topics);
  if (table->silent) screen_line_put(&line, ", %zu silent", table->silent);
  if (table->left_out) screen_line_put(&line, ", %zu left out (--max-topics)", table->left_out);
  if (table->unattributed)
    screen_line_put(&line, ", %" PRIu64 " messages of publishers above the limit",
                    table->unattributed);
  if (table->is_cut) screen_line_put(&line, ", memory is short");
  if (control->filter[0] || control->wrong_only)
    screen_line_put(&line, "  %d rows%s%s%s", canvas->count, control->filter[0] ? " with " : "",
                    control->filter, control->wrong_only ? ", wrong ones" : "");
  show(canvas, 0, SCREEN_TITLE, line.text);
}

/* --- the table --- */

/* In 7 columns at the most. */
static void number_text(double value, char out[16])
{
  double size = value < 0 ? -value : value;
  snprintf(out, 16, size < 9999.95 ? "%.1f" : size < 999999.5 ? "%.0f" : "%.0e", value);
}

static void count_text(uint64_t value, int width, char out[16])
{
  static const char units[] = " kMGTPE";
  int unit = 0;
  char text[32];
  for (;; unit++, value /= 1000) {
    snprintf(text, sizeof text, unit ? "%" PRIu64 "%c" : "%" PRIu64, value, units[unit]);
    if ((int)strlen(text) <= width) break;
  }
  snprintf(out, 16, "%.15s", text);
}

static void cell_text(const top_row_t *row, top_column_t column, char out[16])
{
  bool has_message = row->messages > 0;
  bool is_age = column == TOP_AGE || column == TOP_P99;
  snprintf(out, 16, "%s", is_age && row->is_undefined ? "?" : "-");
  if (column == TOP_HZ && has_message) number_text(row->rate_hz, out);
  if (column == TOP_JITTER && has_message) number_text(row->jitter_ms, out);
  if (column == TOP_AGE && row->has_age) number_text(row->age_ms, out);
  if (column == TOP_P99 && row->has_age) number_text(row->age_p99_ms, out);
  if (column == TOP_TRAVEL && has_message) number_text(row->travel_ms, out);
  if (column == TOP_GAPS && has_message) count_text(row->gaps, 5, out);
  if (column == TOP_MISSED && has_message) count_text(row->missed, 6, out);
}

static bool is_shown(const canvas_t *canvas, int column)
{
  return canvas->columns >= columns_of_table[column].from;
}

/* Text on the left of as many columns, and a space. */
static void append(char *out, size_t size, const char *text, int columns, bool keeps_end)
{
  char fitted[SCREEN_TEXT_SIZE];
  size_t used = strlen(out);
  screen_fit(text, columns, keeps_end, fitted, sizeof fitted);
  int gap = columns - screen_columns(fitted) + 1;
  snprintf(out + used, size - used, "%s%*s", fitted, gap > 0 ? gap : 0, "");
}

static void append_right(char *out, size_t size, const char *text, int columns)
{
  size_t used = strlen(out);
  int gap = columns - screen_columns(text);
  snprintf(out + used, size - used, "%*s%s ", gap > 0 ? gap : 0, "", text);
}

static void draw_heading(const canvas_t *canvas, int at)
{
  const top_control_t *control = canvas->picture->control;
  char text[2 * SCREEN_TEXT_SIZE] = " ";
  for (int i = 0; i < TOP_COLUMNS; i++) {
    char title[32];
    const struct column *column = &columns_of_table[i];
    bool is_name = i <= TOP_PUBLISHER;
    const char *mark = control->sort != (top_column_t)i  ? ""
                       : is_name == control->is_reversed ? "↓"
                                                         : "↑";
    if (!is_shown(canvas, i)) continue;
    snprintf(title, sizeof title, "%s%s", column->title, mark);
    if (i == TOP_TOPIC)
      append(text, sizeof text, title, canvas->topic_columns, false);
    else if (is_name || i == TOP_STAMPS)
      append(text, sizeof text, title, i == TOP_STAMPS ? WORDS_COLUMNS : column->width, false);
    else
      append_right(text, sizeof text, title, column->width);
  }
  show(canvas, at, SCREEN_HEADING, text);
}

static void draw_row(const canvas_t *canvas, int at, const top_row_t *row, bool has_cursor)
{
  char text[4 * SCREEN_TEXT_SIZE], cell[16];
  snprintf(text, sizeof text, "%s", row->wrong ? "!" : " ");
  append(text, sizeof text, row->topic, canvas->topic_columns, true);
  if (is_shown(canvas, TOP_TYPE))
    append(text, sizeof text, row->type, columns_of_table[TOP_TYPE].width, true);
  if (is_shown(canvas, TOP_PUBLISHER))
    append(text, sizeof text, row->node[0] ? row->node : "?", columns_of_table[TOP_PUBLISHER].width,
           true);
  for (int i = TOP_HZ; i < TOP_STAMPS; i++) {
    if (!is_shown(canvas, i)) continue;
    cell_text(row, (top_column_t)i, cell);
    append_right(text, sizeof text, cell, columns_of_table[i].width);
  }
  size_t used = strlen(text);
  if (is_shown(canvas, TOP_STAMPS)) snprintf(text + used, sizeof text - used, "%s", row->words);
  show(canvas, at,
       has_cursor       ? SCREEN_CURSOR
       : row->wrong     ? SCREEN_LOUD
       : !row->messages ? SCREEN_QUIET
                        : SCREEN_PLAIN,
       text);
}

/* As wide as the longest name, if there is room for it. */
static int topic_columns(const canvas_t *canvas)
{
  const top_table_t *table = canvas->picture->table;
  int longest = TOPIC_COLUMNS, room = canvas->columns - 2;
  for (size_t i = 0; i < table->count; i++) {
    int columns = screen_columns(table->rows[i].topic);
    if (columns > longest) longest = columns;
  }
  for (int i = TOP_TYPE; i < TOP_COLUMNS; i++)
    if (is_shown(canvas, i))
      room -= (i == TOP_STAMPS ? WORDS_COLUMNS : columns_of_table[i].width) + 1;
  if (!is_shown(canvas, TOP_STAMPS)) return room > 1 ? room : 1;
  return longest < room ? longest : room;
}

/* The cursor stays at its row when that moves, unless a key has moved it. */
static void place_cursor(const canvas_t *canvas)
{
  top_control_t *control = canvas->picture->control;
  const top_row_t **shown = canvas->picture->shown;
  for (int i = 0; i < canvas->count && !control->has_moved; i++)
    if (strcmp(shown[i]->topic, control->row) == 0 &&
        memcmp(shown[i]->guid, control->guid, sizeof control->guid) == 0) {
      control->cursor = i;
      break;
    }
  if (control->cursor >= canvas->count) control->cursor = canvas->count - 1;
  if (control->cursor < 0) control->cursor = 0;
  if (canvas->count == 0) return;
  if (control->has_moved) {
    snprintf(control->row, sizeof control->row, "%s", shown[control->cursor]->topic);
    memcpy(control->guid, shown[control->cursor]->guid, sizeof control->guid);
  }
  control->has_moved = false;
}

/* Returns the first row that is on the screen. */
static int first_row(const canvas_t *canvas, int room)
{
  top_control_t *control = canvas->picture->control;
  int most = canvas->count > room ? canvas->count - room : 0;
  int first = control->scrolled;
  if (control->cursor < first) first = control->cursor;
  if (control->cursor >= first + room) first = control->cursor - room + 1;
  if (first > most) first = most;
  control->scrolled = first;
  return first;
}

static void draw_table(const canvas_t *canvas, int from, int room)
{
  const top_picture_t *picture = canvas->picture;
  if (room < 2) return;
  picture->control->page = room - 1;
  int first = first_row(canvas, room - 1);
  draw_heading(canvas, from);
  for (int i = 0; i < room - 1 && first + i < canvas->count; i++)
    draw_row(canvas, from + 1 + i, picture->shown[first + i],
             first + i == picture->control->cursor);
  if (canvas->count == 0)
    show(canvas, from + 1, SCREEN_QUIET,
         picture->table->topics ? "no row with this: ESC shows all" : "no topic so far");
}

static void draw_help(const canvas_t *canvas, int from, int room)
{
  top_control_t *control = canvas->picture->control;
  int most = HELP_COUNT > room ? HELP_COUNT - room : 0;
  if (control->scrolled > most) control->scrolled = most;
  if (control->scrolled < 0) control->scrolled = 0;
  control->page = room;
  for (int i = 0; i < room && control->scrolled + i < HELP_COUNT; i++)
    show(canvas, from + i, SCREEN_PLAIN, help[control->scrolled + i]);
}

/* --- the foot --- */

static void draw_hints(const canvas_t *canvas, int at)
{
  static const char *const hints[] = {"? help",   "q quit",      "s sort",  "r reverse",
                                      "/ filter", "SPACE pause", "w wrong", "z restart counts"};
  const top_control_t *control = canvas->picture->control;
  char text[128];
  if (control->is_typing) {
    snprintf(text, sizeof text, "/%s_  ENTER keeps it, ESC shows all", control->filter);
    show(canvas, at, SCREEN_LOUD, text);
    return;
  }
  screen_line_t line = screen_line_begin(canvas->columns);
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    screen_line_put(&line, "%s%s", i ? "  " : "", hints[i]);
  show(canvas, at, SCREEN_QUIET, line.text);
}

/* From below; returns how many rows. */
static int draw_log(const canvas_t *canvas, int last_row)
{
  char line[SCREEN_LOG_SIZE];
  if (!screen_log_line(canvas->picture->log, 0, 0, NULL, line, sizeof line)) return 0;
  char *harmless = text_harmless(line);
  show(canvas, last_row, SCREEN_LOUD, harmless ? harmless : "");
  free(harmless);
  return 1;
}

static void draw_finding(const canvas_t *canvas, int at, const top_finding_t *finding)
{
  char text[SCREEN_TEXT_SIZE], clock[16] = "";
  time_t seconds = (time_t)(finding->system_ns / TB_NS_PER_S);
  struct tm local;
  if (localtime_r(&seconds, &local)) strftime(clock, sizeof clock, "%H:%M:%S", &local);
  snprintf(text, sizeof text, "%s %s %s: %s", clock, finding->id, finding->subject, finding->text);
  show(canvas, at, finding->severity > TB__SEVERITY_WARN ? SCREEN_LOUD : SCREEN_PLAIN, text);
}

static int draw_findings(const canvas_t *canvas, int last_row, int most)
{
  const top_findings_t *findings = canvas->picture->findings;
  int count = findings->count < (size_t)most ? (int)findings->count : most;
  if (count == 0) return 0;
  for (int i = 0; i < count; i++)
    draw_finding(canvas, last_row - count + 1 + i, top_findings_get(findings, (size_t)i));
  show(canvas, last_row - count, SCREEN_HEADING, "latest findings");
  return count + 1;
}

/* What the row of the cursor has no columns for. */
static int draw_details(const canvas_t *canvas, int last_row)
{
  const top_picture_t *picture = canvas->picture;
  char text[SCREEN_TEXT_SIZE];
  if (canvas->count == 0 || picture->control->helps) return 0;
  const top_row_t *row = picture->shown[picture->control->cursor];
  snprintf(text, sizeof text, "%s%s%s: %s (%s)", row->topic, row->node[0] ? " of " : "", row->node,
           row->type, row->definition);
  show(canvas, last_row - 1, SCREEN_QUIET, text);
  if (row->messages)
    snprintf(text, sizeof text, "  %" PRIu64 " messages, longest gap %.1f ms%s%s", row->messages,
             row->longest_gap_ms, row->words[0] ? ", " : "", row->words);
  else
    snprintf(text, sizeof text, "  %s", row->words);
  show(canvas, last_row, SCREEN_QUIET, text);
  return 2;
}

/* Returns how many rows are left. */
static int draw_foot(const canvas_t *canvas)
{
  int end = canvas->rows - 1;
  draw_hints(canvas, end);
  if (canvas->rows < SMALL_ROWS) return end;
  end -= draw_log(canvas, end - 1);
  end -= draw_findings(canvas, end - 1, canvas->rows / 8);
  if (canvas->rows >= ROOMY_ROWS) end -= draw_details(canvas, end - 1);
  return end;
}

void top_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                      void *user)
{
  const top_picture_t *picture = of_picture;
  canvas_t canvas = {
      .picture = picture,
      .rows = rows,
      .columns = columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX,
      .count = (int)top_rows_select(picture->table, picture->control, picture->shown),
      .emit = emit,
      .user = user,
  };
  if (rows < 3 || columns < 3) return;
  canvas.topic_columns = topic_columns(&canvas);
  if (!picture->control->helps) place_cursor(&canvas);
  int end = draw_foot(&canvas), next = 1, paths = rows / 8 + 1;
  draw_title(&canvas);
  show(&canvas, next++, SCREEN_PLAIN, picture->table->clock ? picture->table->clock : "");
  for (size_t i = 0; i < picture->table->path_count && paths > 0; i++, paths--)
    show(&canvas, next++, SCREEN_PLAIN, picture->table->paths[i]);
  if (picture->control->helps)
    draw_help(&canvas, next, end - next);
  else
    draw_table(&canvas, next, end - next);
}

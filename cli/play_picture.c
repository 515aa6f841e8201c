#include "play_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/time.h>

#include "play_gap.h"
#include "play_time.h"
#include "text.h"

#define PATH_COLUMNS    20 /* of the path, at least, in the title */
#define NAME_COLUMNS    40 /* for short names, so that the columns do not move */
#define FULL_COLUMNS    76 /* with all numbers */
#define WIDE_COLUMNS    60
#define NUMBERS_COLUMNS 39 /* what all of them take */
#define LINE_COLUMNS    20 /* of a time line, at least */
#define NOTICE_NS                                                                                  \
  (20 * TB_NS_PER_S) /* that a line of the log is shown; all are printed at the end */
#define HEAD_ROWS  4
#define ROOMY_ROWS 16
#define SMALL_ROWS 8

static const char *const help[] = {
    "SPACE         pause, resume",
    "q             quit",
    ". ,           while paused: the next message, back by one message",
    "LEFT RIGHT    5 s back, forward; with Shift 1 s, with Alt 60 s",
    "0 ... 9       0: to the start; 1 to 9: to that tenth",
    ":             to a time: 12.5s or 1m3s from the start, +5s or -5s from here,",
    "              2023-11-14T22:13:20Z, or seconds since 1970",
    "u             undo the last seek; again: redo it",
    "m             set a mark here, or remove it",
    "' \"           to the previous, the next mark",
    "l             A: repeat from here; again, B: to here; again: stop",
    "[ ] DOWN UP   10 % slower, faster",
    "{ }           half, double the rate",
    "BACKSPACE     rate 1",
    "mouse         on the timeline: to there (with Shift the terminal selects text)",
    "PGUP PGDN     scroll",
    "j k           choose a topic",
    "x X           mute the topic, or no longer; X: no topic is muted",
    "s             sort topics: as recorded, by name, by Hz, by bytes per second",
    "/             show only topics with this in their names",
    "?             show or hide this help",
};

#define HELP_COUNT ((int)(sizeof help / sizeof *help))

typedef struct canvas {
  const play_picture_t *picture;
  int rows, columns;
  int name_columns; /* of the longest topic */
  screen_emit_t *emit;
  void *user;
} canvas_t;

/* --- rows --- */

static void show_row(const canvas_t *canvas, int row, screen_style_t style, const char *text)
{
  if (row >= 0 && row < canvas->rows) canvas->emit(canvas->user, row, style, text);
}

static void show_fitted(const canvas_t *canvas, int row, screen_style_t style, const char *text)
{
  char fitted[SCREEN_TEXT_SIZE];
  screen_fit(text, canvas->columns, false, fitted, sizeof fitted);
  show_row(canvas, row, style, fitted);
}

/* --- the head --- */

const char *play_state_text(const tb_player_status_t *status, const char *clock_note)
{
  return status->paused    ? "paused (SPACE resumes)"
         : status->halted  ? "stopped (the service play starts)"
         : clock_note      ? clock_note
         : status->starved ? "waiting for the recording to be read"
                           : "";
}

const char *play_rate_text(double rate, char *text, size_t size)
{
  if (rate == TB_PLAYER_FASTEST) return "max";
  snprintf(text, size, rate < 100 ? "%.3g" : "%.0f", rate);
  return text;
}

static double in_bag(const play_picture_t *picture, int64_t time_ns)
{
  play_span_t span = {.bag_start_ns = picture->bag_start_ns};
  return play_time_in_bag(&span, time_ns);
}

static double part_of(const play_picture_t *picture, int64_t time_ns)
{
  double whole = in_bag(picture, picture->status.end_ns), part = in_bag(picture, time_ns);
  return whole <= 0 ? 0 : part > whole ? 1 : part / whole;
}

static const char *playing_text(const play_picture_t *picture, char *out, size_t size)
{
  char gap[PLAY_GAP_TEXT_SIZE];
  play_gap_text(&picture->status, gap);
  snprintf(out, size, "playing%s%s", *gap ? ", " : "", gap);
  return out;
}

/* A long state leaves room for the end of the path, where there is any. */
static void draw_title(const canvas_t *canvas)
{
  const play_picture_t *picture = canvas->picture;
  const char *state = play_state_text(&picture->status, picture->clock_note);
  char playing[PLAY_GAP_TEXT_SIZE + 16];
  if (picture->status.halted && picture->holds) state = PLAY_AT_END;
  if (!*state) state = playing_text(picture, playing, sizeof playing);
  char path[SCREEN_TEXT_SIZE], text[2 * SCREEN_TEXT_SIZE], fitted[SCREEN_TEXT_SIZE];
  int path_columns = screen_columns(picture->path);
  int beside = path_columns < PATH_COLUMNS ? path_columns : PATH_COLUMNS;
  if (canvas->columns > 2 * PATH_COLUMNS)
    screen_fit(state, canvas->columns - beside - 2, false, fitted, sizeof fitted), state = fitted;
  int room = canvas->columns - screen_columns(state) - 2;
  screen_fit(picture->path, room, true, path, sizeof path);
  int gap = room - screen_columns(path) + 2;
  snprintf(text, sizeof text, "%s%*s%s", path, gap > 0 ? gap : 0, "", state);
  screen_fit(text, canvas->columns, false, path, sizeof path);
  show_row(canvas, 0, SCREEN_TITLE, path);
}

/* To the hundredth, always with both digits. */
static void put_date(screen_line_t *line, int64_t time_ns)
{
  char text[TB_TIME_TEXT_SIZE];
  int64_t rest_ns = time_ns % TB_NS_PER_S;
  tb_time_t time = {time_ns - rest_ns, TB_TIME_ROS};
  if (tb_time_format(time, text, sizeof text) == TB_OK)
    screen_line_put(line, "   %.*s.%02dZ", (int)strcspn(text, "Z"), text,
                    (int)(rest_ns / (10 * TB_NS_PER_MS)));
}

static void draw_times(const canvas_t *canvas, int row)
{
  const play_picture_t *picture = canvas->picture;
  const tb_player_status_t *status = &picture->status;
  int64_t wall_s = (picture->now_ns - picture->since_ns) / TB_NS_PER_S;
  screen_line_t line = screen_line_begin(canvas->columns);
  screen_line_put(&line, "%.2f s of %.2f s", in_bag(picture, status->position_ns),
                  in_bag(picture, status->end_ns));
  screen_line_put(&line, "  %3.0f %%", 100 * part_of(picture, status->position_ns));
  screen_line_put(&line, "   wall %" PRId64 ":%02d:%02d", wall_s / 3600, (int)(wall_s / 60 % 60),
                  (int)(wall_s % 60));
  put_date(&line, status->position_ns);
  show_row(canvas, row, SCREEN_PLAIN, line.text);
}

static void set_column(const play_picture_t *picture, char *out, int width, int64_t time_ns,
                       char mark)
{
  if (time_ns > 0) out[(int)(part_of(picture, time_ns) * (width - 1) + 0.5)] = mark;
}

void play_timeline(const play_picture_t *picture, char *out, int width)
{
  const tb_player_status_t *status = &picture->status;
  const play_control_t *control = picture->control;
  int head = (int)(part_of(picture, status->position_ns) * (width - 1) + 0.5);
  for (int i = 0; i < width; i++)
    out[i] = i < head ? '=' : '-';
  out[width] = '\0';
  for (size_t i = 0; i < control->mark_count; i++)
    set_column(picture, out, width, control->marks[i], 'm');
  set_column(picture, out, width, control->repeat_from_ns, 'A');
  set_column(picture, out, width, status->repeat_from_ns, 'A');
  set_column(picture, out, width, status->repeat_to_ns, 'B');
  out[head] = '|';
}

#define TIMELINE_ROW 2

double play_picture_part_at(int row, int column, int columns)
{
  int width = columns - 2; /* between the brackets */
  if (row != TIMELINE_ROW + 1 || width < 2 || column < 2 || column > width + 1) return -1;
  return (double)(column - 2) / (width - 1);
}

static void draw_timeline(const canvas_t *canvas, int row)
{
  char bar[SCREEN_COLUMNS_MAX + 1], text[SCREEN_COLUMNS_MAX + 3];
  play_timeline(canvas->picture, bar, canvas->columns - 2);
  snprintf(text, sizeof text, "[%s]", bar);
  show_row(canvas, row, SCREEN_PLAIN, text);
}

static void put_repeat(screen_line_t *line, const play_picture_t *picture)
{
  const tb_player_status_t *status = &picture->status;
  if (picture->control->repeat_from_ns > 0)
    screen_line_put(line, "   A %.2f s", in_bag(picture, picture->control->repeat_from_ns));
  if (status->repeat_to_ns > 0)
    screen_line_put(line, "   A-B %.2f-%.2f s (%" PRIu64 ")",
                    in_bag(picture, status->repeat_from_ns), in_bag(picture, status->repeat_to_ns),
                    status->repeats);
}

static void draw_rates(const canvas_t *canvas, int row)
{
  const play_picture_t *picture = canvas->picture;
  const tb_player_status_t *status = &picture->status;
  double achieved = play_rates_achieved(picture->rates);
  char rate[32];
  screen_line_t line = screen_line_begin(canvas->columns);
  screen_line_put(&line, "rate %s", play_rate_text(status->rate, rate, sizeof rate));
  if (!isnan(achieved))
    screen_line_put(&line, ", achieved %.*f", achieved < 9.995 ? 2 : 0, achieved);
  put_repeat(&line, picture);
  screen_line_put(&line, "   %" PRIu64 " message%s", status->messages,
                  status->messages == 1 ? "" : "s");
  if (status->ticks > 0) screen_line_put(&line, "   %" PRIu64 " ticks", status->ticks);
  if (status->loops > 0) screen_line_put(&line, "   loop %" PRIu64, status->loops + 1);
  if (status->bad_rows > 0) screen_line_put(&line, "   %" PRIu64 " unreadable", status->bad_rows);
  if (status->late > 0) screen_line_put(&line, "   %" PRIu64 " late", status->late);
  show_row(canvas, row, SCREEN_PLAIN, line.text);
}

/* --- topics, or the help --- */

/* How much of `count` lines is scrolled away, where `room` of them are shown. */
static int scrolled(const canvas_t *canvas, int count, int room)
{
  play_control_t *control = canvas->picture->control;
  int most = count > room ? count - room : 0;
  if (control->scrolled > most) control->scrolled = most;
  return control->scrolled;
}

/* The last row shows that there is more. */
static void draw_help(const canvas_t *canvas, int first, int room)
{
  int skipped = scrolled(canvas, HELP_COUNT, room - (HELP_COUNT > room));
  if (HELP_COUNT > room) {
    room--;
    show_fitted(canvas, first + room, SCREEN_QUIET,
                skipped + room < HELP_COUNT ? "... (PGDN: more)" : "... (PGUP)");
  }
  for (int i = 0; i < room && skipped + i < HELP_COUNT; i++)
    show_fitted(canvas, first + i, SCREEN_PLAIN, help[skipped + i]);
}

/* What a row of the table has beside the name. */
typedef struct cells {
  const char *name, *sent, *recorded, *hz, *bytes, *subscriptions;
} cells_t;

static void put_numbers(const canvas_t *canvas, const cells_t *cells, char *out, size_t size)
{
  if (canvas->columns >= FULL_COLUMNS)
    snprintf(out, size, "%9s %9s %7s %6s %4s", cells->sent, cells->recorded, cells->hz,
             cells->bytes, cells->subscriptions);
  else if (canvas->columns >= WIDE_COLUMNS)
    snprintf(out, size, "%10s %10s %10s", cells->sent, cells->recorded, cells->hz);
  else
    snprintf(out, size, "%8s %8s", cells->sent, cells->hz);
}

/* The name is as wide as numbers leave room; `line` comes after them. */
static void draw_cells(const canvas_t *canvas, int row, screen_style_t style, const cells_t *cells,
                       const char *line)
{
  char fitted[SCREEN_TEXT_SIZE], numbers[96], text[3 * SCREEN_TEXT_SIZE];
  put_numbers(canvas, cells, numbers, sizeof numbers);
  int room = canvas->columns - (int)strlen(numbers) - 1;
  if (room > canvas->name_columns) room = canvas->name_columns;
  if (style == SCREEN_HEADING)
    screen_fit(cells->name, room, false, fitted, sizeof fitted);
  else
    screen_fit_middle(cells->name, room, fitted, sizeof fitted);
  int gap = room + 1 - screen_columns(fitted);
  snprintf(text, sizeof text, "%s%*s%s%s%s", fitted, gap > 0 ? gap : 0, "", numbers,
           *line ? "  " : "", line);
  show_fitted(canvas, row, style, text);
}

/* Where the time lines are: after the numbers, below them, or nowhere. */
typedef struct lines {
  int rows; /* of each topic */
  int columns;
  bool is_below;
} lines_t;

static lines_t lay_out(const canvas_t *canvas, int count, int room)
{
  int after = canvas->columns - canvas->name_columns - NUMBERS_COLUMNS - 3;
  if (!canvas->picture->density) return (lines_t){.rows = 1};
  if (2 * count <= room && after < canvas->columns / 2)
    return (lines_t){2, canvas->columns - 2, true};
  if (canvas->columns >= FULL_COLUMNS && after >= LINE_COLUMNS)
    return (lines_t){.rows = 1, .columns = after};
  return (lines_t){.rows = 1};
}

static void put_line(const canvas_t *canvas, const play_topic_t *topic, int columns, char *out,
                     size_t size)
{
  const play_picture_t *picture = canvas->picture;
  uint32_t bins[PLAY_DENSITY_BINS];
  out[0] = '\0';
  if (columns < 1) return;
  size_t known = play_density_take(picture->density, topic->topic, bins);
  if (columns > PLAY_DENSITY_BINS) columns = PLAY_DENSITY_BINS;
  int head = (int)(part_of(picture, picture->status.position_ns) * (columns - 1) + 0.5);
  play_density_text(bins, PLAY_DENSITY_BINS, known, columns, head, out, size);
}

static void draw_topic(const canvas_t *canvas, int row, const lines_t *lines, int index)
{
  const play_topic_t *topic = &canvas->picture->topics[canvas->picture->order[index]];
  bool is_chosen = index == canvas->picture->control->cursor;
  char sent[24], recorded[24], hz[24] = "-", bytes[24], subscriptions[16] = "-";
  char line[SCREEN_TEXT_SIZE], indented[SCREEN_TEXT_SIZE + 2];
  snprintf(sent, sizeof sent, "%" PRIu64, topic->sent);
  snprintf(recorded, sizeof recorded, "%" PRIu64, topic->recorded);
  if (!isnan(topic->hz)) snprintf(hz, sizeof hz, "%.*f", topic->hz < 99.95 ? 1 : 0, topic->hz);
  play_table_bytes(topic->bytes_per_s, bytes, sizeof bytes);
  if (topic->subscriptions >= 0)
    snprintf(subscriptions, sizeof subscriptions, "%d", topic->subscriptions);
  cells_t cells = {topic->name, sent,         recorded, topic->is_muted ? "muted" : hz,
                   bytes,       subscriptions};
  put_line(canvas, topic, lines->columns, line, sizeof line);
  draw_cells(canvas, row,
             is_chosen         ? SCREEN_CURSOR
             : topic->is_muted ? SCREEN_MUTED
                               : SCREEN_PLAIN,
             &cells, lines->is_below ? "" : line);
  if (!lines->is_below) return;
  snprintf(indented, sizeof indented, " %s", line);
  show_fitted(canvas, row + 1, topic->is_muted ? SCREEN_MUTED : SCREEN_GAUGE, indented);
}

/* Of all, so that the columns stay where they are while topics are filtered. */
static int name_columns_of(const play_picture_t *picture, int columns)
{
  int longest = NAME_COLUMNS;
  for (size_t i = 0; i < picture->topic_count; i++) {
    int name = screen_columns(picture->topics[i].name);
    if (name > longest) longest = name;
  }
  int most = columns - NUMBERS_COLUMNS - LINE_COLUMNS - 3;
  if (picture->density && longest > most && most >= NAME_COLUMNS) return most;
  return longest;
}

/* The cursor stays on a row, and that on the screen. */
static void correct_cursor(const canvas_t *canvas, int count, int visible)
{
  play_control_t *control = canvas->picture->control;
  if (control->cursor >= count) control->cursor = count - 1;
  if (control->cursor < 0 || control->cursor == control->cursor_seen) return;
  control->cursor_seen = control->cursor;
  if (control->scrolled > control->cursor) control->scrolled = control->cursor;
  if (control->scrolled < control->cursor - visible + 1)
    control->scrolled = control->cursor - visible + 1;
}

static void put_heading(const canvas_t *canvas, int skipped, int last, int count, char *out,
                        size_t size)
{
  const play_control_t *control = canvas->picture->control;
  size_t used = (size_t)snprintf(out, size, "topic");
  if (skipped > 0 || last < count)
    used += (size_t)snprintf(out + used, size - used, " %d-%d of %d %s%s", skipped + 1, last, count,
                             skipped > 0 ? "↑" : "", last < count ? "↓" : "");
  if (*control->filter) used += (size_t)snprintf(out + used, size - used, " /%s", control->filter);
  snprintf(out + used, size - used, "%s", play_sort_text(control->sort));
}

static void draw_topics(const canvas_t *canvas, int first, int room)
{
  const play_picture_t *picture = canvas->picture;
  int count = (int)picture->shown_count;
  char heading[SCREEN_TEXT_SIZE];
  lines_t lines = lay_out(canvas, count, room - 1);
  int visible = (room - 1) / lines.rows;
  correct_cursor(canvas, count, visible);
  int skipped = scrolled(canvas, count, visible);
  int last = skipped + visible < count ? skipped + visible : count;
  put_heading(canvas, skipped, last, count, heading, sizeof heading);
  cells_t cells = {heading, "sent", "recorded", "Hz", "B/s", "subs"};
  draw_cells(canvas, first, SCREEN_HEADING, &cells, "");
  for (int i = skipped; i < last; i++)
    draw_topic(canvas, first + 1 + (i - skipped) * lines.rows, &lines, i);
}

/* --- the foot --- */

static bool draw_prompt(const canvas_t *canvas, int row)
{
  const play_control_t *control = canvas->picture->control;
  const char *note = play_control_noted(control, canvas->picture->now_ns);
  char text[256];
  if (control->typing)
    snprintf(text, sizeof text, "%c%s_  %s", control->filtering ? '/' : ':', control->typed, note);
  else
    snprintf(text, sizeof text, "%s", note);
  if (*text) show_fitted(canvas, row, SCREEN_LOUD, text);
  return *text;
}

static void draw_hints(const canvas_t *canvas, int row)
{
  static const char *const hints[] = {
      "? help", "q quit", "SPACE pause", ". , step", "arrows seek", ": time", "[ ] rate",
      "l A-B",  "m mark", "u undo",      "s sort",   "/ filter",    "x mute"};
  if (canvas->picture->control->typing) {
    show_fitted(canvas, row, SCREEN_QUIET,
                canvas->picture->control->filtering ? "ENTER keeps the filter, ESC removes it"
                                                    : PLAY_TIME_FORMS);
    return;
  }
  screen_line_t line = screen_line_begin(canvas->columns);
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    screen_line_put(&line, "%s%s", i ? "  " : "", hints[i]);
  show_row(canvas, row, SCREEN_QUIET, line.text);
}

/* From below; returns how many rows. */
static int draw_log(const canvas_t *canvas, int last_row, int most)
{
  char line[SCREEN_LOG_SIZE];
  const char *hidden =
      canvas->picture->status.waits_for[0] ? NULL : "warning: " TB_PLAYER_WAITS_FOR_LOG;
  int64_t since_ns = canvas->picture->now_ns - NOTICE_NS;
  int count = 0;
  for (; count < most; count++) {
    if (!screen_log_line(canvas->picture->log, (size_t)count, since_ns, hidden, line, sizeof line))
      break;
    char *harmless = text_harmless(line);
    show_fitted(canvas, last_row - count, SCREEN_LOUD, harmless ? harmless : "");
    free(harmless);
  }
  return count;
}

/* Returns how many rows are left. */
static int draw_foot(const canvas_t *canvas)
{
  int rows = canvas->rows;
  if (rows <= HEAD_ROWS) return rows;
  if (rows < SMALL_ROWS) {
    if (!draw_prompt(canvas, rows - 1) && !draw_log(canvas, rows - 1, 1))
      draw_hints(canvas, rows - 1);
    return rows - 1;
  }
  draw_hints(canvas, rows - 1);
  draw_prompt(canvas, rows - 2);
  return rows - 2 - draw_log(canvas, rows - 3, rows < ROOMY_ROWS ? 1 : 3);
}

void play_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                       void *user)
{
  const play_picture_t *picture = of_picture;
  canvas_t canvas = {
      .picture = picture,
      .rows = rows,
      .columns = columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX,
      .name_columns = name_columns_of(picture, columns),
      .emit = emit,
      .user = user,
  };
  if (rows < 1 || columns < 3) return;
  int next = 0, end = draw_foot(&canvas);
  draw_title(&canvas);
  draw_times(&canvas, ++next);
  draw_timeline(&canvas, ++next);
  draw_rates(&canvas, ++next);
  next += rows < ROOMY_ROWS ? 1 : 2;
  if (end - next < 2) return;
  if (picture->control->helps)
    draw_help(&canvas, next, end - next);
  else
    draw_topics(&canvas, next, end - next);
}

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

#define PATH_COLUMNS 20 /* of the path, at least, in the title */
#define NAME_COLUMNS 40 /* for short names, so that the columns do not move */
#define HEAD_ROWS    4
#define ROOMY_ROWS   16
#define SMALL_ROWS   8

static const char *const help[] = {
    "SPACE         pause, resume",
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
    "PGUP PGDN     scroll",
    "?             show or hide this help",
    "q             quit",
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
  snprintf(text, size, "%.4g", rate);
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

static void draw_help(const canvas_t *canvas, int first, int room)
{
  int skipped = scrolled(canvas, HELP_COUNT, room);
  for (int i = 0; i < room && skipped + i < HELP_COUNT; i++)
    show_fitted(canvas, first + i, SCREEN_PLAIN, help[skipped + i]);
}

/* A row of the table: the name, as wide as numbers leave room. */
static void draw_cells(const canvas_t *canvas, int row, screen_style_t style, const char *name,
                       const char *sent, const char *recorded, const char *rate)
{
  char fitted[SCREEN_TEXT_SIZE], numbers[64], text[2 * SCREEN_TEXT_SIZE];
  bool wide = canvas->columns >= 60;
  if (wide)
    snprintf(numbers, sizeof numbers, "%10s %10s %10s", sent, recorded, rate);
  else
    snprintf(numbers, sizeof numbers, "%8s %8s", sent, rate);
  int room = canvas->columns - (int)strlen(numbers) - 1;
  if (room > canvas->name_columns) room = canvas->name_columns;
  screen_fit(name, room, style == SCREEN_PLAIN, fitted, sizeof fitted);
  int gap = room + 1 - screen_columns(fitted);
  snprintf(text, sizeof text, "%s%*s%s", fitted, gap > 0 ? gap : 0, "", numbers);
  show_fitted(canvas, row, style, text);
}

static void draw_topic(const canvas_t *canvas, int row, const play_topic_t *topic)
{
  char sent[24], recorded[24], rate[24] = "-";
  double per_second = play_rates_topic(canvas->picture->rates, topic->topic);
  snprintf(sent, sizeof sent, "%" PRIu64, topic->sent);
  snprintf(recorded, sizeof recorded, "%" PRIu64, topic->recorded);
  if (!isnan(per_second))
    snprintf(rate, sizeof rate, "%.*f", per_second < 99.95 ? 1 : 0, per_second);
  draw_cells(canvas, row, SCREEN_PLAIN, topic->name, sent, recorded, rate);
}

static int longest_name(const play_picture_t *picture)
{
  int longest = NAME_COLUMNS;
  for (size_t i = 0; i < picture->topic_count; i++) {
    int columns = screen_columns(picture->topics[i].name);
    if (columns > longest) longest = columns;
  }
  return longest;
}

static void draw_topics(const canvas_t *canvas, int first, int room)
{
  const play_picture_t *picture = canvas->picture;
  int count = (int)picture->topic_count;
  int skipped = scrolled(canvas, count, room - 1);
  char heading[80];
  int last = skipped + room - 1 < count ? skipped + room - 1 : count;
  if (count > room - 1)
    snprintf(heading, sizeof heading, "topic %d-%d of %d (PGUP PGDN)", skipped + 1, last, count);
  else
    snprintf(heading, sizeof heading, "topic");
  draw_cells(canvas, first, SCREEN_HEADING, heading, "sent", "recorded", "Hz");
  for (int i = skipped; i < last; i++)
    draw_topic(canvas, first + 1 + i - skipped, &picture->topics[i]);
}

/* --- the foot --- */

static bool draw_prompt(const canvas_t *canvas, int row)
{
  const play_control_t *control = canvas->picture->control;
  const char *note = play_control_noted(control, canvas->picture->now_ns);
  char text[256];
  if (control->typing)
    snprintf(text, sizeof text, ":%s_  %s", control->typed, note);
  else
    snprintf(text, sizeof text, "%s", note);
  if (*text) show_fitted(canvas, row, SCREEN_LOUD, text);
  return *text;
}

static void draw_hints(const canvas_t *canvas, int row)
{
  static const char *const hints[] = {"? help",      "q quit", "SPACE pause", ". , step",
                                      "arrows seek", ": time", "[ ] rate",    "l A-B",
                                      "m mark",      "u undo"};
  if (canvas->picture->control->typing) {
    show_fitted(canvas, row, SCREEN_QUIET, PLAY_TIME_FORMS);
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
  int count = 0;
  for (; count < most; count++) {
    if (!screen_log_line(canvas->picture->log, (size_t)count, hidden, line, sizeof line)) break;
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
      .name_columns = longest_name(picture),
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

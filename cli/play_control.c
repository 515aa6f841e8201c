#include "play_control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "play_time.h"

#define CTRL_U    21 /* deletes what is typed, as in a shell */
#define NOTE_NS   (5 * TB_NS_PER_S)
#define ARROWS_NS TB_NS_PER_S /* arrows that follow each other so soon are one seek to undo */
#define MARK_REACH_NS                                                                              \
  TB_NS_PER_S /* while time runs, the mark just passed is not the one before                       \
               */
#define SCROLL_LINES 5

void play_control_init(play_control_t *control, int64_t bag_start_ns)
{
  *control = (play_control_t){.bag_start_ns = bag_start_ns, .cursor = -1, .cursor_seen = -1};
}

void play_control_note(play_control_t *control, int64_t now_ns, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(control->note, sizeof control->note, format, args);
  va_end(args);
  control->note_end_ns = now_ns + NOTE_NS;
}

const char *play_control_noted(const play_control_t *control, int64_t now_ns)
{
  return now_ns < control->note_end_ns ? control->note : "";
}

static play_span_t span_of(const play_control_t *control, const tb_player_status_t *status)
{
  return (play_span_t){control->bag_start_ns, status->recording_start_ns, status->end_ns,
                       status->position_ns};
}

static double in_bag(const play_control_t *control, int64_t time_ns)
{
  play_span_t span = {.bag_start_ns = control->bag_start_ns};
  return play_time_in_bag(&span, time_ns);
}

static int64_t clamped(const tb_player_status_t *status, int64_t time_ns)
{
  if (time_ns < status->recording_start_ns) return status->recording_start_ns;
  return time_ns > status->end_ns ? status->end_ns : time_ns;
}

/* `time_ns` moved by `by_ns`, within what there is to play. */
static int64_t moved(const tb_player_status_t *status, int64_t time_ns, int64_t by_ns)
{
  int64_t sum_ns;
  if (__builtin_add_overflow(time_ns, by_ns, &sum_ns)) sum_ns = by_ns < 0 ? INT64_MIN : INT64_MAX;
  return clamped(status, sum_ns);
}

/* --- seeks --- */

static play_order_t seek(play_control_t *control, const tb_player_status_t *status, int64_t time_ns)
{
  control->undo_ns = status->position_ns;
  return (play_order_t){.kind = PLAY_SEEK, .time_ns = time_ns};
}

static play_order_t seek_by(play_control_t *control, const tb_player_status_t *status,
                            int64_t seconds, int64_t now_ns)
{
  bool follows = control->arrow_ns > 0 && now_ns - control->arrow_ns < ARROWS_NS;
  int64_t undo_ns = control->undo_ns;
  int64_t time_ns = moved(status, status->position_ns, seconds * TB_NS_PER_S);
  play_order_t order = seek(control, status, time_ns);
  if (follows) control->undo_ns = undo_ns;
  control->arrow_ns = now_ns;
  return order;
}

static int64_t seconds_of(int key)
{
  return key & KEY_ALT ? 60 : key & KEY_SHIFT ? 1 : 5;
}

static play_order_t seek_to_tenth(play_control_t *control, const tb_player_status_t *status,
                                  int tenth)
{
  int64_t length_ns = status->end_ns - status->start_ns;
  return seek(control, status, status->start_ns + length_ns / 10 * tenth);
}

static play_order_t undo(play_control_t *control, const tb_player_status_t *status, int64_t now_ns)
{
  if (control->undo_ns > 0) return seek(control, status, clamped(status, control->undo_ns));
  play_control_note(control, now_ns, "no seek to undo");
  return (play_order_t){.kind = PLAY_NOTHING};
}

/* --- marks --- */

static void toggle_mark(play_control_t *control, int64_t time_ns, int64_t now_ns)
{
  int64_t *marks = control->marks;
  size_t i = 0;
  while (i < control->mark_count && marks[i] < time_ns)
    i++;
  size_t after = control->mark_count - i;
  if (after > 0 && marks[i] == time_ns) {
    memmove(marks + i, marks + i + 1, (after - 1) * sizeof *marks);
    control->mark_count--;
    play_control_note(control, now_ns, "mark at %.2f s removed", in_bag(control, time_ns));
  } else if (control->mark_count == PLAY_MARKS_MAX) {
    play_control_note(control, now_ns, "%d marks already: m on a mark removes it", PLAY_MARKS_MAX);
  } else {
    memmove(marks + i + 1, marks + i, after * sizeof *marks);
    marks[i] = time_ns;
    control->mark_count++;
    play_control_note(control, now_ns, "mark %zu at %.2f s; ' and \" go to marks", i + 1,
                      in_bag(control, time_ns));
  }
}

static play_order_t seek_mark_before(play_control_t *control, const tb_player_status_t *status,
                                     int64_t now_ns)
{
  int64_t before_ns = status->position_ns - (status->paused ? 0 : MARK_REACH_NS);
  size_t i = control->mark_count;
  while (i > 0 && control->marks[i - 1] >= before_ns)
    i--;
  if (i > 0) return seek(control, status, clamped(status, control->marks[i - 1]));
  play_control_note(control, now_ns, "no earlier mark (m sets one)");
  return (play_order_t){.kind = PLAY_NOTHING};
}

static play_order_t seek_mark_behind(play_control_t *control, const tb_player_status_t *status,
                                     int64_t now_ns)
{
  for (size_t i = 0; i < control->mark_count; i++)
    if (control->marks[i] > status->position_ns)
      return seek(control, status, clamped(status, control->marks[i]));
  play_control_note(control, now_ns, "no later mark (m sets one)");
  return (play_order_t){.kind = PLAY_NOTHING};
}

/* --- repeating --- */

static play_order_t set_b(play_control_t *control, int64_t time_ns, int64_t now_ns)
{
  int64_t from_ns = control->repeat_from_ns, to_ns = time_ns;
  if (from_ns == to_ns) {
    play_control_note(control, now_ns, "B must differ from A");
    return (play_order_t){.kind = PLAY_NOTHING};
  }
  if (from_ns > to_ns) {
    from_ns = time_ns;
    to_ns = control->repeat_from_ns;
  }
  control->repeat_from_ns = 0;
  play_control_note(control, now_ns, "repeating %.2f s to %.2f s (l stops)",
                    in_bag(control, from_ns), in_bag(control, to_ns));
  return (play_order_t){.kind = PLAY_REPEAT, .time_ns = from_ns, .to_ns = to_ns};
}

static play_order_t set_a_or_b(play_control_t *control, const tb_player_status_t *status,
                               int64_t now_ns)
{
  int64_t time_ns = clamped(status, status->position_ns);
  if (status->repeat_to_ns > 0) {
    play_control_note(control, now_ns, "repeat off");
    return (play_order_t){.kind = PLAY_END_REPEAT};
  }
  if (control->repeat_from_ns > 0) return set_b(control, time_ns, now_ns);
  control->repeat_from_ns = time_ns;
  play_control_note(control, now_ns, "A at %.2f s (l sets B)", in_bag(control, time_ns));
  return (play_order_t){.kind = PLAY_NOTHING};
}

/* --- a typed time --- */

static void type(play_control_t *control, int key)
{
  size_t length = strlen(control->typed);
  if (key == KEY_BACKSPACE && length > 0)
    control->typed[length - 1] = '\0';
  else if (key == KEY_BACKSPACE)
    control->typing = false;
  else if (key == CTRL_U)
    control->typed[0] = '\0';
  else if (key > ' ' && key < KEY_BACKSPACE && length + 1 < sizeof control->typed)
    memcpy(control->typed + length, (char[]){(char)key, '\0'}, 2);
  control->note_end_ns = 0;
}

static play_order_t end_typing(play_control_t *control, const tb_player_status_t *status,
                               int64_t now_ns)
{
  char reason[PLAY_NOTE_SIZE];
  int64_t time_ns = 0;
  play_span_t span = span_of(control, status);
  if (play_time_parse(control->typed, &span, &time_ns, reason, sizeof reason)) {
    control->typing = false;
    return seek(control, status, time_ns);
  }
  play_control_note(control, now_ns, "%s", reason);
  return (play_order_t){.kind = PLAY_NOTHING};
}

static play_order_t take_typed(play_control_t *control, int key, const tb_player_status_t *status,
                               int64_t now_ns)
{
  bool ends = key == '\r' || key == '\n';
  if (ends && !control->filtering) return end_typing(control, status, now_ns);
  if (key == KEY_ESCAPE) control->typed[0] = '\0';
  if (key == KEY_ESCAPE || ends)
    control->typing = false;
  else
    type(control, key);
  if (control->filtering) memcpy(control->filter, control->typed, sizeof control->filter);
  return (play_order_t){.kind = PLAY_NOTHING};
}

/* --- all keys --- */

/* Keys that change what is shown. False: it is none of them. */
static bool take_view_key(play_control_t *control, int key)
{
  switch (key) {
  case ':':
  case '/':
    control->typing = true;
    control->filtering = key == '/';
    if (control->filtering)
      memcpy(control->typed, control->filter, sizeof control->typed);
    else
      control->typed[0] = '\0';
    control->note_end_ns = 0;
    return true;
  case '?':
    control->helps = !control->helps;
    control->scrolled = 0;
    return true;
  case KEY_ESCAPE:
    control->helps = false;
    return true;
  case KEY_PAGE_DOWN:
    control->scrolled += SCROLL_LINES;
    return true;
  case KEY_PAGE_UP:
    control->scrolled -= control->scrolled < SCROLL_LINES ? control->scrolled : SCROLL_LINES;
    return true;
  default:
    return false;
  }
}

/* Of the table of topics. False: it is none of them. */
static bool take_table_key(play_control_t *control, int key, int64_t now_ns)
{
  switch (key) {
  case 's':
    control->sort = (control->sort + 1) % PLAY_SORTS;
    play_control_note(control, now_ns, "topics %s",
                      control->sort ? play_sort_text(control->sort) + 2 : "as recorded");
    return true;
  case 'j':
    control->cursor++;
    return true;
  case 'k':
    control->cursor -= control->cursor > 0;
    return true;
  default:
    return false;
  }
}

static play_order_t take_place_key(play_control_t *control, int key,
                                   const tb_player_status_t *status, int64_t now_ns)
{
  switch (key & ~(KEY_SHIFT | KEY_ALT)) {
  case KEY_RIGHT:
    return seek_by(control, status, seconds_of(key), now_ns);
  case KEY_LEFT:
    return seek_by(control, status, -seconds_of(key), now_ns);
  case 'u':
    return undo(control, status, now_ns);
  case 'l':
    return set_a_or_b(control, status, now_ns);
  case 'm':
    toggle_mark(control, clamped(status, status->position_ns), now_ns);
    return (play_order_t){.kind = PLAY_NOTHING};
  case '\'':
    return seek_mark_before(control, status, now_ns);
  case '"':
    return seek_mark_behind(control, status, now_ns);
  default:
    return key >= '0' && key <= '9' ? seek_to_tenth(control, status, key - '0')
                                    : (play_order_t){.kind = PLAY_NOTHING};
  }
}

static play_order_t take_speed_key(int key)
{
  switch (key) {
  case ' ':
    return (play_order_t){.kind = PLAY_TOGGLE_PAUSED};
  case '.':
    return (play_order_t){.kind = PLAY_NEXT};
  case ',':
    return (play_order_t){.kind = PLAY_PREVIOUS};
  case ']':
  case KEY_UP:
    return (play_order_t){.kind = PLAY_SCALE_RATE, .factor = 1.1};
  case '[':
  case KEY_DOWN:
    return (play_order_t){.kind = PLAY_SCALE_RATE, .factor = 1 / 1.1};
  case '}':
    return (play_order_t){.kind = PLAY_SCALE_RATE, .factor = 2};
  case '{':
    return (play_order_t){.kind = PLAY_SCALE_RATE, .factor = 0.5};
  case KEY_BACKSPACE:
    return (play_order_t){.kind = PLAY_NORMAL_RATE};
  case 'x':
    return (play_order_t){.kind = PLAY_MUTE};
  case 'X':
    return (play_order_t){.kind = PLAY_UNMUTE};
  case 'q':
    return (play_order_t){.kind = PLAY_QUIT};
  default:
    return (play_order_t){.kind = PLAY_NOTHING};
  }
}

play_order_t play_control_take(play_control_t *control, int key, const tb_player_status_t *status,
                               int64_t now_ns)
{
  if (control->typing) return take_typed(control, key, status, now_ns);
  if (take_view_key(control, key) || take_table_key(control, key, now_ns))
    return (play_order_t){.kind = PLAY_NOTHING};
  int64_t arrow_ns = control->arrow_ns;
  play_order_t order = take_place_key(control, key, status, now_ns);
  if (control->arrow_ns == arrow_ns) control->arrow_ns = 0;
  return order.kind != PLAY_NOTHING ? order : take_speed_key(key);
}

play_order_t play_control_seek_part(play_control_t *control, double part, bool follows,
                                    const tb_player_status_t *status)
{
  int64_t undo_ns = control->undo_ns;
  int64_t length_ns = status->end_ns - control->bag_start_ns;
  int64_t offset_ns = part < 1 ? (int64_t)(part * (double)length_ns) : length_ns;
  play_order_t order = seek(control, status, moved(status, control->bag_start_ns, offset_ns));
  if (follows) control->undo_ns = undo_ns;
  return order;
}

#include "play_screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "play_clock.h"
#include "play_gap.h"
#include "play_time.h"
#include "text.h"

#define BAR_WIDTH 30
#define NOTE_SIZE (TB_PLAYER_WAITS_FOR_SIZE + 16)

static int64_t now_ns(const play_screen_t *screen)
{
  tb_steady_time_t now = {0};
  if (screen->clock) tb_steady_clock_now(screen->clock, &now);
  return now.ns;
}

/* --- opening and closing --- */

static bool list_topics(play_screen_t *screen)
{
  const tb_bag_info_t *info = screen->info;
  screen->topics = calloc(info->topic_count + 1, sizeof *screen->topics);
  screen->path = text_harmless(info->path);
  if (!screen->topics || !screen->path) return false;
  for (size_t i = 0; i < info->topic_count; i++) {
    tb_player_topic_status_t status;
    if (tb_player_topic_status(screen->player, i, &status) != TB_OK || !status.plays) continue;
    play_topic_t *topic = &screen->topics[screen->topic_count++];
    *topic = (play_topic_t){i, text_harmless(status.name), info->topics[i].message_count, 0};
    if (!topic->name) return false;
  }
  return true;
}

static void free_topics(play_screen_t *screen)
{
  for (size_t i = 0; i < screen->topic_count; i++)
    free(screen->topics[i].name);
  free(screen->topics);
  free(screen->path);
  play_rates_fini(&screen->rates);
}

/* Where that fails, one line it is. */
static void open_view(play_screen_t *screen)
{
  if (!list_topics(screen) || !play_rates_init(&screen->rates, screen->info->topic_count)) return;
  screen->view =
      screen_view_open(&screen->terminal, PLAY_PICTURE_ROWS_MIN, PLAY_PICTURE_COLUMNS_MIN);
  if (screen->view && !screen_log_open(&screen->log, screen->command)) {
    screen_view_close(screen->view);
    screen->view = NULL;
  }
}

void play_screen_open(play_screen_t *screen, const command_t *command, tb_player_t *player,
                      const tb_bag_info_t *info, const play_screen_options_t *options)
{
  *screen = (play_screen_t){.command = command, .player = player, .info = info};
  if (tb_steady_clock_create(&screen->clock))
    screen->clock = NULL; /* notes stay and rates are not known */
  screen->since_ns = now_ns(screen);
  play_control_init(&screen->control, info->start_ns);
  terminal_open(&screen->terminal);
  if (options->no_keyboard) terminal_close(&screen->terminal);
  if (!options->plain) open_view(screen);
}

void play_screen_close(play_screen_t *screen)
{
  screen_view_close(screen->view);
  screen->view = NULL;
  terminal_close(&screen->terminal);
  screen_log_close(&screen->log);
}

void play_screen_fini(play_screen_t *screen)
{
  play_screen_close(screen);
  free_topics(screen);
  tb_steady_clock_destroy(screen->clock);
}

/* --- showing --- */

static double seconds_in_bag(const play_screen_t *screen, int64_t time_ns)
{
  play_span_t span = {.bag_start_ns = screen->info->start_ns};
  return play_time_in_bag(&span, time_ns);
}

static double percent(const play_screen_t *screen, const tb_player_status_t *status)
{
  double whole = seconds_in_bag(screen, status->end_ns);
  double part = seconds_in_bag(screen, status->position_ns);
  return whole > 0 ? 100 * part / whole : status->finished ? 100 : 0;
}

/* What time waits for; NULL: nothing. */
static const char *wait_text(const play_screen_t *screen, const tb_player_status_t *status,
                             char *room, size_t size)
{
  const char *note = play_clock_note(screen->ros_clock);
  if (note || !status->waits_for[0]) return note;
  size_t used = (size_t)snprintf(room, size, "waiting for ");
  tb_text_escape(status->waits_for, room + used, size - used);
  return room;
}

/* The same, or how long nothing comes. */
static const char *note_text(const play_screen_t *screen, const tb_player_status_t *status,
                             char *room, size_t size)
{
  char gap[PLAY_GAP_TEXT_SIZE];
  const char *note = wait_text(screen, status, room, size);
  if (note) return note;
  snprintf(room, size, "%s", play_gap_text(status, gap));
  return *room ? room : NULL;
}

/* What is typed, or the current note. */
static void report(const play_screen_t *screen, const tb_player_status_t *status, char *out,
                   size_t size)
{
  const play_control_t *control = &screen->control;
  const char *note = play_control_noted(control, now_ns(screen));
  char room[NOTE_SIZE];
  if (control->typing)
    snprintf(out, size, ":%s_ %s", control->typed, *note ? note : PLAY_TIME_FORMS);
  else if (control->helps)
    snprintf(out, size, "keys: play --help");
  else
    snprintf(out, size, "%s",
             *note ? note : play_state_text(status, note_text(screen, status, room, sizeof room)));
}

/* One line, as wide as the terminal is now. */
static void show_bar(const play_screen_t *screen, const tb_player_status_t *status)
{
  char bar[BAR_WIDTH + 1], line[512], rate[32], text[NOTE_SIZE];
  int room = terminal_columns() - 60;
  int bar_width = room < 0 ? 0 : room < BAR_WIDTH ? room : BAR_WIDTH;
  int filled = (int)(percent(screen, status) / 100 * bar_width);
  for (int i = 0; i < bar_width; i++)
    bar[i] = i < filled ? '#' : '.';
  bar[bar_width] = '\0';
  report(screen, status, text, sizeof text);
  snprintf(line, sizeof line, "%s%s%s%.2f / %.2f s  %3.0f %%  rate %s  %s", bar_width ? "[" : "",
           bar, bar_width ? "] " : "", seconds_in_bag(screen, status->position_ns),
           seconds_in_bag(screen, status->end_ns), percent(screen, status),
           play_rate_text(status->rate, rate, sizeof rate), text);
  terminal_show(line);
}

static void show_line(const play_screen_t *screen, const tb_player_status_t *status)
{
  char rate[32], room[NOTE_SIZE];
  const char *note = status->paused ? "paused" : note_text(screen, status, room, sizeof room);
  text_out("time %.2f s  %.0f %%  rate %s  messages %" PRIu64 "%s%s\n",
           seconds_in_bag(screen, status->position_ns), percent(screen, status),
           play_rate_text(status->rate, rate, sizeof rate), status->messages, note ? "  " : "",
           note ? note : "");
}

static void count_topics(play_screen_t *screen, const tb_player_status_t *status)
{
  uint64_t *sample = play_rates_sample(&screen->rates, now_ns(screen), status->played_ns);
  for (size_t i = 0; i < screen->topic_count; i++) {
    play_topic_t *topic = &screen->topics[i];
    tb_player_topic_status_t topic_status;
    if (tb_player_topic_status(screen->player, topic->topic, &topic_status) == TB_OK)
      topic->sent = topic_status.messages;
    if (sample) sample[topic->topic] = topic->sent;
  }
}

static bool show_view(play_screen_t *screen, const tb_player_status_t *status)
{
  char state[NOTE_SIZE];
  count_topics(screen, status);
  play_picture_t picture = {
      .path = screen->path,
      .topics = screen->topics,
      .topic_count = screen->topic_count,
      .status = *status,
      .control = &screen->control,
      .rates = &screen->rates,
      .log = &screen->log,
      .clock_note = wait_text(screen, status, state, sizeof state),
      .bag_start_ns = screen->info->start_ns,
      .now_ns = now_ns(screen),
      .since_ns = screen->since_ns,
  };
  return screen_view_show(screen->view, play_picture_draw, &picture);
}

bool play_screen_show(play_screen_t *screen)
{
  tb_player_status_t status;
  tb_player_status(screen->player, &status);
  if (screen->view) return show_view(screen, &status);
  char *gap = play_gap_warning(&status, screen->info, &screen->gap_reported_ns);
  if (gap) play_screen_warn(screen, gap);
  free(gap);
  if (screen->terminal.screen)
    show_bar(screen, &status);
  else
    show_line(screen, &status);
  return command_flush();
}

void play_screen_warn(play_screen_t *screen, const char *text)
{
  if (screen->log.open) {
    screen_log_add(&screen->log, "warning", text);
    return;
  }
  command_begin_warning(screen->command);
  text_err("%s\n", text);
}

void play_screen_summary(const play_screen_t *screen, bool stopped)
{
  tb_player_status_t status;
  tb_player_status(screen->player, &status);
  terminal_clear(&screen->terminal);
  text_out("%s at %.2f s of %.2f s: %" PRIu64 " message%s",
           stopped ? "stopped" : "played to the end", seconds_in_bag(screen, status.position_ns),
           seconds_in_bag(screen, status.end_ns), status.messages, status.messages == 1 ? "" : "s");
  if (status.ticks > 0) text_out(", %" PRIu64 " ticks of /clock", status.ticks);
  if (status.loops > 0) text_out(", %" PRIu64 " loops", status.loops + 1);
  if (status.bad_rows > 0) text_out(", %" PRIu64 " unreadable", status.bad_rows);
  if (status.late > 0) text_out(", %" PRIu64 " late", status.late);
  text_out("\n");
}

/* --- keys --- */

static const char *refusal_of(tb_status_t status, play_order_kind_t kind)
{
  if (status == TB_ERR_BUSY) return "pause first (SPACE) to step";
  if (status == TB_ERR_END)
    return kind == PLAY_NEXT       ? "no later message"
           : kind == PLAY_PREVIOUS ? "no earlier message"
                                   : "nothing is being played";
  return tb_status_message(status);
}

static tb_status_t give(tb_player_t *player, const play_order_t *order)
{
  switch (order->kind) {
  case PLAY_TOGGLE_PAUSED:
    tb_player_toggle_paused(player);
    return TB_OK;
  case PLAY_NEXT:
    return tb_player_play_next(player);
  case PLAY_PREVIOUS:
    return tb_player_play_previous(player);
  case PLAY_SEEK:
    return tb_player_seek(player, order->time_ns, NULL);
  case PLAY_SCALE_RATE:
    return tb_player_scale_rate(player, order->factor);
  case PLAY_NORMAL_RATE:
    return tb_player_set_rate(player, 1, NULL);
  case PLAY_REPEAT:
    return tb_player_repeat(player, order->time_ns, order->to_ns, NULL);
  case PLAY_END_REPEAT:
    tb_player_end_repeat(player);
    return TB_OK;
  default:
    return TB_OK;
  }
}

/* False: to quit. */
static bool take_key(play_screen_t *screen, int key)
{
  if (key == KEY_NONE) return true;
  tb_player_status_t status;
  tb_player_status(screen->player, &status);
  int64_t steady_ns = now_ns(screen);
  play_order_t order = play_control_take(&screen->control, key, &status, steady_ns);
  if (order.kind == PLAY_QUIT) return false;
  tb_status_t result = give(screen->player, &order);
  if (result != TB_OK)
    play_control_note(&screen->control, steady_ns, "%s", refusal_of(result, order.kind));
  return true;
}

bool play_screen_handle_input(play_screen_t *screen)
{
  char bytes[64];
  size_t count = terminal_read(&screen->terminal, bytes, sizeof bytes);
  for (size_t i = 0; i < count; i++)
    if (!take_key(screen, keys_take(&screen->keys, bytes[i]))) return false;
  return true;
}

void play_screen_rest(play_screen_t *screen)
{
  take_key(screen, keys_pause(&screen->keys));
}

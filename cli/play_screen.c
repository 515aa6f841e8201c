#include "play_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "bag.h"
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
  screen->order = calloc(info->topic_count + 1, sizeof *screen->order);
  screen->path = text_harmless(info->path);
  if (!screen->topics || !screen->order || !screen->path) return false;
  for (size_t i = 0; i < info->topic_count; i++) {
    tb_player_topic_status_t status;
    if (tb_player_topic_status(screen->player, i, &status) != TB_OK || !status.plays) continue;
    play_topic_t *topic = &screen->topics[screen->topic_count++];
    *topic = (play_topic_t){.topic = i,
                            .name = text_harmless(status.name),
                            .recorded = info->topics[i].message_count,
                            .hz = NAN,
                            .bytes_per_s = NAN,
                            .subscriptions = -1};
    if (!topic->name) return false;
  }
  return true;
}

static void free_topics(play_screen_t *screen)
{
  for (size_t i = 0; i < screen->topic_count; i++)
    free(screen->topics[i].name);
  free(screen->topics);
  free(screen->order);
  free(screen->path);
  play_rates_fini(&screen->rates);
  play_rates_fini(&screen->byte_rates);
}

/* Where that fails, one line it is. */
static void open_view(play_screen_t *screen)
{
  const play_screen_input_t *input = &screen->input;
  size_t count = screen->info->topic_count;
  if (!list_topics(screen) || !play_rates_init(&screen->rates, count) ||
      !play_rates_init(&screen->byte_rates, count))
    return;
  screen->view =
      screen_view_open(&screen->terminal, PLAY_PICTURE_ROWS_MIN, PLAY_PICTURE_COLUMNS_MIN);
  if (screen->view && !screen_log_open(&screen->log, screen->command)) {
    screen_view_close(screen->view);
    screen->view = NULL;
  }
  if (!screen->view) return;
  if (input->context && tb_ros2_graph_create(input->context, &screen->graph, NULL))
    screen->graph = NULL;
  screen_view_report_mouse(screen->view);
  screen->graph_changes = UINT32_MAX;
  screen->chosen_row = -1;
  play_density_begin(&screen->density, input->paths, input->path_count, &input->reading,
                     screen->info, bag_file_size(screen->info));
}

void play_screen_open(play_screen_t *screen, const command_t *command, tb_player_t *player,
                      const tb_bag_info_t *info, const play_screen_options_t *options,
                      const play_screen_input_t *input)
{
  *screen = (play_screen_t){
      .command = command, .player = player, .info = info, .input = *input, .holds = options->holds};
  if (tb_steady_clock_create(&screen->clock))
    screen->clock = NULL; /* notes stay and rates are not known */
  screen->since_ns = now_ns(screen);
  tb_player_status_t status;
  tb_player_status(player, &status);
  screen->start_ns = status.start_ns;
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
  play_density_end(&screen->density);
  tb_ros2_graph_destroy(screen->graph);
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
             *note ? note
             : screen->holds && status->halted
                 ? PLAY_AT_END
                 : play_state_text(status, note_text(screen, status, room, sizeof room)));
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

/* When the graph has changed. */
static void count_subscriptions(play_screen_t *screen)
{
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  const tb_ros2_graph_endpoint_t *items;
  char name[TB_ROS2_NAME_SIZE];
  if (!screen->graph) return;
  uint32_t changes = tb_ros2_graph_changes(screen->graph);
  if (changes == screen->graph_changes || tb_ros2_graph_snapshot(screen->graph, &snapshot, NULL))
    return;
  screen->graph_changes = changes;
  for (size_t i = 0; i < screen->topic_count; i++) {
    const char *recorded = screen->info->topics[screen->topics[i].topic].name;
    if (tb_ros2_node_resolve_topic_name(screen->input.node, recorded, name, NULL) == TB_OK)
      screen->topics[i].subscriptions = (int)tb_ros2_graph_subscriptions(snapshot, name, &items);
  }
  tb_ros2_graph_snapshot_release(snapshot);
}

static play_tap_topic_t *tap_of(const play_screen_t *screen, const play_topic_t *topic)
{
  const char *name = screen->info->topics[topic->topic].name;
  return screen->input.tap ? play_tap_find(screen->input.tap, name) : NULL;
}

/* The cursor stays on its topic where rows change places. */
static void order_topics(play_screen_t *screen)
{
  play_control_t *control = &screen->control;
  bool has_moved = control->cursor != screen->chosen_row;
  size_t row = control->cursor < 0 ? 0 : (size_t)control->cursor;
  if (has_moved && row >= screen->shown_count && row > 0) row = screen->shown_count - 1;
  if (has_moved && screen->shown_count > 0) screen->chosen = screen->order[row];
  screen->shown_count = play_table_order(screen->topics, screen->topic_count, control->sort,
                                         control->filter, screen->order);
  for (size_t i = 0; control->cursor >= 0 && i < screen->shown_count; i++)
    if (screen->order[i] == screen->chosen) control->cursor = (int)i;
  screen->chosen_row = control->cursor;
}

static void count_topics(play_screen_t *screen, const tb_player_status_t *status)
{
  int64_t steady_ns = now_ns(screen);
  uint64_t *sample = play_rates_sample(&screen->rates, steady_ns, status->played_ns);
  uint64_t *bytes = play_rates_sample(&screen->byte_rates, steady_ns, status->played_ns);
  for (size_t i = 0; i < screen->topic_count; i++) {
    play_topic_t *topic = &screen->topics[i];
    tb_player_topic_status_t topic_status;
    const play_tap_topic_t *tap = tap_of(screen, topic);
    if (tb_player_topic_status(screen->player, topic->topic, &topic_status) == TB_OK)
      topic->sent = topic_status.messages;
    if (sample) sample[topic->topic] = topic->sent;
    if (bytes && tap) bytes[topic->topic] = atomic_load(&tap->bytes);
    topic->is_muted = tap && atomic_load(&tap->is_muted);
    topic->hz = play_rates_topic(&screen->rates, topic->topic);
    topic->bytes_per_s = tap ? play_rates_topic(&screen->byte_rates, topic->topic) : NAN;
  }
  if (sample) count_subscriptions(screen);
  order_topics(screen);
}

static bool show_view(play_screen_t *screen, const tb_player_status_t *status)
{
  char state[NOTE_SIZE];
  count_topics(screen, status);
  play_picture_t picture = {
      .path = screen->path,
      .topics = screen->topics,
      .topic_count = screen->topic_count,
      .order = screen->order,
      .shown_count = screen->shown_count,
      .density = screen->density.is_open ? &screen->density : NULL,
      .holds = screen->holds,
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

void play_screen_summary(const play_screen_t *screen)
{
  tb_player_status_t status;
  tb_player_status(screen->player, &status);
  terminal_clear(&screen->terminal);
  text_out("%s at %.2f s of %.2f s: %" PRIu64 " message%s",
           status.stopped ? "stopped" : "played to the end",
           seconds_in_bag(screen, status.position_ns), seconds_in_bag(screen, status.end_ns),
           status.messages, status.messages == 1 ? "" : "s");
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

/* The same end as at first. A play that was halted starts where the seek leads to. */
static tb_status_t play_from(play_screen_t *screen, int64_t time_ns)
{
  const tb_player_options_t *options = screen->input.player;
  tb_player_status_t status;
  tb_player_range_t range = TB_PLAYER_RANGE_INIT;
  tb_player_status(screen->player, &status);
  range.start_offset.ns = time_ns - status.recording_start_ns;
  range.playback_until_ns = options->playback_until_ns;
  if (options->playback_duration.ns >= 0) {
    int64_t until_ns;
    if (__builtin_add_overflow(status.recording_start_ns, options->start_offset.ns, &until_ns) ||
        __builtin_add_overflow(until_ns, options->playback_duration.ns, &until_ns))
      until_ns = INT64_MAX;
    if (until_ns > range.playback_until_ns) range.playback_until_ns = until_ns;
  }
  return tb_player_play(screen->player, &range, NULL);
}

/* At the end, where there is nothing to pause. */
static bool give_at_end(play_screen_t *screen, const play_order_t *order,
                        const tb_player_status_t *status, tb_status_t *out)
{
  if (!screen->holds || !status->halted) return false;
  if (order->kind != PLAY_SEEK && order->kind != PLAY_TOGGLE_PAUSED) return false;
  *out = play_from(screen, order->kind == PLAY_SEEK ? order->time_ns : screen->start_ns);
  return true;
}

/* --- muting --- */

static void mute(play_screen_t *screen)
{
  int row = screen->control.cursor;
  int64_t steady_ns = now_ns(screen);
  if (!screen->view || row < 0 || (size_t)row >= screen->shown_count) {
    play_control_note(&screen->control, steady_ns, "choose a topic with j and k");
    return;
  }
  play_tap_topic_t *tap = tap_of(screen, &screen->topics[screen->order[row]]);
  if (tap) atomic_store(&tap->is_muted, !atomic_load(&tap->is_muted));
}

static void unmute_all(play_screen_t *screen)
{
  for (size_t i = 0; i < screen->topic_count; i++) {
    play_tap_topic_t *tap = tap_of(screen, &screen->topics[i]);
    if (tap) atomic_store(&tap->is_muted, false);
  }
}

static tb_status_t give(play_screen_t *screen, const play_order_t *order)
{
  tb_player_t *player = screen->player;
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
  case PLAY_MUTE:
    mute(screen);
    return TB_OK;
  case PLAY_UNMUTE:
    unmute_all(screen);
    return TB_OK;
  default:
    return TB_OK;
  }
}

static play_order_t take_mouse(play_screen_t *screen, const tb_player_status_t *status)
{
  const keys_t *keys = &screen->keys;
  double part = play_picture_part_at(keys->row, keys->column, terminal_columns() + 1);
  if (part < 0) return (play_order_t){.kind = PLAY_NOTHING};
  return play_control_seek_part(&screen->control, part, keys->first != 0, status);
}

/* False: to quit. */
static bool take_key(play_screen_t *screen, int key)
{
  if (key == KEY_NONE) return true;
  tb_player_status_t status;
  tb_player_status(screen->player, &status);
  if (screen->holds) status.start_ns = screen->start_ns;
  int64_t steady_ns = now_ns(screen);
  play_order_t order = key == KEY_MOUSE
                           ? take_mouse(screen, &status)
                           : play_control_take(&screen->control, key, &status, steady_ns);
  if (order.kind == PLAY_QUIT) return false;
  tb_status_t result = TB_OK;
  if (!give_at_end(screen, &order, &status, &result)) result = give(screen, &order);
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

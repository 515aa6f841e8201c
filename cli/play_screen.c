#include "play_screen.h"

#include <inttypes.h>
#include <stdio.h>

#include "play_clock.h"

#define BAR_WIDTH 30

void play_screen_open(play_screen_t *screen, const tb_bag_info_t *info)
{
  *screen = (play_screen_t){.bag_start_ns = info->start_ns, .bag_end_ns = info->end_ns};
  terminal_open(&screen->terminal);
}

static double seconds_in_bag(const play_screen_t *screen, int64_t time_ns)
{
  return time_ns < screen->bag_start_ns ? 0 : (double)(time_ns - screen->bag_start_ns) / 1e9;
}

static double percent(const play_screen_t *screen, const tb_player_status_t *status)
{
  double whole = seconds_in_bag(screen, status->end_ns);
  double part = seconds_in_bag(screen, status->position_ns);
  return whole > 0 ? 100 * part / whole : status->finished ? 100 : 0;
}

static const char *rate_text(double rate, char *text, size_t size)
{
  if (rate == TB_PLAYER_FASTEST) return "max";
  snprintf(text, size, "%.4g", rate);
  return text;
}

static const char *state_text(const play_screen_t *screen, const tb_player_status_t *status)
{
  const char *note = play_clock_note(screen->ros_clock);
  return status->paused    ? "paused: SPACE goes on"
         : status->halted  ? "stopped, until the service play"
         : note            ? note
         : status->starved ? "waiting for the recording to be read"
                           : "";
}

/* One line, as wide as the terminal is now. */
static void show_bar(const play_screen_t *screen, const tb_player_status_t *status)
{
  char bar[BAR_WIDTH + 1], line[256], rate[32];
  int room = terminal_columns() - 60;
  int bar_width = room < 0 ? 0 : room < BAR_WIDTH ? room : BAR_WIDTH;
  int filled = (int)(percent(screen, status) / 100 * bar_width);
  for (int i = 0; i < bar_width; i++)
    bar[i] = i < filled ? '#' : '.';
  bar[bar_width] = '\0';
  snprintf(line, sizeof line, "%s%s%s%.2f / %.2f s  %3.0f %%  rate %s  %s", bar_width ? "[" : "",
           bar, bar_width ? "] " : "", seconds_in_bag(screen, status->position_ns),
           seconds_in_bag(screen, status->end_ns), percent(screen, status),
           rate_text(status->rate, rate, sizeof rate), state_text(screen, status));
  terminal_show(line);
}

void play_screen_show(const play_screen_t *screen, const tb_player_status_t *status)
{
  char rate[32];
  const char *note = status->paused ? "paused" : play_clock_note(screen->ros_clock);
  if (screen->terminal.screen)
    show_bar(screen, status);
  else
    printf("time %.2f s  %.0f %%  rate %s  messages %" PRIu64 "%s%s\n",
           seconds_in_bag(screen, status->position_ns), percent(screen, status),
           rate_text(status->rate, rate, sizeof rate), status->messages, note ? "  " : "",
           note ? note : "");
}

void play_screen_summary(const play_screen_t *screen, const tb_player_status_t *status,
                         bool stopped)
{
  terminal_clear(&screen->terminal);
  printf("%s at %.2f s of %.2f s: %" PRIu64 " message%s", stopped ? "stopped" : "played to the end",
         seconds_in_bag(screen, status->position_ns), seconds_in_bag(screen, status->end_ns),
         status->messages, status->messages == 1 ? "" : "s");
  if (status->ticks > 0) printf(", %" PRIu64 " ticks of /clock", status->ticks);
  if (status->loops > 0) printf(", %" PRIu64 " rounds", status->loops + 1);
  if (status->bad_rows > 0) printf(", %" PRIu64 " not readable", status->bad_rows);
  if (status->late > 0) printf(", %" PRIu64 " late", status->late);
  putchar('\n');
}

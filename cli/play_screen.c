#include "play_screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH 30

/* A program in the background that changes its terminal is stopped by the kernel. */
static bool owns_terminal(void)
{
  return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void play_screen_open(play_screen_t *screen, const tb_bag_info_t *info)
{
  *screen = (play_screen_t){.bag_start_ns = info->start_ns, .bag_end_ns = info->end_ns};
  screen->bar = isatty(STDOUT_FILENO);
  if (!owns_terminal() || tcgetattr(STDIN_FILENO, &screen->saved) != 0) return;
  struct termios raw = screen->saved;
  raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* ISIG stays: ^C works */
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  screen->keyboard = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void play_screen_close(play_screen_t *screen)
{
  if (screen->keyboard && owns_terminal()) tcsetattr(STDIN_FILENO, TCSANOW, &screen->saved);
  screen->keyboard = false;
}

int play_screen_period_ms(const play_screen_t *screen)
{
  return screen->bar ? 100 : 1000;
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

static int columns(void)
{
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* One line, as wide as the terminal is now. */
static void show_bar(const play_screen_t *screen, const tb_player_status_t *status)
{
  char bar[BAR_WIDTH + 1], line[256];
  int width = columns() - 1, room = width - 60;
  int bar_width = room < 0 ? 0 : room < BAR_WIDTH ? room : BAR_WIDTH;
  int filled = (int)(percent(screen, status) / 100 * bar_width);
  for (int i = 0; i < bar_width; i++)
    bar[i] = i < filled ? '#' : '.';
  bar[bar_width] = '\0';
  snprintf(line, sizeof line, "%s%s%s%.2f / %.2f s  %3.0f %%  rate %.4g  %s", bar_width ? "[" : "",
           bar, bar_width ? "] " : "", seconds_in_bag(screen, status->position_ns),
           seconds_in_bag(screen, status->end_ns), percent(screen, status), status->rate,
           status->paused ? "paused: SPACE goes on" : "");
  printf("\r%.*s\033[K", width, line);
}

void play_screen_show(const play_screen_t *screen, const tb_player_status_t *status)
{
  if (screen->bar)
    show_bar(screen, status);
  else
    printf("time %.2f s  %.0f %%  rate %.4g  messages %" PRIu64 "%s\n",
           seconds_in_bag(screen, status->position_ns), percent(screen, status), status->rate,
           status->messages, status->paused ? "  paused" : "");
}

void play_screen_summary(const play_screen_t *screen, const tb_player_status_t *status,
                         bool stopped)
{
  if (screen->bar) printf("\r\033[K");
  printf("%s at %.2f s of %.2f s: %" PRIu64 " message%s", stopped ? "stopped" : "played to the end",
         seconds_in_bag(screen, status->position_ns), seconds_in_bag(screen, status->end_ns),
         status->messages, status->messages == 1 ? "" : "s");
  if (status->ticks > 0) printf(", %" PRIu64 " ticks of /clock", status->ticks);
  if (status->loops > 0) printf(", %" PRIu64 " rounds", status->loops + 1);
  if (status->bad_rows > 0) printf(", %" PRIu64 " not readable", status->bad_rows);
  if (status->late > 0) printf(", %" PRIu64 " late", status->late);
  putchar('\n');
}

int play_screen_read_spaces(play_screen_t *screen)
{
  char keys[64];
  int spaces = 0;
  ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
  if (count <= 0) screen->keyboard = false; /* the terminal is gone */
  for (ssize_t i = 0; i < count; i++)
    spaces += keys[i] == ' ';
  return spaces;
}

/* ncurses draws; keys are read by terminal.c and keys.c, as without it. */
#include "screen_view.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h> /* has macros with names like columns */
#include <unistd.h>

#include "text.h"

struct screen_view {
  terminal_t *terminal;
  SCREEN *screen;
  bool suspended, has_colours, has_mouse;
  struct sigaction saved[3];
};

/* --- signals --- */

static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT};
static int signal_pipe[2] = {-1, -1};

static void on_signal(int number)
{
  int saved_errno = errno;
  char byte = (char)number;
  ssize_t written = write(signal_pipe[1], &byte, 1);
  (void)written;
  errno = saved_errno;
}

/* ncurses leaves alone the signals that have a handler. */
static bool catch_signals(screen_view_t *view)
{
  if (signal_pipe[0] < 0 && pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &action, &view->saved[i]);
  return true;
}

static void release_signals(const screen_view_t *view)
{
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &view->saved[i], NULL);
}

int screen_view_fd(const screen_view_t *view)
{
  return view ? signal_pipe[0] : -1;
}

static void begin_colours(screen_view_t *view);

/* Presses, and moves while pressed, in the form without a limit of columns. */
static void switch_mouse(const screen_view_t *view, bool on)
{
  if (!view->has_mouse) return;
  text_out(on ? "\033[?1002;1006h" : "\033[?1002;1006l");
  fflush(stdout);
}

void screen_view_report_mouse(screen_view_t *view)
{
  const char *mouse = tigetstr("kmous");
  view->has_mouse = mouse && mouse != (char *)-1 && *mouse;
  switch_mouse(view, true);
}

/* --- opening and closing --- */

/* Checked first, as newterm leaks for a terminal that ncurses does not know. */
static bool is_simple(void)
{
  int found = 0;
  const char *name = getenv("TERM");
  if (!name || !*name || strcmp(name, "dumb") == 0) return true;
  if (setupterm(name, STDOUT_FILENO, &found) != OK) return true;
  del_curterm(cur_term);
  return false;
}

static bool get_size(int *height, int *width)
{
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return false;
  *height = size.ws_row;
  *width = size.ws_col;
  return *height > 0 && *width > 0;
}

/* Topics are UTF-8, whatever the locale is; other commands print them so, too. */
static void set_encoding(void)
{
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

static bool open_screen(screen_view_t *view, int rows_min, int columns_min)
{
  int height, width;
  if (is_simple() || !get_size(&height, &width) || height < rows_min || width < columns_min)
    return false;
  set_encoding();
  fflush(stdout);
  view->screen = newterm(NULL, stdout, stdin);
  return view->screen;
}

bool screen_view_is_built_in(void)
{
  return true;
}

screen_view_t *screen_view_open(terminal_t *terminal, int rows_min, int columns_min)
{
  screen_view_t *view = NULL;
  if (!terminal->screen || !terminal->keyboard) return NULL;
  view = calloc(1, sizeof *view);
  if (!view) return NULL;
  view->terminal = terminal;
  if (!catch_signals(view)) goto fail;
  if (!open_screen(view, rows_min, columns_min)) {
    release_signals(view);
    goto fail;
  }
  curs_set(0);
  begin_colours(view);
  return view;
fail:
  free(view);
  return NULL;
}

void screen_view_close(screen_view_t *view)
{
  if (!view) return;
  if (!view->suspended) {
    switch_mouse(view, false);
    endwin();
  }
  delscreen(view->screen);
  release_signals(view);
  free(view);
}

/* --- stopped, going on, resized --- */

static void resize(void)
{
  int height, width;
  if (get_size(&height, &width)) resizeterm(height, width);
  clear();
}

/* In the background the terminal belongs to another process. */
static void go_on(screen_view_t *view)
{
  if (view->terminal->keyboard) return;
  terminal_open(view->terminal);
  view->suspended = !view->terminal->keyboard;
  if (view->suspended) return;
  switch_mouse(view, true);
  resize();
}

/* After a stop that was not announced (SIGSTOP) the terminal is as whoever had it meanwhile left
 * it. */
static void continued(screen_view_t *view)
{
  if (view->suspended) {
    go_on(view);
    return;
  }
  terminal_continue(view->terminal);
  view->suspended = !view->terminal->keyboard;
  if (view->suspended) return;
  switch_mouse(view, true);
  resize();
}

static void suspend(screen_view_t *view)
{
  static const struct sigaction stops = {.sa_handler = SIG_DFL};
  struct sigaction ours;
  if (!view->suspended) {
    switch_mouse(view, false);
    endwin();
  }
  view->suspended = true;
  terminal_close(view->terminal);
  sigaction(SIGTSTP, &stops, &ours);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &ours, NULL);
  go_on(view);
}

void screen_view_handle_input(screen_view_t *view)
{
  char numbers[64];
  ssize_t count = read(signal_pipe[0], numbers, sizeof numbers);
  for (ssize_t i = 0; i < count; i++) {
    if (numbers[i] == SIGTSTP)
      suspend(view);
    else if (numbers[i] == SIGCONT)
      continued(view);
    else if (view->suspended)
      go_on(view);
    else
      resize();
  }
}

/* --- drawing --- */

enum { PAIR_TITLE = 1, PAIR_HEADING, PAIR_LOUD, PAIR_GAUGE };

/* https://no-color.org: without colours if the variable is there and not empty. */
static void begin_colours(screen_view_t *view)
{
  const char *unwanted = getenv("NO_COLOR");
  view->has_colours = (!unwanted || !*unwanted) && has_colors() && start_color() == OK &&
                      use_default_colors() == OK && COLOR_PAIRS > PAIR_GAUGE;
  if (!view->has_colours) return;
  init_pair(PAIR_TITLE, COLOR_BLUE, -1);
  init_pair(PAIR_HEADING, COLOR_CYAN, -1);
  init_pair(PAIR_LOUD, COLOR_YELLOW, -1);
  init_pair(PAIR_GAUGE, COLOR_GREEN, -1);
}

static short pair_of(screen_style_t style)
{
  switch (style) {
  case SCREEN_TITLE:
    return PAIR_TITLE;
  case SCREEN_HEADING:
    return PAIR_HEADING;
  case SCREEN_LOUD:
    return PAIR_LOUD;
  case SCREEN_GAUGE:
    return PAIR_GAUGE;
  default:
    return 0;
  }
}

static attr_t attributes_of(screen_style_t style)
{
  switch (style) {
  case SCREEN_TITLE:
  case SCREEN_CURSOR:
    return A_REVERSE;
  case SCREEN_HEADING:
    return A_UNDERLINE;
  case SCREEN_QUIET:
  case SCREEN_MUTED:
    return A_DIM;
  case SCREEN_LOUD:
    return A_BOLD;
  default:
    return A_NORMAL;
  }
}

static void draw_row(void *user, int row, screen_style_t style, const char *text)
{
  const screen_view_t *view = user;
  char *harmless = text_harmless(text);
  attr_set(attributes_of(style), view->has_colours ? pair_of(style) : 0, NULL);
  if (harmless) mvaddstr(row, 0, harmless);
  attr_set(A_NORMAL, 0, NULL);
  free(harmless);
}

/* A terminal that takes nothing, as after ^S, gets the picture later. */
bool screen_view_show(screen_view_t *view, screen_draw_t *draw, const void *picture)
{
  if (view->suspended) go_on(view); /* a shell may bring it to the front without SIGCONT */
  if (view->suspended) return true;
  struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
  if (poll(&out, 1, 0) < 0 || !out.revents) return true;
  if (out.revents & (POLLERR | POLLHUP)) return false;
  erase();
  draw(picture, LINES, COLS, draw_row, view);
  refresh();
  return true;
}

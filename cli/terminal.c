#include "terminal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

/* The kernel stops a program in the background that changes its terminal. */
static bool owns_terminal(void)
{
  return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* In the background a line would be drawn over the prompt of a shell. A terminal that has no
 * foreground, because it is not the one that controls this process, is ours. */
static bool owns_screen(void)
{
  pid_t foreground = tcgetpgrp(STDOUT_FILENO);
  return foreground < 0 || foreground == getpgrp();
}

static terminal_t *opened;
static _Atomic bool was_stopped; /* the handler may run on any thread */

static void on_continue(int number)
{
  (void)number;
  atomic_store(&was_stopped, true);
}

static void take_keyboard(terminal_t *terminal)
{
  if (!owns_terminal()) return;
  if (!terminal->is_saved) terminal->is_saved = tcgetattr(STDIN_FILENO, &terminal->saved) == 0;
  if (!terminal->is_saved) return;
  struct termios raw = terminal->saved;
  raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* ISIG stays: ^C works */
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  terminal->keyboard = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void terminal_open(terminal_t *terminal)
{
  struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
  *terminal = (terminal_t){.screen = isatty(STDOUT_FILENO)};
  take_keyboard(terminal);
  opened = terminal;
  sigaction(SIGCONT, &action, NULL);
}

/* A shell sets its own modes meanwhile, and a process that reads in the background is stopped. */
static void follow_shell(terminal_t *terminal)
{
  bool is_ours = owns_terminal();
  if (atomic_exchange(&was_stopped, false) || !is_ours) terminal->keyboard = false;
  if (is_ours && !terminal->keyboard) take_keyboard(terminal);
}

void terminal_continue(terminal_t *terminal)
{
  terminal->keyboard = false;
  take_keyboard(terminal);
}

void terminal_close(terminal_t *terminal)
{
  if (terminal->keyboard && owns_terminal()) tcsetattr(STDIN_FILENO, TCSANOW, &terminal->saved);
  terminal->keyboard = false;
  opened = NULL;
}

int terminal_period_ms(const terminal_t *terminal)
{
  return terminal->screen ? 100 : 1000;
}

int terminal_columns(void)
{
  struct winsize size;
  int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  return columns - 1;
}

void terminal_show(const char *line)
{
  if (opened) follow_shell(opened);
  if (!owns_screen()) return;
  text_out("\r%.*s\033[K", terminal_columns(), line);
}

void terminal_clear(const terminal_t *terminal)
{
  if (terminal->screen && owns_screen()) text_out("\r\033[K");
}

size_t terminal_read(terminal_t *terminal, char *keys, size_t size)
{
  ssize_t count = read(STDIN_FILENO, keys, size);
  if (count > 0) return (size_t)count;
  terminal->keyboard = false; /* the terminal is gone */
  return 0;
}

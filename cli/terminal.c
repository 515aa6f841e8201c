#include "terminal.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A program in the background that changes its terminal is stopped by the kernel. */
static bool owns_terminal(void)
{
  return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void terminal_open(terminal_t *terminal)
{
  *terminal = (terminal_t){.screen = isatty(STDOUT_FILENO)};
  if (!owns_terminal() || tcgetattr(STDIN_FILENO, &terminal->saved) != 0) return;
  struct termios raw = terminal->saved;
  raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* ISIG stays: ^C works */
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  terminal->keyboard = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void terminal_close(terminal_t *terminal)
{
  if (terminal->keyboard && owns_terminal()) tcsetattr(STDIN_FILENO, TCSANOW, &terminal->saved);
  terminal->keyboard = false;
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
  printf("\r%.*s\033[K", terminal_columns(), line);
}

void terminal_clear(const terminal_t *terminal)
{
  if (terminal->screen) printf("\r\033[K");
}

size_t terminal_read(terminal_t *terminal, char *keys, size_t size)
{
  ssize_t count = read(STDIN_FILENO, keys, size);
  if (count > 0) return (size_t)count;
  terminal->keyboard = false; /* the terminal is gone */
  return 0;
}

/* Built without ncurses: there is no full screen. */
#include "screen_view.h"

bool screen_view_is_built_in(void)
{
  return false;
}

screen_view_t *screen_view_open(terminal_t *terminal, int rows_min, int columns_min)
{
  (void)terminal;
  (void)rows_min;
  (void)columns_min;
  return NULL;
}

void screen_view_close(screen_view_t *view)
{
  (void)view;
}

int screen_view_fd(const screen_view_t *view)
{
  (void)view;
  return -1;
}

void screen_view_handle_input(screen_view_t *view)
{
  (void)view;
}

bool screen_view_show(screen_view_t *view, screen_draw_t *draw, const void *picture)
{
  (void)view;
  (void)draw;
  (void)picture;
  return false;
}

void screen_view_report_mouse(screen_view_t *view)
{
  (void)view;
}

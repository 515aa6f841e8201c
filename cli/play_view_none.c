/* Built without ncurses: one line it is. */
#include "play_view.h"

play_view_t *play_view_open(terminal_t *terminal)
{
  (void)terminal;
  return NULL;
}

void play_view_close(play_view_t *view)
{
  (void)view;
}

int play_view_fd(const play_view_t *view)
{
  (void)view;
  return -1;
}

void play_view_handle_input(play_view_t *view)
{
  (void)view;
}

bool play_view_show(play_view_t *view, const play_picture_t *picture)
{
  (void)view;
  (void)picture;
  return false;
}

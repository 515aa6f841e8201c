/* The full screen of `timebase play`, on a terminal that can place the cursor. Of one thread. */
#ifndef TB_CLI_PLAY_VIEW_H
#define TB_CLI_PLAY_VIEW_H

#include "play_picture.h"
#include "terminal.h"

typedef struct play_view play_view_t;

/* NULL: the terminal is too small or too simple, or is not ours; one line will do. */
play_view_t *play_view_open(terminal_t *terminal);
/* Leaves the terminal as it was. Accepts NULL. */
void play_view_close(play_view_t *view);

/* Readable when the terminal has another size, or the program is to be stopped or continues. */
int play_view_fd(const play_view_t *view);
/* Handles that; returns when the program continues. */
void play_view_handle_input(play_view_t *view);

/* False: the terminal is gone. */
bool play_view_show(play_view_t *view, const play_picture_t *picture);

#endif

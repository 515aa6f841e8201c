/* A full screen, on a terminal that can place the cursor. Of one thread. */
#ifndef TB_CLI_SCREEN_VIEW_H
#define TB_CLI_SCREEN_VIEW_H

#include "screen_text.h"
#include "terminal.h"

typedef struct screen_view screen_view_t;

/* Draws a picture as rows of text, of which each is emitted once. */
typedef void screen_draw_t(const void *picture, int rows, int columns, screen_emit_t *emit,
                           void *user);

/* False: the program was built without ncurses. */
bool screen_view_is_built_in(void);
/* NULL: the terminal is smaller than that or too simple, or is not ours. */
screen_view_t *screen_view_open(terminal_t *terminal, int rows_min, int columns_min);
/* Leaves the terminal as it was. Accepts NULL. */
void screen_view_close(screen_view_t *view);

/* Makes the terminal report the mouse, if it can: KEY_MOUSE. */
void screen_view_report_mouse(screen_view_t *view);

/* Readable when the terminal has another size, or the program is to be stopped or continues. */
int screen_view_fd(const screen_view_t *view);
/* Handles that; returns when the program continues. */
void screen_view_handle_input(screen_view_t *view);

/* False: the terminal is gone. */
bool screen_view_show(screen_view_t *view, screen_draw_t *draw, const void *picture);

#endif

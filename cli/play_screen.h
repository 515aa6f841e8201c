/* What `timebase play` shows while it plays, and the keyboard that it listens to. */
#ifndef TB_CLI_PLAY_SCREEN_H
#define TB_CLI_PLAY_SCREEN_H

#include <termios.h>
#include <timebase/player.h>

#include "command.h"

typedef struct play_screen {
  int64_t bag_start_ns, bag_end_ns;
  bool bar;      /* standard output is a terminal: one line that changes */
  bool keyboard; /* standard input is a terminal and ours: keys come at once */
  struct termios saved;
} play_screen_t;

void play_screen_open(play_screen_t *screen, const tb_bag_info_t *info);
/* Gives the terminal back; may be called twice. */
void play_screen_close(play_screen_t *screen);

/* How long to wait until the next play_screen_show. */
int play_screen_period_ms(const play_screen_t *screen);

void play_screen_show(const play_screen_t *screen, const tb_player_status_t *status);

/* The last line. */
void play_screen_summary(const play_screen_t *screen, const tb_player_status_t *status,
                         bool stopped);

/* Reads what was typed; how many times SPACE. 0 and no more keys at the end of input. */
int play_screen_read_spaces(play_screen_t *screen);

#endif

/* What `timebase play` shows while it plays. */
#ifndef TB_CLI_PLAY_SCREEN_H
#define TB_CLI_PLAY_SCREEN_H

#include <timebase/player.h>

#include "command.h"
#include "keys.h"
#include "terminal.h"

typedef struct play_screen {
  int64_t bag_start_ns, bag_end_ns;
  const tb_clock_t *ros_clock; /* that is followed, or NULL */
  terminal_t terminal;
  keys_t keys;
} play_screen_t;

void play_screen_open(play_screen_t *screen, const tb_bag_info_t *info);
void play_screen_show(const play_screen_t *screen, const tb_player_status_t *status);

/* The last line. */
void play_screen_summary(const play_screen_t *screen, const tb_player_status_t *status,
                         bool stopped);

#endif

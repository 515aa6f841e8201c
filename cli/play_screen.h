/* What `timebase play` shows while it plays: the whole screen, one line that changes, or a line a
 * second. */
#ifndef TB_CLI_PLAY_SCREEN_H
#define TB_CLI_PLAY_SCREEN_H

#include <timebase/clock.h>
#include <timebase/player.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "keys.h"
#include "play_density.h"
#include "play_picture.h"
#include "play_tap.h"
#include "screen_log.h"
#include "screen_view.h"
#include "terminal.h"

typedef struct play_screen_options {
  bool no_keyboard;
  bool plain; /* not the whole screen */
  bool holds; /* at the end it waits, and a seek leads back */
} play_screen_options_t;

/* Where the screen gets what the player does not know; what is not there is NULL. */
typedef struct play_screen_input {
  const tb_player_options_t *player; /* with which it was made */
  const play_tap_t *tap;
  tb_ros2_context_t *context;
  const tb_ros2_node_t *node;
  const char *const *paths; /* of the recordings, opened with `reading` */
  size_t path_count;
  tb_bag_reader_options_t reading;
} play_screen_input_t;

typedef struct play_screen {
  const command_t *command;
  tb_player_t *player;
  const tb_bag_info_t *info;
  terminal_t terminal;
  keys_t keys;
  tb_steady_clock_t *clock;
  int64_t since_ns;
  const tb_clock_t *ros_clock; /* that is followed, or NULL */
  play_control_t control;
  play_screen_input_t input;
  bool holds;
  int64_t start_ns;        /* where playing started; a seek from its end moves the player's start */
  int64_t gap_reported_ns; /* see play_gap_warning */

  screen_view_t *view; /* NULL: one line; then what follows is not there */
  char *path;
  play_topic_t *topics;
  size_t topic_count;
  size_t *order; /* of those that are shown */
  size_t shown_count;
  size_t chosen;  /* index of the topic at the cursor */
  int chosen_row; /* where it was drawn last; -1: none is */
  play_rates_t rates, byte_rates;
  play_density_t density;
  tb_ros2_graph_t *graph; /* NULL: numbers of subscriptions are not known */
  uint32_t graph_changes; /* when they were counted */
  screen_log_t log;
} play_screen_t;

void play_screen_open(play_screen_t *screen, const command_t *command, tb_player_t *player,
                      const tb_bag_info_t *info, const play_screen_options_t *options,
                      const play_screen_input_t *input);
/* Restores the terminal; may be called twice. */
void play_screen_close(play_screen_t *screen);
void play_screen_fini(play_screen_t *screen);

/* False: the output is closed. */
bool play_screen_show(play_screen_t *screen);
/* A line of text, beside those of the library. */
void play_screen_warn(play_screen_t *screen, const char *text);
/* What was typed. False: to quit. */
bool play_screen_handle_input(play_screen_t *screen);
/* Nothing was typed for a while. */
void play_screen_rest(play_screen_t *screen);

/* The last line. */
void play_screen_summary(const play_screen_t *screen);

#endif

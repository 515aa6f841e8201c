/* What keys request while a recording is played. It knows neither the terminal nor the player: keys
 * go in, orders for the player come out. */
#ifndef TB_CLI_PLAY_CONTROL_H
#define TB_CLI_PLAY_CONTROL_H

#include <timebase/player.h>

#include "play_table.h"

#define PLAY_MARKS_MAX 100
#define PLAY_NOTE_SIZE 120

typedef enum play_order_kind {
  PLAY_NOTHING,
  PLAY_TOGGLE_PAUSED,
  PLAY_NEXT,
  PLAY_PREVIOUS,
  PLAY_SEEK,       /* to time_ns */
  PLAY_SCALE_RATE, /* by factor */
  PLAY_NORMAL_RATE,
  PLAY_REPEAT, /* from time_ns to to_ns */
  PLAY_END_REPEAT,
  PLAY_MUTE,   /* or unmute, the topic of the row `cursor` of those that are shown */
  PLAY_UNMUTE, /* all */
  PLAY_QUIT,
} play_order_kind_t;

typedef struct play_order {
  play_order_kind_t kind;
  int64_t time_ns, to_ns;
  double factor;
} play_order_t;

typedef struct play_control {
  int64_t bag_start_ns;
  int64_t marks[PLAY_MARKS_MAX]; /* rising */
  size_t mark_count;
  int64_t repeat_from_ns; /* A, while there is no B; 0: neither */
  int64_t undo_ns;        /* where the last seek began; 0: there was none */
  int64_t arrow_ns;       /* steady, of the last arrow; 0: another key came since */
  bool typing, filtering; /* `filtering`: what is typed is the filter, not a time */
  char typed[40];
  char filter[40]; /* of topics */
  play_sort_t sort;
  int cursor;      /* the row of topics that keys are about, counted from the first; -1: none */
  int cursor_seen; /* when it was drawn last: it scrolls only when it moves */
  bool helps;
  int scrolled; /* lines; corrected when drawing, which knows the end */
  char note[PLAY_NOTE_SIZE];
  int64_t note_end_ns; /* steady */
} play_control_t;

void play_control_init(play_control_t *control, int64_t bag_start_ns);

/* `now_ns`: steady time. */
play_order_t play_control_take(play_control_t *control, int key, const tb_player_status_t *status,
                               int64_t now_ns);

/* To a part of the recording, 0 to 1. `follows`: it goes on from the seek before, and is undone
 * with it. */
play_order_t play_control_seek_part(play_control_t *control, double part, bool follows,
                                    const tb_player_status_t *status);

/* Shows a note for some seconds. */
void play_control_note(play_control_t *control, int64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "" if there is no note. */
const char *play_control_noted(const play_control_t *control, int64_t now_ns);

#endif

/* What `timebase play` plays otherwise than it was recorded: names, silences, and pauses at topics.
 */
#ifndef TB_CLI_PLAY_CHANGES_H
#define TB_CLI_PLAY_CHANGES_H

#include <stdatomic.h>
#include <timebase/player.h>

#include "play_restamp.h"
#include "words.h"

typedef struct play_changes {
  const char *prefix; /* NULL: none */
  words_t pause_on;
  bool restamps;
  play_restamp_t restamp;
  char **rules; /* remap rules that the prefix makes, to NULL */
  const tb_bag_info_t *info;
  tb_player_t *_Atomic player;
} play_changes_t;

enum { PLAY_PREFIX = 0x800, PLAY_PAUSE_ON, PLAY_SKIP_SILENCE, PLAY_RESTAMP };
#define PLAY_CHANGE_OPTIONS                                                                        \
  {"prefix", required_argument, NULL, PLAY_PREFIX},                                                \
      {"pause-on", required_argument, NULL, PLAY_PAUSE_ON},                                        \
      {"pause-topics", required_argument, NULL, PLAY_PAUSE_ON},                                    \
      {"skip-silence", required_argument, NULL, PLAY_SKIP_SILENCE},                                \
  {                                                                                                \
    "restamp", no_argument, NULL, PLAY_RESTAMP                                                     \
  }
#define PLAY_CHANGE_HELP                                                                           \
  "  --prefix NS                 publish topic /A as /NS/A, unless --remap renames it\n"           \
  "  --pause-on T...             pause after each message of these topics; also --pause-topics\n"  \
  "  --skip-silence S            where no message comes for longer than S, go on with the next\n"  \
  "                              one at once: time steps forward to it\n"                          \
  "  --restamp                   move header stamps (also of transforms) to the time of\n"         \
  "                              playback: as old when sent as they were when received\n"

/* Room for the words of `argc` arguments. False: out of memory. */
bool play_changes_init(play_changes_t *changes, int argc);
void play_changes_fini(play_changes_t *changes);
/* False: a message was printed. */
bool play_changes_option(play_changes_t *changes, const command_t *command, int option, int argc,
                         char **argv, tb_player_options_t *player);

/* Once the recording is open: adds the rules of the prefix to *remaps. `owns_clock`: /clock is the
 * player's own, and keeps its name. EXIT_OK, or a message was printed. */
int play_changes_apply(play_changes_t *changes, const command_t *command, const tb_bag_info_t *info,
                       bool owns_clock, words_t *remaps);
/* For the next player, of a reader with `info`: sets its callback. */
void play_changes_begin(play_changes_t *changes, const tb_bag_info_t *info,
                        tb_player_options_t *options);

#endif

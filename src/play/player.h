/* Inside of tb_player_t. player.c makes and controls it, playback.c runs it. */
#ifndef TB_PLAY_PLAYER_H
#define TB_PLAY_PLAYER_H

#include <timebase/player.h>

#include "platform/mutex.h"
#include "platform/pacer.h"
#include "play/feed.h"
#include "server/flow.h"

#define TB__LATE_NS      (100 * TB_NS_PER_MS) /* beyond this, time is held back */
#define TB__ROUND_MIN_NS (10 * TB_NS_PER_MS)  /* a loop over one message must not spin */

struct tb_player {
  tb_play_transport_t transport;
  tb_player_options_t options;
  tb__pacer_t *pacer;
  tb__pacer_t own_pacer;
  void **handles;   /* by topic of the bag */
  int64_t start_ns; /* recorded time, of every round */
  atomic_bool stopping;
  atomic_bool started;

  /* Of the thread that runs. */
  tb__feed_t feed;
  tb_bag_message_t message; /* the next one to send */
  int64_t round_start_ns;   /* steady */
  int64_t late_report_ns;   /* steady; 0: none yet */

  tb__mutex_t mutex; /* guards what follows; never held while something else is called */
  tb__flow_t flow;
  tb_player_status_t status; /* but position and paused */
};

/* tb_player_create on another steady clock, which must outlive the player. NULL: the system's. */
tb_status_t tb__player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                              const tb_player_options_t *options, tb__pacer_t *pacer,
                              tb_player_t **out, tb_error_t *error);

#endif

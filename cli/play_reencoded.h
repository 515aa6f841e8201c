/* Playing a recording of one generation of ROS on a graph of the other: between the player and the
 * transport of the graph, messages are re-encoded by definition. */
#ifndef TB_CLI_PLAY_REENCODED_H
#define TB_CLI_PLAY_REENCODED_H

#include <timebase/bag_reader.h>

#include "command.h"
#include "play_forward.h"

typedef struct play_reencoded_topic play_reencoded_topic_t;

typedef struct play_reencoded {
  play_forward_t forward; /* to the transport of the graph */
  const command_t *command;
  bool to_ros1;
  play_reencoded_topic_t *topics;
  uint64_t empty; /* messages without a byte, of which nothing can be made */
} play_reencoded_t;

/* Whether a topic of the recording is not serialized as the graph has it. */
bool play_reencoded_is_needed(const tb_bag_info_t *info, bool to_ros1);

/* A transport for the player in front of `to`. Topics that have no counterpart are named on
 * standard error, once, and left out. End it after the player and before what `to` belongs to. */
tb_play_transport_t play_reencoded_begin(play_reencoded_t *self, const command_t *command,
                                         bool to_ros1, const tb_play_transport_t *to);
void play_reencoded_end(play_reencoded_t *self);

#endif

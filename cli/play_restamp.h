/* `timebase play --restamp`: header stamps are moved to the time of playback. Between the player
 * and where it plays to. */
#ifndef TB_CLI_PLAY_RESTAMP_H
#define TB_CLI_PLAY_RESTAMP_H

#include "command.h"
#include "definition/definitions.h"
#include "play_forward.h"

typedef struct play_restamp_topic play_restamp_topic_t;

typedef struct play_restamp {
  play_forward_t forward;
  const command_t *command;
  tb_clock_t *system;
  tb__definitions_t *definitions;
  play_restamp_topic_t *topics;
  int64_t log_ns; /* of the message that is sent */
  uint8_t *buffer;
  size_t capacity;
} play_restamp_t;

/* A transport for the player in front of *to, which becomes that. End it after the player, also
 * after a failure. TB_ERR_NO_MEMORY. */
tb_status_t play_restamp_begin(play_restamp_t *self, const command_t *command,
                               tb_play_transport_t *to) TB_WARN_UNUSED;
/* Before each message, on the thread that plays. */
void play_restamp_take(play_restamp_t *self, const tb_bag_message_t *message);
void play_restamp_end(play_restamp_t *self);

#endif

/* The player of a rehearsal: it plays some topics of a recording with /clock, in a loop, and can
 * withhold one of them. */
#ifndef TB_CLI_REHEARSE_PLAYER_H
#define TB_CLI_REHEARSE_PLAYER_H

#include <pthread.h>
#include <stdatomic.h>
#include <timebase/player.h>
#include <timebase/ros2_play_transport.h>

#include "command.h"

#define REHEARSE_PLAYER_NODE "rosbag2_player"

/* A topic on its way from the player to its publisher. */
typedef struct rehearse_outlet {
  const char *name;
  void *handle; /* of the transport */
} rehearse_outlet_t;

typedef struct rehearse_player {
  const command_t *command;
  tb_bag_reader_t *reader;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_play_transport_t *transport;
  tb_play_transport_t inner; /* of the transport */
  tb_player_t *player;
  rehearse_outlet_t *outlets; /* as many as the recording has topics */
  size_t outlet_count;
  _Atomic(void *) withheld; /* a handle; NULL: none */
  pthread_t thread;
  bool is_running; /* the thread */
  atomic_bool is_done;
  tb_status_t status; /* of the player, once it is done */
  tb_error_t error;
} rehearse_player_t;

/* Prepares to play these topics, named as in the recording. `clock_hz`: ticks a second. EXIT_OK, or
 * a message was printed; close it either way. */
int rehearse_player_open(const command_t *command, const char *bag, const char *const *topics,
                         size_t topic_count, double clock_hz, int domain, rehearse_player_t *out);
void rehearse_player_close(rehearse_player_t *player);
/* Starts to play. EXIT_OK, or a message was printed. */
int rehearse_player_start(rehearse_player_t *player);

/* No message of the topic goes out from now on; NULL: all do again. False: it is not played. */
bool rehearse_player_withhold(rehearse_player_t *player, const char *topic);

#endif

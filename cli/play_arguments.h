/* The arguments of `timebase play`. */
#ifndef TB_CLI_PLAY_ARGUMENTS_H
#define TB_CLI_PLAY_ARGUMENTS_H

#include <timebase/player.h>
#include <timebase/ros2_play_transport.h>

#include "bag_limits.h"
#include "bag_topics.h"
#include "command.h"
#include "play_changes.h"
#include "play_requests.h"
#include "play_screen.h"
#include "ros_arguments.h"

typedef struct play_arguments {
  tb_player_options_t player;
  tb_bag_limits_t limits;
  words_t bags, topics, exclude_topics, clock_topics, remaps;
  play_changes_t changes;
  bool wait_for_acks;
  uint64_t backlog_max;       /* bytes, where the player does not run ahead of subscriptions */
  tb_ros2_play_wait_t *waits; /* whose names are in memory of their own */
  size_t wait_count;
  const char *regex, *exclude_regex; /* NULL: none */
  const char *qos_path;              /* NULL: none */
  const char *manifest_path;         /* NULL: none */
  int32_t depth_max;                 /* of its policies; 0: as usual */
  play_screen_options_t screen;
  bool use_sim_time;
  bool ros1;             /* on a graph of ROS 1 */
  const char *own_clock; /* with use_sim_time: where --clock publishes, taken out of remaps */
  play_requests_options_t requests; /* that are sent, in place of their events */
  words_t services, exclude_services, actions, exclude_actions;
  ros_arguments_t ros;
  const char *shm;     /* the name of the clock in shared memory; NULL: none */
  bool no_clock_topic; /* there alone */
  int run;             /* 0: not given */
  bool has_burst;      /* it bursts first, and begins paused */
  int burst;           /* so many messages; 0: all */
  int domain;
} play_arguments_t;

/* Takes --ros-args out of `argv`, and makes room for the words that are left: *argc. False: out of
 * memory. */
bool play_arguments_init(play_arguments_t *arguments, int *argc, char **argv);
void play_arguments_fini(play_arguments_t *arguments);

/* An exit status; a message was printed unless it is EXIT_OK. */
int play_arguments_parse(const command_t *command, int argc, char **argv,
                         play_arguments_t *arguments, bool *out_help);

extern const char play_usage[], play_help[], play_burst_usage[], play_burst_help[];

#endif

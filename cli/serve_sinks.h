/* Where `timebase serve` publishes, and the services that control it. */
#ifndef TB_CLI_SERVE_SINKS_H
#define TB_CLI_SERVE_SINKS_H

#include <timebase/clock_server.h>
#include <timebase/shm_publisher.h>
#include <timebase/tick_sink.h>

#include "command.h"
#include "publishers.h"
#include "serve_ros1.h"

typedef struct serve_places {
  bool ros2, ros1;               /* on a topic of these graphs */
  const char *topic;             /* on both */
  const char *node, *name_space; /* of the topic's node */
  const char *shm;               /* NULL: none */
  int domain;                    /* of ROS 2; -1: ROS_DOMAIN_ID */
  int argc;                      /* of the command, if it has ROS arguments; else 0 */
  const char *const *argv;
} serve_places_t;

typedef struct serve_sinks {
  void *context;   /* tb_ros2_context_t */
  void *node;      /* tb_ros2_node_t */
  void *publisher; /* tb_ros2_clock_publisher_t */
  void *services;  /* tb_ros2_simulation_services_t */
  publishers_watch_t others;
  tb_shm_publisher_t *shm;
  serve_ros1_t ros1;
  tb_tick_sink_t sinks[3];
  size_t count;
} serve_sinks_t;

/* Removes ROS arguments from those of the command. Returns the number of the remaining ones. */
int serve_sinks_remove_ros_arguments(int argc, char **argv);

/* EXIT_OK, or a message has been printed. Close them either way. */
int serve_sinks_open(const command_t *command, const serve_places_t *places, serve_sinks_t *out);

/* Offers control services on the graph, if there is one; a step is `step` (0: a tick). `on_quit`
 * may be called on any thread. Returns as serve_sinks_open. */
int serve_sinks_offer_services(const command_t *command, serve_sinks_t *sinks,
                               tb_clock_server_t *server, tb_duration_t step,
                               void (*on_quit)(void *user), void *user);
/* Warns of other publishers of the topic when the graph has settled. To be called periodically. */
void serve_sinks_poll_publishers(const command_t *command, serve_sinks_t *sinks);
/* Before the server is destroyed. */
void serve_sinks_end_services(serve_sinks_t *sinks);

void serve_sinks_close(serve_sinks_t *sinks);

#endif

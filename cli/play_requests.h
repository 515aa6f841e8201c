/* Recorded events of services and actions, played as requests: between the player and the transport
 * of the graph, the request in an event is sent to the service by a client. */
#ifndef TB_CLI_PLAY_REQUESTS_H
#define TB_CLI_PLAY_REQUESTS_H

#include <stdatomic.h>
#include <timebase/ros2_node.h>

#include "command.h"
#include "definition/definitions.h"
#include "definition/service_event.h"
#include "play_forward.h"
#include "play_goals.h"

typedef struct play_requests_service play_requests_service_t;

typedef struct play_requests_options {
  bool services;                   /* of services that are of no action */
  bool actions;                    /* of goals; what else belongs to an action is left out then */
  tb__service_event_type_t source; /* the events whose requests are sent */
} play_requests_options_t;

typedef struct play_requests {
  play_forward_t forward; /* to the transport of the graph */
  const command_t *command;
  tb_ros2_node_t *node;
  play_requests_options_t options;
  tb__definitions_t *definitions;
  play_goals_t goals;
  atomic_bool is_interrupted;
  play_requests_service_t *services;
} play_requests_t;

/* The value of --service-requests-source. False: said what is wrong with it. */
bool play_requests_parse_source(const command_t *command, const char *text,
                                tb__service_event_type_t *out);
/* A transport for the player in front of `to`. Services whose definition is unknown are named on
 * standard error, once, and left out. End it after the player and before the node, also after a
 * failure. */
tb_status_t play_requests_begin(play_requests_t *self, const command_t *command,
                                tb_ros2_node_t *node, const play_requests_options_t *options,
                                tb_play_transport_t *to) TB_WARN_UNUSED;
/* What went wrong first with a service, once; to be freed. NULL: nothing. On the thread that ends
 * it. */
char *play_requests_take_warning(play_requests_t *self);
/* What was not sent is printed. */
void play_requests_end(play_requests_t *self);

#endif

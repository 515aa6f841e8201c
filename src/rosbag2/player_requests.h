/* What the services of rosbag2_interfaces do to a player: a decoded request, calls of the player,
 * the response. Sends nothing. */
#ifndef TB_ROSBAG2_PLAYER_REQUESTS_H
#define TB_ROSBAG2_PLAYER_REQUESTS_H

#include <timebase/player.h>

#include "rosbag2/player_messages.h"

/* The message for the service's type. */
typedef union tb__player_answer {
  tb__empty_message_t empty;
  tb__trigger_response_t state;
  tb__is_paused_response_t is_paused;
  tb__success_response_t success;
  tb__rate_message_t rate;
  tb__burst_response_t burst;
  tb__result_response_t result;
} tb__player_answer_t;

typedef struct tb__player_service {
  const char *name; /* relative */
  const char *type;
  const tb__cdr_type_t *request, *response; /* of ROS 2 jazzy */
  const tb__service_form_t *forms;          /* NULL: these two are the only ones */
  /* `request` may hold any values; the answer is zeroed. NULL: see `steps`. */
  void (*carry_out)(tb_player_t *player, const void *request, tb__player_answer_t *out);
  /* Waits until messages are sent: how many (0: all), and the answer after them. */
  uint64_t (*steps)(const void *request);
  void (*stepped)(uint64_t sent, tb__player_answer_t *out);
  /* NULL: always at once. The time of the node's clock at which it is to be carried out. */
  int64_t (*at_ns)(const void *request);
} tb__player_service_t;

#define TB__PLAYER_SERVICE_COUNT 12

extern const tb__player_service_t tb__player_services[TB__PLAYER_SERVICE_COUNT];

#endif

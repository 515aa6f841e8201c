/* The safety output of a stack: whether it has tripped, as of its last message. */
#ifndef TB_CLI_REHEARSE_SAFETY_H
#define TB_CLI_REHEARSE_SAFETY_H

#include <pthread.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_subscription.h>

#include "command.h"
#include "contract/manifest.h"
#include "contract/trip.h"
#include "definition/definitions.h"

typedef struct rehearse_safety {
  const tb__manifest_safety_t *declared;
  tb_ros2_subscription_t *subscription; /* NULL: it is not open */
  const tb__schema_t *schema;
  tb__field_path_t *field;
  char why[TB_ERROR_TEXT_SIZE]; /* it cannot be read; "": nothing is known against it */
  pthread_mutex_t lock;         /* for `trip`, which a thread of DDS feeds */
  tb__trip_t trip;
} rehearse_safety_t;

void rehearse_safety_init(rehearse_safety_t *safety, const tb__manifest_safety_t *declared);
/* Begins to listen to a publisher of the topic, whose messages are of the definition. On failure
 * `why` has the reason. */
void rehearse_safety_open(rehearse_safety_t *safety, tb_ros2_context_t *context,
                          const tb_ros2_graph_endpoint_t *publisher,
                          const tb__known_definition_t *definition);
void rehearse_safety_close(rehearse_safety_t *safety);

tb__trip_t rehearse_safety_state(rehearse_safety_t *safety);

#endif

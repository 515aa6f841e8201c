/* Asks the nodes of a graph for the definitions of the types that they publish, by the service
 * ~/get_type_description, which they have from jazzy on. Nothing here blocks: what is awaited is
 * looked at in each step. All calls on one thread. */
#ifndef TB_CLI_DEFINITION_REQUESTS_H
#define TB_CLI_DEFINITION_REQUESTS_H

#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>

#include "definition/definitions.h"

typedef struct definition_requests definition_requests_t;

/* NULL: no memory. Destroy it before the context, and before the definitions. */
definition_requests_t *definition_requests_create(tb_ros2_context_t *context,
                                                  tb__definitions_t *definitions);
/* Accepts NULL. */
void definition_requests_destroy(definition_requests_t *requests);

/* The definition of what a publisher publishes. It is AWAITED until a node that publishes this type
 * of this hash was asked, or is not there. TB_ERR_LIMIT, TB_ERR_NO_MEMORY. */
tb_status_t definition_requests_get(definition_requests_t *requests,
                                    const tb_ros2_graph_endpoint_t *publisher,
                                    tb__definition_entry_t **out) TB_WARN_UNUSED;

/* Sends requests, takes answers in, gives up what is late: at most 4 at once, up to three nodes for
 * each type, 3 s for each node, and 1 s (5 s while processes have not announced their nodes) until
 * there is one that has the service. To be called about every 100 ms. `steady_ns` is now. */
void definition_requests_step(definition_requests_t *requests,
                              const tb_ros2_graph_snapshot_t *snapshot, int64_t steady_ns);

/* How many types are awaited. */
size_t definition_requests_awaited(const definition_requests_t *requests);

#endif

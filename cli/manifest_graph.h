/* What a live graph shows of what a manifest declares. */
#ifndef TB_CLI_MANIFEST_GRAPH_H
#define TB_CLI_MANIFEST_GRAPH_H

#include "contract/manifest_draft.h"
#include "contract/time_base.h"
#include "graph_view.h"
#include "node_times.h"

typedef struct manifest_graph {
  graph_view_t view;
  node_time_t *times;                     /* of each node of the view's snapshot */
  tb__base_verdict_t *verdicts;           /* of each */
  const tb_ros2_graph_endpoint_t *clocks; /* publishers of the clock's topic */
  size_t clock_count;
  /* Measured while it was observed. */
  uint64_t ticks, jumps_backward, faults;
  double rate_hz, factor; /* 0: not known */
} manifest_graph_t;

/* Looks at the graph: nodes, what they answer, and for a second the ticks of the topic (NULL:
 * "/clock") if it has a publisher. EXIT_OK, or a message was printed; close it either way. */
int manifest_graph_open(const command_t *command, const graph_options_t *options,
                        const char *clock_topic, manifest_graph_t *out);
void manifest_graph_close(manifest_graph_t *graph);

/* Whether the node uses simulated time, as far as that was observed. */
tb__known_bool_t manifest_graph_sim_time(const manifest_graph_t *graph, size_t node);

/* The full name of the node of an endpoint; NULL: it has none, or it is not known. */
const char *manifest_graph_owner(const manifest_graph_t *graph,
                                 const tb_ros2_graph_endpoint_t *endpoint);

/* The facts for a draft, which point into the graph; the arrays are to be freed. False: no memory.
 */
bool manifest_graph_facts(const manifest_graph_t *graph, tb__draft_facts_t *out);

#endif

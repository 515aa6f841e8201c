/* The graph as far as it has been told of: participants, endpoints, and what participants say of
 * their nodes, in whatever order it comes. Pure. */
#ifndef TB_ROS2_GRAPH_MODEL_H
#define TB_ROS2_GRAPH_MODEL_H

#include "dds/builtin_topics.h"
#include "wire/messages.h"

typedef struct tb__graph_participant {
  uint8_t guid[16];
  bool is_known;  /* DDS has told of it; else it has only spoken itself */
  bool is_ros;    /* has an enclave */
  char *enclave;  /* NULL: none */
  bool is_humble; /* the form of `info` */
  uint8_t info_writer[16];
  tb__participant_entities_info_t *info; /* its last word on its nodes; NULL: none */
} tb__graph_participant_t;

/* One block with its texts. */
typedef struct tb__graph_endpoint {
  tb_ros2_graph_endpoint_t shown; /* but for the node */
  char text[];
} tb__graph_endpoint_t;

typedef struct tb__graph_model {
  tb__graph_participant_t *participants; /* by GUID */
  size_t participant_count;
  size_t unknown_count;             /* of those, not known */
  tb__graph_endpoint_t **endpoints; /* by GUID */
  size_t endpoint_count;
  uint64_t malformed, foreign; /* samples ignored: see tb_ros2_graph_snapshot_t */
} tb__graph_model_t;

/* One of zeros is an empty one. */
void tb__graph_model_fini(tb__graph_model_t *model);

/* All three: TB_OK also for what is ignored, TB_ERR_NO_MEMORY: the model misses something. */
tb_status_t tb__graph_model_participant(tb__graph_model_t *model,
                                        const tb__seen_participant_t *seen);
tb_status_t tb__graph_model_endpoint(tb__graph_model_t *model, const tb__seen_endpoint_t *seen);

/* A sample of ros_discovery_info: any bytes of anybody. A writer of zeros is gone already. */
tb_status_t tb__graph_model_info(tb__graph_model_t *model, const uint8_t writer[16],
                                 const void *cdr, size_t size);

/* NULL: DDS has not told of it. */
const tb__graph_participant_t *tb__graph_model_find(const tb__graph_model_t *model,
                                                    const uint8_t guid[16]);

/* The nodes that are shown of a participant. */
size_t tb__graph_participant_nodes(const tb__graph_participant_t *participant,
                                   const tb__node_entities_info_t **out);

/* The place of the endpoint in model->endpoints; endpoint_count: there is none. */
size_t tb__graph_model_endpoint_find(const tb__graph_model_t *model, const uint8_t guid[16]);

bool tb__graph_model_has_node(const tb__graph_model_t *model, const char *full_name);

#endif

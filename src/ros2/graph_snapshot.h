/* The graph at one moment, built from the model. Pure. */
#ifndef TB_ROS2_GRAPH_SNAPSHOT_H
#define TB_ROS2_GRAPH_SNAPSHOT_H

#include "dds/guid.h"
#include "ros2/graph_model.h"

/* One block: free(*out) frees all of it. `own`: the GUID of this context's participant.
 * TB_ERR_NO_MEMORY. */
TB_WARN_UNUSED tb_status_t tb__graph_snapshot_build(const tb__graph_model_t *model,
                                                    const tb__guid_t *own, uint32_t change,
                                                    tb_ros2_graph_snapshot_t **out);

#endif

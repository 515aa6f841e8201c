/* The graph as discovered so far: participants, endpoints, and the nodes that participants
 * announce, in whatever order they arrive. Pure. */
#ifndef TB_ROS2_GRAPH_MODEL_H
#define TB_ROS2_GRAPH_MODEL_H

#include "dds/builtin_topics.h"
#include "dds/guid.h"
#include "wire/messages.h"

typedef struct tb__graph_participant {
  tb__guid_t guid;
  bool is_known;   /* DDS has reported it; else only its own announcement was received */
  bool is_ros;     /* has an enclave */
  char *enclave;   /* NULL: none */
  char *addresses; /* where DDS reaches it; NULL: DDS has not reported it */
  char host_name[TB__SEEN_HOST_NAME_SIZE]; /* of its process; "": not known */
  uint64_t process_id;                     /* there; 0: not known */
  bool is_humble;                          /* the form of `info` */
  bool is_unreadable;                      /* its latest announcement of nodes was not one of ROS */
  bool is_withdrawn;                       /* the endpoint that announces them is gone */
  bool is_discovered;                      /* its writers were all known at some time */
  tb__guid_t info_writer;
  tb__participant_entities_info_t *info; /* its latest announcement of nodes; NULL: none */
} tb__graph_participant_t;

/* One block with its texts. */
typedef struct tb__graph_endpoint {
  tb_ros2_graph_endpoint_t shown; /* except the node */
  char text[];
} tb__graph_endpoint_t;

typedef struct tb__graph_model {
  tb__graph_participant_t *participants; /* by GUID */
  size_t participant_count;
  size_t unknown_count;             /* of these, not known */
  tb__graph_endpoint_t **endpoints; /* by GUID */
  size_t endpoint_count;
  uint64_t malformed, foreign;              /* samples ignored: see tb_ros2_graph_snapshot_t */
  char interfaces[TB__SEEN_ADDRESSES_SIZE]; /* addresses of the participant of this context */
} tb__graph_model_t;

/* A model of zeros is empty. */
void tb__graph_model_fini(tb__graph_model_t *model);

/* These three return TB_OK also for what they ignore. TB_ERR_NO_MEMORY: the model is incomplete. */
TB_WARN_UNUSED tb_status_t tb__graph_model_participant(tb__graph_model_t *model,
                                                       const tb__seen_participant_t *seen);
TB_WARN_UNUSED tb_status_t tb__graph_model_endpoint(tb__graph_model_t *model,
                                                    const tb__seen_endpoint_t *seen);

/* A sample of ros_discovery_info, which may be any bytes. A writer of zeros is gone already. */
TB_WARN_UNUSED tb_status_t tb__graph_model_info(tb__graph_model_t *model, const tb__guid_t *writer,
                                                const void *cdr, size_t size);

/* NULL: DDS has not reported it. */
const tb__graph_participant_t *tb__graph_model_find(const tb__graph_model_t *model,
                                                    const tb__guid_t *guid);

/* The participant from index *at on that is waited for only because its writers may not have
 * arrived yet; *at is moved to after it. False: there is none. */
bool tb__graph_model_next_undiscovered(const tb__graph_model_t *model, size_t *at,
                                       tb__guid_t *out_guid);

/* Its writers have all arrived; there may be new ones. */
void tb__graph_model_discovered(tb__graph_model_t *model, const tb__guid_t *guid);

/* What is known of the nodes of a participant that DDS has reported. */
tb_ros2_participant_state_t tb__graph_participant_state(const tb__graph_model_t *model,
                                                        const tb__graph_participant_t *participant);

/* The nodes of a participant to show. */
size_t tb__graph_participant_nodes(const tb__graph_participant_t *participant,
                                   const tb__node_entities_info_t **out);

/* The index of the endpoint in model->endpoints; endpoint_count: there is none. */
size_t tb__graph_model_endpoint_find(const tb__graph_model_t *model, const tb__guid_t *guid);

bool tb__graph_model_has_node(const tb__graph_model_t *model, const char *full_name);

#endif

/* Announces the nodes of a context on the graph: a sample of ros_discovery_info has all of them,
 * and is sent again at each change (rmw_dds_common). */
#ifndef TB_ROS2_ANNOUNCER_H
#define TB_ROS2_ANNOUNCER_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

#include "dds/guid.h"
#include "dds/participant.h"
#include "dds/raw_writer.h"
#include "platform/mutex.h"
#include "wire/messages.h"

typedef struct tb__announcer tb__announcer_t;

/* The GIDs of readers, or of writers. */
typedef struct tb__gid_list {
  tb__gid_t *items;
  size_t count, size;
} tb__gid_list_t;

/* A node, as it is announced. */
typedef struct tb__announced_node {
  tb__announcer_t *announcer;
  struct tb__announced_node *next;
  const char *name, *name_space; /* outlive it */
  tb__gid_list_t readers, writers;
  bool is_announced; /* it is on the announcer's list */
} tb__announced_node_t;

/* The endpoints of one publisher, subscription, client or service of a node; zeros: none. */
typedef struct tb__announced {
  tb__announced_node_t *node;
  bool has_reader, has_writer;
  tb__guid_t reader, writer;
} tb__announced_t;

struct tb__announcer {
  tb__participant_t *participant;
  bool humble;
  tb__mutex_t mutex; /* what follows, and the order of the samples */
  tb__raw_writer_t *writer;
  tb__announced_node_t *nodes; /* in order of creation */
};

void tb__announcer_init(tb__announcer_t *announcer, tb__participant_t *participant, bool humble);
void tb__announcer_fini(tb__announcer_t *announcer);

/* Endpoints may be added at any time afterwards; those added before the first report are sent with
 * it. */
void tb__announced_node_init(tb__announced_node_t *node, tb__announcer_t *announcer,
                             const char *name, const char *name_space);
TB_WARN_UNUSED tb_status_t tb__announced_node_report(tb__announced_node_t *node, tb_error_t *error);
/* Withdraws the node: endpoints that are removed afterwards are not announced one by one. */
void tb__announced_node_withdraw(tb__announced_node_t *node);
/* All of its endpoints must have been removed. */
void tb__announced_node_fini(tb__announced_node_t *node);

/* One of the GUIDs may be NULL. On failure nothing is announced. */
TB_WARN_UNUSED tb_status_t tb__announced_add(tb__announced_t *endpoints, tb__announced_node_t *node,
                                             const tb__guid_t *reader, const tb__guid_t *writer,
                                             tb_error_t *error);
/* Does nothing if they were not added. */
void tb__announced_remove(tb__announced_t *endpoints);

#endif

/* What a context tells the graph about its nodes: the sample of ros_discovery_info that holds all
 * of them, sent anew with each change (rmw_dds_common). */
#ifndef TB_ROS2_ANNOUNCER_H
#define TB_ROS2_ANNOUNCER_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

#include "dds/participant.h"
#include "dds/raw_writer.h"
#include "platform/mutex.h"
#include "wire/messages.h"

typedef struct tb__announcer tb__announcer_t;

/* The ids of readers, or of writers. */
typedef struct tb__gid_list {
  tb__gid_t *items;
  size_t count, size;
} tb__gid_list_t;

/* A node, as it is told. */
typedef struct tb__announced_node {
  tb__announcer_t *announcer;
  struct tb__announced_node *next;
  const char *name, *name_space; /* live as long as it */
  tb__gid_list_t readers, writers;
  bool is_told; /* it is on the announcer's list */
} tb__announced_node_t;

/* What one publisher, subscription, client or service of a node has; zero: nothing. */
typedef struct tb__announced {
  tb__announced_node_t *node;
  bool has_reader, has_writer;
  uint8_t reader[16], writer[16]; /* GUIDs */
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

/* Its endpoints may be added before and after this: those from before go out with the first sample.
 */
void tb__announced_node_init(tb__announced_node_t *node, tb__announcer_t *announcer,
                             const char *name, const char *name_space);
tb_status_t tb__announced_node_report(tb__announced_node_t *node, tb_error_t *error);
/* Takes it back: endpoints that are removed after this are not told one by one. */
void tb__announced_node_take_back(tb__announced_node_t *node);
/* All of its endpoints are removed. */
void tb__announced_node_fini(tb__announced_node_t *node);

/* GUIDs, of which one may be NULL. On failure nothing is told. */
tb_status_t tb__announced_add(tb__announced_t *endpoints, tb__announced_node_t *node,
                              const uint8_t *reader, const uint8_t *writer, tb_error_t *error);
/* What was not added: does nothing. */
void tb__announced_remove(tb__announced_t *endpoints);

#endif

/* A topic that a node publishes: registered with the master, with a connection from each
 * subscriber. A message is sent on the thread that publishes it, and what a connection does not
 * take at once waits in its queue, which is short: a slow subscriber costs its own messages only.
 */
#ifndef TB_ROS1_PUBLICATION_H
#define TB_ROS1_PUBLICATION_H

#include <timebase/error.h>

#include "ros1/publisher_link.h"
#include "ros1/registration.h"
#include "ros1/subscriber_link.h"

#define TB__PUBLICATION_LINKS_MAX   256
#define TB__PUBLICATION_ORIGINS_MAX 256

/* The last message of one of those that a topic is published for. */
typedef struct tb__ros1_latest {
  struct tb__ros1_latest *next;
  tb__ros1_frame_t *frame;
  char origin[];
} tb__ros1_latest_t;

typedef struct tb__ros1_publication {
  struct tb__ros1_publication *next;
  struct tb__ros1_node *node;
  char name[TB__ROS1_NAME_SIZE];
  char *type, *md5sum, *definition; /* own */
  bool is_latched;
  uint32_t queue_size; /* of each subscriber, above 0 */
  tb__ros1_registration_t registration;
  tb__ros1_task_t attention;    /* links want to send, or are broken */
  tb__mutex_t mutex;            /* of the following */
  tb__subscriber_link_t *links; /* changed on the loop's thread only */
  _Atomic uint32_t link_count;  /* changed under the mutex */
  tb__ros1_latest_t *latest;    /* while it is latched, in the order of their last messages */
  _Atomic uint64_t dropped;     /* messages that queues had no room for */
  _Atomic uint32_t named;       /* subscribers that the master knew last; UINT32_MAX: unknown */
} tb__ros1_publication_t;

/* On the loop's thread. name, type, md5sum, definition, is_latched and queue_size are set. */
tb_status_t tb__ros1_publication_open(tb__ros1_publication_t *self, struct tb__ros1_node *node,
                                      tb_error_t *error) TB_WARN_UNUSED;
/* Closes the connections, what waits in them is lost, and tells the master. On the loop's thread;
 * nobody publishes any more. */
void tb__ros1_publication_close(tb__ros1_publication_t *self);

/* A serialized message; if it is latched it takes the place of the last one of `origin`, at most
 * TB__PUBLICATION_ORIGINS_MAX of which are known. Never blocks. TB_ERR_NO_MEMORY: some have not got
 * it. [any thread] */
tb_status_t tb__ros1_publication_send(tb__ros1_publication_t *self, const char *origin,
                                      const void *message, size_t size);
/* How many messages wait for the slowest subscriber. [any thread] */
uint32_t tb__ros1_publication_waiting(tb__ros1_publication_t *self);
/* From its connection, once its header fits. False: there are too many. On the loop's thread. */
bool tb__ros1_publication_add(tb__ros1_publication_t *self, tb__subscriber_link_t *link,
                              tb__ros1_frame_t *answer);
/* The link is not in it any more. On the loop's thread. */
void tb__ros1_publication_remove(tb__ros1_publication_t *self, tb__subscriber_link_t *link);

#endif

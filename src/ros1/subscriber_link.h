/* The connection from one subscriber: checks its header, answers, and sends. */
#ifndef TB_ROS1_SUBSCRIBER_LINK_H
#define TB_ROS1_SUBSCRIBER_LINK_H

#include "ros1/frame.h"
#include "ros1/loop.h"
#include "ros1/publisher_link.h"
#include "ros1/uri.h"

struct tb__ros1_publication;
struct tb__tcpros_server;

typedef struct tb__subscriber_link {
  struct tb__subscriber_link *next; /* of the server until it has a publication, then of that */
  struct tb__tcpros_server *server;
  struct tb__ros1_publication *publication; /* NULL: its header has not come */
  uint64_t id;                              /* never used again in the process */
  tb__ros1_watch_t watch;
  tb__ros1_timer_t timer; /* of the header */
  uint8_t *bytes;         /* of the header; NULL once it is whole */
  size_t size;
  char subscriber[TB__ROS1_NAME_SIZE]; /* the name that it gave */
  char peer[TB__ROS1_HOST_SIZE];       /* "127.0.0.1:1234" */
  /* Guarded by the mutex of the publication: */
  int fd;         /* to send; -1: it is broken */
  bool wants_out; /* something waits */
  tb__ros1_frame_t *sending;
  size_t sent;             /* of it */
  tb__ros1_frame_t **ring; /* what waits after it */
  uint32_t first, count, room;
} tb__subscriber_link_t;

/* Takes over the descriptor. NULL: out of memory, or of descriptors; it is closed. On the loop's
 * thread. */
tb__subscriber_link_t *tb__subscriber_link_create(struct tb__tcpros_server *server, int fd,
                                                  const char *peer);
/* Not in a publication any more. On the loop's thread. */
void tb__subscriber_link_destroy(tb__subscriber_link_t *link);

/* The following hold the mutex of the publication. */

/* Keeps the frame to be sent after what waits; the oldest goes if there are `room` already. False:
 * one went. */
bool tb__subscriber_link_queue(tb__subscriber_link_t *link, tb__ros1_frame_t *frame);
/* Sends what waits, as far as the connection takes it. */
void tb__subscriber_link_flush(tb__subscriber_link_t *link);
/* How much of the bytes the connection took; nothing waits before them. */
size_t tb__subscriber_link_send(tb__subscriber_link_t *link, const uint8_t *bytes, size_t size);

#endif

/* The connection to one publisher of a topic: asks its node for the port, connects, checks the
 * header, takes the messages in, and begins again when it is lost. */
#ifndef TB_ROS1_PUBLISHER_LINK_H
#define TB_ROS1_PUBLISHER_LINK_H

#include "ros1/xmlrpc_client.h"

#define TB__ROS1_NAME_SIZE 256 /* of nodes and topics, with the zero */

/* What is subscribed to. The texts live as long as the links. */
typedef struct tb__ros1_topic {
  const char *name, *type, *md5sum; /* type and md5sum "*": any */
  const char *former_type;          /* a type of the same md5sum that is accepted too; NULL: none */
  uint32_t message_max; /* bytes; the connection of a publisher that announces more is closed */
} tb__ros1_topic_t;

typedef enum tb__publisher_link_state {
  TB__LINK_IDLE,    /* until the timer expires */
  TB__LINK_ASKING,  /* requestTopic */
  TB__LINK_DIALING, /* the port that it has answered */
  TB__LINK_GREETING,
  TB__LINK_OPEN,
} tb__publisher_link_state_t;

/* What a publisher has announced. Own texts; "" for what its header does not have. */
typedef struct tb__ros1_announced {
  char *type, *md5sum, *definition;
  bool is_latched;
} tb__ros1_announced_t;

struct tb__publisher_link;

/* Called on the loop's thread; they must not destroy the link. */
typedef struct tb__publisher_link_events {
  void (*changed)(struct tb__publisher_link *link, void *user); /* it is open, or no longer */
  void (*message)(struct tb__publisher_link *link, const uint8_t *bytes, size_t size, void *user);
  void *user;
} tb__publisher_link_events_t;

typedef struct tb__publisher_link {
  struct tb__publisher_link *next;
  bool is_listed; /* for the owner */
  uint64_t id;    /* never used again in the process */
  tb__ros1_loop_t *loop;
  const char *node_name; /* own */
  const tb__ros1_topic_t *topic;
  tb__publisher_link_events_t events;
  tb__ros1_uri_t uri; /* of the node's XML-RPC server */
  tb__publisher_link_state_t state;
  tb__ros1_turn_t turn; /* until it is open; while idle it may wait for it */
  tb__xmlrpc_exchange_t exchange;
  tb__ros1_dial_t dial;
  tb__ros1_watch_t watch;
  tb__ros1_timer_t timer;
  int64_t retry_ns;    /* the next delay */
  int64_t reported_ns; /* when a failure was logged last; 0: never */
  bool has_worked;     /* since then */
  uint8_t *bytes;      /* what came in; while greeting: before that what goes out */
  size_t size, room, sent;
  uint32_t reads,
      reads_to_ack; /* since the kernel was asked to delay acknowledgements, and until */
  bool has_burst;   /* several messages came at once since then */
  char publisher[TB__ROS1_NAME_SIZE]; /* the name that its node gave; "" before */
  tb__ros1_announced_t announced;     /* while it is open */
} tb__publisher_link_t;

/* TB_ERR_NO_MEMORY. */
tb_status_t tb__publisher_link_create(tb__ros1_loop_t *loop, const char *node_name,
                                      const tb__ros1_topic_t *topic, const tb__ros1_uri_t *uri,
                                      const tb__publisher_link_events_t *events,
                                      tb__publisher_link_t **out) TB_WARN_UNUSED;
void tb__publisher_link_destroy(tb__publisher_link_t *link);
/* Whether it is not open, and was lost since the last message. */
bool tb__publisher_link_fails(const tb__publisher_link_t *link);

/* What the header of a publisher must have: `error` none, md5sum and type those of the topic.
 * Copies its name. TB_ERR_CORRUPT, TB_ERR_LIMIT; TB_ERR_TRANSPORT: it refused; TB_ERR_VERSION:
 * another message. */
tb_status_t tb__publisher_header_check(const tb__ros1_topic_t *topic, const uint8_t *bytes,
                                       size_t size, char out_publisher[TB__ROS1_NAME_SIZE],
                                       tb_error_t *error) TB_WARN_UNUSED;

#endif

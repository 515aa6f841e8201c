/* A node of a ROS 1 graph: its name, its master, and what it has registered there. It polls the
 * master, and registers again with one that was restarted, which knows nothing any more. */
#ifndef TB_ROS1_NODE_H
#define TB_ROS1_NODE_H

#include "ros1/publication.h"
#include "ros1/subscription.h"
#include "ros1/tcpros_server.h"

typedef struct tb__ros1_farewell tb__ros1_farewell_t;

typedef struct tb__ros1_node {
  tb__ros1_loop_t *loop;
  char name[TB__ROS1_NAME_SIZE];
  tb__ros1_uri_t master;
  char uri[TB__ROS1_URI_SIZE];   /* of its own XML-RPC server */
  char host[TB__ROS1_HOST_SIZE]; /* under which others reach it */
  bool is_loopback_only;
  tb__tcpros_server_t tcpros;
  tb__ros1_registration_t *registrations;
  tb__ros1_subscription_t *subscriptions;
  tb__ros1_publication_t *publications;
  tb__ros1_timer_t timer;
  tb__xmlrpc_exchange_t poll;
  bool master_is_known;  /* it has answered the last poll */
  bool master_is_failed; /* and it was logged that it does not answer */
  bool was_registered;   /* by this node: from here on another uri is a node that took the name */
  atomic_bool is_displaced; /* another node has taken the name */
  bool was_asked_to_end;    /* which was logged */
  tb__ros1_farewell_t *farewells;
  _Atomic uint32_t farewell_count; /* futex */
} tb__ros1_node_t;

/* `name`, `host` and the two URIs are set before. */
void tb__ros1_node_begin(tb__ros1_node_t *node, tb__ros1_loop_t *loop);
/* Waits a moment, and no longer than `limit_ns`, until the master has heard what was unregistered.
 * [any thread but the loop's] */
void tb__ros1_node_end(tb__ros1_node_t *node, int64_t limit_ns);

/* Makes the same calls for a topic again, "registerSubscriber" or "registerPublisher". False:
 * nothing is registered so. */
bool tb__ros1_node_renew(tb__ros1_node_t *node, const char *call, const char *topic);
/* Calls the master in the background, whatever it answers. Takes over what `call` holds. What is
 * registered by `renews` (may be NULL) for `topic` is registered again afterwards. `after` (NULL:
 * nothing) is taken over too, and ends before: the master handles calls on threads of its own, in
 * any order. */
void tb__ros1_node_say(tb__ros1_node_t *node, tb__xmlrpc_writer_t *call, const char *renews,
                       const char *topic, tb__ros1_registering_t *after);
/* Logs it, once until the master answers again. */
void tb__ros1_node_master_failed(tb__ros1_node_t *node, const char *why);

/* Asks the master now whether the name is still that of this node. */
void tb__ros1_node_poll(tb__ros1_node_t *node);

/* What a caller of the node's XML-RPC server asks; the answer is written to `out`. */
void tb__ros1_node_answer(tb__ros1_node_t *node, const tb__xmlrpc_message_t *call,
                          tb__xmlrpc_writer_t *out);

#endif

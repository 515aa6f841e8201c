/* What a node has registered with its master: a subscription or a publication of a topic. It is
 * registered again and again, as a master that was restarted knows nothing any more. */
#ifndef TB_ROS1_REGISTRATION_H
#define TB_ROS1_REGISTRATION_H

#include "ros1/turns.h"
#include "ros1/xmlrpc_client.h"

struct tb__ros1_node;

/* A call that registers, or that sets a parameter. It outlives a registration, or a setter, that
 * ends meanwhile: what takes it back must come to the master after it. */
typedef struct tb__ros1_registering {
  tb__xmlrpc_exchange_t exchange;
  struct tb__ros1_registration *registration; /* NULL: it is a setter's */
  struct tb__sim_time_setter *setter;
  struct tb__ros1_farewell *farewell; /* once that has ended */
  tb__ros1_turn_t turn;
} tb__ros1_registering_t;

typedef struct tb__ros1_registration {
  struct tb__ros1_registration *next; /* of the node */
  struct tb__ros1_node *node;
  /* Set before, and valid as long as it is begun. */
  const char *call, *farewell; /* "registerSubscriber", "unregisterSubscriber" */
  const char *topic, *type;
  /* The array that the master has answered: the URIs of the other side. On the loop's thread. */
  void (*registered)(struct tb__ros1_registration *self, const tb__xmlrpc_value_t *uris);
  tb__ros1_registering_t *registering; /* NULL: no call is under way or waits */
  tb__ros1_timer_t timer;              /* of the next call */
  int64_t called_ns;                   /* when the last one was begun; 0: never */
  bool is_stale;                       /* what it will answer may have changed */
} tb__ros1_registration_t;

/* As soon as the master answers. */
void tb__ros1_registration_begin(tb__ros1_registration_t *self, struct tb__ros1_node *node);
/* Tells the master; `registered` is not called any more. */
void tb__ros1_registration_end(tb__ros1_registration_t *self);
/* Registers now, or a moment after the last time. */
void tb__ros1_registration_renew(tb__ros1_registration_t *self);

/* Ends the call, and frees it. NULL: does nothing. */
void tb__ros1_registering_drop(tb__ros1_registering_t *registering, struct tb__ros1_node *node);

#endif

/* A subscription of a node: registered with the master, which names the publishers, with a
 * connection to each of them. */
#ifndef TB_ROS1_SUBSCRIPTION_H
#define TB_ROS1_SUBSCRIPTION_H

#include "ros1/publisher_link.h"
#include "ros1/registration.h"

/* More publishers of one topic are not connected to. */
#define TB__SUBSCRIPTION_LINKS_MAX 64

struct tb__ros1_node;

typedef struct tb__ros1_subscription {
  struct tb__ros1_subscription *next;
  struct tb__ros1_node *node;
  tb__ros1_topic_t topic;
  char name[TB__ROS1_NAME_SIZE];
  /* Called on the loop's thread. */
  void (*message)(void *user, const tb__publisher_link_t *link, const uint8_t *bytes, size_t size);
  void (*publishers_changed)(void *user, uint32_t open);
  void *user;
  tb__publisher_link_t *links;
  uint32_t open;          /* how many are */
  bool reported_too_many; /* publishers */
  tb__ros1_registration_t registration;
} tb__ros1_subscription_t;

/* Registers as soon as the master answers. It has topic, name and callbacks. */
void tb__ros1_subscription_open(tb__ros1_subscription_t *self, struct tb__ros1_node *node);
/* Closes the connections and tells the master; no callback comes afterwards. */
void tb__ros1_subscription_close(tb__ros1_subscription_t *self);

/* Asks the master for the publishers, which registers as well: now, or a moment after the last
 * time. */
void tb__ros1_subscription_renew(tb__ros1_subscription_t *self);

#endif

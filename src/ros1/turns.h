/* Who calls a peer now and who waits. Servers of ROS 1 are written in Python mostly and keep five
 * connections waiting: what a node with many topics sends at once beyond these is dropped by the
 * kernel, and sent again after one second, three, and so on. On the loop's thread. */
#ifndef TB_ROS1_TURNS_H
#define TB_ROS1_TURNS_H

#include "ros1/uri.h"

#define TB__TURNS_MAX 4 /* of one peer at a time */

typedef enum tb__ros1_turn_state {
  TB__TURN_NONE,
  TB__TURN_WAITING,
  TB__TURN_TAKEN,
} tb__ros1_turn_state_t;

/* Zeros at first. */
typedef struct tb__ros1_turn {
  struct tb__ros1_turn *next;
  tb__ros1_turn_state_t state;
  const tb__ros1_uri_t *peer;
  void (*run)(struct tb__ros1_turn *turn);
} tb__ros1_turn_t;

typedef struct tb__ros1_turns {
  tb__ros1_turn_t *taken, *waiting; /* in order */
} tb__ros1_turns_t;

/* Calls `run`, which may give the turn back at once: now, or when it is its turn. `peer` stays
 * valid until it is given. The turn is one that nobody has. */
void tb__ros1_turn_take(tb__ros1_turns_t *turns, tb__ros1_turn_t *turn, const tb__ros1_uri_t *peer,
                        void (*run)(tb__ros1_turn_t *turn));
/* Back, taken or waiting: the next one runs. Does nothing with one that nobody has. */
void tb__ros1_turn_give(tb__ros1_turns_t *turns, tb__ros1_turn_t *turn);

#endif

/* The states and transitions of ROS 2's managed nodes, as rcl_lifecycle has them. Pure. */
#ifndef TB_ROS2_LIFECYCLE_GRAPH_H
#define TB_ROS2_LIFECYCLE_GRAPH_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/ros2_lifecycle.h>

typedef struct tb__lifecycle_transition {
  uint8_t id;
  uint8_t start, goal; /* states */
  const char *label;
} tb__lifecycle_transition_t;

#define TB__LIFECYCLE_STATES      11
#define TB__LIFECYCLE_TRANSITIONS 25

/* All of them, in the order in which nodes of ROS report them. */
extern const uint8_t tb__lifecycle_states[TB__LIFECYCLE_STATES];
extern const tb__lifecycle_transition_t tb__lifecycle_transitions[TB__LIFECYCLE_TRANSITIONS];

/* Which transition a client of a node in `state` asks for: that of `label`, else that of `id`. Also
 * the ends of a transition, which begin at its state, are found by these. NULL: none. */
const tb__lifecycle_transition_t *tb__lifecycle_find(uint8_t state, uint8_t id, const char *label);

/* The end of the transition in progress, whose state is `state`. */
const tb__lifecycle_transition_t *tb__lifecycle_end(uint8_t state,
                                                    tb_ros2_lifecycle_return_t result);

#endif

/* Sets /use_sim_time to the boolean true, also at a master that was restarted, as long as a clock
 * server runs. At the end it is as it was: not set, or false. */
#ifndef TB_ROS1_SIM_TIME_SETTER_H
#define TB_ROS1_SIM_TIME_SETTER_H

#include "ros1/node.h"

typedef struct tb__sim_time_setter {
  tb__ros1_node_t *node;
  tb__ros1_registering_t *asking; /* NULL: nothing is asked; a setParam may outlive the setter */
  tb__ros1_timer_t timer;
  bool is_set;       /* by what the master has answered last */
  bool was_unset;    /* before, at that master */
  bool was_false;    /* the same */
  bool is_setting;   /* the call sets; else it reads */
  bool has_reported; /* that the master refuses */
} tb__sim_time_setter_t;

/* On the loop's thread, as the following. */
void tb__sim_time_setter_begin(tb__sim_time_setter_t *setter, tb__ros1_node_t *node);
void tb__sim_time_setter_end(tb__sim_time_setter_t *setter);

#endif

/* /use_sim_time, by ROS 1's rule: read once, when the node starts; the boolean true means that time
 * is that of /clock. */
#ifndef TB_ROS1_SIM_TIME_H
#define TB_ROS1_SIM_TIME_H

#include "ros1/node.h"

#define TB__SIM_TIME_PARAMETER "/use_sim_time"

typedef enum tb__sim_time {
  TB__SIM_TIME_UNKNOWN, /* the master has not answered yet */
  TB__SIM_TIME_OFF,     /* not set, or false: system time */
  TB__SIM_TIME_ON,
  TB__SIM_TIME_ODD, /* true, but not a boolean: off for roscpp and here, on for rospy */
} tb__sim_time_t;

/* The master's answer to getParam; UNKNOWN: it is none. */
tb__sim_time_t tb__sim_time_of(const tb__xmlrpc_message_t *answer);

/* Reads the parameter until the master has answered, and then now and then, as a value that is set
 * later has no effect, which users do not expect. */
typedef struct tb__sim_time_reader {
  tb__ros1_node_t *node;
  tb__xmlrpc_exchange_t exchange;
  tb__ros1_timer_t timer;
  tb__sim_time_t value;
  bool reported_late;
  /* On the loop's thread: with the value, once; before that UNKNOWN each time that the master did
   * not answer. */
  void (*read)(void *user, tb__sim_time_t value);
  void *user;
} tb__sim_time_reader_t;

void tb__sim_time_reader_begin(tb__sim_time_reader_t *reader, tb__ros1_node_t *node,
                               void (*read)(void *user, tb__sim_time_t value), void *user);
void tb__sim_time_reader_end(tb__sim_time_reader_t *reader);

#endif

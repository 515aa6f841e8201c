/* What a request asks for at a later time of a node's clock. */
#ifndef TB_ROSBAG2_LATER_H
#define TB_ROSBAG2_LATER_H

#include <timebase/ros2_node.h>
#include <timebase/timer.h>

typedef struct tb__later_call {
  void (*call)(void *user);
  void *user;
} tb__later_call_t;

typedef struct tb__later {
  tb_timer_queue_t *queue; /* with the first request */
  tb_timer_t *timer;
  tb__later_call_t call;
} tb__later_t;

/* Whether the time is to come. Not if the clock cannot be read. */
bool tb__later_is_due_later(const tb_ros2_node_t *node, int64_t at_ns);

/* Calls `call(user)` then, on a thread of its own, in place of an earlier request that is still to
 * come. `call` and `user` are always the same. */
tb_status_t tb__later_set(tb__later_t *later, const tb_ros2_node_t *node, int64_t at_ns,
                          void (*call)(void *user), void *user) TB_WARN_UNUSED;

/* Afterwards `call` does not run any more. */
void tb__later_fini(tb__later_t *later);

#endif

/* Requests that wait for the callback of their service: as many as its depth, and 256 MiB of them.
 * What comes on top pushes out the oldest. The caller locks. */
#ifndef TB_ROS2_REQUEST_QUEUE_H
#define TB_ROS2_REQUEST_QUEUE_H

#include <timebase/ros2_service.h>

typedef struct tb__request {
  struct tb__request *next;
  tb_ros2_request_t request;
  uint8_t cdr[];
} tb__request_t;

typedef struct tb__request_queue {
  tb__request_t *first, *last;
  size_t count, bytes, depth;
} tb__request_queue_t;

/* An empty queue is one of zeros but for its depth. */
void tb__request_queue_init(tb__request_queue_t *queue, size_t depth);

/* Takes `request` over. Returns what it has pushed out, to be freed with tb__requests_free. */
tb__request_t *tb__request_queue_put(tb__request_queue_t *queue, tb__request_t *request);

/* The oldest; NULL: none waits. */
tb__request_t *tb__request_queue_take(tb__request_queue_t *queue);

/* One and all that are chained to it. Accepts NULL. */
void tb__requests_free(tb__request_t *first);

#endif

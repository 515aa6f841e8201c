/* Requests that wait for the callback of their service: at most its depth, and at most 256 MiB.
 * Further ones replace the oldest. The caller locks. */
#ifndef TB_ROS2_REQUEST_QUEUE_H
#define TB_ROS2_REQUEST_QUEUE_H

#include "ros2/service_clients.h"

typedef struct tb__request {
  struct tb__request *next;
  tb_ros2_request_t request;
  char response_type_hash[TB__CLIENT_HASH_SIZE];
  uint8_t cdr[];
} tb__request_t;

typedef struct tb__request_queue {
  tb__request_t *first, *last;
  size_t count, bytes, depth;
} tb__request_queue_t;

/* An empty queue is all zeros except its depth. */
void tb__request_queue_init(tb__request_queue_t *queue, size_t depth);

/* Takes ownership of `request`. Returns the replaced requests, to be freed with tb__requests_free.
 */
TB_WARN_UNUSED tb__request_t *tb__request_queue_put(tb__request_queue_t *queue,
                                                    tb__request_t *request);

/* The oldest; NULL: the queue is empty. */
TB_WARN_UNUSED tb__request_t *tb__request_queue_take(tb__request_queue_t *queue);

/* Frees the whole list. Accepts NULL. */
void tb__requests_free(tb__request_t *first);

#endif

/* Requests and responses among the recorded events of a service. */
#ifndef TB_CLI_BAG_SERVICE_CALLS_H
#define TB_CLI_BAG_SERVICE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bag_service_call bag_service_call_t;

/* Calls that were seen, by client and sequence number. */
typedef struct bag_service_call_set {
  bag_service_call_t *slots;
  size_t capacity, count;
} bag_service_call_set_t;

/* Empty when zeroed. */
typedef struct bag_service_calls {
  bag_service_call_set_t requests, responses;
} bag_service_calls_t;

/* Counts a message of a topic of events as `ros2 bag info -v` does: what the client and the service
 * both recorded is one request or one response. What is no event is not counted. False: no memory.
 */
bool bag_service_calls_add(bag_service_calls_t *calls, const uint8_t *cdr, size_t size);
void bag_service_calls_release(bag_service_calls_t *calls);

#endif

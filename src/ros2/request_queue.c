#include "ros2/request_queue.h"

#include <stdbool.h>
#include <stdlib.h>

#define BYTES_MAX ((size_t)256 << 20)

void tb__request_queue_init(tb__request_queue_t *queue, size_t depth)
{
  *queue = (tb__request_queue_t){.depth = depth};
}

tb__request_t *tb__request_queue_take(tb__request_queue_t *queue)
{
  tb__request_t *request = queue->first;
  if (!request) return NULL;
  queue->first = request->next;
  if (!queue->first) queue->last = NULL;
  queue->count--;
  queue->bytes -= request->request.size;
  request->next = NULL;
  return request;
}

/* A single request may have any size. */
static bool has_room(const tb__request_queue_t *queue, const tb__request_t *request)
{
  return queue->count == 0 ||
         (queue->count < queue->depth && queue->bytes + request->request.size <= BYTES_MAX);
}

tb__request_t *tb__request_queue_put(tb__request_queue_t *queue, tb__request_t *request)
{
  tb__request_t *pushed_out = NULL;
  while (!has_room(queue, request)) {
    tb__request_t *oldest = tb__request_queue_take(queue);
    oldest->next = pushed_out;
    pushed_out = oldest;
  }
  request->next = NULL;
  if (queue->last)
    queue->last->next = request;
  else
    queue->first = request;
  queue->last = request;
  queue->count++;
  queue->bytes += request->request.size;
  return pushed_out;
}

void tb__requests_free(tb__request_t *first)
{
  for (tb__request_t *request = first, *next; request; request = next) {
    next = request->next;
    free(request);
  }
}

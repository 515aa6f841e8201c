#include "ros2/parked_replies.h"

#include <stdlib.h>
#include <string.h>

tb__parked_reply_t *tb__parked_reply_create(const tb_ros2_request_id_t *id, const void *cdr,
                                            size_t size, int64_t due_ns)
{
  tb__parked_reply_t *reply = malloc(sizeof *reply + size);
  if (!reply) return NULL;
  *reply = (tb__parked_reply_t){
      .id = *id, .client = tb__guid_of(id->writer_guid), .due_ns = due_ns, .size = size};
  memcpy(reply->cdr, cdr, size);
  return reply;
}

void tb__parked_replies_take(tb__parked_replies_t *replies, tb__parked_reply_t *reply)
{
  tb__parked_reply_t **link = &replies->first;
  while (*link != reply)
    link = &(*link)->next;
  *link = reply->next;
  reply->next = NULL;
  replies->count--;
  replies->bytes -= reply->size;
}

static size_t count_beside(const tb__parked_replies_t *replies, const tb__guid_t *client,
                           tb__parked_reply_t **out_oldest)
{
  size_t count = 0;
  for (tb__parked_reply_t *reply = replies->first; reply; reply = reply->next) {
    if (!tb__guid_is_beside(&reply->client, client)) continue;
    if (count++ == 0) *out_oldest = reply;
  }
  return count;
}

/* The one that has to go; NULL: there is room. */
static tb__parked_reply_t *surplus_find(const tb__parked_replies_t *replies,
                                        const tb__parked_reply_t *reply)
{
  tb__parked_reply_t *oldest = replies->first;
  if (count_beside(replies, &reply->client, &oldest) >= TB__PARKED_MAX_OF_ONE) return oldest;
  bool has_room = replies->count == 0 ||
                  (replies->count < TB__PARKED_MAX && reply->size <= TB__PARKED_BYTES_MAX &&
                   replies->bytes <= TB__PARKED_BYTES_MAX - reply->size);
  return has_room ? NULL : replies->first;
}

tb__parked_reply_t *tb__parked_replies_put(tb__parked_replies_t *replies, tb__parked_reply_t *reply)
{
  tb__parked_reply_t *pushed_out = NULL, *surplus;
  while ((surplus = surplus_find(replies, reply))) {
    tb__parked_replies_take(replies, surplus);
    surplus->next = pushed_out;
    pushed_out = surplus;
  }
  tb__parked_reply_t **link = &replies->first;
  while (*link)
    link = &(*link)->next;
  *link = reply;
  reply->next = NULL;
  replies->count++;
  replies->bytes += reply->size;
  return pushed_out;
}

int64_t tb__parked_replies_next_due(const tb__parked_replies_t *replies)
{
  int64_t due_ns = INT64_MAX;
  for (const tb__parked_reply_t *reply = replies->first; reply; reply = reply->next)
    if (reply->due_ns < due_ns) due_ns = reply->due_ns;
  return due_ns;
}

size_t tb__parked_replies_free(tb__parked_reply_t *first)
{
  size_t count = 0;
  for (tb__parked_reply_t *next; first; first = next, count++) {
    next = first->next;
    free(first);
  }
  return count;
}

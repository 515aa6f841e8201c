/* Replies that wait for their client's reader to be discovered. At most 64, at most 16 to one
 * participant, and at most 64 MiB, or a single one of any size; further ones push out the oldest,
 * of the same participant if that has its share. The caller locks. */
#ifndef TB_ROS2_PARKED_REPLIES_H
#define TB_ROS2_PARKED_REPLIES_H

#include <timebase/ros2_service.h>

#include "dds/guid.h"

#define TB__PARKED_MAX        64
#define TB__PARKED_MAX_OF_ONE 16
#define TB__PARKED_BYTES_MAX  ((size_t)64 << 20)

typedef struct tb__parked_reply {
  struct tb__parked_reply *next;
  tb_ros2_request_id_t id;
  tb__guid_t client; /* of the id */
  int64_t due_ns;    /* steady time after which it waits no longer */
  size_t size;
  uint8_t cdr[];
} tb__parked_reply_t;

/* All zeros: empty. */
typedef struct tb__parked_replies {
  tb__parked_reply_t *first; /* the oldest */
  size_t count, bytes;
} tb__parked_replies_t;

/* A copy. NULL: out of memory. */
TB_WARN_UNUSED tb__parked_reply_t *tb__parked_reply_create(const tb_ros2_request_id_t *id,
                                                           const void *cdr, size_t size,
                                                           int64_t due_ns);

/* Takes ownership. Returns those that it pushes out, to be freed with tb__parked_replies_free. */
TB_WARN_UNUSED tb__parked_reply_t *tb__parked_replies_put(tb__parked_replies_t *replies,
                                                          tb__parked_reply_t *reply);

/* Takes out `reply`, which is one of them. */
void tb__parked_replies_take(tb__parked_replies_t *replies, tb__parked_reply_t *reply);

/* When the next one is due; INT64_MAX: there is none. */
int64_t tb__parked_replies_next_due(const tb__parked_replies_t *replies);

/* Frees the whole list, and returns how many there were. Accepts NULL. */
size_t tb__parked_replies_free(tb__parked_reply_t *first);

#endif

/* A message on its way to subscribers, with its length before it; several connections share it. */
#ifndef TB_ROS1_FRAME_H
#define TB_ROS1_FRAME_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct tb__ros1_frame {
  _Atomic uint32_t users;
  size_t size;
  uint8_t bytes[];
} tb__ros1_frame_t;

/* Of `size` bytes, to be filled, for one user. NULL: out of memory. */
static inline tb__ros1_frame_t *tb__ros1_frame_create(size_t size)
{
  tb__ros1_frame_t *frame = malloc(sizeof *frame + size);
  if (!frame) return NULL;
  atomic_init(&frame->users, 1);
  frame->size = size;
  return frame;
}

static inline tb__ros1_frame_t *tb__ros1_frame_copy(const uint8_t *bytes, size_t size)
{
  tb__ros1_frame_t *frame = tb__ros1_frame_create(size);
  if (frame) memcpy(frame->bytes, bytes, size);
  return frame;
}

static inline tb__ros1_frame_t *tb__ros1_frame_use(tb__ros1_frame_t *frame)
{
  atomic_fetch_add_explicit(&frame->users, 1, memory_order_relaxed);
  return frame;
}

/* Accepts NULL. */
static inline void tb__ros1_frame_release(tb__ros1_frame_t *frame)
{
  if (frame && atomic_fetch_sub_explicit(&frame->users, 1, memory_order_acq_rel) == 1) free(frame);
}

#endif

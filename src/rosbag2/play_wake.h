/* The callback to wake the player when the limit of a transport may have changed. */
#ifndef TB_ROSBAG2_PLAY_WAKE_H
#define TB_ROSBAG2_PLAY_WAKE_H

#include <stddef.h>

#include "platform/mutex.h"

typedef struct tb__play_wake {
  tb__mutex_t mutex; /* held during the call, which only nudges: so none runs after _set */
  void (*wake)(void *user);
  void *user;
} tb__play_wake_t;

static inline void tb__play_wake_set(tb__play_wake_t *wake, void (*function)(void *user),
                                     void *user)
{
  tb__mutex_lock(&wake->mutex);
  wake->wake = function;
  wake->user = user;
  tb__mutex_unlock(&wake->mutex);
}

static inline void tb__play_wake_call(tb__play_wake_t *wake)
{
  tb__mutex_lock(&wake->mutex);
  if (wake->wake) wake->wake(wake->user);
  tb__mutex_unlock(&wake->mutex);
}

#endif

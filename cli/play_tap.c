#include "play_tap.h"

#include <stdlib.h>
#include <string.h>

play_tap_topic_t *play_tap_find(const play_tap_t *tap, const char *name)
{
  play_tap_topic_t *topic = tap->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  return topic;
}

/* --- what the player calls --- */

/* The next run of a recording adds its topics again. */
static tb_status_t add_topic(void *user, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  play_tap_t *tap = user;
  play_tap_topic_t *topic = play_tap_find(tap, info->name);
  if (!topic) {
    topic = calloc(1, sizeof *topic);
    if (topic) topic->name = strdup(info->name);
    if (!topic || !topic->name) {
      free(topic);
      return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
    }
    topic->next = tap->topics;
    tap->topics = topic;
  }
  *out_handle = topic;
  return tap->forward.to.ops->add_topic(tap->forward.to.self, info, &topic->handle, error);
}

static tb_status_t publish_as(void *user, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  const play_tap_t *tap = user;
  play_tap_topic_t *topic = handle;
  if (atomic_load_explicit(&topic->is_muted, memory_order_relaxed)) return TB_OK;
  atomic_fetch_add_explicit(&topic->bytes, size, memory_order_relaxed);
  return play_forward_publish(&tap->forward, topic->handle, publisher, data, size, error);
}

/* --- begin and end --- */

tb_play_transport_t play_tap_begin(play_tap_t *tap, const tb_play_transport_t *to)
{
  *tap = (play_tap_t){.topics = NULL};
  tb_play_transport_t own = play_forward_begin(&tap->forward, to);
  tap->forward.ops.add_topic = add_topic;
  tap->forward.ops.publish_as = publish_as;
  return own;
}

void play_tap_end(play_tap_t *tap)
{
  while (tap->topics) {
    play_tap_topic_t *topic = tap->topics;
    tap->topics = topic->next;
    free(topic->name);
    free(topic);
  }
}

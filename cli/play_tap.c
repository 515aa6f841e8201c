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

static bool takes(void *user, const tb_bag_topic_t *info)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  return to->ops->takes(to->self, info);
}

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
  return tap->to.ops->add_topic(tap->to.self, info, &topic->handle, error);
}

static tb_status_t publish_as(void *user, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  play_tap_topic_t *topic = handle;
  if (atomic_load_explicit(&topic->is_muted, memory_order_relaxed)) return TB_OK;
  atomic_fetch_add_explicit(&topic->bytes, size, memory_order_relaxed);
  return to->ops->publish_as
             ? to->ops->publish_as(to->self, topic->handle, publisher, data, size, error)
             : to->ops->publish(to->self, topic->handle, data, size, error);
}

static tb_status_t settle(void *user, tb_duration_t limit, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  return to->ops->settle(to->self, limit, error);
}

static tb_status_t flush(void *user, tb_duration_t limit, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  return to->ops->flush(to->self, limit, error);
}

static void interrupt(void *user)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  to->ops->interrupt(to->self);
}

static void split(void *user, const char *closed, const char *opened)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  to->ops->split(to->self, closed, opened);
}

static tb_status_t limit(void *user, int64_t *out_ns, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  return to->ops->limit(to->self, out_ns, error);
}

static void set_time(void *user, int64_t time_ns, bool jumps)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  to->ops->set_time(to->self, time_ns, jumps);
}

static void name_holder(void *user, char *out, size_t size)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  to->ops->name_holder(to->self, out, size);
}

static void watch_limit(void *user, void (*wake)(void *wake_user), void *wake_user)
{
  const tb_play_transport_t *to = &((play_tap_t *)user)->to;
  to->ops->watch_limit(to->self, wake, wake_user);
}

/* --- begin and end --- */

tb_play_transport_t play_tap_begin(play_tap_t *tap, const tb_play_transport_t *to)
{
  const tb_play_transport_ops_t *ops = to->ops;
  *tap = (play_tap_t){.to = *to};
  tap->ops = (tb_play_transport_ops_t){
      .takes = ops->takes ? takes : NULL,
      .add_topic = add_topic,
      .publish_as = publish_as,
      .settle = ops->settle ? settle : NULL,
      .flush = ops->flush ? flush : NULL,
      .interrupt = ops->interrupt ? interrupt : NULL,
      .split = ops->split ? split : NULL,
      .limit = ops->limit ? limit : NULL,
      .set_time = ops->set_time ? set_time : NULL,
      .name_holder = ops->name_holder ? name_holder : NULL,
      .watch_limit = ops->watch_limit ? watch_limit : NULL,
  };
  return (tb_play_transport_t){&tap->ops, tap, to->clock};
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

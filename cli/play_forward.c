#include "play_forward.h"

static bool takes(void *user, const tb_bag_topic_t *info)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  return to->ops->takes(to->self, info);
}

static tb_status_t settle(void *user, tb_duration_t limit, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  return to->ops->settle(to->self, limit, error);
}

static tb_status_t flush(void *user, tb_duration_t limit, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  return to->ops->flush(to->self, limit, error);
}

static void interrupt(void *user)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->interrupt(to->self);
}

static void split(void *user, const char *closed, const char *opened)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->split(to->self, closed, opened);
}

static tb_status_t limit(void *user, int64_t *out_ns, tb_error_t *error)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  return to->ops->limit(to->self, out_ns, error);
}

static void set_time(void *user, int64_t time_ns, bool jumps)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->set_time(to->self, time_ns, jumps);
}

static void name_holder(void *user, char *out, size_t size)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->name_holder(to->self, out, size);
}

static void watch_limit(void *user, void (*wake)(void *wake_user), void *wake_user)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->watch_limit(to->self, wake, wake_user);
}

static void send(void *user)
{
  const tb_play_transport_t *to = &((play_forward_t *)user)->to;
  to->ops->send(to->self);
}

tb_play_transport_t play_forward_begin(play_forward_t *forward, const tb_play_transport_t *to)
{
  const tb_play_transport_ops_t *ops = to->ops;
  *forward = (play_forward_t){.to = *to};
  forward->ops = (tb_play_transport_ops_t){
      .takes = ops->takes ? takes : NULL,
      .settle = ops->settle ? settle : NULL,
      .flush = ops->flush ? flush : NULL,
      .interrupt = ops->interrupt ? interrupt : NULL,
      .split = ops->split ? split : NULL,
      .limit = ops->limit ? limit : NULL,
      .set_time = ops->set_time ? set_time : NULL,
      .name_holder = ops->name_holder ? name_holder : NULL,
      .watch_limit = ops->watch_limit ? watch_limit : NULL,
      .send = ops->send ? send : NULL,
  };
  return (tb_play_transport_t){&forward->ops, forward, to->clock};
}

tb_status_t play_forward_publish(const play_forward_t *forward, void *handle, const char *publisher,
                                 const void *data, size_t size, tb_error_t *error)
{
  const tb_play_transport_t *to = &forward->to;
  return to->ops->publish_as ? to->ops->publish_as(to->self, handle, publisher, data, size, error)
                             : to->ops->publish(to->self, handle, data, size, error);
}

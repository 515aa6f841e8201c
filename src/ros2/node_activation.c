#include "ros2/node_activation.h"

#include "base/log.h"
#include "platform/time.h"
#include "ros2/clock_source.h"
#include "ros2/context.h"
#include "ros2/node.h"

static tb__node_activation_t *activation_of(tb__dispatch_member_t *member)
{
  return (tb__node_activation_t *)(void *)((char *)member -
                                           offsetof(tb__node_activation_t, member));
}

static void use_sim_time(tb__node_activation_t *self, bool on)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value = tb_ros2_parameter_bool(on);
  if (tb_ros2_node_set_parameter(self->node, "use_sim_time", &value, &error) != TB_OK)
    tb__log(TB_LOG_WARN, "%s: %s %s, but use_sim_time cannot be set: %s", self->node->full_name,
            self->node->clock_topic, on ? "has a publisher" : "has lost its publishers",
            error.text);
}

static void appear(tb__node_activation_t *self, uint32_t appearance)
{
  self->vanished = false;
  self->present = true;
  if (self->appearance == appearance) return;
  self->appearance = appearance;
  use_sim_time(self, true);
}

static void vanish(tb__node_activation_t *self)
{
  if (!self->present) return;
  if (!self->vanished) {
    self->vanished = true;
    if (tb__limit_begin(self->limit, &self->off)) self->off = TB__NO_DEADLINE; /* it is valid */
  }
  if (self->off.clock == TB__DEADLINE_NONE) {
    self->present = false;
    return;
  }
  if (tb__steady_now_ns() >= self->off.ns) {
    self->present = false;
    use_sim_time(self, false);
    return;
  }
  tb__dispatch_set_due(tb__ros2_context_dispatch(self->node->context), &self->member, self->off.ns);
}

static void run(tb__dispatch_member_t *member)
{
  tb__node_activation_t *self = activation_of(member);
  uint32_t appearance = 0;
  if (tb__clock_source_publishers(self->source->clock_topic, &appearance) > 0)
    appear(self, appearance);
  else
    vanish(self);
}

/* On a thread of DDS. */
static void on_change(tb__source_watcher_t *watcher)
{
  tb__node_activation_t *self =
      (tb__node_activation_t *)(void *)((char *)watcher - offsetof(tb__node_activation_t, watcher));
  tb__dispatch_post(tb__ros2_context_dispatch(self->node->context), &self->member);
}

tb_status_t tb__node_activation_open(tb_ros2_node_t *node, tb_duration_t limit, tb_error_t *error)
{
  tb__node_activation_t *self = &node->activation;
  tb__dispatch_t *dispatch = tb__ros2_context_dispatch(node->context);
  if (!tb__limit_is_valid(limit))
    return tb_error_set(error, TB_ERR_INVALID, "node '%s': deactivation_limit is negative",
                        node->full_name);
  *self = (tb__node_activation_t){.node = node, .limit = limit};
  tb_status_t status =
      tb__shared_source_acquire(node->time.sources, TB__TIME_SOURCE_CLOCK_TOPIC, node->clock_topic,
                                &node->time.qos, &self->source, error);
  if (status) return status;
  status = tb__dispatch_add(dispatch, &self->member, run);
  if (!status) {
    self->is_member = true;
    tb__shared_source_watch(node->time.sources, self->source, &self->watcher, on_change);
    tb_clock_options_t options = {TB_TIME_ROS, self->source->source};
    status = tb_clock_create(&options, &self->clock);
  }
  if (status)
    return tb_error_set(error, status, "node '%s': %s cannot be watched: %s", node->full_name,
                        node->clock_topic, tb_status_message(status));
  tb__dispatch_post(dispatch, &self->member); /* a publisher may exist already */
  return TB_OK;
}

void tb__node_activation_close(tb_ros2_node_t *node)
{
  tb__node_activation_t *self = &node->activation;
  if (!self->source) return;
  tb__shared_source_unwatch(node->time.sources, self->source, &self->watcher);
  if (self->is_member) tb__dispatch_remove(tb__ros2_context_dispatch(node->context), &self->member);
  tb_clock_destroy(self->clock);
  tb__shared_source_release(node->time.sources, self->source);
}

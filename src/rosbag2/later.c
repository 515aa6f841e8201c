#include "rosbag2/later.h"

bool tb__later_is_due_later(const tb_ros2_node_t *node, int64_t at_ns)
{
  tb_time_t now;
  return at_ns > 0 && tb_clock_now(tb_ros2_node_clock(node), &now) == TB_OK && now.ns < at_ns;
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  const tb__later_call_t *call = user;
  (void)timer, (void)info;
  call->call(call->user);
}

static tb_status_t open_timer(tb__later_t *later, const tb_ros2_node_t *node, tb_time_t at,
                              const tb__later_call_t *call)
{
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.mode = TB_TIMER_ONE_SHOT_AT;
  options.at = at;
  options.callback = on_timer;
  options.user = (void *)call;
  tb_status_t status = later->queue ? TB_OK : tb_timer_queue_create(&later->queue);
  if (!status)
    status = tb_clock_timer_create(later->queue, tb_ros2_node_clock(node), &options, &later->timer);
  if (!status) status = tb_timer_queue_start_thread(later->queue);
  return status;
}

tb_status_t tb__later_set(tb__later_t *later, const tb_ros2_node_t *node, int64_t at_ns,
                          void (*call)(void *user), void *user)
{
  tb_time_t at;
  tb_status_t status = tb_clock_now(tb_ros2_node_clock(node), &at); /* its kind */
  at.ns = at_ns;
  if (!status && !later->timer) {
    later->call = (tb__later_call_t){call, user};
    status = open_timer(later, node, at, &later->call);
    if (status) tb__later_fini(later);
  }
  return status ? status : tb_clock_timer_start_at(later->timer, at);
}

void tb__later_fini(tb__later_t *later)
{
  tb_timer_queue_destroy(later->queue);
  *later = (tb__later_t){0};
}

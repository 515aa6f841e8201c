#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_publisher.h>

#include <stdlib.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "ros1/clock_message.h"
#include "ros1/context.h"
#include "ros1/publisher.h"
#include "ros1/publisher_conflict.h"
#include "ros1/sim_time_setter.h"

#define CLOCK_TOPIC "/clock"
/* What subscribers of `rosmsg` and `rostopic` get to see. Its text is not part of the md5sum. */
#define CLOCK_DEFINITION "time clock\n"

struct tb_ros1_clock_publisher {
  tb_ros1_context_t *context;
  tb_ros1_publisher_t *publisher;
  bool sets_use_sim_time;
  tb__sim_time_setter_t setter; /* its node is NULL: it sets nothing */
  tb__ros1_publisher_conflict_t conflict;
};

static void begin(void *user)
{
  tb_ros1_clock_publisher_t *publisher = user;
  tb__ros1_node_t *node = &publisher->context->node;
  if (publisher->sets_use_sim_time) tb__sim_time_setter_begin(&publisher->setter, node);
  tb__ros1_publisher_conflict_begin(&publisher->conflict, node,
                                    publisher->publisher->publication.name);
}

static void end(void *user)
{
  tb_ros1_clock_publisher_t *publisher = user;
  tb__sim_time_setter_end(&publisher->setter);
  tb__ros1_publisher_conflict_end(&publisher->conflict);
}

tb_status_t tb_ros1_clock_publisher_create_sized(tb_ros1_context_t *context,
                                                 const tb_ros1_clock_publisher_options_t *options,
                                                 size_t options_size,
                                                 tb_ros1_clock_publisher_t **out, tb_error_t *error)
{
  static const tb_ros1_clock_publisher_options_t defaults = TB_ROS1_CLOCK_PUBLISHER_OPTIONS_INIT;
  static const tb_ros1_message_type_t type = {TB__ROS1_CLOCK_TYPE, TB__ROS1_CLOCK_MD5SUM,
                                              CLOCK_DEFINITION};
  tb_ros1_clock_publisher_options_t known;
  tb_ros1_publisher_options_t publishing = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  if (!context || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_clock_publisher_options_t");
  if (!options) options = &defaults;
  tb_ros1_clock_publisher_t *publisher = calloc(1, sizeof *publisher);
  if (!publisher) return tb__no_memory_for(error, "clock publisher");
  publisher->context = context;
  publishing.queue_size = 1; /* the newest tick is all that counts */
  tb_status_t status =
      tb_ros1_publisher_create(context, options->topic ? options->topic : CLOCK_TOPIC, &type,
                               &publishing, &publisher->publisher, error);
  if (status) {
    free(publisher);
    return status;
  }
  publisher->sets_use_sim_time = options->sets_use_sim_time;
  tb__ros1_loop_call(&context->loop, begin, publisher);
  *out = publisher;
  return TB_OK;
}

void tb_ros1_clock_publisher_destroy(tb_ros1_clock_publisher_t *publisher)
{
  if (!publisher) return;
  tb__ros1_loop_call(&publisher->context->loop, end, publisher);
  tb_ros1_publisher_destroy(publisher->publisher);
  free(publisher);
}

tb_status_t tb_ros1_clock_publisher_publish(tb_ros1_clock_publisher_t *publisher, int64_t time_ns,
                                            tb_error_t *error)
{
  uint8_t message[TB__ROS1_CLOCK_SIZE];
  if (!publisher) return tb__null_argument(error, __func__);
  const tb__ros1_node_t *node = &publisher->context->node;
  if (atomic_load_explicit(&node->is_displaced, memory_order_relaxed))
    return tb_error_set(error, TB_ERR_CLOSED,
                        "/clock of ROS 1: another node has taken the name %s; give each node a "
                        "name of its own",
                        node->name);
  tb_status_t status = tb__ros1_clock_encode(time_ns, message);
  if (status)
    return tb_error_set(error, status, "/clock of ROS 1 cannot carry %lld ns: %s",
                        (long long)time_ns, tb_status_message(status));
  return tb_ros1_publisher_publish(publisher->publisher, message, sizeof message, error);
}

static tb_status_t sink_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  (void)reason; /* the message has no field for it */
  return tb_ros1_clock_publisher_publish(self, time_ns, error);
}

tb_tick_sink_t tb_ros1_clock_publisher_sink(tb_ros1_clock_publisher_t *publisher)
{
  return (tb_tick_sink_t){sink_tick, publisher};
}

uint32_t tb_ros1_clock_publisher_matched(const tb_ros1_clock_publisher_t *publisher)
{
  return publisher ? tb_ros1_publisher_matched(publisher->publisher) : 0;
}

uint32_t tb_ros1_clock_publisher_awaited(const tb_ros1_clock_publisher_t *publisher)
{
  return publisher ? tb_ros1_publisher_awaited(publisher->publisher) : 0;
}

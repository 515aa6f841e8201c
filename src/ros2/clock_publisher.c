#include <timebase/ros2_clock_publisher.h>

#include <stdlib.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "dds/raw_writer.h"
#include "ros2/announced.h"
#include "ros2/context.h"
#include "ros2/match_wait.h"
#include "ros2/match_watch.h"
#include "ros2/topic_endpoint.h"
#include "wire/clock_message.h"

struct tb_ros2_clock_publisher {
  tb__announced_t announced;
  tb__raw_writer_t *writer;
};

tb_status_t tb_ros2_clock_publisher_create(tb_ros2_context_t *context, const char *topic,
                                           const tb_qos_t *qos, tb_ros2_clock_publisher_t **out,
                                           tb_error_t *error)
{
  if (!context || !out) return tb__null_argument(error, __func__);
  static const tb_qos_t defaults = TB_QOS_INIT_CLOCK;
  tb__topic_endpoint_t endpoint;
  tb_status_t status = tb__topic_endpoint_init(&endpoint, context, topic ? topic : TB__CLOCK_TOPIC,
                                               TB__CLOCK_TYPE, qos ? qos : &defaults, error);
  if (status) return status;
  tb_ros2_clock_publisher_t *publisher = calloc(1, sizeof *publisher);
  if (!publisher) return tb__no_memory_for(error, "clock publisher");
  status = tb__raw_writer_create(tb__ros2_context_participant(context), &endpoint.options,
                                 &publisher->writer, error);
  if (status) {
    free(publisher);
    return status;
  }
  *out = publisher;
  return TB_OK;
}

void tb_ros2_clock_publisher_destroy(tb_ros2_clock_publisher_t *publisher)
{
  if (!publisher) return;
  tb__announced_remove(&publisher->announced);
  tb__raw_writer_destroy(publisher->writer);
  free(publisher);
}

tb_status_t tb_ros2_clock_publisher_publish(tb_ros2_clock_publisher_t *publisher, int64_t time_ns,
                                            tb_error_t *error)
{
  if (!publisher) return tb__null_argument(error, __func__);
  uint8_t message[TB__CLOCK_MESSAGE_SIZE];
  tb_status_t status = tb__clock_message_encode(time_ns, message);
  if (status)
    return tb_error_set(error, status, "/clock cannot carry %lld ns: %s", (long long)time_ns,
                        tb_status_message(status));
  return tb__raw_writer_write(publisher->writer, message, sizeof message, error);
}

static tb_status_t sink_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  (void)reason; /* the message has no field for it */
  return tb_ros2_clock_publisher_publish(self, time_ns, error);
}

tb_tick_sink_t tb_ros2_clock_publisher_sink(tb_ros2_clock_publisher_t *publisher)
{
  return (tb_tick_sink_t){sink_tick, publisher};
}

uint32_t tb_ros2_clock_publisher_matched(const tb_ros2_clock_publisher_t *publisher)
{
  if (!publisher) return 0;
  return tb__raw_writer_matched(publisher->writer);
}

tb_status_t tb_ros2_clock_publisher_wait_for_matched_sized(tb_ros2_clock_publisher_t *publisher,
                                                           uint32_t count,
                                                           const tb_wait_options_t *options,
                                                           size_t options_size)
{
  tb_wait_options_t known;
  if (!publisher) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return tb__writer_wait_for_matched(publisher->writer, count, options);
}

void tb__ros2_clock_publisher_watch_matched(tb_ros2_clock_publisher_t *publisher,
                                            _Atomic uint32_t *events)
{
  tb__raw_writer_watch_matched(publisher->writer, events);
}

tb_status_t tb__clock_publisher_announce(tb_ros2_clock_publisher_t *publisher,
                                         tb__announced_node_t *node, tb_error_t *error)
{
  tb__guid_t writer = tb__raw_writer_guid(publisher->writer);
  return tb__announced_add(&publisher->announced, node, NULL, &writer, error);
}

#include "ros2/publisher.h"

#include <stdlib.h>
#include <string.h>

#include "base/null_argument.h"
#include "dds/raw_writer.h"
#include "ros2/announced.h"
#include "ros2/context.h"
#include "ros2/match_watch.h"
#include "ros2/topic_endpoint.h"

struct tb_ros2_publisher {
  tb__announced_t announced;
  tb__raw_writer_t *writer;
};

tb_status_t tb_ros2_publisher_create(tb_ros2_context_t *context, const char *topic,
                                     const char *type, const tb_qos_t *qos,
                                     tb_ros2_publisher_t **out, tb_error_t *error)
{
  tb__topic_endpoint_t endpoint;
  tb_status_t status = tb__topic_endpoint_init(&endpoint, context, topic, type, qos, error);
  if (status) return status;
  tb_ros2_publisher_t *publisher = calloc(1, sizeof *publisher);
  if (!publisher)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "publisher of %s: out of memory", topic);
  status = tb__raw_writer_create(tb__ros2_context_participant(context), &endpoint.options,
                                 &publisher->writer, error);
  if (status) {
    free(publisher);
    return status;
  }
  *out = publisher;
  return TB_OK;
}

void tb_ros2_publisher_destroy(tb_ros2_publisher_t *publisher)
{
  if (!publisher) return;
  tb__announced_remove(&publisher->announced);
  tb__raw_writer_destroy(publisher->writer);
  free(publisher);
}

tb_status_t tb_ros2_publisher_publish(tb_ros2_publisher_t *publisher, const void *cdr, size_t size,
                                      tb_error_t *error)
{
  if (!publisher || !cdr) return tb__null_argument(error, __func__);
  return tb__raw_writer_write(publisher->writer, cdr, size, error);
}

uint32_t tb_ros2_publisher_matched(const tb_ros2_publisher_t *publisher)
{
  if (!publisher) return 0;
  return tb__raw_writer_matched(publisher->writer);
}

tb_status_t tb_ros2_publisher_wait_for_matched(tb_ros2_publisher_t *publisher, uint32_t count,
                                               tb_duration_t limit)
{
  if (!publisher) return TB_ERR_INVALID;
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  return status ? status : tb__raw_writer_wait_for_matched(publisher->writer, count, deadline);
}

tb_status_t tb_ros2_publisher_wait_for_acks(tb_ros2_publisher_t *publisher, tb_duration_t limit)
{
  if (!publisher) return TB_ERR_INVALID;
  return tb__raw_writer_wait_for_acks(publisher->writer, limit);
}

uint32_t tb_ros2_publisher_incompatible(const tb_ros2_publisher_t *publisher,
                                        const char **out_policy)
{
  if (!publisher) return 0;
  return tb__raw_writer_incompatible(publisher->writer, out_policy);
}

void tb__ros2_publisher_watch_matched(tb_ros2_publisher_t *publisher, _Atomic uint32_t *events)
{
  tb__raw_writer_watch_matched(publisher->writer, events);
}

tb__guid_t tb__ros2_publisher_guid(const tb_ros2_publisher_t *publisher)
{
  return tb__raw_writer_guid(publisher->writer);
}

size_t tb__ros2_publisher_unacked(const tb_ros2_publisher_t *publisher, tb__guid_t *out,
                                  size_t room)
{
  tb__matched_t *readers = NULL;
  size_t count = 0;
  if (tb__raw_writer_unacked(publisher->writer, &readers, &count) != TB_OK) return 0;
  if (count > room) count = room;
  for (size_t i = 0; i < count; i++)
    out[i] = readers[i].guid;
  free(readers);
  return count;
}

tb_status_t tb__publisher_announce(tb_ros2_publisher_t *publisher, tb__announced_node_t *node,
                                   tb_error_t *error)
{
  tb__guid_t writer = tb__raw_writer_guid(publisher->writer);
  return tb__announced_add(&publisher->announced, node, NULL, &writer, error);
}

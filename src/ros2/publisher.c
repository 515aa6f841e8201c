#include "ros2/publisher.h"

#include <stdlib.h>
#include <string.h>

#include "base/null_argument.h"
#include "base/sized.h"
#include "dds/raw_writer.h"
#include "platform/time.h"
#include "ros2/announced.h"
#include "ros2/context.h"
#include "ros2/match_wait.h"
#include "ros2/match_watch.h"
#include "ros2/topic_endpoint.h"
#include "wait/call_wait.h"

/* How soon a wait for acknowledgements sees that something else has ended it. */
#define ACKS_SLICE_NS (20 * TB_NS_PER_MS)

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

void tb__ros2_publishers_batch(bool on)
{
  tb__raw_writers_batch(on);
}

void tb__ros2_publisher_flush(const tb_ros2_publisher_t *publisher)
{
  tb__raw_writer_flush(publisher->writer);
}

tb_status_t tb__ros2_publish_message(tb_ros2_publisher_t *publisher, const tb__cdr_type_t *type,
                                     const void *message, tb_error_t *error)
{
  uint8_t *cdr;
  size_t size;
  tb_status_t status = tb__cdr_encode(type, message, false, &cdr, &size);
  if (status) return tb_error_set(error, status, "%s: %s", type->name, tb_status_message(status));
  status = tb_ros2_publisher_publish(publisher, cdr, size, error);
  free(cdr);
  return status;
}

uint32_t tb_ros2_publisher_matched(const tb_ros2_publisher_t *publisher)
{
  if (!publisher) return 0;
  return tb__raw_writer_matched(publisher->writer);
}

tb_status_t tb_ros2_publisher_wait_for_matched_sized(tb_ros2_publisher_t *publisher, uint32_t count,
                                                     const tb_wait_options_t *options,
                                                     size_t options_size)
{
  tb_wait_options_t known;
  if (!publisher) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return tb__writer_wait_for_matched(publisher->writer, count, options);
}

/* DDS can only be asked to wait, so in slices. */
static tb_status_t acks_wait(tb_ros2_publisher_t *publisher, tb__call_wait_t *wait,
                             tb__deadline_t deadline)
{
  for (;;) {
    tb_status_t status = tb__call_wait_ended(wait);
    if (status) return status;
    int64_t left_ns = deadline.ns == INT64_MAX ? INT64_MAX : deadline.ns - tb__real_steady_now_ns();
    tb_duration_t slice = {left_ns < ACKS_SLICE_NS ? left_ns : ACKS_SLICE_NS};
    if (left_ns <= 0) slice = TB_NO_WAIT;
    status = tb__raw_writer_wait_for_acks(publisher->writer, slice);
    if (status != TB_ERR_TIMEOUT || left_ns <= ACKS_SLICE_NS) return status;
  }
}

tb_status_t tb_ros2_publisher_wait_for_acks_sized(tb_ros2_publisher_t *publisher,
                                                  const tb_wait_options_t *options,
                                                  size_t options_size)
{
  tb_wait_options_t known;
  if (!publisher) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb_duration_t limit = options ? options->limit : TB_NO_LIMIT;
  _Atomic uint32_t word = 0;
  tb__call_wait_t wait;
  tb__deadline_t deadline = TB__NO_DEADLINE;
  tb_status_t status = tb__call_wait_begin(&wait, options, &word);
  if (status) return status;
  if (tb__limit_begin_in(limit, tb__real_steady_now_ns, &deadline) == TB_OK)
    status = tb__call_wait_can_end(&wait) ? acks_wait(publisher, &wait, deadline)
                                          : tb__raw_writer_wait_for_acks(publisher->writer, limit);
  tb__call_wait_end(&wait);
  return status;
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

/* At most `room` of them. Frees `readers`. */
static size_t take_guids(tb__matched_t *readers, size_t count, tb__guid_t *out, size_t room)
{
  if (count > room) count = room;
  for (size_t i = 0; i < count; i++)
    out[i] = readers[i].guid;
  free(readers);
  return count;
}

size_t tb__ros2_publisher_unacked(const tb_ros2_publisher_t *publisher, tb__guid_t *out,
                                  size_t room)
{
  tb__matched_t *readers = NULL;
  size_t count = 0;
  if (tb__raw_writer_unacked(publisher->writer, &readers, &count) != TB_OK) return 0;
  return take_guids(readers, count, out, room);
}

size_t tb__ros2_publisher_unkept(const tb_ros2_publisher_t *publisher, tb__guid_t *out,
                                 size_t *count)
{
  tb__matched_t *readers = NULL;
  size_t found = 0, unkept = tb__raw_writer_unkept(publisher->writer, &readers, &found);
  *count = take_guids(readers, found, out, *count);
  return unkept;
}

void tb__ros2_publishers_keep_all(bool on)
{
  tb__raw_writers_keep_all(on);
}

size_t tb__ros2_publisher_unacked_bytes(const tb_ros2_publisher_t *publisher, size_t *out_high)
{
  return tb__raw_writer_unacked_bytes(publisher->writer, out_high);
}

tb_status_t tb__publisher_announce(tb_ros2_publisher_t *publisher, tb__announced_node_t *node,
                                   tb_error_t *error)
{
  tb__guid_t writer = tb__raw_writer_guid(publisher->writer);
  return tb__announced_add(&publisher->announced, node, NULL, &writer, error);
}

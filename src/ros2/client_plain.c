/* Requests in the form of Fast DDS: the body alone, and in its inline QoS where the answer is to
 * go.
 *
 * They have a writer of their own, which is made when the first server of Fast DDS is seen, so a
 * graph without such nodes has no more endpoints. Readers of Cyclone DDS match that writer too. A
 * parameter of the inline QoS that nothing but this file knows is marked as one that must be
 * understood: RTPS makes them drop the sample unread, and Fast DDS skips what it does not know. In
 * the own process, where samples have no inline QoS, the writer matches nothing.
 *
 * A server gets no request that is older than itself, as in rmw_fastrtps: requests are volatile,
 * and the ones that an earlier server was sent may have been carried out. */
#include <string.h>

#include "platform/time.h"
#include "ros2/client.h"
#include "ros2/context.h"

#define TURN_NS INT64_C(50000000) /* then the caller checks its own limit, as after a write */

/* A parameter with four bytes of nothing, in the byte order of this machine. Its number is in the
 * range of vendors (0x8000), is used by none, and has the bit that demands to be understood
 * (0x4000). */
static const uint16_t not_understood[] = {0xff7e, 4, 0, 0};

static void on_matched(void *user)
{
  tb__client_notify(user);
}

static bool is_closed(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  bool closed = client->is_closed;
  tb__mutex_unlock(&client->mutex);
  return closed;
}

void tb__client_plain_announce(tb_ros2_client_t *client)
{
  tb__announced_t *plain = &client->plain_announced;
  tb__announced_node_t *node = client->announced.node;
  if (node && tb__announced_add(plain, node, NULL, &client->plain_guid, NULL) != TB_OK)
    *plain = (tb__announced_t){0};
}

/* Whether the requests can be marked is decided with the writer: Cyclone DDS, security and
 * transport stay what they are. TB_ERR_NO_MEMORY, TB_ERR_CLOSED: not decided. */
static tb_status_t marking_find(tb__raw_writer_t *writer, bool *out)
{
  tb__inline_qos_state_t state = tb__raw_writer_inline_qos(writer);
  tb_status_t status =
      state == TB__INLINE_QOS_ON ? TB_OK : tb__inline_qos_refusal(state, "request", NULL);
  *out = !status;
  return status == TB_ERR_UNSUPPORTED ? TB_OK : status;
}

tb_status_t tb__client_plain_open(tb_ros2_client_t *client)
{
  bool is_marked;
  tb__raw_writer_t *writer;
  tb__endpoint_options_t options = client->pair.request;
  if (client->plain) return TB_OK;
  if (is_closed(client)) return TB_ERR_CLOSED;
  options.ignore_process = true;
  options.resend = TB__RESEND_SINCE_MATCH;
  options.on_matched = on_matched;
  options.on_matched_user = client;
  tb_status_t status =
      tb__raw_writer_create(tb__ros2_context_participant(client->context), &options, &writer, NULL);
  if (status) return status;
  status = marking_find(writer, &is_marked);
  if (status) {
    tb__raw_writer_destroy(writer);
    return status;
  }
  tb__mutex_lock(&client->mutex);
  client->plain = writer;
  client->is_marked = is_marked;
  client->plain_guid = tb__raw_writer_guid(writer);
  client->reader_guid = tb__raw_reader_guid(client->reader);
  tb__mutex_unlock(&client->mutex);
  tb__client_plain_announce(client);
  return TB_OK;
}

/* False: the request was answered already, and may not exist any more. */
static bool number_set(tb_ros2_client_t *client, int64_t sequence, int64_t number)
{
  tb__mutex_lock(&client->mutex);
  tb__pending_t *pending = tb__client_find_locked(client, sequence);
  if (pending) pending->plain_sequence = number;
  tb__mutex_unlock(&client->mutex);
  return pending;
}

static tb_status_t write_marked(tb_ros2_client_t *client, const void *cdr, size_t size,
                                int64_t *number, tb_error_t *error)
{
  uint8_t inline_qos[TB__RELATED_IDENTITY_SIZE + sizeof not_understood];
  tb__related_identity_t identity = {client->reader_guid, TB__RELATED_SEQUENCE_UNKNOWN};
  tb__related_identity_write(&identity, inline_qos);
  memcpy(inline_qos + TB__RELATED_IDENTITY_SIZE, not_understood, sizeof not_understood);
  return tb__raw_writer_write_with(client->plain, cdr, size, inline_qos, sizeof inline_qos, number,
                                   error);
}

/* Without inline QoS answers are related to the writer of requests. */
static tb_status_t write_once(tb_ros2_client_t *client, const void *cdr, size_t size,
                              int64_t *number, tb_error_t *error)
{
  if (client->is_marked) return write_marked(client, cdr, size, number, error);
  return tb__raw_writer_write_with(client->plain, cdr, size, NULL, 0, number, error);
}

/* The answer may come before the write returns, so the number of the sample is set before. */
tb_status_t tb__client_plain_write(tb_ros2_client_t *client, int64_t sequence, const void *cdr,
                                   size_t size, tb__deadline_t deadline, tb_error_t *error)
{
  tb_status_t status = tb__client_check_plain_readers(client);
  if (status) return tb__client_no_server(client, status, error);
  if (!tb__write_turn_take(&client->plain_turn, deadline, TURN_NS))
    return tb_error_set(error, TB_ERR_TIMEOUT, "request to %s: earlier ones cannot be sent",
                        client->name);
  int64_t expected = client->plain_count + 1, number = expected;
  if (number_set(client, sequence, expected)) {
    status = write_once(client, cdr, size, &number, error);
    if (!status) client->plain_count = number;
    if (status || number != expected) number_set(client, sequence, status ? 0 : number);
  }
  tb__write_turn_give(&client->plain_turn);
  return status;
}

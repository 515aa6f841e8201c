/* The requests of a client: sent to each server in its own form, and ended by the first answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "platform/time.h"
#include "ros2/client.h"
#include "wire/service_header.h"

static _Atomic int64_t last_sequence; /* of the process, as in rmw_cyclonedds */

tb__pending_t *tb__client_find_locked(tb_ros2_client_t *client, int64_t sequence)
{
  tb__pending_t *pending = client->pending;
  while (pending && pending->sequence != sequence)
    pending = pending->next;
  return pending;
}

void tb__client_finish_locked(tb_ros2_client_t *client, tb__pending_t *pending, tb_status_t status)
{
  TB__CHAIN_REMOVE(client->pending, pending);
  pending->status = status;
  pending->done = true;
  if (!pending->callback) return;
  TB__CHAIN_APPEND(client->finished, pending);
}

tb_status_t tb__client_request_add(tb_ros2_client_t *client, tb__pending_t *pending,
                                   int64_t *out_sequence)
{
  bool header, plain;
  *out_sequence = pending->sequence = atomic_fetch_add(&last_sequence, 1) + 1;
  tb__mutex_lock(&client->mutex);
  tb__client_kinds_locked(client, &header, &plain);
  tb_status_t status = header || plain ? TB_OK : TB_ERR_TIMEOUT;
  if (client->is_closed) status = TB_ERR_CLOSED;
  if (!status) {
    pending->servers_upto = client->last_serial;
    pending->next = client->pending;
    client->pending = pending;
    if (pending->callback) client->references++;
  }
  tb__mutex_unlock(&client->mutex);
  return status;
}

tb__pending_t *tb__client_request_cancel(tb_ros2_client_t *client, int64_t sequence)
{
  tb__mutex_lock(&client->mutex);
  tb__pending_t *pending = tb__client_find_locked(client, sequence);
  if (pending) TB__CHAIN_REMOVE(client->pending, pending);
  tb__mutex_unlock(&client->mutex);
  return pending;
}

tb_status_t tb__client_no_server(const tb_ros2_client_t *client, tb_status_t status,
                                 tb_error_t *error)
{
  if (status == TB_ERR_TIMEOUT)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "service %s is not available", client->name);
  if (status == TB_ERR_UNSUPPORTED)
    return tb_error_set(error, status,
                        "service %s is offered by nodes of Fast DDS and of Cyclone DDS, whose "
                        "requests cannot be kept apart here (DDS Security, or a node of Fast DDS "
                        "in a partition); nothing was sent; stop one of the two, or run both with "
                        "RMW_IMPLEMENTATION=rmw_cyclonedds_cpp",
                        client->name);
  return tb_error_set(error, status, "%s: %s", client->name, tb_status_message(status));
}

static tb_status_t header_write(tb_ros2_client_t *client, int64_t sequence, const void *cdr,
                                size_t size, tb_error_t *error)
{
  tb__service_header_t header = {client->id, sequence};
  tb_status_t status = tb__client_check_header_readers(client);
  if (status) return tb__client_no_server(client, status, error);
  uint8_t *message = malloc(size + TB__SERVICE_HEADER_SIZE);
  if (!message)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "request to %s: out of memory", client->name);
  status = tb__service_header_insert(&header, cdr, size, message);
  if (status)
    tb_error_set(error, status = TB_ERR_INVALID,
                 "request to %s: not CDR with an encapsulation header", client->name);
  else
    status = tb__raw_writer_write(client->writer, message, size + TB__SERVICE_HEADER_SIZE, error);
  if (status == TB_ERR_UNSUPPORTED) tb__client_no_server(client, status, error);
  free(message);
  return status;
}

static bool is_past(tb__deadline_t deadline)
{
  return deadline.clock == TB__DEADLINE_STEADY && tb__steady_now_ns() >= deadline.ns;
}

/* What has been sent once is enough: a writer that takes nothing has a server that does not
 * acknowledge, and the other kind answers. */
tb_status_t tb__client_request_write(tb_ros2_client_t *client, int64_t sequence, const void *cdr,
                                     size_t size, tb__deadline_t deadline, tb__call_wait_t *wait,
                                     tb_error_t *error)
{
  bool header, plain, sent = false;
  tb_status_t status;
  tb__mutex_lock(&client->mutex);
  tb__client_kinds_locked(client, &header, &plain);
  tb__mutex_unlock(&client->mutex);
  do {
    status = header || plain ? TB_OK : tb__client_no_server(client, TB_ERR_TIMEOUT, error);
    if (plain) status = tb__client_plain_write(client, sequence, cdr, size, deadline, error);
    sent = plain && !status;
    if (header && (!status || status == TB_ERR_TIMEOUT || status == TB_ERR_LIMIT)) {
      status = header_write(client, sequence, cdr, size, error);
      sent = sent || !status;
    }
    if (sent) return TB_OK;
    tb_status_t ended = status == TB_ERR_TIMEOUT && wait ? tb__call_wait_ended(wait) : TB_OK;
    if (ended) status = tb__client_no_server(client, ended, error);
  } while (status == TB_ERR_TIMEOUT && !is_past(deadline));
  return status;
}

/* NULL: this is not an answer to a request of this client. Samples may come before the client is
 * complete, when it has sent nothing. */
static tb__pending_t *answered_locked(tb_ros2_client_t *client,
                                      const tb__related_identity_t *related,
                                      const tb__service_header_t *header) TB_REQUIRES(client->mutex)
{
  tb__pending_t *pending = client->pending;
  if (!related)
    return header->client == client->id ? tb__client_find_locked(client, header->sequence) : NULL;
  if (!client->plain || (!tb__guid_equal(&related->guid, &client->reader_guid) &&
                         !tb__guid_equal(&related->guid, &client->plain_guid)))
    return NULL;
  while (pending && (pending->plain_sequence == 0 || pending->plain_sequence != related->sequence))
    pending = pending->next;
  return pending;
}

static tb_status_t response_copy(const tb_ros2_sample_t *sample, bool has_header,
                                 tb_ros2_response_t *out)
{
  size_t size = has_header ? sample->size - TB__SERVICE_HEADER_SIZE : sample->size;
  void *cdr = malloc(size);
  if (!cdr) return TB_ERR_NO_MEMORY;
  if (has_header)
    tb__service_header_remove(sample->cdr, sample->size, cdr);
  else
    memcpy(cdr, sample->cdr, size);
  *out = (tb_ros2_response_t){cdr, size};
  return TB_OK;
}

/* Receives replies to all clients of the service; most belong to other clients. Those of Fast DDS
 * are related to a request, the others have a header. */
void tb__client_on_reply(const tb_ros2_sample_t *sample, void *user)
{
  tb_ros2_client_t *client = user;
  tb__sample_origin_t origin;
  tb__service_header_t header = {0};
  bool is_plain = tb__raw_reader_origin(sample, &origin) && origin.has_related;
  if (!is_plain && tb__service_header_read(sample->cdr, sample->size, &header) != TB_OK) return;
  tb__mutex_lock(&client->mutex);
  tb__pending_t *pending = answered_locked(client, is_plain ? &origin.related : NULL, &header);
  if (pending) {
    tb_status_t status = response_copy(sample, !is_plain, &pending->response);
    pending->times.replied_ns = sample->source_timestamp_ns;
    pending->times.received_ns = sample->receive_timestamp_ns;
    tb__client_finish_locked(client, pending, status);
  }
  tb__mutex_unlock(&client->mutex);
  if (pending) tb__client_notify(client);
}

#include "ros2/client.h"
#include "base/list.h"
#include "base/no_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/announced.h"
#include "ros2/context.h"
#include "ros2/service_pair.h"
#include "ros2/topic_endpoint.h"
#include "wait/call_wait.h"

#define RETRY_REFRESH_NS INT64_C(100000000)

static tb_ros2_client_t *client_of(tb__dispatch_member_t *member)
{
  return (tb_ros2_client_t *)(void *)((char *)member - offsetof(tb_ros2_client_t, member));
}

void tb__client_notify(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  if (client->is_dispatched)
    tb__dispatch_post(tb__ros2_context_dispatch(client->context), &client->member);
  tb__mutex_unlock(&client->mutex);
  atomic_fetch_add(&client->events, 1);
  tb__futex_wake_all(&client->events);
  _Atomic uint32_t *watched = atomic_load(&client->watched);
  if (!watched) return;
  atomic_fetch_add(watched, 1);
  tb__futex_wake_all(watched);
}

void tb__client_watch(tb_ros2_client_t *client, _Atomic uint32_t *events)
{
  atomic_store(&client->watched, events);
}

static void on_matched(void *user)
{
  tb__client_notify(user);
}

static void callbacks_run(tb_ros2_client_t *client)
{
  for (;;) {
    tb__mutex_lock(&client->mutex);
    tb__pending_t *pending = client->finished;
    if (pending) client->finished = pending->next;
    tb__mutex_unlock(&client->mutex);
    if (!pending) return;
    pending->callback(pending->status, !pending->status ? &pending->response : NULL, pending->user);
    tb_ros2_response_release(&pending->response);
    free(pending);
  }
}

/* Ends requests whose limit has passed. Returns the next deadline. */
static int64_t expire(tb_ros2_client_t *client)
{
  int64_t next_ns = INT64_MAX, now_ns = tb__steady_now_ns();
  tb__mutex_lock(&client->mutex);
  for (tb__pending_t *pending = client->pending, *next; pending; pending = next) {
    next = pending->next;
    if (!pending->callback) continue;
    if (pending->deadline_ns <= now_ns)
      tb__client_finish_locked(client, pending, TB_ERR_TIMEOUT);
    else if (pending->deadline_ns < next_ns)
      next_ns = pending->deadline_ns;
  }
  tb__mutex_unlock(&client->mutex);
  return next_ns;
}

/* A failed refresh is retried: nothing else would trigger it. */
static tb__deadline_t retry_deadline(tb__deadline_t deadline)
{
  int64_t soon_ns = tb__steady_now_ns() + RETRY_REFRESH_NS;
  if (deadline.clock == TB__DEADLINE_STEADY && deadline.ns <= soon_ns) return deadline;
  return (tb__deadline_t){TB__DEADLINE_STEADY, soon_ns};
}

static void run(tb__dispatch_member_t *member)
{
  tb_ros2_client_t *client = client_of(member);
  callbacks_run(client);
  bool refreshed = tb__client_refresh(client) == TB_OK;
  int64_t next_ns = expire(client);
  if (!refreshed) next_ns = retry_deadline((tb__deadline_t){TB__DEADLINE_STEADY, next_ns}).ns;
  callbacks_run(client);
  if (next_ns != INT64_MAX)
    tb__dispatch_set_due(tb__ros2_context_dispatch(client->context), member, next_ns);
}

/* The writer of requests with a header has the partition "*", which for Cyclone DDS includes the
 * default one and for Fast DDS does not: a reader of Fast DDS drops what this writer sends. Where
 * permissions decide about partitions, it has none. A reader of Fast DDS that is matched all the
 * same is sent nothing: no request is written then, and no earlier one is sent again. */
static tb_status_t endpoints_open(tb_ros2_client_t *client, tb_error_t *error)
{
  tb__participant_t *participant = tb__ros2_context_participant(client->context);
  tb__endpoint_options_t request = client->pair.request, reply = client->pair.reply;
  client->is_apart = !tb__participant_is_secured(participant);
  if (client->is_apart) request.partition = "*";
  request.resend = TB__RESEND_NOTHING;
  request.refuses_fast_dds = true;
  request.on_matched = reply.on_matched = on_matched;
  request.on_matched_user = reply.on_matched_user = client;
  tb_status_t status = tb__raw_writer_create(participant, &request, &client->writer, error);
  if (status) return status;
  client->id = tb__raw_writer_instance(client->writer);
  return tb__raw_reader_create(participant, &reply, tb__client_on_reply, client, &client->reader,
                               error);
}

tb_status_t tb_ros2_client_create(tb_ros2_context_t *context, const char *service, const char *type,
                                  const tb_qos_t *qos, tb_ros2_client_t **out, tb_error_t *error)
{
  tb_ros2_client_t *client = calloc(1, sizeof *client);
  if (!client) return tb_error_set(error, TB_ERR_NO_MEMORY, "client of %s: out of memory", service);
  tb_status_t status =
      tb__service_pair_init(&client->pair, context, service, type, qos, "clientid", error);
  if (status) {
    free(client);
    return status;
  }
  client->context = context;
  client->references = 1;
  client->member.due_ns = INT64_MAX;
  tb__mutex_init(&client->mutex);
  tb__mutex_init(&client->refresh_mutex);
  snprintf(client->name, sizeof client->name, "%s", service);
  status = endpoints_open(client, error);
  if (status) {
    tb_ros2_client_destroy(client);
    return status;
  }
  *out = client;
  return TB_OK;
}

/* Ends open requests, and prevents new ones. False: it was closed already. */
static bool close_first(tb_ros2_client_t *client, bool *out_dispatched)
{
  tb__mutex_lock(&client->mutex);
  bool first = !client->is_closed;
  *out_dispatched = client->is_dispatched;
  client->is_dispatched = false;
  client->is_closed = true;
  while (first && client->pending && !tb__is_forked())
    tb__client_finish_locked(client, client->pending, TB_ERR_CLOSED);
  tb__mutex_unlock(&client->mutex);
  return first;
}

static bool is_closed(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  bool closed = client->is_closed;
  tb__mutex_unlock(&client->mutex);
  return closed;
}

static void forget(tb__pending_t *list)
{
  for (tb__pending_t *next; list; list = next) {
    next = list->next;
    if (!list->callback) continue; /* on the stack of a thread that does not exist here */
    tb_ros2_response_release(&list->response);
    free(list);
  }
}

/* In a forked child no callback is called. */
static void forget_in_child(tb_ros2_client_t *client)
{
  if (!tb__mutex_was_free(&client->mutex)) return;
  forget(client->pending);
  forget(client->finished);
}

static void client_unref(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  bool last = --client->references == 0;
  tb__mutex_unlock(&client->mutex);
  if (!last && !tb__is_forked()) return;
  tb__raw_writer_destroy(client->writer);
  tb__raw_writer_destroy(client->plain);
  tb__mutex_fini(&client->mutex);
  tb__mutex_fini(&client->refresh_mutex);
  free(client->servers);
  free(client);
}

/* The client is closed while the last callbacks run, so they use none of its endpoints. */
static void client_free(tb_ros2_client_t *client)
{
  tb__raw_reader_destroy(client->reader);
  if (tb__is_forked())
    forget_in_child(client);
  else
    callbacks_run(client);
  client_unref(client);
}

static void finish(tb__dispatch_member_t *member)
{
  client_free(client_of(member));
}

/* As tb_ros2_service_destroy. */
void tb_ros2_client_destroy(tb_ros2_client_t *client)
{
  bool dispatched;
  if (!client || !close_first(client, &dispatched)) return;
  tb__mutex_lock(&client->refresh_mutex); /* afterwards nothing is announced any more */
  tb__announced_remove(&client->plain_announced);
  tb__announced_remove(&client->announced);
  tb__mutex_unlock(&client->refresh_mutex);
  tb__client_notify(client); /* wakes a callback that waits in a call */
  if (dispatched) {
    tb__dispatch_t *dispatch = tb__ros2_context_dispatch(client->context);
    if (tb__dispatch_leave(dispatch, &client->member, finish)) return;
    tb__dispatch_remove(dispatch, &client->member);
  }
  client_free(client);
}

bool tb_ros2_client_is_service_ready(tb_ros2_client_t *client)
{
  if (!client) return false;
  if (tb__is_forked() || is_closed(client)) return false;
  tb__client_refresh(client);
  return tb__client_server_status(client) == TB_OK;
}

/* TB_ERR_TIMEOUT: there is none yet. */
static tb_status_t server_look(void *user)
{
  tb_ros2_client_t *client = user;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (is_closed(client)) return TB_ERR_CLOSED;
  tb_status_t refreshed = tb__client_refresh(client);
  tb_status_t status = tb__client_server_status(client);
  return status == TB_ERR_TIMEOUT && refreshed ? refreshed : status;
}

tb_status_t tb_ros2_client_wait_for_service_sized(tb_ros2_client_t *client,
                                                  const tb_wait_options_t *options,
                                                  size_t options_size)
{
  tb_wait_options_t known;
  if (!client) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return tb__call_wait(options, &client->events, server_look, client);
}

static bool is_past(tb__deadline_t deadline)
{
  return deadline.clock == TB__DEADLINE_STEADY && tb__steady_now_ns() >= deadline.ns;
}

/* An answer counts that has come before anything else is seen to have ended the wait. */
static tb_status_t answer_wait(tb_ros2_client_t *client, tb__pending_t *pending,
                               tb__call_wait_t *wait)
{
  tb__deadline_t deadline = wait->deadline;
  for (;;) {
    uint32_t seen = atomic_load(&client->events);
    bool refreshed = tb__client_refresh(client) == TB_OK;
    tb__deadline_t until = refreshed ? deadline : retry_deadline(deadline);
    tb__mutex_lock(&client->mutex);
    bool done = pending->done;
    tb__mutex_unlock(&client->mutex);
    if (done) return pending->status;
    tb_status_t ended = tb__call_wait_ended(wait);
    if (ended)
      return tb__client_request_cancel(client, pending->sequence) ? ended : pending->status;
    if (!tb__futex_wait(&client->events, seen, until) && is_past(deadline))
      return tb__client_request_cancel(client, pending->sequence) ? TB_ERR_TIMEOUT
                                                                  : pending->status;
  }
}

/* The servers may have gone again before the request is added. */
static tb_status_t request_begin(tb_ros2_client_t *client, tb__call_wait_t *wait,
                                 tb__pending_t *pending, int64_t *out_sequence)
{
  for (;;) {
    tb_status_t status = tb__call_wait_for(wait, server_look, client);
    if (status) return status;
    status = tb__client_request_add(client, pending, out_sequence);
    if (status != TB_ERR_TIMEOUT) return status;
  }
}

static tb_status_t call(tb_ros2_client_t *client, const void *cdr, size_t size,
                        tb__call_wait_t *wait, tb_ros2_response_t *out, tb_ros2_call_times_t *times,
                        tb_error_t *error)
{
  tb__pending_t pending = {.status = TB_OK};
  int64_t sequence;
  tb_status_t status = request_begin(client, wait, &pending, &sequence);
  if (status) return tb__client_no_server(client, status, error);
  int64_t asked_ns = tb__system_now_ns();
  status = tb__client_request_write(client, sequence, cdr, size, wait->deadline, wait, error);
  if (status && tb__client_request_cancel(client, sequence)) return status;
  status = answer_wait(client, &pending, wait);
  pending.times.asked_ns = asked_ns;
  if (!status) {
    *out = pending.response;
    *times = pending.times;
  } else if (status == TB_ERR_CLOSED && tb__call_wait_ended(wait) == TB_OK) {
    tb_error_set(error, status, "%s: the service has disappeared without answering", client->name);
  } else {
    tb_error_set(error, status, "%s: %s", client->name, tb_status_message(status));
  }
  return status;
}

tb_status_t tb_ros2_client_call_sized(tb_ros2_client_t *client, const void *cdr, size_t size,
                                      const tb_wait_options_t *options, size_t options_size,
                                      tb_ros2_response_t *out, tb_error_t *error)
{
  tb_ros2_call_times_t times;
  if (!client || !cdr || !out) return tb__null_argument(error, __func__);
  return tb_ros2_client_call_timed_sized(client, cdr, size, options, options_size, out, &times,
                                         sizeof times, error);
}

tb_status_t tb_ros2_client_call_timed_sized(tb_ros2_client_t *client, const void *cdr, size_t size,
                                            const tb_wait_options_t *options, size_t options_size,
                                            tb_ros2_response_t *out,
                                            tb_ros2_call_times_t *out_times, size_t out_times_size,
                                            tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || !cdr || !out || !out_times) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__call_wait_t wait;
  tb_status_t status = tb__call_wait_begin(&wait, options, &client->events);
  if (status) return tb__client_no_server(client, status, error);
  tb_ros2_call_times_t filled, *full = TB__SIZED_OUT(out_times, out_times_size, filled);
  status = call(client, cdr, size, &wait, out, full, error);
  TB__SIZED_END(status, out_times, out_times_size, full);
  tb__call_wait_end(&wait);
  return status;
}

static tb_status_t member_start(tb_ros2_client_t *client)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&client->mutex);
  if (client->is_closed) {
    status = TB_ERR_CLOSED; /* called in a callback of a client that is being destroyed */
  } else if (!client->is_dispatched) {
    status = tb__dispatch_add(tb__ros2_context_dispatch(client->context), &client->member, run);
    client->is_dispatched = !status;
  }
  tb__mutex_unlock(&client->mutex);
  return status;
}

tb_status_t tb_ros2_client_call_async(tb_ros2_client_t *client, const void *cdr, size_t size,
                                      tb_duration_t limit, tb_ros2_response_callback_t callback,
                                      void *user, tb_error_t *error)
{
  if (!client || !cdr || !callback) return tb__null_argument(error, __func__);
  if (!callback) return tb_error_set(error, TB_ERR_INVALID, "%s: callback is NULL", client->name);
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  if (!status) status = server_look(client);
  if (status) return tb__client_no_server(client, status, error);
  status = member_start(client);
  if (status) return tb_error_set(error, status, "%s: %s", client->name, tb_status_message(status));
  tb__pending_t *pending = calloc(1, sizeof *pending);
  if (!pending) return tb__no_memory_for(error, client->name);
  pending->callback = callback;
  pending->user = user;
  pending->deadline_ns = deadline.ns;
  int64_t sequence;
  status = tb__client_request_add(client, pending, &sequence);
  if (status) {
    free(pending);
    return tb__client_no_server(client, status, error);
  }
  status = tb__client_request_write(client, sequence, cdr, size, deadline, NULL, error);
  if (status && tb__client_request_cancel(client, sequence) == pending) {
    free(pending);
  } else {
    tb__client_notify(client);
    status = TB_OK;
  }
  client_unref(client);
  return status;
}

void tb_ros2_response_release(tb_ros2_response_t *response)
{
  if (!response) return;
  free(response->cdr);
  *response = (tb_ros2_response_t){NULL, 0};
}

tb_status_t tb__client_announce(tb_ros2_client_t *client, tb__announced_node_t *node,
                                tb_error_t *error)
{
  tb__guid_t reader = tb__raw_reader_guid(client->reader);
  tb__guid_t writer = tb__raw_writer_guid(client->writer);
  tb__mutex_lock(&client->refresh_mutex);
  tb_status_t status = tb__announced_add(&client->announced, node, &reader, &writer, error);
  if (!status && client->plain) tb__client_plain_announce(client);
  tb__mutex_unlock(&client->refresh_mutex);
  return status;
}

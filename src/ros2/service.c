#include <timebase/ros2_service.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "dds/guid.h"
#include "dds/peers.h"
#include "dds/raw_reader.h"
#include "dds/raw_type.h"
#include "dds/raw_writer.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/announced.h"
#include "ros2/dispatch.h"
#include "ros2/parked_replies.h"
#include "ros2/request_queue.h"
#include "ros2/service_clients.h"
#include "ros2/service_pair.h"
#include "ros2/topic_endpoint.h"
#include "wire/service_header.h"

#define ACK_WAIT     ((tb_duration_t){500000000})
#define PARKED_NS    (30 * TB_NS_PER_S) /* over a bad link a reader is announced after seconds */
#define LOG_PAUSE_NS (10 * TB_NS_PER_S)

struct tb_ros2_service {
  tb_ros2_context_t *context;
  tb__announced_t announced;
  tb__raw_writer_t *writer; /* of replies */
  tb__raw_reader_t *reader; /* of requests */
  tb__peers_t readers_of_replies, writers_of_requests;
  tb_ros2_service_callback_t callback;
  void *user;
  tb__dispatch_member_t member;
  bool has_member; /* it is in use */
  bool has_warned; /* that it cannot answer clients of Fast DDS; of the dispatch thread */

  tb__mutex_t mutex;
  bool is_open;   /* requests go to their callback */
  bool is_closed; /* it is being destroyed */
  tb__request_queue_t waiting;

  tb__mutex_t replies_mutex; /* held while DDS is queried, never by its threads */
  tb__parked_replies_t parked;
  uint64_t dropped;       /* replies, not yet reported */
  int64_t dropped_log_ns; /* steady time from which on such a report is made; 0: at once */
  char name[];
};

static bool header_read(const tb_ros2_sample_t *sample, tb_ros2_request_id_t *out)
{
  tb__service_header_t header;
  if (tb__service_header_read(sample->cdr, sample->size, &header) != TB_OK) return false;
  *out = (tb_ros2_request_id_t){.client = header.client, .sequence = header.sequence};
  memcpy(out->writer_guid, sample->writer_guid, sizeof sample->writer_guid);
  return true;
}

/* NULL: out of memory, or not a request. One that a client in this process has written for servers
 * of Fast DDS is none for this service, which gets the same with a header. */
static tb__request_t *request_create(const tb_ros2_sample_t *sample)
{
  tb_ros2_request_id_t id;
  tb__sample_origin_t origin;
  tb__guid_t writer = tb__guid_of(sample->writer_guid);
  if (tb__raw_reader_has_inline_qos(sample)) return NULL;
  bool is_plain =
      tb__raw_reader_origin(sample, &origin) && tb__client_plain_id(&writer, &origin, &id);
  /* Of a writer of Fast DDS that is no longer matched: there is no header to cut off. */
  bool is_orphan = !is_plain && tb__raw_reader_origin(sample, &origin) && origin.has_related;
  if (is_orphan || (!is_plain && !header_read(sample, &id))) return NULL;
  size_t size = sample->size - (is_plain ? 0 : TB__SERVICE_HEADER_SIZE);
  tb__request_t *request = malloc(sizeof *request + size);
  if (!request) return NULL;
  if (is_plain)
    memcpy(request->cdr, sample->cdr, size);
  else
    tb__service_header_remove(sample->cdr, sample->size, request->cdr);
  request->request = (tb_ros2_request_t){.cdr = request->cdr,
                                         .size = size,
                                         .source_timestamp_ns = sample->source_timestamp_ns,
                                         .id = id};
  return request;
}

static void post_locked(tb_ros2_service_t *service) TB_REQUIRES(service->mutex)
{
  if (service->is_open)
    tb__dispatch_post(tb__ros2_context_dispatch(service->context), &service->member);
}

static void on_matched(void *user)
{
  tb_ros2_service_t *service = user;
  tb__mutex_lock(&service->mutex);
  post_locked(service); /* replies may be waiting for it */
  tb__mutex_unlock(&service->mutex);
}

static void on_request(const tb_ros2_sample_t *sample, void *user)
{
  tb_ros2_service_t *service = user;
  tb__request_t *request = request_create(sample);
  if (!request) return;
  tb__mutex_lock(&service->mutex);
  tb__request_t *dropped = tb__request_queue_put(&service->waiting, request);
  post_locked(service);
  tb__mutex_unlock(&service->mutex);
  tb__requests_free(dropped);
}

static tb_ros2_service_t *service_of(tb__dispatch_member_t *member)
{
  return (tb_ros2_service_t *)(void *)((char *)member - offsetof(tb_ros2_service_t, member));
}

/* False: the client could get no answer, so the request is not carried out. */
static bool can_answer(tb_ros2_service_t *service, const tb_ros2_request_id_t *id)
{
  tb__guid_t client = tb__guid_of(id->writer_guid);
  if (!tb__client_is_plain(&client)) return true;
  tb__inline_qos_state_t state = tb__raw_writer_inline_qos(service->writer);
  if (state == TB__INLINE_QOS_ON) return true;
  char what[TB__DDS_NAME_SIZE + 64];
  tb_error_t error = TB_ERROR_INIT;
  snprintf(what, sizeof what, "service %s does not answer clients of Fast DDS", service->name);
  tb_status_t status = tb__inline_qos_refusal(state, what, &error);
  if (status != TB_ERR_CLOSED && !service->has_warned) {
    service->has_warned = true;
    tb__log(TB_LOG_WARN, "%s", error.text);
  }
  return false;
}

static tb_status_t reply_with_header(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                                     const void *cdr, size_t size, tb_error_t *error)
{
  uint8_t *message = malloc(size + TB__SERVICE_HEADER_SIZE);
  if (!message) return tb__no_memory_for(error, "reply");
  tb__service_header_t header = {id->client, id->sequence};
  tb_status_t status = tb__service_header_insert(&header, cdr, size, message);
  if (status)
    status = tb_error_set(error, TB_ERR_INVALID, "reply: not CDR with an encapsulation header");
  else
    status = tb__raw_writer_write(service->writer, message, size + TB__SERVICE_HEADER_SIZE, error);
  free(message);
  return status;
}

/* As Fast DDS does. */
static tb_status_t reply_plain(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                               const void *cdr, size_t size, tb_error_t *error)
{
  uint8_t parameters[TB__RELATED_IDENTITY_SIZE];
  tb__related_identity_t identity = {tb__guid_of(id->writer_guid), id->sequence};
  tb__related_identity_write(&identity, parameters);
  return tb__raw_writer_write_with(service->writer, cdr, size, parameters, sizeof parameters, NULL,
                                   error);
}

static tb_status_t reply_send(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                              const void *cdr, size_t size, tb_error_t *error)
{
  tb__guid_t client = tb__guid_of(id->writer_guid);
  return tb__client_is_plain(&client) ? reply_plain(service, id, cdr, size, error)
                                      : reply_with_header(service, id, cdr, size, error);
}

static tb__client_state_t state_of(const tb_ros2_service_t *service, const tb__guid_t *client)
{
  return tb__client_state(&service->writers_of_requests, &service->readers_of_replies, client);
}

/* The replies that no client can get, one report for all that come in 10 s. */
static void dropped_report(tb_ros2_service_t *service, size_t count, bool is_last)
{
  int64_t now_ns = tb__steady_now_ns();
  tb__mutex_lock(&service->replies_mutex);
  service->dropped += count;
  uint64_t dropped = is_last || now_ns >= service->dropped_log_ns ? service->dropped : 0;
  if (dropped > 0) {
    service->dropped = 0;
    service->dropped_log_ns = now_ns + LOG_PAUSE_NS;
  }
  tb__mutex_unlock(&service->replies_mutex);
  if (dropped > 0)
    tb__log(TB_LOG_WARN,
            "service %s: replies dropped: %" PRIu64 ": the readers of their clients were not "
            "discovered in time; check that both sides use the same network interface",
            service->name, dropped);
}

/* Takes out the first one that does not wait any longer. NULL: there is none. */
static tb__parked_reply_t *parked_take(tb_ros2_service_t *service, tb__client_state_t *out_state)
{
  int64_t now_ns = tb__steady_now_ns();
  tb__mutex_lock(&service->replies_mutex);
  tb__parked_reply_t *reply = service->parked.first;
  for (; reply; reply = reply->next) {
    *out_state = state_of(service, &reply->client);
    if (*out_state != TB__CLIENT_WITHOUT_READER || now_ns >= reply->due_ns) break;
  }
  if (reply) tb__parked_replies_take(&service->parked, reply);
  int64_t due_ns = tb__parked_replies_next_due(&service->parked);
  if (!reply && due_ns < INT64_MAX)
    tb__dispatch_set_due(tb__ros2_context_dispatch(service->context), &service->member, due_ns);
  tb__mutex_unlock(&service->replies_mutex);
  return reply;
}

/* On the dispatch thread. */
static void parked_send(tb_ros2_service_t *service)
{
  tb__client_state_t state;
  for (tb__parked_reply_t *reply; (reply = parked_take(service, &state));) {
    tb_error_t error = TB_ERROR_INIT;
    if (state == TB__CLIENT_READY &&
        reply_send(service, &reply->id, reply->cdr, reply->size, &error) != TB_OK)
      tb__log(TB_LOG_WARN, "service %s: a reply was dropped: %s", service->name, error.text);
    if (state == TB__CLIENT_WITHOUT_READER) dropped_report(service, 1, false);
    tb__parked_replies_free(reply);
  }
}

/* The client is discovered in parts. True: *out_status is the result. The dispatch thread looks at
 * what is parked after each change of the matches, so it does after one since the state was read.
 */
static bool is_parked(tb_ros2_service_t *service, const tb_ros2_request_id_t *id, const void *cdr,
                      size_t size, tb_status_t *out_status, tb_error_t *error)
{
  tb__guid_t client = tb__guid_of(id->writer_guid);
  tb__parked_reply_t *pushed_out = NULL;
  tb__mutex_lock(&service->replies_mutex);
  tb__client_state_t state = state_of(service, &client);
  if (state == TB__CLIENT_WITHOUT_READER) {
    tb__parked_reply_t *reply =
        tb__parked_reply_create(id, cdr, size, tb__steady_now_ns() + PARKED_NS);
    *out_status = reply ? TB_OK : tb__no_memory_for(error, "reply");
    if (reply) pushed_out = tb__parked_replies_put(&service->parked, reply);
    tb__dispatch_set_due(tb__ros2_context_dispatch(service->context), &service->member,
                         tb__parked_replies_next_due(&service->parked));
  }
  tb__mutex_unlock(&service->replies_mutex);
  if (pushed_out) dropped_report(service, tb__parked_replies_free(pushed_out), false);
  if (state == TB__CLIENT_GONE)
    *out_status = tb_error_set(error, TB_ERR_CLOSED, "reply: the client is gone");
  return state != TB__CLIENT_READY;
}

/* One request, so that services of the context take turns. None once the service is closed. */
static void run(tb__dispatch_member_t *member)
{
  tb_ros2_service_t *service = service_of(member);
  tb__mutex_lock(&service->mutex);
  bool is_open = service->is_open;
  tb__request_t *request = is_open ? tb__request_queue_take(&service->waiting) : NULL;
  if (request && service->waiting.count > 0) post_locked(service);
  tb__mutex_unlock(&service->mutex);
  if (is_open) parked_send(service);
  if (!request) return;
  tb__guid_t client = tb__guid_of(request->request.id.writer_guid);
  if (tb__client_response_hash(&service->writers_of_requests, &service->readers_of_replies, &client,
                               request->response_type_hash))
    request->request.response_type_hash = request->response_type_hash;
  if (can_answer(service, &request->request.id))
    service->callback(service, &request->request, service->user);
  tb__requests_free(request);
}

static tb_status_t endpoints_open(tb_ros2_service_t *service, tb__service_pair_t *pair,
                                  tb_error_t *error)
{
  tb__participant_t *participant = tb__ros2_context_participant(service->context);
  pair->request.on_matched = pair->reply.on_matched = on_matched;
  pair->request.on_matched_user = pair->reply.on_matched_user = service;
  bool keep_all = pair->qos.history == TB_QOS_KEEP_ALL;
  int32_t depth = tb__qos_depth(&pair->qos);
  tb__request_queue_init(&service->waiting, keep_all ? SIZE_MAX : (size_t)(depth < 1 ? 1 : depth));
  tb_status_t status = tb__raw_writer_create(participant, &pair->reply, &service->writer, error);
  if (status) return status;
  service->readers_of_replies = tb__raw_writer_peers(service->writer);
  status = tb__dispatch_add(tb__ros2_context_dispatch(service->context), &service->member, run);
  if (status)
    return tb_error_set(error, status, "service on %s: cannot create a thread",
                        pair->request_topic);
  service->has_member = true;
  status = tb__raw_reader_create(participant, &pair->request, on_request, service, &service->reader,
                                 error);
  if (status) return status;
  service->writers_of_requests = tb__raw_reader_peers(service->reader);
  tb__mutex_lock(&service->mutex);
  service->is_open = true; /* now callbacks may answer */
  if (service->waiting.count > 0) post_locked(service);
  tb__mutex_unlock(&service->mutex);
  return TB_OK;
}

tb_status_t tb_ros2_service_create(tb_ros2_context_t *context, const char *name, const char *type,
                                   const tb_qos_t *qos, tb_ros2_service_callback_t callback,
                                   void *user, tb_ros2_service_t **out, tb_error_t *error)
{
  tb__service_pair_t pair;
  if (!callback) return tb_error_set(error, TB_ERR_INVALID, "service: callback is NULL");
  tb_status_t status = tb__service_pair_init(&pair, context, name, type, qos, "serviceid", error);
  if (status) return status;
  size_t name_size = strlen(name) + 1;
  tb_ros2_service_t *service = calloc(1, sizeof *service + name_size);
  if (!service) return tb_error_set(error, TB_ERR_NO_MEMORY, "service %s: out of memory", name);
  service->context = context;
  service->callback = callback;
  service->user = user;
  memcpy(service->name, name, name_size);
  tb__mutex_init(&service->mutex);
  tb__mutex_init(&service->replies_mutex);
  status = endpoints_open(service, &pair, error);
  if (status) {
    tb_ros2_service_destroy(service);
    return status;
  }
  *out = service;
  return TB_OK;
}

static bool is_closed(tb_ros2_service_t *service)
{
  tb__mutex_lock(&service->mutex);
  bool closed = service->is_closed;
  tb__mutex_unlock(&service->mutex);
  return closed;
}

/* False: it was closed already. */
static bool close_first(tb_ros2_service_t *service)
{
  tb__mutex_lock(&service->mutex);
  bool first = !service->is_closed;
  service->is_closed = true;
  service->is_open = false;
  tb__mutex_unlock(&service->mutex);
  return first;
}

static void service_free(tb_ros2_service_t *service)
{
  dropped_report(service, 0, true);
  tb__raw_reader_destroy(service->reader);
  if (service->writer) tb__raw_writer_wait_for_acks(service->writer, ACK_WAIT);
  tb__raw_writer_destroy(service->writer);
  tb__mutex_fini(&service->mutex);
  tb__mutex_fini(&service->replies_mutex);
  tb__requests_free(service->waiting.first);
  tb__parked_replies_free(service->parked.first);
  free(service);
}

static void finish(tb__dispatch_member_t *member)
{
  service_free(service_of(member));
}

/* Waits for a callback that runs on another thread. From within its own callback, the rest is done
 * when that has returned. */
void tb_ros2_service_destroy(tb_ros2_service_t *service)
{
  if (!service || !close_first(service)) return;
  tb__announced_remove(&service->announced);
  if (service->has_member) {
    tb__dispatch_t *dispatch = tb__ros2_context_dispatch(service->context);
    if (tb__dispatch_leave(dispatch, &service->member, finish)) return;
    tb__dispatch_remove(dispatch, &service->member);
  }
  service_free(service);
}

tb_status_t tb_ros2_service_reply(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                                  const void *cdr, size_t size, tb_error_t *error)
{
  if (!service || !id || !cdr) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "reply: %s", tb_status_message(TB_ERR_FORKED));
  if (is_closed(service))
    return tb_error_set(error, TB_ERR_CLOSED, "reply: the service has been destroyed");
  if (!tb__cdr_is_valid(cdr, size))
    return tb_error_set(error, TB_ERR_INVALID, "reply: not CDR with an encapsulation header");
  tb_status_t status = TB_OK;
  if (is_parked(service, id, cdr, size, &status, error)) return status;
  return reply_send(service, id, cdr, size, error);
}

tb_status_t tb__service_announce(tb_ros2_service_t *service, tb__announced_node_t *node,
                                 tb_error_t *error)
{
  tb__guid_t reader = tb__raw_reader_guid(service->reader);
  tb__guid_t writer = tb__raw_writer_guid(service->writer);
  return tb__announced_add(&service->announced, node, &reader, &writer, error);
}

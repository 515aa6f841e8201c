#include <timebase/ros2_service.h>

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "dds/guid.h"
#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/announced.h"
#include "ros2/dispatch.h"
#include "ros2/request_queue.h"
#include "ros2/service_pair.h"
#include "ros2/topic_endpoint.h"
#include "wire/service_header.h"

#define CLIENT_WAIT_NS INT64_C(100000000) /* rmw_send_response */
#define ACK_WAIT       ((tb_duration_t){500000000})
#define CLIENTS_CACHED 16

typedef enum client_state {
  CLIENT_UNKNOWN,
  CLIENT_READY, /* or it has no clientid */
  CLIENT_WITHOUT_READER,
  CLIENT_GONE,
} client_state_t;

typedef struct client_entry {
  tb__guid_t writer_guid;
  client_state_t state;
  bool waited; /* for its reader, without success */
} client_entry_t;

struct tb_ros2_service {
  tb_ros2_context_t *context;
  tb__announced_t announced;
  tb__raw_writer_t *writer;
  tb__raw_reader_t *reader;
  tb_ros2_service_callback_t callback;
  void *user;
  _Atomic uint32_t events; /* futex: matches have changed */
  tb__dispatch_member_t member;
  bool has_member; /* it is in use */

  tb__mutex_t clients_mutex; /* held while DDS is queried, never by its threads */
  client_entry_t clients[CLIENTS_CACHED];
  uint32_t clients_of; /* match events when the entries were made */
  unsigned next_client;

  tb__mutex_t mutex;
  bool is_open;   /* requests go to their callback */
  bool is_closed; /* it is being destroyed */
  tb__request_queue_t waiting;
};

static void on_matched(void *user)
{
  tb_ros2_service_t *service = user;
  atomic_fetch_add(&service->events, 1);
  tb__futex_wake_all(&service->events);
}

/* NULL: out of memory, or not a request. */
static tb__request_t *request_create(const tb_ros2_sample_t *sample)
{
  tb__service_header_t header;
  if (tb__service_header_read(sample->cdr, sample->size, &header) != TB_OK) return NULL;
  size_t size = sample->size - TB__SERVICE_HEADER_SIZE;
  tb__request_t *request = malloc(sizeof *request + size);
  if (!request) return NULL;
  tb__service_header_remove(sample->cdr, sample->size, request->cdr);
  request->request = (tb_ros2_request_t){
      .cdr = request->cdr,
      .size = size,
      .source_timestamp_ns = sample->source_timestamp_ns,
      .id = {.client = header.client, .sequence = header.sequence},
  };
  memcpy(request->request.id.writer_guid, sample->writer_guid, sizeof sample->writer_guid);
  return request;
}

static void post_locked(tb_ros2_service_t *service) TB_REQUIRES(service->mutex)
{
  if (service->is_open)
    tb__dispatch_post(tb__ros2_context_dispatch(service->context), &service->member);
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

/* One request, so that services of the context take turns. None once the service is closed. */
static void run(tb__dispatch_member_t *member)
{
  tb_ros2_service_t *service = service_of(member);
  tb__mutex_lock(&service->mutex);
  tb__request_t *request = service->is_open ? tb__request_queue_take(&service->waiting) : NULL;
  if (request && service->waiting.count > 0) post_locked(service);
  tb__mutex_unlock(&service->mutex);
  if (!request) return;
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
  status = tb__dispatch_add(tb__ros2_context_dispatch(service->context), &service->member, run);
  if (status)
    return tb_error_set(error, status, "service on %s: cannot create a thread",
                        pair->request_topic);
  service->has_member = true;
  status = tb__raw_reader_create(participant, &pair->request, on_request, service, &service->reader,
                                 error);
  if (status) return status;
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
  tb_ros2_service_t *service = calloc(1, sizeof *service);
  if (!service) return tb_error_set(error, TB_ERR_NO_MEMORY, "service %s: out of memory", name);
  service->context = context;
  service->callback = callback;
  service->user = user;
  tb__mutex_init(&service->mutex);
  tb__mutex_init(&service->clients_mutex);
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
  tb__raw_reader_destroy(service->reader);
  if (service->writer) tb__raw_writer_wait_for_acks(service->writer, ACK_WAIT);
  tb__raw_writer_destroy(service->writer);
  tb__mutex_fini(&service->mutex);
  tb__mutex_fini(&service->clients_mutex);
  tb__requests_free(service->waiting.first);
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

static const tb__matched_t *matched_find(const tb__matched_t *list, size_t count,
                                         const tb__guid_t *guid)
{
  for (size_t i = 0; i < count; i++) {
    if (tb__guid_equal(&list[i].guid, guid)) return &list[i];
  }
  return NULL;
}

static client_state_t client_query(tb_ros2_service_t *service, const tb__guid_t *writer_guid)
{
  tb__matched_t *writers = NULL, *readers = NULL;
  size_t writer_count = 0, reader_count = 0;
  char id[TB__SERVICE_ID_SIZE], other[TB__SERVICE_ID_SIZE];
  client_state_t state = CLIENT_WITHOUT_READER;
  tb_status_t queried = tb__raw_reader_matched_list(service->reader, &writers, &writer_count);
  if (queried == TB_OK)
    queried = tb__raw_writer_matched_list(service->writer, &readers, &reader_count);
  const tb__matched_t *writer = matched_find(writers, writer_count, writer_guid);
  if (queried == TB_OK && !writer)
    state = CLIENT_GONE;
  else if (queried != TB_OK || !tb__user_data_find(writer->user_data, "clientid", id))
    state = CLIENT_READY; /* unknown: answer */
  else
    for (size_t i = 0; i < reader_count && state != CLIENT_READY; i++) {
      if (tb__user_data_find(readers[i].user_data, "clientid", other) && strcmp(id, other) == 0)
        state = CLIENT_READY;
    }
  free(writers);
  free(readers);
  return state;
}

static client_entry_t *client_entry(tb_ros2_service_t *service, const tb__guid_t *writer_guid)
    TB_REQUIRES(service->clients_mutex)
{
  uint32_t events =
      tb__raw_reader_match_events(service->reader) + tb__raw_writer_match_events(service->writer);
  if (events != service->clients_of) memset(service->clients, 0, sizeof service->clients);
  service->clients_of = events;
  for (unsigned i = 0; i < CLIENTS_CACHED; i++) {
    client_entry_t *entry = &service->clients[i];
    if (entry->state != CLIENT_UNKNOWN && tb__guid_equal(&entry->writer_guid, writer_guid))
      return entry;
  }
  client_entry_t *entry = &service->clients[service->next_client++ % CLIENTS_CACHED];
  entry->writer_guid = *writer_guid;
  entry->waited = false;
  entry->state = client_query(service, writer_guid);
  return entry;
}

/* The state of the client. A client whose reader was waited for counts as ready: `waited` records
 * it, so that a client without a reader delays the others once and not at each request. */
static client_state_t client_state(tb_ros2_service_t *service, const tb__guid_t *writer_guid,
                                   bool waited)
{
  tb__mutex_lock(&service->clients_mutex);
  client_entry_t *entry = client_entry(service, writer_guid);
  if (waited) entry->waited = true;
  client_state_t state =
      entry->waited && entry->state == CLIENT_WITHOUT_READER ? CLIENT_READY : entry->state;
  tb__mutex_unlock(&service->clients_mutex);
  return state;
}

static client_state_t client_wait(tb_ros2_service_t *service, const tb__guid_t *writer_guid)
{
  tb__deadline_t deadline = tb__deadline_at(tb__steady_now_ns() + CLIENT_WAIT_NS);
  for (bool waited = false;;) {
    uint32_t seen = atomic_load(&service->events);
    client_state_t state = client_state(service, writer_guid, waited);
    if (state != CLIENT_WITHOUT_READER) return state;
    waited = !tb__futex_wait(&service->events, seen, deadline);
  }
}

tb_status_t tb_ros2_service_reply(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                                  const void *cdr, size_t size, tb_error_t *error)
{
  if (!service || !id || !cdr) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "reply: %s", tb_status_message(TB_ERR_FORKED));
  if (is_closed(service))
    return tb_error_set(error, TB_ERR_CLOSED, "reply: the service has been destroyed");
  uint8_t *message = malloc(size + TB__SERVICE_HEADER_SIZE);
  if (!message) return tb__no_memory_for(error, "reply");
  tb__service_header_t header = {id->client, id->sequence};
  tb__guid_t writer = tb__guid_of(id->writer_guid);
  tb_status_t status = tb__service_header_insert(&header, cdr, size, message);
  if (status)
    status = tb_error_set(error, TB_ERR_INVALID, "reply: not CDR with an encapsulation header");
  else if (client_wait(service, &writer) == CLIENT_GONE)
    status = tb_error_set(error, TB_ERR_CLOSED, "reply: the client is gone");
  else
    status = tb__raw_writer_write(service->writer, message, size + TB__SERVICE_HEADER_SIZE, error);
  free(message);
  return status;
}

tb_status_t tb__service_announce(tb_ros2_service_t *service, tb__announced_node_t *node,
                                 tb_error_t *error)
{
  tb__guid_t reader = tb__raw_reader_guid(service->reader);
  tb__guid_t writer = tb__raw_writer_guid(service->writer);
  return tb__announced_add(&service->announced, node, &reader, &writer, error);
}

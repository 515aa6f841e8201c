#include <timebase/ros2_player_services.h>

#include <stdlib.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "held/parking.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "play/burst.h"
#include "rosbag2/later.h"
#include "rosbag2/player_requests.h"

/* A request for messages, until they are sent. */
typedef struct pending {
  struct pending *next;
  const tb__player_service_t *kind;
  tb_ros2_service_t *service;
  tb_ros2_request_id_t id;
  uint64_t count;
} pending_t;

/* The one that is carried out. */
typedef struct running {
  tb__burst_t burst; /* first */
  tb_ros2_player_services_t *services;
} running_t;

typedef struct entry {
  tb_ros2_player_services_t *services;
  const tb__player_service_t *kind;
  tb_ros2_service_t *service;
  tb__later_t later;
  void *later_message; /* by the mutex: what it will carry out; NULL: nothing */
} entry_t;

struct tb_ros2_player_services {
  tb_ros2_node_t *node;
  tb_player_t *player;
  entry_t entries[TB__PLAYER_SERVICE_COUNT];
  tb__thread_t thread; /* answers bursts, so that other requests need not wait for them */
  bool has_thread;
  running_t running;       /* of the thread */
  _Atomic uint32_t events; /* for the thread */
  atomic_bool closing;
  atomic_bool burst_done;

  tb__mutex_t mutex;
  pending_t *first, **last;
};

static void reply(const tb__cdr_type_t *type, tb_ros2_service_t *service,
                  const tb_ros2_request_id_t *id, const tb__player_answer_t *answer)
{
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (tb__cdr_encode(type, answer, false, &cdr, &size) == TB_OK)
    tb_ros2_service_reply(service, id, cdr, size, NULL); /* or it is gone */
  free(cdr);
}

/* --- bursts --- */

static void wake_thread(tb_ros2_player_services_t *services)
{
  atomic_fetch_add(&services->events, 1);
  tb__futex_wake_all(&services->events);
}

/* With the player's mutex held. */
static void on_done(tb__burst_t *burst)
{
  tb_ros2_player_services_t *services = ((running_t *)(void *)burst)->services;
  atomic_store(&services->burst_done, true);
  wake_thread(services);
}

static uint64_t send_steps(tb_ros2_player_services_t *services, uint64_t count)
{
  running_t *running = &services->running;
  *running = (running_t){.burst = {.on_done = on_done}, .services = services};
  atomic_store(&services->burst_done, false);
  if (tb__player_begin_burst(services->player, count, &running->burst) != TB_OK) return 0;
  for (;;) {
    uint32_t events = atomic_load(&services->events);
    if (atomic_load(&services->burst_done) || atomic_load(&services->closing)) break;
    tb__futex_wait(&services->events, events, TB__NO_DEADLINE);
  }
  tb__player_take_back(services->player, &running->burst); /* its end is not reported any more */
  return running->burst.sent;
}

static pending_t *take(tb_ros2_player_services_t *services)
{
  tb__mutex_lock(&services->mutex);
  pending_t *pending = services->first;
  if (pending) services->first = pending->next;
  if (!services->first) services->last = &services->first;
  tb__mutex_unlock(&services->mutex);
  return pending;
}

static void carry_out_steps(tb_ros2_player_services_t *services, pending_t *pending)
{
  tb__player_answer_t answer = {0};
  pending->kind->stepped(send_steps(services, pending->count), &answer);
  reply(pending->kind->response, pending->service, &pending->id, &answer);
  free(pending);
}

static void *run(void *user)
{
  tb_ros2_player_services_t *services = user;
  while (!atomic_load(&services->closing)) {
    uint32_t events = atomic_load(&services->events);
    pending_t *pending = take(services);
    if (pending)
      carry_out_steps(services, pending);
    else if (!atomic_load(&services->closing))
      tb__futex_wait(&services->events, events, TB__NO_DEADLINE);
  }
  return NULL;
}

static void enqueue(const entry_t *entry, tb_ros2_service_t *service,
                    const tb_ros2_request_t *request, const void *message)
{
  tb_ros2_player_services_t *services = entry->services;
  pending_t *pending = calloc(1, sizeof *pending);
  if (!pending) return;
  *pending = (pending_t){.kind = entry->kind,
                         .service = service,
                         .id = request->id,
                         .count = entry->kind->steps(message)};
  tb__mutex_lock(&services->mutex);
  *services->last = pending;
  services->last = &pending->next;
  tb__mutex_unlock(&services->mutex);
  wake_thread(services);
}

/* --- later --- */

static bool is_later(const entry_t *entry, const void *message)
{
  return entry->kind->at_ns &&
         tb__later_is_due_later(entry->services->node, entry->kind->at_ns(message));
}

static void *exchange_later(entry_t *entry, void *message)
{
  tb_ros2_player_services_t *services = entry->services;
  tb__mutex_lock(&services->mutex);
  void *before = entry->later_message;
  entry->later_message = message;
  tb__mutex_unlock(&services->mutex);
  return before;
}

static void on_time(void *user)
{
  entry_t *entry = user;
  tb__player_answer_t answer = {0};
  void *message = exchange_later(entry, NULL);
  if (message && is_later(entry, message)) { /* it took the place of the one that was due */
    void *newer = exchange_later(entry, message);
    if (!newer) return;
    message = exchange_later(entry, newer);
    free(message);
    return;
  }
  if (message) entry->kind->carry_out(entry->services->player, message, &answer);
  free(message);
}

/* In place of an earlier one. Returns what is to be freed. */
static void *defer(entry_t *entry, void *message, tb__player_answer_t *out)
{
  int64_t at_ns = entry->kind->at_ns(message);
  void *before = exchange_later(entry, message);
  if (tb__later_set(&entry->later, entry->services->node, at_ns, on_time, entry) == TB_OK) {
    if (entry->kind->response == &tb__player_success_type) out->success.success = true;
    return before;
  }
  if (entry->kind->response != &tb__player_success_type)
    out->result = (tb__result_response_t){TB__RESUME_FAILED, "it cannot be done later"};
  free(before);
  return exchange_later(entry, NULL);
}

/* In the form of rolling. */
static tb__player_answer_t result_of(const tb__player_answer_t *answer)
{
  bool success = answer->success.success;
  return (tb__player_answer_t){
      .result = {success ? 0 : TB__PLAY_FAILED,
                 success ? "" : "it plays already, or the range is wrong"}};
}

/* --- all services --- */

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  entry_t *entry = user;
  const tb__player_service_t *kind = entry->kind;
  const tb__service_form_t only[] = {{kind->request, kind->response, NULL}, {NULL, NULL, NULL}};
  const tb__cdr_type_t *response;
  void *message = NULL;
  if (tb__service_form_decode(kind->forms ? kind->forms : only, request, &message, &response) !=
      TB_OK)
    return;
  if (kind->carry_out) {
    tb__player_answer_t answer = {0};
    bool is_result = response == &tb__result_response_type;
    if (is_later(entry, message))
      message = defer(entry, message, &answer);
    else
      kind->carry_out(entry->services->player, message, &answer);
    if (is_result && kind->response == &tb__player_success_type) answer = result_of(&answer);
    reply(response, service, &request->id, &answer);
  } else {
    enqueue(entry, service, request, message);
  }
  free(message);
}

static tb_status_t services_open(tb_ros2_player_services_t *services, tb_ros2_node_t *node,
                                 tb_error_t *error)
{
  tb_status_t status = tb__thread_start(&services->thread, "tb-burst", run, services);
  if (status) return tb_error_set(error, status, "player services: cannot create a thread");
  services->has_thread = true;
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT && !status; i++) {
    entry_t *entry = &services->entries[i];
    *entry = (entry_t){.services = services, .kind = &tb__player_services[i]};
    status = tb_ros2_node_create_service(node, entry->kind->name, entry->kind->type, NULL,
                                         on_request, entry, &entry->service, error);
  }
  return status;
}

tb_status_t tb_ros2_player_services_create(tb_ros2_node_t *node, tb_player_t *player,
                                           tb_ros2_player_services_t **out, tb_error_t *error)
{
  if (!node || !player || !out)
    return tb_error_set(error, TB_ERR_INVALID, "player services: node, player or out is NULL");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "player services: %s",
                        tb_status_message(TB_ERR_FORKED));
  tb_ros2_player_services_t *services = calloc(1, sizeof *services);
  if (!services) return tb__no_memory_for(error, "player services");
  tb__mutex_init(&services->mutex);
  services->node = node;
  services->player = player;
  services->last = &services->first;
  tb_status_t status = services_open(services, node, error);
  if (status) {
    tb_ros2_player_services_destroy(services);
    return status;
  }
  *out = services;
  return TB_OK;
}

/* The thread may still answer while services exist; what waits after it is dropped with them. */
void tb_ros2_player_services_destroy(tb_ros2_player_services_t *services)
{
  if (!services) return;
  atomic_store(&services->closing, true);
  if (services->has_thread && !tb__is_forked()) {
    wake_thread(services);
    tb__thread_join(&services->thread);
  }
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT; i++)
    tb_ros2_service_destroy(services->entries[i].service);
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT; i++) {
    tb__later_fini(&services->entries[i].later);
    free(services->entries[i].later_message);
  }
  for (pending_t *pending; (pending = take(services));)
    free(pending);
  tb__mutex_fini(&services->mutex);
  free(services);
}

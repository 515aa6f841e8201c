#include <timebase/ros2_simulation_services.h>

#include <stdatomic.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/sized.h"
#include "platform/mutex.h"
#include "ros2/context.h"
#include "ros2/simulation_control.h"

/* A request that is not answered yet. */
typedef struct pending {
  tb__step_waiter_t waiter; /* first */
  struct pending *next;
  tb_ros2_simulation_services_t *services;
  const tb__simulation_service_t *kind;
  tb_ros2_service_t *service;
  tb_ros2_request_id_t id;
  atomic_bool done; /* its step has ended */
  tb__simulation_answer_t answer;
} pending_t;

typedef struct entry {
  tb_ros2_simulation_services_t *services;
  const tb__simulation_service_t *kind;
  tb_ros2_service_t *service;
} entry_t;

struct tb_ros2_simulation_services {
  tb__dispatch_t *dispatch;
  tb_ros2_simulation_quit_callback_t on_quit;
  void *user;
  tb__simulation_control_t control; /* used by the dispatch thread */
  tb__dispatch_member_t member;     /* answers steps */
  bool has_member;
  entry_t entries[TB__SIMULATION_SERVICE_COUNT];

  tb__mutex_t mutex;
  pending_t *steps; /* in progress */
  bool closing;
};

static void answer(pending_t *pending)
{
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (tb__cdr_encode(pending->kind->response, &pending->answer.message, false, &cdr, &size) ==
      TB_OK)
    tb_ros2_service_reply(pending->service, &pending->id, cdr, size,
                          NULL); /* the client may be gone */
  free(cdr);
  free(pending);
}

static void answer_step(pending_t *pending, tb_status_t status)
{
  tb__simulation_step_done(status, &pending->answer);
  answer(pending);
}

/* Called with the server's mutex held. */
static void on_step_done(tb__step_waiter_t *waiter)
{
  pending_t *pending = (pending_t *)(void *)waiter;
  tb_ros2_simulation_services_t *services = pending->services;
  atomic_store(&pending->done, true); /* afterwards it may be freed */
  tb__dispatch_post(services->dispatch, &services->member);
}

static void cancel_step(pending_t *pending)
{
  bool open = tb__clock_server_take_back(pending->services->control.server, &pending->waiter);
  answer_step(pending, open ? TB_ERR_CANCELLED : pending->waiter.status);
}

static void keep_step(pending_t *pending)
{
  tb_ros2_simulation_services_t *services = pending->services;
  tb__mutex_lock(&services->mutex);
  bool closing = services->closing;
  if (!closing) {
    pending->next = services->steps;
    services->steps = pending;
  }
  tb__mutex_unlock(&services->mutex);
  if (closing) cancel_step(pending);
}

static pending_t *take_done(tb_ros2_simulation_services_t *services)
{
  pending_t *done = NULL;
  tb__mutex_lock(&services->mutex);
  for (pending_t **link = &services->steps; *link;) {
    pending_t *pending = *link;
    if (atomic_load(&pending->done)) {
      *link = pending->next;
      pending->next = done;
      done = pending;
    } else {
      link = &pending->next;
    }
  }
  tb__mutex_unlock(&services->mutex);
  return done;
}

static void run(tb__dispatch_member_t *member)
{
  tb_ros2_simulation_services_t *services =
      (tb_ros2_simulation_services_t *)(void *)((char *)member -
                                                offsetof(tb_ros2_simulation_services_t, member));
  for (pending_t *done = take_done(services), *next; done; done = next) {
    next = done->next;
    answer_step(done, done->waiter.status);
  }
}

static pending_t *pending_create(const entry_t *entry, tb_ros2_service_t *service,
                                 const tb_ros2_request_t *request)
{
  pending_t *pending = calloc(1, sizeof *pending);
  if (!pending) return NULL;
  pending->waiter.on_done = on_step_done;
  pending->services = entry->services;
  pending->kind = entry->kind;
  pending->service = service;
  pending->id = request->id;
  return pending;
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  const entry_t *entry = user;
  tb_ros2_simulation_services_t *services = entry->services;
  void *message;
  if (tb__cdr_decode(entry->kind->request, request->cdr, request->size, &message) != TB_OK) return;
  pending_t *pending = pending_create(entry, service, request);
  if (!pending) {
    free(message);
    return;
  }
  tb__simulation_next_t next =
      entry->kind->carry_out(&services->control, message, &pending->waiter, &pending->answer);
  free(message);
  if (next == TB__SIMULATION_WAIT) {
    keep_step(pending);
    return;
  }
  answer(pending);
  if (next == TB__SIMULATION_QUIT) services->on_quit(services->user);
}

static tb_status_t services_open(tb_ros2_simulation_services_t *services, tb_ros2_node_t *node,
                                 tb_error_t *error)
{
  tb_status_t status = tb__dispatch_add(services->dispatch, &services->member, run);
  if (status) return tb_error_set(error, status, "simulation services: cannot create a thread");
  services->has_member = true;
  for (size_t i = 0; i < TB__SIMULATION_SERVICE_COUNT && !status; i++) {
    entry_t *entry = &services->entries[i];
    const tb__simulation_service_t *kind = &tb__simulation_services[i];
    *entry = (entry_t){.services = services, .kind = kind};
    status = tb_ros2_node_create_service(node, kind->name, kind->type, NULL, on_request, entry,
                                         &entry->service, error);
  }
  return status;
}

tb_status_t
tb_ros2_simulation_services_create_sized(tb_ros2_node_t *node, tb_clock_server_t *server,
                                         const tb_ros2_simulation_services_options_t *options,
                                         size_t options_size, tb_ros2_simulation_services_t **out,
                                         tb_error_t *error)
{
  tb_ros2_simulation_services_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_simulation_services_options_t");
  static const tb_ros2_simulation_services_options_t defaults =
      TB_ROS2_SIMULATION_SERVICES_OPTIONS_INIT;
  if (!options) options = &defaults;
  if (!node || !server || !out)
    return tb_error_set(error, TB_ERR_INVALID, "simulation services: node, server or out is NULL");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "simulation services: %s",
                        tb_status_message(TB_ERR_FORKED));
  if (options->step.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "simulation services: a step must be above 0");
  tb_ros2_simulation_services_t *services = calloc(1, sizeof *services);
  if (!services) return tb__no_memory_for(error, "simulation services");
  tb__mutex_init(&services->mutex);
  services->dispatch = tb__ros2_context_dispatch(tb_ros2_node_context(node));
  services->on_quit = options->on_quit;
  services->user = options->user;
  services->control = (tb__simulation_control_t){
      .server = server, .step_ns = options->step.ns, .can_quit = options->on_quit != NULL};
  tb_status_t status = services_open(services, node, error);
  if (status) {
    tb_ros2_simulation_services_destroy(services);
    return status;
  }
  *out = services;
  return TB_OK;
}

void tb_ros2_simulation_services_destroy(tb_ros2_simulation_services_t *services)
{
  if (!services) return;
  tb__mutex_lock(&services->mutex);
  services->closing = true;
  tb__mutex_unlock(&services->mutex);
  if (services->has_member) tb__dispatch_remove(services->dispatch, &services->member);
  for (pending_t *pending = services->steps, *next; pending; pending = next) {
    next = pending->next;
    cancel_step(pending);
  }
  for (size_t i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++)
    tb_ros2_service_destroy(services->entries[i].service);
  /* on_step_done of an answered step may still be running, under the server's mutex. */
  tb_clock_server_status_t status;
  tb_clock_server_status(services->control.server, &status);
  tb__mutex_fini(&services->mutex);
  free(services);
}

/* Lifecycle nodes. All that a transition does runs on the context's thread: in the callback of
 * ~/change_state, or as a member of the dispatch, which is posted when another thread asks for a
 * transition and when the clock that an activation waits for may be ready. */
#include <timebase/ros2_lifecycle.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/jump.h>
#include <timebase/ready.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/saturate.h"
#include "base/sized.h"
#include "platform/mutex.h"
#include "platform/time.h"
#include "ros2/context.h"
#include "ros2/lifecycle_graph.h"
#include "wire/messages.h"

enum { CHANGE, STATE, STATES, TRANSITIONS, GRAPH, SERVICES };

struct tb_ros2_lifecycle {
  tb_ros2_node_t *node;
  tb_clock_t *clock;
  tb__dispatch_t *dispatch;
  tb_ros2_lifecycle_options_t options;
  tb_ros2_publisher_t *events;
  tb_ros2_service_t *services[SERVICES];
  tb__dispatch_member_t member;
  bool has_member;
  _Atomic bool clock_is_ready; /* set by the callback of `ready` */

  /* Of the context's thread: the transition in progress. */
  uint8_t previous; /* the primary state in which it began */
  bool has_client;  /* of ~/change_state, which waits for the answer */
  tb_ros2_request_id_t client;
  bool is_waiting; /* for the clock, with the next two */
  tb_ready_t *ready;
  tb_jump_handler_t *handler;
  int64_t limit_ns; /* steady; INT64_MAX: none */

  tb__mutex_t mutex;
  _Atomic uint8_t state;                   /* written under the mutex */
  bool in_transition;                      /* */
  const tb__lifecycle_transition_t *asked; /* by another thread, and not begun yet */
};

/* ---- messages ---- */

static tb__lifecycle_label_t state_label(uint8_t state)
{
  return (tb__lifecycle_label_t){state,
                                 tb_ros2_lifecycle_state_name((tb_ros2_lifecycle_state_t)state)};
}

static tb__transition_description_t describe(const tb__lifecycle_transition_t *transition)
{
  return (tb__transition_description_t){{transition->id, transition->label},
                                        state_label(transition->start),
                                        state_label(transition->goal)};
}

static void reply(tb_ros2_service_t *service, const tb_ros2_request_id_t *id,
                  const tb__cdr_type_t *type, const void *message)
{
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (tb__cdr_encode(type, message, false, &cdr, &size)) return;
  tb_ros2_service_reply(service, id, cdr, size, NULL); /* the client may be gone */
  free(cdr);
}

static void publish(tb_ros2_lifecycle_t *self, const tb__lifecycle_transition_t *transition)
{
  const tb__transition_description_t it = describe(transition);
  tb__transition_event_t event = {0, it.transition, it.start_state, it.goal_state};
  tb_time_t now;
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (!tb_clock_try_now(self->clock, &now) && now.ns > 0) event.timestamp = (uint64_t)now.ns;
  tb_status_t status = tb__cdr_encode(&tb__transition_event_type, &event, false, &cdr, &size);
  if (!status) status = tb_ros2_publisher_publish(self->events, cdr, size, NULL);
  if (status)
    tb__log(TB_LOG_WARN, "%s/transition_event: a message was not sent: %s",
            tb_ros2_node_fully_qualified_name(self->node), tb_status_message(status));
  free(cdr);
}

/* ---- a transition ---- */

/* Takes the node out of its primary state. TB_ERR_BUSY, TB_ERR_INVALID. */
static tb_status_t begin(tb_ros2_lifecycle_t *self, uint8_t id, const char *label, bool is_asked,
                         const tb__lifecycle_transition_t **out)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&self->mutex);
  const tb__lifecycle_transition_t *transition = tb__lifecycle_find(self->state, id, label);
  if (self->in_transition)
    status = TB_ERR_BUSY;
  else if (!transition)
    status = TB_ERR_INVALID;
  if (!status) {
    self->in_transition = true;
    self->state = transition->goal;
    if (is_asked) self->asked = transition;
    if (out) *out = transition;
  }
  tb__mutex_unlock(&self->mutex);
  return status;
}

static void enter(tb_ros2_lifecycle_t *self, const tb__lifecycle_transition_t *end)
{
  tb__mutex_lock(&self->mutex);
  self->state = end->goal;
  if (end->goal != TB_ROS2_LIFECYCLE_ERROR_PROCESSING) self->in_transition = false;
  tb__mutex_unlock(&self->mutex);
  publish(self, end);
}

static tb_ros2_lifecycle_callback_t callback_of(const tb_ros2_lifecycle_t *self)
{
  switch ((tb_ros2_lifecycle_state_t)self->state) {
  case TB_ROS2_LIFECYCLE_CONFIGURING:
    return self->options.on_configure;
  case TB_ROS2_LIFECYCLE_CLEANING_UP:
    return self->options.on_cleanup;
  case TB_ROS2_LIFECYCLE_SHUTTING_DOWN:
    return self->options.on_shutdown;
  case TB_ROS2_LIFECYCLE_ACTIVATING:
    return self->options.on_activate;
  case TB_ROS2_LIFECYCLE_DEACTIVATING:
    return self->options.on_deactivate;
  case TB_ROS2_LIFECYCLE_ERROR_PROCESSING:
    return self->options.on_error;
  default:
    return NULL;
  }
}

static tb_ros2_lifecycle_return_t work(tb_ros2_lifecycle_t *self)
{
  tb_ros2_lifecycle_callback_t callback = callback_of(self);
  if (!callback) return TB_ROS2_LIFECYCLE_SUCCESS;
  return callback(self, (tb_ros2_lifecycle_state_t)self->previous, self->options.user);
}

/* As rclcpp_lifecycle: the client gets what the first callback returned. */
static void finish(tb_ros2_lifecycle_t *self, tb_ros2_lifecycle_return_t result)
{
  const tb__cdr_type_t *type = &tb__change_state_response_type;
  const tb__change_state_response_t response = {result == TB_ROS2_LIFECYCLE_SUCCESS};
  bool has_client = self->has_client; /* the next transition may begin before the answer */
  self->has_client = false;
  const tb__lifecycle_transition_t *end = tb__lifecycle_end(self->state, result);
  enter(self, end);
  if (end->goal == TB_ROS2_LIFECYCLE_ERROR_PROCESSING) {
    end = tb__lifecycle_end(end->goal, work(self));
    enter(self, end);
  }
  if (has_client) reply(self->services[CHANGE], &self->client, type, &response);
  if (self->options.on_changed)
    self->options.on_changed(self, (tb_ros2_lifecycle_state_t)end->goal, self->options.user);
}

/* ---- an activation waits for the clock ---- */

static void on_ready(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  tb_ros2_lifecycle_t *self = user;
  (void)ready, (void)result;
  atomic_store(&self->clock_is_ready, true);
  tb__dispatch_post(self->dispatch, &self->member);
}

/* Its clock may report system time from now on. */
static void on_clock_change(const tb_jump_t *jump, void *user)
{
  tb_ros2_lifecycle_t *self = user;
  (void)jump;
  tb__dispatch_post(self->dispatch, &self->member);
}

static bool is_ready(const tb_ros2_lifecycle_t *self)
{
  return atomic_load(&self->clock_is_ready) || !tb_clock_is_active(self->clock);
}

static void wait_end(tb_ros2_lifecycle_t *self)
{
  tb_ready_destroy(self->ready);
  tb_jump_handler_destroy(self->handler);
  self->ready = NULL;
  self->handler = NULL;
  self->is_waiting = false;
}

static tb_status_t wait_begin(tb_ros2_lifecycle_t *self)
{
  const tb_ready_options_t options = {.running = self->options.waits_for_running};
  const tb_jump_handler_options_t changes = {.name = "lifecycle",
                                             .threshold = {.on_clock_change = true},
                                             .after = on_clock_change,
                                             .user = self};
  int64_t limit_ns = self->options.activation_limit.ns;
  atomic_store(&self->clock_is_ready, false);
  self->is_waiting = true;
  self->limit_ns = limit_ns ? tb__add_saturated(tb__steady_now_ns(), limit_ns) : INT64_MAX;
  tb_status_t status = tb_jump_handler_create(self->clock, &changes, &self->handler);
  if (!status) status = tb_ready_on(self->clock, &options, on_ready, self, &self->ready);
  if (!status) tb__dispatch_set_due(self->dispatch, &self->member, self->limit_ns);
  return status;
}

/* Whether the first tick has come; that time advances cannot be seen at once. */
static bool look_once(const tb_ros2_lifecycle_t *self)
{
  tb_time_t now;
  if (!tb_clock_is_active(self->clock)) return true;
  return !self->options.waits_for_running && !tb_clock_try_now(self->clock, &now) && now.ns != 0;
}

static void fail_activation(tb_ros2_lifecycle_t *self, const char *why)
{
  tb__log(TB_LOG_WARN, "%s is not activated: its clock is not ready (%s)",
          tb_ros2_node_fully_qualified_name(self->node), why);
  finish(self, TB_ROS2_LIFECYCLE_FAILURE);
}

static const char *reason_of(const tb_ros2_lifecycle_t *self)
{
  tb_ready_result_t result = {.reason = TB_READY_ZERO};
  if (self->ready) (void)tb_ready_read(self->ready, &result);
  return tb_ready_reason_name(result.reason);
}

static void look(tb_ros2_lifecycle_t *self)
{
  bool goes_on = is_ready(self);
  if (!goes_on && tb__steady_now_ns() < self->limit_ns) return;
  const char *reason = reason_of(self);
  wait_end(self);
  if (goes_on)
    finish(self, work(self));
  else
    fail_activation(self, reason);
}

static void activate(tb_ros2_lifecycle_t *self)
{
  if (!tb_clock_is_active(self->clock) || look_once(self)) {
    finish(self, work(self));
    return;
  }
  if (self->options.activation_limit.ns < 0) {
    fail_activation(self, reason_of(self));
    return;
  }
  tb_status_t status = wait_begin(self);
  if (!status) return; /* `run` goes on */
  wait_end(self);
  fail_activation(self, tb_status_message(status));
}

static void carry_out(tb_ros2_lifecycle_t *self, const tb__lifecycle_transition_t *transition)
{
  self->previous = transition->start;
  publish(self, transition);
  if (transition->goal == TB_ROS2_LIFECYCLE_ACTIVATING)
    activate(self);
  else
    finish(self, work(self));
}

static void run(tb__dispatch_member_t *member)
{
  tb_ros2_lifecycle_t *self =
      (tb_ros2_lifecycle_t *)(void *)((char *)member - offsetof(tb_ros2_lifecycle_t, member));
  tb__mutex_lock(&self->mutex);
  const tb__lifecycle_transition_t *asked = self->asked;
  self->asked = NULL;
  tb__mutex_unlock(&self->mutex);
  if (asked) carry_out(self, asked);
  if (self->is_waiting) look(self);
}

/* ---- services ---- */

static void on_change_state(tb_ros2_service_t *service, const tb_ros2_request_t *request,
                            void *user)
{
  tb_ros2_lifecycle_t *self = user;
  static const tb__change_state_response_t refused = {false};
  const tb__lifecycle_transition_t *transition;
  tb__change_state_request_t *asked;
  if (tb__cdr_decode(&tb__change_state_request_type, request->cdr, request->size, &asked)) return;
  tb_status_t status =
      begin(self, asked->transition.id, asked->transition.label, false, &transition);
  free(asked);
  if (status) {
    reply(service, &request->id, &tb__change_state_response_type, &refused);
    return;
  }
  self->has_client = true;
  self->client = request->id;
  carry_out(self, transition);
}

static void on_get_state(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  const tb_ros2_lifecycle_t *self = user;
  const tb__get_state_response_t response = {state_label(self->state)};
  reply(service, &request->id, &tb__get_state_response_type, &response);
}

static void on_get_states(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  tb__lifecycle_label_t states[TB__LIFECYCLE_STATES];
  (void)user;
  for (size_t i = 0; i < TB__LIFECYCLE_STATES; i++)
    states[i] = state_label(tb__lifecycle_states[i]);
  const tb__get_available_states_response_t response = {{states, TB__LIFECYCLE_STATES}};
  reply(service, &request->id, &tb__get_available_states_response_type, &response);
}

static void reply_transitions(tb_ros2_service_t *service, const tb_ros2_request_t *request,
                              const uint8_t *only_of)
{
  tb__transition_description_t descriptions[TB__LIFECYCLE_TRANSITIONS];
  size_t count = 0;
  for (size_t i = 0; i < TB__LIFECYCLE_TRANSITIONS; i++)
    if (!only_of || tb__lifecycle_transitions[i].start == *only_of)
      descriptions[count++] = describe(&tb__lifecycle_transitions[i]);
  const tb__get_available_transitions_response_t response = {{descriptions, count}};
  reply(service, &request->id, &tb__get_available_transitions_response_type, &response);
}

static void on_get_transitions(tb_ros2_service_t *service, const tb_ros2_request_t *request,
                               void *user)
{
  uint8_t state = ((const tb_ros2_lifecycle_t *)user)->state;
  reply_transitions(service, request, &state);
}

static void on_get_graph(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  reply_transitions(service, request, NULL);
}

/* ---- the lifecycle ---- */

static const struct {
  const char *name, *type;
  tb_ros2_service_callback_t callback;
} services[SERVICES] = {
    [CHANGE] = {"~/change_state", "lifecycle_msgs/srv/ChangeState", on_change_state},
    [STATE] = {"~/get_state", "lifecycle_msgs/srv/GetState", on_get_state},
    [STATES] = {"~/get_available_states", "lifecycle_msgs/srv/GetAvailableStates", on_get_states},
    [TRANSITIONS] = {"~/get_available_transitions", "lifecycle_msgs/srv/GetAvailableTransitions",
                     on_get_transitions},
    [GRAPH] = {"~/get_transition_graph", "lifecycle_msgs/srv/GetAvailableTransitions",
               on_get_graph},
};

static tb_status_t lifecycle_open(tb_ros2_lifecycle_t *self, tb_error_t *error)
{
  tb_status_t status = tb__dispatch_add(self->dispatch, &self->member, run);
  if (status) return tb_error_set(error, status, "lifecycle: cannot create a thread");
  self->has_member = true;
  status = tb_ros2_node_create_publisher(self->node, "~/transition_event",
                                         "lifecycle_msgs/msg/TransitionEvent", NULL, &self->events,
                                         error);
  /* the last is the one that changes the state: all else is there by then */
  for (int i = SERVICES - 1; i >= 0 && !status; i--)
    status = tb_ros2_node_create_service(self->node, services[i].name, services[i].type, NULL,
                                         services[i].callback, self, &self->services[i], error);
  return status;
}

static tb_status_t check(const tb_ros2_node_t *node, const tb_ros2_lifecycle_options_t *options,
                         tb_ros2_lifecycle_t **out, tb_error_t *error)
{
  if (!node || !out) return tb_error_set(error, TB_ERR_INVALID, "lifecycle: node or out is NULL");
  int64_t limit_ns = options ? options->activation_limit.ns : 0;
  if (limit_ns < 0 && limit_ns != TB_NO_WAIT.ns)
    return tb_error_set(error, TB_ERR_INVALID,
                        "lifecycle: the limit of activations is negative; use TB_NO_LIMIT, "
                        "TB_NO_WAIT or a duration above 0");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "lifecycle: %s", tb_status_message(TB_ERR_FORKED));
  return TB_OK;
}

tb_status_t tb_ros2_lifecycle_create_sized(tb_ros2_node_t *node,
                                           const tb_ros2_lifecycle_options_t *options,
                                           size_t options_size, tb_ros2_lifecycle_t **out,
                                           tb_error_t *error)
{
  tb_ros2_lifecycle_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_lifecycle_options_t");
  tb_status_t status = check(node, options, out, error);
  if (status) return status;
  tb_ros2_lifecycle_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory_for(error, "lifecycle");
  tb__mutex_init(&self->mutex);
  self->node = node;
  self->clock = tb_ros2_node_clock(node);
  self->dispatch = tb__ros2_context_dispatch(tb_ros2_node_context(node));
  if (options) self->options = *options;
  self->state = TB_ROS2_LIFECYCLE_UNCONFIGURED;
  status = lifecycle_open(self, error);
  if (status)
    tb_ros2_lifecycle_destroy(self);
  else
    *out = self;
  return status;
}

void tb_ros2_lifecycle_destroy(tb_ros2_lifecycle_t *lifecycle)
{
  if (!lifecycle) return;
  /* first what answers an activation; a request that comes now begins nothing that goes on */
  if (lifecycle->has_member) tb__dispatch_remove(lifecycle->dispatch, &lifecycle->member);
  for (int i = 0; i < SERVICES; i++)
    tb_ros2_service_destroy(lifecycle->services[i]);
  wait_end(lifecycle);
  tb_ros2_publisher_destroy(lifecycle->events);
  tb__mutex_fini(&lifecycle->mutex);
  free(lifecycle);
}

tb_ros2_lifecycle_state_t tb_ros2_lifecycle_state(const tb_ros2_lifecycle_t *lifecycle)
{
  return lifecycle ? (tb_ros2_lifecycle_state_t)lifecycle->state : TB_ROS2_LIFECYCLE_UNKNOWN;
}

tb_status_t tb_ros2_lifecycle_change_state(tb_ros2_lifecycle_t *lifecycle,
                                           tb_ros2_lifecycle_transition_t transition,
                                           tb_error_t *error)
{
  if (!lifecycle) return tb_error_set(error, TB_ERR_INVALID, "lifecycle: NULL");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "lifecycle: %s", tb_status_message(TB_ERR_FORKED));
  const char *state = tb_ros2_lifecycle_state_name(tb_ros2_lifecycle_state(lifecycle));
  tb_status_t status = begin(lifecycle, (uint8_t)transition, NULL, true, NULL);
  if (!status) tb__dispatch_post(lifecycle->dispatch, &lifecycle->member);
  if (status)
    return tb_error_set(error, status,
                        "lifecycle: transition %d of %s does not begin now, in the state %s",
                        (int)transition, tb_ros2_node_fully_qualified_name(lifecycle->node), state);
  return TB_OK;
}

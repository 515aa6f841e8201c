#include "play_requests.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_client.h>

#include "text.h"

#define TOPIC_END    "/_service_event"
#define TYPE_END     "_Event"
#define ACTION       "/_action/" /* in the names of what belongs to one */
#define SLICE_MS     5
#define NOTHING_SENT TB_ERR_NOT_FOUND                    /* as play_transport.h says */
#define ANSWER_LIMIT ((tb_duration_t){60 * TB_NS_PER_S}) /* then it no longer counts as open */

/* What an event topic is played as. */
struct play_requests_service {
  play_requests_service_t *next;
  play_requests_t *of;
  char *topic, *topic_type; /* as recorded */
  char *name, *type;        /* of the service; NULL: this is no event topic */
  char *action;             /* that it belongs to; NULL: none */
  bool sends_goals;
  bool is_dropped; /* a topic that the server of an action publishes */
  tb__definition_entry_t *definition;
  tb__service_event_t *event; /* made with the first message */
  tb_ros2_client_t *client;
  void *handle; /* of the graph's transport, without a client */
  bool is_left_out;
  _Atomic uint64_t unsent;
  uint64_t empty, misfits;
  _Atomic(char *) warning; /* what went wrong first, until it is taken; NULL: nothing */
  atomic_bool has_warned;
  atomic_size_t open; /* requests without an answer */
};

static void service_free(play_requests_service_t *service)
{
  if (!service) return;
  tb__service_event_destroy(service->event);
  free(atomic_load(&service->warning));
  free(service->topic);
  free(service->topic_type);
  free(service->name);
  free(service->type);
  free(service->action);
  free(service);
}

/* Once for a service: the thread that has the screen prints it. */
static void note_warning(play_requests_service_t *service, const char *what, const char *why)
{
  char *text = NULL;
  if (atomic_exchange(&service->has_warned, true)) return;
  if (asprintf(&text, "%s %s%s", what, service->name, why) >= 0)
    atomic_store(&service->warning, text);
}

static bool ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), size = strlen(end);
  return length > size && strcmp(text + length - size, end) == 0;
}

static bool is_event(const play_requests_options_t *options, const tb_bag_topic_t *info)
{
  if (!ends_with(info->name, TOPIC_END) || !ends_with(info->type, TYPE_END)) return false;
  if (strstr(info->name, ACTION)) return options->actions;
  return options->services && strstr(info->type, "/srv/");
}

static play_requests_service_t *find(const play_requests_t *self, const tb_bag_topic_t *info)
{
  play_requests_service_t *service = self->services;
  while (service &&
         (strcmp(service->topic, info->name) != 0 || strcmp(service->topic_type, info->type) != 0))
    service = service->next;
  return service;
}

/* NULL: out of memory. */
static play_requests_service_t *service_make(play_requests_t *self, const tb_bag_topic_t *info)
{
  play_requests_service_t *service = calloc(1, sizeof *service);
  if (!service) return NULL;
  const char *part = strstr(info->name, ACTION);
  service->of = self;
  service->topic = strdup(info->name);
  service->topic_type = strdup(info->type);
  bool is_made = service->topic && service->topic_type;
  if (is_event(&self->options, info)) {
    service->name = strndup(info->name, strlen(info->name) - strlen(TOPIC_END));
    service->type = strndup(info->type, strlen(info->type) - strlen(TYPE_END));
    service->action = part ? strndup(info->name, (size_t)(part - info->name)) : NULL;
    service->sends_goals = ends_with(info->name, ACTION "send_goal" TOPIC_END);
    is_made = is_made && service->name && service->type && (!part || service->action);
  } else {
    service->is_dropped = part && self->options.actions;
  }
  if (is_made) return service;
  service_free(service);
  return NULL;
}

static void leave_out(const play_requests_t *self, play_requests_service_t *service)
{
  const char *note = tb__definition_entry_note(service->definition);
  flockfile(stderr);
  command_begin_warning(self->command);
  text_err("requests of %s are not played: the definition of %s is unknown%s%s\n", service->name,
           service->type, *note ? ": " : "", note);
  funlockfile(stderr);
  service->is_left_out = true;
}

static tb_status_t define(const play_requests_t *self, play_requests_service_t *service,
                          const tb_bag_topic_t *info)
{
  const tb__definition_key_t key = {.type = info->type,
                                    .type_hash = info->type_hash,
                                    .recorded = info->definition,
                                    .recorded_encoding = info->definition_encoding};
  tb_status_t status = tb__definitions_get(self->definitions, &key, &service->definition);
  if (!status && tb__definition_entry_state(service->definition) == TB__DEFINITION_IS_UNKNOWN)
    leave_out(self, service);
  return status;
}

/* --- what the player calls --- */

static bool takes(void *user, const tb_bag_topic_t *info)
{
  play_requests_t *self = user;
  const tb_play_transport_t *to = &self->forward.to;
  bool is_taken = to->ops->takes ? to->ops->takes(to->self, info)
                                 : strcmp(info->serialization_format, "cdr") == 0;
  play_requests_service_t *service = find(self, info);
  if (service || !is_taken) return is_taken && !service->is_left_out;
  service = service_make(self, info);
  if (!service) return true; /* add_topic fails */
  service->next = self->services;
  self->services = service;
  if (service->name && define(self, service, info)) service->is_left_out = true;
  return !service->is_left_out;
}

static tb_status_t add_topic(void *user, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  play_requests_t *self = user;
  const tb_play_transport_t *to = &self->forward.to;
  play_requests_service_t *service = find(self, info);
  if (!service) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  *out_handle = service;
  if (service->is_dropped) return TB_OK;
  if (!service->name) return to->ops->add_topic(to->self, info, &service->handle, error);
  if (service->client) return TB_OK; /* of an earlier player */
  return tb_ros2_node_create_client(self->node, service->name, service->type, NULL,
                                    &service->client, error);
}

static void answered(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  play_requests_service_t *service = user;
  (void)status;
  (void)response;
  atomic_fetch_sub(&service->open, 1);
}

static tb_status_t call(play_requests_service_t *service, const void *cdr, size_t size,
                        tb_ros2_response_callback_t callback, void *user)
{
  atomic_fetch_add(&service->open, 1);
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      tb_ros2_client_call_async(service->client, cdr, size, ANSWER_LIMIT, callback, user, &error);
  if (!status) return TB_OK;
  atomic_fetch_sub(&service->open, 1);
  const char *why = error.text[0] ? error.text : tb_status_message(status);
  char text[TB_ERROR_TEXT_SIZE + 2];
  snprintf(text, sizeof text, ": %s", why);
  if (atomic_fetch_add(&service->unsent, 1) == 0)
    note_warning(service, "a request was not sent to", text);
  return status;
}

/* --- goals --- */

typedef struct sent_goal {
  play_requests_service_t *service;
  play_goal_t *goal;
} sent_goal_t;

/* What waited for the goal is sent, or dropped where there is no such goal: the server would refuse
 * it. */
static void end_goal(play_requests_service_t *service, play_goal_t *goal, bool is_accepted)
{
  play_goals_request_t *next;
  for (play_goals_request_t *request = play_goals_answered(&service->of->goals, goal); request;
       request = next) {
    play_requests_service_t *to = request->service;
    next = request->next;
    if (is_accepted) (void)call(to, request->cdr, request->size, answered, to);
    atomic_fetch_sub(&to->open, 1); /* as one that waits */
    free(request);
  }
}

/* The answer begins with whether the goal was accepted. */
static void goal_answered(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  sent_goal_t sent = *(sent_goal_t *)user;
  free(user);
  const uint8_t *cdr = status ? NULL : response->cdr;
  end_goal(sent.service, sent.goal, cdr && response->size > 4 && cdr[4] != 0);
  atomic_fetch_sub(&sent.service->open, 1);
}

static tb_status_t send_goal(play_requests_service_t *service, const void *cdr, size_t size)
{
  sent_goal_t *sent = malloc(sizeof *sent);
  if (!sent) return TB_ERR_NO_MEMORY;
  *sent = (sent_goal_t){service, play_goals_add(&service->of->goals, service->action, cdr)};
  tb_status_t status =
      sent->goal ? call(service, cdr, size, goal_answered, sent) : TB_ERR_NO_MEMORY;
  if (!status) return TB_OK;
  if (sent->goal) end_goal(service, sent->goal, false);
  free(sent);
  return status;
}

static tb_status_t send(play_requests_service_t *service, const void *cdr, size_t size)
{
  tb_status_t status = TB_OK;
  if (service->sends_goals) {
    status = send_goal(service, cdr, size);
  } else if (service->action) {
    atomic_fetch_add(&service->open, 1);
    play_goals_result_t result =
        play_goals_keep(&service->of->goals, service->action, service, cdr, size);
    if (result == PLAY_GOALS_KEPT) return TB_OK;
    atomic_fetch_sub(&service->open, 1);
    status = result == PLAY_GOALS_NO_MEMORY ? TB_ERR_NO_MEMORY
                                            : call(service, cdr, size, answered, service);
  } else {
    status = call(service, cdr, size, answered, service);
  }
  return status && status != TB_ERR_NO_MEMORY ? NOTHING_SENT : status;
}

static tb_status_t read_event(play_requests_service_t *service, const void *data, size_t size,
                              int *out_type, const void **out, size_t *out_size)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  if (!service->event) {
    const tb__known_definition_t *known = tb__definition_entry_fit(service->definition, data, size);
    status = known ? tb__service_event_create(known->schema, &service->event, &error)
                   : tb_error_set(&error, TB_ERR_CORRUPT, "a message that is not of %s" TYPE_END,
                                  service->type);
  }
  if (!status)
    status = tb__service_event_read(service->event, data, size, out_type, out, out_size, &error);
  if (!status || status == TB_ERR_NO_MEMORY) return status;
  char text[TB_ERROR_TEXT_SIZE + 2];
  snprintf(text, sizeof text, ": %s", error.text);
  if (service->misfits++ == 0) note_warning(service, "an event cannot be read, of", text);
  return status;
}

static tb_status_t publish_as(void *user, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  const play_requests_t *self = user;
  play_requests_service_t *service = handle;
  const void *request = NULL;
  size_t request_size = 0;
  int type = -1;
  if (service->is_dropped) return NOTHING_SENT;
  if (!service->name)
    return play_forward_publish(&self->forward, service->handle, publisher, data, size, error);
  tb_status_t status = read_event(service, data, size, &type, &request, &request_size);
  if (status) return status == TB_ERR_NO_MEMORY ? status : NOTHING_SENT;
  if (type != (int)self->options.source) return NOTHING_SENT;
  const tb_play_transport_t *to = &self->forward.to;
  if (request && service->action && request_size < PLAY_GOALS_SIZE_MIN) {
    if (service->misfits++ == 0) note_warning(service, "a request without a goal's id, of", "");
    return NOTHING_SENT;
  }
  if (request && to->ops->send) to->ops->send(to->self); /* what was published before it */
  if (request) return send(service, request, request_size);
  if (service->empty++ == 0)
    note_warning(service, "there are no requests in the recorded events of",
                 ": its introspection was set to metadata");
  return NOTHING_SENT;
}

/* See TB_NO_LIMIT. */
static int64_t end_of(tb_duration_t limit)
{
  return limit.ns == 0 ? INT64_MAX : command_steady_ns() + (limit.ns > 0 ? limit.ns : 0);
}

static bool is_over(const play_requests_t *self, int64_t end_ns)
{
  return atomic_load(&self->is_interrupted) || command_steady_ns() >= end_ns;
}

/* Requests to a service that comes later are sent too. */
static tb_status_t settle(void *user, tb_duration_t limit, tb_error_t *error)
{
  const play_requests_t *self = user;
  const tb_play_transport_t *to = &self->forward.to;
  int64_t end_ns = end_of(limit);
  tb_status_t status = to->ops->settle ? to->ops->settle(to->self, limit, error) : TB_OK;
  const tb_wait_options_t slice = {.limit = {SLICE_MS * TB_NS_PER_MS}};
  for (const play_requests_service_t *service = self->services; service; service = service->next)
    while (!status && service->client && !is_over(self, end_ns) &&
           tb_ros2_client_wait_for_service(service->client, &slice) == TB_ERR_TIMEOUT)
      ;
  return status;
}

static size_t count_open(const play_requests_t *self)
{
  size_t open = 0;
  for (const play_requests_service_t *service = self->services; service; service = service->next)
    open += atomic_load(&service->open);
  return open;
}

/* A request has arrived when its answer comes. */
static tb_status_t flush(void *user, tb_duration_t limit, tb_error_t *error)
{
  const play_requests_t *self = user;
  const tb_play_transport_t *to = &self->forward.to;
  int64_t end_ns = end_of(limit);
  tb_status_t status = to->ops->flush ? to->ops->flush(to->self, limit, error) : TB_OK;
  while (count_open(self) > 0 && !is_over(self, end_ns))
    poll(NULL, 0, SLICE_MS);
  return status;
}

static void interrupt(void *user)
{
  play_requests_t *self = user;
  const tb_play_transport_t *to = &self->forward.to;
  atomic_store(&self->is_interrupted, true);
  if (to->ops->interrupt) to->ops->interrupt(to->self);
}

/* --- begin and end --- */

bool play_requests_parse_source(const command_t *command, const char *text,
                                tb__service_event_type_t *out)
{
  static const char *const sources[] = {"service_introspection", "client_introspection", NULL};
  int source = 0;
  if (!command_parse_word(command, "--service-requests-source", text, sources, &source))
    return false;
  *out = source == 0 ? TB__SERVICE_REQUEST_RECEIVED : TB__SERVICE_REQUEST_SENT;
  return true;
}

tb_status_t play_requests_begin(play_requests_t *self, const command_t *command,
                                tb_ros2_node_t *node, const play_requests_options_t *options,
                                tb_play_transport_t *to)
{
  *self = (play_requests_t){
      .command = command, .node = node, .options = *options, .goals = PLAY_GOALS_INIT};
  const tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  tb_status_t status = tb__definitions_create(&places, &self->definitions);
  if (status) return status;
  *to = play_forward_begin(&self->forward, to);
  self->forward.ops.takes = takes;
  self->forward.ops.add_topic = add_topic;
  self->forward.ops.publish_as = publish_as;
  self->forward.ops.settle = settle;
  self->forward.ops.flush = flush;
  self->forward.ops.interrupt = interrupt;
  return TB_OK;
}

char *play_requests_take_warning(play_requests_t *self)
{
  char *text = NULL;
  for (play_requests_service_t *service = self->services; service && !text; service = service->next)
    text = atomic_exchange(&service->warning, NULL);
  return text;
}

static void print_left(const play_requests_t *self, play_requests_service_t *service)
{
  char *text = atomic_exchange(&service->warning, NULL);
  flockfile(stderr);
  if (text) command_begin_warning(self->command);
  if (text) text_err("%s\n", text);
  uint64_t unsent = atomic_load(&service->unsent);
  if (unsent > 1)
    text_err("timebase %s: %" PRIu64 " requests were not sent to %s\n", self->command->name, unsent,
             service->name);
  funlockfile(stderr);
  free(text);
}

/* Their callbacks have returned then. */
static void end_clients(play_requests_t *self, bool of_goals)
{
  for (play_requests_service_t *service = self->services; service; service = service->next)
    if (service->sends_goals == of_goals) {
      tb_ros2_client_destroy(service->client);
      service->client = NULL;
    }
}

/* Answers of goals use the other clients of the action. */
void play_requests_end(play_requests_t *self)
{
  end_clients(self, true);
  end_clients(self, false);
  while (self->services) {
    play_requests_service_t *service = self->services;
    self->services = service->next;
    print_left(self, service);
    service_free(service);
  }
  tb__definitions_destroy(self->definitions);
  self->definitions = NULL;
}

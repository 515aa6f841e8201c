#include "ros2/node_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/null_argument.h"
#include "params/parameter_value.h"
#include "ros2/context.h"
#include "ros2/node.h"
#include "ros2/topic_endpoint.h"

#define USE_SIM_TIME  "use_sim_time"
#define TIME_SOURCE   "time_source"
#define EVENTS_DEPTH  1000 /* rclcpp::ParameterEventsQoS and ParametersQoS */
#define EVENTS_LIMIT  INT64_C(50000000)
#define QOS_OVERRIDES "qos_overrides./clock.subscription."

/* ---- effects of the built-in parameters ---- */

static tb_status_t check(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                         tb_error_t *error)
{
  tb_ros2_node_t *node = user;
  const tb__node_parameters_t *self = &node->parameters;
  return self->callback ? self->callback(node, parameters, count, self->callback_user, error)
                        : TB_OK;
}

static tb_status_t apply(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                         tb_error_t *error)
{
  tb_ros2_node_t *node = user;
  tb__node_parameters_t *self = &node->parameters;
  bool use_sim_time = self->use_sim_time, concerned = false;
  const char *name = NULL;
  for (size_t i = 0; i < count; i++) {
    const tb_ros2_parameter_t *parameter = &parameters[i];
    if (strcmp(parameter->name, USE_SIM_TIME) == 0) {
      use_sim_time = parameter->value.bool_value;
      concerned = true;
    } else if (strcmp(parameter->name, TIME_SOURCE) == 0) {
      name = parameter->value.string_value;
      concerned = true;
    }
  }
  if (!concerned) return TB_OK;
  char *time_source = strdup(name ? name : self->time_source);
  if (!time_source) return tb_error_set(error, TB_ERR_NO_MEMORY, TIME_SOURCE ": out of memory");
  tb_status_t status = tb__node_time_follow(&node->time, use_sim_time ? time_source : NULL, error);
  if (status) {
    free(time_source);
    return status;
  }
  /* C7: in a child that is forked meanwhile it is never what has been freed */
  free(atomic_exchange(&self->time_source, time_source));
  self->use_sim_time = use_sim_time;
  return TB_OK;
}

static void settled(void *user)
{
  tb_ros2_node_t *node = user;
  tb__node_time_settle(&node->time);
}

/* ---- events ---- */

/* The views of `parameters` for the wire; NULL: out of memory. */
static tb__parameter_t *messages_of(const tb_ros2_parameter_t *parameters, size_t count)
{
  tb__parameter_t *messages = calloc(count + 1, sizeof *messages);
  for (size_t i = 0; messages && i < count; i++) {
    messages[i].name = parameters[i].name;
    tb__parameter_value_to_message(&parameters[i].value, &messages[i].value);
  }
  return messages;
}

static void stamp_set(const tb_ros2_node_t *node, tb__time_message_t *stamp)
{
  tb_time_t now;
  int32_t sec;
  uint32_t nanosec;
  if (tb_clock_now(node->clock, &now) == TB_OK && tb_time_to_wire(now, &sec, &nanosec) == TB_OK)
    *stamp = (tb__time_message_t){sec, nanosec};
}

static void event_publish(tb_ros2_node_t *node, const tb__parameter_event_t *event)
{
  tb_error_t error = TB_ERROR_INIT;
  uint8_t *cdr = NULL;
  size_t size;
  tb_status_t status = tb__cdr_encode(&tb__parameter_event_type, event, false, &cdr, &size);
  if (!status)
    status = tb__raw_writer_write(node->parameters.events, cdr, size, &error);
  else
    tb_error_set(&error, status, "%s", tb_status_message(status));
  if (status)
    tb__log(TB_LOG_WARN, "%s: a change was not published on /parameter_events: %s", node->full_name,
            error.text);
  free(cdr);
}

static void changed(const tb_ros2_parameter_t *added, size_t added_count,
                    const tb_ros2_parameter_t *altered, size_t altered_count,
                    const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user)
{
  tb_ros2_node_t *node = user;
  if (!node->parameters.events) return;
  tb__parameter_t *lists[] = {messages_of(added, added_count), messages_of(altered, altered_count),
                              messages_of(deleted, deleted_count)};
  tb__parameter_event_t event = {
      .node = node->full_name,
      .new_parameters = {lists[0], added_count},
      .changed_parameters = {lists[1], altered_count},
      .deleted_parameters = {lists[2], deleted_count},
  };
  stamp_set(node, &event.stamp);
  if (lists[0] && lists[1] && lists[2])
    event_publish(node, &event);
  else
    tb__log(TB_LOG_WARN, "%s: a change was not published on /parameter_events: out of memory",
            node->full_name);
  for (int i = 0; i < 3; i++)
    free(lists[i]);
}

static tb_status_t events_open(tb_ros2_node_t *node, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb__topic_endpoint_t endpoint;
  char topic[TB_ROS2_NAME_SIZE];
  tb__node_parameters_t *self = &node->parameters;
  qos.depth = EVENTS_DEPTH;
  tb_status_t status = tb_ros2_node_resolve_topic_name(node, "/parameter_events", topic, error);
  if (!status)
    status = tb__topic_endpoint_init(&endpoint, node->context, topic,
                                     "rcl_interfaces/msg/ParameterEvent", &qos, error);
  if (status) return status;
  endpoint.options.write_limit_ns = EVENTS_LIMIT;
  status = tb__raw_writer_create(tb__ros2_context_participant(node->context), &endpoint.options,
                                 &self->events, error);
  if (status) return status;
  tb__guid_t guid = tb__raw_writer_guid(self->events);
  return tb__announced_add(&self->events_announced, &node->announced, NULL, &guid, error);
}

/* ---- services ---- */

static void request_refused(tb__node_parameter_service_t *self, const char *text)
{
  if (atomic_fetch_add(&self->node->parameters.unreadable, 1) == 0)
    tb__log(TB_LOG_WARN,
            "%s/%s: a request cannot be answered (%s); further requests of this kind are not "
            "reported",
            self->node->full_name, self->kind->name, text);
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  tb__node_parameter_service_t *self = user;
  tb_error_t error = TB_ERROR_INIT;
  uint8_t *cdr = NULL;
  size_t size;
  tb_status_t status = tb__parameter_request_handle(
      self->kind, self->node->parameters.store, request->cdr, request->size, &cdr, &size, &error);
  if (status) {
    request_refused(self, error.text[0] ? error.text : tb_status_message(status));
    return;
  }
  tb_ros2_service_reply(service, &request->id, cdr, size, NULL); /* the client may be gone */
  free(cdr);
}

static tb_status_t services_open(tb_ros2_node_t *node, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = EVENTS_DEPTH;
  for (int i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    tb__node_parameter_service_t *self = &node->parameters.services[i];
    char name[64];
    *self = (tb__node_parameter_service_t){.node = node, .kind = &tb__parameter_services[i]};
    snprintf(name, sizeof name, "~/%s", self->kind->name);
    tb_status_t status = tb_ros2_node_create_service(node, name, self->kind->type, &qos, on_request,
                                                     self, &self->service, error);
    if (status) return status;
  }
  return TB_OK;
}

/* ---- built-in parameters ---- */

typedef struct word {
  const char *text;
  int value;
} word_t;

static const word_t reliabilities[] = {
    {"best_effort", TB_QOS_BEST_EFFORT}, {"reliable", TB_QOS_RELIABLE}, {NULL, 0}};
static const word_t durabilities[] = {
    {"volatile", TB_QOS_VOLATILE}, {"transient_local", TB_QOS_TRANSIENT_LOCAL}, {NULL, 0}};
static const word_t histories[] = {
    {"keep_last", TB_QOS_KEEP_LAST}, {"keep_all", TB_QOS_KEEP_ALL}, {NULL, 0}};

static const tb_ros2_parameter_descriptor_t read_only = {.read_only = true};

/* Declares a parameter that is one of the words; the first is the default. */
static tb_status_t word_declare(tb__parameter_store_t *store, const char *name, const word_t *words,
                                int *out, tb_error_t *error)
{
  tb_ros2_parameter_value_t first = tb_ros2_parameter_string(words->text), value;
  tb_status_t status = tb__parameter_store_declare(store, name, &first, &read_only, &value, error);
  if (status) return status;
  const word_t *word = words;
  while (word->text && strcmp(word->text, value.string_value) != 0)
    word++;
  if (word->text)
    *out = word->value;
  else
    status = tb_error_set(error, TB_ERR_INVALID, "parameter '%s' is '%s': must be %s or %s", name,
                          value.string_value, words[0].text, words[1].text);
  tb_ros2_parameter_value_release(&value);
  return status;
}

/* As rclcpp names them, with the defaults of rclcpp::ClockQoS. */
static tb_status_t qos_declare(tb__parameter_store_t *store, tb_qos_t *qos, tb_error_t *error)
{
  tb_ros2_parameter_value_t depth = tb_ros2_parameter_integer(qos->depth), value;
  tb_ros2_parameter_descriptor_t descriptor = {
      .read_only = true, .has_integer_range = true, .integer_from = 1, .integer_to = INT32_MAX};
  int reliability, durability, history;
  tb_status_t status =
      word_declare(store, QOS_OVERRIDES "reliability", reliabilities, &reliability, error);
  if (!status)
    status = word_declare(store, QOS_OVERRIDES "durability", durabilities, &durability, error);
  if (!status) status = word_declare(store, QOS_OVERRIDES "history", histories, &history, error);
  if (!status)
    status = tb__parameter_store_declare(store, QOS_OVERRIDES "depth", &depth, &descriptor, &value,
                                         error);
  if (status) return status;
  qos->reliability = (tb_qos_reliability_t)reliability;
  qos->durability = (tb_qos_durability_t)durability;
  qos->history = (tb_qos_history_t)history;
  qos->depth = (int32_t)value.integer_value;
  return TB_OK;
}

static tb_status_t own_declare(tb_ros2_node_t *node, tb_error_t *error)
{
  tb__parameter_store_t *store = node->parameters.store;
  const char *environment = getenv("TIMEBASE_SOURCE");
  tb_ros2_parameter_value_t source = tb_ros2_parameter_string(
      environment && environment[0] ? environment : TB__TIME_SOURCE_CLOCK_TOPIC);
  tb_ros2_parameter_value_t off = tb_ros2_parameter_bool(false);
  tb_ros2_parameter_descriptor_t source_descriptor = {
      .description = "the source of time for the node's clock while use_sim_time is true",
      .additional_constraints =
          "clock_topic, extrapolating, shm:NAME, or another name of a source"};
  tb_ros2_parameter_descriptor_t sim_descriptor = {
      .description = "whether the node's clock reads simulated time"};
  tb_status_t status = qos_declare(store, &node->time.qos, error);
  if (!status)
    status =
        tb__parameter_store_declare(store, TIME_SOURCE, &source, &source_descriptor, NULL, error);
  if (!status)
    status = tb__parameter_store_declare(store, USE_SIM_TIME, &off, &sim_descriptor, NULL, error);
  return status;
}

/* ---- opening and closing ---- */

static tb_status_t override_add(const char *name, const tb_ros2_parameter_value_t *value,
                                void *user)
{
  tb__node_parameters_t *self = user;
  return tb__parameter_store_override(self->store, name, value, NULL);
}

/* The last value of a name counts: those of the options come after all arguments, as in rclcpp and
 * rclpy. */
static tb_status_t store_open(tb_ros2_node_t *node, const tb_ros2_node_options_t *options,
                              tb_error_t *error)
{
  static const tb__parameter_store_hooks_t hooks = {check, apply, changed, settled};
  tb__node_parameters_t *self = &node->parameters;
  self->time_source = strdup(TB__TIME_SOURCE_CLOCK_TOPIC);
  tb_status_t status =
      self->time_source ? tb__parameter_store_create(&hooks, node, &self->store) : TB_ERR_NO_MEMORY;
  if (status) return tb_error_set(error, status, "parameters: %s", tb_status_message(status));
  status = tb__arguments_overrides(node->own_arguments, node->arguments, node->full_name,
                                   override_add, self, error);
  for (size_t i = 0; i < options->parameter_override_count && !status; i++)
    status = tb__parameter_store_override(self->store, options->parameter_overrides[i].name,
                                          &options->parameter_overrides[i].value, error);
  return status;
}

tb_status_t tb__node_parameters_open(tb_ros2_node_t *node, const tb_ros2_node_options_t *options,
                                     tb_error_t *error)
{
  tb_status_t status = store_open(node, options, error);
  if (!status && !options->no_parameter_events) status = events_open(node, error);
  if (!status) status = own_declare(node, error);
  if (!status && !options->no_parameter_services) status = services_open(node, error);
  return status;
}

void tb__node_parameters_close(tb_ros2_node_t *node)
{
  tb__node_parameters_t *self = &node->parameters;
  for (int i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++)
    tb_ros2_service_destroy(self->services[i].service);
  tb__announced_remove(&self->events_announced);
  tb__raw_writer_destroy(self->events);
  tb__parameter_store_destroy(self->store);
  free(self->time_source);
}

/* ---- public functions ---- */

tb_status_t tb_ros2_node_declare_parameter(tb_ros2_node_t *node, const char *name,
                                           const tb_ros2_parameter_value_t *value,
                                           const tb_ros2_parameter_descriptor_t *descriptor,
                                           tb_error_t *error)
{
  if (!node || !name || !value) return tb__null_argument(error, __func__);
  return tb__parameter_store_declare(node->parameters.store, name, value, descriptor, NULL, error);
}

tb_status_t tb_ros2_node_undeclare_parameter(tb_ros2_node_t *node, const char *name,
                                             tb_error_t *error)
{
  if (!node || !name) return tb__null_argument(error, __func__);
  return tb__parameter_store_undeclare(node->parameters.store, name, error);
}

tb_status_t tb_ros2_node_get_parameter(tb_ros2_node_t *node, const char *name,
                                       tb_ros2_parameter_value_t *out)
{
  if (!node || !name || !out) return TB_ERR_INVALID;
  return tb__parameter_store_get(node->parameters.store, name, out, NULL);
}

tb_status_t tb_ros2_node_set_parameter(tb_ros2_node_t *node, const char *name,
                                       const tb_ros2_parameter_value_t *value, tb_error_t *error)
{
  if (!node || !name || !value) return tb__null_argument(error, __func__);
  if (!value) return tb_error_set(error, TB_ERR_INVALID, "parameter '%s': no value", name);
  tb_ros2_parameter_t parameter = {name, *value};
  return tb__parameter_store_set(node->parameters.store, &parameter, 1, error);
}

tb_status_t tb_ros2_node_set_parameters_atomically(tb_ros2_node_t *node,
                                                   const tb_ros2_parameter_t *parameters,
                                                   size_t count, tb_error_t *error)
{
  if (!node || (!parameters && count > 0)) return tb__null_argument(error, __func__);
  return tb__parameter_store_set(node->parameters.store, parameters, count, error);
}

tb_status_t tb_ros2_node_set_parameters_callback(tb_ros2_node_t *node,
                                                 tb_ros2_set_parameters_callback_t callback,
                                                 void *user)
{
  if (!node) return TB_ERR_INVALID;
  tb__node_parameters_t *self = &node->parameters;
  tb_status_t status = tb__parameter_store_begin(self->store);
  if (status) return status;
  self->callback = callback;
  self->callback_user = user;
  tb__parameter_store_end(self->store);
  return TB_OK;
}

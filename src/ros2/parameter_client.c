#include "ros2/parameter_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "params/parameter_value.h"
#include "platform/mutex.h"
#include "wire/names.h"

#define PARAMETER_SERVICES_DEPTH 1000 /* rmw_qos_profile_parameters */

typedef enum service {
  GET,
  GET_TYPES,
  SET,
  SET_ATOMICALLY,
  DESCRIBE,
  LIST,
  SERVICE_COUNT,
} service_t;

static const struct {
  const char *name, *type;
  const tb__cdr_type_t *request, *response;
} services[SERVICE_COUNT] = {
    [GET] = {"get_parameters", "rcl_interfaces/srv/GetParameters", &tb__get_parameters_request_type,
             &tb__get_parameters_response_type},
    [GET_TYPES] = {"get_parameter_types", "rcl_interfaces/srv/GetParameterTypes",
                   &tb__get_parameter_types_request_type, &tb__get_parameter_types_response_type},
    [SET] = {"set_parameters", "rcl_interfaces/srv/SetParameters", &tb__set_parameters_request_type,
             &tb__set_parameters_response_type},
    [SET_ATOMICALLY] = {"set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically",
                        &tb__set_parameters_atomically_request_type,
                        &tb__set_parameters_atomically_response_type},
    [DESCRIBE] = {"describe_parameters", "rcl_interfaces/srv/DescribeParameters",
                  &tb__describe_parameters_request_type, &tb__describe_parameters_response_type},
    [LIST] = {"list_parameters", "rcl_interfaces/srv/ListParameters",
              &tb__list_parameters_request_type, &tb__list_parameters_response_type},
};

struct tb_ros2_parameter_client {
  tb_ros2_context_t *context;
  char node[TB__DDS_NAME_SIZE];
  tb__mutex_t mutex;
  tb_ros2_client_t *clients[SERVICE_COUNT]; /* guarded by `mutex`; created when first needed */
};

bool tb__is_full_node_name(const char *node)
{
  char name[TB__DDS_NAME_SIZE];
  return node && node[0] == '/' && tb__topic_name_to_dds(node, false, name, NULL) == TB_OK;
}

tb_status_t tb__parameter_service_client(tb_ros2_context_t *context, const char *node,
                                         const char *service, const char *type,
                                         tb_ros2_client_t **out, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  char name[TB__DDS_NAME_SIZE + 32];
  qos.depth = PARAMETER_SERVICES_DEPTH;
  snprintf(name, sizeof name, "%s/%s", node, service);
  return tb_ros2_client_create(context, name, type, &qos, out, error);
}

tb_status_t tb_ros2_parameter_client_create(tb_ros2_context_t *context, const char *node,
                                            tb_ros2_parameter_client_t **out, tb_error_t *error)
{
  if (!context || !node || !out) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "parameter client: %s",
                        tb_status_message(TB_ERR_FORKED));
  if (!tb__is_full_node_name(node))
    return tb_error_set(error, TB_ERR_INVALID,
                        "node name '%s': must be a full name, such as \"/camera\"",
                        node ? node : "(null)");
  tb_ros2_parameter_client_t *client = calloc(1, sizeof *client);
  if (!client)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "parameter client of %s: out of memory", node);
  client->context = context;
  tb__mutex_init(&client->mutex);
  snprintf(client->node, sizeof client->node, "%s", node);
  *out = client;
  return TB_OK;
}

void tb_ros2_parameter_client_destroy(tb_ros2_parameter_client_t *client)
{
  if (!client) return;
  tb__mutex_lock(&client->mutex);
  for (int i = 0; i < SERVICE_COUNT; i++)
    tb_ros2_client_destroy(client->clients[i]);
  tb__mutex_unlock(&client->mutex);
  tb__mutex_fini(&client->mutex);
  free(client);
}

static tb_status_t client_take(tb_ros2_parameter_client_t *client, service_t service,
                               tb_ros2_client_t **out, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&client->mutex);
  if (!client->clients[service])
    status = tb__parameter_service_client(client->context, client->node, services[service].name,
                                          services[service].type, &client->clients[service], error);
  *out = client->clients[service];
  tb__mutex_unlock(&client->mutex);
  return status;
}

static tb_status_t no_memory(const tb_ros2_parameter_client_t *client, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_NO_MEMORY, "parameters of %s: out of memory", client->node);
}

static tb_status_t decode(const tb_ros2_parameter_client_t *client, service_t service,
                          const tb_ros2_response_t *response, void *out, tb_error_t *error)
{
  tb_status_t status =
      tb__cdr_decode(services[service].response, response->cdr, response->size, out);
  if (status == TB_ERR_NO_MEMORY) return no_memory(client, error);
  if (status)
    return tb_error_set(
        error, TB_ERR_CORRUPT, "%s/%s: an answer of %zu bytes is not a valid %s (%s)", client->node,
        services[service].name, response->size, services[service].type, tb_status_message(status));
  return TB_OK;
}

/* Takes over `request`, and frees it. `out`: a new message. */
static tb_status_t send(tb_ros2_parameter_client_t *client, service_t service, uint8_t *request,
                        size_t size, const tb_wait_options_t *options, void *out, tb_error_t *error)
{
  tb_ros2_client_t *sender;
  tb_ros2_response_t response = {NULL, 0};
  tb_status_t status = TB_OK;
  if (tb__is_forked())
    status = TB_ERR_FORKED;
  else if (tb__thread_may_not_wait())
    status = TB_ERR_DEADLOCK;
  if (status) {
    tb_error_set(error, status, "parameters of %s: %s", client->node, tb_status_message(status));
  } else {
    status = client_take(client, service, &sender, error);
    if (!status) status = tb_ros2_client_call(sender, request, size, options, &response, error);
    if (!status) status = decode(client, service, &response, out, error);
  }
  tb_ros2_response_release(&response);
  free(request);
  return status;
}

static tb_status_t names_send(tb_ros2_parameter_client_t *client, service_t service,
                              const char *const *names, size_t count,
                              const tb_wait_options_t *options, void *out, tb_error_t *error)
{
  uint8_t *request;
  size_t size;
  tb__names_request_t message = {{names, count}};
  for (size_t i = 0; i < count; i++) {
    if (!names[i])
      return tb_error_set(error, TB_ERR_INVALID, "parameters of %s: a name is NULL", client->node);
  }
  tb_status_t status = tb__cdr_encode(services[service].request, &message, false, &request, &size);
  if (status)
    return tb_error_set(error, status, "parameters of %s: %s", client->node,
                        tb_status_message(status));
  return send(client, service, request, size, options, out, error);
}

/* Nodes answer with an empty list if they do not know a name. */
static tb_status_t count_check(const tb_ros2_parameter_client_t *client, service_t service,
                               size_t asked, size_t answered, tb_error_t *error)
{
  if (answered == asked || (answered == 0 && service != SET)) return TB_OK;
  return tb_error_set(error, TB_ERR_CORRUPT, "%s/%s: %zu answers to %zu parameters", client->node,
                      services[service].name, answered, asked);
}

static tb_status_t type_error(const tb_ros2_parameter_client_t *client, service_t service,
                              unsigned type, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_CORRUPT, "%s/%s: unknown parameter type %u", client->node,
                      services[service].name, type);
}

static tb_status_t values_copy(const tb_ros2_parameter_client_t *client,
                               const tb__get_parameters_response_t *message,
                               tb_ros2_parameter_value_t *out, tb_error_t *error)
{
  size_t count = message->values.count;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < count && !status; i++) {
    tb_ros2_parameter_value_t view;
    if (tb__parameter_value_of_message(&message->values.items[i], &view) != TB_OK)
      status = type_error(client, GET, message->values.items[i].type, error);
  }
  if (status) return status;
  tb_ros2_parameter_value_t *copies = calloc(count + 1, sizeof *copies);
  if (!copies) return no_memory(client, error);
  for (size_t i = 0; i < count && !status; i++) {
    tb_ros2_parameter_value_t view = TB_ROS2_PARAMETER_VALUE_INIT;
    tb__parameter_value_of_message(&message->values.items[i], &view);
    status = tb_ros2_parameter_value_copy(&view, &copies[i]);
  }
  for (size_t i = 0; i < count; i++) {
    if (!status)
      out[i] = copies[i];
    else
      tb_ros2_parameter_value_release(&copies[i]);
  }
  free(copies);
  return !status ? TB_OK : no_memory(client, error);
}

tb_status_t tb_ros2_parameter_client_get_sized(tb_ros2_parameter_client_t *client,
                                               const char *const *names, size_t count,
                                               const tb_wait_options_t *options,
                                               size_t options_size,
                                               tb_ros2_parameter_value_t *out_values,
                                               size_t *out_count, tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!names && count > 0) || (!out_values && count > 0) || !out_count)
    return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__get_parameters_response_t *message;
  tb_status_t status = names_send(client, GET, names, count, options, &message, error);
  if (status) return status;
  status = count_check(client, GET, count, message->values.count, error);
  if (!status) status = values_copy(client, message, out_values, error);
  if (!status) *out_count = message->values.count;
  free(message);
  return status;
}

tb_status_t tb_ros2_parameter_client_get_types_sized(tb_ros2_parameter_client_t *client,
                                                     const char *const *names, size_t count,
                                                     const tb_wait_options_t *options,
                                                     size_t options_size,
                                                     tb_ros2_parameter_type_t *out_types,
                                                     size_t *out_count, tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!names && count > 0) || (!out_types && count > 0) || !out_count)
    return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__get_parameter_types_response_t *message;
  tb_status_t status = names_send(client, GET_TYPES, names, count, options, &message, error);
  if (status) return status;
  size_t answered = message->types.count;
  status = count_check(client, GET_TYPES, count, answered, error);
  for (size_t i = 0; i < answered && !status; i++) {
    if (message->types.items[i] > TB_ROS2_PARAMETER_STRING_ARRAY)
      status = type_error(client, GET_TYPES, message->types.items[i], error);
  }
  if (!status) {
    for (size_t i = 0; i < answered; i++)
      out_types[i] = (tb_ros2_parameter_type_t)message->types.items[i];
    *out_count = answered;
  }
  free(message);
  return status;
}

static bool is_valid(const tb_ros2_parameter_t *parameter)
{
  const tb_ros2_parameter_value_t *value = &parameter->value;
  if (!parameter->name || !tb_ros2_parameter_type_name(value->type)) return false;
  if (value->type == TB_ROS2_PARAMETER_STRING) return value->string_value != NULL;
  return value->type < TB_ROS2_PARAMETER_BYTE_ARRAY || value->count == 0 || value->items.any;
}

tb_status_t tb__set_request_encode(const tb_ros2_parameter_t *parameters, size_t count,
                                   uint8_t **out, size_t *out_size)
{
  tb__parameter_t *items = calloc(count + 1, sizeof *items);
  if (!items) return TB_ERR_NO_MEMORY;
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < count && !status; i++) {
    if (!is_valid(&parameters[i])) status = TB_ERR_INVALID;
    items[i].name = parameters[i].name;
    tb__parameter_value_to_message(&parameters[i].value, &items[i].value);
  }
  tb__parameters_request_t message = {{items, count}};
  if (!status) status = tb__cdr_encode(services[SET].request, &message, false, out, out_size);
  free(items);
  return status;
}

static void result_fill(const tb__set_parameters_result_t *message, tb_ros2_parameter_result_t *out)
{
  out->successful = message->successful;
  snprintf(out->reason, sizeof out->reason, "%s", message->reason);
}

static void results_fill(const tb__set_parameters_response_t *message,
                         tb_ros2_parameter_result_t *out)
{
  for (size_t i = 0; i < message->results.count; i++)
    result_fill(&message->results.items[i], &out[i]);
}

tb_status_t tb__set_response_read(const tb_ros2_response_t *response, size_t count,
                                  tb_ros2_parameter_result_t *out_results)
{
  tb__set_parameters_response_t *message;
  tb_status_t status =
      tb__cdr_decode(services[SET].response, response->cdr, response->size, &message);
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_CORRUPT;
  if (message->results.count == count)
    results_fill(message, out_results);
  else
    status = TB_ERR_CORRUPT;
  free(message);
  return status;
}

static tb_status_t parameters_send(tb_ros2_parameter_client_t *client, service_t service,
                                   const tb_ros2_parameter_t *parameters, size_t count,
                                   const tb_wait_options_t *options, void *out, tb_error_t *error)
{
  uint8_t *request;
  size_t size;
  tb_status_t status = tb__set_request_encode(parameters, count, &request, &size);
  if (status == TB_ERR_INVALID)
    return tb_error_set(error, status, "parameters of %s: a name is NULL, or a value is invalid",
                        client->node);
  if (status)
    return tb_error_set(error, status, "parameters of %s: %s", client->node,
                        tb_status_message(status));
  return send(client, service, request, size, options, out, error);
}

tb_status_t tb_ros2_parameter_client_set_sized(tb_ros2_parameter_client_t *client,
                                               const tb_ros2_parameter_t *parameters, size_t count,
                                               const tb_wait_options_t *options,
                                               size_t options_size,
                                               tb_ros2_parameter_result_t *out_results,
                                               tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!parameters && count > 0) || (!out_results && count > 0))
    return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__set_parameters_response_t *message;
  tb_status_t status = parameters_send(client, SET, parameters, count, options, &message, error);
  if (status) return status;
  status = count_check(client, SET, count, message->results.count, error);
  if (!status) results_fill(message, out_results);
  free(message);
  return status;
}

tb_status_t tb_ros2_parameter_client_set_atomically_sized(
    tb_ros2_parameter_client_t *client, const tb_ros2_parameter_t *parameters, size_t count,
    const tb_wait_options_t *options, size_t options_size, tb_ros2_parameter_result_t *out_result,
    tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!parameters && count > 0) || !out_result)
    return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__set_parameters_atomically_response_t *message;
  tb_status_t status =
      parameters_send(client, SET_ATOMICALLY, parameters, count, options, &message, error);
  if (status) return status;
  result_fill(&message->result, out_result);
  free(message);
  return TB_OK;
}

tb_status_t tb_ros2_parameter_client_list_sized(tb_ros2_parameter_client_t *client,
                                                const char *const *prefixes, size_t prefix_count,
                                                uint64_t depth, const tb_wait_options_t *options,
                                                size_t options_size, tb_ros2_parameter_list_t *out,
                                                tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!prefixes && prefix_count > 0) || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  uint8_t *request;
  size_t size;
  tb__list_parameters_request_t message = {{prefixes, prefix_count}, depth};
  tb_status_t status = tb__cdr_encode(services[LIST].request, &message, false, &request, &size);
  if (status)
    return tb_error_set(error, status, "parameters of %s: %s", client->node,
                        tb_status_message(status));
  tb__list_parameters_response_t *response;
  status = send(client, LIST, request, size, options, &response, error);
  if (status) return status;
  *out = (tb_ros2_parameter_list_t){
      .names = response->result.names.items,
      .name_count = response->result.names.count,
      .prefixes = response->result.prefixes.items,
      .prefix_count = response->result.prefixes.count,
      .owner = response,
  };
  return TB_OK;
}

void tb_ros2_parameter_list_release(tb_ros2_parameter_list_t *list)
{
  if (!list) return;
  free(list->owner);
  *list = (tb_ros2_parameter_list_t){0};
}

static void descriptor_fill(const tb__parameter_descriptor_t *message,
                            tb_ros2_parameter_description_t *out)
{
  *out = (tb_ros2_parameter_description_t){
      .name = message->name,
      .type = (tb_ros2_parameter_type_t)message->type,
      .descriptor = {.description = message->description,
                     .additional_constraints = message->additional_constraints,
                     .read_only = message->read_only,
                     .dynamic_typing = message->dynamic_typing,
                     .has_integer_range = message->integer_range.count > 0,
                     .has_double_range = message->floating_point_range.count > 0},
  };
  if (out->descriptor.has_integer_range) {
    out->descriptor.integer_from = message->integer_range.items[0].from_value;
    out->descriptor.integer_to = message->integer_range.items[0].to_value;
    out->descriptor.integer_step = message->integer_range.items[0].step;
  }
  if (out->descriptor.has_double_range) {
    out->descriptor.double_from = message->floating_point_range.items[0].from_value;
    out->descriptor.double_to = message->floating_point_range.items[0].to_value;
    out->descriptor.double_step = message->floating_point_range.items[0].step;
  }
}

/* The texts stay in the message, which is freed with the descriptions. */
typedef struct described {
  tb__describe_parameters_response_t *message;
  tb_ros2_parameter_description_t items[];
} described_t;

static tb_status_t descriptions_fill(const tb_ros2_parameter_client_t *client,
                                     tb__describe_parameters_response_t *message,
                                     tb_ros2_parameter_descriptions_t *out, tb_error_t *error)
{
  size_t count = message->descriptors.count;
  for (size_t i = 0; i < count; i++) {
    unsigned type = message->descriptors.items[i].type;
    if (type > TB_ROS2_PARAMETER_STRING_ARRAY) return type_error(client, DESCRIBE, type, error);
  }
  described_t *described = calloc(1, sizeof *described + count * sizeof described->items[0]);
  if (!described) return no_memory(client, error);
  described->message = message;
  for (size_t i = 0; i < count; i++)
    descriptor_fill(&message->descriptors.items[i], &described->items[i]);
  *out = (tb_ros2_parameter_descriptions_t){described->items, count, described};
  return TB_OK;
}

tb_status_t tb_ros2_parameter_client_describe_sized(tb_ros2_parameter_client_t *client,
                                                    const char *const *names, size_t count,
                                                    const tb_wait_options_t *options,
                                                    size_t options_size,
                                                    tb_ros2_parameter_descriptions_t *out,
                                                    tb_error_t *error)
{
  tb_wait_options_t known;
  if (!client || (!names && count > 0) || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb__describe_parameters_response_t *message;
  tb_status_t status = names_send(client, DESCRIBE, names, count, options, &message, error);
  if (status) return status;
  status = count_check(client, DESCRIBE, count, message->descriptors.count, error);
  if (!status) status = descriptions_fill(client, message, out, error);
  if (status) free(message);
  return status;
}

void tb_ros2_parameter_descriptions_release(tb_ros2_parameter_descriptions_t *descriptions)
{
  if (!descriptions) return;
  described_t *described = descriptions->owner;
  if (described) free(described->message);
  free(described);
  *descriptions = (tb_ros2_parameter_descriptions_t){0};
}

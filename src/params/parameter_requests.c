#include "params/parameter_requests.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#include "base/fork.h"
#include "params/parameter_value.h"

#define VALUE_SIZE      64 /* of an empty value, with padding */
#define DESCRIPTOR_SIZE 128

static size_t items_size(const tb_ros2_parameter_value_t *value)
{
  size_t size = 0;
  switch (value->type) {
  case TB_ROS2_PARAMETER_STRING:
    return strlen(value->string_value);
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    return value->count;
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    return value->count * sizeof(int64_t);
  case TB_ROS2_PARAMETER_STRING_ARRAY:
    for (size_t i = 0; i < value->count; i++)
      size += sizeof(uint64_t) + strlen(value->items.strings[i]);
    return size;
  default:
    return 0;
  }
}

static size_t value_size(const tb__parameter_state_t *state)
{
  return VALUE_SIZE + items_size(&state->value);
}

static size_t descriptor_size(const tb__parameter_state_t *state)
{
  const tb__parameter_declaration_t *declaration = state->declaration;
  return DESCRIPTOR_SIZE + strlen(declaration->name) + strlen(declaration->descriptor.description) +
         strlen(declaration->descriptor.additional_constraints);
}

static tb_status_t sizes_check(const tb__parameter_states_t *states,
                               size_t (*size_of)(const tb__parameter_state_t *state))
{
  size_t sum = 0;
  for (size_t i = 0; i < states->count; i++) {
    sum += size_of(states->items[i]);
    if (sum > TB__PARAMETER_RESPONSE_MAX) return TB_ERR_LIMIT;
  }
  return TB_OK;
}

/* An empty list if a name is not declared. */
static tb_status_t states_read(tb__parameter_store_t *store, const tb__names_request_t *request,
                               tb__parameter_states_t *out)
{
  tb_status_t status =
      tb__parameter_store_read(store, request->names.items, request->names.count, out);
  if (status != TB_ERR_NOT_FOUND) return status;
  *out = (tb__parameter_states_t){0};
  return TB_OK;
}

static tb_status_t values_encode(const tb__parameter_states_t *states, uint8_t **out_cdr,
                                 size_t *out_size)
{
  tb__parameter_value_t *values = calloc(states->count + 1, sizeof *values);
  if (!values) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < states->count; i++)
    tb__parameter_value_to_message(&states->items[i]->value, &values[i]);
  tb__get_parameters_response_t response = {{values, states->count}};
  tb_status_t status =
      tb__cdr_encode(&tb__get_parameters_response_type, &response, false, out_cdr, out_size);
  free(values);
  return status;
}

static tb_status_t get_answer(tb__parameter_store_t *store, const void *request, uint8_t **out_cdr,
                              size_t *out_size)
{
  tb__parameter_states_t states;
  tb_status_t status = states_read(store, request, &states);
  if (status) return status;
  status = sizes_check(&states, value_size);
  if (!status) status = values_encode(&states, out_cdr, out_size);
  tb__parameter_states_release(&states);
  return status;
}

static tb_status_t types_encode(const tb__parameter_states_t *states, uint8_t **out_cdr,
                                size_t *out_size)
{
  uint8_t *types = malloc(states->count + 1);
  if (!types) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < states->count; i++)
    types[i] = (uint8_t)states->items[i]->value.type;
  tb__get_parameter_types_response_t response = {{types, states->count}};
  tb_status_t status =
      tb__cdr_encode(&tb__get_parameter_types_response_type, &response, false, out_cdr, out_size);
  free(types);
  return status;
}

static tb_status_t types_answer(tb__parameter_store_t *store, const void *request,
                                uint8_t **out_cdr, size_t *out_size)
{
  tb__parameter_states_t states;
  tb_status_t status = states_read(store, request, &states);
  if (status) return status;
  status = types_encode(&states, out_cdr, out_size);
  tb__parameter_states_release(&states);
  return status;
}

/* The message points to its ranges. */
typedef struct described {
  tb__integer_range_t integer_range;
  tb__floating_point_range_t double_range;
} described_t;

static void describe(const tb__parameter_state_t *state, described_t *ranges,
                     tb__parameter_descriptor_t *out)
{
  const tb_ros2_parameter_descriptor_t *from = &state->declaration->descriptor;
  ranges->integer_range =
      (tb__integer_range_t){from->integer_from, from->integer_to, from->integer_step};
  ranges->double_range =
      (tb__floating_point_range_t){from->double_from, from->double_to, from->double_step};
  *out = (tb__parameter_descriptor_t){
      .name = state->declaration->name,
      .type = (uint8_t)state->value.type,
      .description = from->description,
      .additional_constraints = from->additional_constraints,
      .read_only = from->read_only,
      .dynamic_typing = from->dynamic_typing,
      .floating_point_range = {&ranges->double_range, from->has_double_range},
      .integer_range = {&ranges->integer_range, from->has_integer_range},
  };
}

static tb_status_t descriptors_encode(const tb__parameter_states_t *states, uint8_t **out_cdr,
                                      size_t *out_size)
{
  tb_status_t status = TB_ERR_NO_MEMORY;
  described_t *ranges = calloc(states->count + 1, sizeof *ranges);
  tb__parameter_descriptor_t *descriptors = calloc(states->count + 1, sizeof *descriptors);
  if (ranges && descriptors) {
    for (size_t i = 0; i < states->count; i++)
      describe(states->items[i], &ranges[i], &descriptors[i]);
    tb__describe_parameters_response_t response = {{descriptors, states->count}};
    status =
        tb__cdr_encode(&tb__describe_parameters_response_type, &response, false, out_cdr, out_size);
  }
  free(descriptors);
  free(ranges);
  return status;
}

static tb_status_t describe_answer(tb__parameter_store_t *store, const void *request,
                                   uint8_t **out_cdr, size_t *out_size)
{
  tb__parameter_states_t states;
  tb_status_t status = states_read(store, request, &states);
  if (status) return status;
  status = sizes_check(&states, descriptor_size);
  if (!status) status = descriptors_encode(&states, out_cdr, out_size);
  tb__parameter_states_release(&states);
  return status;
}

static tb_status_t list_encode(const tb__parameter_states_t *states, uint8_t **out_cdr,
                               size_t *out_size)
{
  tb__list_parameters_response_t response = {0};
  tb_status_t status = tb__parameter_prefixes(states, &response.result.prefixes);
  if (status) return status;
  const char **names = calloc(states->count + 1, sizeof *names);
  if (names) {
    for (size_t i = 0; i < states->count; i++)
      names[i] = states->items[i]->declaration->name;
    response.result.names = (tb__strings_t){names, states->count};
    status =
        tb__cdr_encode(&tb__list_parameters_response_type, &response, false, out_cdr, out_size);
  }
  free(names);
  free((void *)(uintptr_t)response.result.prefixes.items);
  return names ? status : TB_ERR_NO_MEMORY;
}

static tb_status_t list_answer(tb__parameter_store_t *store, const void *request, uint8_t **out_cdr,
                               size_t *out_size)
{
  const tb__list_parameters_request_t *list = request;
  tb__parameter_states_t states;
  tb_status_t status = tb__parameter_store_list(store, list->prefixes.items, list->prefixes.count,
                                                list->depth, &states);
  if (status) return status;
  status = list_encode(&states, out_cdr, out_size);
  tb__parameter_states_release(&states);
  return status;
}

/* Whether all of `parameters` were set; if not, *error has the reason. */
static bool set(tb__parameter_store_t *store, const tb_ros2_parameter_t *parameters, size_t count,
                tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  if (tb__parameter_store_set(store, parameters, count, &detail) == TB_OK) return true;
  *error = detail; /* a hook may have set it directly; clients decode it as UTF-8 */
  tb_text_escape(detail.text, error->text, sizeof error->text);
  return false;
}

static bool parameter_read(const tb__parameter_t *message, tb_ros2_parameter_t *out,
                           tb_error_t *error)
{
  out->name = message->name;
  if (tb__parameter_value_of_message(&message->value, &out->value) == TB_OK) return true;
  tb_error_set(error, TB_ERR_INVALID, "parameter %.100s: unknown type %u", message->name,
               (unsigned)message->value.type);
  return false;
}

/* The reason of a result is allocated, except this one. */
static const char no_memory[] = "refused; out of memory for the reason";

static void results_free(tb__set_parameters_result_t *results, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (results[i].reason != no_memory) free((void *)(uintptr_t)results[i].reason);
  }
  free(results);
}

static tb_status_t set_answer(tb__parameter_store_t *store, const void *request, uint8_t **out_cdr,
                              size_t *out_size)
{
  const tb__parameters_request_t *wanted = request;
  size_t count = wanted->parameters.count;
  tb__set_parameters_result_t *results = calloc(count + 1, sizeof *results);
  if (!results) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    tb_ros2_parameter_t parameter;
    tb_error_t error = TB_ERROR_INIT;
    results[i].successful = parameter_read(&wanted->parameters.items[i], &parameter, &error) &&
                            set(store, &parameter, 1, &error);
    if (results[i].successful) continue;
    results[i].reason = strdup(error.text);
    if (!results[i].reason) results[i].reason = no_memory;
  }
  tb__set_parameters_response_t response = {{results, count}};
  tb_status_t status =
      tb__cdr_encode(&tb__set_parameters_response_type, &response, false, out_cdr, out_size);
  results_free(results, count);
  return status;
}

static tb_status_t atomic_result_encode(bool successful, const char *reason, uint8_t **out_cdr,
                                        size_t *out_size)
{
  tb__set_parameters_atomically_response_t response = {{successful, reason}};
  return tb__cdr_encode(&tb__set_parameters_atomically_response_type, &response, false, out_cdr,
                        out_size);
}

static bool set_all(tb__parameter_store_t *store, const tb__parameters_t *messages,
                    tb_ros2_parameter_t *parameters, tb_error_t *error)
{
  for (size_t i = 0; i < messages->count; i++) {
    if (!parameter_read(&messages->items[i], &parameters[i], error)) return false;
  }
  return set(store, parameters, messages->count, error);
}

/* The response for success is encoded before anything is set, as nothing may fail afterwards. */
static tb_status_t set_atomically_answer(tb__parameter_store_t *store, const void *request,
                                         uint8_t **out_cdr, size_t *out_size)
{
  const tb__parameters_request_t *wanted = request;
  tb_error_t error = TB_ERROR_INIT;
  uint8_t *cdr;
  size_t size;
  tb_ros2_parameter_t *parameters = calloc(wanted->parameters.count + 1, sizeof *parameters);
  if (!parameters) return TB_ERR_NO_MEMORY;
  tb_status_t status = atomic_result_encode(true, "", &cdr, &size);
  if (!status && !set_all(store, &wanted->parameters, parameters, &error)) {
    free(cdr);
    status = atomic_result_encode(false, error.text, &cdr, &size);
  }
  free(parameters);
  if (status) return status;
  *out_cdr = cdr;
  *out_size = size;
  return TB_OK;
}

#define SERVICE(suffix, service, function)                                                         \
  {                                                                                                \
#suffix, "rcl_interfaces/srv/" service, &tb__##suffix##_request_type, function                 \
  }

const tb__parameter_service_t tb__parameter_services[TB__PARAMETER_SERVICE_COUNT] = {
    SERVICE(get_parameters, "GetParameters", get_answer),
    SERVICE(get_parameter_types, "GetParameterTypes", types_answer),
    SERVICE(set_parameters, "SetParameters", set_answer),
    SERVICE(set_parameters_atomically, "SetParametersAtomically", set_atomically_answer),
    SERVICE(describe_parameters, "DescribeParameters", describe_answer),
    SERVICE(list_parameters, "ListParameters", list_answer),
};

tb_status_t tb__parameter_request_handle(const tb__parameter_service_t *service,
                                         tb__parameter_store_t *store, const void *cdr, size_t size,
                                         uint8_t **out_cdr, size_t *out_size, tb_error_t *error)
{
  void *request;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s: %s", service->name,
                        tb_status_message(TB_ERR_FORKED));
  tb_status_t status = tb__cdr_decode(service->request, cdr, size, &request);
  if (status)
    return tb_error_set(error, status, "%s: a request of %zu bytes is not a valid %s: %s",
                        service->name, size, service->request->name, tb_status_message(status));
  status = service->answer(store, request, out_cdr, out_size);
  free(request);
  if (status)
    return tb_error_set(error, status, "%s: no answer: %s", service->name,
                        tb_status_message(status));
  return TB_OK;
}

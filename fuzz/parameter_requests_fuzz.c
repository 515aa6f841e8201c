/* Any bytes as a request to a node's parameter services. The first byte of the input chooses the
 * service. An invalid request changes nothing, answers can be decoded, and parameters keep to their
 * rules. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "params/parameter_requests.h"

static const tb__cdr_type_t *const responses[TB__PARAMETER_SERVICE_COUNT] = {
    &tb__get_parameters_response_type,      &tb__get_parameter_types_response_type,
    &tb__set_parameters_response_type,      &tb__set_parameters_atomically_response_type,
    &tb__describe_parameters_response_type, &tb__list_parameters_response_type,
};

static void declare(tb__parameter_store_t *store, const char *name,
                    const tb_ros2_parameter_value_t *value,
                    const tb_ros2_parameter_descriptor_t *descriptor)
{
  if (tb__parameter_store_declare(store, name, value, descriptor, NULL, NULL) != TB_OK) abort();
}

static tb__parameter_store_t *store_create(void)
{
  static const tb_ros2_parameter_descriptor_t ranged = {
      .has_integer_range = true, .integer_to = 10, .integer_step = 2};
  static const tb_ros2_parameter_descriptor_t dynamic = {.dynamic_typing = true};
  static const char *const strings[] = {"one", ""};
  tb__parameter_store_t *store;
  if (tb__parameter_store_create(NULL, NULL, &store) != TB_OK) abort();
  declare(store, "i", &(tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_INTEGER}, &ranged);
  declare(store, "a.b", &(tb_ros2_parameter_value_t){.type = TB_ROS2_PARAMETER_BOOL}, NULL);
  declare(store, "a.d",
          &(tb_ros2_parameter_value_t){
              .type = TB_ROS2_PARAMETER_STRING_ARRAY, .items.strings = strings, .count = 2},
          &dynamic);
  return store;
}

/* Everything that can be read of the parameters. */
static void snapshot(tb__parameter_store_t *store, uint8_t **out, size_t *out_size)
{
  static const char *const names[] = {"i", "a.b", "a.d"};
  tb__names_request_t request = {{names, 3}};
  if (tb__parameter_services[0].answer(store, &request, out, out_size) != TB_OK) abort();
}

static void check_rules(tb__parameter_store_t *store)
{
  tb_ros2_parameter_value_t value;
  if (tb__parameter_store_get(store, "i", &value, NULL) != TB_OK) abort();
  if (value.type != TB_ROS2_PARAMETER_INTEGER || value.integer_value < 0 ||
      value.integer_value > 10 || value.integer_value % 2)
    abort();
}

static void check_answer(size_t choice, uint8_t *answer, size_t size)
{
  void *response;
  if (tb__cdr_decode(responses[choice], answer, size, &response) != TB_OK) abort();
  free(response);
  free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0) return 0;
  size_t choice = data[0] % TB__PARAMETER_SERVICE_COUNT, answer_size, before_size, after_size;
  uint8_t *answer = NULL, *before, *after;
  tb_error_t error = TB_ERROR_INIT;
  tb__parameter_store_t *store = store_create();
  snapshot(store, &before, &before_size);
  tb_status_t status = tb__parameter_request_handle(
      &tb__parameter_services[choice], store, data + 1, size - 1, &answer, &answer_size, &error);
  snapshot(store, &after, &after_size);
  if (status == TB_OK)
    check_answer(choice, answer, answer_size);
  else if (answer || error.text[0] == '\0' || before_size != after_size ||
           memcmp(before, after, before_size) != 0)
    abort();
  check_rules(store);
  free(before);
  free(after);
  tb__parameter_store_destroy(store);
  return 0;
}

#include "params/parameter_requests.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define MANY 30000

static const tb__parameter_service_t *service(const char *name)
{
  for (size_t i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    if (strcmp(tb__parameter_services[i].name, name) == 0) return &tb__parameter_services[i];
  }
  fail_msg("no service %s", name);
  return NULL;
}

/* The decoded answer to a request that is encoded in either byte order. */
static tb_status_t call(tb__parameter_store_t *store, const char *name, const void *request,
                        const tb__cdr_type_t *response, void *out)
{
  uint8_t *cdr, *answer = NULL;
  size_t size, answer_size = 0;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__cdr_encode(service(name)->request, request, true, &cdr, &size));
  tb_status_t status =
      tb__parameter_request_handle(service(name), store, cdr, size, &answer, &answer_size, &error);
  free(cdr);
  assert_int_equal(error.status, status);
  if (status == TB_OK) {
    assert_ok(tb__cdr_decode(response, answer, answer_size, out));
  } else {
    assert_null(answer);
    assert_non_null(strstr(error.text, name));
  }
  free(answer);
  return status;
}

static tb__parameter_store_t *store_create(void)
{
  static const tb_ros2_parameter_value_t one = {.type = TB_ROS2_PARAMETER_INTEGER,
                                                .integer_value = 1};
  tb__parameter_store_t *store;
  assert_ok(tb__parameter_store_create(NULL, NULL, &store));
  assert_ok(tb__parameter_store_declare(store, "a", &one, NULL, NULL, NULL));
  assert_ok(tb__parameter_store_declare(store, "b", &one, NULL, NULL, NULL));
  return store;
}

static int64_t integer_of(tb__parameter_store_t *store, const char *name)
{
  tb_ros2_parameter_value_t value;
  assert_ok(tb__parameter_store_get(store, name, &value, NULL));
  assert_int_equal(value.type, TB_ROS2_PARAMETER_INTEGER);
  return value.integer_value;
}

static void test_services_have_their_names(void **state)
{
  (void)state;
  for (size_t i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    const tb__parameter_service_t *entry = &tb__parameter_services[i];
    char request[80];
    snprintf(request, sizeof request, "%s_Request", entry->type);
    assert_string_equal(entry->request->name, request);
  }
}

static void test_invalid_requests_get_no_answer(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  static const uint8_t bad[][12] = {{0}, {0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff}, {0, 7, 0, 0}};
  for (size_t i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; n++) {
      const tb__parameter_service_t *entry = &tb__parameter_services[i];
      uint8_t *answer = NULL;
      size_t size = 5;
      tb_error_t error = TB_ERROR_INIT;
      tb_status_t status = tb__parameter_request_handle(entry, store, bad[n], n == 0 ? 2 : 8,
                                                        &answer, &size, &error);
      assert_true(status != TB_OK);
      assert_int_equal(error.status, status);
      assert_non_null(strstr(error.text, entry->request->name));
      assert_null(answer);
      assert_int_equal(size, 5);
    }
  }
  tb__parameter_store_destroy(store);
}

static void test_refusals_are_results_with_a_reason(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  char long_name[3000];
  memset(long_name, 'x', sizeof long_name);
  for (size_t i = 1; i + 2 < sizeof long_name; i += 2)
    memcpy(long_name + i, "\xc3\xa9", 2);
  long_name[sizeof long_name - 1] = '\0';
  const tb__parameter_t wanted[] = {
      {"a", {.type = TB__PARAMETER_INTEGER, .integer_value = 2}},
      {"a", {.type = 200}},
      {"", {.type = TB__PARAMETER_INTEGER}},
      {"bad \xff\xc3 \n name", {.type = TB__PARAMETER_INTEGER}},
      {long_name, {.type = TB__PARAMETER_INTEGER}},
      {long_name, {.type = 10}},
      {"b", {.type = TB__PARAMETER_STRING}},
      {"b", {.type = TB__PARAMETER_INTEGER, .integer_value = 3}},
  };
  tb__parameters_request_t request = {{wanted, sizeof wanted / sizeof wanted[0]}};
  tb__set_parameters_response_t *response;
  assert_ok(call(store, "set_parameters", &request, &tb__set_parameters_response_type, &response));
  assert_int_equal(response->results.count, request.parameters.count);
  for (size_t i = 0; i < response->results.count; i++) {
    const tb__set_parameters_result_t *result = &response->results.items[i];
    assert_int_equal(result->successful, i == 0 || i == 7);
    assert_int_equal(result->reason[0] == '\0', result->successful);
  }
  assert_non_null(strstr(response->results.items[1].reason, "type 200"));
  assert_non_null(strstr(response->results.items[3].reason, "bad \\xff\\xc3 \\x0a name"));
  /* Cut, and still UTF-8: of the last character nothing is left but an escape. */
  assert_non_null(strstr(response->results.items[4].reason, "\xc3\xa9\\xc3 is not declared"));
  assert_non_null(strstr(response->results.items[5].reason, "\xc3\xa9\\xc3: unknown type 10"));
  assert_int_equal(integer_of(store, "a"), 2);
  assert_int_equal(integer_of(store, "b"), 3);
  free(response);
  tb__parameter_store_destroy(store);
}

static void test_descriptors_are_returned(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  static const tb_ros2_parameter_value_t five = {.type = TB_ROS2_PARAMETER_DOUBLE,
                                                 .double_value = 5};
  static const tb_ros2_parameter_descriptor_t descriptor = {
      .description = "rate",
      .additional_constraints = "in Hz",
      .read_only = true,
      .dynamic_typing = true,
      .has_integer_range = true,
      .integer_from = -1,
      .integer_to = 9,
      .integer_step = 2,
      .has_double_range = true,
      .double_from = -2,
      .double_to = 8,
      .double_step = 0.5,
  };
  static const char *const names[] = {"a", "r"}, *const missing[] = {"a", "none"};
  tb__names_request_t request = {{names, 2}}, undeclared = {{missing, 2}};
  tb__describe_parameters_response_t *response;
  assert_ok(tb__parameter_store_declare(store, "r", &five, &descriptor, NULL, NULL));
  assert_ok(call(store, "describe_parameters", &request, &tb__describe_parameters_response_type,
                 &response));
  assert_int_equal(response->descriptors.count, 2);
  const tb__parameter_descriptor_t *plain = response->descriptors.items, *full = plain + 1;
  assert_string_equal(plain->name, "a");
  assert_int_equal(plain->type, TB__PARAMETER_INTEGER);
  assert_int_equal(plain->integer_range.count + plain->floating_point_range.count, 0);
  assert_true(!plain->read_only && !plain->dynamic_typing && plain->description[0] == '\0');
  assert_string_equal(full->description, "rate");
  assert_string_equal(full->additional_constraints, "in Hz");
  assert_int_equal(full->type, TB__PARAMETER_DOUBLE);
  assert_true(full->read_only && full->dynamic_typing);
  assert_int_equal(full->integer_range.count, 1);
  assert_int_equal(full->integer_range.items[0].from_value, -1);
  assert_int_equal(full->integer_range.items[0].to_value, 9);
  assert_int_equal(full->integer_range.items[0].step, 2);
  assert_int_equal(full->floating_point_range.count, 1);
  assert_true(full->floating_point_range.items[0].step > 0.4);
  free(response);
  assert_ok(call(store, "describe_parameters", &undeclared, &tb__describe_parameters_response_type,
                 &response));
  assert_int_equal(response->descriptors.count, 0);
  free(response);
  tb__parameter_store_destroy(store);
}

static void test_an_undeclared_name_makes_the_answer_empty(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  static const char *const names[] = {"b", "a"}, *const missing[] = {"a", "none"};
  tb__names_request_t request = {{names, 2}}, undeclared = {{missing, 2}};
  tb__get_parameters_response_t *values;
  tb__get_parameter_types_response_t *types;
  assert_ok(call(store, "get_parameters", &request, &tb__get_parameters_response_type, &values));
  assert_int_equal(values->values.count, 2);
  assert_int_equal(values->values.items[1].integer_value, 1);
  free(values);
  assert_ok(call(store, "get_parameters", &undeclared, &tb__get_parameters_response_type, &values));
  assert_int_equal(values->values.count, 0);
  free(values);
  assert_ok(
      call(store, "get_parameter_types", &request, &tb__get_parameter_types_response_type, &types));
  assert_int_equal(types->types.count, 2);
  assert_int_equal(types->types.items[0], TB__PARAMETER_INTEGER);
  free(types);
  assert_ok(call(store, "get_parameter_types", &undeclared, &tb__get_parameter_types_response_type,
                 &types));
  assert_int_equal(types->types.count, 0);
  free(types);
  tb__parameter_store_destroy(store);
}

static void test_atomic_sets_are_all_or_none(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  tb__parameter_t wanted[] = {{"a", {.type = TB__PARAMETER_INTEGER, .integer_value = 2}},
                              {"b", {.type = 200}}};
  tb__parameters_request_t request = {{wanted, 2}};
  tb__set_parameters_atomically_response_t *response;
  for (int round = 0; round < 2; round++) {
    assert_ok(call(store, "set_parameters_atomically", &request,
                   &tb__set_parameters_atomically_response_type, &response));
    assert_int_equal(response->result.successful, round);
    assert_int_equal(response->result.reason[0] != '\0', !round);
    assert_int_equal(integer_of(store, "a"), round ? 2 : 1);
    wanted[1].value.type = TB__PARAMETER_INTEGER;
    free(response);
  }
  assert_int_equal(integer_of(store, "b"), 0);
  tb__parameter_store_destroy(store);
}

static void test_many_names_are_answered(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  const char **names = calloc(MANY, sizeof *names);
  tb__parameter_t *wanted = calloc(MANY, sizeof *wanted);
  assert_non_null(names);
  assert_non_null(wanted);
  for (size_t i = 0; i < MANY; i++) {
    wanted[i].name = names[i] = i % 2 ? "a" : "b";
    wanted[i].value =
        (tb__parameter_value_t){.type = TB__PARAMETER_INTEGER, .integer_value = (int64_t)i};
  }
  tb__names_request_t request = {{names, MANY}};
  tb__list_parameters_request_t list = {{names, MANY}, 1};
  tb__parameters_request_t set = {{wanted, MANY}};
  tb__get_parameters_response_t *values;
  tb__list_parameters_response_t *listed;
  tb__set_parameters_atomically_response_t *result;
  assert_ok(call(store, "get_parameters", &request, &tb__get_parameters_response_type, &values));
  assert_int_equal(values->values.count, MANY);
  free(values);
  assert_ok(call(store, "list_parameters", &list, &tb__list_parameters_response_type, &listed));
  assert_int_equal(listed->result.names.count, 2);
  free(listed);
  assert_ok(call(store, "set_parameters_atomically", &set,
                 &tb__set_parameters_atomically_response_type, &result));
  assert_true(result->result.successful);
  assert_int_equal(integer_of(store, "a"), MANY - 1);
  free(result);
  free(wanted);
  free(names);
  tb__parameter_store_destroy(store);
}

static void test_answers_have_a_bound(void **state)
{
  (void)state;
  tb__parameter_store_t *store = store_create();
  size_t size = 1 << 20;
  tb_ros2_parameter_value_t large = {.type = TB_ROS2_PARAMETER_BYTE_ARRAY, .count = size};
  tb_ros2_parameter_descriptor_t descriptor = {.dynamic_typing = true};
  char *text = calloc(1, size + 1);
  assert_non_null(text);
  large.items.any = text;
  memset(text, 'x', size);
  descriptor.description = text;
  assert_ok(tb__parameter_store_declare(store, "large", &large, &descriptor, NULL, NULL));
  const char *names[100];
  for (size_t i = 0; i < 100; i++)
    names[i] = "large";
  for (size_t count = 2; count <= 100; count += 98) {
    tb__names_request_t request = {{names, count}};
    tb_status_t expected = count == 2 ? TB_OK : TB_ERR_LIMIT;
    void *response = NULL;
    assert_status(
        call(store, "get_parameters", &request, &tb__get_parameters_response_type, &response),
        expected);
    free(response);
    response = NULL;
    assert_status(call(store, "describe_parameters", &request,
                       &tb__describe_parameters_response_type, &response),
                  expected);
    free(response);
    assert_ok(call(store, "get_parameter_types", &request, &tb__get_parameter_types_response_type,
                   &response));
    free(response);
  }
  free(text);
  tb__parameter_store_destroy(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_services_have_their_names),
      cmocka_unit_test(test_invalid_requests_get_no_answer),
      cmocka_unit_test(test_refusals_are_results_with_a_reason),
      cmocka_unit_test(test_descriptors_are_returned),
      cmocka_unit_test(test_an_undeclared_name_makes_the_answer_empty),
      cmocka_unit_test(test_atomic_sets_are_all_or_none),
      cmocka_unit_test(test_many_names_are_answered),
      cmocka_unit_test(test_answers_have_a_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The calls of parameter services that an rclcpp node was given (captures/parameters_rclcpp.json),
 * put to a store with the same parameters: the same answers to the byte, and the same events.
 *
 * What differs, and why:
 *   - reasons of refusals are free text, and clients read `successful` only: ours name the fix;
 *   - rclcpp declares qos_overrides./clock.subscription.* when use_sim_time becomes true, and
 *     publishes events of it: here they are declared from the beginning, as no earlier call reads
 *     them. Declaring them is done by the node, not by the store. */
#include <stdlib.h>
#include <string.h>

#include "captures.h"
#include "params/parameter_requests.h"
#include "params/parameter_value.h"
#include "wire/service_header.h"

#define CALLS    73
#define BYTES    65536
#define ARRAY(x) (x), .count = sizeof(x) / sizeof((x)[0])

static const uint8_t bytes[] = {0, 1, 254, 255};
static const bool bools[] = {true, false, true};
static const int64_t integers[] = {-1, 0, INT64_MAX};
static const double doubles[] = {-0.5, 1e300};
static const char *const strings[] = {"one", "", "three\xc3\xa9"};

#define BOOL(x)                                                                                    \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_BOOL, .bool_value = (x)                                              \
  }
#define INTEGER(x)                                                                                 \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_INTEGER, .integer_value = (x)                                        \
  }
#define DOUBLE(x)                                                                                  \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_DOUBLE, .double_value = (x)                                          \
  }
#define STRING(x)                                                                                  \
  {                                                                                                \
    .type = TB_ROS2_PARAMETER_STRING, .string_value = (x)                                          \
  }

static const struct {
  tb_ros2_parameter_t parameter;
  tb_ros2_parameter_descriptor_t descriptor;
} declared[] = {
    {{"use_sim_time", BOOL(false)}, {0}},
    {{"start_type_description_service", BOOL(true)}, {0}},
    {{"a_bool", BOOL(true)}, {0}},
    {{"an_int", INTEGER(42)}, {0}},
    {{"a_double", DOUBLE(2.5)}, {0}},
    {{"a_string", STRING("hello")}, {0}},
    {{"an_empty_string", STRING("")}, {0}},
    {{"bytes", {.type = TB_ROS2_PARAMETER_BYTE_ARRAY, .items.bytes = ARRAY(bytes)}}, {0}},
    {{"bools", {.type = TB_ROS2_PARAMETER_BOOL_ARRAY, .items.bools = ARRAY(bools)}}, {0}},
    {{"ints", {.type = TB_ROS2_PARAMETER_INTEGER_ARRAY, .items.integers = ARRAY(integers)}}, {0}},
    {{"doubles", {.type = TB_ROS2_PARAMETER_DOUBLE_ARRAY, .items.doubles = ARRAY(doubles)}}, {0}},
    {{"strings", {.type = TB_ROS2_PARAMETER_STRING_ARRAY, .items.strings = ARRAY(strings)}}, {0}},
    {{"empty_ints", {.type = TB_ROS2_PARAMETER_INTEGER_ARRAY}}, {0}},
    {{"ranged.speed", DOUBLE(0.5)},
     {.description = "speed",
      .additional_constraints = "multiples of 0.25",
      .has_double_range = true,
      .double_from = -1,
      .double_to = 2,
      .double_step = 0.25}},
    {{"ranged.count", INTEGER(5)},
     {.description = "count",
      .has_integer_range = true,
      .integer_from = -10,
      .integer_to = 10,
      .integer_step = 5}},
    {{"fixed", INTEGER(7)}, {.description = "fixed", .read_only = true}},
    {{"dyn", INTEGER(3)}, {.dynamic_typing = true}},
    {{"outer.inner.deep", INTEGER(1)}, {0}},
    {{"outer.inner2", INTEGER(2)}, {0}},
    {{"qos_overrides./parameter_events.publisher.depth", INTEGER(1000)}, {0}},
    {{"qos_overrides./parameter_events.publisher.durability", STRING("volatile")}, {0}},
    {{"qos_overrides./parameter_events.publisher.history", STRING("keep_last")}, {0}},
    {{"qos_overrides./parameter_events.publisher.reliability", STRING("reliable")}, {0}},
    {{"qos_overrides./clock.subscription.depth", INTEGER(1)}, {0}},
    {{"qos_overrides./clock.subscription.durability", STRING("volatile")}, {0}},
    {{"qos_overrides./clock.subscription.history", STRING("keep_last")}, {0}},
    {{"qos_overrides./clock.subscription.reliability", STRING("best_effort")}, {0}},
};

/* The node, and where in the captured events it has come to. */
typedef struct replay {
  tb__parameter_store_t *store;
  const char *events; /* NULL while it declares */
  int event_count, calls;
  uint8_t *answer;
  size_t answer_size;
} replay_t;

static tb_status_t refuse_13(const tb_ros2_parameter_t *parameters, size_t count, void *user,
                             tb_error_t *error)
{
  (void)user;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(parameters[i].name, "an_int") == 0 && parameters[i].value.integer_value == 13)
      return tb_error_set(error, TB_ERR_INVALID, "unlucky");
  }
  return TB_OK;
}

/* The next event of a set by the calls; the captured bytes in `cdr`. */
static size_t next_event(replay_t *replay, uint8_t *cdr)
{
  static const char what[] = "\"rclcpp parameter event: ";
  const char *object, *end;
  while ((object = captures_object(replay->events, &end))) {
    replay->events = end;
    const char *text = captures_member(object, end, "what");
    if (strncmp(text, what, sizeof what - 1) == 0 &&
        strncmp(text + sizeof what - 1, "new_", 4) != 0)
      return captures_hex(captures_member(object, end, "cdr_hex") + 1, cdr, BYTES);
  }
  fail_msg("an event that rclcpp did not send");
  return 0;
}

static tb__parameters_t messages_of(const tb_ros2_parameter_t *list, size_t count,
                                    tb__parameter_t *out)
{
  for (size_t i = 0; i < count; i++) {
    out[i].name = list[i].name;
    tb__parameter_value_to_message(&list[i].value, &out[i].value);
  }
  return (tb__parameters_t){out, count};
}

static void check_event(const tb_ros2_parameter_t *added, size_t added_count,
                        const tb_ros2_parameter_t *changed, size_t changed_count,
                        const tb_ros2_parameter_t *deleted, size_t deleted_count, void *user)
{
  replay_t *replay = user;
  static uint8_t cdr[BYTES];
  static tb__parameter_t lists[3][16];
  tb__parameter_event_t *captured;
  if (!replay->events) return;
  size_t size = next_event(replay, cdr), own_size;
  uint8_t *own;
  assert_ok(tb__cdr_decode(&tb__parameter_event_type, cdr, size, &captured));
  tb__parameter_event_t event = {.stamp = captured->stamp, .node = captured->node};
  assert_true(added_count <= 16 && changed_count <= 16 && deleted_count <= 16);
  event.new_parameters = messages_of(added, added_count, lists[0]);
  event.changed_parameters = messages_of(changed, changed_count, lists[1]);
  event.deleted_parameters = messages_of(deleted, deleted_count, lists[2]);
  assert_ok(tb__cdr_encode(&tb__parameter_event_type, &event, false, &own, &own_size));
  assert_int_equal(own_size, size);
  assert_memory_equal(own, cdr, size);
  replay->event_count++;
  free(own);
  free(captured);
}

static void node_create(replay_t *replay)
{
  static const tb__parameter_store_hooks_t hooks = {refuse_13, NULL, check_event, NULL};
  assert_ok(tb__parameter_store_create(&hooks, replay, &replay->store));
  for (size_t i = 0; i < sizeof declared / sizeof declared[0]; i++)
    assert_ok(tb__parameter_store_declare(replay->store, declared[i].parameter.name,
                                          &declared[i].parameter.value, &declared[i].descriptor,
                                          NULL, NULL));
}

static const tb__parameter_service_t *service_of(const char *topic, const char *direction)
{
  static const char prefix[] = "/golden/param_host/";
  const char *name = strstr(topic, prefix);
  assert_non_null(name);
  name += sizeof prefix - 1;
  for (size_t i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    const char *known = tb__parameter_services[i].name;
    if (strncmp(name, known, strlen(known)) == 0 &&
        strncmp(name + strlen(known), direction, strlen(direction)) == 0)
      return &tb__parameter_services[i];
  }
  fail_msg("no such service: %.60s", topic);
  return NULL;
}

/* Puts the captured reasons in place of ours, which must be there where they are. */
static void results_adopt(tb__set_parameters_result_t *own,
                          const tb__set_parameters_result_t *captured, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(own[i].successful, captured[i].successful);
    assert_int_equal(own[i].reason[0] == '\0', own[i].successful);
    own[i].reason = captured[i].reason;
  }
}

static void reasons_adopt(replay_t *replay, const tb__cdr_type_t *type, const uint8_t *cdr,
                          size_t size)
{
  void *own, *captured;
  assert_ok(tb__cdr_decode(type, replay->answer, replay->answer_size, &own));
  assert_ok(tb__cdr_decode(type, cdr, size, &captured));
  if (type == &tb__set_parameters_response_type) {
    tb__set_parameters_response_t *results = own;
    const tb__set_parameters_response_t *expected = captured;
    assert_int_equal(results->results.count, expected->results.count);
    results_adopt((void *)(uintptr_t)results->results.items, expected->results.items,
                  results->results.count);
  } else {
    tb__set_parameters_atomically_response_t *result = own;
    const tb__set_parameters_atomically_response_t *expected = captured;
    results_adopt(&result->result, &expected->result, 1);
  }
  free(replay->answer);
  assert_ok(tb__cdr_encode(type, own, false, &replay->answer, &replay->answer_size));
  free(own);
  free(captured);
}

static void reply_check(replay_t *replay, const char *topic, const uint8_t *cdr, size_t size)
{
  const tb__parameter_service_t *service = service_of(topic, "Reply");
  if (strcmp(service->name, "set_parameters") == 0)
    reasons_adopt(replay, &tb__set_parameters_response_type, cdr, size);
  if (strcmp(service->name, "set_parameters_atomically") == 0)
    reasons_adopt(replay, &tb__set_parameters_atomically_response_type, cdr, size);
  assert_int_equal(replay->answer_size, size);
  assert_memory_equal(replay->answer, cdr, size);
  free(replay->answer);
  replay->answer = NULL;
  replay->calls++;
}

static void object_replay(replay_t *replay, const char *object, const char *end)
{
  static uint8_t cdr[BYTES], body[BYTES];
  const char *kind = captures_member(object, end, "kind");
  const char *topic = captures_member(object, end, "topic");
  bool is_request = strncmp(kind, "\"request\"", 9) == 0;
  if (!is_request && strncmp(kind, "\"reply\"", 7) != 0) return;
  size_t size = captures_hex(captures_member(object, end, "cdr_hex") + 1, cdr, sizeof cdr);
  tb__service_header_remove(cdr, size, body);
  size -= TB__SERVICE_HEADER_SIZE;
  if (!is_request) {
    assert_non_null(replay->answer);
    reply_check(replay, topic, body, size);
    return;
  }
  assert_null(replay->answer);
  assert_ok(tb__parameter_request_handle(service_of(topic, "Request"), replay->store, body, size,
                                         &replay->answer, &replay->answer_size, NULL));
}

static void test_a_node_of_rclcpp_is_replayed(void **state)
{
  (void)state;
  char *calls = captures_read("parameters_rclcpp.json");
  char *events = captures_read("parameter_events.json");
  replay_t replay = {0};
  const char *end = calls;
  node_create(&replay);
  replay.events = events;
  for (const char *object; (object = captures_object(end, &end));)
    object_replay(&replay, object, end);
  assert_int_equal(replay.calls, CALLS);
  assert_int_equal(replay.event_count, 27);
  tb__parameter_store_destroy(replay.store);
  free(events);
  free(calls);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_node_of_rclcpp_is_replayed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

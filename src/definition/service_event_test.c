/* Events of services as recorders define them, and the requests in them. */
#include "definition/service_event.h"

#include <stdlib.h>
#include <string.h>

#include "definition/parse.h"
#include "test.h"

#define RULE "================================================================================\n"

static const char service_text[] =
    RULE "SRV: p/srv/Go\n"
         "uint8 a\nfloat64 b\nstring[] c\np/Part[] d\nwstring e\n"
         "uint64[] none\n---\nbool ok\n\n" RULE "MSG: p/Part\nuint8 x\nint64 y\n";

typedef struct bytes {
  uint8_t at[1024];
  size_t size;
  bool big_endian;
} bytes_t;

static void put(bytes_t *bytes, uint64_t bits, size_t width)
{
  while ((bytes->size - 4) % width != 0)
    bytes->at[bytes->size++] = 0;
  for (size_t i = 0; i < width; i++)
    bytes->at[bytes->size++] = (uint8_t)(bits >> (8 * (bytes->big_endian ? width - 1 - i : i)));
}

static void put_text(bytes_t *bytes, const char *text)
{
  put(bytes, strlen(text) + 1, 4);
  for (size_t i = 0; i <= strlen(text); i++)
    put(bytes, (uint8_t)text[i], 1);
}

static void put_request(bytes_t *bytes)
{
  put(bytes, 7, 1);
  put(bytes, 0x3ff8000000000000u, 8);
  put(bytes, 2, 4);
  put_text(bytes, "ab");
  put_text(bytes, "");
  put(bytes, 1, 4);
  put(bytes, 9, 1);
  put(bytes, 0x0102030405060708u, 8);
  put(bytes, 2, 4); /* wide characters */
  put(bytes, 'x', 4);
  put(bytes, 'y', 4);
  put(bytes, 0, 4);
}

static void begin(bytes_t *bytes, bool big_endian)
{
  *bytes = (bytes_t){.size = 4, .big_endian = big_endian};
  bytes->at[1] = !big_endian;
}

static void put_event(bytes_t *bytes, uint8_t type, bool has_request, bool has_response)
{
  put(bytes, type, 1);
  put(bytes, 5, 4);
  put(bytes, 6, 4);
  for (int i = 0; i < 16; i++)
    put(bytes, (uint64_t)i, 1);
  put(bytes, 3, 8);
  put(bytes, has_request, 4);
  if (has_request) put_request(bytes);
  put(bytes, has_response, 4);
  if (has_response) put(bytes, 1, 1);
}

static tb__schema_t *parse(const char *type, const char *text)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__schema_parse(type, "ros2msg", text, strlen(text), &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

static void test_requests_of_a_recorded_service(void **state)
{
  (void)state;
  tb__schema_t *schema = parse("p/srv/Go_Event", service_text);
  tb__service_event_t *event = NULL;
  assert_ok(tb__service_event_create(schema, &event, NULL));
  for (int big_endian = 0; big_endian < 2; big_endian++) {
    bytes_t recorded, expected;
    const void *request = NULL;
    size_t size = 0;
    int type = -1;
    begin(&recorded, big_endian);
    put_event(&recorded, 1, true, false);
    begin(&expected, big_endian);
    put_request(&expected);
    assert_ok(
        tb__service_event_read(event, recorded.at, recorded.size, &type, &request, &size, NULL));
    assert_int_equal(type, TB__SERVICE_REQUEST_RECEIVED);
    assert_int_equal(size, expected.size);
    assert_memory_equal(request, expected.at, size);
    begin(&recorded, big_endian);
    put_event(&recorded, 2, false, true);
    assert_ok(
        tb__service_event_read(event, recorded.at, recorded.size, &type, &request, &size, NULL));
    assert_int_equal(type, TB__SERVICE_RESPONSE_SENT);
    assert_null(request);
    recorded.size -= 9;
    tb_error_t error = TB_ERROR_INIT;
    assert_status(
        tb__service_event_read(event, recorded.at, recorded.size, &type, &request, &size, &error),
        TB_ERR_TRUNCATED);
  }
  tb__service_event_destroy(event);
  tb__schema_destroy(schema);
}

/* As a node describes the event itself, of a request without fields. */
static void test_a_described_event(void **state)
{
  (void)state;
  static const char text[] =
      "service_msgs/msg/ServiceEventInfo info\np/srv/T_Request[<=1] request\n"
      "p/srv/T_Response[<=1] response\n" RULE "MSG: builtin_interfaces/msg/Time\nint32 sec\n"
      "uint32 nanosec\n" RULE
      "MSG: p/srv/T_Request\nuint8 structure_needs_at_least_one_member\n" RULE
      "MSG: p/srv/T_Response\nbool ok\n" RULE "MSG: service_msgs/msg/ServiceEventInfo\n"
      "uint8 event_type\nbuiltin_interfaces/msg/Time stamp\nchar[16] client_gid\n"
      "int64 sequence_number\n";
  tb__schema_t *described = parse("p/srv/T_Event", text);
  tb__schema_t *recorded = parse("p/srv/T_Event", RULE "SRV: p/srv/T\n---\nbool ok\n");
  static const char alone[] = RULE "SRV: p/srv/T\n---\nbool ok\n";
  tb__schema_t *unknown = NULL; /* as rosbag2 of jazzy names the encoding */
  assert_ok(tb__schema_parse("p/srv/T_Event", "unknown", alone, strlen(alone), &unknown, NULL));
  tb__schema_t *const schemas[] = {described, recorded, unknown};
  for (int i = 0; i < 3; i++) {
    tb__service_event_t *event = NULL;
    bytes_t bytes;
    const void *request = NULL;
    size_t size = 0;
    int type = -1;
    assert_ok(tb__service_event_create(schemas[i], &event, NULL));
    begin(&bytes, false);
    put_event(&bytes, 0, false, false);
    bytes.at[bytes.size - 8] = 1; /* a request of one byte: */
    bytes.size -= 4;
    put(&bytes, 0, 1);
    put(&bytes, 0, 4);
    assert_ok(tb__service_event_read(event, bytes.at, bytes.size, &type, &request, &size, NULL));
    assert_int_equal(type, TB__SERVICE_REQUEST_SENT);
    assert_int_equal(size, 5);
    assert_memory_equal(request, "\0\1\0\0\0", 5);
    tb__service_event_destroy(event);
  }
  tb__schema_destroy(described);
  tb__schema_destroy(recorded);
  tb__schema_destroy(unknown);
}

static void test_what_is_no_event(void **state)
{
  (void)state;
  tb__schema_t *schema = parse("p/msg/T", "uint8 info\n");
  tb__service_event_t *event = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__service_event_create(schema, &event, &error), TB_ERR_UNSUPPORTED);
  assert_string_equal(error.text, "p/msg/T is not the event of a service");
  tb__schema_destroy(schema);
  schema = NULL;
  static const char message[] = RULE "MSG: p/msg/T\nint8 a\n---\nint8 b\n";
  assert_status(tb__schema_parse("p/msg/T", "ros2msg", message, sizeof message - 1, &schema, NULL),
                TB_ERR_UNSUPPORTED);
}

#define ACTION                                                                                     \
  RULE "ACTION: p/action/Go\n"                                                                     \
       "p/Part[] d\nfloat64 b\n---\nbuiltin_interfaces/Time[] at\n---\nstring done\n\n" RULE       \
       "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n" RULE                            \
       "MSG: p/Part\nuint8 x\nint64 y\n"

static void put_id(bytes_t *bytes)
{
  for (int i = 0; i < 16; i++)
    put(bytes, (uint64_t)(100 + i), 1);
}

static void put_goal(bytes_t *bytes)
{
  put_id(bytes);
  put(bytes, 1, 4);
  put(bytes, 9, 1);
  put(bytes, 8, 8);
  put(bytes, 0x3ff8000000000000u, 8);
}

static void put_event_head(bytes_t *bytes)
{
  put(bytes, 1, 1);
  put(bytes, 5, 4);
  put(bytes, 6, 4);
  for (int i = 0; i < 16; i++)
    put(bytes, (uint64_t)i, 1);
  put(bytes, 3, 8);
  put(bytes, 1, 4);
}

static void check_request(const char *type, const char *text, void (*put_it)(bytes_t *bytes))
{
  tb__schema_t *schema = parse(type, text);
  tb__service_event_t *event = NULL;
  bytes_t recorded, expected;
  const void *request = NULL;
  size_t size = 0;
  int kind = -1;
  assert_ok(tb__service_event_create(schema, &event, NULL));
  begin(&recorded, false);
  put_event_head(&recorded);
  put_it(&recorded);
  put(&recorded, 0, 4);
  begin(&expected, false);
  put_it(&expected);
  assert_ok(
      tb__service_event_read(event, recorded.at, recorded.size, &kind, &request, &size, NULL));
  assert_int_equal(size, expected.size);
  assert_memory_equal(request, expected.at, size);
  tb__service_event_destroy(event);
  tb__schema_destroy(schema);
}

static void test_messages_of_a_recorded_action(void **state)
{
  (void)state;
  check_request("p/action/Go_SendGoal_Event", ACTION, put_goal);
  check_request("p/action/Go_GetResult_Event", ACTION, put_id);
  tb__schema_t *feedback = parse("p/action/Go_FeedbackMessage", ACTION);
  assert_non_null(tb__schema_find_field(feedback, feedback->root, "goal_id", 7));
  assert_non_null(tb__schema_find_field(feedback, feedback->root, "feedback", 8));
  tb__schema_destroy(feedback);
  tb__schema_t *schema = NULL;
  static const char *const wrong[] = {RULE "ACTION: p/action/Go\n---\n---\n---\n",
                                      RULE "ACTION: p/action/Go\n---\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_not_equal(tb__schema_parse("p/action/Go_FeedbackMessage", "ros2msg", wrong[i],
                                          strlen(wrong[i]), &schema, NULL),
                         TB_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_requests_of_a_recorded_service),
      cmocka_unit_test(test_a_described_event),
      cmocka_unit_test(test_messages_of_a_recorded_action),
      cmocka_unit_test(test_what_is_no_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

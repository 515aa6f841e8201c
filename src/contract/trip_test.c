/* An output that trips: its values as a manifest writes them, and since when it has. */
#include "contract/trip.h"

#include <string.h>

#include "definition/parse.h"
#include "test.h"

static const char *const definition = "bool stop\nint32 level\nfloat32 speed\nstring word\n"
                                      "int8[] list\nwstring wide\n";

/* true, -2, 0.5, "STOP", and nothing. */
static const uint8_t bytes[] = {0, 1, 0, 0,    1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff,
                                0, 0, 0, 0x3f, 5, 0, 0, 0, 'S',  'T',  'O',  'P',
                                0, 0, 0, 0,    0, 0, 0, 0, 0,    0,    0};

static tb__schema_t *schema_make(void)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__schema_parse("p/msg/T", "ros2msg", definition, strlen(definition), &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

static void test_values(void **state)
{
  (void)state;
  static const struct {
    const char *field, *value;
    bool is;
  } cases[] = {
      {"stop", "true", true},  {"stop", "1", true},     {"stop", "false", false},
      {"level", "-2", true},   {"level", "2", false},   {"level", "true", false},
      {"speed", "0.5", true},  {"speed", "0.50", true}, {"speed", "0.51", false},
      {"word", "STOP", true},  {"word", "STO", false},  {"word", "STOPS", false},
      {"level", "-2x", false}, {"level", "", false},    {"speed", "inf", false},
      {"list[3]", "1", false},
  };
  tb__schema_t *schema = schema_make();
  tb__message_t message;
  assert_ok(tb__message_open(&message, schema, bytes, sizeof bytes));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb__field_path_t *field = NULL;
    assert_ok(tb__field_path_create(schema, cases[i].field, &field, NULL));
    if (tb__trip_is_value(field, &message, cases[i].value) != cases[i].is)
      fail_msg("%s: %s", cases[i].field, cases[i].value);
    tb__field_path_destroy(field);
  }
  tb__schema_destroy(schema);
}

/* A message that ends early has no value. */
static void test_cut_messages(void **state)
{
  (void)state;
  tb__schema_t *schema = schema_make();
  tb__field_path_t *field = NULL;
  tb__message_t message;
  assert_ok(tb__field_path_create(schema, "word", &field, NULL));
  for (size_t size = 4; size < 25; size++) {
    assert_ok(tb__message_open(&message, schema, bytes, size));
    assert_false(tb__trip_is_value(field, &message, "STOP"));
  }
  tb__field_path_destroy(field);
  tb__schema_destroy(schema);
}

static void test_what_a_field_can_be(void **state)
{
  (void)state;
  static const struct {
    const char *field, *value;
    tb_status_t status;
  } cases[] = {
      {"stop", "true", TB_OK},
      {"word", "true", TB_OK},
      {"level", "2", TB_OK},
      {"list[0]", "2", TB_OK},
      {"level", "STOP", TB_ERR_INVALID},
      {"list", "2", TB_ERR_INVALID},
      {"wide", "2", TB_ERR_INVALID},
  };
  tb__schema_t *schema = schema_make();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb__field_path_t *field = NULL;
    assert_ok(tb__field_path_create(schema, cases[i].field, &field, NULL));
    assert_int_equal(tb__trip_check(field, cases[i].value, NULL), cases[i].status);
    tb__field_path_destroy(field);
  }
  tb__schema_destroy(schema);
}

static void test_since_when(void **state)
{
  (void)state;
  tb__trip_t trip = {0};
  tb__trip_feed(&trip, false, 10);
  tb__trip_feed(&trip, false, 20);
  assert_false(trip.is_tripped);
  assert_int_equal(trip.since_ns, 10);
  tb__trip_feed(&trip, true, 30);
  tb__trip_feed(&trip, true, 40);
  assert_true(trip.is_tripped);
  assert_int_equal(trip.since_ns, 30);
  assert_int_equal(trip.messages, 4);
  tb__trip_feed(&trip, false, 50);
  assert_int_equal(trip.since_ns, 50);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_cut_messages),
      cmocka_unit_test(test_what_a_field_can_be),
      cmocka_unit_test(test_since_when),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "wire/messages.h"

#include <stdlib.h>
#include <string.h>

#include "counted_allocations.h"
#include "test.h"

typedef struct vector {
  const tb__cdr_type_t *type;
  const char *little, *big;
} vector_t;

static const vector_t vectors[] = {
#define VECTOR(name, little, big) {&tb__##name##_type, little, big},
#include "message_vectors.inc"
#undef VECTOR
};
#define VECTOR_COUNT (sizeof vectors / sizeof vectors[0])

/* In memory of the exact size, so that sanitizers see a read past the end. */
static uint8_t *bytes_of(const char *hex, size_t *out_size)
{
  size_t size = strlen(hex) / 2;
  uint8_t *bytes = malloc(size);
  assert_non_null(bytes);
  for (size_t i = 0; i < size; i++) {
    unsigned byte;
    assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
    bytes[i] = (uint8_t)byte;
  }
  *out_size = size;
  return bytes;
}

static const vector_t *vector_of(const tb__cdr_type_t *type)
{
  for (size_t i = 0; i < VECTOR_COUNT; i++) {
    if (vectors[i].type == type) return &vectors[i];
  }
  fail_msg("no vector of %s", type->name);
  return NULL;
}

static void decode(const tb__cdr_type_t *type, const char *hex, void *out)
{
  size_t size;
  uint8_t *bytes = bytes_of(hex, &size);
  assert_ok(tb__cdr_decode(type, bytes, size, out));
  free(bytes);
}

static void assert_encodes(const tb__cdr_type_t *type, const void *value, bool big, const char *hex)
{
  size_t size, expected_size;
  uint8_t *bytes, *expected = bytes_of(hex, &expected_size);
  assert_ok(tb__cdr_encode(type, value, big, &bytes, &size));
  assert_int_equal(size, expected_size);
  assert_memory_equal(bytes, expected, size);
  free(bytes);
  free(expected);
}

static void test_every_type_has_a_vector(void **state)
{
  (void)state;
  static const struct {
    const tb__cdr_type_t *type;
    const char *name;
    size_t size;
  } types[] = {
#define ROW(name, ros_name, struct_type) {&tb__##name##_type, ros_name, sizeof(struct_type)},
      TB__MESSAGE_LIST(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    assert_string_equal(types[i].type->name, types[i].name);
    assert_int_equal(types[i].type->size, types[i].size);
    vector_of(types[i].type);
  }
}

static void test_vectors_both_ways_in_both_byte_orders(void **state)
{
  (void)state;
  for (size_t i = 0; i < VECTOR_COUNT; i++) {
    void *value;
    for (int big = 0; big < 2; big++) {
      decode(vectors[i].type, big ? vectors[i].big : vectors[i].little, &value);
      assert_encodes(vectors[i].type, value, false, vectors[i].little);
      assert_encodes(vectors[i].type, value, true, vectors[i].big);
      free(value);
    }
  }
}

static void test_cut_messages_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < VECTOR_COUNT; i++) {
    size_t size;
    uint8_t *bytes = bytes_of(vectors[i].little, &size);
    for (size_t cut = 0; cut <= size - 4; cut++) {
      void *value = bytes, *copy = malloc(cut ? cut : 1);
      assert_non_null(copy);
      memcpy(copy, bytes, cut);
      assert_status(tb__cdr_decode(vectors[i].type, copy, cut, &value), TB_ERR_TRUNCATED);
      assert_ptr_equal(value, bytes);
      free(copy);
    }
    free(bytes);
  }
}

static void test_bytes_after_the_message_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < VECTOR_COUNT; i++) {
    size_t size;
    void *value = NULL;
    uint8_t *bytes = bytes_of(vectors[i].little, &size), *longer = calloc(1, size + 4);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    assert_status(tb__cdr_decode(vectors[i].type, longer, size + 4, &value), TB_ERR_CORRUPT);
    assert_null(value);
    free(longer);
    free(bytes);
  }
}

static void assert_refused(const tb__cdr_type_t *type, const char *hex, tb_status_t status)
{
  size_t size;
  void *value = NULL;
  uint8_t *bytes = bytes_of(hex, &size);
  allocations_begin();
  tb_status_t decoded = tb__cdr_decode(type, bytes, size, &value);
  assert_int_equal(allocations_end(), 0);
  assert_status(decoded, status);
  assert_null(value);
  free(bytes);
}

static void test_lengths_beyond_the_message_allocate_nothing(void **state)
{
  (void)state;
  assert_refused(&tb__get_parameters_request_type, "00010000ffffffff0000000000000000",
                 TB_ERR_TRUNCATED);
  assert_refused(&tb__get_parameters_request_type, "0001000001000000ffffffff00000000",
                 TB_ERR_TRUNCATED);
  assert_refused(&tb__get_parameters_response_type, "0001000002000000ffffffff00000000",
                 TB_ERR_TRUNCATED);
  assert_refused(&tb__get_parameter_types_response_type, "00010000ffffffff00", TB_ERR_TRUNCATED);
  assert_refused(&tb__get_parameters_request_type, "00010000010000000300000061626300",
                 TB_ERR_CORRUPT);
  assert_refused(&tb__get_parameters_request_type, "00010000010000000300000061000000",
                 TB_ERR_INVALID);
}

static void test_a_message_is_one_block(void **state)
{
  (void)state;
  for (size_t i = 0; i < VECTOR_COUNT; i++) {
    size_t size;
    void *value;
    uint8_t *bytes = bytes_of(vectors[i].little, &size);
    allocations_begin();
    tb_status_t decoded = tb__cdr_decode(vectors[i].type, bytes, size, &value);
    assert_int_equal(allocations_end(), 1);
    assert_ok(decoded);
    free(value);
    free(bytes);
  }
}

static void test_parameters_are_read(void **state)
{
  (void)state;
  tb__parameters_request_t *request;
  decode(&tb__set_parameters_request_type, vector_of(&tb__set_parameters_request_type)->little,
         &request);
  assert_int_equal(request->parameters.count, 2);
  assert_string_equal(request->parameters.items[0].name, "use_sim_time");
  assert_int_equal(request->parameters.items[0].value.type, TB__PARAMETER_BOOL);
  assert_true(request->parameters.items[0].value.bool_value);
  assert_string_equal(request->parameters.items[0].value.string_value, "");
  assert_int_equal(request->parameters.items[0].value.integer_array_value.count, 0);
  const tb__parameter_value_t *value = &request->parameters.items[1].value;
  assert_int_equal(value->type, TB__PARAMETER_STRING_ARRAY);
  assert_true(value->integer_value == -2 && value->double_value == 0.5);
  assert_string_equal(value->string_value, "x");
  assert_int_equal(value->byte_array_value.count, 2);
  assert_int_equal(value->byte_array_value.items[1], 255);
  assert_int_equal(value->bool_array_value.count, 3);
  assert_true(value->bool_array_value.items[0] && !value->bool_array_value.items[1]);
  assert_true(value->integer_array_value.items[1] == INT64_C(1) << 62);
  assert_true(value->double_array_value.items[1] == 1e300);
  assert_string_equal(value->string_array_value.items[0], "");
  assert_string_equal(value->string_array_value.items[1], "ab");
  free(request);
}

static void test_descriptors_are_read(void **state)
{
  (void)state;
  tb__describe_parameters_response_t *response;
  decode(&tb__describe_parameters_response_type,
         vector_of(&tb__describe_parameters_response_type)->big, &response);
  assert_int_equal(response->descriptors.count, 2);
  const tb__parameter_descriptor_t *speed = &response->descriptors.items[0];
  assert_string_equal(speed->description, "how fast");
  assert_true(speed->dynamic_typing && !speed->read_only);
  assert_int_equal(speed->floating_point_range.count, 1);
  assert_true(speed->floating_point_range.items[0].step == 0.25);
  const tb__parameter_descriptor_t *n = &response->descriptors.items[1];
  assert_string_equal(n->additional_constraints, "c");
  assert_true(n->integer_range.items[0].from_value == -5);
  assert_true(n->integer_range.items[0].step == UINT64_C(1) << 63);
  free(response);
}

static void assert_info(const tb__cdr_type_t *type, bool expect_humble)
{
  tb__participant_entities_info_t *info;
  bool humble = !expect_humble;
  size_t size;
  uint8_t *bytes = bytes_of(vector_of(type)->little, &size);
  assert_ok(tb__participant_entities_info_decode(bytes, size, &info, &humble));
  assert_true(humble == expect_humble);
  assert_int_equal(info->gid.data[1], 16);
  assert_int_equal(info->node_entities_info_seq.count, 2);
  const tb__node_entities_info_t *node = info->node_entities_info_seq.items;
  assert_string_equal(node[0].node_namespace, "/");
  assert_int_equal(node[0].reader_gid_seq.count, 1);
  assert_int_equal(node[0].writer_gid_seq.count, 2);
  assert_int_equal(node[0].writer_gid_seq.items[1].data[2], 60);
  assert_int_equal(node[0].writer_gid_seq.items[1].data[16], 0);
  assert_string_equal(node[1].node_name, "bcd");
  free(info);
  free(bytes);
}

static void test_both_forms_of_discovery_info_are_distinguished(void **state)
{
  (void)state;
  assert_info(&tb__participant_entities_info_type, false);
  assert_info(&tb__participant_entities_info_humble_type, true);
  tb__participant_entities_info_t no_node = {.gid.data = {1, 16}};
  for (int i = 0; i < 2; i++) {
    tb__participant_entities_info_t *info;
    uint8_t *bytes;
    size_t size;
    bool humble = i == 0;
    assert_ok(tb__cdr_encode(i ? &tb__participant_entities_info_humble_type
                               : &tb__participant_entities_info_type,
                             &no_node, false, &bytes, &size));
    assert_int_equal(size, i ? 32 : 24);
    assert_ok(tb__participant_entities_info_decode(bytes, size, &info, &humble));
    assert_true(humble == (i == 1));
    assert_int_equal(info->node_entities_info_seq.count, 0);
    bool untouched = humble;
    assert_status(tb__participant_entities_info_decode(bytes, size - 4, &info, &humble),
                  i ? TB_ERR_CORRUPT : TB_ERR_TRUNCATED);
    assert_true(humble == untouched);
    free(info);
    free(bytes);
  }
}

static void assert_not_encoded(const tb__cdr_type_t *type, const void *value)
{
  uint8_t *bytes = NULL;
  size_t size = 5;
  assert_status(tb__cdr_encode(type, value, false, &bytes, &size), TB_ERR_LIMIT);
  assert_null(bytes);
  assert_int_equal(size, 5);
}

static void test_bounds_of_types_hold_both_ways(void **state)
{
  (void)state;
  static const tb__integer_range_t ranges[2];
  tb__parameter_descriptor_t descriptor = {.integer_range = {ranges, 2}};
  assert_not_encoded(&tb__describe_parameters_response_type,
                     &(tb__describe_parameters_response_t){{&descriptor, 1}});
  descriptor.integer_range.count = 1;
  uint8_t *bytes;
  size_t size;
  void *value = NULL;
  assert_ok(tb__cdr_encode(&tb__describe_parameters_response_type,
                           &(tb__describe_parameters_response_t){{&descriptor, 1}}, false, &bytes,
                           &size));
  assert_int_equal(bytes[36], 1); /* the count of integer ranges */
  free(bytes);

  char name[258] = "";
  memset(name, 'n', 257);
  tb__node_entities_info_t node = {"/", name, {0}, {0}};
  tb__participant_entities_info_t info = {.node_entities_info_seq = {&node, 1}};
  assert_not_encoded(&tb__participant_entities_info_type, &info);
  name[256] = '\0';
  assert_ok(tb__cdr_encode(&tb__participant_entities_info_type, &info, false, &bytes, &size));
  assert_ok(tb__cdr_decode(&tb__participant_entities_info_type, bytes, size, &value));
  free(value);
  free(bytes);
  /* Two ranges, and more bytes of a name than there may be, come from others only. */
  assert_refused(&tb__describe_parameters_response_type,
                 "0001000001000000010000000000000001000000000000000100000000000000"
                 "02000000000000000000000000000000000000000000000000000000000000000000"
                 "0000000000000000000000000000000000000000000000000000",
                 TB_ERR_LIMIT);
}

static void test_bools_are_true_or_false_whatever_was_sent(void **state)
{
  (void)state;
  tb__set_parameters_atomically_response_t *response;
  decode(&tb__set_parameters_atomically_response_type, "00010000020000000100000000000000",
         &response);
  assert_true(response->result.successful);
  assert_encodes(&tb__set_parameters_atomically_response_type, response, false,
                 "00010000010000000100000000000000");
  free(response);
}

static void test_a_zero_struct_is_a_message(void **state)
{
  (void)state;
  assert_encodes(&tb__get_simulation_state_response_type, &(tb__get_simulation_state_response_t){0},
                 false, "00010000000000000100000000000000");
  assert_encodes(&tb__get_simulator_features_request_type, &(tb__empty_message_t){0}, false,
                 "0001000000000000");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type_has_a_vector),
      cmocka_unit_test(test_vectors_both_ways_in_both_byte_orders),
      cmocka_unit_test(test_cut_messages_are_refused),
      cmocka_unit_test(test_bytes_after_the_message_are_refused),
      cmocka_unit_test(test_lengths_beyond_the_message_allocate_nothing),
      cmocka_unit_test(test_a_message_is_one_block),
      cmocka_unit_test(test_parameters_are_read),
      cmocka_unit_test(test_descriptors_are_read),
      cmocka_unit_test(test_both_forms_of_discovery_info_are_distinguished),
      cmocka_unit_test(test_bounds_of_types_hold_both_ways),
      cmocka_unit_test(test_bools_are_true_or_false_whatever_was_sent),
      cmocka_unit_test(test_a_zero_struct_is_a_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

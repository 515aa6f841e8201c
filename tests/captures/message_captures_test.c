/* Every message and service captured from ROS 2 of a type that we support: our decoder must read
 * the values that ROS's own reads, and our encoder write the bytes that ROS's writes. */
#include <stdlib.h>
#include <string.h>

#include "captures.h"
#include "wire/messages.h"
#include "wire/names.h"
#include "wire/service_header.h"

static const tb__cdr_type_t *const types[] = {
#define TYPE(name, ros_name, struct_type) &tb__##name##_type,
    TB__MESSAGE_LIST(TYPE)
#undef TYPE
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

static int checked[TYPE_COUNT];

/* Moves past `token`, which must come next, after any blanks. */
static void take(const char **at, const char *token)
{
  *at += strspn(*at, " \n,:");
  if (strncmp(*at, token, strlen(token)) != 0) fail_msg("expected %s at: %.60s", token, *at);
  *at += strlen(token);
}

static void check_key(const char **at, const char *name)
{
  char key[80];
  snprintf(key, sizeof key, "\"%s\"", name);
  take(at, key);
  take(at, "");
}

/* A character of a JSON string, as UTF-8. */
static size_t character_read(const char **at, char out[4])
{
  if (**at != '\\') return out[0] = *(*at)++, 1;
  char kind = (*at)[1];
  *at += 2;
  if (kind != 'u') {
    const char *known = strchr("n\nt\tr\r\"\"\\\\//", kind);
    assert_non_null(known);
    return out[0] = known[1], 1;
  }
  unsigned code;
  assert_int_equal(sscanf(*at, "%4x", &code), 1);
  assert_true(code < 0xd800); /* no captured text has more */
  *at += 4;
  if (code < 0x80) return out[0] = (char)code, 1;
  size_t size = 0;
  if (code >= 0x800) {
    out[size++] = (char)(0xe0 | code >> 12);
    out[size++] = (char)(0x80 | (code >> 6 & 0x3f));
  } else {
    out[size++] = (char)(0xc0 | code >> 6);
  }
  out[size++] = (char)(0x80 | (code & 0x3f));
  return size;
}

static void check_string(const char **at, const char *text)
{
  take(at, "\"");
  while (**at != '"') {
    char character[4];
    size_t size = character_read(at, character);
    if (memcmp(text, character, size) != 0) fail_msg("read \"%s\" at: %.60s", text, *at);
    text += size;
  }
  (*at)++;
  assert_string_equal(text, "");
}

static void check_integer(const char **at, const tb__cdr_field_t *field, const void *value)
{
  char *end;
  uint64_t bits = 0;
  memcpy(&bits, value, field->size); /* little endian, as are the captures */
  take(at, "");
  if (field->kind == TB__CDR_UINT) {
    assert_true(strtoull(*at, &end, 10) == bits);
  } else {
    int shift = 64 - 8 * (int)field->size;
    assert_true(strtoll(*at, &end, 10) == (int64_t)(bits << shift) >> shift);
  }
  assert_true(end != *at);
  *at = end;
}

static void check_double(const char **at, const double *value)
{
  char *end;
  take(at, "");
  double expected = strtod(*at, &end);
  assert_true(end != *at);
  assert_true(expected == *value || (expected != expected && *value != *value));
  *at = end;
}

static void check_octets(const char **at, const uint8_t *octets, size_t size)
{
  uint8_t expected[64];
  take(at, "\"");
  assert_int_equal(captures_hex(*at, expected, sizeof expected), size);
  assert_memory_equal(octets, expected, size);
  *at += 2 * size;
  take(at, "\"");
}

static void check_struct(const char **at, const tb__cdr_type_t *type, const uint8_t *value);

static void check_element(const char **at, const tb__cdr_field_t *field, const uint8_t *value)
{
  const char *text;
  switch (field->kind) {
  case TB__CDR_STRUCT:
    check_struct(at, field->type, value);
    break;
  case TB__CDR_STRING:
    memcpy(&text, value, sizeof text);
    check_string(at, text);
    break;
  case TB__CDR_OCTETS:
    check_octets(at, value, field->bound);
    break;
  case TB__CDR_BOOL:
    take(at, *(const bool *)value ? "true" : "false");
    break;
  case TB__CDR_FLOAT:
    check_double(at, (const double *)(const void *)value);
    break;
  default:
    check_integer(at, field, value);
  }
}

static void check_struct(const char **at, const tb__cdr_type_t *type, const uint8_t *value)
{
  take(at, "{");
  for (size_t i = 0; i < type->field_count; i++) {
    const tb__cdr_field_t *field = &type->fields[i];
    check_key(at, field->name);
    if (field->is_sequence) {
      TB__CDR_SEQUENCE(void) sequence;
      memcpy(&sequence, value + field->offset, sizeof sequence);
      take(at, "[");
      for (size_t n = 0; n < sequence.count; n++)
        check_element(at, field, (const uint8_t *)sequence.items + n * field->size);
      take(at, "]");
    } else {
      check_element(at, field, value + field->offset);
    }
  }
  take(at, "}");
}

/* Where the body's value begins, after the header that was checked. */
static const char *header_check(const char *value, const tb__service_header_t *header)
{
  const char *at = value;
  take(&at, "{");
  check_key(&at, "header");
  take(&at, "{");
  check_key(&at, "guid");
  take(&at, "\"");
  assert_true(strtoull(at, NULL, 16) == header->client);
  at += 16;
  take(&at, "\"");
  check_key(&at, "sequence_number");
  char *end;
  assert_true(strtoll(at, &end, 10) == header->sequence);
  at = end;
  take(&at, "}");
  take(&at, strncmp(at + strspn(at, " \n,"), "\"reply\"", 7) == 0 ? "\"reply\"" : "\"request\"");
  take(&at, "");
  return at;
}

static void check_sample(const tb__cdr_type_t *type, const char *value, uint8_t *cdr, size_t size,
                         bool is_service)
{
  tb__service_header_t header;
  uint8_t *message, *body = malloc(size), *again;
  size_t again_size;
  assert_non_null(body);
  memcpy(body, cdr, size);
  if (is_service) {
    assert_ok(tb__service_header_read(cdr, size, &header));
    value = header_check(value, &header);
    tb__service_header_remove(cdr, size, body);
    size -= TB__SERVICE_HEADER_SIZE;
  }
  assert_ok(tb__cdr_decode(type, body, size, &message));
  check_struct(&value, type, message);
  assert_ok(tb__cdr_encode(type, message, false, &again, &again_size));
  assert_int_equal(again_size, size);
  assert_memory_equal(again, body, size);
  if (is_service) {
    again = realloc(again, size + TB__SERVICE_HEADER_SIZE);
    assert_non_null(again);
    assert_ok(tb__service_header_insert(&header, again, size, again));
    assert_memory_equal(again, cdr, size + TB__SERVICE_HEADER_SIZE);
  }
  free(again);
  free(message);
  free(body);
}

static void object_check(const char *object, const char *end)
{
  static uint8_t cdr[1 << 16];
  const char *hex = captures_member(object, end, "cdr_hex"),
             *name = captures_member(object, end, "type");
  const char *value = captures_member(object, end, "value"),
             *kind = captures_member(object, end, "kind");
  if (!hex || !name) return;
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    char dds_name[TB__DDS_NAME_SIZE];
    assert_ok(tb__type_name_to_dds(types[i]->name, dds_name, NULL));
    size_t length = strlen(dds_name);
    if (types[i] == &tb__participant_entities_info_humble_type ||
        strncmp(name + 1, dds_name, length) != 0 || name[1 + length] != '"')
      continue;
    check_sample(types[i], value, cdr, captures_hex(hex + 1, cdr, sizeof cdr),
                 strncmp(kind, "\"sample\"", 8) != 0);
    checked[i]++;
  }
}

static void file_check(const char *name)
{
  char *text = captures_read(name);
  const char *end = text;
  for (const char *object; (object = captures_object(end, &end));)
    object_check(object, end);
  free(text);
}

static void test_every_captured_parameter_call(void **state)
{
  (void)state;
  file_check("parameters_rclcpp.json");
  file_check("parameters_rclpy.json");
  int count = 0;
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if (strncmp(types[i]->name, "rcl_interfaces/srv/", 19) != 0) continue;
    assert_true(checked[i] >= 4);
    count += checked[i];
  }
  assert_int_equal(count, 2 * 2 * 73);
}

static void test_every_captured_parameter_event(void **state)
{
  (void)state;
  file_check("parameter_events.json");
  assert_int_equal(checked[0], 88);
}

static void test_every_captured_discovery_info(void **state)
{
  (void)state;
  static const char *const files[] = {"discovery.json", "endpoints_bag_play.json",
                                      "endpoints_bag_record.json", "endpoints_rclcpp_sim_node.json",
                                      "endpoints_topic_pub.json"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    file_check(files[i]);
  int count = 0;
  for (size_t i = 0; i < TYPE_COUNT; i++)
    count += types[i] == &tb__participant_entities_info_type ? checked[i] : 0;
  assert_int_equal(count, 37);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_captured_parameter_call),
      cmocka_unit_test(test_every_captured_parameter_event),
      cmocka_unit_test(test_every_captured_discovery_info),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ros2/service_pair.h"

#include <string.h>

#include "test.h"

static void test_ids_are_printed_as_ros_prints_them(void **state)
{
  (void)state;
  /* Of a jazzy node: the participant and its USER_DATA. */
  static const tb__guid_t guid = {
      {0x01, 0x10, 0xe6, 0xb7, 0x38, 0xa9, 0x99, 0x9e, 0xba, 0x23, 0x4b, 0xdd, 0, 0, 0x01, 0xc1}};
  static const tb__guid_t large = {
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  char id[TB__SERVICE_ID_SIZE];
  tb__service_id_format(&guid, 1, id);
  assert_string_equal(id, " 1.10.e6.b7.38.a9.99.9e.ba.23.4b.dd.0.0.0.1");
  tb__service_id_format(&guid, 16, id);
  assert_string_equal(id, " 1.10.e6.b7.38.a9.99.9e.ba.23.4b.dd.0.0.0.10");
  tb__service_id_format(&large, UINT32_MAX, id);
  assert_string_equal(id, "ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff.ff");
}

static void assert_found(const char *user_data, const char *expected)
{
  char id[TB__SERVICE_ID_SIZE] = "untouched";
  assert_true(tb__user_data_find(user_data, "clientid", id) == (expected != NULL));
  assert_string_equal(id, expected ? expected : "untouched");
}

static void test_ids_are_found_in_user_data(void **state)
{
  (void)state;
  assert_found("clientid= 1.2;typehash=RIHS01_0;", " 1.2");
  assert_found("typehash=RIHS01_0;clientid=1", "1");
  assert_found(";;clientid=;", "");
  assert_found("", NULL);
  assert_found("clientid", NULL);
  assert_found("clientid;=1", NULL);
  assert_found("xclientid=1;", NULL);
  assert_found("clientids=1;", NULL);
  assert_found("serviceid=1;", NULL);
  char big[TB__USER_DATA_SIZE] = "clientid=";
  memset(big + 9, 'x', TB__SERVICE_ID_SIZE);
  assert_found(big, NULL); /* too long to be one */
  big[9 + TB__SERVICE_ID_SIZE - 1] = ';';
  char longest[TB__SERVICE_ID_SIZE] = "";
  memset(longest, 'x', TB__SERVICE_ID_SIZE - 1);
  assert_found(big, longest);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids_are_printed_as_ros_prints_them),
      cmocka_unit_test(test_ids_are_found_in_user_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "wire/type_hash.h"

#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "test.h"

#define OWN   "RIHS01_0000000000000000000000000000000000000000000000000000000000000abc"
#define OTHER "RIHS01_0000000000000000000000000000000000000000000000000000000000000def"

static void assert_known(const char *type, const char *expected)
{
  char hash[TB__TYPE_HASH_SIZE], user_data[TB__TYPE_HASH_USER_DATA_SIZE];
  assert_true(tb__type_hash_find(type, hash));
  assert_string_equal(hash, expected);
  tb__type_hash_user_data(type, user_data);
  assert_memory_equal(user_data, "typehash=RIHS01_", 16);
  assert_memory_equal(user_data + 16, expected, 64);
  assert_string_equal(user_data + 80, ";");
}

static void test_types_of_the_time_contract_are_known(void **state)
{
  (void)state;
  assert_known("rosgraph_msgs/msg/Clock",
               "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564");
  assert_known("std_msgs/msg/String",
               "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
  assert_known("builtin_interfaces/msg/Duration",
               "e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b");
  assert_known("lifecycle_msgs/msg/TransitionEvent",
               "d5f8873a2f0146498f812d7885c7327ce27e463d36811d8792f35ee38c0d6c38");
  assert_known("lifecycle_msgs/srv/GetState_Request",
               "77a9c844e7975f15bc2221e8bbebafc4d118afb78c7f7071eef91f83f940f2f6");
  assert_known("type_description_interfaces/srv/GetTypeDescription_Response",
               "648c49d976240861a482f961c5621ddd0d2135d8cce6f297a76d4f6376d93b75");
}

static void test_others_have_none(void **state)
{
  (void)state;
  char hash[TB__TYPE_HASH_SIZE] = "untouched", user_data[TB__TYPE_HASH_USER_DATA_SIZE];
  assert_false(tb__type_hash_find("std_msgs/msg/Strin", hash));
  assert_string_equal(hash, "untouched");
  tb__type_hash_user_data("std_msgs/msg/Strin", user_data);
  assert_string_equal(user_data, "");
}

static void test_the_program_registers_hashes_of_its_types(void **state)
{
  (void)state;
  assert_ok(tb_ros2_type_hash_register("my_msgs/Own", OWN, NULL));
  assert_known("my_msgs/msg/Own", &OWN[7]);
  assert_ok(tb_ros2_type_hash_register("my_msgs/msg/Own", OTHER, NULL));
  assert_known("my_msgs/msg/Own", &OTHER[7]);
  assert_ok(tb_ros2_type_hash_register("std_msgs/msg/Empty", OWN, NULL));
  assert_known("std_msgs/msg/Empty", &OWN[7]);
}

static void test_invalid_hashes_are_refused(void **state)
{
  (void)state;
  static const char *const bad[] = {NULL,
                                    "",
                                    "RIHS01_",
                                    OWN "0",
                                    "RIHS02_"
                                    "0",
                                    "abc"};
  char hash[TB__TYPE_HASH_SIZE];
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_ros2_type_hash_register("my_msgs/msg/Bad", bad[i], &error), TB_ERR_INVALID);
    assert_non_null(strstr(error.text, "my_msgs/msg/Bad"));
  }
  assert_status(tb_ros2_type_hash_register("no type", OWN, NULL), TB_ERR_INVALID);
  assert_false(tb__type_hash_find("my_msgs/msg/Bad", hash));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types_of_the_time_contract_are_known),
      cmocka_unit_test(test_others_have_none),
      cmocka_unit_test(test_the_program_registers_hashes_of_its_types),
      cmocka_unit_test(test_invalid_hashes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

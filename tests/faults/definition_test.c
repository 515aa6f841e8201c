/* The faults of core_test.c for definitions of messages. */
#include <stdlib.h>
#include <timebase/message_definition.h>

#include "faults.h"

#define RULE "================================================================================\n"

static const char msg[] = "U[] u\nstring s\nE e\nstring<=3[2] t\nuint8[4] a\nwstring w\n" RULE
                          "MSG: p/U\nstring a\nfloat64[<=3] b\n" RULE "MSG: p/E\n";
static const char idl[] = "module p { module msg { module T_Constants { const int32 N = 3; };\n"
                          "typedef double A[3]; typedef A B; enum K { ONE, TWO };\n"
                          "struct T { sequence<U, T_Constants::N> u; B s[2]; K k; };\n"
                          "struct U { string a; @key int8 b, c; }; }; };\n";

static tb_status_t parse(const char *encoding, const char *text, const char *const *paths)
{
  tb_status_t status;
  tb_message_definition_t *definition = NULL;
  tb_message_field_t *field = NULL;
  TRY_MAKE(definition, tb_message_definition_parse("p/msg/T", encoding, text, &definition, NULL));
  for (; *paths; paths++) {
    tb_message_field_destroy(field);
    field = NULL;
    TRY_MAKE(field, tb_message_field_create(definition, *paths, &field, NULL));
  }
end:
  tb_message_field_destroy(field);
  tb_message_definition_destroy(definition);
  return status;
}

static tb_status_t parsing_msg(void)
{
  static const char *const paths[] = {"u[3].b[1]", "t[1]", "w", NULL};
  return parse("ros2msg", msg, paths);
}

static tb_status_t parsing_idl(void)
{
  static const char *const paths[] = {"u[].c", "s[5]", NULL};
  return parse("ros2idl", idl, paths);
}

static tb_status_t finding(void)
{
  tb_status_t status;
  tb_message_definition_t *definition = NULL;
  TRY_MAKE(definition,
           tb_message_definition_find("tf2_msgs/msg/TFMessage", NULL, 0, &definition, NULL));
  tb_message_definition_destroy(definition);
  definition = NULL;
  TRY_MAKE(definition,
           tb_message_definition_find("nav_msgs/msg/Odometry", NULL, 0, &definition, NULL));
end:
  tb_message_definition_destroy(definition);
  return status;
}

static void test_faults_in_parsing(void **state)
{
  (void)state;
  fault_sweep(parsing_msg, NULL);
  fault_sweep(parsing_idl, NULL);
}

static void test_faults_in_finding(void **state)
{
  (void)state;
  unsetenv("AMENT_PREFIX_PATH");
  fault_sweep(finding, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_in_parsing),
      cmocka_unit_test(test_faults_in_finding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

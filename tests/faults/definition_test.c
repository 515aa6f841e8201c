/* The faults of core_test.c for definitions of messages. */
#include <stdio.h>
#include <stdlib.h>
#include <timebase/message_definition.h>
#include <timebase/reencoder.h>

#include "faults.h"

#define RULE "================================================================================\n"

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
  if (fault_strikes(FAULT_MEMORY, "open_memstream")) return NULL;
  FILE *stream = __real_open_memstream(text, size);
  if (stream) fault_count_blocks(1); /* the text, which its owner frees */
  return stream;
}

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

/* Definitions that are found, derived both ways, and refused; a message that needs room. */
static tb_status_t reencoding(void)
{
  static const tb_reencoder_type_t types[] = {
      {"sensor_msgs/msg/CameraInfo", NULL, NULL, NULL},
      {"p/T", "ros1msg",
       "Header h\nduration[] d\nU u\n" RULE "MSG: p/U\nstring s\n" RULE
       "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n",
       NULL},
      {"p/msg/T", "ros2idl", "module p { module msg { struct T { string a; double b[3]; }; }; };",
       NULL},
      {"sensor_msgs/Imu", "ros1msg", "int8 a\n", NULL},
      {"std_msgs/Int8", "ros1msg", "", "27ffa0c9c4b8fb8492252bcad9e5c57b"},
      {"p/T", "ros1msg", "uint8[] a\n", NULL},
  };
  static const uint8_t message[1000] = {0xe4, 3};
  tb_status_t status = TB_OK;
  tb_reencoder_t *reencoder = NULL;
  const void *out = NULL;
  size_t size = 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tb_reencoder_destroy(reencoder);
    reencoder = NULL;
    status = tb_reencoder_find(&types[i], NULL, 0, &reencoder, NULL);
    if (status == TB_ERR_UNSUPPORTED && i == 3) continue;
    if (status) return status;
  }
  status = tb_reencoder_run(reencoder, message, sizeof message, &out, &size, NULL);
  tb_reencoder_destroy(reencoder);
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

static void test_faults_in_reencoding(void **state)
{
  (void)state;
  unsetenv("AMENT_PREFIX_PATH");
  fault_sweep(reencoding, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_in_parsing),
      cmocka_unit_test(test_faults_in_finding),
      cmocka_unit_test(test_faults_in_reencoding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

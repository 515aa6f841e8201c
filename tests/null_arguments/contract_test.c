/* See null_arguments.h. */
#include <timebase/message_definition.h>
#include <timebase/metrics_server.h>
#include <timebase/reencoder.h>

#include "null_arguments/null_arguments.h"

static void test_message_definition(void **state)
{
  (void)state;
  REFUSED(tb_message_definition_parse(NULL, ANY, ANY, ANY, NULL));
  REFUSED(tb_message_definition_parse(ANY, NULL, ANY, ANY, NULL));
  REFUSED(tb_message_definition_parse(ANY, ANY, NULL, ANY, NULL));
  REFUSED(tb_message_definition_parse(ANY, ANY, ANY, NULL, NULL));
  REFUSED(tb_message_definition_find(NULL, NULL, 0, ANY, NULL));
  REFUSED(tb_message_definition_find(ANY, NULL, 1, ANY, NULL));
  REFUSED(tb_message_definition_find(ANY, NULL, 0, NULL, NULL));
  NOTHING(tb_message_definition_destroy(NULL));
  ZERO(tb_message_definition_origin(NULL));
  REFUSED(tb_message_definition_header_stamp(NULL, ANY, 4, ANY));
  REFUSED(tb_message_definition_header_stamp(ANY, NULL, 4, ANY));
  REFUSED(tb_message_definition_header_stamp(ANY, ANY, 4, NULL));
  REFUSED(tb_message_definition_check(NULL, ANY, 4, NULL));
  REFUSED(tb_message_definition_check(ANY, NULL, 4, NULL));
}

static void test_message_field(void **state)
{
  (void)state;
  REFUSED(tb_message_field_create(NULL, ANY, ANY, NULL));
  REFUSED(tb_message_field_create(ANY, NULL, ANY, NULL));
  REFUSED(tb_message_field_create(ANY, ANY, NULL, NULL));
  NOTHING(tb_message_field_destroy(NULL));
  REFUSED(tb_message_field_time(NULL, ANY, 4, ANY));
  REFUSED(tb_message_field_time(ANY, NULL, 4, ANY));
  REFUSED(tb_message_field_time(ANY, ANY, 4, NULL));
  REFUSED(tb_message_field_number(NULL, ANY, 4, ANY));
  REFUSED(tb_message_field_number(ANY, NULL, 4, ANY));
  REFUSED(tb_message_field_number(ANY, ANY, 4, NULL));
  REFUSED(tb_message_field_string(NULL, ANY, 4, ANY, ANY));
  REFUSED(tb_message_field_string(ANY, NULL, 4, ANY, ANY));
  REFUSED(tb_message_field_string(ANY, ANY, 4, NULL, ANY));
  REFUSED(tb_message_field_string(ANY, ANY, 4, ANY, NULL));
}

static tb_status_t write_nothing(size_t room, char *out, size_t *out_size, void *user)
{
  (void)room, (void)out, (void)user;
  *out_size = 0;
  return TB_OK;
}

static void test_metrics_server(void **state)
{
  (void)state;
  const tb_metrics_server_options_t options = {.write = write_nothing};
  const tb_metrics_server_options_t unset = TB_METRICS_SERVER_OPTIONS_INIT;
  REFUSED(tb_metrics_server_create(NULL, ANY, NULL));
  REFUSED(tb_metrics_server_create(&unset, ANY, NULL));
  REFUSED(tb_metrics_server_create(&options, NULL, NULL));
  NOTHING(tb_metrics_server_destroy(NULL));
  ZERO(tb_metrics_server_port(NULL));
}

static void test_reencoder(void **state)
{
  (void)state;
  const tb_reencoder_type_t type = {"std_msgs/String", "ros1msg", "string data\n", NULL},
                            none = {0};
  const tb_reencoder_type_t bare = {"std_msgs/String", NULL, "string data\n", NULL};
  REFUSED(tb_reencoder_create_sized(NULL, sizeof type, &type, sizeof type, ANY, NULL));
  REFUSED(tb_reencoder_create_sized(&type, sizeof type, NULL, sizeof type, ANY, NULL));
  REFUSED(tb_reencoder_create(&none, &type, ANY, NULL));
  REFUSED(tb_reencoder_create(&type, &bare, ANY, NULL));
  REFUSED(tb_reencoder_create(&type, &type, NULL, NULL));
  REFUSED(tb_reencoder_find_sized(NULL, sizeof type, NULL, 0, ANY, NULL));
  REFUSED(tb_reencoder_find(&none, NULL, 0, ANY, NULL));
  REFUSED(tb_reencoder_find(&bare, NULL, 0, ANY, NULL));
  REFUSED(tb_reencoder_find(&type, NULL, 1, ANY, NULL));
  REFUSED(tb_reencoder_find(&type, NULL, 0, NULL, NULL));
  NOTHING(tb_reencoder_destroy(NULL));
  REFUSED(tb_reencoder_run(NULL, ANY, 4, ANY, ANY, NULL));
  REFUSED(tb_reencoder_run(ANY, NULL, 4, ANY, ANY, NULL));
  REFUSED(tb_reencoder_run(ANY, ANY, 4, NULL, ANY, NULL));
  REFUSED(tb_reencoder_run(ANY, ANY, 4, ANY, NULL, NULL));
  ZERO(tb_reencoder_ros1(NULL));
  ZERO(tb_reencoder_ros2(NULL));
  assert_string_equal(tb_reencoder_md5sum(NULL), "");
  ZERO(tb_reencoder_is_derived(NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_message_definition),
      cmocka_unit_test(test_message_field),
      cmocka_unit_test(test_metrics_server),
      cmocka_unit_test(test_reencoder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

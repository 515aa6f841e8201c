/* See null_arguments.h. */
#include <timebase/ros2_play_transport.h>
#include <timebase/ros2_player_services.h>
#include <timebase/ros2_recorder.h>

#include "null_arguments/null_arguments.h"

static void test_ros2_play_transport(void **state)
{
  (void)state;
  REFUSED(tb_ros2_play_wait_check(NULL, NULL));
  REFUSED(tb_ros2_play_transport_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_play_transport_create(ANY, NULL, NULL, NULL));
  NOTHING(tb_ros2_play_transport_destroy(NULL));
  NOTHING((void)tb_ros2_play_transport_interface(NULL));
}

static void test_ros2_player_services(void **state)
{
  (void)state;
  REFUSED(tb_ros2_player_services_create(NULL, ANY, ANY, NULL));
  REFUSED(tb_ros2_player_services_create(ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_player_services_create(ANY, ANY, NULL, NULL));
  NOTHING(tb_ros2_player_services_destroy(NULL));
}

static void test_ros2_recorder(void **state)
{
  (void)state;
  REFUSED(tb_ros2_recorder_create(NULL, "/nonexistent/bag", NULL, ANY, NULL));
  REFUSED(tb_ros2_recorder_create(ANY, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_recorder_create(ANY, "/nonexistent/bag", NULL, NULL, NULL));
  NOTHING(tb_ros2_recorder_destroy(NULL));
  ZERO(tb_ros2_recorder_core(NULL));
  REFUSED(tb_ros2_recorder_stop(NULL, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ros2_play_transport),
      cmocka_unit_test(test_ros2_player_services),
      cmocka_unit_test(test_ros2_recorder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* NULL for each pointer of libtimebase-ros1-bag. */
#include <timebase/ros1_play_transport.h>
#include <timebase/ros1_recorder.h>

#include "null_arguments.h"

static void test_ros1_play_transport(void **state)
{
  (void)state;
  tb_ros1_play_transport_options_t options = TB_ROS1_PLAY_TRANSPORT_OPTIONS_INIT;
  options.remapping_count = 1;
  REFUSED(tb_ros1_play_transport_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros1_play_transport_create(ANY, NULL, NULL, NULL));
  REFUSED(tb_ros1_play_transport_create(ANY, &options, ANY, NULL));
  NOTHING(tb_ros1_play_transport_destroy(NULL));
  ZERO(tb_ros1_play_transport_interface(NULL).ops != NULL);
}

static void test_ros1_recorder(void **state)
{
  (void)state;
  tb_ros1_recorder_options_t options = TB_ROS1_RECORDER_OPTIONS_INIT;
  REFUSED(tb_ros1_recorder_create(NULL, "bag", &options, ANY, NULL));
  REFUSED(tb_ros1_recorder_create(ANY, NULL, &options, ANY, NULL));
  REFUSED(tb_ros1_recorder_create(ANY, "bag", NULL, ANY, NULL));
  REFUSED(tb_ros1_recorder_create(ANY, "bag", &options, NULL, NULL));
  NOTHING(tb_ros1_recorder_destroy(NULL));
  ZERO(tb_ros1_recorder_core(NULL) != NULL);
  REFUSED(tb_ros1_recorder_stop(NULL, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ros1_play_transport),
      cmocka_unit_test(test_ros1_recorder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

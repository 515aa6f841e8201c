#include "dds/library.h"

#include <dds/dds.h>
#include <dds/ddsrt/log.h>
#include <string.h>
#include <timebase/log.h>

#include "dds/log_sink.h"
#include "test.h"

static void test_the_loaded_library_passes(void **state)
{
  (void)state;
  assert_ok(tb__dds_library_check(NULL));
}

static void test_only_another_release_is_refused(void **state)
{
  (void)state;
  assert_ok(tb__dds_library_check_path("/usr/lib/libddsc.so.0.10.2", "0.10.2", NULL));
  assert_ok(tb__dds_library_check_path("/opt/a.so.1.0/libddsc.so", "0.10.2", NULL));
  assert_ok(tb__dds_library_check_path("libddsc.so.0", "0.10.2", NULL));
  assert_ok(tb__dds_library_check_path("./program", "0.10.2", NULL));
  assert_ok(tb__dds_library_check_path("/opt/ros/lib/libddsc.so.0.10.5", "0.10.5", NULL));
  assert_status(tb__dds_library_check_path("/usr/lib/libddsc.so.0.10.2", "0.10.5", NULL),
                TB_ERR_VERSION); /* both releases are supported, but a build has one */
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__dds_library_check_path("/opt/ros/lib/libddsc.so.0.10.5", "0.10.2", &error),
                TB_ERR_VERSION);
  assert_non_null(strstr(error.text, "/opt/ros/lib/libddsc.so.0.10.5"));
  assert_non_null(strstr(error.text, "0.10.2"));
}

static void test_codes_of_cyclone(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__dds_error_set(&error, DDS_RETCODE_TIMEOUT, "publish"), TB_ERR_TIMEOUT);
  assert_non_null(strstr(error.text, "publish: "));
  assert_status(tb__dds_error_set(NULL, DDS_RETCODE_ERROR, "x"), TB_ERR_TRANSPORT);
  assert_status(tb__dds_error_set(NULL, -12345, "x"), TB_ERR_TRANSPORT);
}

static void note_line(tb_log_level_t level, const char *message, void *user)
{
  strcat(user, level == TB_LOG_ERROR ? "E:" : "W:");
  strcat(user, message);
  strcat(user, "|");
}

static void test_log_goes_to_the_hook_or_to_a_capture(void **state)
{
  (void)state;
  char lines[256] = "";
  tb__dds_log_capture_t capture;
  tb_log_set_hook(note_line, lines);
  tb__dds_log_acquire();
  DDS_WARNING("one %d\n", 1);
  tb__dds_log_capture_begin(&capture);
  DDS_ERROR("two\n");
  DDS_WARNING("three\n");
  tb__dds_log_capture_stop();
  assert_string_equal(lines, "W:dds: one 1|");
  assert_string_equal(tb__dds_log_capture_find(&capture, "w"), "two");
  assert_null(tb__dds_log_capture_find(&capture, "four"));
  assert_string_equal(tb__dds_log_capture_last(&capture), "three");
  tb__dds_log_capture_replay(&capture);
  tb__dds_log_release();
  tb_log_set_hook(NULL, NULL);
  assert_string_equal(lines, "W:dds: one 1|E:dds: two|W:dds: three|");
}

static void test_the_last_announcement_of_a_leaving_participant_is_not_reported(void **state)
{
  (void)state;
  static const tb__guid_t guid = {
      {0xef, 0x7c, 0xcb, 0x13, 0x1f, 0xd0, 0xe9, 0x91, 0xa1, 0x0c, 0x82, 0x85, 0, 0, 0x01, 0xc1}};
  static const char own[] = "Remote secure participant ef7ccb13:1fd0e991:a10c8285:1c1 not allowed";
  char lines[256] = "";
  tb__dds_leaving_t leaving, other;
  tb_log_set_hook(note_line, lines);
  tb__dds_log_acquire();
  tb__dds_log_leave(&leaving, &guid);
  tb__dds_log_leave(&other, &(tb__guid_t){{0}});
  DDS_WARNING("%s\n", own);
  DDS_WARNING("Remote secure participant 1:2:3:1c1 not allowed\n");
  tb__dds_log_left(&leaving);
  tb__dds_log_left(&other);
  DDS_WARNING("%s\n", own);
  tb__dds_log_release();
  tb_log_set_hook(NULL, NULL);
  assert_string_equal(lines, "W:dds: Remote secure participant 1:2:3:1c1 not allowed|W:dds: Remote "
                             "secure participant ef7ccb13:1fd0e991:a10c8285:1c1 not allowed|");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_loaded_library_passes),
      cmocka_unit_test(test_only_another_release_is_refused),
      cmocka_unit_test(test_codes_of_cyclone),
      cmocka_unit_test(test_log_goes_to_the_hook_or_to_a_capture),
      cmocka_unit_test(test_the_last_announcement_of_a_leaving_participant_is_not_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* See null_arguments.h. */
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/mcap_file.h>
#include <timebase/player.h>
#include <timebase/qos_overrides.h>
#include <timebase/recorder.h>
#include <timebase/topic_expression.h>

#include "null_arguments/null_arguments.h"
#include "within.h"

static void test_bag_check(void **state)
{
  (void)state;
  REFUSED(tb_bag_check_names(NULL, NULL));
  REFUSED(tb_bag_check(NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_bag_check("/nonexistent/bag", NULL, NULL, NULL, NULL));
  REFUSED(tb_bag_check_within(NULL, NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_bag_check_within("/nonexistent/bag", NULL, NULL, NULL, NULL, NULL));
}

static void test_bag_reader(void **state)
{
  (void)state;
  REFUSED(tb_bag_reader_open(NULL, NULL, ANY, NULL));
  REFUSED(tb_bag_reader_open("/nonexistent/bag", NULL, NULL, NULL));
  REFUSED(tb_bag_reader_open_many(NULL, 1, NULL, ANY, NULL));
  REFUSED(tb_bag_reader_open_many(ANY, 1, NULL, NULL, NULL));
  NOTHING(tb_bag_reader_close(NULL));
  ZERO(tb_bag_reader_info(NULL));
  ZERO(tb_bag_reader_library(NULL));
  REFUSED(tb_bag_reader_next(NULL, ANY, NULL));
  REFUSED(tb_bag_reader_next(ANY, NULL, NULL));
  REFUSED(tb_bag_reader_seek(NULL, 1));
}

static void test_bag_writer(void **state)
{
  (void)state;
  assert_ok(tb_bag_writer_check_options(NULL, NULL));
  REFUSED(tb_bag_writer_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_bag_writer_create("/nonexistent/bag", NULL, NULL, NULL));
  REFUSED(tb_bag_writer_add_topic(NULL, ANY, ANY, NULL));
  REFUSED(tb_bag_writer_add_topic(ANY, NULL, ANY, NULL));
  REFUSED(tb_bag_writer_add_topic(ANY, ANY, NULL, NULL));
  REFUSED(tb_bag_writer_write(NULL, 1, 1, 1, ANY, 1, NULL));
  REFUSED(tb_bag_writer_write(ANY, 1, 1, 1, NULL, 1, NULL));
  REFUSED(tb_bag_writer_flush(NULL, (tb_bag_flush_t)0, NULL));
  REFUSED(tb_bag_reindex(NULL, NULL, NULL));
  REFUSED(tb_bag_writer_copy_extra_records(NULL, ANY, 1, 1, NULL, NULL));
  REFUSED(tb_bag_writer_copy_extra_records(ANY, NULL, 1, 1, NULL, NULL));
  REFUSED(tb_bag_writer_split(NULL, NULL));
  REFUSED(tb_bag_writer_begin_run(NULL, NULL));
  REFUSED(tb_bag_writer_set_custom_data(NULL, "a", "a", NULL));
  REFUSED(tb_bag_writer_set_custom_data(ANY, NULL, "a", NULL));
  REFUSED(tb_bag_writer_set_custom_data(ANY, "a", NULL, NULL));
  ZERO(tb_bag_writer_get_custom_data(NULL, NULL));
  NOTHING(tb_bag_writer_get_info(NULL, NULL));
  ZERO(tb_bag_writer_topic_count(NULL, 1));
  ACCEPTED(tb_bag_writer_close(NULL, NULL));
}

static void test_player(void **state)
{
  (void)state;
  REFUSED(tb_player_create(NULL, ANY, NULL, ANY, NULL));
  REFUSED(tb_player_create(ANY, NULL, NULL, ANY, NULL));
  REFUSED(tb_player_create(ANY, ANY, NULL, NULL, NULL));
  NOTHING(tb_player_destroy(NULL));
  REFUSED(tb_player_run(NULL, NULL, NULL));
  NOTHING(tb_player_pause(NULL));
  NOTHING(tb_player_resume(NULL));
  NOTHING(tb_player_toggle_paused(NULL));
  ZERO(tb_player_is_paused(NULL));
  REFUSED(tb_player_set_rate(NULL, 1.0, NULL));
  REFUSED(tb_player_scale_rate(NULL, 1.0));
  REFUSED(tb_player_seek(NULL, 1, NULL));
  REFUSED(tb_player_play_next(NULL));
  REFUSED(tb_player_burst(NULL, 1, WITHIN(NS), NULL));
  REFUSED(tb_player_play_previous(NULL));
  REFUSED(tb_player_repeat(NULL, 1, 1, NULL));
  NOTHING(tb_player_end_repeat(NULL));
  NOTHING(tb_player_halt(NULL));
  REFUSED(tb_player_play(NULL, NULL, NULL));
  NOTHING(tb_player_stop(NULL));
  NOTHING(tb_player_status(NULL, NULL));
  REFUSED(tb_player_topic_status(NULL, 1, ANY));
  REFUSED(tb_player_topic_status(ANY, 1, NULL));
}

static void test_qos_overrides(void **state)
{
  (void)state;
  REFUSED(tb_qos_overrides_parse(NULL, 1, ANY, NULL));
  REFUSED(tb_qos_overrides_parse("a", 1, NULL, NULL));
  REFUSED(tb_qos_overrides_load(NULL, ANY, NULL));
  REFUSED(tb_qos_overrides_load("/nonexistent/bag", NULL, NULL));
  NOTHING(tb_qos_overrides_destroy(NULL));
  NOTHING(tb_qos_overrides_set_depth_max(NULL, 1));
  ZERO(tb_qos_overrides_apply(NULL, NULL, NULL));
}

static void test_recorder(void **state)
{
  (void)state;
  REFUSED(tb_recorder_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_recorder_create("/nonexistent/bag", NULL, NULL, NULL));
  NOTHING(tb_recorder_destroy(NULL));
  REFUSED(tb_recorder_add_topic(NULL, ANY, ANY, NULL));
  REFUSED(tb_recorder_add_topic(ANY, NULL, ANY, NULL));
  REFUSED(tb_recorder_add_topic(ANY, ANY, NULL, NULL));
  REFUSED(tb_recorder_take(NULL, 1, ANY));
  REFUSED(tb_recorder_take(ANY, 1, NULL));
  NOTHING(tb_recorder_note_before(NULL, 1, 1));
  NOTHING(tb_recorder_note_lost(NULL, 1, 1));
  NOTHING(tb_recorder_pause(NULL));
  NOTHING(tb_recorder_resume(NULL));
  ZERO(tb_recorder_is_paused(NULL));
  REFUSED(tb_recorder_split(NULL, NULL, NULL));
  REFUSED(tb_recorder_snapshot(NULL, NULL, NULL));
  REFUSED(tb_recorder_stop(NULL, NULL));
  NOTHING(tb_recorder_status(NULL, NULL));
  REFUSED(tb_recorder_topic_status(NULL, 1, ANY));
  REFUSED(tb_recorder_topic_status(ANY, 1, NULL));
}

static void test_topic_expression(void **state)
{
  (void)state;
  REFUSED(tb_topic_expression_create(NULL, ANY, NULL));
  REFUSED(tb_topic_expression_create("a", NULL, NULL));
  NOTHING(tb_topic_expression_destroy(NULL));
  ZERO(tb_topic_expression_text(NULL));
  REFUSED(tb_topic_expression_search(NULL, "a", ANY, NULL));
  REFUSED(tb_topic_expression_search(ANY, NULL, ANY, NULL));
  REFUSED(tb_topic_expression_search(ANY, "a", NULL, NULL));
}

static void test_mcap_file(void **state)
{
  (void)state;
  REFUSED(tb_mcap_file_list(NULL, ANY, NULL, NULL));
  REFUSED(tb_mcap_file_list("/nonexistent/a.mcap", NULL, NULL, NULL));
  REFUSED(tb_mcap_file_read_attachment(NULL, 0, ANY, NULL, NULL));
  REFUSED(tb_mcap_file_read_attachment("/nonexistent/a.mcap", 0, NULL, NULL, NULL));
  REFUSED(tb_mcap_file_add_attachment(NULL, "a", "a", "a", 0, 0, NULL));
  REFUSED(tb_mcap_file_add_attachment("/nonexistent/a.mcap", NULL, "a", "a", 0, 0, NULL));
  REFUSED(tb_mcap_file_add_attachment("/nonexistent/a.mcap", "a", NULL, "a", 0, 0, NULL));
  REFUSED(tb_mcap_file_add_metadata(NULL, "a", ANY, ANY, 1, NULL));
  REFUSED(tb_mcap_file_add_metadata("/nonexistent/a.mcap", NULL, ANY, ANY, 1, NULL));
  REFUSED(tb_mcap_file_add_metadata("/nonexistent/a.mcap", "a", NULL, ANY, 1, NULL));
  REFUSED(tb_mcap_file_add_metadata("/nonexistent/a.mcap", "a", ANY, NULL, 1, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bag_check),        cmocka_unit_test(test_bag_reader),
      cmocka_unit_test(test_bag_writer),       cmocka_unit_test(test_player),
      cmocka_unit_test(test_qos_overrides),    cmocka_unit_test(test_recorder),
      cmocka_unit_test(test_topic_expression), cmocka_unit_test(test_mcap_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a recording says of how it was made. */
#include <stdio.h>
#include <timebase/mcap_file.h>
#include <unistd.h>

#include "play/record_fixture.h"

/* NULL: there is no such note. */
static const char *note(const tb_bag_reader_t *reader, const char *key)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < info->note_count; i++)
    if (strcmp(info->notes[i].key, key) == 0) return info->notes[i].value;
  return NULL;
}

static void assert_has(const tb_bag_reader_t *reader, const char *key, const char *part)
{
  const char *value = note(reader, key);
  if (!value || !strstr(value, part))
    fail_msg("%s is \"%s\", which is without \"%s\"", key, value ? value : "not there", part);
}

static void start_as(const char *storage)
{
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.bag.storage_id = storage;
  start(&options);
}

static void test_who_recorded_and_where(void **state)
{
  (void)state;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  start(NULL);
  tb_bag_reader_t *reader = read_back(); /* also of a recorder that is killed */
  assert_has(reader, "timebase.host", host);
  assert_has(reader, "timebase.recorder", "timebase ");
  assert_has(reader, "timebase.log_time", "receive");
  assert_has(reader, "timebase.clock.start", "synchronized=");
  assert_null(note(reader, "timebase.clock.end"));
  tb_bag_reader_close(reader);
  assert_ok(take(0, 1));
  stop_well();
  reader = read_back();
  assert_has(reader, "timebase.clock.end", "at_ns=");
  assert_null(note(reader, "timebase.event.1"));
  assert_null(note(reader, "timebase.lost./a"));
  tb_bag_reader_close(reader);
}

static void test_events_with_their_times(void **state)
{
  (void)state;
  start(NULL);
  assert_ok(take(0, 1));
  tb_recorder_pause(recorder);
  tb_recorder_pause(recorder); /* is paused already */
  tb_recorder_resume(recorder);
  tb_recorder_resume(recorder);
  assert_ok(tb_recorder_split(recorder, NULL, NULL));
  stop_well();
  tb_bag_reader_t *reader = read_back();
  assert_has(reader, "timebase.event.1", " event=paused messages=1");
  assert_has(reader, "timebase.event.2", " event=resumed messages=1 paused_ns=");
  assert_has(reader, "timebase.event.3", " event=split messages=1 detail=bag_1.db3");
  assert_null(note(reader, "timebase.event.4"));
  tb_bag_reader_close(reader);
}

static void test_losses_by_topic(void **state)
{
  (void)state;
  start_as("sqlite3");
  assert_ok(take(0, 1));
  tb_recorder_note_lost(recorder, 1, 5);
  tb_recorder_note_lost(recorder, 1, 2);
  stop_well();
  tb_bag_reader_t *reader = read_back();
  assert_has(reader, "timebase.lost./b", "on_the_way=7 in_queue=0 in_file=0 first_at_ns=1");
  assert_null(note(reader, "timebase.lost./a"));
  tb_bag_reader_close(reader);
}

static void test_nothing_if_that_is_asked_for(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.no_provenance = true;
  start(&options);
  tb_recorder_note_lost(recorder, 0, 5);
  tb_recorder_pause(recorder);
  stop_well();
  tb_bag_reader_t *reader = read_back();
  assert_int_equal(tb_bag_reader_info(reader)->note_count, 0);
  tb_bag_reader_close(reader);
}

/* --- room on the disk --- */

static void take_until_out_of_space(void)
{
  assert_ok(take(0, 1));
  while (!status_now().out_of_space)
    sched_yield();
}

static void test_a_disk_that_is_too_full_ends_it(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  tb_error_t error = TB_ERROR_INIT;
  options.min_space = UINT64_MAX; /* more than there is */
  start(&options);
  take_until_out_of_space();
  take(0, 2);
  assert_status(tb_recorder_stop(recorder, &error), TB_ERR_SYSTEM);
  assert_non_null(strstr(error.text, "recording has ended"));
  assert_int_equal(topic_now(0).written, 1); /* what was there stays */
  assert_int_equal(topic_now(0).lost_in_file, 1);
  tb_bag_reader_t *reader = read_back();
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 1);
  assert_has(reader, "timebase.event.1", " event=disk_failed messages=1 detail=");
  assert_has(reader, "timebase.lost./a", "in_file=1");
  tb_bag_reader_close(reader);
}

static void test_a_ring_makes_room_on_the_disk(void **state)
{
  (void)state;
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  options.min_space = UINT64_MAX;
  options.bag.max_files = 10;
  start(&options);
  for (int i = 0; i < 2; i++)
    assert_ok(tb_recorder_split(recorder, NULL, NULL));
  take_until_out_of_space(); /* once there is nothing left to remove */
  assert_true(tb_recorder_stop(recorder, NULL) != TB_OK);
  tb_bag_reader_t *reader = read_back();
  assert_int_equal(tb_bag_reader_info(reader)->file_count, 1);
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 1);
  assert_has(reader, "timebase.event.3", " event=removed messages=1 detail=files: 1");
  assert_has(reader, "timebase.event.5", " event=disk_failed");
  tb_bag_reader_close(reader);
}

static bool count_notes(const tb_mcap_part_t *part, void *user)
{
  if (part->kind == TB_MCAP_PART_METADATA && strcmp(part->name, "timebase") == 0) {
    assert_true(part->pair_count >= 5);
    (*(int *)user)++;
  }
  return true;
}

/* For tools that know MCAP and no YAML. */
static void test_mcap_has_a_record_of_it(void **state)
{
  (void)state;
  int count = 0;
  start_as("mcap");
  assert_ok(take(0, 1));
  stop_well();
  char *file = tb__test_path(path, "bag_0.mcap");
  tb_error_t error = TB_ERROR_INIT;
  if (tb_mcap_file_list(file, count_notes, &count, &error) != TB_OK) fail_msg("%s", error.text);
  assert_int_equal(count, 1);
  free(file);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_BAG(test_who_recorded_and_where),
      WITH_BAG(test_events_with_their_times),
      WITH_BAG(test_losses_by_topic),
      WITH_BAG(test_nothing_if_that_is_asked_for),
      WITH_BAG(test_mcap_has_a_record_of_it),
      WITH_BAG(test_a_disk_that_is_too_full_ends_it),
      WITH_BAG(test_a_ring_makes_room_on_the_disk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

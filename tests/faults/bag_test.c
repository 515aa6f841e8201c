/* The faults of core_test.c for reading, writing and playing recordings. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/manual_source.h>
#include <timebase/mcap_file.h>
#include <timebase/recorder.h>
#include <timebase/topic_expression.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "bag/test_mcap.h"
#include "faults.h"
#include "mcap/recover.h"
#include "play/player.h"
#include "server/manual_pacer.h"

#define MS TB_NS_PER_MS

/* ---- asprintf, and SQLite's memory ---- */

static int faulty_asprintf(char **out, const char *format, va_list args)
{
  if (fault_strikes(FAULT_MEMORY, "asprintf")) return -1;
  int length = vasprintf(out, format, args);
  if (length >= 0) fault_count_blocks(1);
  return length;
}

int __wrap_asprintf(char **out, const char *format, ...) TB_PRINTF(2, 3);
int __wrap_asprintf(char **out, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int length = faulty_asprintf(out, format, args);
  va_end(args);
  return length;
}

/* What asprintf is with _FORTIFY_SOURCE. */
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...) TB_PRINTF(3, 4);
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...)
{
  (void)flag;
  va_list args;
  va_start(args, format);
  int length = faulty_asprintf(out, format, args);
  va_end(args);
  return length;
}

static sqlite3_mem_methods plain_memory;

static void *sqlite_malloc(int size)
{
  return fault_strikes(FAULT_OPTIONAL, "SQLite's malloc") ? NULL : plain_memory.xMalloc(size);
}

static void *sqlite_realloc(void *block, int size)
{
  if (fault_strikes(FAULT_OPTIONAL, "SQLite's realloc")) return NULL;
  return plain_memory.xRealloc(block, size);
}

static void fail_in_sqlite(void)
{
  sqlite3_shutdown();
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain_memory), SQLITE_OK);
  sqlite3_mem_methods faulty = plain_memory;
  faulty.xMalloc = sqlite_malloc;
  faulty.xRealloc = sqlite_realloc;
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty), SQLITE_OK);
}

/* ---- what there is to read ---- */

static char *folder;

static const char metadata[] = "rosbag2_bagfile_information:\n  version: 5\n"
                               "  storage_identifier: sqlite3\n"
                               "  relative_file_paths: [bag/one.db3, two.db3]\n";

static void write_file(const char *name, int64_t start_ns)
{
  char *path = tb__test_path(folder, name);
  if (start_ns)
    tb__test_db_simple(path, 4, 3, start_ns, MS);
  else
    tb__test_write(path, metadata, strlen(metadata));
  free(path);
}

static int make_bag(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  write_file("one.db3", 1000 * MS);
  write_file("two.db3", 2000 * MS);
  write_file("metadata.yaml", 0);
  return 0;
}

static int make_bare_bag(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  write_file("one.db3", 1000 * MS);
  return 0;
}

/* Chunks that overlap, of both compressions, with a summary and without. */
static void write_mcap(const char *name, bool with_summary)
{
  tb__test_mcap_t mcap = {0};
  static const uint8_t data[64] = {0, 1};
  tb__test_mcap_begin(&mcap);
  for (unsigned chunk = 0; chunk < 3; chunk++) {
    tb__test_mcap_chunk_begin(&mcap, (tb__mcap_compression_t)chunk);
    if (chunk == 0) tb__test_mcap_channel(&mcap, 1, "/a", "std_msgs/msg/String");
    for (unsigned i = 0; i < 3; i++)
      tb__test_mcap_message(&mcap, 1, (1000 + chunk + 2 * i) * MS, data, sizeof data);
    tb__test_mcap_chunk_end(&mcap);
  }
  tb__test_mcap_attachment(&mcap, "notes.txt", "text");
  tb__test_mcap_metadata(&mcap, "rosbag2", "ROS_DISTRO", "jazzy");
  tb__test_mcap_end(&mcap, with_summary);
  char *path = tb__test_path(folder, name);
  tb__test_mcap_save(&mcap, path);
  free(path);
  tb__test_mcap_fini(&mcap);
}

static int make_mcap_bag(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  write_mcap("one.mcap", true);
  write_mcap("two.mcap", false);
  return 0;
}

static int remove_bag(void **state)
{
  (void)state;
  tb__test_folder_remove(folder);
  return 0;
}

/* ---- scenarios ---- */

/* Each failure is of one row or file: reading continues after it to the end. */
static tb_status_t read_to_the_end(tb_bag_reader_t *reader, int *messages)
{
  tb_status_t first = TB_OK, status;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_message_t message;
  while ((status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END) {
    if (status && !first) first = status;
    if (status) assert_status(error.status, status);
    *messages += !status;
  }
  return first;
}

static tb_status_t reading(void)
{
  tb_status_t status;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  const tb_bag_reader_options_t options = {.counts = TB_BAG_COUNTS_EXACT};
  int messages = 0;
  status = MAKES(reader, tb_bag_reader_open(folder, &options, &reader, &error));
  if (status) {
    assert_int_equal(error.status, status);
    return status;
  }
  status = read_to_the_end(reader, &messages);
  tb_status_t again = tb_bag_reader_seek(reader, 1001 * MS);
  if (!again) again = read_to_the_end(reader, &messages);
  tb_bag_reader_close(reader);
  return status ? status : again;
}

static tb_status_t recovering(void)
{
  const tb__bag_output_options_t options = {.compression = TB__BAG_OUTPUT_ZSTD};
  tb__mcap_recovery_t recovered = {0};
  char from[256], to[256];
  snprintf(from, sizeof from, "%s/one.mcap", folder);
  snprintf(to, sizeof to, "%s/copy", folder);
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__mcap_recover(from, from, to, &options, NULL, NULL, &recovered, &error);
  if (status) assert_int_equal(error.status, status);
  if (!status) assert_int_equal(recovered.messages, 9);
  if (status) assert_int_equal(access(to, F_OK), -1);
  remove(to);
  return status;
}

static uint64_t attachment_at;

static bool count_part(const tb_mcap_part_t *part, void *user)
{
  *(int *)user += part->kind != TB_MCAP_PART_CHUNK;
  return true;
}

static tb_status_t count_written(const void *data, size_t size, void *user, tb_error_t *error)
{
  (void)data, (void)error;
  *(size_t *)user += size;
  return TB_OK;
}

static tb_status_t list_and_get(const char *path, int *parts)
{
  tb_error_t error = TB_ERROR_INIT;
  size_t size = 0;
  *parts = 0;
  tb_status_t status = tb_mcap_file_list(path, count_part, parts, &error);
  if (!status)
    status = tb_mcap_file_read_attachment(path, attachment_at, count_written, &size, &error);
  if (status) assert_int_equal(error.status, status);
  if (!status) assert_int_equal(size, strlen("text"));
  return status;
}

/* A file that something could not be added to is as it was. */
static tb_status_t adding(void)
{
  static const char *const keys[] = {"a", "b"}, *const values[] = {"1", "2"};
  char path[256], data_path[256];
  tb_error_t error = TB_ERROR_INIT;
  int parts = 0, added = 0;
  snprintf(path, sizeof path, "%s/one.mcap", folder);
  snprintf(data_path, sizeof data_path, "%s/two.mcap", folder);
  fault_arm(false);
  write_mcap("one.mcap", true);
  fault_arm(true);
  tb_status_t status = list_and_get(path, &parts);
  tb_status_t with_file = tb_mcap_file_add_attachment(path, data_path, "two", NULL, 1, 0, &error);
  if (with_file) assert_int_equal(error.status, with_file);
  tb_status_t with_pairs = tb_mcap_file_add_metadata(path, "pairs", keys, values, 2, &error);
  if (with_pairs) assert_int_equal(error.status, with_pairs);
  fault_arm(false);
  assert_ok(list_and_get(path, &parts));
  added = !with_file + !with_pairs;
  bool is_in_place = strstr(error.text, "it is changed");
  assert_int_equal(parts, 2 + added + is_in_place);
  return status ? status : with_file ? with_file : with_pairs;
}

/* ---- writing ---- */

static tb_bag_compression_mode_t written_mode;
static const char *written_storage = "sqlite3";

static void on_split(const char *closed, const char *opened, void *user)
{
  (void)closed, (void)opened, (void)user;
}

static tb_status_t write_messages(tb_bag_writer_t *writer)
{
  static const uint8_t data[100] = {0, 1};
  const tb_bag_writer_topic_t topic = {.name = "/a", .type = "t", .offers = "- depth: 3"};
  tb_status_t status;
  size_t index = 77;
  TRY(tb_bag_writer_set_custom_data(writer, "key", "value", NULL));
  status = tb_bag_writer_add_topic(writer, &topic, &index, NULL);
  if (status) assert_int_equal(index, 77);
  if (status) goto end;
  TRY(tb_bag_writer_write(writer, index, 1, 1, data, sizeof data, NULL));
  TRY(tb_bag_writer_flush(writer, TB_BAG_FLUSH_DISK, NULL));
  TRY(tb_bag_writer_write(writer, index, 2, 1, data, sizeof data, NULL));
  TRY(tb_bag_writer_split(writer, NULL));
  TRY(tb_bag_writer_write(writer, index, 3, 1, data, sizeof data, NULL));
end:
  return status;
}

/* What was flushed before the failure is there after it. */
static void assert_readable(const char *path, uint64_t flushed)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  assert_true(tb_bag_reader_info(reader)->message_count >= flushed);
  tb_bag_reader_close(reader);
}

static tb_status_t writing(void)
{
  tb_status_t status;
  tb_bag_writer_t *writer = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = written_mode;
  options.storage_id = written_storage;
  options.chunk_compression = TB_BAG_CHUNKS_ZSTD;
  options.on_split = on_split;
  fault_arm(false);
  char *path = tb__test_path(folder, "out");
  fault_arm(true);
  uint64_t flushed = 0;
  status = MAKES(writer, tb_bag_writer_create(path, &options, &writer, &error));
  bool created = !status;
  if (!status) status = write_messages(writer);
  if (created) flushed = tb_bag_writer_topic_count(writer, 0);
  tb_status_t closed = tb_bag_writer_close(writer, &error);
  if (closed) assert_true(error.text[0]);
  fault_arm(false);
  if (created && !closed) assert_readable(path, flushed);
  tb__test_folder_remove(path);
  return status ? status : closed;
}

static void test_faults_in_writing(void **state)
{
  (void)state;
  written_mode = TB_BAG_COMPRESS_NONE;
  fault_sweep(writing, NULL);
  written_mode = TB_BAG_COMPRESS_MESSAGES;
  fault_sweep(writing, NULL);
  written_mode = TB_BAG_COMPRESS_FILES;
  fault_sweep(writing, NULL);
  written_storage = "mcap";
  fault_sweep(writing, NULL);
}

/* In memory: it is written and synced more than a thousand times. */
static int make_fast_folder(void **state)
{
  (void)state;
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  folder = tb__test_folder_make();
  unsetenv("TMPDIR");
  return 0;
}

static int make_compressed_bag(void **state)
{
  make_fast_folder(state);
  setenv("TMPDIR", folder, 1);
  char *path = tb__test_path(folder, "bag");
  tb_bag_writer_t *writer = NULL;
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.compression_mode = TB_BAG_COMPRESS_FILES;
  assert_ok(tb_bag_writer_create(path, &options, &writer, NULL));
  assert_ok(write_messages(writer));
  assert_ok(tb_bag_writer_close(writer, NULL));
  char *inner = folder;
  folder = path;
  free(inner);
  return 0;
}

static int remove_compressed_bag(void **state)
{
  (void)state;
  unsetenv("TMPDIR");
  *strrchr(folder, '/') = '\0';
  tb__test_folder_remove(folder);
  return 0;
}

static tb_status_t checking(void)
{
  tb_bag_check_result_t result;
  tb_status_t status = tb_bag_check(folder, NULL, NULL, &result, NULL);
  /* What fails once is a finding like any other. */
  return status || result.finding_count == 0 ? status : fault_status();
}

static void test_faults_in_checking(void **state)
{
  (void)state;
  fault_sweep(checking, NULL);
}

/* ---- recording ---- */

static tb_status_t take(tb_recorder_t *recorder, size_t topic)
{
  static const uint8_t data[100] = {0, 1};
  const tb_recorder_message_t message = {.data = data, .size = sizeof data, .receive_ns = 5 * MS};
  return tb_recorder_take(recorder, topic, &message);
}

/* What a failure has cost is counted, on whichever thread it was. */
static tb_status_t recording(void)
{
  const tb_bag_writer_topic_t topic = {.name = "/a", .type = "t"};
  tb_status_t status;
  tb_recorder_t *recorder = NULL;
  size_t index = 77;
  fault_arm(false);
  char *path = tb__test_path(folder, "recorded");
  fault_arm(true);
  TRY_MAKE(recorder, tb_recorder_create(path, NULL, &recorder, NULL));
  status = tb_recorder_add_topic(recorder, &topic, &index, NULL);
  if (status) assert_int_equal(index, 77);
  if (status) goto end;
  tb_status_t taken = take(recorder, index);
  TRY(tb_recorder_split(recorder, NULL, NULL));
  tb_status_t second = take(recorder, index);
  status = tb_recorder_stop(recorder, NULL);
  tb_recorder_status_t result;
  tb_recorder_status(recorder, &result);
  assert_int_equal(result.written + result.lost, 2);
  if (!status) assert_int_equal(result.lost, (taken != TB_OK) + (second != TB_OK));
  if (!status) status = taken ? taken : second;
end:
  tb_recorder_destroy(recorder);
  fault_arm(false);
  tb__test_folder_remove(path);
  return status;
}

static void test_faults_in_recording(void **state)
{
  (void)state;
  fault_sweep(recording, NULL);
}

/* ---- playing ---- */

static int sent;

static tb_status_t add_topic(void *self, const tb_bag_topic_t *topic, void **out_handle,
                             tb_error_t *error)
{
  (void)self, (void)topic, (void)error;
  *out_handle = &sent;
  return TB_OK;
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  (void)self, (void)data, (void)size, (void)error;
  ++*(int *)handle;
  return TB_OK;
}

static tb_status_t play_with(const tb_player_options_t *options)
{
  static const tb_play_transport_ops_t ops = {.add_topic = add_topic, .publish = publish};
  const tb_play_transport_t transport = {.ops = &ops};
  tb_status_t status;
  tb_bag_reader_t *reader = NULL;
  tb_player_t *player = NULL;
  tb__manual_pacer_t pacer;
  tb__manual_pacer_init(&pacer);
  sent = 0;
  TRY_MAKE(reader, tb_bag_reader_open(folder, NULL, &reader, NULL));
  TRY_MAKE(player, tb__player_create(reader, &transport, options, &pacer.base, &player, NULL));
  TRY(tb_player_run(player, NULL, NULL));
  tb_player_status_t end;
  tb_player_status(player, &end);
  assert_int_equal(end.messages, sent);
  if (end.bad_rows) status = fault_status(); /* reported by the count, and in the log */
end:
  tb_player_destroy(player);
  tb_bag_reader_close(reader);
  return status;
}

static tb_status_t playing(void)
{
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  options.read_ahead_messages = 0; /* on this thread */
  return play_with(&options);
}

/* Which has started, and is not waited for otherwise. */
static tb_status_t playing_on_a_clock(void)
{
  tb_status_t status;
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  options.read_ahead_messages = 0;
  options.rate = TB_PLAYER_FASTEST;
  TRY_MAKE(source, tb_manual_source_create(&source));
  tb_clock_options_t clock_options = {TB_TIME_ROS, source};
  TRY_MAKE(clock, tb_clock_create(&clock_options, &clock));
  TRY(tb_manual_source_set(source, 1));
  options.clock = clock;
  status = play_with(&options);
end:
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return status;
}

static tb_status_t searching(void)
{
  tb_status_t status;
  tb_topic_expression_t *expression = NULL;
  bool found;
  TRY_MAKE(expression, tb_topic_expression_create("^/(a)(?:b\\1)*", &expression, NULL));
  TRY(tb_topic_expression_search(expression, "/aba", &found, NULL));
end:
  tb_topic_expression_destroy(expression);
  return status;
}

static void test_faults_in_searching(void **state)
{
  (void)state;
  fault_sweep(searching, NULL);
}

static void test_faults_in_reading(void **state)
{
  (void)state;
  fault_sweep(reading, NULL);
}

static void test_faults_in_recovering(void **state)
{
  (void)state;
  fault_sweep(recovering, NULL);
}

static bool note_attachment(const tb_mcap_part_t *part, void *user)
{
  if (part->kind == TB_MCAP_PART_ATTACHMENT) *(uint64_t *)user = part->offset;
  return true;
}

static void test_faults_in_adding(void **state)
{
  (void)state;
  char *path = tb__test_path(folder, "one.mcap");
  assert_ok(tb_mcap_file_list(path, note_attachment, &attachment_at, NULL));
  free(path);
  fault_sweep(adding, NULL);
}

static void test_faults_in_playing(void **state)
{
  (void)state;
  fault_sweep(playing, NULL);
  fault_sweep(playing_on_a_clock, NULL);
}

int main(void)
{
  fail_in_sqlite();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_faults_in_reading, make_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_reading, make_bare_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_reading, make_compressed_bag,
                                      remove_compressed_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_checking, make_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_writing, make_fast_folder, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_reading, make_mcap_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_recovering, make_mcap_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_adding, make_mcap_bag, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_recording, make_fast_folder, remove_bag),
      cmocka_unit_test_setup_teardown(test_faults_in_playing, make_bag, remove_bag),
      cmocka_unit_test(test_faults_in_searching),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

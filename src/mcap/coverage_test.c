/* When the summary of an MCAP file is trusted, and what becomes of one that lies. */
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>

#define FIXTURE_FILE "a.mcap"

#include "bag/file_fixture.h"
#include "bag/test_mcap.h"
#include "mcap/index.h"
#include "test.h"

#define PER_CHUNK 5

static void add_chunk(tb__test_mcap_t *mcap, unsigned number)
{
  tb__test_mcap_chunk_begin(mcap, TB__MCAP_NONE);
  if (number == 0) tb__test_mcap_channel(mcap, 1, "/a", "std_msgs/msg/String");
  for (unsigned i = 0; i < PER_CHUNK; i++)
    tb__test_mcap_message(mcap, 1, 1000 + number * PER_CHUNK + i, "\0\1\0\0", 4);
  tb__test_mcap_chunk_end(mcap);
}

static void begin(tb__test_mcap_t *mcap, unsigned chunks)
{
  tb__test_mcap_begin(mcap);
  for (unsigned i = 0; i < chunks; i++)
    add_chunk(mcap, i);
}

/* How often a row could not be read; *messages: how many could. */
static unsigned read_all(uint64_t *messages)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  unsigned failures = 0;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  *messages = 0;
  for (;;) {
    tb_bag_message_t message;
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) break;
    if (status)
      failures++;
    else
      ++*messages;
  }
  tb_bag_reader_close(reader);
  return failures;
}

static void on_finding(const char *text, void *user)
{
  char *all = user;
  strncat(all, text, 3000 - strlen(all) - 1);
  strncat(all, "\n", 3000 - strlen(all) - 1);
}

/* Ends the file and frees it: `messages` of it are read with so many failures; the check reports
 * `said`, or nothing if that is NULL. */
static void assert_read(tb__test_mcap_t *mcap, uint64_t messages, unsigned failures,
                        const char *said)
{
  char findings[3000] = "";
  tb_bag_check_result_t result;
  uint64_t read;
  tb__test_mcap_end(mcap, true);
  tb__test_mcap_save(mcap, path);
  tb__test_mcap_fini(mcap);
  assert_int_equal(read_all(&read), failures);
  assert_int_equal(read, messages);
  assert_ok(tb_bag_check(path, on_finding, findings, &result, NULL));
  assert_int_equal(result.message_count, messages);
  if (!said) assert_string_equal(findings, "");
  if (said && !strstr(findings, said)) fail_msg("\"%s\" does not say \"%s\"", findings, said);
}

static void test_a_summary_that_covers_the_data_is_trusted(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  begin(&mcap, 3);
  tb__test_mcap_attachment(&mcap, "notes.txt", "some text");
  add_chunk(&mcap, 3);
  tb__test_mcap_metadata(&mcap, "name", "key", "value");
  tb__test_mcap_end(&mcap, true);
  /* Nothing in a chunk is looked at to find that out. */
  for (size_t i = 60; i < 200; i++)
    mcap.file.bytes[i] ^= 0x55;
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
  tb__bag_input_t input;
  tb__mcap_index_t index = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__bag_input_open(path, path, &input, &error));
  if (tb__mcap_index_load(&input, &index, &error)) fail_msg("%s", error.text);
  assert_true(index.is_of_summary);
  assert_int_equal(index.block_count, 4);
  assert_null(index.oddity);
  tb__mcap_index_fini(&index);
  tb__bag_input_close(&input);
}

/* Statistics and index say that it is not there. */
static void test_a_chunk_that_the_summary_hides(void **state)
{
  (void)state;
  for (unsigned hidden = 0; hidden < 3; hidden++) {
    tb__test_mcap_t mcap = {0};
    tb__test_mcap_begin(&mcap);
    for (unsigned i = 0; i < 3; i++) {
      size_t before = mcap.chunk_index.size;
      add_chunk(&mcap, i);
      if (i != hidden) continue;
      mcap.chunk_index.size = before;
      mcap.chunks--;
      mcap.counts[1] -= PER_CHUNK;
    }
    assert_read(&mcap, 3 * PER_CHUNK, 0, "the summary leaves out a chunk");
  }
}

static void test_messages_outside_of_chunks_that_the_summary_hides(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  begin(&mcap, 2);
  tb__test_mcap_message(&mcap, 1, 1003, "\0\1\0\0", 4);
  mcap.counts[1]--;
  assert_read(&mcap, 2 * PER_CHUNK + 1, 0, "the summary's count of messages is wrong");
}

static void test_statistics_that_contradict_the_rest(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  begin(&mcap, 2);
  mcap.counts[1] += 7;
  assert_read(&mcap, 2 * PER_CHUNK, 0, "the summary contradicts itself");
  begin(&mcap, 2);
  mcap.attachments++;
  assert_read(&mcap, 2 * PER_CHUNK, 0, "the summary's count of attachments or metadata");
  begin(&mcap, 2);
  mcap.chunks--;
  assert_read(&mcap, 2 * PER_CHUNK, 0, "its statistics and its index count chunks");
}

/* By the entry of the first chunk the second belongs to its message indexes. */
static void test_a_chunk_hidden_among_message_indexes(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  tb__test_mcap_begin(&mcap);
  add_chunk(&mcap, 0);
  size_t entry = mcap.chunk_index.size, start = mcap.file.size;
  add_chunk(&mcap, 1);
  mcap.chunk_index.size = entry;
  mcap.chunks--;
  uint8_t *length = mcap.chunk_index.bytes + TB__MCAP_HEAD_SIZE + 32 + 4 + 10;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(length, 8);
  uint64_t own = tb__mcap_take_u64(&cursor);
  tb__mcap_put_u64(&length, own + mcap.file.size - start);
  mcap.counts[1] = (own + mcap.file.size - start - 15) / 16;
  assert_read(&mcap, 2 * PER_CHUNK, 0, "message indexes cannot be where it lists them");
}

static void test_definitions_that_differ_in_the_summary(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  begin(&mcap, 2);
  uint8_t *name = memmem(mcap.definitions.bytes, mcap.definitions.size, "/a", 2);
  name[1] = 'b';
  assert_read(&mcap, 2 * PER_CHUNK, 1, "the summary defines a channel or schema differently");
}

/* Message indexes of two channels, which the summary lists in either order. */
static void add_two_channels(tb__test_mcap_t *mcap, bool is_reversed)
{
  size_t entry = mcap->chunk_index.size;
  tb__test_mcap_chunk_begin(mcap, TB__MCAP_NONE);
  tb__test_mcap_channel(mcap, 2, "/b", "std_msgs/msg/String");
  for (unsigned i = 0; i < 3; i++)
    tb__test_mcap_message(mcap, (uint16_t)(2 - i % 2), 1500 + i, "\0\1\0\0", 4);
  tb__test_mcap_chunk_end(mcap);
  uint8_t *places = mcap->chunk_index.bytes + entry + TB__MCAP_HEAD_SIZE + 32 + 4, first[10];
  if (!is_reversed) return;
  memcpy(first, places, 10);
  memmove(places, places + 10, 10);
  memcpy(places + 10, first, 10);
}

/* The numbers of two channels are wrong, with the right sum. */
static void test_counts_of_channels_that_the_indexes_contradict(void **state)
{
  (void)state;
  for (int reversed = 0; reversed < 2; reversed++) {
    tb__test_mcap_t mcap = {0};
    begin(&mcap, 2);
    add_two_channels(&mcap, reversed);
    assert_read(&mcap, 2 * PER_CHUNK + 3, 0, NULL);
    begin(&mcap, 2);
    add_two_channels(&mcap, reversed);
    mcap.counts[1]--;
    mcap.counts[2]++;
    assert_read(&mcap, 2 * PER_CHUNK + 3, 0,
                "its statistics and its index count a channel differently");
  }
}

/* In no place that a summary lists, so that nothing confirms the numbers of two channels. */
static void test_message_indexes_that_are_nowhere(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  begin(&mcap, 2);
  size_t entry = mcap.chunk_index.size;
  add_two_channels(&mcap, false);
  memset(mcap.chunk_index.bytes + entry + TB__MCAP_HEAD_SIZE + 32 + 4 + 2, 0, 8);
  mcap.counts[1]--;
  mcap.counts[2]++;
  assert_read(&mcap, 2 * PER_CHUNK + 3, 0, "message indexes cannot be where it lists them");
}

static void put_time(tb__test_mcap_t *mcap, size_t entry, size_t place, uint64_t time_ns)
{
  uint8_t *at = mcap->chunk_index.bytes + entry + TB__MCAP_HEAD_SIZE + place;
  tb__mcap_put_u64(&at, time_ns);
}

/* Statistics and index agree on them. */
static void test_times_that_the_chunks_contradict(void **state)
{
  (void)state;
  const char *said = "the chunk has other times than the summary lists";
  for (unsigned chunks = 1; chunks < 4; chunks += 2) {
    tb__test_mcap_t mcap = {0};
    begin(&mcap, chunks);
    put_time(&mcap, 0, 0, 1);
    mcap.start_ns = 1;
    assert_read(&mcap, (uint64_t)chunks * PER_CHUNK, 0, said);
    begin(&mcap, chunks);
    size_t entry = mcap.chunk_index.size / chunks * (chunks - 1);
    put_time(&mcap, entry, 8, 9000);
    mcap.end_ns = 9000;
    assert_read(&mcap, (uint64_t)chunks * PER_CHUNK, 0, said);
  }
}

/* Opens the file so that it is counted by its summary, if that can be confirmed. */
static void assert_counted(tb_bag_counts_t counts, uint64_t messages, tb_bag_counted_t counted,
                           const char *odd)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.counts = counts;
  if (tb_bag_reader_open(path, &options, &reader, &error)) fail_msg("%s", error.text);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->message_count, messages);
  assert_int_equal(info->topics[0].message_count, messages);
  assert_int_equal(info->counted, counted);
  assert_int_equal(info->oddity_count, odd ? 1 : 0);
  if (odd && !strstr(info->oddities[0], odd)) fail_msg("\"%s\"", info->oddities[0]);
  for (uint64_t i = 0; i < 2 * PER_CHUNK; i++) {
    tb_bag_message_t message;
    assert_ok(tb_bag_reader_next(reader, &message, &error));
    assert_int_equal(message.log_time_ns, 1000 + i);
  }
  tb_bag_reader_close(reader);
}

/* The message indexes do. */
static void test_statistics_that_count_no_channels(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {.counts_no_channels = true};
  begin(&mcap, 2);
  tb__test_mcap_end(&mcap, true);
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
  assert_counted(TB_BAG_COUNTS_SUMMARY, 2 * PER_CHUNK, TB_BAG_COUNTED_SUMMARY, NULL);
}

/* Without message indexes only the statistics count messages. */
static void test_counts_that_nothing_confirms(void **state)
{
  (void)state;
  for (unsigned hidden = 0; hidden < 4; hidden += 3) {
    tb__test_mcap_t mcap = {.has_no_indexes = true};
    begin(&mcap, 2);
    mcap.counts[1] -= hidden;
    tb__test_mcap_end(&mcap, true);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    const char *odd =
        hidden ? "the summary's count of messages is wrong: 7, and there are 10" : NULL;
    assert_counted(TB_BAG_COUNTS_SUMMARY, 2 * PER_CHUNK, TB_BAG_COUNTED_MESSAGES, odd);
    assert_counted(TB_BAG_COUNTS_EXACT, 2 * PER_CHUNK, TB_BAG_COUNTED_MESSAGES, odd);
    assert_counted(TB_BAG_COUNTS_AUTO, 2 * PER_CHUNK - hidden, TB_BAG_COUNTED_SUMMARY, NULL);
  }
}

/* Of the records of definitions, without the first `from` bytes and all from `to` on. */
static void list_only(tb__test_mcap_t *mcap, size_t from, size_t to, unsigned channels)
{
  mcap->definitions.size = to - from;
  memmove(mcap->definitions.bytes, mcap->definitions.bytes + from, to - from);
  mcap->channels = channels;
}

/* Writers may leave them out. */
static void test_definitions_that_only_the_data_has(void **state)
{
  (void)state;
  const char *odd = "does not list all channels and schemas";
  for (unsigned form = 0; form < 4; form++) {
    tb__test_mcap_t mcap = {.has_no_indexes = form % 2, .counts_no_channels = form == 2};
    begin(&mcap, 2);
    list_only(&mcap, 0, 0, 0);
    if (form == 3) mcap.counts[1] = 0;
    assert_read(&mcap, 2 * PER_CHUNK, 0, form == 3 ? "count of messages is wrong" : NULL);
    mcap = (tb__test_mcap_t){.has_no_indexes = form % 2};
    begin(&mcap, 2);
    size_t schema = TB__MCAP_HEAD_SIZE + (size_t)mcap.definitions.bytes[1],
           end = mcap.definitions.size;
    list_only(&mcap, schema, end, 1); /* its channel alone */
    assert_read(&mcap, 2 * PER_CHUNK, 0, odd);
    mcap = (tb__test_mcap_t){.has_no_indexes = form % 2};
    tb__test_mcap_begin(&mcap);
    tb__test_mcap_channel(&mcap, 1, "/a", "t");
    size_t first = mcap.definitions.size;
    add_two_channels(&mcap, false);
    list_only(&mcap, 0, first, 1);
    assert_read(&mcap, 3, 0, odd);
  }
}

/* Chunks of other topics are not read, though they are damaged; one without indexes is. */
static void test_chunks_without_a_wanted_topic_are_passed_over(void **state)
{
  (void)state;
  const char *const names[] = {"/a", "/b"};
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.topic_count = 1;
  for (unsigned form = 0; form < 4; form++) {
    tb__test_mcap_t mcap = {.has_no_indexes = form == 3};
    begin(&mcap, 1);
    size_t end = mcap.file.size;
    add_two_channels(&mcap, false);
    add_chunk(&mcap, 2);
    mcap.file.bytes[end - 160] ^= 1; /* in the first chunk */
    tb__test_mcap_end(&mcap, true);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    options.topics = &names[form % 2];
    tb_bag_reader_t *reader = NULL;
    tb_bag_message_t message;
    tb_status_t status;
    unsigned good = 0, bad = 0;
    assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
    while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END)
      *(status ? &bad : &good) += 1;
    assert_int_equal(good, form % 2 ? 2 : PER_CHUNK + 1);
    assert_int_equal(bad, form == 1 ? 0 : 1);
    tb_bag_reader_close(reader);
  }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_a_summary_that_covers_the_data_is_trusted),
      TEST(test_a_chunk_that_the_summary_hides),
      TEST(test_messages_outside_of_chunks_that_the_summary_hides),
      TEST(test_statistics_that_contradict_the_rest),
      TEST(test_a_chunk_hidden_among_message_indexes),
      TEST(test_definitions_that_differ_in_the_summary),
      TEST(test_counts_of_channels_that_the_indexes_contradict),
      TEST(test_message_indexes_that_are_nowhere),
      TEST(test_statistics_that_count_no_channels),
      TEST(test_definitions_that_only_the_data_has),
      TEST(test_chunks_without_a_wanted_topic_are_passed_over),
      TEST(test_times_that_the_chunks_contradict),
      TEST(test_counts_that_nothing_confirms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

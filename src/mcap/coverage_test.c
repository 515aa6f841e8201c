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
  assert_read(&mcap, PER_CHUNK, 1, "the chunk does not have the messages that its indexes list");
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Reading MCAP of every shape, whole and damaged. */
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "bag/test_mcap.h"
#include "mcap/order.h"
#include "seed.h"
#include "test.h"

#define MAX_MESSAGES 4096

typedef struct model_message {
  uint64_t log_time_ns;
  unsigned number; /* in the file */
  uint16_t channel;
} model_message_t;

typedef struct model {
  model_message_t messages[MAX_MESSAGES];
  size_t count;
} model_t;

static char *folder, *path;
static model_t model;

static int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "a.mcap");
  model.count = 0;
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  free(path);
  tb__test_folder_remove(folder);
  return 0;
}

/* The payload carries the number of the message, and is long enough to be compressed. */
static void add(tb__test_mcap_t *mcap, uint16_t channel, uint64_t log_time_ns)
{
  uint8_t data[40] = {0, 1};
  unsigned number = (unsigned)model.count;
  assert_true(model.count < MAX_MESSAGES);
  memcpy(data + 4, &number, sizeof number);
  model.messages[model.count++] = (model_message_t){log_time_ns, number, channel};
  tb__test_mcap_message(mcap, channel, log_time_ns, data, sizeof data);
}

static int compare(const void *a, const void *b)
{
  const model_message_t *x = a, *y = b;
  if (x->log_time_ns != y->log_time_ns) return x->log_time_ns < y->log_time_ns ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static void sort_model(void)
{
  qsort(model.messages, model.count, sizeof *model.messages, compare);
}

static void add_channels(tb__test_mcap_t *mcap)
{
  tb__test_mcap_channel(mcap, 1, "/a", "std_msgs/msg/String");
  tb__test_mcap_channel(mcap, 2, "/b", "std_msgs/msg/Header");
}

/* Overlapping chunks whose messages are in no order. */
static void make_random(tb__test_mcap_t *mcap, uint64_t *random, bool with_summary)
{
  tb__test_mcap_begin(mcap);
  int chunks = 1 + (int)(test_random(random) % 12);
  for (int chunk = 0; chunk < chunks; chunk++) {
    tb__test_mcap_chunk_begin(mcap, (tb__mcap_compression_t)(test_random(random) % 3));
    if (chunk == 0) add_channels(mcap);
    for (uint64_t left = test_random(random) % 40; left > 0; left--)
      add(mcap, (uint16_t)(1 + left % 2), 1000 + 50 * (uint64_t)chunk + test_random(random) % 120);
    tb__test_mcap_chunk_end(mcap);
    if (test_random(random) % 4 == 0) tb__test_mcap_attachment(mcap, "notes.txt", "text");
  }
  tb__test_mcap_end(mcap, with_summary);
  sort_model();
}

static void make_plain(tb__test_mcap_t *mcap, tb__mcap_compression_t compression, bool with_summary)
{
  tb__test_mcap_begin(mcap);
  for (int chunk = 0; chunk < 3; chunk++) {
    tb__test_mcap_chunk_begin(mcap, compression);
    if (chunk == 0) add_channels(mcap);
    for (int i = 0; i < 5; i++)
      add(mcap, (uint16_t)(1 + i % 2), 1000 + 10 * (uint64_t)model.count);
    tb__test_mcap_chunk_end(mcap);
  }
  tb__test_mcap_metadata(mcap, "rosbag2", "ROS_DISTRO", "jazzy");
  tb__test_mcap_end(mcap, with_summary);
}

static tb_bag_reader_t *open_bag(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

static bool is_message(const tb_bag_reader_t *reader, const tb_bag_message_t *message,
                       const model_message_t *expected)
{
  const char *topic = tb_bag_reader_info(reader)->topics[message->topic].name;
  return (uint64_t)message->log_time_ns == expected->log_time_ns &&
         (uint64_t)message->publish_time_ns == expected->log_time_ns + 5 && message->size == 40 &&
         memcmp(message->data + 4, &expected->number, sizeof expected->number) == 0 &&
         strcmp(topic, expected->channel == 1 ? "/a" : "/b") == 0;
}

static void assert_extra_records(tb_bag_reader_t *reader, size_t from)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  for (size_t i = from; i < model.count; i++) {
    if (tb_bag_reader_next(reader, &message, &error)) fail_msg("message %zu: %s", i, error.text);
    if (!is_message(reader, &message, &model.messages[i])) fail_msg("message %zu differs", i);
  }
  assert_int_equal(tb_bag_reader_next(reader, &message, &error), TB_ERR_END);
}

static size_t first_at(uint64_t time_ns)
{
  size_t i = 0;
  while (i < model.count && model.messages[i].log_time_ns < time_ns)
    i++;
  return i;
}

static void assert_whole(uint64_t *random)
{
  tb_bag_reader_t *reader = open_bag();
  assert_int_equal(tb_bag_reader_info(reader)->message_count, model.count);
  assert_extra_records(reader, 0);
  for (int i = 0; i < 5 && random; i++) {
    uint64_t time_ns = 990 + test_random(random) % 700;
    assert_ok(tb_bag_reader_seek(reader, (int64_t)time_ns));
    assert_extra_records(reader, first_at(time_ns));
  }
  tb_bag_reader_close(reader);
}

static void test_each_compression(void **state)
{
  (void)state;
  for (int i = 0; i < 6; i++) {
    tb__test_mcap_t mcap = {0};
    model.count = 0;
    make_plain(&mcap, (tb__mcap_compression_t)(i % 3), i < 3);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    tb_bag_reader_t *reader = open_bag();
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    assert_string_equal(info->storage_id, "mcap");
    assert_string_equal(info->ros_distro, "jazzy");
    assert_int_equal(info->message_count, 15);
    assert_int_equal(info->start_ns, 1000);
    assert_int_equal(info->end_ns, 1140);
    assert_int_equal(info->topic_count, 2);
    assert_string_equal(info->topics[0].name, "/a");
    assert_string_equal(info->topics[0].type, "std_msgs/msg/String");
    assert_string_equal(info->topics[0].type_hash, "RIHS01_00");
    assert_int_equal(info->topics[0].message_count, 9);
    assert_int_equal(info->topics[0].qos.durability, TB_QOS_TRANSIENT_LOCAL);
    assert_extra_records(reader, 0);
    tb_bag_reader_close(reader);
  }
}

/* Chunks of definitions alone, as a recorder without messages leaves them, lose nothing. */
static void test_chunks_without_messages(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    tb__test_mcap_t mcap = {0};
    tb__test_mcap_begin(&mcap);
    tb__test_mcap_chunk_begin(&mcap, TB__MCAP_LZ4);
    add_channels(&mcap);
    tb__test_mcap_chunk_end(&mcap);
    tb__test_mcap_end(&mcap, i == 0);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    tb_bag_reader_t *reader = open_bag();
    assert_int_equal(tb_bag_reader_info(reader)->message_count, 0);
    assert_int_equal(tb_bag_reader_info(reader)->topic_count, 2);
    assert_extra_records(reader, 0);
    tb_bag_reader_close(reader);
  }
}

static void test_order_of_overlapping_chunks(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int i = 0; i < 60; i++) {
    tb__test_mcap_t mcap = {0};
    model.count = 0;
    make_random(&mcap, &random, i % 2 == 0);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    assert_whole(&random);
  }
}

static void test_without_chunks(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  tb__test_mcap_t mcap = {0};
  tb__test_mcap_begin(&mcap);
  add_channels(&mcap);
  for (int i = 0; i < 500; i++) {
    add(&mcap, (uint16_t)(1 + i % 2), 1000 + test_random(&random) % 300);
    if (i % 100 == 50) tb__test_mcap_attachment(&mcap, "notes.txt", "text");
    if (i == 300) { /* larger than the pieces that such messages are read in */
      void *large = calloc(1, 3 << 20);
      tb__test_mcap_message(&mcap, 3, 1, large, 3 << 20);
      free(large);
    }
  }
  tb__test_mcap_end(&mcap, true);
  sort_model();
  tb__test_mcap_save(&mcap, path);
  tb__test_mcap_fini(&mcap);
  tb_bag_reader_t *reader = open_bag();
  tb_bag_message_t message;
  tb_error_t error;
  assert_int_equal(tb_bag_reader_next(reader, &message, &error), TB_ERR_CORRUPT);
  assert_non_null(strstr(error.text, "topic id"));
  assert_extra_records(reader, 0);
  tb_bag_reader_close(reader);
}

/* Chunks that do not fit into the cache are loaded again when their turn comes. */
static void test_small_cache(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int i = 0; i < 20; i++) {
    tb__test_mcap_t mcap = {0};
    tb__bag_input_t input;
    tb__mcap_index_t index;
    tb__mcap_order_t order;
    tb__bag_item_t item;
    const tb__bag_wanted_t all = {NULL, NULL};
    tb_error_t error = TB_ERROR_INIT, damage = TB_ERROR_INIT;
    model.count = 0;
    make_random(&mcap, &random, true);
    tb__test_mcap_save(&mcap, path);
    tb__test_mcap_fini(&mcap);
    assert_ok(tb__bag_input_open(path, path, &input, &error));
    assert_ok(tb__mcap_index_load(&input, &index, &error));
    tb__mcap_order_init(&order, &input, &index);
    order.base.cache_size = 2000;
    assert_ok(tb__mcap_order_seek(&order, &all, 0, &error));
    for (size_t k = 0; k < model.count; k++) {
      order.base.loaded_bytes = 0; /* how often is the matter of limits_test.c */
      assert_ok(tb__bag_order_next(&order.base, &item, &damage, &error));
      assert_int_equal(item.time_ns, model.messages[k].log_time_ns);
      assert_memory_equal(item.content + TB__MCAP_MESSAGE_SIZE + 4, &model.messages[k].number, 4);
    }
    assert_int_equal(tb__bag_order_next(&order.base, &item, &damage, &error), TB_ERR_END);
    tb__mcap_order_fini(&order);
    tb__mcap_index_fini(&index);
    tb__bag_input_close(&input);
  }
}

typedef struct outcome {
  size_t messages, errors, foreign; /* foreign: of no message that was written */
  tb_status_t last;
} outcome_t;

/* What a damaged file gives. Each message is at most once in it, and in order. */
static outcome_t read_damaged(tb_bag_reader_t *reader)
{
  outcome_t outcome = {0};
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status;
  int64_t last_ns = 0;
  while ((status = tb_bag_reader_next(reader, &message, &error)) != TB_ERR_END) {
    if (status) {
      outcome.errors++;
      outcome.last = status;
      assert_int_equal(error.status, status);
      assert_non_null(strstr(error.text, path));
      continue;
    }
    size_t i = first_at((uint64_t)message.log_time_ns);
    outcome.foreign += i == model.count || !is_message(reader, &message, &model.messages[i]);
    assert_true(message.log_time_ns >= last_ns);
    last_ns = message.log_time_ns;
    outcome.messages++;
  }
  return outcome;
}

/* Opens and reads; returns the outcome, of a failed open only the status. */
static outcome_t try_file(const void *bytes, size_t size)
{
  tb__test_write(path, bytes, size);
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_bag_reader_open(path, NULL, &reader, &error);
  if (status) return (outcome_t){0, 1, 0, status};
  outcome_t outcome = read_damaged(reader);
  tb_bag_reader_close(reader);
  return outcome;
}

static void test_cut_at_every_byte(void **state)
{
  (void)state;
  for (int compression = 0; compression < 3; compression++) {
    tb__test_mcap_t mcap = {0};
    model.count = 0;
    make_plain(&mcap, (tb__mcap_compression_t)compression, true);
    size_t last = 0;
    for (size_t size = 0; size < mcap.file.size; size++) {
      outcome_t outcome = try_file(mcap.file.bytes, size);
      if (outcome.errors != 1 || outcome.last != TB_ERR_TRUNCATED || outcome.foreign > 0 ||
          outcome.messages % 5 != 0 || outcome.messages < last)
        fail_msg("cut at %zu of %zu: %zu messages, %zu errors, the last one %s", size,
                 mcap.file.size, outcome.messages, outcome.errors, tb_status_name(outcome.last));
      last = outcome.messages;
    }
    assert_int_equal(last, 15);
    tb__test_mcap_fini(&mcap);
  }
}

/* Chunks have CRCs: no message is read other than it was written, and what is missing is reported.
 */
static void test_every_flipped_bit(void **state)
{
  (void)state;
  uint64_t random = test_seed();
  for (int i = 0; i < 4; i++) {
    tb__test_mcap_t mcap = {0};
    model.count = 0;
    make_plain(&mcap, (tb__mcap_compression_t)(i % 3), i > 0);
    for (size_t at = 0; at < mcap.file.size; at++) {
      uint8_t flip = (uint8_t)(1 << test_random(&random) % 8);
      mcap.file.bytes[at] ^= flip;
      outcome_t outcome = try_file(mcap.file.bytes, mcap.file.size);
      mcap.file.bytes[at] ^= flip;
      /* Without a summary, an index that becomes a message shows in the CRC of the data only. */
      bool is_reported = i == 0 && outcome.errors > 0;
      if (!is_reported && (outcome.foreign > 0 || outcome.messages > 15))
        fail_msg("byte %zu ^ %02x: %zu foreign of %zu", at, flip, outcome.foreign,
                 outcome.messages);
      if (outcome.messages - outcome.foreign < 15 && outcome.errors == 0)
        fail_msg("byte %zu ^ %02x: only %zu messages, silently", at, flip, outcome.messages);
    }
    tb__test_mcap_fini(&mcap);
  }
}

static void test_damaged_chunk_costs_only_itself(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  make_plain(&mcap, TB__MCAP_NONE, true);
  uint8_t *data = memmem(mcap.file.bytes, mcap.file.size, "\0\1\0\0\7\0\0\0", 8);
  assert_non_null(data);
  data[10] ^= 1;
  outcome_t outcome = try_file(mcap.file.bytes, mcap.file.size);
  tb__test_mcap_fini(&mcap);
  assert_int_equal(outcome.messages, 10);
  assert_int_equal(outcome.errors, 1);
  assert_int_equal(outcome.last, TB_ERR_CORRUPT);
}

static void test_file_that_shrinks(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {0};
  make_plain(&mcap, TB__MCAP_NONE, true);
  tb__test_mcap_save(&mcap, path);
  tb_bag_reader_t *reader = open_bag();
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb_bag_reader_next(reader, &message, &error));
  assert_int_equal(truncate(path, 1000), 0);
  outcome_t outcome = read_damaged(reader);
  assert_int_equal(outcome.errors, 1);
  assert_int_equal(outcome.last, TB_ERR_TRUNCATED);
  assert_true(outcome.messages < 14);
  tb_bag_reader_close(reader);
  tb__test_mcap_fini(&mcap);
}

static void test_chunk_at_other_times_than_it_says(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {.lies_about_times = true};
  make_plain(&mcap, TB__MCAP_LZ4, true);
  outcome_t outcome = try_file(mcap.file.bytes, mcap.file.size);
  tb__test_mcap_fini(&mcap);
  assert_int_equal(outcome.messages, 15); /* all, without the index, and the error */
  assert_int_equal(outcome.last, TB_ERR_CORRUPT);
}

/* A player would wait from 1970 on. */
static void test_start_that_no_message_has(void **state)
{
  (void)state;
  tb__test_mcap_t mcap = {.claims_start_0 = true};
  make_plain(&mcap, TB__MCAP_LZ4, true);
  tb__test_mcap_save(&mcap, path);
  tb_bag_reader_t *reader = open_bag();
  assert_int_equal(tb_bag_reader_info(reader)->start_ns, 1000);
  tb_bag_reader_close(reader);
  tb__test_mcap_fini(&mcap);
}

/* Sizes that the file cannot be good for are refused before anything is allocated. */
static void test_bombs(void **state)
{
  (void)state;
  static const uint64_t sizes[] = {UINT64_MAX, UINT64_C(1) << 40, UINT64_C(1) << 30, 100 << 20};
  for (int compression = 0; compression < 3; compression++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      tb__test_mcap_t mcap = {0};
      model.count = 0;
      make_plain(&mcap, (tb__mcap_compression_t)compression, false);
      uint8_t *chunk = memchr(mcap.file.bytes, 6, mcap.file.size);
      while (chunk[7] || chunk[8])          /* the length of the chunk */
        chunk = memchr(chunk + 1, 6, 1000); /* of more than that */
      chunk += TB__MCAP_HEAD_SIZE + 16;
      tb__mcap_put_u64(&chunk, sizes[i]);
      outcome_t outcome = try_file(mcap.file.bytes, mcap.file.size);
      tb__test_mcap_fini(&mcap);
      assert_true(outcome.last == TB_ERR_LIMIT || outcome.last == TB_ERR_CORRUPT);
    }
  }
}

int main(void)
{
  setenv("TMPDIR", "/dev/shm", 0); /* thousands of files, each written from scratch */
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_each_compression),
      TEST(test_chunks_without_messages),
      TEST(test_order_of_overlapping_chunks),
      TEST(test_without_chunks),
      TEST(test_small_cache),
      TEST(test_cut_at_every_byte),
      TEST(test_every_flipped_bit),
      TEST(test_damaged_chunk_costs_only_itself),
      TEST(test_file_that_shrinks),
      TEST(test_chunk_at_other_times_than_it_says),
      TEST(test_start_that_no_message_has),
      TEST(test_bombs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

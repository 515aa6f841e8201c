/* Reading bags of ROS 1, whole and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/duration.h>

#include "bag/test_bag.h"
#include "rosbag1/test_rosbag.h"
#include "test.h"

#define S TB_NS_PER_S

static char *folder, *path;
static tb__test_rosbag_t *bag;

static int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "a.bag");
  bag = calloc(1, sizeof *bag);
  return bag ? 0 : -1;
}

static int teardown(void **state)
{
  (void)state;
  free(bag);
  free(path);
  tb__test_folder_remove(folder);
  return 0;
}

static void save(size_t size)
{
  tb__test_write(path, bag->file.at, size);
}

static tb_status_t try_open(const char *where, tb_bag_damage_t damage, tb_bag_reader_t **out,
                            tb_error_t *error)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.damage = damage;
  options.counts = TB_BAG_COUNTS_EXACT;
  return tb_bag_reader_open(where, &options, out, error);
}

static tb_bag_reader_t *open_bag(const char *where, tb_bag_damage_t damage)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (try_open(where, damage, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

/* Reads on: the texts of the messages, each with a blank, and "!" for each failure. */
static size_t read_texts(tb_bag_reader_t *reader, char *out, size_t size)
{
  size_t count = 0, used = 0;
  int64_t last_ns = 0;
  for (int calls = 0; calls < 10000; calls++) {
    tb_bag_message_t message;
    tb_status_t status = tb_bag_reader_next(reader, &message, NULL);
    out[used] = '\0';
    if (status == TB_ERR_END) return count;
    if (status && used + 1 < size) out[used++] = '!';
    if (status) continue;
    assert_true(message.log_time_ns >= last_ns);
    last_ns = message.log_time_ns;
    count++;
    if (message.size < 4 || used + message.size >= size) continue;
    memcpy(out + used, message.data + 4, message.size - 4);
    used += message.size - 4;
    out[used++] = ' ';
  }
  fail_msg("reading does not end");
  return 0;
}

static void expect_texts(const char *where, tb_bag_damage_t damage, const char *expected)
{
  char texts[512];
  tb_bag_reader_t *reader = open_bag(where, damage);
  read_texts(reader, texts, sizeof texts);
  assert_string_equal(texts, expected);
  tb_bag_reader_close(reader);
}

/* Two chunks that overlap in time, and disorder in the first. */
static void make_usual(const char *compression)
{
  memset(bag, 0, sizeof *bag);
  tb__test_rosbag_begin(bag);
  tb__test_rosbag_chunk(bag, compression);
  tb__test_rosbag_message(bag, 0, 1 * S, "one");
  tb__test_rosbag_message(bag, 1, 5 * S, "five");
  tb__test_rosbag_message(bag, 0, 3 * S, "three");
  tb__test_rosbag_end_chunk(bag);
  tb__test_rosbag_chunk(bag, compression);
  tb__test_rosbag_message(bag, 2, 2 * S, "two");
  tb__test_rosbag_message(bag, 0, 3 * S, "later");
  tb__test_rosbag_message(bag, 1, 6 * S, "six");
  tb__test_rosbag_end_chunk(bag);
  tb__test_rosbag_close(bag);
  save(bag->file.size);
}

#define USUAL "one two three later five six "

static void test_whole(void **state)
{
  (void)state;
  static const char *const compressions[] = {"none", "bz2", "lz4"};
  for (size_t i = 0; i < 3; i++) {
    char texts[512];
    make_usual(compressions[i]);
    tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
    const tb_bag_info_t *info = tb_bag_reader_info(reader);
    assert_string_equal(info->storage_id, "rosbag1");
    assert_int_equal(info->message_count, 6);
    assert_int_equal(info->start_ns, 1 * S);
    assert_int_equal(info->end_ns, 6 * S);
    assert_string_equal(info->compression_format, i ? compressions[i] : "");
    assert_int_equal(info->oddity_count + info->unclosed_count, 0);
    assert_int_equal(read_texts(reader, texts, sizeof texts), 6);
    assert_string_equal(texts, USUAL);
    assert_ok(tb_bag_reader_seek(reader, 3 * S));
    read_texts(reader, texts, sizeof texts);
    assert_string_equal(texts, "three later five six ");
    tb_bag_reader_close(reader);
    expect_texts(path, TB_BAG_DAMAGE_SALVAGE, USUAL);
  }
}

/* A chunk of other topics is not read, though it is damaged. */
static void test_chunks_without_a_wanted_topic_are_passed_over(void **state)
{
  (void)state;
  const char *const names[] = {"/b", "/a"};
  const char *const expected[] = {"five ", "!two "};
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.topic_count = 1;
  memset(bag, 0, sizeof *bag);
  tb__test_rosbag_begin(bag);
  for (uint32_t i = 0; i < 3; i++) {
    tb__test_rosbag_chunk(bag, "none");
    tb__test_rosbag_message(bag, i, (i + 1) * S, i == 0 ? "first" : i == 1 ? "five" : "two");
    tb__test_rosbag_end_chunk(bag);
  }
  tb__test_rosbag_close(bag);
  uint8_t *text = memmem(bag->file.at, bag->file.size, "first", 5);
  assert_non_null(text);
  memset(text - 40, 0, 30);
  save(bag->file.size);
  for (size_t i = 0; i < 2; i++) {
    char texts[64];
    tb_bag_reader_t *reader = NULL;
    options.topics = &names[i];
    assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
    read_texts(reader, texts, sizeof texts);
    assert_string_equal(texts, expected[i]);
    tb_bag_reader_close(reader);
  }
}

static void test_topics(void **state)
{
  (void)state;
  make_usual("none");
  tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->topic_count, 2);
  const tb_bag_topic_t *a = &info->topics[0], *b = &info->topics[1];
  assert_string_equal(a->name, "/a");
  assert_string_equal(a->type, "std_msgs/String");
  assert_string_equal(a->serialization_format, "ros1");
  assert_string_equal(a->type_hash, "992ce8a1687cec8c8bd883ec73ca41d1");
  assert_string_equal(a->definition, "string data\n");
  assert_string_equal(a->definition_encoding, "ros1msg");
  assert_int_equal(a->message_count, 4); /* of two publishers */
  assert_int_equal(a->qos.durability, TB_QOS_VOLATILE);
  assert_string_equal(b->name, "/b");
  assert_int_equal(b->message_count, 2);
  assert_int_equal(b->qos.durability, TB_QOS_TRANSIENT_LOCAL);
  tb_bag_reader_close(reader);
}

/* A player of ROS 2 gets none of it. */
static void test_not_as_cdr(void **state)
{
  (void)state;
  tb_bag_message_t message;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  make_usual("none");
  assert_ok(tb_bag_reader_open(path, NULL, &reader, &error));
  assert_status(tb_bag_reader_next(reader, &message, &error), TB_ERR_UNSUPPORTED);
  tb_bag_reader_close(reader);
}

/* A recorder that was killed leaves the last chunk without an end. */
static void test_unclosed(void **state)
{
  (void)state;
  static const char *const compressions[] = {"none", "bz2", "lz4"};
  for (size_t i = 0; i < 3; i++) {
    memset(bag, 0, sizeof *bag);
    tb__test_rosbag_begin(bag);
    tb__test_rosbag_chunk(bag, compressions[i]);
    tb__test_rosbag_message(bag, 0, 1 * S, "one");
    tb__test_rosbag_end_chunk(bag);
    tb__test_rosbag_chunk(bag, compressions[i]);
    tb__test_rosbag_message(bag, 1, 2 * S, "two");
    tb__test_rosbag_message(bag, 0, 3 * S, "three");
    tb__test_rosbag_leave(bag);
    save(bag->file.size);
    tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
    assert_int_equal(tb_bag_reader_info(reader)->unclosed_count, 1);
    tb_bag_reader_close(reader);
    expect_texts(path, TB_BAG_DAMAGE_REFUSE, "one two three !");
    expect_texts(path, TB_BAG_DAMAGE_SALVAGE, "one two three ");
    if (i == 0) {
      save(bag->file.size - 2); /* in the last message */
      expect_texts(path, TB_BAG_DAMAGE_SALVAGE, "one two ");
    }
  }
}

static void test_wrong_index(void **state)
{
  (void)state;
  make_usual("lz4");
  tb__test_rosbag_t *wrong = calloc(1, sizeof *wrong);
  assert_non_null(wrong);
  wrong->more_chunks = 1;
  tb__test_rosbag_begin(wrong);
  tb__test_rosbag_chunk(wrong, "lz4");
  tb__test_rosbag_message(wrong, 0, 1 * S, "one");
  tb__test_rosbag_end_chunk(wrong);
  tb__test_rosbag_close(wrong);
  tb__test_write(path, wrong->file.at, wrong->file.size);
  free(wrong);
  tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
  assert_int_equal(tb_bag_reader_info(reader)->oddity_count, 1);
  assert_non_null(strstr(tb_bag_reader_info(reader)->oddities[0], "its index is not used"));
  tb_bag_reader_close(reader);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, "one ");
}

static void count_finding(const char *text, void *user)
{
  (void)text;
  ++*(int *)user;
}

/* rosbag of C++ crashes by it: reading does not need it, and the check reports it. */
static void test_wrong_message_index(void **state)
{
  (void)state;
  int findings = 0;
  tb_bag_check_result_t result;
  tb_error_t error = TB_ERROR_INIT;
  make_usual("none");
  assert_ok(tb_bag_check(path, count_finding, &findings, &result, &error));
  assert_int_equal(findings, 0);
  memset(bag, 0, sizeof *bag);
  bag->index_error = 7;
  tb__test_rosbag_begin(bag);
  tb__test_rosbag_chunk(bag, "none");
  tb__test_rosbag_message(bag, 0, 1 * S, "one");
  tb__test_rosbag_end_chunk(bag);
  tb__test_rosbag_close(bag);
  save(bag->file.size);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, "one ");
  tb_status_t status = tb_bag_check(path, count_finding, &findings, &result, &error);
  assert_true(status == TB_OK || status == TB_ERR_CORRUPT);
  assert_int_equal(findings, 1);
}

static void test_refused(void **state)
{
  (void)state;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  bag->encryptor = "rosbag/AesCbcEncryptor";
  tb__test_rosbag_begin(bag);
  save(bag->file.size);
  assert_status(try_open(path, TB_BAG_DAMAGE_SALVAGE, &reader, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "rosbag/AesCbcEncryptor"));
  memset(bag, 0, sizeof *bag);
  bag->version = "1.1";
  tb__test_rosbag_begin(bag);
  save(bag->file.size);
  assert_status(try_open(path, TB_BAG_DAMAGE_REFUSE, &reader, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "1.1"));
  tb__test_write(path, "SQLite format 3", 15);
  assert_status(try_open(path, TB_BAG_DAMAGE_REFUSE, &reader, &error), TB_ERR_CORRUPT);
}

/* However short the file is: everything of the chunks that are whole is read, and never more than
 * of a longer one is lost. */
static void test_cut(void **state)
{
  (void)state;
  static const char *const compressions[] = {"none", "bz2", "lz4"};
  for (size_t i = 0; i < 3; i++) {
    size_t before = 0;
    make_usual(compressions[i]);
    for (size_t size = bag->file.size % 3; size <= bag->file.size; size += i ? 3 : 1) {
      char texts[512];
      tb_bag_reader_t *reader = NULL;
      save(size);
      if (try_open(path, TB_BAG_DAMAGE_SALVAGE, &reader, NULL)) {
        assert_int_equal(before, 0);
        continue;
      }
      size_t count = read_texts(reader, texts, sizeof texts);
      assert_true(count >= before);
      before = count;
      tb_bag_reader_close(reader);
    }
    assert_int_equal(before, 6);
  }
}

/* Any byte may be wrong: reading ends, and a scan finds no less than the index does. */
static void test_flipped(void **state)
{
  (void)state;
  static const char *const compressions[] = {"none", "bz2", "lz4"};
  for (size_t i = 0; i < 3; i++) {
    make_usual(compressions[i]);
    for (size_t at = 0; at < bag->file.size; at += i ? 5 : 1) {
      char texts[512];
      size_t counts[2] = {0};
      bag->file.at[at] ^= 0x55;
      save(bag->file.size);
      bag->file.at[at] ^= 0x55;
      for (int k = 0; k < 2; k++) {
        tb_bag_reader_t *reader = NULL;
        if (try_open(path, k ? TB_BAG_DAMAGE_SALVAGE : TB_BAG_DAMAGE_REFUSE, &reader, NULL))
          continue;
        counts[k] = read_texts(reader, texts, sizeof texts);
        tb_bag_reader_close(reader);
      }
      if (counts[1] < counts[0])
        fail_msg("%s, byte %zu: salvaged %zu of %zu", compressions[i], at, counts[1], counts[0]);
      if (at >= 200 && i == 0) assert_true(counts[1] >= 3);
    }
  }
}

/* In a payload nothing else shows that a byte is wrong: what came out is read, and reported. */
static void test_wrong_checksum(void **state)
{
  (void)state;
  static const uint8_t frame[] = {0x04, 0x22, 0x4d, 0x18};
  make_usual("lz4");
  uint8_t *chunk = memmem(bag->file.at, bag->file.size, frame, sizeof frame);
  assert_non_null(chunk);
  uint8_t *text = memmem(chunk, bag->file.size - (size_t)(chunk - bag->file.at), "three", 5);
  assert_non_null(text);
  text[4] ^= 1;
  save(bag->file.size);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, "!one two thred later five six ");
  text[4] ^= 1;
  save(bag->file.size);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, USUAL);
}

/* The length of a record's header is wrong: that record is lost, and the next one is found. */
static void test_next_record(void **state)
{
  (void)state;
  make_usual("none");
  uint8_t *text = memmem(bag->file.at, bag->file.size, "five", 4);
  assert_non_null(text);
  text[-4 - 46] ^= 0x55; /* before it: its length, and the head of a message */
  save(bag->file.size);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, "!one two three later six ");
  expect_texts(path, TB_BAG_DAMAGE_SALVAGE, "!one two three later six ");
}

/* The same between chunks, of a file whose index cannot be used. */
static void test_next_chunk(void **state)
{
  (void)state;
  static const char *const compressions[] = {"none", "bz2", "lz4"};
  static const uint8_t index[] = {47, 0, 0, 0, 8 + 1, 0, 0, 0, 'c', 'o', 'n', 'n'};
  for (size_t i = 0; i < 3; i++) {
    make_usual(compressions[i]);
    uint8_t *record = memmem(bag->file.at, bag->file.size, index, sizeof index);
    assert_non_null(record);
    *record ^= 0x55;
    save(bag->file.size - 20); /* in the index of the file */
    expect_texts(path, TB_BAG_DAMAGE_SALVAGE, "one two three later five !six ");
  }
}

static void test_version_1_2(void **state)
{
  (void)state;
  static const uint8_t ops[] = {1, 2, 3};
  const uint32_t seconds[] = {7, 6}, nanoseconds = 5;
  const uint64_t nowhere = 0;
  const tb__test_field_t head[] = {{"op", &ops[2], 1}, {"index_pos", &nowhere, 8}, {NULL, NULL, 0}};
  const tb__test_field_t define[] = {{"op", &ops[0], 1},
                                     {"topic", "/a", 2},
                                     {"type", "std_msgs/String", 15},
                                     {"md5", "992ce8a1687cec8c8bd883ec73ca41d1", 32},
                                     {"def", "string data\n", 12},
                                     {NULL, NULL, 0}};
  memcpy(bag->file.at, "#ROSBAG V1.2\n", 13);
  bag->file.size = 13;
  tb__test_rosbag_record(&bag->file, head, "  ", 2);
  tb__test_rosbag_record(&bag->file, define, NULL, 0);
  for (size_t i = 0; i < 2; i++) {
    const tb__test_field_t message[] = {{"op", &ops[1], 1},
                                        {"topic", "/a", 2},
                                        {"sec", &seconds[i], 4},
                                        {"nsec", &nanoseconds, 4},
                                        {NULL, NULL, 0}};
    tb__test_rosbag_record(&bag->file, message, i ? "\3\0\0\0six" : "\5\0\0\0seven", i ? 7 : 9);
  }
  save(bag->file.size);
  expect_texts(path, TB_BAG_DAMAGE_REFUSE, "six seven ");
  tb_bag_reader_t *reader = open_bag(path, TB_BAG_DAMAGE_REFUSE);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->start_ns, 6 * S + 5);
  assert_string_equal(info->topics[0].definition, "string data\n");
  assert_int_equal(info->topics[0].message_count, 2);
  tb_bag_reader_close(reader);
}

/* As `rosbag record --split` leaves it, the last one still being written. */
/* In two chunks, time is set back in the first: 10 to 21 s, then 12 to 23 s. */
static void make_jump(bool is_left_open)
{
  memset(bag, 0, sizeof *bag);
  tb__test_rosbag_begin(bag);
  tb__test_rosbag_chunk(bag, "none");
  for (uint64_t i = 0; i < 24; i++) {
    char text[16];
    snprintf(text, sizeof text, "%c", (int)('a' + i));
    if (i == 16) tb__test_rosbag_end_chunk(bag);
    if (i == 16) tb__test_rosbag_chunk(bag, "none");
    tb__test_rosbag_message(bag, i % 6 == 5, (i < 12 ? 10 + i : i) * S, text);
  }
  if (is_left_open) {
    tb__test_rosbag_leave(bag);
  } else {
    tb__test_rosbag_end_chunk(bag);
    tb__test_rosbag_close(bag);
  }
  save(bag->file.size);
}

static void expect_run(size_t run, const char *expected, int64_t start_s, int64_t end_s)
{
  char texts[512];
  uint64_t counted = 0;
  tb_bag_reader_t *reader = NULL;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.run = run;
  assert_ok(tb_bag_reader_open(path, &options, &reader, NULL));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->run_count, 2);
  assert_int_equal(info->start_ns, start_s * S);
  assert_int_equal(info->end_ns, end_s * S);
  for (size_t i = 0; i < info->topic_count; i++)
    counted += info->topics[i].message_count;
  for (int times = 0; times < 2; times++) {
    size_t count = read_texts(reader, texts, sizeof texts);
    assert_int_equal(count, info->message_count);
    assert_int_equal(count, counted);
    for (char *at = texts, *to = texts;; at++) { /* without blanks, and failures at the end */
      if (*at != ' ' && *at != '!') *to++ = *at;
      if (!*at) break;
    }
    assert_string_equal(texts, expected);
    tb_bag_reader_seek(reader, INT64_MIN);
  }
  tb_bag_reader_close(reader);
}

static void test_runs(void **state)
{
  (void)state;
  for (int is_left_open = 0; is_left_open < 2; is_left_open++) {
    tb_error_t error = TB_ERROR_INIT;
    tb_bag_reader_t *reader;
    tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
    make_jump(is_left_open);
    expect_run(1, "abcdefghijkl", 10, 21);
    expect_run(2, "mnopqrstuvwx", 12, 23);
    expect_run(0, "abcmdneofpgqhrisjtkulvwx", 10, 23); /* merged by time */
    options.run = 3;
    assert_int_equal(tb_bag_reader_open(path, &options, &reader, &error), TB_ERR_RANGE);
    assert_non_null(strstr(error.text, "no run 3: there are 2"));
  }
}

static void test_folder(void **state)
{
  (void)state;
  make_usual("lz4");
  char *other = tb__test_path(folder, "b.bag.active");
  memset(bag, 0, sizeof *bag);
  tb__test_rosbag_begin(bag);
  tb__test_rosbag_chunk(bag, "none");
  tb__test_rosbag_message(bag, 0, 7 * S, "seven");
  tb__test_rosbag_leave(bag);
  tb__test_write(other, bag->file.at, bag->file.size);
  free(other);
  expect_texts(folder, TB_BAG_DAMAGE_REFUSE, USUAL "seven !");
}

/* Chunks that do not fit into memory together are loaded again. */
static void test_overlap_limit(void **state)
{
  (void)state;
  char texts[512];
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  make_usual("bz2");
  options.content = TB_BAG_CONTENT_ANY;
  options.limits.overlap_size = 1000;
  assert_ok(tb_bag_reader_open(path, &options, &reader, &error));
  assert_int_equal(read_texts(reader, texts, sizeof texts), 6);
  assert_string_equal(texts, USUAL);
  tb_bag_reader_close(reader);
  options.limits.chunk_size = 100;
  assert_ok(tb_bag_reader_open(path, &options, &reader, &error));
  assert_int_equal(read_texts(reader, texts, sizeof texts), 0);
  assert_string_equal(texts, "!!");
  tb_bag_reader_close(reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_whole),       TEST(test_chunks_without_a_wanted_topic_are_passed_over),
      TEST(test_not_as_cdr),  TEST(test_topics),
      TEST(test_not_as_cdr),  TEST(test_unclosed),
      TEST(test_wrong_index), TEST(test_wrong_message_index),
      TEST(test_refused),     TEST(test_cut),
      TEST(test_flipped),     TEST(test_next_record),
      TEST(test_next_chunk),  TEST(test_version_1_2),
      TEST(test_folder),      TEST(test_overlap_limit),
      TEST(test_runs),        TEST(test_wrong_checksum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

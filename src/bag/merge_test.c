#include <string.h>

#include "bag/fake_bag.h"
#include "test.h"

static const tb__fake_topic_t two_topics[] = {{"/a", "std_msgs/msg/String", NULL, NULL},
                                              {"/b", "std_msgs/msg/Header", NULL, NULL}};

/* Row ids in the order read; '!' for an error, '$' at the end. */
static void assert_trace(tb_bag_reader_t *reader, const char *expected)
{
  char trace[256] = "";
  tb_status_t status = TB_OK;
  while (status != TB_ERR_END && strlen(trace) < sizeof trace - 16) {
    tb_bag_message_t message = {0};
    char step[16] = "!";
    status = tb_bag_reader_next(reader, &message, NULL);
    if (status == TB_ERR_END)
      strcpy(step, "$");
    else if (!status)
      snprintf(step, sizeof step, "%lld ", (long long)message.row_id);
    strcat(trace, step);
  }
  assert_string_equal(trace, expected);
}

static tb_bag_reader_t *open_fake(tb__fake_bag_t *bag, const tb_bag_reader_options_t *options)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__fake_bag_open(bag, options, &reader, &error)) fail_msg("%s", error.text);
  return reader;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define FAKE(topic_list, message_list, files)                                                      \
  {                                                                                                \
    .topics = (topic_list), .topic_count = COUNT(topic_list), .messages = (message_list),          \
    .message_count = COUNT(message_list), .file_count = (files)                                    \
  }

static void test_files_are_merged_by_time_then_file_then_row(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {
      {.log_time_ns = 30, .file = 0}, {.log_time_ns = 10, .file = 0},
      {.log_time_ns = 20, .file = 1}, {.log_time_ns = 10, .file = 1},
      {.log_time_ns = 10, .file = 0}, {.log_time_ns = 5, .file = 2},
      {.log_time_ns = 30, .file = 2}, {.log_time_ns = 10, .file = 1}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 3);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  assert_trace(reader, "6 2 5 4 8 3 1 7 $");
  tb_bag_message_t message;
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_END);
  assert_int_equal(tb_bag_reader_info(reader)->start_ns, 5);
  assert_int_equal(tb_bag_reader_info(reader)->end_ns, 30);
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 8);
  tb_bag_reader_close(reader);
}

static void test_equal_times_of_a_file_that_starts_later(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {{.log_time_ns = 10, .file = 0},
                                         {.log_time_ns = 5, .file = 1},
                                         {.log_time_ns = 10, .file = 1}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 2);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  assert_trace(reader, "2 1 3 $");
  tb_bag_reader_close(reader);
}

static void test_files_are_opened_when_their_time_comes(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {{.log_time_ns = 1, .file = 0},
                                         {.log_time_ns = 2, .file = 0},
                                         {.log_time_ns = 3, .file = 1},
                                         {.log_time_ns = 4, .file = 2}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 3);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  tb_bag_message_t message;
  size_t before = bag.opens;
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(bag.opens, before + 1);
  assert_ok(tb_bag_reader_seek(reader, 4));
  assert_ok(tb_bag_reader_next(reader, &message, NULL));
  assert_int_equal(message.row_id, 4);
  assert_int_equal(message.file, 2);
  assert_int_equal(bag.opens, before + 2); /* the file between was passed over */
  tb_bag_reader_close(reader);
}

static void test_seek_is_the_first_at_or_after(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {{.log_time_ns = 10, .file = 0},
                                         {.log_time_ns = 20, .file = 0},
                                         {.log_time_ns = 20, .file = 1},
                                         {.log_time_ns = 30, .file = 1}};
  static const struct {
    int64_t time_ns;
    const char *trace;
  } cases[] = {{20, "2 3 4 $"}, {0, "1 2 3 4 $"},  {21, "4 $"},      {31, "$"},
               {30, "4 $"},     {-5, "1 2 3 4 $"}, {INT64_MAX, "$"}, {INT64_MIN, "1 2 3 4 $"},
               {11, "2 3 4 $"}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 2);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_ok(tb_bag_reader_seek(reader, cases[i].time_ns));
    assert_trace(reader, cases[i].trace);
  }
  tb_bag_reader_close(reader);
}

static void test_filter_takes_named_topics_only(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {{.topic = 0, .log_time_ns = 1},
                                         {.topic = 1, .log_time_ns = 2},
                                         {.topic = 0, .log_time_ns = 3}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 1);
  const char *names[] = {"/b", "/c"};
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.topics = names;
  options.topic_count = 1;
  tb_bag_reader_t *reader = open_fake(&bag, &options);
  assert_int_equal(tb_bag_reader_info(reader)->message_count, 3);
  assert_int_equal(tb_bag_reader_info(reader)->topics[0].message_count, 2);
  assert_trace(reader, "2 $");
  tb_bag_reader_close(reader);
  options.topic_count = 2;
  tb_error_t error = TB_ERROR_INIT;
  reader = NULL;
  assert_status(tb__fake_bag_open(&bag, &options, &reader, &error), TB_ERR_NOT_FOUND);
  assert_null(reader);
  assert_non_null(strstr(error.text, "/c"));
}

static void test_a_bad_row_costs_only_itself(void **state)
{
  (void)state;
  static const tb__fake_topic_t topics[] = {{"/a", "t", NULL, NULL}, {"/odd", "t", NULL, "json"}};
  const tb__fake_message_t messages[] = {
      {.log_time_ns = 1},
      {.log_time_ns = 2, .fault = TB_ERR_CORRUPT},
      {.log_time_ns = 3, .data = "\0\1", .size = 2},
      {.log_time_ns = 4, .data = "\x28\xb5\x2f\xfd....", .size = 8},
      {.log_time_ns = 5, .topic = 1},
      {.log_time_ns = 6, .topic = 9},
      {.log_time_ns = -7},
      {.log_time_ns = 8}};
  static const struct {
    tb_status_t status;
    const char *text;
  } expected[] = {{TB_ERR_CORRUPT, "row 7: its time is negative"},
                  {TB_OK, ""},
                  {TB_ERR_CORRUPT, "fault"},
                  {TB_ERR_TRUNCATED, "fake/0: row 3: its payload"},
                  {TB_ERR_CORRUPT, "row 4: zstd: "},
                  {TB_ERR_UNSUPPORTED, "row 5: topic /odd is serialized as \"json\""},
                  {TB_ERR_CORRUPT, "row 6: its topic id"},
                  {TB_OK, ""},
                  {TB_ERR_END, ""}};
  tb__fake_bag_t bag = FAKE(topics, messages, 1);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  for (size_t i = 0; i < COUNT(expected); i++) {
    tb_bag_message_t message = {.row_id = 77};
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb_bag_reader_next(reader, &message, &error), expected[i].status);
    if (!strstr(error.text, expected[i].text))
      fail_msg("\"%s\" does not say \"%s\"", error.text, expected[i].text);
    assert_int_equal(message.row_id == 77, expected[i].status != TB_OK);
  }
  tb_bag_reader_close(reader);
}

static void test_a_file_that_cannot_be_opened_costs_only_itself(void **state)
{
  (void)state;
  const tb__fake_message_t messages[] = {{.log_time_ns = 1, .file = 0},
                                         {.log_time_ns = 2, .file = 1}};
  tb__fake_bag_t bag = FAKE(two_topics, messages, 2);
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  bag.open_fault = TB_ERR_SYSTEM;
  tb_bag_message_t message;
  assert_status(tb_bag_reader_next(reader, &message, NULL), TB_ERR_SYSTEM);
  bag.open_fault = TB_OK;
  assert_trace(reader, "2 $");
  assert_ok(tb_bag_reader_seek(reader, 0));
  assert_trace(reader, "1 2 $");
  tb_bag_reader_close(reader);
}

static void test_an_empty_bag_ends_at_once(void **state)
{
  (void)state;
  tb__fake_bag_t bag = {.topics = two_topics, .topic_count = 2, .file_count = 2};
  tb_bag_reader_t *reader = open_fake(&bag, NULL);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_int_equal(info->start_ns, 0);
  assert_int_equal(info->end_ns, 0);
  assert_int_equal(info->topic_count, 2);
  assert_string_equal(info->storage_id, "fake");
  assert_trace(reader, "$");
  tb_bag_reader_close(reader);
  tb_bag_reader_close(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files_are_merged_by_time_then_file_then_row),
      cmocka_unit_test(test_equal_times_of_a_file_that_starts_later),
      cmocka_unit_test(test_files_are_opened_when_their_time_comes),
      cmocka_unit_test(test_seek_is_the_first_at_or_after),
      cmocka_unit_test(test_filter_takes_named_topics_only),
      cmocka_unit_test(test_a_bad_row_costs_only_itself),
      cmocka_unit_test(test_a_file_that_cannot_be_opened_costs_only_itself),
      cmocka_unit_test(test_an_empty_bag_ends_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

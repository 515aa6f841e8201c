/* What the tests of the recorder share: a bag in a folder of its own, messages with numbers. */
#ifndef TB_PLAY_RECORD_FIXTURE_H
#define TB_PLAY_RECORD_FIXTURE_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/bag_reader.h>
#include <timebase/recorder.h>

#include "bag/test_bag.h"
#include "test.h"

#define S TB_NS_PER_S

static char *folder;
static char *path; /* of the bag */
static tb_recorder_t *recorder;

static inline int setup(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
  path = tb__test_path(folder, "bag");
  return 0;
}

static inline int teardown(void **state)
{
  (void)state;
  tb_recorder_destroy(recorder);
  recorder = NULL;
  free(path);
  tb__test_folder_remove(folder);
  return 0;
}

static inline size_t add_topic(const char *name)
{
  size_t topic = 99;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_writer_topic_t info = {.name = name, .type = "std_msgs/msg/String"};
  if (tb_recorder_add_topic(recorder, &info, &topic, &error) != TB_OK) fail_msg("%s", error.text);
  return topic;
}

static inline void start(const tb_recorder_options_t *options)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_recorder_options_t defaults = TB_RECORDER_OPTIONS_INIT;
  defaults.bag.storage_id = "sqlite3"; /* which can be read while it is written */
  if (tb_recorder_create(path, options ? options : &defaults, &recorder, &error) != TB_OK)
    fail_msg("%s", error.text);
  assert_int_equal(add_topic("/a"), 0);
  assert_int_equal(add_topic("/b"), 1);
}

/* The last 4 of `size` bytes are the number. */
static inline tb_status_t take_message(size_t topic, uint32_t number, size_t size, int64_t clock_ns,
                                       bool latched)
{
  uint8_t *data = calloc(1, size);
  assert_non_null(data);
  data[1] = 1;
  memcpy(data + size - sizeof number, &number, sizeof number);
  tb_recorder_message_t message = {.data = data,
                                   .size = size,
                                   .receive_ns = 2000 * S + number,
                                   .source_ns = 1000 * S + number,
                                   .clock_ns = clock_ns,
                                   .latched = latched};
  tb_status_t status = tb_recorder_take(recorder, topic, &message);
  free(data);
  return status;
}

static inline tb_status_t take_sized(size_t topic, uint32_t number, size_t size, int64_t clock_ns)
{
  return take_message(topic, number, size, clock_ns, false);
}

static inline tb_status_t take_latched(size_t topic, uint32_t number)
{
  return take_message(topic, number, 8, 0, true);
}

static inline tb_status_t take(size_t topic, uint32_t number)
{
  return take_sized(topic, number, 8, 0);
}

static inline tb_recorder_status_t status_now(void)
{
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
  return status;
}

static inline tb_recorder_topic_status_t topic_now(size_t topic)
{
  tb_recorder_topic_status_t status;
  assert_ok(tb_recorder_topic_status(recorder, topic, &status));
  return status;
}

static inline void wait_until_written(uint64_t count)
{
  while (status_now().written < count)
    sched_yield();
}

static inline uint32_t number_of(const tb_bag_message_t *message)
{
  uint32_t number = 0;
  memcpy(&number, message->data + message->size - sizeof number, sizeof number);
  return number;
}

static inline tb_bag_reader_t *read_back(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_open(path, NULL, &reader, &error) != TB_OK) fail_msg("%s", error.text);
  return reader;
}

static inline uint64_t count_in_bag(void)
{
  tb_bag_reader_t *reader = read_back();
  uint64_t count = tb_bag_reader_info(reader)->message_count;
  tb_bag_reader_close(reader);
  return count;
}

static inline void expect(tb_bag_reader_t *reader, uint32_t number, int64_t log_ns, size_t file)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_reader_next(reader, &message, &error) != TB_OK) fail_msg("%s", error.text);
  assert_int_equal(number_of(&message), number);
  assert_int_equal(message.log_time_ns, log_ns);
  assert_int_equal(message.file, file);
}

static inline void stop_well(void)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_recorder_stop(recorder, &error) != TB_OK) fail_msg("%s", error.text);
}

#define WITH_BAG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif

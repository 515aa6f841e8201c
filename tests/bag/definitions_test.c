/* Every message of bags that rosbag2 itself wrote, read to its end by its definition. TB_REAL_BAGS
 * is the folder; one of its sqlite3 recordings has definitions that are not those of its messages.
 */
#include <string.h>
#include <timebase/bag_reader.h>
#include <timebase/message_definition.h>

#include "definition/definitions.h"
#include "test.h"

#define TOPICS_MAX 32

typedef struct topic {
  tb_message_definition_t *definition;
  bool is_recorded, is_seen;
} topic_t;

typedef struct result {
  size_t messages, unfit_definitions;
} result_t;

static tb_message_definition_t *find(const char *type)
{
  tb_message_definition_t *definition = NULL;
  static const char basic_types[] =
      "bool a\nbyte b\nchar c\nfloat32 d\nfloat64 e\nint8 f\nuint8 g\nint16 h\nuint16 i\n"
      "int32 j\nuint32 k\nint64 l\nuint64 m\n";
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      strcmp(type, "test_msgs/BasicTypes") == 0
          ? tb_message_definition_parse(type, "ros2msg", basic_types, &definition, &error)
          : tb_message_definition_find(type, NULL, 0, &definition, &error);
  if (status) fail_msg("%s", error.text);
  return definition;
}

/* The recorded one, if it can be read. */
static topic_t open_topic(const tb_bag_topic_t *topic, result_t *result)
{
  topic_t made = {.is_recorded = topic->definition[0] != '\0'};
  tb_error_t error = TB_ERROR_INIT;
  if (made.is_recorded &&
      tb_message_definition_parse(topic->type, topic->definition_encoding, topic->definition,
                                  &made.definition, &error) != TB_OK) {
    print_message("%s: %s\n", topic->name, error.text);
    made.is_recorded = false;
    result->unfit_definitions++;
  }
  if (!made.definition) made.definition = find(topic->type);
  return made;
}

static void read_message(topic_t *topic, const tb_bag_topic_t *info,
                         const tb_bag_message_t *message, result_t *result)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      tb_message_definition_check(topic->definition, message->data, message->size, &error);
  if (status && topic->is_recorded && !topic->is_seen) {
    print_message("%s: %s\n", info->name, error.text);
    tb_message_definition_destroy(topic->definition);
    *topic = (topic_t){.definition = find(info->type)};
    result->unfit_definitions++;
    status = tb_message_definition_check(topic->definition, message->data, message->size, &error);
  }
  topic->is_seen = true;
  if (status) fail_msg("%s: %s", info->name, error.text);
  result->messages++;
}

static void assert_read(const char *name, size_t messages, size_t unfit_definitions)
{
  char path[512];
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_message_t message;
  topic_t topics[TOPICS_MAX];
  result_t result = {0, 0};
  tb_status_t status;
  snprintf(path, sizeof path, "%s/%s", TB_REAL_BAGS, name);
  if (tb_bag_reader_open(path, NULL, &reader, &error)) fail_msg("%s", error.text);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  assert_true(info->topic_count <= TOPICS_MAX);
  for (size_t i = 0; i < info->topic_count; i++)
    topics[i] = open_topic(&info->topics[i], &result);
  while ((status = tb_bag_reader_next(reader, &message, &error)) == TB_OK)
    read_message(&topics[message.topic], &info->topics[message.topic], &message, &result);
  assert_status(status, TB_ERR_END);
  for (size_t i = 0; i < info->topic_count; i++)
    tb_message_definition_destroy(topics[i].definition);
  tb_bag_reader_close(reader);
  assert_int_equal(result.messages, messages);
  assert_int_equal(result.unfit_definitions, unfit_definitions);
}

static void test_all_messages_by_their_definition(void **state)
{
  (void)state;
  bool is_mcap = strcmp(TB_REAL_FORMAT, "mcap") == 0;
  assert_read("talker", 20, is_mcap ? 0 : 2);
  assert_read("wbag", 6074, 0);
  assert_read("seek", 5, 0);
}

/* What was recorded, or by the first messages what comes after it. */
static void test_what_does_not_fit_is_left_for_the_next(void **state)
{
  (void)state;
  char path[512];
  tb_bag_reader_t *reader = NULL;
  tb__definitions_t *definitions = NULL;
  tb__definition_entry_t *entries[TOPICS_MAX];
  tb_bag_message_t message;
  size_t left = 0;
  snprintf(path, sizeof path, "%s/talker", TB_REAL_BAGS);
  assert_ok(tb_bag_reader_open(path, NULL, &reader, NULL));
  assert_ok(tb__definitions_create(&(tb__definition_places_t){.prefixes = NULL}, &definitions));
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    tb__definition_key_t key = {.type = topic->type,
                                .type_hash = topic->type_hash,
                                .recorded = topic->definition,
                                .recorded_encoding = topic->definition_encoding};
    assert_ok(tb__definitions_get(definitions, &key, &entries[i]));
  }
  while (tb_bag_reader_next(reader, &message, NULL) == TB_OK)
    if (!tb__definition_entry_fit(entries[message.topic], message.data, message.size))
      fail_msg("%s: %s", info->topics[message.topic].name,
               tb__definition_entry_note(entries[message.topic]));
  for (size_t i = 0; i < info->topic_count; i++)
    left += tb__definition_entry_known(entries[i]) &&
            tb__definition_entry_known(entries[i])->origin == TB__DEFINITION_BUILT_IN &&
            info->topics[i].definition[0];
  assert_int_equal(left, strcmp(TB_REAL_FORMAT, "mcap") == 0 ? 0 : 2);
  tb__definitions_destroy(definitions);
  tb_bag_reader_close(reader);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_messages_by_their_definition),
      cmocka_unit_test(test_what_does_not_fit_is_left_for_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

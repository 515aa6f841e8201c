#include "bag/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static tb_status_t parse(const char *text, tb__bag_metadata_t *out, tb_error_t *error)
{
  return tb__bag_metadata_parse(text, strlen(text), out, error);
}

/* What each version added, as rosbag2 writes it. */
static char *write_version(int version)
{
  char *text = NULL;
  int length = asprintf(
      &text,
      "rosbag2_bagfile_information:\n  version: %d\n  storage_identifier: sqlite3\n"
      "  relative_file_paths:\n    - %sbag_0.db3\n"
      "  duration:\n    nanoseconds: 5\n  starting_time:\n    nanoseconds_since_epoch: 1\n"
      "  message_count: 3\n  topics_with_message_count:\n    - topic_metadata:\n"
      "        name: /a\n        type: std_msgs/msg/String\n        serialization_format: cdr\n"
      "%s%s      message_count: 3\n%s%s%s%s",
      version, version < 4 ? "bag/" : "",
      version < 4   ? ""
      : version < 9 ? "        offered_qos_profiles: \"- reliability: 2\"\n"
                    : "        offered_qos_profiles:\n          - reliability: best_effort\n",
      version < 7 ? "" : "        type_description_hash: RIHS01_11\n",
      version < 3 ? "" : "  compression_format: \"\"\n  compression_mode: \"\"\n",
      version < 5 ? ""
                  : "  files:\n    - path: bag_0.db3\n      starting_time:\n"
                    "        nanoseconds_since_epoch: 1\n      duration:\n"
                    "        nanoseconds: 5\n      message_count: 3\n",
      version < 6 ? "" : "  custom_data: ~\n", version < 8 ? "" : "  ros_distro: rolling\n");
  assert_true(length > 0);
  return text;
}

static tb__bag_compression_t compression_of(const tb__bag_metadata_t *metadata)
{
  tb__bag_compression_t compression = (tb__bag_compression_t)77;
  assert_ok(tb__bag_metadata_compression(metadata, &compression, NULL));
  return compression;
}

static void test_versions_1_to_9(void **state)
{
  (void)state;
  for (int version = 1; version <= 9; version++) {
    char *text = write_version(version);
    tb__bag_metadata_t metadata = {0};
    tb_error_t error = TB_ERROR_INIT;
    if (parse(text, &metadata, &error)) fail_msg("version %d: %s", version, error.text);
    assert_int_equal(metadata.version, version);
    assert_string_equal(metadata.storage_id, "sqlite3");
    assert_string_equal(metadata.ros_distro, version < 8 ? "" : "rolling");
    assert_int_equal(metadata.message_count, 3);
    assert_string_equal(metadata.paths->first->text, version < 4 ? "bag/bag_0.db3" : "bag_0.db3");
    tb__bag_metadata_topic_t topic = {0};
    assert_true(tb__bag_metadata_find_topic(&metadata, "/a", &topic));
    assert_int_equal(topic.message_count, 3);
    assert_int_equal(topic.offers != NULL, version >= 4);
    assert_false(tb__bag_metadata_find_topic(&metadata, "/b", &topic));
    assert_int_equal(compression_of(&metadata), TB__BAG_PLAIN);
    tb__bag_metadata_fini(&metadata);
    free(text);
  }
}

static void test_form_of_the_database_table(void **state)
{
  (void)state;
  tb__bag_metadata_t metadata = {0};
  assert_ok(parse("version: 9\nstorage_identifier: sqlite3\ncompression_mode: message\n", &metadata,
                  NULL));
  assert_int_equal(compression_of(&metadata), TB__BAG_MESSAGES);
  assert_null(metadata.paths);
  tb__bag_metadata_fini(&metadata);
  tb__bag_compression_t compression;
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(
      parse("version: 9\ncompression_mode: FILE\ncompression_format: rar\n", &metadata, NULL));
  assert_status(tb__bag_metadata_compression(&metadata, &compression, &error), TB_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.text, "mode FILE, format rar"));
  tb__bag_metadata_fini(&metadata);
  assert_ok(parse("version: 12\ncompression_mode: none\nsurprise: [1, 2]\n", &metadata, NULL));
  assert_int_equal(compression_of(&metadata), TB__BAG_PLAIN);
  tb__bag_metadata_fini(&metadata);
}

static void assert_corrupt(const char *text, const char *reason)
{
  tb__bag_metadata_t metadata = {.version = 77};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(parse(text, &metadata, &error), TB_ERR_CORRUPT);
  assert_int_equal(metadata.version, 77);
  if (!strstr(error.text, reason)) fail_msg("\"%s\" does not say \"%s\"", error.text, reason);
}

static void test_bad_metadata_says_line_and_field(void **state)
{
  (void)state;
  assert_corrupt("", "not a mapping");
  assert_corrupt("- 1\n", "not a mapping");
  assert_corrupt("rosbag2_bagfile_information: 5\n", "not a mapping");
  assert_corrupt("a: b\n", "version is missing");
  assert_corrupt("version: x\n", "line 1: version");
  assert_corrupt("version: 0\n", "line 1: version");
  assert_corrupt("version: 99999999999999999999\n", "line 1: version");
  assert_corrupt("version: 5\nrelative_file_paths: a\n", "line 2: relative_file_paths");
  assert_corrupt("version: 5\nrelative_file_paths:\n  - a\n  - [b]\n", "line 4: relative_file");
  assert_corrupt("version: 5\ntopics_with_message_count: [1]\n", "line 2: topics_with");
  assert_corrupt("version: 5\nstorage_identifier: {}\n", "line 2: storage_identifier");
  assert_corrupt("version: 5\nmessage_count: -1\n", "line 2: message_count");
  assert_corrupt("version: 5\n  bad: [\n", "line 2");
  assert_corrupt("version: &a 5\nother: *a\n", "aliases");
  assert_corrupt("version: 5\n---\nversion: 6\n", "second document");
  assert_corrupt("version: 5\n[a, b]: 6\n", "key is not a string");
}

static void test_limits_of_depth_and_size(void **state)
{
  (void)state;
  char deep[3 * TB__YAML_MAX_DEPTH] = "a: ";
  memset(deep + 3, '[', TB__YAML_MAX_DEPTH);
  tb__bag_metadata_t metadata = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(parse(deep, &metadata, &error), TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, "levels"));
  char *big = calloc(1, TB__BAG_YAML_MAX_SIZE + 1);
  assert_non_null(big);
  assert_status(tb__bag_metadata_parse(big, TB__BAG_YAML_MAX_SIZE + 1, &metadata, &error),
                TB_ERR_LIMIT);
  free(big);
}

static void test_too_many_values(void **state)
{
  (void)state;
  size_t size = 2 * ((size_t)TB__BAG_YAML_MAX_NODES + 8);
  char *text = malloc(size);
  assert_non_null(text);
  for (size_t i = 0; i < size; i += 2)
    memcpy(text + i, i ? "1," : " [", 2);
  tb__yaml_t yaml = {0};
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__bag_yaml_parse(text, size, &yaml, &error), TB_ERR_LIMIT);
  assert_non_null(strstr(error.text, "values"));
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_versions_1_to_9),
      cmocka_unit_test(test_form_of_the_database_table),
      cmocka_unit_test(test_bad_metadata_says_line_and_field),
      cmocka_unit_test(test_limits_of_depth_and_size),
      cmocka_unit_test(test_too_many_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

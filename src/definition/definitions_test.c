/* Definitions that are looked for once, checked on the first message, and left for the next. */
#include "definition/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

/* "ab" as a std_msgs/String; a stamp of 7 s 9 ns and an empty frame as a std_msgs/Header. */
static const uint8_t text_message[] = {0, 1, 0, 0, 3, 0, 0, 0, 'a', 'b', 0, 0};
static const uint8_t header_message[] = {0, 1, 0, 0, 7, 0, 0, 0, 9, 0,
                                         0, 0, 1, 0, 0, 0, 0, 0, 0, 0};

static void write_file(const char *below, const char *text)
{
  char path[256];
  int length = snprintf(path, sizeof path, "%s/%s", test_folder, below);
  for (char *slash = path + strlen(test_folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    mkdir(path, 0700);
  }
  assert_true(length < (int)sizeof path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static tb__definitions_t *create(const char *prefixes, const char *const *folders, size_t count)
{
  tb__definitions_t *definitions = NULL;
  assert_ok(
      tb__definitions_create(&(tb__definition_places_t){prefixes, folders, count}, &definitions));
  return definitions;
}

static tb__definition_entry_t *get(tb__definitions_t *definitions, const tb__definition_key_t *key)
{
  tb__definition_entry_t *entry = NULL;
  assert_ok(tb__definitions_get(definitions, key, &entry));
  return entry;
}

/* Of ROS 1, also where the recording has no text and so no encoding. */
static void test_a_connection_is_known_by_its_md5sum(void **state)
{
  (void)state;
  static const uint8_t int8[] = {7};
  tb__definitions_t *definitions = create(NULL, NULL, 0);
  tb__definition_key_t key = {.type = "std_msgs/Int8",
                              .type_hash = "27ffa0c9c4b8fb8492252bcad9e5c57b",
                              .recorded = "",
                              .recorded_encoding = ""};
  assert_non_null(tb__definition_entry_fit(get(definitions, &key), int8, sizeof int8));
  key.recorded = "int9 data\n";
  key.recorded_encoding = "ros1msg";
  assert_non_null(tb__definition_entry_fit(get(definitions, &key), int8, sizeof int8));
  key.type_hash = "27ffa0c9c4b8fb8492252bcad9e5c57c";
  assert_null(tb__definition_entry_fit(get(definitions, &key), int8, sizeof int8));
  key.recorded = "";
  tb__definition_entry_t *entry = get(definitions, &key);
  assert_null(tb__definition_entry_fit(entry, int8, sizeof int8));
  assert_non_null(strstr(tb__definition_entry_note(entry), "none with its md5sum"));
  tb__definitions_destroy(definitions);
}

static void test_a_type_is_looked_for_once(void **state)
{
  (void)state;
  tb__definitions_t *definitions = create(NULL, NULL, 0);
  tb__definition_key_t key = {.type = "std_msgs/msg/String"}, other = key, recorded = key;
  tb__definition_entry_t *entry = get(definitions, &key);
  other.type_hash = "RIHS01_00";
  recorded.recorded = "string data\n";
  recorded.recorded_encoding = "ros2msg";
  assert_ptr_equal(get(definitions, &key), entry);
  assert_ptr_not_equal(get(definitions, &other), entry);
  assert_ptr_not_equal(get(definitions, &recorded), entry);
  assert_string_equal(tb__definition_entry_type(entry), "std_msgs/msg/String");
  assert_string_equal(tb__definition_entry_hash(entry), "");
  assert_int_equal(tb__definition_entry_known(entry)->origin, TB__DEFINITION_BUILT_IN);
  tb__definitions_destroy(definitions);
  tb__definitions_destroy(NULL);
}

/* The recorded one is of other messages; so is the one that is installed. */
static void test_what_does_not_fit_is_left_for_the_next(void **state)
{
  (void)state;
  char prefix[64];
  snprintf(prefix, sizeof prefix, "%s/fit", test_folder);
  write_file("fit/share/std_msgs/msg/String.msg", "float64[3] x\n");
  tb__definitions_t *definitions = create(prefix, NULL, 0);
  tb__definition_entry_t *entry =
      get(definitions, &(tb__definition_key_t){.type = "std_msgs/msg/String",
                                               .recorded = "int64[2] data\n",
                                               .recorded_encoding = "ros2msg"});
  assert_int_equal(tb__definition_entry_known(entry)->origin, TB__DEFINITION_RECORDING);
  const tb__known_definition_t *known =
      tb__definition_entry_fit(entry, text_message, sizeof text_message);
  assert_non_null(known);
  assert_int_equal(known->origin, TB__DEFINITION_BUILT_IN);
  assert_string_equal(tb__definition_entry_note(entry),
                      "the recording: a message does not fit: message of std_msgs/msg/String, "
                      "field data, byte 4: the message ends before it does");
  /* Others are the fault of their publishers from now on. */
  assert_ptr_equal(tb__definition_entry_fit(entry, header_message, 5), known);
  assert_ok(tb__definition_entry_checked(entry, known, false, "wrong"));
  assert_ptr_equal(tb__definition_entry_known(entry), known);
  tb__definitions_destroy(definitions);
}

static void test_a_first_message_of_garbage_is_not_the_end(void **state)
{
  (void)state;
  tb__definitions_t *definitions = create(NULL, NULL, 0);
  tb__definition_entry_t *entry =
      get(definitions, &(tb__definition_key_t){.type = "std_msgs/msg/String"});
  assert_null(tb__definition_entry_fit(entry, header_message, 5));
  assert_null(tb__definition_entry_fit(entry, header_message, sizeof header_message));
  assert_non_null(tb__definition_entry_fit(entry, text_message, sizeof text_message));
  tb__definition_entry_t *never = get(
      definitions, &(tb__definition_key_t){.type = "std_msgs/msg/String", .type_hash = "RIHS01_0"});
  for (int i = 0; i < 3; i++)
    assert_null(tb__definition_entry_fit(never, header_message, 5));
  assert_int_equal(tb__definition_entry_state(never), TB__DEFINITION_IS_UNKNOWN);
  assert_null(tb__definition_entry_fit(never, text_message, sizeof text_message));
  assert_true(strlen(tb__definition_entry_note(never)) > 0);
  tb__definitions_destroy(definitions);
}

static void test_a_node_is_asked_before_files(void **state)
{
  (void)state;
  tb__definitions_t *definitions = create(NULL, NULL, 0);
  tb__definition_key_t key = {.type = "std_msgs/msg/Header", .has_node = true};
  tb__definition_entry_t *entry = get(definitions, &key);
  assert_int_equal(tb__definition_entry_state(entry), TB__DEFINITION_IS_AWAITED);
  assert_null(tb__definition_entry_known(entry));
  assert_null(tb__definition_entry_fit(entry, header_message, sizeof header_message));
  assert_ok(tb__definition_entry_described(entry, "float32 of_node\n"));
  assert_int_equal(tb__definition_entry_known(entry)->origin, TB__DEFINITION_NODE);
  const tb__known_definition_t *known =
      tb__definition_entry_fit(entry, header_message, sizeof header_message);
  assert_int_equal(known->origin, TB__DEFINITION_BUILT_IN);
  assert_non_null(known->head.stamp);
  assert_ok(tb__definition_entry_described(entry, "int8 too_late\n"));
  assert_ptr_equal(tb__definition_entry_known(entry), known);
  key.type_hash = "RIHS01_1";
  tb__definition_entry_t *silent = get(definitions, &key);
  assert_ok(tb__definition_entry_described(silent, NULL));
  assert_int_equal(tb__definition_entry_known(silent)->origin, TB__DEFINITION_BUILT_IN);
  tb__definitions_destroy(definitions);
}

static void test_a_node_that_comes_later(void **state)
{
  (void)state;
  tb__definitions_t *definitions = create(NULL, NULL, 0);
  tb__definition_entry_t *entry =
      get(definitions, &(tb__definition_key_t){.type = "my_msgs/msg/Own"});
  assert_int_equal(tb__definition_entry_state(entry), TB__DEFINITION_IS_UNKNOWN);
  assert_string_equal(tb__definition_entry_note(entry), "");
  tb__definition_entry_offer_node(entry);
  assert_int_equal(tb__definition_entry_state(entry), TB__DEFINITION_IS_AWAITED);
  assert_ok(tb__definition_entry_described(entry, "string a\n"));
  assert_int_equal(tb__definition_entry_known(entry)->origin, TB__DEFINITION_NODE);
  tb__definition_entry_t *known =
      get(definitions, &(tb__definition_key_t){.type = "std_msgs/msg/String"});
  tb__definition_entry_offer_node(known);
  assert_int_equal(tb__definition_entry_state(known), TB__DEFINITION_IS_KNOWN);
  tb__definition_entry_t *silent =
      get(definitions, &(tb__definition_key_t){.type = "my_msgs/msg/Other", .has_node = true});
  assert_ok(tb__definition_entry_described(silent, NULL));
  tb__definition_entry_offer_node(silent); /* once is enough */
  assert_int_equal(tb__definition_entry_state(silent), TB__DEFINITION_IS_UNKNOWN);
  tb__definitions_destroy(definitions);
}

static void test_a_folder_after_what_is_installed(void **state)
{
  (void)state;
  char prefix[64], named[64];
  const char *folders[] = {named};
  snprintf(prefix, sizeof prefix, "%s/old", test_folder);
  snprintf(named, sizeof named, "%s/new", test_folder);
  write_file("old/share/m/msg/T.msg", "U u\n");
  write_file("old/share/m/msg/U.msg", "float64[4] x\n");
  write_file("new/m/msg/T.msg", "U u\n");
  write_file("new/m/msg/U.msg", "string text\n");
  tb__definitions_t *definitions = create(prefix, folders, 1);
  tb__definition_entry_t *entry = get(definitions, &(tb__definition_key_t){.type = "m/msg/T"});
  assert_int_equal(tb__definition_entry_known(entry)->origin, TB__DEFINITION_INSTALLED);
  const tb__known_definition_t *known =
      tb__definition_entry_fit(entry, text_message, sizeof text_message);
  assert_non_null(known); /* with the folder's U, not the one that is installed */
  assert_int_equal(known->origin, TB__DEFINITION_FOLDER);
  tb__definitions_destroy(definitions);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_connection_is_known_by_its_md5sum),
      cmocka_unit_test(test_a_type_is_looked_for_once),
      cmocka_unit_test(test_what_does_not_fit_is_left_for_the_next),
      cmocka_unit_test(test_a_first_message_of_garbage_is_not_the_end),
      cmocka_unit_test(test_a_node_is_asked_before_files),
      cmocka_unit_test(test_a_node_that_comes_later),
      cmocka_unit_test(test_a_folder_after_what_is_installed),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}

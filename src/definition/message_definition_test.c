#include "definition/message_definition.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

#define RULE "================================================================================\n"

static void write_file(const char *prefix, const char *package, const char *name, const char *text)
{
  static const char *const levels[] = {"", "/share", NULL, "/msg"};
  char path[256];
  int length = snprintf(path, sizeof path, "%s/%s", test_folder, prefix);
  for (size_t i = 0; i < 4; i++) {
    length += levels[i] ? snprintf(path + length, sizeof path - (size_t)length, "%s", levels[i])
                        : snprintf(path + length, sizeof path - (size_t)length, "/%s", package);
    mkdir(path, 0700);
  }
  snprintf(path + length, sizeof path - (size_t)length, "/%s.msg", name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static tb_status_t find(const char *type, const char *prefixes, char **out)
{
  tb__found_definition_t found;
  tb_status_t status = tb__message_definition_find(
      type, TB__DEFINITION_UNKNOWN, &(tb__definition_places_t){.prefixes = prefixes}, &found);
  if (status) return status;
  assert_string_equal(found.encoding, "ros2msg");
  *out = found.text;
  return TB_OK;
}

static void assert_definition(const char *type, const char *expected)
{
  char prefixes[512];
  char *text = NULL;
  snprintf(prefixes, sizeof prefixes, "%s/nowhere::%s/one:%s/two", test_folder, test_folder,
           test_folder);
  assert_ok(find(type, prefixes, &text));
  assert_string_equal(text, expected);
  free(text);
}

static void test_types_of_the_time_contract_are_built_in(void **state)
{
  (void)state;
  char *text = NULL;
  assert_ok(find("rosgraph_msgs/msg/Clock", NULL, &text));
  assert_string_equal(text, "builtin_interfaces/Time clock\n" RULE
                            "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n");
  free(text);
  assert_ok(find("tf2_msgs/msg/TFMessage", "", &text));
  assert_non_null(strstr(text, RULE "MSG: geometry_msgs/Quaternion\n"));
  free(text);
}

static void test_files_with_all_that_they_name(void **state)
{
  (void)state;
  write_file("one", "my", "Top",
             "# a Comment\nuint8 KIND=1\nstring<=5[<=3] names\nInner[] inner # of Inner\n"
             "  other/Far far\nother/msg/Far[2] again\nstd_msgs/Header header");
  write_file("two", "my", "Inner", "float64[3] x\n\nTop[<=1] round_and_round\n");
  write_file("one", "my", "Inner", "float64 x\n");
  write_file("two", "other", "Far", "wstring a\n");
  assert_definition("my/msg/Top",
                    "# a Comment\nuint8 KIND=1\nstring<=5[<=3] names\nInner[] inner # of Inner\n"
                    "  other/Far far\nother/msg/Far[2] again\nstd_msgs/Header header\n" RULE
                    "MSG: my/Inner\nfloat64 x\n" RULE "MSG: other/Far\nwstring a\n" RULE
                    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" RULE
                    "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n");
}

static void test_types_that_name_each_other(void **state)
{
  (void)state;
  write_file("one", "round", "A", "B b\n");
  write_file("one", "round", "B", "A a\n");
  assert_definition("round/msg/A", "B b\n" RULE "MSG: round/B\nA a\n");
}

static void test_what_is_not_whole_is_none(void **state)
{
  (void)state;
  char *text = NULL;
  char prefix[64];
  snprintf(prefix, sizeof prefix, "%s/one", test_folder);
  write_file("one", "my", "Broken", "nowhere/Type a\n");
  assert_status(find("my/msg/Broken", prefix, &text), TB_ERR_NOT_FOUND);
  assert_status(find("my/msg/None", prefix, &text), TB_ERR_NOT_FOUND);
  assert_null(text);
}

static void test_names_that_lead_elsewhere_are_refused(void **state)
{
  (void)state;
  char *text = NULL;
  static const char *const names[] = {"",       "a",      "a/b",       "../msg/a", "a/msg/../b",
                                      "a/msg/", "/msg/a", "a/msg/b c", "a/srv/b",  "a.b/msg/c"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_status(find(names[i], "/", &text), TB_ERR_INVALID);
}

static void test_keys_of_a_type(void **state)
{
  (void)state;
  static const char keyed[] =
      "module p { module msg { struct Inner { @key long a; }; struct Reading\n"
      "{ // @key\n long b; @key long id; }; }; };";
  static const char plain[] = "struct Inner { @key long a; }; struct Readings { @key long b; };\n"
                              "struct Reading { // @key\n @keyed long b; Inner c; };";
  assert_true(tb__idl_is_keyed(keyed, "p/msg/Reading"));
  assert_true(tb__idl_is_keyed(keyed, "p/msg/Inner"));
  assert_false(tb__idl_is_keyed(plain, "p/msg/Reading"));
  assert_true(tb__idl_is_keyed(plain, "p/msg/Readings"));
  assert_false(tb__idl_is_keyed(keyed, "p/msg/Read"));
  assert_false(tb__idl_is_keyed("", "p/msg/Reading"));
  assert_false(tb__idl_is_keyed("struct Reading { long a;", "p/msg/Reading"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_types_of_the_time_contract_are_built_in),
      cmocka_unit_test(test_files_with_all_that_they_name),
      cmocka_unit_test(test_types_that_name_each_other),
      cmocka_unit_test(test_what_is_not_whole_is_none),
      cmocka_unit_test(test_names_that_lead_elsewhere_are_refused),
      cmocka_unit_test(test_keys_of_a_type),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}

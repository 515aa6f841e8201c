/* Where definitions come from, and in which order. */
#include "definition/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_folder.h"

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

/* The first field's name says which definition it was. */
static void assert_found(const tb__definition_request_t *request, tb__definition_origin_t origin,
                         const char *field, const char *note)
{
  tb__definition_t found;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__definition_resolve(request, &found, &error)) fail_msg("%s", error.text);
  assert_int_equal(found.origin, origin);
  const tb__schema_type_t *root = &found.schema->types[found.schema->root];
  assert_string_equal(found.schema->fields[root->first_field].name, field);
  assert_string_equal(found.note, note);
  tb__schema_destroy(found.schema);
}

static void test_the_order(void **state)
{
  (void)state;
  char prefix[64], named[64];
  const char *folders[] = {"/nonexistent", named};
  snprintf(prefix, sizeof prefix, "/nonexistent:%s/prefix", test_folder);
  snprintf(named, sizeof named, "%s/named", test_folder);
  tb__definition_request_t request = {.type = "a/msg/B",
                                      .recorded = "int8 recorded\n",
                                      .recorded_encoding = "ros2msg",
                                      .described = "int8 node\n",
                                      .places = {prefix, folders, 2}};
  write_file("prefix/share/a/msg/B.msg", "int8 installed\n");
  write_file("named/a/msg/B.msg", "int8 named\n");
  assert_found(&request, TB__DEFINITION_RECORDING, "recorded", "");
  request.recorded = "";
  request.recorded_encoding = "";
  assert_found(&request, TB__DEFINITION_NODE, "node", "");
  request.described = NULL;
  assert_found(&request, TB__DEFINITION_INSTALLED, "installed", "");
  request.places.prefixes = NULL;
  assert_found(&request, TB__DEFINITION_FOLDER, "named", "");
  request.places.folder_count = 0;
  tb__definition_t found;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__definition_resolve(&request, &found, &error), TB_ERR_NOT_FOUND);
  assert_string_equal(error.text, "definition of a/msg/B unknown");
  request.type = "std_msgs/msg/String";
  assert_found(&request, TB__DEFINITION_BUILT_IN, "data", "");
  request.type = "std_msgs/String"; /* as recordings of crystal have it */
  assert_found(&request, TB__DEFINITION_BUILT_IN, "data", "");
}

static void test_a_wrong_definition_leaves_it_to_the_next(void **state)
{
  (void)state;
  tb__definition_request_t request = {.type = "std_msgs/msg/String",
                                      .recorded = "int8 recorded!\n",
                                      .recorded_encoding = "ros2msg"};
  assert_found(&request, TB__DEFINITION_BUILT_IN, "data",
               "the recording: definition of std_msgs/msg/String, line 1, column 14: a space was "
               "expected after a field's name");
  request.type = "a/msg/B";
  tb__definition_t found;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__definition_resolve(&request, &found, &error), TB_ERR_NOT_FOUND);
  assert_string_equal(
      error.text, "definition of a/msg/B unknown: the recording: definition of a/msg/B, line 1, "
                  "column 14: a space was expected after a field's name");
}

static void test_idl_files(void **state)
{
  (void)state;
  char prefix[64];
  snprintf(prefix, sizeof prefix, "%s/idl", test_folder);
  tb__definition_request_t request = {.type = "c/msg/D", .places = {.prefixes = prefix}};
  write_file("idl/share/c/msg/D.idl",
             "#include \"c/msg/E.idl\"\nmodule c { module msg { struct D { c::msg::E e_of_idl; };"
             " }; };");
  write_file("idl/share/c/msg/E.idl", "module c { module msg { struct E { double x; }; }; };");
  assert_found(&request, TB__DEFINITION_INSTALLED, "e_of_idl", "");
  write_file("idl/share/c/msg/D.msg", "E e\n"); /* with a type that has no .msg file */
  assert_found(&request, TB__DEFINITION_INSTALLED, "e", "");
  write_file("idl/share/c/msg/E.msg", "float64 x\n");
  assert_found(&request, TB__DEFINITION_INSTALLED, "e", "");
}

/* Which are .msg texts, with fields that are built in too. */
static void test_idl_files_with_types_that_are_built_in(void **state)
{
  (void)state;
  char named[64];
  const char *folders[] = {named};
  tb__definition_t found;
  snprintf(named, sizeof named, "%s/own", test_folder);
  tb__definition_request_t request = {.type = "h/msg/I", .places = {NULL, folders, 1}};
  write_file(
      "own/h/msg/I.idl",
      "#include \"std_msgs/msg/Header.idl\"\n#include \"h/msg/J.idl\"\nmodule h { module msg "
      "{ struct I { std_msgs::msg::Header header; h::msg::J j; }; }; };");
  write_file("own/h/msg/J.idl", "module h { module msg { struct J { double x[2]; }; }; };");
  assert_found(&request, TB__DEFINITION_FOLDER, "header", "");
  assert_ok(tb__definition_resolve(&request, &found, NULL));
  const tb__schema_t *schema = found.schema;
  const tb__schema_field_t *header = &schema->fields[schema->types[schema->root].first_field];
  assert_string_equal(schema->types[header->is.type].name, "std_msgs/msg/Header");
  assert_int_equal(header[1].is.kind, TB__FIELD_STRUCT);
  tb__schema_destroy(found.schema);
}

static void test_types_with_those_that_are_built_in(void **state)
{
  (void)state;
  char named[64];
  const char *folders[] = {named};
  snprintf(named, sizeof named, "%s/mixed", test_folder);
  tb__definition_request_t request = {.type = "f/msg/G", .places = {NULL, folders, 1}};
  write_file("mixed/share/f/msg/G.msg", "std_msgs/Header header\n");
  assert_found(&request, TB__DEFINITION_FOLDER, "header", "");
}

static void test_a_type_without_fields(void **state)
{
  (void)state;
  tb__definition_t found;
  tb__definition_request_t request = {.type = "std_msgs/msg/Empty", .recorded = ""};
  assert_ok(tb__definition_resolve(&request, &found, NULL));
  assert_int_equal(found.origin, TB__DEFINITION_BUILT_IN);
  tb__schema_destroy(found.schema);
}

static void test_names_of_origins(void **state)
{
  (void)state;
  assert_string_equal(tb__definition_origin_text(TB__DEFINITION_INSTALLED), "AMENT_PREFIX_PATH");
  assert_string_equal(tb__definition_origin_text(TB__DEFINITION_UNKNOWN), "definition unknown");
  assert_string_equal(tb__definition_origin_text((tb__definition_origin_t)77),
                      "definition unknown");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_order),
      cmocka_unit_test(test_a_wrong_definition_leaves_it_to_the_next),
      cmocka_unit_test(test_idl_files),
      cmocka_unit_test(test_idl_files_with_types_that_are_built_in),
      cmocka_unit_test(test_types_with_those_that_are_built_in),
      cmocka_unit_test(test_a_type_without_fields),
      cmocka_unit_test(test_names_of_origins),
  };
  return cmocka_run_group_tests(tests, test_folder_setup, test_folder_teardown);
}

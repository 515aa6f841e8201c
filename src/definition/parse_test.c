/* What definitions are read as, and what is refused, with its place. */
#include "definition/parse.h"

#include <stdlib.h>
#include <string.h>

#include "definition/built_in.h"
#include "definition/message_definition.h"
#include "definition/schema_builder.h"
#include "test.h"

#define RULE "================================================================================\n"

static tb__schema_t *parse(const char *type, const char *encoding, const char *text)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__schema_parse(type, encoding, text, strlen(text), &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

/* "bool a; string<=5[] b; my/msg/T[3] c" of the root's fields. */
static void write_fields(const tb__schema_t *schema, char *out, size_t size)
{
  static const char *const names[] = {"bool",    "int8",   "uint8",   "int16",  "uint16",
                                      "int32",   "uint32", "int64",   "uint64", "float32",
                                      "float64", "string", "wstring", "struct"};
  const tb__schema_type_t *root = &schema->types[schema->root];
  size_t used = 0;
  out[0] = '\0';
  for (uint32_t i = 0; i < root->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[root->first_field + i];
    char bound[16] = "", shape[20] = "";
    bool is_struct = field->is.kind == TB__FIELD_STRUCT;
    if (field->is.text_max) snprintf(bound, sizeof bound, "<=%u", field->is.text_max);
    if (field->is.shape == TB__FIELD_ARRAY) snprintf(shape, sizeof shape, "[%u]", field->is.count);
    if (field->is.shape == TB__FIELD_SEQUENCE) snprintf(shape, sizeof shape, "[]");
    if (field->is.shape == TB__FIELD_SEQUENCE && field->is.count)
      snprintf(shape, sizeof shape, "[<=%u]", field->is.count);
    int length = snprintf(out + used, size - used, "%s%s%s%s %s", i ? "; " : "",
                          is_struct ? schema->types[field->is.type].name : names[field->is.kind],
                          bound, shape, field->name);
    used += (size_t)length;
  }
}

static void assert_fields(const char *encoding, const char *text, const char *expected)
{
  char fields[1024];
  tb__schema_t *schema = parse("p/msg/T", encoding, text);
  write_fields(schema, fields, sizeof fields);
  assert_string_equal(fields, expected);
  tb__schema_destroy(schema);
}

static void assert_refused(const char *encoding, const char *text, tb_status_t status,
                           const char *what)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  char expected[300];
  snprintf(expected, sizeof expected, "definition of p/msg/T%s", what);
  tb_status_t returned = tb__schema_parse("p/msg/T", encoding, text, strlen(text), &schema, &error);
  if (returned != status || strcmp(error.text, expected) != 0)
    fail_msg("%s: '%s' of '%s', expected '%s'", tb_status_name(returned), error.text, text,
             expected);
  assert_null(schema);
}

/* --- ros2msg --- */

static void test_fields_of_msg(void **state)
{
  (void)state;
  assert_fields("ros2msg",
                "bool a\nbyte b\nchar c\nint8 d\nuint8 e\nint16 f\nuint16 g\nint32 h\nuint32 i\n"
                "int64 j\nuint64 k\nfloat32 l\nfloat64 m\nstring n\nwstring o",
                "bool a; uint8 b; uint8 c; int8 d; uint8 e; int16 f; uint16 g; int32 h; uint32 i; "
                "int64 j; uint64 k; float32 l; float64 m; string n; wstring o");
  assert_fields("ros2msg",
                "# T\n\n  int32[3] a# comment\r\n\tint8[] b [1, 2]\nfloat64[<=5] c   # = 3\n"
                "string<=10 d \"a = # b\"\nwstring<=2[<=7] e\nstring[2] f ['x', \"y\"]\n",
                "int32[3] a; int8[] b; float64[<=5] c; string<=10 d; wstring<=2[<=7] e; "
                "string[2] f");
}

static void test_constants_are_no_fields(void **state)
{
  (void)state;
  assert_fields(
      "ros2msg",
      "int8 A=-1\nuint8 B = 2 # b\nstring C=\"x=y # z\"\nstring<=5 D='q'\nfloat32 E=1e-3\n"
      "bool a true\n",
      "bool a");
  assert_fields("ros2msg", "int8 A=-1\n# nothing else\n",
                "uint8 structure_needs_at_least_one_member");
  assert_fields("ros2msg", "", "uint8 structure_needs_at_least_one_member");
}

static void test_names_of_types_in_msg(void **state)
{
  (void)state;
  assert_fields("ros2msg",
                "U a\np/U b\np/msg/U[] c\nq/U d\nHeader e\nbuiltin_interfaces/Time f\n" RULE
                "MSG: p/U\nint8 x\n" RULE "MSG: q/msg/U\nV v\n" RULE "MSG: q/V\nint8 y\n\n" RULE
                "MSG: std_msgs/Header\nstring frame_id\n==========\r\n"
                "MSG: builtin_interfaces/Time\r\nint32 sec\r\nuint32 nanosec\r\n",
                "p/msg/U a; p/msg/U b; p/msg/U[] c; q/msg/U d; std_msgs/msg/Header e; "
                "builtin_interfaces/msg/Time f");
  tb__schema_t *schema =
      parse("p/action/A_FeedbackMessage", "ros2msg",
            "p/action/A_Feedback feedback\n" RULE "MSG: p/action/A_Feedback\nint8 x\n");
  assert_string_equal(schema->types[schema->root].name, "p/action/A_FeedbackMessage");
  tb__schema_destroy(schema);
  tb__schema_destroy(parse("p/T", "ros2msg", "int8 a\n"));
}

/* A second definition of a type counts for nothing, and neither does what no field names. */
static void test_what_is_not_used_may_be_wrong(void **state)
{
  (void)state;
  assert_fields("ros2msg",
                "U a\n" RULE "MSG: p/U\nint8 x\n" RULE "MSG: p/U\nnowhere/Type x\n" RULE
                "MSG: p/V\nV v\nnowhere/Type y\n",
                "p/msg/U a");
}

static void test_wrong_msg(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    tb_status_t status;
    const char *what;
  } cases[] = {
      {"int8 a\ntime stamp\n", TB_ERR_UNSUPPORTED,
       ", line 2, column 1: time and duration are types of ROS 1; ROS 2 has "
       "builtin_interfaces/Time and builtin_interfaces/Duration"},
      {"duration[] d\n", TB_ERR_UNSUPPORTED,
       ", line 1, column 1: time and duration are types of ROS 1; ROS 2 has "
       "builtin_interfaces/Time and builtin_interfaces/Duration"},
      {"  U a\n", TB_ERR_CORRUPT, ", line 1, column 3: p/msg/U is not defined"},
      {"int8\n", TB_ERR_CORRUPT, ", line 1, column 5: a space and a field's name were expected"},
      {"int8 \n", TB_ERR_CORRUPT, ", line 1, column 6: a field's name was expected"},
      {"int8 1a\n", TB_ERR_CORRUPT, ", line 1, column 6: a field's name was expected"},
      {"int8 a-b\n", TB_ERR_CORRUPT,
       ", line 1, column 7: a space was expected after a field's name"},
      {"int8 a\nint8 a\n", TB_ERR_CORRUPT, ", line 2, column 1: a second field 'a'"},
      {"int8[0] a\n", TB_ERR_CORRUPT,
       ", line 1, column 6: a number from 1 to 4294967295 was expected"},
      {"int8[4294967296] a\n", TB_ERR_CORRUPT,
       ", line 1, column 6: a number from 1 to 4294967295 was expected"},
      {"int8[<=] a\n", TB_ERR_CORRUPT, ", line 1, column 8: a number was expected"},
      {"int8[3 a\n", TB_ERR_CORRUPT, ", line 1, column 7: ']' was expected"},
      {"int8<=3 a\n", TB_ERR_CORRUPT,
       ", line 1, column 5: a space and a field's name were expected"},
      {"int8[] A=1\n", TB_ERR_CORRUPT,
       ", line 1, column 8: only numbers and strings can be constants"},
      {"a/b/c/d e\n", TB_ERR_CORRUPT, ", line 1, column 1: a type's name of too many parts"},
      {"a//b c\n", TB_ERR_CORRUPT, ", line 1, column 3: no name of a type"},
      {"<?xml?>\n", TB_ERR_CORRUPT, ", line 1, column 1: no name of a type"},
      {"int8 a\n---\nint8 b\n", TB_ERR_UNSUPPORTED,
       ", line 2, column 1: a service or an action, and not a message"},
      {"int8 a\n" RULE "XML: p/U\n", TB_ERR_CORRUPT,
       ", line 3, column 1: \"MSG: \" and a type's name were expected"},
      {"int8 a\n" RULE "MSG: p/U x\n", TB_ERR_CORRUPT,
       ", line 3, column 10: nothing was expected after a type's name"},
      {"int8 a\nT[] b\n", TB_ERR_CORRUPT, ", line 2, column 1: p/msg/T contains itself"},
      {"U a\n" RULE "MSG: p/U\nV b\n" RULE "MSG: p/V\nint8 x\nU c\n", TB_ERR_CORRUPT,
       ", line 8, column 1: p/msg/U contains itself"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_refused("ros2msg", cases[i].text, cases[i].status, cases[i].what);
  assert_refused("ros3msg", "int8 a\n", TB_ERR_UNSUPPORTED,
                 ": its encoding, 'ros3msg', is none of ros2msg, ros2idl and ros1msg");
  assert_refused("unknown", "", TB_ERR_UNSUPPORTED,
                 ": its encoding, 'unknown', is none of ros2msg, ros2idl and ros1msg");
  assert_refused("unknown", "int8\n", TB_ERR_CORRUPT, /* it is read */
                 ", line 1, column 5: a space and a field's name were expected");
}

/* --- ros2idl --- */

static void test_fields_of_idl(void **state)
{
  (void)state;
  assert_fields(
      "ros2idl",
      RULE "IDL: p/msg/T\n// generated from a file\n#include \"p/msg/U.idl\"\n"
           "module p {\n  module msg {\n    module T_Constants {\n"
           "      @verbatim (language=\"comment\", text=\"a (\\\" b\" \"};\")\n"
           "      const uint32 SIZE = 4;\n      const string NAME = \"};\";\n"
           "      const double X = -1.5e-3;\n    };\n"
           "    typedef double double__9[9];\n    typedef p::msg::U U__2[2];\n"
           "    @verbatim (language=\"comment\", text=\n      \"Text\")\n    struct T {\n"
           "      @verbatim (language=\"comment\", text=\"Field\")\n      @unit (value=\"m\")\n"
           "      double__9 a;\n      U__2 b;\n      sequence<octet> c;\n"
           "      sequence<string<5>, 3> d;\n      @default (value=\"x\")\n      string<7> e;\n"
           "      wstring f;\n      ::p::msg::U g, h;\n      boolean i;\n      char j;\n"
           "      long long k;\n      unsigned long long l;\n      unsigned short m;\n"
           "      sequence<U, T_Constants::SIZE> n;\n      float o[2][3];\n"
           "      Kind p;\n      /* end; */\n    };\n"
           "    enum Kind { ONE, @value(7) TWO };\n  };\n};\n\n" RULE
           "IDL: p/msg/U\nmodule p { module msg { struct U { int8 x; }; }; };\n",
      "float64[9] a; p/msg/U[2] b; uint8[] c; string<=5[<=3] d; string<=7 e; wstring f; "
      "p/msg/U g; p/msg/U h; bool i; uint8 j; int64 k; uint64 l; uint16 m; "
      "p/msg/U[<=4] n; float32[6] o; uint32 p");
}

static void test_wrong_idl(void **state)
{
  (void)state;
#define IN(text) "module p { module msg {\nstruct T {\n" text "};}; };"
  static const struct {
    const char *text;
    tb_status_t status;
    const char *what;
  } cases[] = {
      {"", TB_ERR_CORRUPT, ", line 1, column 1: p/msg/T is not defined"},
      {"struct T { int8 a; };", TB_ERR_CORRUPT, ", line 1, column 1: p/msg/T is not defined"},
      {IN("int8 a\n"), TB_ERR_CORRUPT, ", line 4, column 1: ';' was expected"},
      {IN("U a;"), TB_ERR_CORRUPT, ", line 3, column 1: U is not defined"},
      {IN("sequence<T> a;"), TB_ERR_CORRUPT, ", line 3, column 10: p/msg/T contains itself"},
      {IN("wchar a;"), TB_ERR_UNSUPPORTED,
       ", line 3, column 1: a type of IDL that ROS 2 has not in fields"},
      {IN("long double a;"), TB_ERR_UNSUPPORTED,
       ", line 3, column 6: long double, which ROS 2 has not in messages"},
      {IN("sequence<sequence<int8>> a;"), TB_ERR_UNSUPPORTED,
       ", line 3, column 18: sequences of sequences or of arrays, which ROS 2 has not"},
      {IN("sequence<int8> a[2];"), TB_ERR_UNSUPPORTED,
       ", line 3, column 17: arrays of sequences, which ROS 2 has not"},
      {IN("@optional int8 a;"), TB_ERR_UNSUPPORTED,
       ", line 3, column 2: optional fields, which ROS 2 has not"},
      {IN("string<N> a;"), TB_ERR_CORRUPT,
       ", line 3, column 8: no constant N that is a whole number"},
      {IN("int8 a[0];"), TB_ERR_CORRUPT,
       ", line 3, column 8: a number from 1 to 4294967295 was expected"},
      {IN("int8 a[65536][65536];"), TB_ERR_LIMIT,
       ", line 3, column 14: an array of too many elements"},
      {IN("int8 a[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];"), TB_ERR_LIMIT,
       ", line 3, column 55: an array of more than 16 dimensions"},
      {IN("@x(\"a"), TB_ERR_CORRUPT, ", line 3, column 4: an annotation has no end"},
      {IN("/* a"), TB_ERR_CORRUPT, ", line 3, column 1: a name was expected"},
      {"module p { union X", TB_ERR_CORRUPT,
       ", line 1, column 12: module, struct, typedef, enum or const was expected; ROS 2 has no "
       "others"},
      {"module p { module msg { struct T : U {", TB_ERR_UNSUPPORTED,
       ", line 1, column 34: a struct that extends another, which ROS 2 has not"},
      {"module p { module msg { typedef A B; typedef B A; struct T { A a; }; }; };", TB_ERR_LIMIT,
       ", line 1, column 46: B: types too deep within types"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_refused("ros2idl", cases[i].text, cases[i].status, cases[i].what);
}

/* --- limits --- */

static void assert_limit(const char *text)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__schema_parse("p/msg/T", "ros2msg", text, strlen(text), &schema, &error),
                TB_ERR_LIMIT);
}

static void test_limits(void **state)
{
  (void)state;
  size_t room = TB__SCHEMA_TEXT_MAX + 2, used = 0;
  char *text = malloc(room);
  assert_non_null(text);
  for (int i = 0; i <= TB__SCHEMA_FIELDS_MAX; i++)
    used += (size_t)snprintf(text + used, room - used, "int8 f%d\n", i);
  assert_limit(text);
  used = 0;
  for (int i = 0; i <= TB__SCHEMA_TYPES_MAX; i++)
    used += (size_t)snprintf(text + used, room - used, RULE "MSG: p/U%d\nint8 a\n", i);
  assert_limit(text);
  used = (size_t)snprintf(text, room, "U0 u\n");
  for (int i = 0; i <= TB__SCHEMA_DEPTH_MAX; i++)
    used += (size_t)snprintf(text + used, room - used, RULE "MSG: p/U%d\nU%d a\n", i, i + 1);
  assert_limit(text);
  used = 0; /* those that are deepest come first: each is known when it is used */
  for (int i = 2 * TB__SCHEMA_DEPTH_MAX; i >= 0; i--)
    used += (size_t)snprintf(text + used, room - used, "U%d u%d\n", i, i);
  for (int i = 0; i < 2 * TB__SCHEMA_DEPTH_MAX; i++)
    used += (size_t)snprintf(text + used, room - used, RULE "MSG: p/U%d\nU%d a\n", i, i + 1);
  snprintf(text + used, room - used, RULE "MSG: p/U%d\nint8 a\n", 2 * TB__SCHEMA_DEPTH_MAX);
  assert_limit(text);
  memset(text, 'a', 300);
  snprintf(text + 300, room - 300, " b\n");
  assert_limit(text);
  memset(text, '\n', room - 1);
  text[room - 1] = '\0';
  assert_limit(text);
  free(text);
}

/* A size that no message has stays one. */
static void test_sizes_do_not_overflow(void **state)
{
  (void)state;
  tb__schema_t *schema =
      parse("p/msg/T", "ros2msg",
            "U[4294967295] a\nint8 b\n" RULE "MSG: p/U\nV[4294967295] v\nint8 w\n" RULE
            "MSG: p/V\nfloat64[4294967295] x\nint8 y\n");
  assert_int_equal(schema->types[schema->root].extent.size[0], TB__EXTENT_MAX);
  tb__schema_destroy(schema);
}

/* Texts of .idl files, and of .msg files after them. */
static void test_mixed_texts(void **state)
{
  (void)state;
  const char *idl = RULE "IDL: p/msg/T\nmodule p { module msg { struct T { p::msg::U u; }; }; };\n";
  char text[1024];
  snprintf(text, sizeof text, "%s" RULE "MSG: p/U\nint8 x\n", idl);
  assert_fields(TB__MESSAGE_MIXED_ENCODING, text, "p/msg/U u");
  assert_refused(TB__MESSAGE_MIXED_ENCODING, idl, TB_ERR_CORRUPT,
                 ", line 3, column 36: p/msg/U is not defined");
  /* A line that only ends as one of '=' does. */
  assert_refused(TB__MESSAGE_MIXED_ENCODING, "int8 x=\nMSG: p/T\nint8 y\n", TB_ERR_CORRUPT,
                 ", line 1, column 1: module, struct, typedef, enum or const was expected; ROS 2 "
                 "has no others");
}

#define IDL_PART "IDL: p/msg/U\nmodule p { module msg { struct U { short x; }; }; };\n"
#define MSG_PART "MSG: p/V\nU u\n"

/* As recorders write them: whichever kinds of files the types are from, in any order, and headings
 * that are empty. */
static void test_parts_of_any_kind(void **state)
{
  (void)state;
  static const char *const encodings[] = {"ros2msg", "ros2idl", "unknown"};
  for (size_t i = 0; i < 3; i++) {
    const char *of = encodings[i];
    tb__schema_destroy(parse("p/srv/T_Event", of,
                             RULE "SRV: p/srv/T\nU u\n---\nV v\n" RULE IDL_PART RULE MSG_PART));
    tb__schema_destroy(
        parse("p/srv/T_Event", of, RULE "SRV: \nV v\n---\n" RULE MSG_PART RULE IDL_PART));
    tb__schema_destroy(parse(
        "p/srv/T_Event", of,
        RULE "IDL: p/srv/T\nmodule p { module srv { struct T_Request { p::msg::V v; }; struct "
             "T_Response { p::msg::U u; }; }; };\n" RULE MSG_PART RULE IDL_PART));
    tb__schema_destroy(
        parse("p/action/T_FeedbackMessage", of,
              RULE "ACTION: p/action/T\n---\nU u\n---\nV v\n" RULE MSG_PART RULE IDL_PART));
    tb__schema_destroy(parse("p/action/T_FeedbackMessage", of,
                             RULE "ACTION:\n---\nU u\n---\nV v\n" RULE
                                  "\n" RULE RULE MSG_PART RULE IDL_PART RULE));
  }
  assert_fields("ros2msg", "p/V v\n" RULE IDL_PART RULE MSG_PART RULE "MSG:\nwrong\n", "p/msg/V v");
  assert_fields("ros2msg", RULE "MSG: p/T\nV v\n" RULE IDL_PART RULE MSG_PART, "p/msg/V v");
  assert_fields("ros2msg", RULE "MSG:\nV v\n" RULE IDL_PART RULE MSG_PART, "p/msg/V v");
  tb__schema_destroy(parse("p/srv/T_Event", "ros2msg", "int8 a\n---\nbool b\n"));
  tb__schema_destroy(parse("p/action/T_SendGoal_Event", "unknown", "int8 a\n---\n---\nbool b\n"));
}

static void test_all_that_is_built_in(void **state)
{
  (void)state;
  for (size_t i = 0; tb__built_in_name(i); i++) {
    char type[128];
    tb__found_definition_t found;
    const char *slash = strchr(tb__built_in_name(i), '/');
    snprintf(type, sizeof type, "%.*s/msg%s", (int)(slash - tb__built_in_name(i)),
             tb__built_in_name(i), slash);
    assert_ok(tb__message_definition_find(type, TB__DEFINITION_BUILT_IN,
                                          &(tb__definition_places_t){.prefixes = NULL}, &found));
    tb__schema_destroy(parse(type, found.encoding, found.text));
    free(found.text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields_of_msg),
      cmocka_unit_test(test_constants_are_no_fields),
      cmocka_unit_test(test_names_of_types_in_msg),
      cmocka_unit_test(test_what_is_not_used_may_be_wrong),
      cmocka_unit_test(test_wrong_msg),
      cmocka_unit_test(test_fields_of_idl),
      cmocka_unit_test(test_wrong_idl),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_sizes_do_not_overflow),
      cmocka_unit_test(test_mixed_texts),
      cmocka_unit_test(test_parts_of_any_kind),
      cmocka_unit_test(test_all_that_is_built_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

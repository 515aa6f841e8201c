#include "wire/names.h"

#include <string.h>

#include "test.h"

static void assert_topic(const char *ros, const char *expected)
{
  char out[TB__DDS_NAME_SIZE];
  assert_ok(tb__topic_name_to_dds(ros, false, out, NULL));
  assert_string_equal(out, expected);
}

static void assert_topic_breaks(const char *ros, const char *rule)
{
  char out[TB__DDS_NAME_SIZE] = "untouched";
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__topic_name_to_dds(ros, false, out, &error), TB_ERR_INVALID);
  assert_string_equal(out, "untouched");
  if (!strstr(error.text, rule)) fail_msg("'%s' does not contain '%s'", error.text, rule);
}

static void test_topics_get_the_rt_prefix(void **state)
{
  (void)state;
  assert_topic("/chatter", "rt/chatter");
  assert_topic("HHH", "rt/HHH");
  assert_topic("/a/b_2/c__d", "rt/a/b_2/c__d");
  assert_topic("_hidden", "rt/_hidden");
}

static void test_broken_topic_names_name_their_rule(void **state)
{
  (void)state;
  assert_topic_breaks("", "must not be empty");
  assert_topic_breaks(NULL, "NULL");
  assert_topic_breaks("/", "must not end with '/'");
  assert_topic_breaks("/a/", "must not end with '/'");
  assert_topic_breaks("~/a", "private");
  assert_topic_breaks("/a//b", "'//'");
  assert_topic_breaks("/a b", "letters, digits");
  assert_topic_breaks("/a-b", "letters, digits");
  assert_topic_breaks("/\xc3\xa4", "letters, digits");
  assert_topic_breaks("/{node}/a", "letters, digits");
  assert_topic_breaks("/1a", "starts with a digit");
  assert_topic_breaks("1a", "starts with a digit");
  assert_topic_breaks("/a/2", "starts with a digit");
}

static void test_topic_length_is_limited_as_in_rmw(void **state)
{
  (void)state;
  char topic[300], out[TB__DDS_NAME_SIZE];
  memset(topic, 'a', sizeof topic);
  topic[0] = '/';
  topic[247] = '\0';
  assert_ok(tb__topic_name_to_dds(topic, false, out, NULL));
  assert_int_equal(strlen(out), 249);
  topic[247] = 'a';
  topic[248] = '\0';
  assert_topic_breaks(topic, "247");
  assert_topic_breaks(topic + 1, "247"); /* 247 characters, and the '/' to come */
}

static void test_plain_names_go_as_they_are(void **state)
{
  (void)state;
  char out[TB__DDS_NAME_SIZE];
  assert_ok(tb__topic_name_to_dds("ros_discovery_info", true, out, NULL));
  assert_string_equal(out, "ros_discovery_info");
  assert_status(tb__topic_name_to_dds("", true, out, NULL), TB_ERR_INVALID);
  char big[300];
  memset(big, 'a', sizeof big);
  big[299] = '\0';
  assert_status(tb__topic_name_to_dds(big, true, out, NULL), TB_ERR_INVALID);
}

static void test_types(void **state)
{
  (void)state;
  char out[TB__DDS_NAME_SIZE];
  assert_ok(tb__type_name_to_dds("std_msgs/msg/String", out, NULL));
  assert_string_equal(out, "std_msgs::msg::dds_::String_");
  assert_ok(tb__type_name_to_dds("test_msgs/BasicTypes", out, NULL));
  assert_string_equal(out, "test_msgs::msg::dds_::BasicTypes_");
  assert_ok(tb__type_name_to_dds("rcl_interfaces/srv/GetParameters_Request", out, NULL));
  assert_string_equal(out, "rcl_interfaces::srv::dds_::GetParameters_Request_");
  assert_ok(tb__type_name_normalize("test_msgs/BasicTypes", out, NULL));
  assert_string_equal(out, "test_msgs/msg/BasicTypes");
}

static void test_broken_types_are_refused(void **state)
{
  (void)state;
  static const char *const broken[] = {
      "",         "String",      "/String",        "std_msgs/",        "std_msgs/msg/",
      "a/b/c/D",  "a//D",        "std msgs/msg/A", "std_msgs/foo/A",   "std_msgs/msg/1A",
      "1a/msg/A", "a/msg/A::B_", "a/msg/A%s",      "std_msgs/msg/A\n",
  };
  char out[TB__DDS_NAME_SIZE];
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb__type_name_to_dds(broken[i], out, &error), TB_ERR_INVALID);
  }
  char big[300];
  memset(big, 'a', sizeof big);
  big[5] = '/';
  big[299] = '\0';
  assert_status(tb__type_name_to_dds(big, out, NULL), TB_ERR_INVALID);
  assert_status(tb__type_name_to_dds(NULL, out, NULL), TB_ERR_INVALID);
}

static void test_services_have_two_topics(void **state)
{
  (void)state;
  char request[TB__DDS_NAME_SIZE], reply[TB__DDS_NAME_SIZE];
  assert_ok(tb__service_name_to_dds("/node/get_parameters", request, reply, NULL));
  assert_string_equal(request, "rq/node/get_parametersRequest");
  assert_string_equal(reply, "rr/node/get_parametersReply");
  assert_ok(tb__service_name_to_dds("add", request, reply, NULL));
  assert_string_equal(request, "rq/addRequest");
  static const char *const broken[] = {"", "~/x", "/x/", "a b", "/a//b", "/1a"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    assert_status(tb__service_name_to_dds(broken[i], request, reply, NULL), TB_ERR_INVALID);
  assert_status(tb__service_name_to_dds(NULL, request, reply, NULL), TB_ERR_INVALID);
  char name[300] = "/";
  memset(name + 1, 'a', 245);
  assert_ok(tb__service_name_to_dds(name, request, reply, NULL));
  assert_int_equal(strlen(request), TB__DDS_NAME_SIZE - 1);
  assert_ok(tb__service_name_to_dds(name + 1, request, reply, NULL));
  assert_int_equal(strlen(request), TB__DDS_NAME_SIZE - 1);
  name[246] = 'a';
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__service_name_to_dds(name, request, reply, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "246"));
}

static void assert_expands(const char *name, const char *ns, const char *expected)
{
  char out[TB__DDS_NAME_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  if (tb__name_expand(name, "node", ns, out, &error) != TB_OK) fail_msg("%s", error.text);
  assert_string_equal(out, expected);
}

static void test_names_are_expanded(void **state)
{
  (void)state;
  assert_expands("/chatter", "/a", "/chatter");
  assert_expands("chatter", "/a/b", "/a/b/chatter");
  assert_expands("chatter", "/", "/chatter");
  assert_expands("x/y", "/", "/x/y");
  assert_expands("~", "/a", "/a/node");
  assert_expands("~/x", "/a", "/a/node/x");
  assert_expands("~/x", "/", "/node/x");
  assert_expands("{node}/x", "/a", "/a/node/x");
  assert_expands("/b/x_{node}_y", "/a", "/b/x_node_y");
  assert_expands("{ns}/x", "/a/b", "/a/b/x");
  assert_expands("{namespace}/{node}", "/a/b", "/a/b/node");
  assert_expands("/b{ns}", "/a", "/b/a");
  assert_expands("~/{node}", "/a", "/a/node/node");
}

static void assert_expand_breaks(const char *name, const char *rule)
{
  char out[TB__DDS_NAME_SIZE] = "untouched";
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__name_expand(name, "node", "/", out, &error), TB_ERR_INVALID);
  assert_string_equal(out, "untouched");
  if (!strstr(error.text, rule)) fail_msg("'%s' does not contain '%s'", error.text, rule);
}

static void test_names_that_cannot_be_expanded_name_their_rule(void **state)
{
  (void)state;
  assert_expand_breaks(NULL, "NULL");
  assert_expand_breaks("", "must not be empty");
  assert_expand_breaks("/", "end with '/'");
  assert_expand_breaks("a/", "end with '/'");
  assert_expand_breaks("~/", "end with '/'");
  assert_expand_breaks("~a", "'/' after '~'");
  assert_expand_breaks("/a/~", "beginning");
  assert_expand_breaks("{nod}", "substitution");
  assert_expand_breaks("{}", "substitution");
  assert_expand_breaks("{node", "close '{'");
  assert_expand_breaks("{{node}}", "close '{'");
  assert_expand_breaks("node}", "letters, digits");
  assert_expand_breaks("a b", "letters, digits");
  assert_expand_breaks("1a", "digit");
  assert_expand_breaks("{ns}/x", "'//'"); /* "//x": the namespace is "/" */
}

static void test_names_that_grow_too_long_are_refused(void **state)
{
  (void)state;
  char ns[TB__DDS_NAME_SIZE] = "/", name[300], out[TB__DDS_NAME_SIZE] = "untouched";
  memset(ns + 1, 'a', 244);
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  assert_ok(tb__name_expand("x", "node", ns, out, NULL));
  assert_int_equal(strlen(out), 247);
  static const char *const longer[] = {"xy", "xyzxyzxyzxyz", "~", "{ns}{ns}", "x{ns}"};
  for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++)
    assert_status(tb__name_expand(longer[i], "node", ns, out, NULL), TB_ERR_INVALID);
  assert_status(tb__name_expand(name, "node", "/", out, NULL), TB_ERR_INVALID);
  name[255] = '\0';
  assert_status(tb__name_expand("{node}", name, "/", out, NULL), TB_ERR_INVALID);
  assert_status(tb__name_expand("{node}", name, ns, out, NULL), TB_ERR_INVALID);
}

static void test_names_of_nodes(void **state)
{
  (void)state;
  char name[257];
  memset(name, 'a', sizeof name);
  name[255] = '\0';
  static const char *const good[] = {"n", "_n", "talker_1", "N0"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_ok(tb__node_name_check(good[i], NULL));
  assert_ok(tb__node_name_check(name, NULL));
  name[255] = 'a';
  name[256] = '\0';
  const struct {
    const char *name, *rule;
  } bad[] = {{"", "empty"},      {"1n", "digit"},    {"a/b", "letters"},
             {"a-b", "letters"}, {"{n}", "letters"}, {"~", "letters"},
             {name, "255"},      {NULL, "NULL"},     {"\xc3\xa4", "letters"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb__node_name_check(bad[i].name, &error), TB_ERR_INVALID);
    assert_non_null(strstr(error.text, bad[i].rule));
  }
}

static void test_namespaces(void **state)
{
  (void)state;
  char ns[300] = "/", out[TB__DDS_NAME_SIZE];
  static const char *const good[][2] = {{"", "/"},    {"/", "/"},          {"a", "/a"},
                                        {"/a", "/a"}, {"a/b_1", "/a/b_1"}, {"/a/b", "/a/b"}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_ok(tb__namespace_normalize(good[i][0], out, NULL));
    assert_string_equal(out, good[i][1]);
  }
  memset(ns + 1, 'a', 244);
  assert_ok(tb__namespace_normalize(ns, out, NULL));
  assert_string_equal(out, ns);
  assert_ok(tb__namespace_normalize(ns + 1, out, NULL));
  assert_string_equal(out, ns);
  ns[245] = 'a';
  strcpy(out, "untouched");
  const struct {
    const char *ns, *rule;
  } bad[] = {{"a/", "end with '/'"}, {"//", "'/'"}, {"/a//b", "'//'"}, {"/1a", "digit"}, {"~", "~"},
             {"a b", "letters"},     {ns, "245"},   {ns + 1, "245"},   {NULL, "NULL"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb__namespace_normalize(bad[i].ns, out, &error), TB_ERR_INVALID);
    assert_non_null(strstr(error.text, bad[i].rule));
    assert_string_equal(out, "untouched");
  }
}

static void test_enclaves(void **state)
{
  (void)state;
  static const char *const bad[] = {"", "arm", "/arm/", "//arm", "/arm-1", "/1arm", "/a/../b", "~"};
  tb_error_t error = TB_ERROR_INIT;
  assert_ok(tb__enclave_name_check("/", NULL));
  assert_ok(tb__enclave_name_check("/robot/arm_1", NULL));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_status(tb__enclave_name_check(bad[i], &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "enclave '~'"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_topics_get_the_rt_prefix),
      cmocka_unit_test(test_broken_topic_names_name_their_rule),
      cmocka_unit_test(test_topic_length_is_limited_as_in_rmw),
      cmocka_unit_test(test_plain_names_go_as_they_are),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_broken_types_are_refused),
      cmocka_unit_test(test_services_have_two_topics),
      cmocka_unit_test(test_names_are_expanded),
      cmocka_unit_test(test_names_that_cannot_be_expanded_name_their_rule),
      cmocka_unit_test(test_names_that_grow_too_long_are_refused),
      cmocka_unit_test(test_names_of_nodes),
      cmocka_unit_test(test_namespaces),
      cmocka_unit_test(test_enclaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

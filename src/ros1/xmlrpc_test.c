/* XML-RPC: what masters and nodes send is read as it is meant, and what they must not send costs
 * no more than an error. */
#include <stdlib.h>
#include <string.h>

#include "ros1/xmlrpc_parse.h"
#include "ros1/xmlrpc_write.h"

#include "test.h"

static tb_status_t parse(const char *text, tb__xmlrpc_message_t *out, tb_error_t *error)
{
  return tb__xmlrpc_parse(text, strlen(text), out, error);
}

static void refuses(const char *text, tb_status_t expected, const char *part)
{
  tb__xmlrpc_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = parse(text, &message, &error);
  if (status != expected || !strstr(error.text, part))
    fail_msg("%.200s: %s \"%s\", expected %s \"%s\"", text, tb_status_name(status), error.text,
             tb_status_name(expected), part);
}

/* As rosmaster answers registerSubscriber. */
static void test_answer_of_python(void **state)
{
  (void)state;
  tb__xmlrpc_message_t message;
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  assert_ok(parse("<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n"
                  "<value><array><data>\n<value><int>1</int></value>\n"
                  "<value><string>Subscribed to [/clock]</string></value>\n"
                  "<value><array><data>\n<value><string>http://127.0.0.1:44453/</string></value>\n"
                  "</data></array></value>\n</data></array></value>\n</param>\n</params>\n"
                  "</methodResponse>\n",
                  &message, NULL));
  assert_int_equal(message.kind, TB__XMLRPC_RESPONSE);
  assert_true(tb__xmlrpc_answer(&message, &code, &text, &value));
  assert_int_equal(code, 1);
  assert_string_equal(text, "Subscribed to [/clock]");
  assert_int_equal(value->count, 1);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(value, 0)), "http://127.0.0.1:44453/");
  assert_null(tb__xmlrpc_at(value, 1));
  tb__xmlrpc_message_fini(&message);
}

/* As roscpp calls: strings without a type, i4. */
static void test_call_of_roscpp(void **state)
{
  (void)state;
  tb__xmlrpc_message_t message;
  assert_ok(parse("<?xml version=\"1.0\"?>\r\n<methodCall><methodName>publisherUpdate</methodName>"
                  "\r\n<params><param><value>/master</value></param><param><value>/a&amp;b</value>"
                  "</param><param><value><i4>-7</i4></value></param><param><value></value></param>"
                  "<param><value><boolean>1</boolean></value></param>"
                  "<param><value><double>-1.25e2</double></value></param></params></methodCall>",
                  &message, NULL));
  assert_int_equal(message.kind, TB__XMLRPC_CALL);
  assert_string_equal(message.method, "publisherUpdate");
  assert_int_equal(message.params.count, 6);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(&message.params, 0)), "/master");
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(&message.params, 1)), "/a&b");
  assert_int_equal(tb__xmlrpc_at(&message.params, 2)->integer, -7);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(&message.params, 3)), "");
  assert_int_equal(tb__xmlrpc_at(&message.params, 4)->type, TB__XMLRPC_BOOLEAN);
  assert_int_equal(tb__xmlrpc_at(&message.params, 4)->integer, 1);
  assert_true(tb__xmlrpc_at(&message.params, 5)->number == -125.0);
  tb__xmlrpc_message_fini(&message);
}

static void test_struct_and_fault(void **state)
{
  (void)state;
  tb__xmlrpc_message_t message;
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  assert_ok(parse("<methodResponse><fault><value><struct><member><name>faultCode</name>"
                  "<value><int>1</int></value></member><member><name>faultString</name>"
                  "<value>no such method</value></member></struct></value></fault>"
                  "</methodResponse>",
                  &message, NULL));
  assert_int_equal(message.kind, TB__XMLRPC_FAULT);
  const tb__xmlrpc_value_t *fault = tb__xmlrpc_at(&message.params, 0);
  assert_int_equal(tb__xmlrpc_member(fault, "faultCode")->integer, 1);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_member(fault, "faultString")), "no such method");
  assert_null(tb__xmlrpc_member(fault, "other"));
  assert_false(tb__xmlrpc_answer(&message, &code, &text, &value));
  tb__xmlrpc_message_fini(&message);
}

#define RESPONSE(value) "<methodResponse><params><param>" value "</param></params></methodResponse>"

static void test_what_is_not_xmlrpc_is_refused(void **state)
{
  (void)state;
  refuses("", TB_ERR_CORRUPT, "no element");
  refuses("GET / HTTP/1.1", TB_ERR_CORRUPT, "line 1");
  refuses("<html></html>", TB_ERR_CORRUPT, "not expected");
  refuses("<methodCall></methodCall>", TB_ERR_CORRUPT, "neither");
  refuses("<methodResponse></methodResponse>", TB_ERR_CORRUPT, "neither");
  refuses(RESPONSE(""), TB_ERR_CORRUPT, "neither");
  refuses(RESPONSE("<value><int>1</int>"), TB_ERR_CORRUPT, "mismatched");
  refuses(RESPONSE("<value><int>x</int></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><int></int></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><int>99999999999999999999</int></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><boolean>2</boolean></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><double>1.0.0</double></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><double>.</double></value>"), TB_ERR_CORRUPT, "number");
  refuses(RESPONSE("<value><int>1</int><int>2</int></value>"), TB_ERR_CORRUPT, "twice");
  refuses(RESPONSE("<value>1</value><value>2</value>"), TB_ERR_CORRUPT, "more than one");
  refuses(RESPONSE("<value><data></data></value>"), TB_ERR_CORRUPT, "not expected");
  refuses(RESPONSE("<value><struct><member><name>a</name></member></struct></value>"),
          TB_ERR_CORRUPT, "without name or value");
  refuses(RESPONSE("<value><struct><member><value>a</value></member></struct></value>"),
          TB_ERR_CORRUPT, "without name or value");
  refuses("<methodCall><methodName>a</methodName><methodName>b</methodName></methodCall>",
          TB_ERR_CORRUPT, "two names");
}

static void test_entities_are_refused(void **state)
{
  (void)state;
  refuses("<?xml version=\"1.0\"?><!DOCTYPE lolz [<!ENTITY a \"aaaaaaaaaa\">"
          "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>" RESPONSE("<value>&b;</value>"),
          TB_ERR_CORRUPT, "document type");
  refuses("<!DOCTYPE x SYSTEM \"file:///etc/passwd\">" RESPONSE("<value>1</value>"), TB_ERR_CORRUPT,
          "document type");
  refuses(RESPONSE("<value>&b;</value>"), TB_ERR_CORRUPT, "undefined entity");
}

/* `count` times "<value><array><data>". */
static char *nested(size_t count)
{
  static const char open[] = "<value><array><data>", begin[] = "<methodResponse><params><param>";
  char *text = malloc(sizeof begin + count * (sizeof open - 1));
  assert_non_null(text);
  memcpy(text, begin, sizeof begin);
  for (size_t i = 0; i < count; i++)
    memcpy(text + sizeof begin - 1 + i * (sizeof open - 1), open, sizeof open);
  return text;
}

static void test_limits_of_depth_values_and_size(void **state)
{
  (void)state;
  char *deep = nested(100000);
  refuses(deep, TB_ERR_LIMIT, "too deep");
  free(deep);
  static const char one[] = "<value/>";
  static const char begin[] = "<methodResponse><params><param><value><array><data>";
  size_t size = sizeof begin - 1, count = TB__XMLRPC_VALUES_MAX + 1;
  char *wide = malloc(size + count * (sizeof one - 1) + 1);
  assert_non_null(wide);
  memcpy(wide, begin, size);
  for (size_t i = 0; i < count; i++, size += sizeof one - 1)
    memcpy(wide + size, one, sizeof one);
  refuses(wide, TB_ERR_LIMIT, "too many values");
  free(wide);
  char *large = malloc(TB__XMLRPC_SIZE_MAX + 2);
  assert_non_null(large);
  memset(large, ' ', TB__XMLRPC_SIZE_MAX + 1);
  large[TB__XMLRPC_SIZE_MAX + 1] = '\0';
  refuses(large, TB_ERR_LIMIT, "at most");
  free(large);
}

static void test_what_is_written_is_read(void **state)
{
  (void)state;
  tb__xmlrpc_writer_t writer;
  tb__xmlrpc_message_t message;
  tb__xmlrpc_begin_call(&writer, "requestTopic");
  tb__xmlrpc_put_string(&writer, "a<b>&\"c'\x01");
  tb__xmlrpc_begin_array(&writer);
  tb__xmlrpc_begin_array(&writer);
  tb__xmlrpc_put_string(&writer, "TCPROS");
  tb__xmlrpc_end_array(&writer);
  tb__xmlrpc_end_array(&writer);
  tb__xmlrpc_put_int(&writer, INT32_MIN);
  tb__xmlrpc_put_boolean(&writer, true);
  assert_true(tb__xmlrpc_end(&writer));
  assert_ok(tb__xmlrpc_parse(writer.text, writer.size, &message, NULL));
  assert_string_equal(message.method, "requestTopic");
  assert_int_equal(message.params.count, 4);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(&message.params, 0)), "a<b>&\"c'?");
  const tb__xmlrpc_value_t *inner = tb__xmlrpc_at(tb__xmlrpc_at(&message.params, 1), 0);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_at(inner, 0)), "TCPROS");
  assert_int_equal(tb__xmlrpc_at(&message.params, 2)->integer, INT32_MIN);
  assert_int_equal(tb__xmlrpc_at(&message.params, 3)->type, TB__XMLRPC_BOOLEAN);
  tb__xmlrpc_message_fini(&message);
  tb__xmlrpc_writer_fini(&writer);

  assert_true(tb__xmlrpc_write_fault(&writer, -1, "x: unknown <method>"));
  assert_ok(tb__xmlrpc_parse(writer.text, writer.size, &message, NULL));
  assert_int_equal(message.kind, TB__XMLRPC_FAULT);
  const tb__xmlrpc_value_t *fault = tb__xmlrpc_at(&message.params, 0);
  assert_string_equal(tb__xmlrpc_string(tb__xmlrpc_member(fault, "faultString")),
                      "x: unknown <method>");
  tb__xmlrpc_message_fini(&message);
  tb__xmlrpc_writer_fini(&writer);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answer_of_python),
      cmocka_unit_test(test_call_of_roscpp),
      cmocka_unit_test(test_struct_and_fault),
      cmocka_unit_test(test_what_is_not_xmlrpc_is_refused),
      cmocka_unit_test(test_entities_are_refused),
      cmocka_unit_test(test_limits_of_depth_values_and_size),
      cmocka_unit_test(test_what_is_written_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* HTTP answers, whole, byte by byte, and wrong. */
#include <stdlib.h>
#include <string.h>

#include "ros1/http_response.h"
#include "ros1/uri.h"
#include "ros1/xmlrpc_parse.h"

#include "test.h"

static const char answer[] = "HTTP/1.1 200 OK\r\nServer: BaseHTTP/0.6 Python/3.11.2\r\n"
                             "Content-type: text/xml\r\nContent-length: 5\r\n\r\nhello";

static tb_status_t add(tb__http_response_t *response, const char *text, bool *out_done)
{
  return tb__http_response_add(response, text, strlen(text), out_done, NULL);
}

static void check_body(tb__http_response_t *response, const char *expected)
{
  size_t size;
  const char *body = tb__http_response_body(response, &size);
  assert_int_equal(size, strlen(expected));
  assert_memory_equal(body, expected, size);
}

static void test_whole_and_in_parts(void **state)
{
  (void)state;
  for (size_t part = 1; part <= sizeof answer; part++) {
    tb__http_response_t response = {0};
    bool done = false;
    for (size_t at = 0; at < sizeof answer - 1; at += part) {
      size_t left = sizeof answer - 1 - at;
      assert_false(done);
      assert_ok(
          tb__http_response_add(&response, answer + at, left < part ? left : part, &done, NULL));
    }
    assert_true(done);
    assert_int_equal(response.code, 200);
    check_body(&response, "hello");
    tb__http_response_fini(&response);
  }
}

static void test_body_up_to_the_end_of_the_connection(void **state)
{
  (void)state;
  tb__http_response_t response = {0};
  bool done = true;
  assert_ok(add(&response, "HTTP/1.0 200 OK\n\nhello", &done));
  assert_false(done);
  assert_ok(tb__http_response_end(&response, NULL));
  check_body(&response, "hello");
  tb__http_response_fini(&response);
}

static void test_closed_too_early(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "HTTP/1.1 200 OK\r\n",
                                      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb__http_response_t response = {0};
    bool done;
    assert_ok(add(&response, texts[i], &done));
    assert_false(done);
    assert_status(tb__http_response_end(&response, NULL), TB_ERR_TRUNCATED);
    tb__http_response_fini(&response);
  }
}

static void refuses(const char *text, tb_status_t expected)
{
  tb__http_response_t response = {0};
  bool done;
  tb_status_t status = add(&response, text, &done);
  if (status != expected) fail_msg("%s: %s", text, tb_status_name(status));
  tb__http_response_fini(&response);
}

static void test_what_is_wrong_is_refused(void **state)
{
  (void)state;
  refuses("SSH-2.0-OpenSSH\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 20 OK\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\n", TB_ERR_LIMIT);
  refuses("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\n", TB_ERR_CORRUPT);
  refuses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", TB_ERR_UNSUPPORTED);
}

static void test_endless_heads_and_bodies_are_refused(void **state)
{
  (void)state;
  char line[1024];
  tb__http_response_t response = {0};
  bool done;
  tb_status_t status = add(&response, "HTTP/1.1 200 OK\r\n", &done);
  memset(line, 'a', sizeof line);
  for (size_t i = 0; i <= TB__HTTP_HEAD_MAX && !status; i += sizeof line)
    status = tb__http_response_add(&response, line, sizeof line, &done, NULL);
  assert_status(status, TB_ERR_LIMIT);
  tb__http_response_fini(&response);
  status = add(&response, "HTTP/1.1 200 OK\r\n\r\n", &done);
  for (size_t i = 0; i <= TB__XMLRPC_SIZE_MAX && !status; i += sizeof line)
    status = tb__http_response_add(&response, line, sizeof line, &done, NULL);
  assert_status(status, TB_ERR_LIMIT);
  tb__http_response_fini(&response);
}

static void test_uris(void **state)
{
  (void)state;
  tb__ros1_uri_t uri;
  assert_true(tb__ros1_uri_parse("http://localhost:11311", &uri));
  assert_string_equal(uri.host, "localhost");
  assert_int_equal(uri.port, 11311);
  assert_true(tb__ros1_uri_parse("http://10.0.0.1:1/RPC2", &uri));
  assert_true(tb__ros1_uri_parse("http://[::1]:80/", &uri));
  assert_string_equal(uri.host, "::1");
  static const char *const wrong[] = {"",
                                      "localhost:11311",
                                      "http://localhost",
                                      "http://localhost:/",
                                      "http://localhost:0/",
                                      "http://localhost:65536/",
                                      "http://localhost:1x/",
                                      "http://:80/",
                                      "http://a b:80/",
                                      "http://a\r\nb:80/",
                                      "http://[::1:80/",
                                      "https://localhost:80/"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (tb__ros1_uri_parse(wrong[i], &uri)) fail_msg("%s", wrong[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_and_in_parts),
      cmocka_unit_test(test_body_up_to_the_end_of_the_connection),
      cmocka_unit_test(test_closed_too_early),
      cmocka_unit_test(test_what_is_wrong_is_refused),
      cmocka_unit_test(test_endless_heads_and_bodies_are_refused),
      cmocka_unit_test(test_uris),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

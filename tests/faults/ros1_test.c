/* The faults of core_test.c for what ROS 1 reads and writes, and for a context and its source. */
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_clock_source.h>

#include "faults.h"
#include "ros1/http_response.h"
#include "ros1/tcpros_header.h"
#include "ros1/xmlrpc_parse.h"
#include "ros1/xmlrpc_write.h"

static tb_status_t parsing(void)
{
  static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  static const tb__tcpros_pair_t pairs[] = {{"callerid", "/a"}, {"topic", "/clock"}};
  tb__xmlrpc_writer_t writer;
  tb__xmlrpc_message_t message;
  tb__http_response_t answer = {0};
  bool done;
  tb__xmlrpc_begin_call(&writer, "publisherUpdate");
  tb__xmlrpc_begin_array(&writer);
  for (int i = 0; i < 100; i++)
    tb__xmlrpc_put_string(&writer, "http://127.0.0.1:44453/");
  tb__xmlrpc_end_array(&writer);
  tb_status_t status = tb__xmlrpc_end(&writer) ? TB_OK : TB_ERR_NO_MEMORY;
  if (!status) status = tb__xmlrpc_parse(writer.text, writer.size, &message, NULL);
  if (!status) tb__xmlrpc_message_fini(&message);
  tb__xmlrpc_writer_fini(&writer);
  if (!status) status = tb__http_response_add(&answer, response, sizeof response - 1, &done, NULL);
  if (!status) status = tb__http_response_add(&answer, "a", 1, &done, NULL);
  tb__http_response_fini(&answer);
  if (status) return status;
  size_t size;
  uint8_t *header = tb__tcpros_header_write(pairs, 2, &size);
  free(header);
  return header ? TB_OK : TB_ERR_NO_MEMORY;
}

static tb_status_t creating(void)
{
  tb_ros1_context_options_t options = {"http://127.0.0.1:1/", "127.0.0.1", NULL};
  tb_ros1_context_t *context = NULL;
  tb_source_t *source = NULL;
  tb_status_t status = tb_ros1_context_create(&options, &context, NULL);
  if (!status) status = tb_ros1_clock_source_create(context, NULL, &source, NULL);
  tb_source_destroy(source);
  tb_ros1_context_destroy(context);
  return status;
}

static void test_faults_in_parsing(void **state)
{
  (void)state;
  fault_sweep(parsing, NULL);
}

static void test_faults_in_creating(void **state)
{
  (void)state;
  fault_sweep(creating, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_in_parsing),
      cmocka_unit_test(test_faults_in_creating),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

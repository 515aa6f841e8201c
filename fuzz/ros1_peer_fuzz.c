/* Any bytes as what a peer sends: as the header of a publisher and its message, and as an HTTP
 * answer, which is the same whole and in parts. */
#include <stdlib.h>
#include <string.h>

#include "ros1/clock_message.h"
#include "ros1/http_response.h"
#include "ros1/publisher_link.h"
#include "ros1/tcpros_header.h"
#include "ros1/uri.h"

#include "fuzz.h"

static void check_header(const uint8_t *data, size_t size)
{
  static const tb__ros1_topic_t topic = {"/clock", TB__ROS1_CLOCK_TYPE, TB__ROS1_CLOCK_MD5SUM,
                                         TB__ROS1_CLOCK_FORMER, 64};
  char name[TB__ROS1_NAME_SIZE] = "";
  tb_error_t error = TB_ERROR_INIT;
  tb__tcpros_header_t header;
  tb_status_t status = tb__publisher_header_check(&topic, data, size, name, &error);
  if (strlen(name) >= sizeof name || (status && !error.text[0])) abort();
  if (tb__tcpros_header_parse(data, size, &header, NULL)) return;
  size_t covered = 0;
  for (size_t i = 0; i < header.count; i++)
    covered += 4 + header.fields[i].name_size + 1 + header.fields[i].value_size;
  if (covered != size) abort();
}

static void check_message(const uint8_t *data, size_t size)
{
  int64_t time_ns = -1;
  tb_status_t status = tb__ros1_clock_decode(data, size, &time_ns);
  if (status ? time_ns != -1 : time_ns < 0) abort();
}

typedef struct result {
  tb_status_t status;
  bool done;
  int code;
  size_t size;
  const char *body;
} result_t;

static result_t respond(tb__http_response_t *response, const uint8_t *data, size_t size,
                        size_t part)
{
  result_t result = {TB_OK, false, 0, 0, NULL};
  for (size_t at = 0; at < size && !result.status && !result.done; at += part)
    result.status = tb__http_response_add(response, (const char *)data + at,
                                          size - at < part ? size - at : part, &result.done, NULL);
  if (!result.status && !result.done) result.status = tb__http_response_end(response, NULL);
  result.code = response->code;
  if (!result.status) result.body = tb__http_response_body(response, &result.size);
  return result;
}

static void check_response(const uint8_t *data, size_t size)
{
  tb__http_response_t whole = {0}, parts = {0};
  result_t one = respond(&whole, data, size, size ? size : 1);
  result_t other = respond(&parts, data, size, size ? data[0] % 7u + 1 : 1);
  /* Of two faults the first one that is seen counts. */
  if (!one.status != !other.status) abort();
  if (!one.status && (one.code != other.code || one.size != other.size ||
                      memcmp(one.body, other.body, one.size) != 0))
    abort();
  tb__http_response_fini(&whole);
  tb__http_response_fini(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char text[TB__ROS1_URI_SIZE];
  tb__ros1_uri_t uri;
  size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
  check_header(data, size);
  check_message(data, size);
  check_response(data, size);
  if (length) memcpy(text, data, length);
  text[length] = '\0';
  if (tb__ros1_uri_parse(text, &uri) && (!tb__ros1_host_is_valid(uri.host) || !uri.port)) abort();
  return 0;
}

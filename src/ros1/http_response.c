#include "ros1/http_response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ros1/xmlrpc_parse.h"

static bool is_digit(char character)
{
  return character >= '0' && character <= '9';
}

/* "HTTP/1.1 200 OK" */
static bool read_status_line(const char *line, size_t size, int *out)
{
  if (size < 12 || memcmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) || line[8] != ' ' ||
      !is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11]) ||
      (size > 12 && line[12] != ' '))
    return false;
  *out = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return true;
}

/* The value of the header, without spaces around it; NULL: the line is another header. */
static const char *value_of(const char *line, size_t size, const char *name, size_t *out_size)
{
  size_t length = strlen(name);
  if (size <= length || line[length] != ':' || strncasecmp(line, name, length) != 0) return NULL;
  const char *value = line + length + 1, *end = line + size;
  while (value < end && (*value == ' ' || *value == '\t'))
    value++;
  while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  *out_size = (size_t)(end - value);
  return value;
}

static bool read_length(const char *text, size_t size, size_t *out)
{
  size_t length = 0;
  if (size == 0 || size > 12) return false;
  for (size_t i = 0; i < size; i++) {
    if (!is_digit(text[i])) return false;
    length = length * 10 + (size_t)(text[i] - '0');
  }
  *out = length;
  return true;
}

static tb_status_t read_header(tb__http_response_t *response, const char *line, size_t size,
                               tb_error_t *error)
{
  size_t value_size, length;
  if (value_of(line, size, "Transfer-Encoding", &value_size))
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "HTTP: the answer has a Transfer-Encoding, which ROS 1 does not use");
  const char *value = value_of(line, size, "Content-Length", &value_size);
  if (!value) return TB_OK;
  if (!read_length(value, value_size, &length) ||
      (response->has_length && length != response->body_size))
    return tb_error_set(error, TB_ERR_CORRUPT, "HTTP: the Content-Length cannot be read");
  if (length > TB__XMLRPC_SIZE_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "HTTP: an answer of %zu bytes, at most %zu are read",
                        length, TB__XMLRPC_SIZE_MAX);
  response->has_length = true;
  response->body_size = length;
  return TB_OK;
}

static tb_status_t read_head(tb__http_response_t *response, tb_error_t *error)
{
  const char *line = response->bytes, *end = response->bytes + response->head_size;
  bool is_first = true;
  while (line < end) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    size_t size = (size_t)(newline - line);
    if (size > 0 && line[size - 1] == '\r') size--;
    if (is_first && !read_status_line(line, size, &response->code))
      return tb_error_set(error, TB_ERR_CORRUPT, "HTTP: the answer does not begin with a status");
    tb_status_t status = is_first ? TB_OK : read_header(response, line, size, error);
    if (status) return status;
    is_first = false;
    line = newline + 1;
  }
  return TB_OK;
}

/* With the empty line; 0: the end is not there yet. `from`: what was searched before. */
static size_t find_head_end(const tb__http_response_t *response, size_t from)
{
  const char *bytes = response->bytes;
  for (size_t i = from > 3 ? from - 3 : 0; i < response->size; i++) {
    if (bytes[i] != '\n') continue;
    if (i + 1 < response->size && bytes[i + 1] == '\n') return i + 2;
    if (i + 2 < response->size && bytes[i + 1] == '\r' && bytes[i + 2] == '\n') return i + 3;
  }
  return 0;
}

static bool grow(tb__http_response_t *response, size_t size)
{
  if (response->room - response->size >= size) return true;
  size_t room = 2 * response->room + size;
  char *larger = realloc(response->bytes, room);
  if (!larger) return false;
  response->bytes = larger;
  response->room = room;
  return true;
}

tb_status_t tb__http_response_add(tb__http_response_t *response, const char *bytes, size_t size,
                                  bool *out_done, tb_error_t *error)
{
  *out_done = false;
  if (size == 0) return TB_OK;
  if (!grow(response, size)) return tb_error_set(error, TB_ERR_NO_MEMORY, "HTTP: out of memory");
  size_t before = response->size;
  memcpy(response->bytes + before, bytes, size);
  response->size += size;
  if (!response->head_size) {
    response->head_size = find_head_end(response, before);
    size_t head = response->head_size ? response->head_size : response->size;
    if (head > TB__HTTP_HEAD_MAX)
      return tb_error_set(error, TB_ERR_LIMIT, "HTTP: headers of more than %zu bytes",
                          TB__HTTP_HEAD_MAX);
    if (!response->head_size) return TB_OK;
    tb_status_t status = read_head(response, error);
    if (status) return status;
  }
  size_t body = response->size - response->head_size;
  if (body > TB__XMLRPC_SIZE_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "HTTP: an answer of more than %zu bytes",
                        TB__XMLRPC_SIZE_MAX);
  *out_done = response->has_length && body >= response->body_size;
  return TB_OK;
}

tb_status_t tb__http_response_end(const tb__http_response_t *response, tb_error_t *error)
{
  if (response->head_size && !response->has_length) return TB_OK;
  return tb_error_set(error, TB_ERR_TRUNCATED,
                      "HTTP: the connection was closed before the answer was complete");
}

void tb__http_response_fini(tb__http_response_t *response)
{
  free(response->bytes);
  *response = (tb__http_response_t){0};
}

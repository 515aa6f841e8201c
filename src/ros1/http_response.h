/* The answer of an HTTP/1.1 server to one request, put together from what comes in. */
#ifndef TB_ROS1_HTTP_RESPONSE_H
#define TB_ROS1_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/error.h>

#define TB__HTTP_HEAD_MAX ((size_t)16 << 10)

typedef struct tb__http_response {
  char *bytes;
  size_t size, room;
  size_t head_size; /* with the empty line; 0: not complete yet */
  size_t body_size; /* what Content-Length says */
  bool has_length;  /* else the body ends with the connection */
  int code;         /* 200 */
} tb__http_response_t;

/* Adds what has come; *out_done: the response is complete. TB_ERR_CORRUPT, TB_ERR_LIMIT: a longer
 * body than TB__XMLRPC_SIZE_MAX or a longer head than TB__HTTP_HEAD_MAX, TB_ERR_UNSUPPORTED,
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__http_response_add(tb__http_response_t *response, const char *bytes, size_t size,
                                  bool *out_done, tb_error_t *error) TB_WARN_UNUSED;
/* The connection has ended. TB_ERR_TRUNCATED: the response is not complete. */
tb_status_t tb__http_response_end(const tb__http_response_t *response,
                                  tb_error_t *error) TB_WARN_UNUSED;
void tb__http_response_fini(tb__http_response_t *response);

/* Once complete. */
static inline const char *tb__http_response_body(const tb__http_response_t *response,
                                                 size_t *out_size)
{
  *out_size = response->has_length ? response->body_size : response->size - response->head_size;
  return response->bytes + response->head_size;
}

#endif

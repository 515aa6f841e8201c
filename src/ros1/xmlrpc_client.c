#include "ros1/xmlrpc_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/time.h"

static void release(tb__xmlrpc_exchange_t *exchange)
{
  int fd = exchange->watch.fd;
  exchange->is_active = false;
  tb__ros1_dial_cancel(&exchange->dial);
  tb__ros1_loop_unwatch(exchange->loop, &exchange->watch);
  tb__ros1_loop_clear_timer(exchange->loop, &exchange->timer);
  if (fd >= 0) close(fd);
  free(exchange->request);
  exchange->request = NULL;
}

static void fail(tb__xmlrpc_exchange_t *exchange, const tb_error_t *error)
{
  release(exchange);
  tb__http_response_fini(&exchange->response);
  exchange->done(exchange, NULL, error);
}

static void fail_with(tb__xmlrpc_exchange_t *exchange, tb_status_t status, const char *why)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set(&error, status, "%s port %u: %s", exchange->dial.peer.host,
               (unsigned)exchange->dial.peer.port, why);
  fail(exchange, &error);
}

static void set_limit(tb__xmlrpc_exchange_t *exchange, int64_t step_ns)
{
  int64_t at_ns = tb__real_steady_now_ns() + step_ns;
  tb__ros1_loop_set_timer(exchange->loop, &exchange->timer,
                          at_ns < exchange->until_ns ? at_ns : exchange->until_ns);
}

static void expired(tb__ros1_timer_t *timer)
{
  fail_with(TB__ROS1_OWNER(timer, tb__xmlrpc_exchange_t, timer), TB_ERR_TIMEOUT,
            "no answer within the limit of time");
}

static void complete(tb__xmlrpc_exchange_t *exchange)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__xmlrpc_message_t answer;
  size_t size;
  const char *body = tb__http_response_body(&exchange->response, &size);
  if (exchange->response.code != 200) {
    fail_with(exchange, TB_ERR_TRANSPORT, "HTTP: the answer is not 200 OK");
    return;
  }
  if (tb__xmlrpc_parse(body, size, &answer, &error)) {
    fail(exchange, &error);
    return;
  }
  release(exchange);
  tb__http_response_fini(&exchange->response);
  exchange->done(exchange, &answer, NULL);
  tb__xmlrpc_message_fini(&answer);
}

static void receive(tb__xmlrpc_exchange_t *exchange)
{
  char bytes[8192];
  tb_error_t error = TB_ERROR_INIT;
  bool is_done = false;
  ssize_t got = recv(exchange->watch.fd, bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) {
    fail_with(exchange, TB_ERR_TRANSPORT, strerror(errno));
    return;
  }
  tb_status_t status =
      got ? tb__http_response_add(&exchange->response, bytes, (size_t)got, &is_done, &error)
          : tb__http_response_end(&exchange->response, &error);
  if (status)
    fail(exchange, &error);
  else if (is_done || got == 0)
    complete(exchange);
  else
    set_limit(exchange, TB__XMLRPC_READ_NS);
}

static void ready(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__xmlrpc_exchange_t *exchange = TB__ROS1_OWNER(watch, tb__xmlrpc_exchange_t, watch);
  (void)events;
  if (exchange->sent == exchange->size) {
    receive(exchange);
    return;
  }
  ssize_t sent = send(watch->fd, exchange->request + exchange->sent,
                      exchange->size - exchange->sent, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) {
    fail_with(exchange, TB_ERR_TRANSPORT, strerror(errno));
    return;
  }
  exchange->sent += (size_t)sent;
  set_limit(exchange, TB__XMLRPC_READ_NS);
  if (exchange->sent == exchange->size &&
      tb__ros1_loop_watch(exchange->loop, watch, watch->fd, EPOLLIN))
    fail_with(exchange, TB_ERR_SYSTEM, "epoll failed");
}

static void connected(tb__ros1_dial_t *dial, int fd, const tb_error_t *error)
{
  tb__xmlrpc_exchange_t *exchange = TB__ROS1_OWNER(dial, tb__xmlrpc_exchange_t, dial);
  if (fd < 0) {
    fail(exchange, error);
    return;
  }
  set_limit(exchange, TB__XMLRPC_READ_NS);
  if (!tb__ros1_loop_watch(exchange->loop, &exchange->watch, fd, EPOLLOUT)) return;
  close(fd);
  fail_with(exchange, TB_ERR_SYSTEM, "epoll failed");
}

/* No Accept-Encoding: Python's servers would compress. */
static char *write_request(const tb__ros1_uri_t *peer, const tb__xmlrpc_writer_t *call,
                           size_t *out_size)
{
  size_t room = call->size + TB__ROS1_HOST_SIZE + 256;
  char *request = call->failed ? NULL : malloc(room);
  if (!request) return NULL;
  bool is_v6 = strchr(peer->host, ':');
  int head =
      snprintf(request, room,
               "POST /RPC2 HTTP/1.1\r\nHost: %s%s%s:%u\r\nUser-Agent: timebase\r\n"
               "Connection: close\r\nContent-Type: text/xml\r\nContent-Length: %zu\r\n\r\n",
               is_v6 ? "[" : "", peer->host, is_v6 ? "]" : "", (unsigned)peer->port, call->size);
  memcpy(request + head, call->text, call->size);
  *out_size = (size_t)head + call->size;
  return request;
}

static void no_memory(tb__ros1_timer_t *timer)
{
  fail_with(TB__ROS1_OWNER(timer, tb__xmlrpc_exchange_t, timer), TB_ERR_NO_MEMORY, "out of memory");
}

void tb__xmlrpc_exchange_start(tb__xmlrpc_exchange_t *exchange, tb__ros1_loop_t *loop,
                               const tb__ros1_uri_t *peer, tb__xmlrpc_writer_t *call,
                               void (*done)(tb__xmlrpc_exchange_t *exchange,
                                            const tb__xmlrpc_message_t *answer,
                                            const tb_error_t *error))
{
  *exchange = (tb__xmlrpc_exchange_t){.loop = loop,
                                      .watch = {.fd = -1, .ready = ready},
                                      .timer = {.expired = expired},
                                      .until_ns = tb__real_steady_now_ns() + TB__XMLRPC_TOTAL_NS,
                                      .is_active = true,
                                      .done = done};
  exchange->dial.peer = *peer;
  exchange->request = write_request(peer, call, &exchange->size);
  tb__xmlrpc_writer_fini(call);
  if (!exchange->request) {
    exchange->timer.expired = no_memory;
    tb__ros1_loop_set_timer_in(loop, &exchange->timer, 0);
    return;
  }
  tb__ros1_loop_set_timer(loop, &exchange->timer, exchange->until_ns);
  tb__ros1_dial_start(&exchange->dial, loop, peer, TB__XMLRPC_CONNECT_NS, connected);
}

void tb__xmlrpc_exchange_cancel(tb__xmlrpc_exchange_t *exchange)
{
  if (!exchange->is_active) return;
  release(exchange);
  tb__http_response_fini(&exchange->response);
}

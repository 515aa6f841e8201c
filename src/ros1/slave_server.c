#include "ros1/slave_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "platform/time.h"

#define REQUEST_NS  INT64_C(5000000000) /* from the connection, or the last request, to its end */
#define LOOK_NS     INT64_C(500000000)  /* between looks at the ages of connections */
#define MEMORY_MAX  ((size_t)16 << 10)  /* of a connection: its headers */
#define REQUEST_MAX ((size_t)1 << 20)

/* --- connections --- */

static void note_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
  tb__slave_server_t *server = user;
  tb__slave_connection_t *slot = *context;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    if (slot) slot->fd = -1;
    server->has_closed = true;
    return;
  }
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  for (size_t i = 0; info && i < TB__SLAVE_CONNECTIONS_MAX; i++) {
    if (server->connections[i].fd >= 0) continue;
    server->connections[i] =
        (tb__slave_connection_t){info->connect_fd, tb__real_steady_now_ns(), false};
    *context = &server->connections[i];
    return;
  }
}

static tb__slave_connection_t *slot_of(struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* libmicrohttpd does not see an end that came together with half a request. */
static bool has_left(const tb__slave_connection_t *connection)
{
  char byte;
  return !connection->is_answered && recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* libmicrohttpd sees the end of those that are too old, or whose peer has left. True: there are
 * any. */
static bool close_old(tb__slave_server_t *server)
{
  int64_t now_ns = tb__real_steady_now_ns();
  bool has_any = false;
  for (size_t i = 0; i < TB__SLAVE_CONNECTIONS_MAX; i++) {
    const tb__slave_connection_t *connection = &server->connections[i];
    if (connection->fd < 0) continue;
    has_any = true;
    if (now_ns - connection->since_ns >= REQUEST_NS || has_left(connection))
      shutdown(connection->fd, SHUT_RDWR);
  }
  return has_any;
}

/* --- requests --- */

typedef struct request {
  char *body;
  size_t size, room;
  bool failed;
} request_t;

static void request_end(void *user, struct MHD_Connection *connection, void **context,
                        enum MHD_RequestTerminationCode code)
{
  request_t *request = *context;
  tb__slave_connection_t *slot = slot_of(connection);
  (void)user, (void)code;
  if (slot) slot->is_answered = false;
  if (!request) return;
  free(request->body);
  free(request);
  *context = NULL;
}

static void take_body(request_t *request, const char *bytes, size_t size)
{
  if (request->failed) return;
  if (request->room - request->size < size) {
    size_t room = 2 * request->room + size;
    char *larger = room <= 2 * REQUEST_MAX ? realloc(request->body, room) : NULL;
    if (!larger) {
      request->failed = true;
      return;
    }
    request->body = larger;
    request->room = room;
  }
  memcpy(request->body + request->size, bytes, size);
  request->size += size;
  if (request->size > REQUEST_MAX) request->failed = true;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned code, char *text,
                                 size_t size)
{
  struct MHD_Response *response =
      MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
  tb__slave_connection_t *slot = slot_of(connection);
  if (slot) slot->is_answered = true;
  free(text);
  if (!response) return MHD_NO; /* closes the connection */
  enum MHD_Result result =
      MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/xml");
  if (result && code != MHD_HTTP_OK)
    result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  if (result) result = MHD_queue_response(connection, code, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code)
{
  return send_text(connection, code, NULL, 0);
}

static enum MHD_Result answer(tb__slave_server_t *server, struct MHD_Connection *connection,
                              const request_t *request)
{
  tb__xmlrpc_message_t call;
  tb__xmlrpc_writer_t out = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb__slave_connection_t *slot = slot_of(connection);
  if (slot) slot->since_ns = tb__real_steady_now_ns();
  if (request->failed) return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE);
  if (!request->size || tb__xmlrpc_parse(request->body, request->size, &call, &error)) {
    tb__xmlrpc_write_fault(&out, -1, request->size ? error.text : "an empty request");
  } else {
    server->answer(server->user, &call, &out);
    tb__xmlrpc_message_fini(&call);
  }
  if (out.failed) {
    tb__xmlrpc_writer_fini(&out);
    return MHD_NO;
  }
  return send_text(connection, MHD_HTTP_OK, out.text, out.size);
}

/* Called with the headers of a request, for each part of its body, and at its end. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *body,
                              size_t *body_size, void **context)
{
  request_t *request = *context;
  (void)url, (void)version;
  if (!request) {
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
      return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    *context = calloc(1, sizeof *request);
    return *context ? MHD_YES : MHD_NO;
  }
  if (!*body_size) return answer(user, connection, request);
  take_body(request, body, *body_size);
  *body_size = 0;
  return MHD_YES;
}

/* --- in the loop --- */

static void plan(tb__slave_server_t *server)
{
  bool is_free = server->has_closed;
  server->has_closed = false;
  bool has_any = close_old(server);
  /* Where it was full it accepts again when it runs. */
  int64_t delay_ns = is_free ? 0 : has_any ? LOOK_NS : INT64_MAX;
  MHD_UNSIGNED_LONG_LONG limit_ms;
  if (MHD_get_timeout(server->daemon, &limit_ms) == MHD_YES &&
      limit_ms < (unsigned long long)(LOOK_NS / 1000000) && (int64_t)limit_ms * 1000000 < delay_ns)
    delay_ns = (int64_t)limit_ms * 1000000;
  if (delay_ns == INT64_MAX)
    tb__ros1_loop_clear_timer(server->loop, &server->timer);
  else
    tb__ros1_loop_set_timer_in(server->loop, &server->timer, delay_ns);
}

static void ready(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__slave_server_t *server = TB__ROS1_OWNER(watch, tb__slave_server_t, watch);
  (void)events;
  MHD_run(server->daemon);
  plan(server);
}

static void expired(tb__ros1_timer_t *timer)
{
  tb__slave_server_t *server = TB__ROS1_OWNER(timer, tb__slave_server_t, timer);
  MHD_run(server->daemon);
  plan(server);
}

tb_status_t tb__slave_server_open(tb__slave_server_t *server, bool loopback_only, tb_error_t *error)
{
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr =
                                    htonl(loopback_only ? INADDR_LOOPBACK : INADDR_ANY)};
  server->watch = (tb__ros1_watch_t){.fd = -1, .ready = ready};
  server->timer = (tb__ros1_timer_t){.expired = expired};
  for (size_t i = 0; i < TB__SLAVE_CONNECTIONS_MAX; i++)
    server->connections[i].fd = -1;
  errno = 0;
  server->daemon = MHD_start_daemon(
      MHD_USE_EPOLL, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
      (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)TB__SLAVE_CONNECTIONS_MAX,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_MAX, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
      server, MHD_OPTION_NOTIFY_COMPLETED, request_end, server, MHD_OPTION_END);
  if (!server->daemon)
    return tb_error_set(error, TB_ERR_SYSTEM, "cannot listen for ROS 1 nodes: %s",
                        errno ? strerror(errno) : "libmicrohttpd did not start");
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_LISTEN_FD);
  socklen_t size = sizeof address;
  if (!info || getsockname(info->listen_fd, (struct sockaddr *)&address, &size)) {
    tb__slave_server_close(server);
    return tb_error_set(error, TB_ERR_SYSTEM, "the port that ROS 1 nodes can reach is not known");
  }
  server->port = ntohs(address.sin_port);
  return TB_OK;
}

tb_status_t tb__slave_server_run(tb__slave_server_t *server, tb__ros1_loop_t *loop)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  server->loop = loop;
  if (!info || tb__ros1_loop_watch(loop, &server->watch, info->epoll_fd, EPOLLIN))
    return TB_ERR_SYSTEM;
  tb__ros1_loop_set_timer_in(loop, &server->timer, 0);
  return TB_OK;
}

void tb__slave_server_close(tb__slave_server_t *server)
{
  if (server->loop) tb__ros1_loop_clear_timer(server->loop, &server->timer);
  if (server->daemon) MHD_stop_daemon(server->daemon); /* closes what is watched */
  server->watch.fd = -1;
  server->daemon = NULL;
}

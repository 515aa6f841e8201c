/* Metrics over HTTP. One thread runs libmicrohttpd, whose own threads are not used: this one has
 * its signals blocked as all threads of the library, and closes connections by their age, which
 * libmicrohttpd does not: a client that sends a byte now and then would keep its place forever. */
#include <timebase/metrics_server.h>

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "platform/thread.h"
#include "platform/time.h"

#define CONNECTIONS_MAX 8
#define CONNECTION_NS   INT64_C(10000000000)
#define IDLE_S          10u
#define MEMORY_MAX      ((size_t)16 << 10) /* of a connection; half of it is for what is read */
#define TEXT_MAX        ((size_t)4 << 20)
#define LOOK_MS         500 /* between looks at the ages of connections, while there are any */

typedef struct connection {
  int fd; /* -1: free */
  int64_t since_ns;
  bool is_answered;
} connection_t;

struct tb_metrics_server {
  tb_metrics_server_options_t options;
  struct MHD_Daemon *daemon;
  tb__thread_t thread;
  int listen_fd; /* the daemon's */
  uint16_t port;
  atomic_bool must_stop;
  /* Of the thread. */
  connection_t connections[CONNECTIONS_MAX];
  bool has_closed; /* a connection, in the last round */
  size_t room;     /* what the last text needed */
};

/* --- connections --- */

static void note_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
  tb_metrics_server_t *server = user;
  connection_t *slot = *context;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    if (slot) slot->fd = -1;
    server->has_closed = true;
    return;
  }
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  for (size_t i = 0; info && i < CONNECTIONS_MAX; i++) {
    if (server->connections[i].fd >= 0) continue;
    server->connections[i] = (connection_t){info->connect_fd, tb__steady_now_ns(), false};
    *context = &server->connections[i];
    return;
  }
}

/* An end that came together with half a request is not seen by the daemon, which reads on at the
 * next event. */
static bool has_left(const connection_t *connection)
{
  char byte;
  return !connection->is_answered && recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* The daemon sees the end of those that are too old, or whose client has left. True: there are any
 * connections. */
static bool close_old(tb_metrics_server_t *server)
{
  int64_t now_ns = tb__steady_now_ns();
  bool has_any = false;
  for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
    const connection_t *connection = &server->connections[i];
    if (connection->fd < 0) continue;
    has_any = true;
    if (now_ns - connection->since_ns >= CONNECTION_NS || has_left(connection))
      shutdown(connection->fd, SHUT_RDWR);
  }
  return has_any;
}

static void *serve(void *user)
{
  tb_metrics_server_t *server = user;
  while (!atomic_load(&server->must_stop)) {
    bool has_any = close_old(server), is_free = server->has_closed;
    server->has_closed = false;
    /* Where it was full it accepts again when it runs. */
    MHD_run_wait(server->daemon, is_free ? 0 : has_any ? LOOK_MS : -1);
  }
  return NULL;
}

/* --- requests --- */

typedef struct hosts {
  const char *host;
  size_t count;
} hosts_t;

static enum MHD_Result take_host(void *user, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
  hosts_t *hosts = user;
  (void)kind;
  if (strcasecmp(key, MHD_HTTP_HEADER_HOST) != 0) return MHD_YES;
  hosts->host = value;
  hosts->count++;
  return MHD_YES;
}

/* One Host header, which names this host and the port. */
static bool is_for_us(const tb_metrics_server_t *server, struct MHD_Connection *connection)
{
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  hosts_t hosts = {NULL, 0};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, take_host, &hosts);
  if (hosts.count != 1 || !hosts.host) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char expected[32];
    snprintf(expected, sizeof expected, "%s:%u", names[i], (unsigned)server->port);
    if (strcasecmp(hosts.host, expected) == 0) return true;
    if (server->port == 80 && strcasecmp(hosts.host, names[i]) == 0) return true;
  }
  return false;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response, const char *type)
{
  if (!response) return MHD_NO; /* closes the connection */
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  connection_t *slot = info ? info->socket_context : NULL;
  if (slot) slot->is_answered = true; /* who has sent all may close that side, and reads on */
  enum MHD_Result result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (result) result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  if (result && status == MHD_HTTP_METHOD_NOT_ALLOWED)
    result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  if (result) result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
  /* The text is static: it is not written to. */
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(why), (void *)why, MHD_RESPMEM_PERSISTENT);
  return answer(connection, status, response, "text/plain; charset=utf-8");
}

/* To be freed. */
static tb_status_t write_text(tb_metrics_server_t *server, char **out, size_t *out_size)
{
  char *text = NULL;
  size_t room = server->room, size = 0;
  tb_status_t status = TB_ERR_LIMIT;
  for (int i = 0; i < 8 && status == TB_ERR_LIMIT && room <= TEXT_MAX; i++) {
    char *larger = realloc(text, room ? room : 1);
    if (!larger) {
      status = TB_ERR_NO_MEMORY;
      break;
    }
    text = larger;
    status = server->options.write(room, text, &size, server->options.user);
    if (!status && size > room) status = TB_ERR_INVALID; /* the caller's function is wrong */
    if (status == TB_ERR_LIMIT) room = size > room ? size + size / 8 : 2 * room + 1;
  }
  if (status) {
    free(text);
    return status;
  }
  server->room = room;
  *out = text;
  *out_size = size;
  return TB_OK;
}

static enum MHD_Result answer_metrics(tb_metrics_server_t *server,
                                      struct MHD_Connection *connection)
{
  char *text = NULL;
  size_t size = 0;
  if (write_text(server, &text, &size))
    return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the metrics could not be written\n");
  struct MHD_Response *response =
      MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);
  free(text); /* not by the library of C, as that would */
  return answer(connection, MHD_HTTP_OK, response,
                "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

/* Called with the headers of a request: it is answered at once, and its body is never read. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *body,
                              size_t *body_size, void **context)
{
  tb_metrics_server_t *server = user;
  (void)version, (void)body, (void)body_size, (void)context;
  if (!is_for_us(server, connection))
    return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                  "the Host header is not 127.0.0.1, localhost or [::1] with the port\n");
  if (strcmp(url, "/metrics") != 0)
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is /metrics alone\n");
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "/metrics has GET and HEAD alone\n");
  return answer_metrics(server, connection);
}

/* --- its life --- */

static tb_status_t listen_on(tb_metrics_server_t *server, tb_error_t *error)
{
  unsigned port = server->options.port;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  errno = 0;
  server->daemon = MHD_start_daemon(
      MHD_USE_EPOLL, (uint16_t)port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
      (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
      MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_END);
  if (!server->daemon)
    return tb_error_set(error, TB_ERR_SYSTEM,
                        "cannot serve metrics on port %u of 127.0.0.1: %s; use another port, or 0 "
                        "for any that is free",
                        port, errno ? strerror(errno) : "libmicrohttpd did not start");
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_LISTEN_FD);
  socklen_t size = sizeof address;
  server->listen_fd = info ? info->listen_fd : -1;
  if (server->listen_fd < 0 || getsockname(server->listen_fd, (struct sockaddr *)&address, &size))
    return tb_error_set(error, TB_ERR_SYSTEM, "the port that metrics are served on is not known");
  server->port = ntohs(address.sin_port);
  return TB_OK;
}

static tb_status_t server_create(const tb_metrics_server_options_t *options,
                                 tb_metrics_server_t **out, tb_error_t *error)
{
  if (!options || !options->write || !out)
    return tb__null_argument(error, "tb_metrics_server_create");
  tb_metrics_server_t *server = NULL;
  tb_status_t status = tb__fork_watch();
  if (!status && !(server = calloc(1, sizeof *server))) status = TB_ERR_NO_MEMORY;
  if (status) return tb_error_set(error, status, "metrics: %s", tb_status_message(status));
  server->options = *options;
  for (size_t i = 0; i < CONNECTIONS_MAX; i++)
    server->connections[i].fd = -1;
  status = listen_on(server, error);
  if (!status && tb__thread_start(&server->thread, "tb-metrics", serve, server))
    status = tb_error_set(error, TB_ERR_SYSTEM,
                          "cannot start the thread that serves metrics: check the limit of "
                          "processes (ulimit -u)");
  if (status) {
    if (server->daemon) MHD_stop_daemon(server->daemon);
    free(server);
    return status;
  }
  *out = server;
  return TB_OK;
}

tb_status_t tb_metrics_server_create_sized(const tb_metrics_server_options_t *options,
                                           size_t options_size, tb_metrics_server_t **out,
                                           tb_error_t *error)
{
  tb_metrics_server_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_metrics_server_options_t");
  return server_create(options, out, error);
}

void tb_metrics_server_destroy(tb_metrics_server_t *server)
{
  if (!server) return;
  if (!tb__is_forked()) {
    if (pthread_equal(pthread_self(), server->thread.impl)) return;
    atomic_store(&server->must_stop, true);
    shutdown(server->listen_fd, SHUT_RDWR); /* wakes the thread up */
    tb__thread_join(&server->thread);
    MHD_stop_daemon(server->daemon);
  }
  free(server);
}

uint16_t tb_metrics_server_port(const tb_metrics_server_t *server)
{
  return server ? server->port : 0;
}

#include "ros1/tcpros_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "ros1/node.h"
#include "ros1/tcpros_header.h"

#define REST_NS INT64_C(100000000)

/* --- headers --- */

/* One field, "error": what the other end logs. It is sent if it can be at once. */
static void refuse(tb__tcpros_server_t *server, tb__subscriber_link_t *link, const char *why)
{
  size_t size = 0;
  const tb__tcpros_pair_t pair = {"error", why};
  uint8_t *bytes = tb__tcpros_header_write(&pair, 1, &size);
  if (bytes) (void)!send(link->watch.fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  free(bytes);
  tb__tcpros_server_drop(server, link);
}

static tb__ros1_publication_t *find_publication(const tb__ros1_node_t *node, const char *topic)
{
  for (tb__ros1_publication_t *one = node->publications; one; one = one->next)
    if (!strcmp(one->name, topic)) return one;
  return NULL;
}

static tb__ros1_frame_t *write_answer(const tb__ros1_publication_t *publication)
{
  const tb__tcpros_pair_t pairs[] = {
      {"callerid", publication->node->name}, {"latching", publication->is_latched ? "1" : "0"},
      {"md5sum", publication->md5sum},       {"message_definition", publication->definition},
      {"topic", publication->name},          {"type", publication->type},
  };
  size_t size = 0;
  uint8_t *bytes = tb__tcpros_header_write(pairs, sizeof pairs / sizeof *pairs, &size);
  tb__ros1_frame_t *frame = bytes ? tb__ros1_frame_copy(bytes, size) : NULL;
  free(bytes);
  return frame;
}

/* Which publication the header asks for; NULL: `why` is the reason against it. As publishers of
 * ROS do, the type is not compared: md5sum tells. */
static tb__ros1_publication_t *choose(tb__tcpros_server_t *server, tb__subscriber_link_t *link,
                                      const uint8_t *bytes, size_t size, char *why, size_t why_size)
{
  tb__tcpros_header_t header;
  tb_error_t error = TB_ERROR_INIT;
  char topic[TB__ROS1_NAME_SIZE], md5sum[64];
  if (tb__tcpros_header_parse(bytes, size, &header, &error)) {
    snprintf(why, why_size, "the header cannot be read: %.300s", error.text);
    return NULL;
  }
  bool is_whole = tb__tcpros_header_get(&header, "topic", topic, sizeof topic) &&
                  tb__tcpros_header_get(&header, "md5sum", md5sum, sizeof md5sum) &&
                  tb__tcpros_header_take_name(&header, link->subscriber, sizeof link->subscriber);
  tb__ros1_publication_t *publication = find_publication(server->node, topic);
  if (!is_whole)
    snprintf(why, why_size, "the header needs the fields callerid, md5sum and topic");
  else if (!publication)
    snprintf(why, why_size, "%.200s does not publish %.200s", server->node->name, topic);
  else if (strcmp(md5sum, "*") != 0 && strcmp(md5sum, publication->md5sum) != 0)
    snprintf(why, why_size, "%.100s is %.100s with md5sum %s, not %s", topic, publication->type,
             publication->md5sum, md5sum);
  else
    return publication;
  return NULL;
}

static void remove_stranger(tb__tcpros_server_t *server, tb__subscriber_link_t *link)
{
  TB__CHAIN_REMOVE(server->strangers, link);
  server->stranger_count--;
}

void tb__tcpros_server_greet(tb__tcpros_server_t *server, tb__subscriber_link_t *link,
                             const uint8_t *header, size_t size)
{
  char why[512];
  tb__ros1_publication_t *publication = choose(server, link, header, size, why, sizeof why);
  if (!publication) {
    refuse(server, link, why);
    return;
  }
  tb__ros1_frame_t *answer = write_answer(publication);
  remove_stranger(server, link);
  if (!answer || !tb__ros1_publication_add(publication, link, answer))
    tb__subscriber_link_destroy(link);
  tb__ros1_frame_release(answer);
}

void tb__tcpros_server_drop(tb__tcpros_server_t *server, tb__subscriber_link_t *link)
{
  remove_stranger(server, link);
  tb__subscriber_link_destroy(link);
}

/* --- connections --- */

static void set_options(int fd)
{
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

/* Who wants to connect waits a moment, and the loop with its other work does not. */
static void rest(tb__tcpros_server_t *server, int os_errno)
{
  tb__ros1_loop_t *loop = server->node->loop;
  if (os_errno != EMFILE && os_errno != ENFILE && os_errno != ENOMEM && os_errno != ENOBUFS) return;
  if (tb__ros1_loop_watch(loop, &server->watch, server->watch.fd, 0) == TB_OK)
    tb__ros1_loop_set_timer_in(loop, &server->timer, REST_NS);
}

static void rested(tb__ros1_timer_t *timer)
{
  tb__tcpros_server_t *server = TB__ROS1_OWNER(timer, tb__tcpros_server_t, timer);
  if (tb__ros1_loop_watch(server->node->loop, &server->watch, server->watch.fd, EPOLLIN))
    tb__ros1_loop_set_timer_in(server->node->loop, timer, REST_NS);
}

static void ready(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__tcpros_server_t *server = TB__ROS1_OWNER(watch, tb__tcpros_server_t, watch);
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  char text[INET_ADDRSTRLEN] = "", peer[64];
  (void)events;
  int fd = accept4(watch->fd, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    rest(server, errno);
    return;
  }
  /* The oldest one has had its time. */
  if (server->stranger_count >= TB__TCPROS_STRANGERS_MAX)
    tb__tcpros_server_drop(server, server->strangers);
  set_options(fd);
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  snprintf(peer, sizeof peer, "%s:%u", text, (unsigned)ntohs(address.sin_port));
  tb__subscriber_link_t *link = tb__subscriber_link_create(server, fd, peer);
  if (!link) return;
  TB__CHAIN_APPEND(server->strangers, link);
  server->stranger_count++;
}

void tb__tcpros_server_init(tb__tcpros_server_t *server, tb__ros1_node_t *node)
{
  *server = (tb__tcpros_server_t){
      .node = node, .watch = {.fd = -1, .ready = ready}, .timer = {.expired = rested}};
}

tb_status_t tb__tcpros_server_open(tb__tcpros_server_t *server, tb_error_t *error)
{
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  if (server->port) return TB_OK;
  address.sin_addr.s_addr = htonl(server->node->is_loopback_only ? INADDR_LOOPBACK : INADDR_ANY);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
      listen(fd, SOMAXCONN) == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
      !tb__ros1_loop_watch(server->node->loop, &server->watch, fd, EPOLLIN)) {
    server->port = ntohs(address.sin_port);
    return TB_OK;
  }
  int os_errno = errno;
  if (fd >= 0) close(fd);
  return tb_error_set_errno(error, TB_ERR_SYSTEM, os_errno, "ROS 1: no port for subscribers");
}

void tb__tcpros_server_close(tb__tcpros_server_t *server)
{
  int fd = server->watch.fd;
  while (server->strangers)
    tb__tcpros_server_drop(server, server->strangers);
  tb__ros1_loop_clear_timer(server->node->loop, &server->timer);
  tb__ros1_loop_unwatch(server->node->loop, &server->watch);
  if (fd >= 0) close(fd);
  server->port = 0;
}

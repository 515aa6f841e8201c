#include "ros1/subscriber_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ros1/node.h"
#include "ros1/tcpros_header.h"
#include "ros1/tcpros_server.h"

#define GREETING_NS INT64_C(5000000000)
#define HEADER_MAX  ((uint32_t)64 << 10) /* rospy sends the definition too */
#define READ_SIZE   ((size_t)1024)

/* --- the header --- */

/* The length first, then so many bytes. True: it is whole. */
static bool has_header(const tb__subscriber_link_t *link, bool *out_is_too_long)
{
  uint32_t size = link->size >= 4 ? tb__tcpros_read_u32(link->bytes) : 0;
  *out_is_too_long = size > HEADER_MAX;
  return link->size >= 4 && link->size - 4 >= size;
}

static void read_header(tb__subscriber_link_t *link)
{
  bool is_too_long;
  uint8_t *larger = realloc(link->bytes, link->size + READ_SIZE);
  if (!larger) {
    tb__tcpros_server_drop(link->server, link);
    return;
  }
  link->bytes = larger;
  ssize_t got = recv(link->watch.fd, link->bytes + link->size, READ_SIZE, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) link->size += (size_t)got;
  bool is_whole = has_header(link, &is_too_long);
  if (got <= 0 || is_too_long) {
    tb__tcpros_server_drop(link->server, link);
    return;
  }
  if (!is_whole) return;
  uint32_t size = tb__tcpros_read_u32(link->bytes);
  uint8_t *header = link->bytes;
  tb__ros1_loop_clear_timer(link->server->node->loop, &link->timer);
  link->bytes = NULL;
  tb__tcpros_server_greet(link->server, link, header + 4, size);
  free(header);
}

static void expired(tb__ros1_timer_t *timer)
{
  tb__subscriber_link_t *link = TB__ROS1_OWNER(timer, tb__subscriber_link_t, timer);
  tb__tcpros_server_drop(link->server, link);
}

/* --- sending --- */

static void release_all(tb__subscriber_link_t *link)
{
  tb__ros1_frame_release(link->sending);
  link->sending = NULL;
  for (; link->count; link->count--, link->first = (link->first + 1) % link->room)
    tb__ros1_frame_release(link->ring[link->first]);
}

static void break_off(tb__subscriber_link_t *link)
{
  link->fd = -1;
  link->wants_out = false;
  release_all(link);
}

size_t tb__subscriber_link_send(tb__subscriber_link_t *link, const uint8_t *bytes, size_t size)
{
  ssize_t sent = send(link->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return (size_t)sent;
  if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) break_off(link);
  return 0;
}

bool tb__subscriber_link_queue(tb__subscriber_link_t *link, tb__ros1_frame_t *frame)
{
  bool is_full = link->count == link->room;
  if (is_full) {
    tb__ros1_frame_release(link->ring[link->first]);
    link->first = (link->first + 1) % link->room;
    link->count--;
  }
  link->ring[(link->first + link->count++) % link->room] = tb__ros1_frame_use(frame);
  link->wants_out = true;
  return !is_full;
}

void tb__subscriber_link_flush(tb__subscriber_link_t *link)
{
  while (link->fd >= 0 && (link->sending || link->count)) {
    if (!link->sending) {
      link->sending = link->ring[link->first];
      link->first = (link->first + 1) % link->room;
      link->count--;
      link->sent = 0;
    }
    size_t left = link->sending->size - link->sent;
    size_t sent = tb__subscriber_link_send(link, link->sending->bytes + link->sent, left);
    if (link->fd < 0) return;
    link->sent += sent;
    if (sent < left) {
      link->wants_out = true;
      return;
    }
    tb__ros1_frame_release(link->sending);
    link->sending = NULL;
  }
  link->wants_out = false;
}

/* --- the connection --- */

/* What a subscriber sends after its header is not for us. False: it has closed the connection. */
static bool discard(tb__subscriber_link_t *link)
{
  uint8_t bytes[READ_SIZE];
  ssize_t got = recv(link->watch.fd, bytes, sizeof bytes, 0);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void ready(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__subscriber_link_t *link = TB__ROS1_OWNER(watch, tb__subscriber_link_t, watch);
  tb__ros1_publication_t *publication = link->publication;
  if (!publication) {
    read_header(link);
    return;
  }
  bool is_open = true;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) is_open = discard(link);
  tb__mutex_lock(&publication->mutex);
  if (is_open && (events & EPOLLOUT)) tb__subscriber_link_flush(link);
  is_open = is_open && link->fd >= 0;
  bool wants_out = link->wants_out;
  tb__mutex_unlock(&publication->mutex);
  uint32_t wanted = wants_out ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (is_open) is_open = !tb__ros1_loop_watch(link->server->node->loop, watch, watch->fd, wanted);
  if (is_open) return;
  tb__ros1_publication_remove(publication, link);
  tb__subscriber_link_destroy(link);
}

tb__subscriber_link_t *tb__subscriber_link_create(tb__tcpros_server_t *server, int fd,
                                                  const char *peer)
{
  static _Atomic uint64_t ids;
  tb__subscriber_link_t *link = calloc(1, sizeof *link);
  if (link) {
    link->server = server;
    link->id = atomic_fetch_add(&ids, 1) + 1;
    link->watch = (tb__ros1_watch_t){.fd = -1, .ready = ready};
    link->timer.expired = expired;
    link->fd = -1;
    snprintf(link->peer, sizeof link->peer, "%s", peer);
  }
  if (!link || tb__ros1_loop_watch(server->node->loop, &link->watch, fd, EPOLLIN)) {
    close(fd);
    free(link);
    return NULL;
  }
  tb__ros1_loop_set_timer_in(server->node->loop, &link->timer, GREETING_NS);
  return link;
}

void tb__subscriber_link_destroy(tb__subscriber_link_t *link)
{
  int fd = link->watch.fd;
  tb__ros1_loop_clear_timer(link->server->node->loop, &link->timer);
  tb__ros1_loop_unwatch(link->server->node->loop, &link->watch);
  if (fd >= 0) close(fd);
  release_all(link);
  free(link->ring);
  free(link->bytes);
  free(link);
}

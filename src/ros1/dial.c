#include "ros1/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void end(tb__ros1_dial_t *dial, int fd, const tb_error_t *error)
{
  dial->is_active = false;
  tb__ros1_loop_clear_timer(dial->loop, &dial->timer);
  dial->done(dial, fd, error);
}

static void fail(tb__ros1_dial_t *dial, tb_status_t status, const char *why)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set(&error, status, "cannot connect to %s port %u: %s", dial->peer.host,
               (unsigned)dial->peer.port, why);
  if (status == TB_ERR_TRANSPORT) error.os_errno = dial->last_errno;
  end(dial, -1, &error);
}

/* As ROS 1 does for its connections. */
static void set_options(int fd)
{
  const int on = 1, idle_s = 60, interval_s = 10, count = 9;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

static void close_socket(tb__ros1_dial_t *dial)
{
  int fd = dial->watch.fd;
  tb__ros1_loop_unwatch(dial->loop, &dial->watch);
  if (fd >= 0) close(fd);
}

/* The next address of those that are left; with none the dial has failed. */
static void try_next(tb__ros1_dial_t *dial)
{
  while (dial->next < dial->addresses.count) {
    size_t i = dial->next++;
    const struct sockaddr *address = (const struct sockaddr *)&dial->addresses.addresses[i];
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (connect(fd, address, dial->addresses.sizes[i]) == 0 || errno == EINPROGRESS) &&
        !tb__ros1_loop_watch(dial->loop, &dial->watch, fd, EPOLLOUT)) {
      tb__ros1_loop_set_timer_in(dial->loop, &dial->timer, dial->limit_ns);
      return;
    }
    dial->last_errno = errno;
    if (fd >= 0) close(fd);
  }
  fail(dial, TB_ERR_TRANSPORT, strerror(dial->last_errno));
}

static void connected(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__ros1_dial_t *dial = TB__ROS1_OWNER(watch, tb__ros1_dial_t, watch);
  int fd = watch->fd, error = 0;
  socklen_t size = sizeof error;
  (void)events;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size)) error = errno;
  if (error) {
    dial->last_errno = error;
    close_socket(dial);
    try_next(dial);
    return;
  }
  tb__ros1_loop_unwatch(dial->loop, watch);
  set_options(fd);
  end(dial, fd, NULL);
}

static void looked_up(void *user, const tb__name_addresses_t *found)
{
  tb__ros1_dial_t *dial = user;
  dial->lookup = NULL;
  dial->addresses = *found;
  if (found->count)
    try_next(dial);
  else
    fail(dial, TB_ERR_NOT_FOUND, "the name is not known; set ROS_IP or ROS_HOSTNAME where it runs");
}

/* Begins, or gives up what takes too long. */
static void expired(tb__ros1_timer_t *timer)
{
  tb__ros1_dial_t *dial = TB__ROS1_OWNER(timer, tb__ros1_dial_t, timer);
  if (dial->lookup) {
    tb__name_lookup_cancel(dial->lookup);
    dial->lookup = NULL;
    fail(dial, TB_ERR_TIMEOUT, "looking up the name takes too long");
    return;
  }
  if (dial->watch.fd >= 0) {
    close_socket(dial);
    dial->last_errno = ETIMEDOUT;
  } else if (dial->addresses.count == 0) {
    tb__ros1_loop_set_timer_in(dial->loop, timer, dial->limit_ns);
    tb_status_t status = tb__name_lookup_start(dial->loop, dial->peer.host, dial->peer.port,
                                               looked_up, dial, &dial->lookup);
    if (status) fail(dial, status, "the name cannot be looked up now");
    return;
  }
  try_next(dial);
}

void tb__ros1_dial_start(tb__ros1_dial_t *dial, tb__ros1_loop_t *loop, const tb__ros1_uri_t *peer,
                         int64_t limit_ns,
                         void (*done)(tb__ros1_dial_t *dial, int fd, const tb_error_t *error))
{
  *dial = (tb__ros1_dial_t){.loop = loop,
                            .peer = *peer,
                            .watch = {.fd = -1, .ready = connected},
                            .timer = {.expired = expired},
                            .limit_ns = limit_ns,
                            .is_active = true,
                            .done = done};
  tb__name_is_address(peer->host, peer->port, &dial->addresses);
  tb__ros1_loop_set_timer_in(loop, &dial->timer, 0);
}

void tb__ros1_dial_cancel(tb__ros1_dial_t *dial)
{
  if (!dial->is_active) return;
  dial->is_active = false;
  tb__ros1_loop_clear_timer(dial->loop, &dial->timer);
  if (dial->lookup) tb__name_lookup_cancel(dial->lookup);
  dial->lookup = NULL;
  close_socket(dial);
}

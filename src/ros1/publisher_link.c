#include "ros1/publisher_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "platform/time.h"
#include "ros1/tcpros_header.h"

#define CONNECT_NS       INT64_C(2000000000)
#define GREETING_NS      INT64_C(5000000000) /* both headers */
#define MESSAGE_NS       INT64_C(5000000000) /* from the first byte of a message to its last */
#define SLOW_SIZE        4096 /* longer messages may take longer: it is from one part to the next */
#define RETRY_FIRST_NS   INT64_C(100000000)
#define RETRY_LARGEST_NS INT64_C(5000000000)
#define REPORT_NS        INT64_C(10000000000) /* between reports of one publisher */
#define READ_SIZE        ((size_t)4096)
#define READS_ACK        64 /* between two requests that the kernel delay acknowledgements */
#define READS_ACK_MAX    16384
#define BURST            3 /* messages of one read */

/* Edges alone: the kernel need not look again at a socket that was read empty. */
#define TAKING_IN ((uint32_t)(EPOLLIN | EPOLLRDHUP | EPOLLET))

static void begin(tb__publisher_link_t *link);

/* --- ends and new beginnings --- */

static void forget_announced(tb__ros1_announced_t *announced)
{
  free(announced->type);
  free(announced->md5sum);
  free(announced->definition);
  *announced = (tb__ros1_announced_t){0};
}

static void close_all(tb__publisher_link_t *link)
{
  int fd = link->watch.fd;
  tb__xmlrpc_exchange_cancel(&link->exchange);
  tb__ros1_dial_cancel(&link->dial);
  tb__ros1_loop_unwatch(link->loop, &link->watch);
  tb__ros1_loop_clear_timer(link->loop, &link->timer);
  if (fd >= 0) close(fd);
  tb__ros1_turn_give(&link->loop->turns, &link->turn);
  free(link->bytes);
  link->bytes = NULL;
  link->size = link->room = link->sent = 0;
  forget_announced(&link->announced);
}

/* A peer that fails again and again is reported now and then. */
static void report(tb__publisher_link_t *link, const char *why)
{
  int64_t now_ns = tb__real_steady_now_ns();
  bool is_due = !link->reported_ns || (link->has_worked && now_ns - link->reported_ns >= REPORT_NS);
  if (!is_due) return;
  link->reported_ns = now_ns;
  link->has_worked = false;
  tb__log(TB_LOG_WARN,
          "%s: nothing comes from the publisher of http://%s:%u: %s; it is tried again",
          link->topic->name, link->uri.host, (unsigned)link->uri.port, why);
}

/* `why` NULL: the peer closed the connection in order. */
static void lose(tb__publisher_link_t *link, const char *why)
{
  bool was_open = link->state == TB__LINK_OPEN;
  close_all(link);
  link->state = TB__LINK_IDLE;
  tb__ros1_loop_set_timer_in(link->loop, &link->timer, link->retry_ns);
  link->retry_ns *= 2;
  if (link->retry_ns > RETRY_LARGEST_NS) link->retry_ns = RETRY_LARGEST_NS;
  if (why) report(link, why);
  if (was_open) link->events.changed(link, link->events.user);
}

static void expired(tb__ros1_timer_t *timer)
{
  tb__publisher_link_t *link = TB__ROS1_OWNER(timer, tb__publisher_link_t, timer);
  if (link->state == TB__LINK_IDLE)
    begin(link);
  else if (link->state == TB__LINK_GREETING)
    lose(link, "it connected but did not send its header");
  else
    lose(link, "it sent a part of a message, and no more");
}

/* --- the header --- */

static bool is_type_of(const tb__ros1_topic_t *topic, const char *type)
{
  return !strcmp(topic->type, "*") || !strcmp(type, topic->type) ||
         (topic->former_type && !strcmp(type, topic->former_type));
}

tb_status_t tb__publisher_header_check(const tb__ros1_topic_t *topic, const uint8_t *bytes,
                                       size_t size, char out_publisher[TB__ROS1_NAME_SIZE],
                                       tb_error_t *error)
{
  tb__tcpros_header_t header;
  char text[TB__ROS1_NAME_SIZE];
  tb_status_t status = tb__tcpros_header_parse(bytes, size, &header, error);
  if (status) return status;
  if (tb__tcpros_header_get(&header, "error", text, sizeof text))
    return tb_error_set(error, TB_ERR_TRANSPORT, "it refuses: %s", text);
  if (!tb__tcpros_header_get(&header, "type", text, sizeof text) || !is_type_of(topic, text))
    return tb_error_set(error, TB_ERR_VERSION, "its messages are \"%s\", not %s", text,
                        topic->type);
  if (!tb__tcpros_header_get(&header, "md5sum", text, sizeof text) ||
      (strcmp(topic->md5sum, "*") != 0 && strcmp(text, topic->md5sum) != 0))
    return tb_error_set(error, TB_ERR_VERSION, "its %s has md5sum \"%s\", not %s", topic->type,
                        text, topic->md5sum);
  tb__tcpros_header_take_name(&header, out_publisher, TB__ROS1_NAME_SIZE);
  return TB_OK;
}

static tb_status_t write_greeting(tb__publisher_link_t *link)
{
  const tb__tcpros_pair_t pairs[] = {
      {"callerid", link->node_name}, {"md5sum", link->topic->md5sum}, {"tcp_nodelay", "1"},
      {"topic", link->topic->name},  {"type", link->topic->type},
  };
  link->bytes = tb__tcpros_header_write(pairs, sizeof pairs / sizeof *pairs, &link->size);
  return link->bytes ? TB_OK : TB_ERR_NO_MEMORY;
}

static void send_greeting(tb__publisher_link_t *link)
{
  ssize_t sent =
      send(link->watch.fd, link->bytes + link->sent, link->size - link->sent, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) {
    lose(link, strerror(errno));
    return;
  }
  link->sent += (size_t)sent;
  if (link->sent < link->size) return;
  free(link->bytes);
  link->bytes = NULL;
  link->size = link->room = 0;
  if (tb__ros1_loop_watch(link->loop, &link->watch, link->watch.fd, TAKING_IN))
    lose(link, "epoll failed");
}

/* --- what comes in --- */

/* Room for one more read: it grows with what has come, not with what is announced. */
static bool make_room(tb__publisher_link_t *link)
{
  if (link->room - link->size >= READ_SIZE) return true;
  size_t room = link->room + link->room / 2 + READ_SIZE;
  uint8_t *larger = realloc(link->bytes, room);
  if (!larger) return false;
  link->bytes = larger;
  link->room = room;
  return true;
}

/* False: out of memory. */
static bool keep_announced(tb__ros1_announced_t *announced, const uint8_t *bytes, size_t size)
{
  tb__tcpros_header_t header;
  char latching[4];
  if (tb__tcpros_header_parse(bytes, size, &header, NULL)) return false;
  announced->type = tb__tcpros_header_copy(&header, "type");
  announced->md5sum = tb__tcpros_header_copy(&header, "md5sum");
  announced->definition = tb__tcpros_header_copy(&header, "message_definition");
  announced->is_latched = tb__tcpros_header_get(&header, "latching", latching, sizeof latching) &&
                          !strcmp(latching, "1");
  return announced->type && announced->md5sum && announced->definition;
}

static bool take_header(tb__publisher_link_t *link, const uint8_t *bytes, size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb__publisher_header_check(link->topic, bytes, size, link->publisher, &error)) {
    lose(link, error.text);
    return false;
  }
  if (!keep_announced(&link->announced, bytes, size)) {
    lose(link, "out of memory");
    return false;
  }
  link->state = TB__LINK_OPEN;
  tb__ros1_turn_give(&link->loop->turns, &link->turn);
  link->events.changed(link, link->events.user);
  return true;
}

static bool take_message(tb__publisher_link_t *link, const uint8_t *bytes, size_t size)
{
  link->retry_ns = RETRY_FIRST_NS;
  link->has_worked = true;
  link->events.message(link, bytes, size, link->events.user);
  return true;
}

/* The header and messages are both a length and so many bytes. */
static void take_in(tb__publisher_link_t *link)
{
  size_t at = 0;
  unsigned messages = 0;
  while (link->size - at >= 4) {
    bool is_open = link->state == TB__LINK_OPEN;
    uint32_t limit = is_open ? link->topic->message_max : TB__TCPROS_HEADER_MAX;
    uint32_t size = tb__tcpros_read_u32(link->bytes + at);
    if (size > limit) {
      char why[128];
      snprintf(why, sizeof why, "it announces %lu bytes of a %s, and at most %lu are taken",
               (unsigned long)size, is_open ? "message" : "header", (unsigned long)limit);
      lose(link, why);
      return;
    }
    if (link->size - at - 4 < size) break;
    const uint8_t *bytes = link->bytes + at + 4;
    if (!(is_open ? take_message(link, bytes, size) : take_header(link, bytes, size))) return;
    at += 4 + (size_t)size;
    messages++;
  }
  if (messages >= BURST) link->has_burst = true;
  link->size -= at;
  if (link->size && at) memmove(link->bytes, link->bytes + at, link->size);
  if (link->state != TB__LINK_OPEN) return;
  if (!link->size)
    tb__ros1_loop_clear_timer(link->loop, &link->timer);
  else if (at || !link->timer.is_set || link->topic->message_max > SLOW_SIZE)
    tb__ros1_loop_set_timer_in(link->loop, &link->timer, MESSAGE_NS);
}

/* Reading a short message sends an acknowledgement at once, which takes longer than the rest of it:
 * delayed, each second one does. The kernel forgets this after a pause. A publisher without
 * TCP_NODELAY waits for the acknowledgement, 40 ms, and then sends several messages at once: it is
 * asked for rarely then. */
static void delay_acknowledgements(tb__publisher_link_t *link)
{
  const int off = 0;
  if (link->reads++ < link->reads_to_ack) return;
  uint32_t next = link->has_burst ? 8 * link->reads_to_ack : link->reads_to_ack / 2;
  link->reads = 0;
  link->reads_to_ack = next < READS_ACK ? READS_ACK : next > READS_ACK_MAX ? READS_ACK_MAX : next;
  link->has_burst = false;
  setsockopt(link->watch.fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
}

static void read_more(tb__publisher_link_t *link, uint32_t events)
{
  if (!make_room(link)) {
    lose(link, "out of memory");
    return;
  }
  size_t room = link->room - link->size;
  delay_acknowledgements(link);
  ssize_t got = recv(link->watch.fd, link->bytes + link->size, room, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got == 0 || (got < 0 && errno != EINTR)) {
    bool in_order = got == 0 && link->state == TB__LINK_OPEN && !link->size;
    lose(link, got < 0 ? strerror(errno) : in_order ? NULL : "it closed the connection");
    return;
  }
  bool is_empty = got >= 0 && (size_t)got < room && events == EPOLLIN;
  if (!is_empty && tb__ros1_loop_rearm(link->loop, &link->watch)) {
    lose(link, "epoll failed");
    return;
  }
  if (got < 0) return;
  link->size += (size_t)got;
  take_in(link);
}

static void ready(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__publisher_link_t *link = TB__ROS1_OWNER(watch, tb__publisher_link_t, watch);
  if (watch->events & EPOLLOUT)
    send_greeting(link);
  else
    read_more(link, events);
}

/* --- the way to it --- */

static void dialed(tb__ros1_dial_t *dial, int fd, const tb_error_t *error)
{
  tb__publisher_link_t *link = TB__ROS1_OWNER(dial, tb__publisher_link_t, dial);
  if (fd < 0) {
    lose(link, error->text);
    return;
  }
  link->state = TB__LINK_GREETING;
  if (tb__ros1_loop_watch(link->loop, &link->watch, fd, EPOLLOUT)) {
    close(fd);
    lose(link, "epoll failed");
    return;
  }
  tb__ros1_loop_set_timer_in(link->loop, &link->timer, GREETING_NS);
  if (write_greeting(link)) lose(link, "out of memory");
}

/* ["TCPROS", host, port] */
static bool read_protocol(const tb__xmlrpc_value_t *value, tb__ros1_uri_t *out)
{
  const char *protocol = tb__xmlrpc_string(tb__xmlrpc_at(value, 0));
  const char *host = tb__xmlrpc_string(tb__xmlrpc_at(value, 1));
  const tb__xmlrpc_value_t *port = tb__xmlrpc_at(value, 2);
  if (!protocol || strcmp(protocol, "TCPROS") != 0 || !host || !tb__ros1_host_is_valid(host) ||
      !port || port->type != TB__XMLRPC_INT || port->integer < 1 || port->integer > UINT16_MAX)
    return false;
  snprintf(out->host, sizeof out->host, "%s", host);
  out->port = (uint16_t)port->integer;
  return true;
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb__publisher_link_t *link = TB__ROS1_OWNER(exchange, tb__publisher_link_t, exchange);
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  tb__ros1_uri_t peer;
  if (!answer)
    lose(link, error->text);
  else if (!tb__xmlrpc_answer(answer, &code, &text, &value))
    lose(link, "its answer to requestTopic is not [code, text, value]");
  else if (code != 1)
    lose(link, *text ? text : "it answers requestTopic with a failure");
  else if (!read_protocol(value, &peer))
    lose(link, "its answer to requestTopic has no host and port of TCPROS");
  else {
    link->state = TB__LINK_DIALING;
    tb__ros1_dial_start(&link->dial, link->loop, &peer, CONNECT_NS, dialed);
  }
}

static void ask(tb__ros1_turn_t *turn)
{
  tb__publisher_link_t *link = TB__ROS1_OWNER(turn, tb__publisher_link_t, turn);
  tb__xmlrpc_writer_t call;
  tb__xmlrpc_begin_call(&call, "requestTopic");
  tb__xmlrpc_put_string(&call, link->node_name);
  tb__xmlrpc_put_string(&call, link->topic->name);
  tb__xmlrpc_begin_array(&call);
  tb__xmlrpc_begin_array(&call);
  tb__xmlrpc_put_string(&call, "TCPROS");
  tb__xmlrpc_end_array(&call);
  tb__xmlrpc_end_array(&call);
  tb__xmlrpc_end(&call);
  link->state = TB__LINK_ASKING;
  tb__xmlrpc_exchange_start(&link->exchange, link->loop, &link->uri, &call, answered);
}

static void begin(tb__publisher_link_t *link)
{
  tb__ros1_turn_take(&link->loop->turns, &link->turn, &link->uri, ask);
}

tb_status_t tb__publisher_link_create(tb__ros1_loop_t *loop, const char *node_name,
                                      const tb__ros1_topic_t *topic, const tb__ros1_uri_t *uri,
                                      const tb__publisher_link_events_t *events,
                                      tb__publisher_link_t **out)
{
  static _Atomic uint64_t ids;
  tb__publisher_link_t *link = calloc(1, sizeof *link);
  if (!link) return TB_ERR_NO_MEMORY;
  link->id = atomic_fetch_add(&ids, 1) + 1;
  link->loop = loop;
  link->node_name = node_name;
  link->topic = topic;
  link->events = *events;
  link->uri = *uri;
  link->watch = (tb__ros1_watch_t){.fd = -1, .ready = ready};
  link->timer.expired = expired;
  link->retry_ns = RETRY_FIRST_NS;
  link->reads_to_ack = READS_ACK;
  begin(link);
  *out = link;
  return TB_OK;
}

void tb__publisher_link_destroy(tb__publisher_link_t *link)
{
  if (!link) return;
  close_all(link);
  free(link);
}

bool tb__publisher_link_fails(const tb__publisher_link_t *link)
{
  return link->state != TB__LINK_OPEN && link->retry_ns > RETRY_FIRST_NS;
}

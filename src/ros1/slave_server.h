/* The XML-RPC server of a node: libmicrohttpd, run by the loop's thread. Connections are few, and
 * those that do not complete a request in time are closed. */
#ifndef TB_ROS1_SLAVE_SERVER_H
#define TB_ROS1_SLAVE_SERVER_H

#include <timebase/error.h>

#include "ros1/loop.h"
#include "ros1/xmlrpc_parse.h"
#include "ros1/xmlrpc_write.h"

#define TB__SLAVE_CONNECTIONS_MAX 32

typedef struct tb__slave_connection {
  int fd;           /* -1: free */
  int64_t since_ns; /* of the connection, or of its last complete request */
  bool is_answered; /* this request is, and the answer may not have been sent yet */
} tb__slave_connection_t;

typedef struct tb__slave_server {
  tb__ros1_loop_t *loop;
  struct MHD_Daemon *daemon;
  uint16_t port;
  tb__ros1_watch_t watch;
  tb__ros1_timer_t timer;
  tb__slave_connection_t connections[TB__SLAVE_CONNECTIONS_MAX];
  bool has_closed; /* one of them, since the last look */
  void (*answer)(void *user, const tb__xmlrpc_message_t *call, tb__xmlrpc_writer_t *out);
  void *user;
} tb__slave_server_t;

/* Listens on any free port of loopback, or of all addresses. TB_ERR_SYSTEM. */
tb_status_t tb__slave_server_open(tb__slave_server_t *server, bool loopback_only,
                                  tb_error_t *error) TB_WARN_UNUSED;
/* From here on requests are answered. On the loop's thread. TB_ERR_SYSTEM. */
tb_status_t tb__slave_server_run(tb__slave_server_t *server, tb__ros1_loop_t *loop);
/* On the loop's thread, if it runs. */
void tb__slave_server_close(tb__slave_server_t *server);

#endif

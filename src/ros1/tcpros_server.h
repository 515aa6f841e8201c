/* Where subscribers of a node's publications connect. */
#ifndef TB_ROS1_TCPROS_SERVER_H
#define TB_ROS1_TCPROS_SERVER_H

#include <timebase/error.h>

#include "ros1/subscriber_link.h"

#define TB__TCPROS_STRANGERS_MAX 32 /* connections whose header has not come */

struct tb__ros1_node;

typedef struct tb__tcpros_server {
  struct tb__ros1_node *node;
  tb__ros1_watch_t watch;
  tb__ros1_timer_t timer;           /* accepts again, after a lack of descriptors or memory */
  uint16_t port;                    /* 0: not open */
  tb__subscriber_link_t *strangers; /* connections whose header has not come */
  uint32_t stranger_count;
} tb__tcpros_server_t;

void tb__tcpros_server_init(tb__tcpros_server_t *server, struct tb__ros1_node *node);
/* Listens from the first call on. TB_ERR_SYSTEM. On the loop's thread. */
tb_status_t tb__tcpros_server_open(tb__tcpros_server_t *server, tb_error_t *error) TB_WARN_UNUSED;
void tb__tcpros_server_close(tb__tcpros_server_t *server);

/* The header of a stranger has come: it belongs to a publication, or is destroyed. */
void tb__tcpros_server_greet(tb__tcpros_server_t *server, tb__subscriber_link_t *link,
                             const uint8_t *header, size_t size);
/* A stranger that is not wanted any more. */
void tb__tcpros_server_drop(tb__tcpros_server_t *server, tb__subscriber_link_t *link);

#endif

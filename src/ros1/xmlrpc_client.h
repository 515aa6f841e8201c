/* One XML-RPC call to another node or the master: one connection, with a limit of time for each
 * step and for the whole. */
#ifndef TB_ROS1_XMLRPC_CLIENT_H
#define TB_ROS1_XMLRPC_CLIENT_H

#include "ros1/dial.h"
#include "ros1/http_response.h"
#include "ros1/xmlrpc_parse.h"
#include "ros1/xmlrpc_write.h"

#define TB__XMLRPC_CONNECT_NS INT64_C(2000000000)
#define TB__XMLRPC_READ_NS    INT64_C(3000000000) /* between two parts of the answer */
#define TB__XMLRPC_TOTAL_NS   INT64_C(5000000000)

typedef struct tb__xmlrpc_exchange {
  tb__ros1_loop_t *loop;
  tb__ros1_dial_t dial;
  tb__ros1_watch_t watch;
  tb__ros1_timer_t timer;
  int64_t until_ns; /* of the whole */
  char *request;
  size_t size, sent;
  tb__http_response_t response;
  bool is_active;
  /* `answer` is valid during the call; NULL: it failed. */
  void (*done)(struct tb__xmlrpc_exchange *exchange, const tb__xmlrpc_message_t *answer,
               const tb_error_t *error);
} tb__xmlrpc_exchange_t;

/* Takes over what `call` holds. `done` is called once, never from within this call; afterwards the
 * exchange can be started again. */
void tb__xmlrpc_exchange_start(tb__xmlrpc_exchange_t *exchange, tb__ros1_loop_t *loop,
                               const tb__ros1_uri_t *peer, tb__xmlrpc_writer_t *call,
                               void (*done)(tb__xmlrpc_exchange_t *exchange,
                                            const tb__xmlrpc_message_t *answer,
                                            const tb_error_t *error));
/* `done` will not be called. Nothing happens if it was, or if the exchange is all zeros. */
void tb__xmlrpc_exchange_cancel(tb__xmlrpc_exchange_t *exchange);

#endif

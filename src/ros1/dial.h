/* Makes a TCP connection: looks the host up, and tries its addresses one after the other. */
#ifndef TB_ROS1_DIAL_H
#define TB_ROS1_DIAL_H

#include <timebase/error.h>

#include "ros1/loop.h"
#include "ros1/name_lookup.h"
#include "ros1/uri.h"

typedef struct tb__ros1_dial {
  tb__ros1_loop_t *loop;
  tb__ros1_uri_t peer;
  tb__name_lookup_t *lookup;
  tb__name_addresses_t addresses;
  size_t next; /* address to try */
  int last_errno;
  tb__ros1_watch_t watch; /* the socket that is being connected */
  tb__ros1_timer_t timer;
  int64_t limit_ns;
  bool is_active;
  /* `fd` is the callee's: non-blocking, with TCP_NODELAY and keepalive; < 0: it failed, for the
   * reason in `error`. */
  void (*done)(struct tb__ros1_dial *dial, int fd, const tb_error_t *error);
} tb__ros1_dial_t;

/* Calls `done` once, never from within this call: after `limit_ns` at the latest for the lookup,
 * and for each address. */
void tb__ros1_dial_start(tb__ros1_dial_t *dial, tb__ros1_loop_t *loop, const tb__ros1_uri_t *peer,
                         int64_t limit_ns,
                         void (*done)(tb__ros1_dial_t *dial, int fd, const tb_error_t *error));
/* `done` will not be called. Nothing happens if it was. */
void tb__ros1_dial_cancel(tb__ros1_dial_t *dial);

#endif

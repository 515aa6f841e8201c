/* Looks up the addresses of a host on a thread of its own: a resolver that hangs stops nothing. */
#ifndef TB_ROS1_NAME_LOOKUP_H
#define TB_ROS1_NAME_LOOKUP_H

#include <stddef.h>
#include <sys/socket.h>
#include <timebase/status.h>

#include "ros1/loop.h"

#define TB__NAME_LOOKUP_ADDRESSES 8
/* Lookups of the process whose resolver has not returned. */
#define TB__NAME_LOOKUPS_MAX 16

typedef struct tb__name_addresses {
  struct sockaddr_storage addresses[TB__NAME_LOOKUP_ADDRESSES]; /* those of IPv4 first */
  socklen_t sizes[TB__NAME_LOOKUP_ADDRESSES];
  size_t count; /* 0: the name is not known */
} tb__name_addresses_t;

typedef struct tb__name_lookup tb__name_lookup_t;

/* False: the host is no numeric address. */
bool tb__name_is_address(const char *host, uint16_t port, tb__name_addresses_t *out);

/* `done` is called once, on the loop's thread, after which the lookup is gone. TB_ERR_LIMIT: too
 * many resolvers hang, TB_ERR_SYSTEM, TB_ERR_NO_MEMORY. */
tb_status_t tb__name_lookup_start(tb__ros1_loop_t *loop, const char *host, uint16_t port,
                                  void (*done)(void *user, const tb__name_addresses_t *found),
                                  void *user, tb__name_lookup_t **out) TB_WARN_UNUSED;
/* `done` will not be called. */
void tb__name_lookup_cancel(tb__name_lookup_t *lookup);

#endif

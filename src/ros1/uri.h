/* Where XML-RPC servers are: http://HOST:PORT/ */
#ifndef TB_ROS1_URI_H
#define TB_ROS1_URI_H

#include <stdbool.h>
#include <stdint.h>

#define TB__ROS1_HOST_SIZE 256 /* with the zero */
#define TB__ROS1_URI_SIZE  512

typedef struct tb__ros1_uri {
  char host[TB__ROS1_HOST_SIZE]; /* without the brackets of an IPv6 address */
  uint16_t port;
} tb__ros1_uri_t;

/* The path is ignored. False: it is not a URI of this form. */
bool tb__ros1_uri_parse(const char *text, tb__ros1_uri_t *out);
/* Letters, digits, and of "-._:%" only. */
bool tb__ros1_host_is_valid(const char *host);

#endif

/* A transport between the player and another one: calls go through, but for those that its owner
 * replaces. */
#ifndef TB_CLI_PLAY_FORWARD_H
#define TB_CLI_PLAY_FORWARD_H

#include <timebase/play_transport.h>

/* The first member of its owner: calls of the player get the address of both. */
typedef struct play_forward {
  tb_play_transport_t to;
  tb_play_transport_ops_t ops; /* what `to` has; add_topic and publish_as are the owner's */
} play_forward_t;

/* In front of `to`. Its owner sets `add_topic` and `publish_as`, and may replace others. */
tb_play_transport_t play_forward_begin(play_forward_t *forward, const tb_play_transport_t *to);

/* To `to`, as the node that recorded it where `to` has such. `handle` is of its topic. */
tb_status_t play_forward_publish(const play_forward_t *forward, void *handle, const char *publisher,
                                 const void *data, size_t size, tb_error_t *error);

#endif

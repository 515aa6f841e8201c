/* Waiting for acknowledgements of one message at a time, on a thread: DDS's own wait cannot be
 * woken. */
#ifndef TB_ROSBAG2_PLAY_ACKS_H
#define TB_ROSBAG2_PLAY_ACKS_H

#include <stdio.h>
#include <timebase/error.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_publisher.h>

#include "platform/mutex.h"
#include "platform/thread.h"
#include "rosbag2/play_wake.h"

typedef struct tb__play_acks {
  tb__play_wake_t *wake; /* called when the wait is over */
  tb__thread_t thread;
  bool has_thread;
  _Atomic bool stopping;
  _Atomic uint32_t events; /* for the thread */
  tb__mutex_t mutex;       /* held to write `awaited` */
  uint64_t asked;          /* guarded by it: number of waits */
  _Atomic(tb_ros2_publisher_t *) awaited;
} tb__play_acks_t;

tb_status_t tb__play_acks_start(tb__play_acks_t *acks, tb__play_wake_t *wake,
                                tb_error_t *error) TB_WARN_UNUSED;
/* Before the publishers go. */
void tb__play_acks_stop(tb__play_acks_t *acks);

/* `publisher`, a reliable one, has sent a message; nothing is awaited yet. */
void tb__play_acks_sent(tb__play_acks_t *acks, tb_ros2_publisher_t *publisher);
/* What was sent need not be acknowledged any more. */
void tb__play_acks_forget(tb__play_acks_t *acks);
bool tb__play_acks_awaited(const tb__play_acks_t *acks);

/* The nodes whose subscriptions have not acknowledged everything from `publisher`, "/a, /b", or
 * "a subscription"; some of them, where they are many. */
void tb__play_acks_print_nodes(const tb_ros2_graph_snapshot_t *graph,
                               tb_ros2_publisher_t *publisher, FILE *out);
/* The same with those that have asked again for messages that were no longer kept; how often. */
size_t tb__play_acks_print_unkept(const tb_ros2_graph_snapshot_t *graph,
                                  tb_ros2_publisher_t *publisher, FILE *out);
/* Its topic. */
const char *tb__play_acks_topic(const tb_ros2_graph_snapshot_t *graph,
                                tb_ros2_publisher_t *publisher);

/* The nodes whose subscriptions have not acknowledged it. On the thread that calls _sent. */
void tb__play_acks_name(const tb__play_acks_t *acks, tb_ros2_graph_t *graph, char *out,
                        size_t size);

#endif

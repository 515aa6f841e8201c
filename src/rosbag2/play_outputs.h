/* The outputs of nodes that a player waits for. A thread follows the graph: it finds the nodes, and
 * subscribes to their outputs. */
#ifndef TB_ROSBAG2_PLAY_OUTPUTS_H
#define TB_ROSBAG2_PLAY_OUTPUTS_H

#include <timebase/ros2_graph.h>
#include <timebase/ros2_play_transport.h>
#include <timebase/ros2_subscription.h>

#include "dds/guid.h"
#include "definition/message_definition.h"
#include "platform/thread.h"
#include "rosbag2/header_stamp.h"
#include "rosbag2/play_lag.h"
#include "rosbag2/play_wake.h"

#define TB__PLAY_WRITERS_MAX 32

/* A publisher of an output, of whichever node. */
typedef struct tb__play_writer {
  tb__guid_t guid;
  bool is_awaited;   /* the node's */
  int64_t newest_ns; /* stamp, of before that was known; 0: none */
} tb__play_writer_t;

typedef enum tb__play_presence {
  TB__PLAY_NO_NODE,
  TB__PLAY_NO_OUTPUT, /* the node exists, but does not publish it */
  TB__PLAY_JOINING,   /* it does, and may not have discovered us yet */
  TB__PLAY_READY,
} tb__play_presence_t;

typedef struct tb__play_outputs tb__play_outputs_t;

typedef struct tb__play_output {
  tb__play_outputs_t *all;
  char *topic, *node;                   /* full names */
  tb_ros2_subscription_t *subscription; /* of the thread; NULL: it has no publisher yet */
  tb__stamp_reader_t stamps;            /* made before the subscription */

  /* Under the mutex. */
  char type[TB__MESSAGE_NAME_SIZE]; /* of the node's messages; "": not known yet */
  bool is_best_effort, has_key;     /* what it offers */
  tb__play_presence_t presence;
  int64_t ready_ns;  /* steady, while JOINING */
  int64_t newest_ns; /* the stamp published last that counts, ever; 0: none */
  tb__play_lag_t lag;
  tb__play_writer_t writers[TB__PLAY_WRITERS_MAX];
  size_t writer_count;
} tb__play_output_t;

/* A publisher of the player's. */
typedef struct tb__play_input {
  tb__guid_t guid;
  bool is_latched; /* state, which is not answered */
  uint64_t feeds;  /* bits: outputs whose node gets it */
  tb__stamp_reader_t stamps;
} tb__play_input_t;

struct tb__play_outputs {
  tb_ros2_context_t *context;
  tb_ros2_graph_t *graph;
  tb__play_wake_t *wake;
  tb__thread_t thread;
  bool has_thread;
  _Atomic bool stopping;
  tb__play_output_t *items;
  size_t count;

  tb__mutex_t mutex; /* guards what follows, and the fields of the items that name it */
  tb__play_input_t *inputs;
  size_t input_count;
  tb_error_t failure; /* which ends the playing; TB_OK: none */
};

#define TB__PLAY_OUTPUTS_MAX 64 /* bits of feeds */

/* Copies what is waited for. `graph` must outlive it. TB_ERR_INVALID, TB_ERR_LIMIT,
 * TB_ERR_NO_MEMORY, TB_ERR_SYSTEM. */
tb_status_t tb__play_outputs_start(tb__play_outputs_t *outputs, tb_ros2_context_t *context,
                                   tb_ros2_graph_t *graph,
                                   const tb_ros2_play_transport_options_t *options,
                                   tb__play_wake_t *wake, tb_error_t *error) TB_WARN_UNUSED;
void tb__play_outputs_stop(tb__play_outputs_t *outputs);

/* A publisher that will send this topic; *out_input names it. TB_ERR_NO_MEMORY. */
tb_status_t tb__play_outputs_add_input(tb__play_outputs_t *outputs, const tb__guid_t *guid,
                                       const tb_bag_topic_t *topic, bool is_latched,
                                       size_t *out_input, tb_error_t *error) TB_WARN_UNUSED;

void tb__play_outputs_time(tb__play_outputs_t *outputs, int64_t time_ns, bool jumps);
/* This message is about to be sent, at the time that was set last. */
void tb__play_outputs_sending(tb__play_outputs_t *outputs, size_t input, const void *cdr,
                              size_t size);

/* TB_ERR_INVALID: an output has no header; see the text. */
tb_status_t tb__play_outputs_limit(tb__play_outputs_t *outputs, int64_t *out_ns,
                                   tb_error_t *error) TB_WARN_UNUSED;
void tb__play_outputs_name(tb__play_outputs_t *outputs, char *out, size_t size);

/* TB_ERR_INVALID, with what to do. */
tb_status_t tb__play_output_refuse(const tb__play_output_t *output, const char *type,
                                   tb_error_t *error);

/* Pure, here for the tests: outputs and inputs from the graph; a message of an output. */
void tb__play_outputs_look(tb__play_outputs_t *outputs, const tb_ros2_graph_snapshot_t *graph,
                           int64_t now_ns);
void tb__play_output_take(tb__play_output_t *output, const tb__guid_t *guid, const void *cdr,
                          size_t size);

#endif

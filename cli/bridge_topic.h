/* A topic that is carried in one direction, with each message re-encoded. */
#ifndef TB_CLI_BRIDGE_TOPIC_H
#define TB_CLI_BRIDGE_TOPIC_H

#include <stdatomic.h>
#include <timebase/reencoder.h>
#include <timebase/ros1_subscription.h>

#include "bridge_queue.h"
#include "bridge_sources.h"
#include "bridge_view.h"

#define BRIDGE_OUTPUTS_MAX 16 /* definitions of one topic of ROS 1 */
#define BRIDGE_WRITERS_MAX 32 /* publishers of ROS 2 that keep messages of one topic */

/* Where definitions of ROS 2 are looked for after AMENT_PREFIX_PATH. */
typedef struct bridge_folders {
  const char *const *items;
  size_t count;
} bridge_folders_t;

/* Where the messages of the nodes of ROS 1 go that are not latched. Each latched one has a
 * publisher of its own on ROS 2, as each keeps its own last message. */
typedef struct bridge_output {
  char md5sum[33];
  char type[256]; /* of ROS 2: types of other packages may have the same sum */
  tb_ros2_publisher_t *publisher;
} bridge_output_t;

/* A publisher of ROS 2 that keeps messages for late subscribers, as the latched ones of ROS 1 do. A
 * node of ROS 1 publishes a topic once, so each but the first has a node of its own there. */
typedef struct bridge_writer {
  struct bridge_writer *next;
  uint8_t guid[16]; /* under the topic's mutex, as the next; the rest on the queue's thread alone */
  bool is_gone;     /* then the next new one takes its place */
  bool is_tried, owns_publisher;
  tb_ros1_context_t *context;   /* NULL: it is that of the bridge */
  tb_ros1_publisher_t *to_ros1; /* NULL: there is none */
} bridge_writer_t;

typedef struct bridge_topic {
  struct bridge_topic *next;
  const bridge_ends_t *ends;
  bridge_queue_t *queue;
  const bridge_folders_t *folders;
  bridge_side_t from;
  char *name, *type;    /* on the side from which it is carried; the type may be "" */
  uint8_t own_guid[16]; /* of our participant: its messages are not carried back */
  tb_ros1_subscription_t *from_ros1;
  bridge_sources_t sources;
  int64_t unpublished_ns; /* steady; since when nobody publishes it. 0: somebody does */
  bridge_output_t outputs[BRIDGE_OUTPUTS_MAX]; /* as the next two on the queue's thread alone */
  size_t output_count;
  unsigned refused_count; /* nodes that were named */
  tb_ros2_subscription_t *from_ros2;
  tb_qos_t qos;  /* of that */
  bool is_ended; /* as the last two of the thread that looks alone */
  tb_ros1_publisher_t *to_ros1;
  tb_reencoder_t *reencoder; /* from ROS 2 */
  bool is_latched;           /* on ROS 1: each writer has a publisher */
  pthread_mutex_t mutex;
  bridge_writer_t *writers;              /* under the mutex */
  _Atomic bool is_refused;               /* it is not carried; the reason has been printed */
  _Atomic bool has_carried, has_refused; /* nodes of ROS 1 */
  _Atomic bool has_reported_failure;
  _Atomic uint64_t messages, bytes, lost, failed;
} bridge_topic_t;

/* Begins to carry it; that it cannot be is printed. NULL: no memory. */
bridge_topic_t *bridge_topic_open(const bridge_view_t *view, bridge_queue_t *queue,
                                  const bridge_folders_t *folders, bridge_side_t from,
                                  const char *name, const char *type);
/* The same topic, not carried, as that other bridge carries it: printed. NULL: no memory. */
bridge_topic_t *bridge_topic_refused(const bridge_view_t *view, bridge_side_t from,
                                     const char *name, const char *type, const char *node);
/* Notes which publishers have gone, and asks for no more than those of ROS 2 offer. */
void bridge_topic_look(bridge_topic_t *topic, const bridge_view_t *view);
/* Ends it for the same reason. */
void bridge_topic_give_up(bridge_topic_t *topic, const char *node);
/* Whether messages of any publisher are carried, or may be. */
bool bridge_topic_is_carried(const bridge_topic_t *topic);
/* Takes nothing in any more. */
void bridge_topic_end(bridge_topic_t *topic);
/* After the queue has ended. */
void bridge_topic_close(bridge_topic_t *topic);

/* For the queue. */
void bridge_topic_send(const bridge_message_t *message);
void bridge_topic_lose(const bridge_message_t *message);

#endif

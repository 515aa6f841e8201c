/* Inside of tb_ros2_recorder_t. graph_recorder.c creates and destroys it; record_transport.c
 * follows the graph and takes samples; recorder_services.c has the services and the event. */
#ifndef TB_ROSBAG2_GRAPH_RECORDER_H
#define TB_ROSBAG2_GRAPH_RECORDER_H

#include <timebase/qos_overrides.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_recorder.h>

#include "dds/guid.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "play/topic_filter.h"
#include "rosbag2/later.h"

#define TB__RECORDER_SERVICES 5

/* The last number that a publisher gave. */
typedef struct tb__record_writer {
  tb__guid_t guid;
  uint64_t sequence;
  uint64_t odd_sequence; /* the last one that was not believed; 0: none */
} tb__record_writer_t;

typedef struct tb__record_topic {
  struct tb__record_topic *next;
  tb_ros2_recorder_t *recorder;
  tb_ros2_subscription_t *subscription;
  size_t index; /* in the core */
  char *name;
  char *type;
  tb_qos_t qos;
  bool is_clock;
  bool is_latched;    /* what was sent stays valid */
  bool is_overridden; /* the QoS is the user's */
  bool is_renewed;    /* the subscription is not the first: what came may come again */
  bool reported_qos, reported_type,
      reported_kind; /* a publisher that cannot be recorded was reported */
  uint64_t gap_max;  /* a larger one is not believed */

  /* Of the subscription's callback, which runs once at a time. */
  tb__record_writer_t *writers;
  size_t writer_count;
  size_t next_writer;
  bool reported_gap; /* one that was not believed was reported */
} tb__record_topic_t;

/* One that the recording names. */
typedef struct tb__record_publisher {
  tb__guid_t guid;
  bool is_noted, is_named; /* with its node, which may be announced later than the publisher */
} tb__record_publisher_t;

typedef struct tb__recorder_service {
  tb_ros2_recorder_t *recorder;
  const struct tb__recorder_service_kind *kind;
  tb_ros2_service_t *service;
  tb__later_t later;
} tb__recorder_service_t;

struct tb_ros2_recorder {
  tb_ros2_node_t *node;
  tb_recorder_t *core;
  tb__topic_filter_t filter;
  tb_qos_overrides_t *overrides; /* NULL: none */
  uint64_t gap_max;
  bool include_unpublished, ignore_leaf_topics;
  int64_t no_new_after_ns;  /* steady: topics that appear later are not recorded */
  tb_bag_split_fn on_split; /* the user's */
  void *on_split_user;

  tb_ros2_graph_t *graph;
  tb__thread_t thread; /* follows the graph */
  bool has_thread;
  _Atomic bool stopping;
  tb__record_topic_t *topics; /* of that thread, until it is joined; so are the publishers */
  tb__record_publisher_t *publishers;
  size_t publisher_count;
  int64_t settled_ns; /* steady: what appears later has begun after the recording */

  tb__mutex_t mutex;
  tb__guid_t *old_writers; /* that may have begun before */
  size_t old_writer_count;

  tb_ros2_publisher_t *events;
  tb__recorder_service_t services[TB__RECORDER_SERVICES];
};

/* Follows the graph until it is stopped. */
tb_status_t tb__record_transport_start(tb_ros2_recorder_t *recorder,
                                       tb_error_t *error) TB_WARN_UNUSED;
/* After it nothing is taken any more. */
void tb__record_transport_stop(tb_ros2_recorder_t *recorder);

/* record_publishers.c: adds those of a topic that are new, or whose nodes are known now. */
void tb__record_publishers_note(tb_ros2_recorder_t *recorder, const tb_ros2_graph_snapshot_t *graph,
                                const tb_ros2_graph_endpoint_t *publishers, size_t count);
/* Whether the recorder is on simulated time. */
void tb__record_node_note(tb_ros2_recorder_t *recorder);

tb_status_t tb__recorder_events_create(tb_ros2_recorder_t *recorder,
                                       tb_error_t *error) TB_WARN_UNUSED;
void tb__recorder_events_split(const char *closed, const char *opened, void *user);
tb_status_t tb__recorder_services_create(tb_ros2_recorder_t *recorder, bool snapshot_mode,
                                         tb_error_t *error) TB_WARN_UNUSED;
void tb__recorder_services_destroy(tb_ros2_recorder_t *recorder);

/* Pure: what is requested of publishers with these offers. */
tb_qos_t tb__record_qos(const tb_ros2_graph_endpoint_t *publishers, size_t count);
/* Pure: false if this writer's message came before; *out_lost: how many are missing before it;
 * *out_before: how many were sent before the first one of this writer, if this is that. A
 * gap that is not believed counts as none, and the writer's numbers continue from before it, unless
 * the next one follows it. *out_gap: how large it is; 0: there is none such. */
bool tb__record_is_new(tb__record_topic_t *topic, const tb_ros2_sample_t *sample,
                       uint64_t *out_lost, uint64_t *out_before, uint64_t *out_gap);

#endif

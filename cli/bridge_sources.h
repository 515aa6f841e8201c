/* The nodes of ROS 1 that publish a topic. Nodes with names of their own for each start come and go
 * without end, so one that has gone gives its place to a new one. */
#ifndef TB_CLI_BRIDGE_SOURCES_H
#define TB_CLI_BRIDGE_SOURCES_H

#include <pthread.h>
#include <stdatomic.h>
#include <timebase/reencoder.h>
#include <timebase/ros1_subscription.h>
#include <timebase/ros2_publisher.h>

#define BRIDGE_SOURCES_MAX 256 /* of one topic */

/* One definition that one node has announced. */
typedef struct bridge_source {
  struct bridge_source *next;
  char *publisher, *type, *md5sum, *definition;
  bool latched;
  bool is_gone;                 /* under the mutex */
  uint64_t used;                /* the greatest is that of the latest message; the same */
  _Atomic unsigned waiting;     /* messages in the queue; above 0 it keeps its place */
  bool is_open, owns_publisher; /* these and the following: on the queue's thread while one waits */
  bool has_failed;              /* which was reported */
  int64_t retry_ns;             /* steady; it is not opened before */
  tb_ros2_publisher_t *to_ros2; /* NULL: its messages are not carried */
  tb_reencoder_t *reencoder;
} bridge_source_t;

typedef struct bridge_sources {
  pthread_mutex_t mutex;
  bridge_source_t *first;
  size_t count;
  uint64_t uses;
} bridge_sources_t;

void bridge_sources_init(bridge_sources_t *sources);
/* `close` is called for each: what the queue's thread has opened is to be closed. */
void bridge_sources_fini(bridge_sources_t *sources, void (*close)(bridge_source_t *source));

/* The source of a message that is about to wait in the queue: known, added, or in the place of one
 * that has gone, else of the one that was silent longest and is not latched; is_open is false then,
 * as the first message must open it. NULL: no memory, or all are needed. */
bridge_source_t *bridge_sources_take(bridge_sources_t *sources, const tb_ros1_sample_t *sample);
/* Its message is done with. */
void bridge_source_release(bridge_source_t *source);

/* Whether it is to be opened, or again after it failed for a reason that may pass. */
bool bridge_source_is_due(const bridge_source_t *source, int64_t now_ns);
/* That it has been opened, or not with that error. */
void bridge_source_opened(bridge_source_t *source, tb_status_t status, int64_t now_ns);

bool bridge_sources_are_none(bridge_sources_t *sources);
/* No node publishes the topic any more: frees all that have no message waiting. */
void bridge_sources_forget(bridge_sources_t *sources, void (*close)(bridge_source_t *source));

/* Notes which nodes still publish, by name. */
void bridge_sources_look(bridge_sources_t *sources, const char *const *names, size_t count);
/* Whether there are so many that looks are needed. */
bool bridge_sources_are_many(bridge_sources_t *sources);

#endif

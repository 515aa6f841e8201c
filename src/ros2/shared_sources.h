/* The time sources that the nodes of a context share: one of each kind, however many nodes follow
 * it, and so one reader of /clock and one thread (X5). */
#ifndef TB_ROS2_SHARED_SOURCES_H
#define TB_ROS2_SHARED_SOURCES_H

#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/source.h>

#include "platform/mutex.h"

/* Values of the parameter `time_source`. Others are names of tb_source_create_from_name. */
#define TB__TIME_SOURCE_CLOCK_TOPIC   "clock_topic"
#define TB__TIME_SOURCE_EXTRAPOLATING "extrapolating"

/* So many unused sources are kept, to be used again: a clock keeps the timeline of each source that
 * it ever had. */
#define TB__SHARED_SOURCES_KEPT 8

/* Called at each change of the publishers of /clock, on a thread of DDS. Must not call DDS. */
typedef struct tb__source_watcher {
  struct tb__source_watcher *next;
  void (*changed)(struct tb__source_watcher *watcher);
} tb__source_watcher_t;

typedef struct tb__shared_source {
  struct tb__shared_source *next;
  struct tb__shared_sources *sources;
  tb_source_t *source;
  tb_source_t *clock_topic; /* the one that subscribes: `source`, or what that wraps; or NULL */
  unsigned users;
  bool is_kept; /* also without users: not a source of the program, which may register another one
                 * of that name */
  tb__source_watcher_t *watchers;
  char key[];
} tb__shared_source_t;

typedef struct tb__shared_sources {
  tb_ros2_context_t *context;
  tb__mutex_t mutex;       /* held briefly: sources are created and destroyed without it */
  tb__mutex_t watch_mutex; /* guards the lists of watchers; held while they are called */
  tb__shared_source_t *first;
} tb__shared_sources_t;

void tb__shared_sources_init(tb__shared_sources_t *sources, tb_ros2_context_t *context);
void tb__shared_sources_fini(tb__shared_sources_t *sources);

/* `topic` and `qos` are those of /clock. Errors are those of creating the source. */
TB_WARN_UNUSED tb_status_t tb__shared_source_acquire(tb__shared_sources_t *sources,
                                                     const char *name, const char *topic,
                                                     const tb_qos_t *qos, tb__shared_source_t **out,
                                                     tb_error_t *error);

/* No clock of the user may be on it any more. NULL does nothing. Not from jump callbacks. */
void tb__shared_source_release(tb__shared_sources_t *sources, tb__shared_source_t *shared);

/* Watches until tb__shared_source_unwatch has returned. */
void tb__shared_source_watch(tb__shared_sources_t *sources, tb__shared_source_t *shared,
                             tb__source_watcher_t *watcher,
                             void (*changed)(tb__source_watcher_t *watcher));
/* Does nothing for one that is not watching. */
void tb__shared_source_unwatch(tb__shared_sources_t *sources, tb__shared_source_t *shared,
                               tb__source_watcher_t *watcher);

#endif

/* What `timebase observe` gathers: readers of topics, and the statistics of what they receive. */
#ifndef TB_CLI_OBSERVE_H
#define TB_CLI_OBSERVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <timebase/clock.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_subscription.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "contract/path.h"
#include "contract/tick_history.h"
#include "contract/ticks.h"
#include "contract/topic_stream.h"
#include "definition/definitions.h"
#include "definition_requests.h"

#define OBSERVE_TOPICS_DEFAULT 500
#define OBSERVE_TOPICS_MAX     10000
#define OBSERVE_STREAMS_MAX    4096 /* publishers of topics, altogether */
#define OBSERVE_PATHS_MAX      16
#define OBSERVE_FILTERS_MAX    64
#define OBSERVE_FOLDERS_MAX    64
#define OBSERVE_NOTED_MAX      10

typedef struct observe observe_t;

/* One publisher of a topic. */
typedef struct observe_stream {
  struct observe_stream *next;
  uint8_t guid[16];
  char *node;                        /* NULL: not known so far, or there is none. The owner's */
  uint64_t shown_arrivals;           /* at the last output. The owner's */
  int64_t shown_last_ns;             /* when the last of them came. The owner's */
  double shown_hz;                   /* The owner's */
  struct observe_reported *reported; /* on /diagnostics, NULL: nothing. The owner's */
  uint64_t noted[OBSERVE_NOTED_MAX]; /* what has been reported of each kind. The owner's */
  bool has_series;                   /* of its own, in metrics. The owner's */
  struct observe_ahead *ahead;       /* NULL: none so far */
  uint64_t first_sequence;           /* the number of its first message; 0: not known */
  uint64_t quiet_messages;           /* for the owner: those before a clock began */
  tb__topic_stream_t is;
} observe_stream_t;

/* A path, and which topics it is between. */
typedef struct observe_path {
  char *from, *to;      /* full names; NULL: it is free */
  bool is_candidate;    /* by the graph: a node subscribes to the one and publishes the other */
  pthread_mutex_t lock; /* for what follows */
  tb__path_t is;
} observe_path_t;

/* Whether a first message was of the definition. */
typedef enum observe_verdict {
  OBSERVE_UNCHECKED,
  OBSERVE_FITS,
  OBSERVE_DOES_NOT_FIT,
} observe_verdict_t;

typedef struct observe_topic {
  struct observe_topic *next; /* by name */
  observe_t *of;
  char *name, *type;
  tb__definition_entry_t *entry; /* NULL: out of memory, or too many types */
  tb_ros2_subscription_t *subscription;
  bool is_failed;                        /* there is no reader: reported once */
  pthread_mutex_t lock;                  /* for what follows, which the reader's thread uses */
  uint32_t from_paths, to_paths;         /* a bit for each path */
  const tb__known_definition_t *known;   /* NULL: messages have no stamps for now */
  const tb__known_definition_t *checked; /* what the verdict is about */
  bool must_check;                       /* the next message, whether it is of it */
  observe_verdict_t verdict;             /* for the owner */
  char why[200];
  uint64_t malformed;        /* messages whose header could not be read */
  observe_stream_t *streams; /* in the order of their first message */
  uint64_t unattributed;     /* messages of publishers that there was no room for */
  uint64_t messages;
} observe_topic_t;

/* `/clock`, and what time it is. */
typedef struct observe_clock {
  tb_ros2_subscription_t *subscription;
  tb__field_path_t *path;
  const tb__schema_t *schema;
  pthread_mutex_t lock; /* for what follows */
  bool is_expected;     /* it has a publisher, or had one: ROS time is that of its ticks */
  tb__ticks_t ticks;
  tb__tick_history_t history;
  int64_t run_ns, run_arrival_ns; /* at the end of the last second. The owner's, as what follows */
  uint64_t run_steps;
  double factor_now, rate_now; /* of that second; 0: not known */
} observe_clock_t;

struct observe {
  const command_t *command;
  void (*warn)(void *user, const char *text); /* NULL: to standard error */
  void *warn_user;
  tb_ros2_context_t *context;
  tb_ros2_graph_t *graph;
  const tb_ros2_graph_snapshot_t *snapshot; /* the latest */
  tb_steady_clock_t *steady;
  tb_clock_t *system;
  tb__definitions_t *definitions, *built_in;
  definition_requests_t *requests;
  const char *const *filters;
  size_t filter_count;
  size_t topics_max, topic_count;
  size_t left_out;  /* topics above that */
  bool has_more;    /* topics may be without a reader so far */
  bool is_reliable; /* readers are, where the first publisher of their topic is */
  bool reads_edges; /* the newest stamp of a TFMessage is its stamp */
  atomic_size_t stream_count;
  observe_topic_t *topics;
  observe_path_t *paths; /* OBSERVE_PATHS_MAX of them */
  bool finds_paths;
  const char *own_node;        /* full name: what it publishes is not observed. NULL: none */
  struct observe_tried *tried; /* candidates */
  size_t tried_count;
  observe_clock_t clock;
  struct observe_hosts *hosts; /* NULL: not yet */
  int64_t begin_ns, shown_ns;  /* steady; the second: of the last output */
};

/* Now, as the readers see it: ROS time is that of /clock, or system time where there is no
 * publisher of it. */
typedef struct observe_time {
  int64_t steady_ns, system_ns;
  int64_t ros_ns; /* 0: not known: no tick so far, or no publisher of /clock may have been found */
  bool is_clock;
  tb__epoch_t epoch;
} observe_time_t;

/* Joins the domain. EXIT_OK, or a message has been printed. Close it either way. */
int observe_open(observe_t *observe, int domain, const char *const *folders, size_t folder_count);
void observe_close(observe_t *observe);

/* Follows the graph: readers for topics that have come, definitions. Never blocks. To be called
 * about every 100 ms. */
void observe_step(observe_t *observe);

observe_time_t observe_now(observe_t *observe, int64_t system_ns);
int64_t observe_steady_now(const observe_t *observe);
int64_t observe_system_now(const observe_t *observe);

/* When it is to be stepped again, and when a second ends: in steady time. */
typedef struct observe_pace {
  int64_t step_ns, second_ns;
} observe_pace_t;

observe_pace_t observe_pace_begin(const observe_t *observe);
/* Steps it if that is due. True: a second has ended, and has been judged. */
bool observe_keep_pace(observe_t *observe, observe_pace_t *pace);

/* Counts messages that wait for /clock to reach their stamps. */
void observe_end(observe_t *observe);

/* Counts, ages and rates of topics from now on. */
void observe_restart_counts(observe_t *observe);

/* "points" is "/points"; to be freed. NULL: out of memory. */
char *observe_full_name(const char *name, size_t length);

/* --- paths --- */

/* Makes a path of two topics, full names, which it takes. False: there are too many already, or
 * memory is short. */
bool observe_add_path(observe_t *observe, char *from, char *to, int64_t budget_ns,
                      bool is_candidate);
/* Ends a second: judges all paths, gives up candidates whose outputs do not repeat stamps, and
 * finds others. */
void observe_end_second(observe_t *observe);
/* Whether it is in use, and a candidate's outputs repeat the stamps of its inputs. */
bool observe_is_path(observe_path_t *path);
/* Frees them, and the array. */
void observe_close_paths(observe_t *observe);

/* --- output --- */

/* What is said about the second before, or about all of it. */
typedef struct observe_view {
  int64_t steady_ns;
  bool is_summary;
} observe_view_t;

/* A table. */
void observe_print(FILE *out, observe_t *observe, const observe_view_t *view);
/* One line. False: out of memory. */
bool observe_print_json(observe_t *observe, const observe_view_t *view);

#endif

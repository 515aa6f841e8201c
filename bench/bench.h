/* Rows of the benchmark: each compares a measurement with that of its bare counterpart, or with a
 * fixed limit. */
#ifndef TB_BENCH_BENCH_H
#define TB_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct result {
  double value, against; /* medians; in a row with a limit, `against` is the limit */
} result_t;

typedef struct row {
  const char *name;
  const char *unit;
  const char *against; /* what it is compared with; "limit" */
  double target;       /* the largest ratio; the smallest if the unit is a rate, "/s" */
  bool (*run)(const struct row *row, result_t *out); /* false: a message has been printed */
  double limit;                                      /* with "limit": the limit, in `unit` */
} row_t;

extern const row_t core_rows[], tick_rows[], timer_rows[], wake_rows[], allocation_rows[],
    shm_rows[], measure_rows[], definition_rows[];
extern const int definition_row_count;
extern const int core_row_count, tick_row_count, timer_row_count, wake_row_count;
extern const int allocation_row_count, shm_row_count, measure_row_count;

/* The other process of the rows on shared memory: this program with this argument. */
#define BENCH_SHM_PEER "--shm-peer"
int bench_shm_peer(const char *role, const char *directory, const char *fd);
#ifdef TB_BENCH_BAG
extern const row_t bag_rows[];
extern const int bag_row_count;
extern const row_t ros1_mcap_rows[];
extern const int ros1_mcap_row_count;
extern const row_t sqlite_rows[];
extern const int sqlite_row_count;
extern const row_t check_rows[];
extern const int check_row_count;
#endif
#ifdef TB_BENCH_ROS1_BAG
extern const row_t ros1_bag_rows[];
extern const int ros1_bag_row_count;
#endif
#ifdef TB_BENCH_ROS2
/* The process that reads `/clock`: this program with this argument. */
#define BENCH_ROS2_PEER "--ros2-peer"
int bench_ros2_peer(void);
/* The process that has nodes, or their counterpart: this program with this argument. */
#define BENCH_NODE_PEER "--node-peer"
int bench_node_peer(const char *role, const char *count);
extern const row_t ros2_rows[], node_rows[];
extern const int ros2_row_count, node_row_count;
#endif
#ifdef TB_BENCH_ROS1_GRAPH
/* The process that follows `/clock` of ROS 1: this program with this argument. */
#define BENCH_ROS1_PEER "--ros1-peer"
int bench_ros1_peer(const char *role, const char *port);
extern const row_t ros1_rows[];
extern const int ros1_row_count;
#endif
#ifdef TB_BENCH_RCL_NODE
extern const row_t rcl_rows[];
extern const int rcl_row_count;
#endif
#ifdef TB_BENCH_COMMAND
/* The process that receives what `timebase observe` observes. */
#define BENCH_OBSERVE_PEER "--observe-peer"
int bench_observe_peer(void);
extern const row_t observe_rows[];
extern const int observe_row_count;
#ifdef TB_BENCH_BAG
extern const row_t info_rows[], convert_rows[], record_rows[];
extern const int info_row_count, convert_row_count, record_row_count;
/* The process that takes what the recorder records. */
#define BENCH_RECORD_PEER "--record-peer"
int bench_record_peer(const char *role, const char *number);
#endif
#endif
#if defined(TB_BENCH_BAG) && defined(TB_BENCH_ROS2)
#define TB_BENCH_PLAY
/* The process that reads the played messages, so many each time. */
#define BENCH_PLAY_PEER "--play-peer"
int bench_play_peer(const char *role, const char *count);
extern const row_t play_rows[];
extern const int play_row_count;
#endif

/* CLOCK_MONOTONIC, ns. */
int64_t bench_now_ns(void);

/* One batch: repeats an operation `times`, in a way that is not optimized away. */
typedef void (*batch_t)(void *context, int64_t times);

/* Runs both batches in turns, many times, and computes the medians in ns per repetition. */
result_t bench_compare(batch_t value, batch_t against, void *context, int64_t times);

/* The middle of `count` numbers, which are sorted in place. */
double bench_median(double *numbers, int count);

typedef void (*bench_row_fn)(int64_t topic, int64_t time_ns, const void *data, size_t size);
/* The messages of a sqlite3 file in the order of time, by SQLite alone. How many there were. */
int bench_select_all(const char *file, bench_row_fn take);

bool bench_fail(const row_t *row, const char *what);

#endif

/* Runs of a bag: a recorder that stamps with ROS time goes on in the same file when that is set
 * back. What shows it is one connection whose times go back; messages of several connections may be
 * in any order, as a bag may have been put together of others. */
#ifndef TB_ROSBAG1_RUNS_H
#define TB_ROSBAG1_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

/* Recorders write from several threads, so times may go back by less. */
#define TB__ROSBAG1_DISORDER_NS UINT64_C(500000000)
/* More runs, or on average fewer messages in each of the connection that has most, are no jumps,
 * but a file without order. */
#define TB__ROSBAG1_RUNS_MAX         1000
#define TB__ROSBAG1_RUN_MESSAGES_MIN 10

typedef struct tb__rosbag1_count {
  uint32_t connection;
  uint64_t count;
} tb__rosbag1_count_t;

typedef struct tb__rosbag1_run {
  uint64_t first_id; /* of its first message */
  uint64_t start_ns, end_ns;
  uint64_t message_count;
  tb__rosbag1_count_t *counts; /* by connection, those with messages */
  size_t count_count;
} tb__rosbag1_run_t;

/* Part of a run, or of what may become the next one. */
typedef struct tb__rosbag1_stretch {
  uint64_t first_id, start_ns, end_ns, message_count;
} tb__rosbag1_stretch_t;

/* One connection. */
typedef struct tb__rosbag1_stream {
  uint32_t connection;
  uint64_t last_ns, count;             /* in the run; 0: none yet */
  uint64_t later_last_ns, later_count; /* in the later stretch of that number */
  uint64_t later_number;
  uint64_t total; /* in the file */
} tb__rosbag1_stream_t;

typedef struct tb__rosbag1_runs {
  tb__rosbag1_run_t *items; /* those that have ended */
  size_t count;
  tb__rosbag1_stream_t *streams; /* sorted by connection */
  size_t stream_count, stream_capacity, found;
  tb__rosbag1_stretch_t now;
  tb__rosbag1_stretch_t later; /* from where messages were earlier than `now`; or nothing */
  uint64_t later_number;       /* grows with each */
  uint64_t before_ns;          /* where the run before ended; 0: there was none */
  bool gave_up;
} tb__rosbag1_runs_t;

/* A message, in the order of the file, whose ids grow. */
tb_status_t tb__rosbag1_runs_add(tb__rosbag1_runs_t *runs, uint32_t connection, uint64_t time_ns,
                                 uint64_t id, tb_error_t *error) TB_WARN_UNUSED;
/* After the last one: ends the last run. Without a jump there is none. */
tb_status_t tb__rosbag1_runs_end(tb__rosbag1_runs_t *runs, tb_error_t *error) TB_WARN_UNUSED;
/* Also before the end. */
void tb__rosbag1_runs_fini(tb__rosbag1_runs_t *runs);

#endif

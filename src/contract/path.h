/* A path from an input topic to an output topic that repeats the input's header stamp: how long the
 * nodes between them take, in steady time and in ROS time, and whether they keep up.
 *
 * A latency that grows in steady time is backlog: the nodes do less than what comes in. One that is
 * only long in ROS time is the real-time factor's doing: at 3.0 each second of work is three
 * seconds of ROS time. Fixed memory, no allocation. One thread at a time. */
#ifndef TB_CONTRACT_PATH_H
#define TB_CONTRACT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spread.h"

enum { TB__PATH_SLOTS = 8192, TB__PATH_WINDOWS = 8 };

/* A message of one of the two topics. */
typedef struct tb__path_sample {
  int64_t stamp_ns;  /* of its header; 0 is never matched */
  int64_t steady_ns; /* at reception */
  int64_t ros_ns;    /* at reception; 0: not known */
  uint32_t epoch;    /* raised by jumps back, over which nothing is matched */
} tb__path_sample_t;

typedef enum tb__path_state {
  TB__PATH_UNKNOWN = 1, /* too little was seen */
  TB__PATH_NO_OUTPUT,   /* inputs come, and no output with a stamp of theirs */
  TB__PATH_BACKLOG,     /* the steady latency grows */
  TB__PATH_LATE,        /* above the budget in steady time */
  TB__PATH_FACTOR,      /* above the budget in ROS time alone: because of the factor */
  TB__PATH_HOLDS,
} tb__path_state_t;

/* About a second. */
typedef struct tb__path_window {
  uint64_t inputs, outputs; /* outputs: matched */
  double steady_ns, ros_ns; /* means of the latencies of the outputs */
  double factor;            /* ROS seconds a second of steady time; 0: not known */
  double progress;          /* of the outputs' stamps, in the same way; 0: not known */
} tb__path_window_t;

typedef struct tb__path_slot {
  int64_t stamp_ns, steady_ns, ros_ns;
  uint64_t order; /* the older of two makes room; 0: free */
  bool is_output, is_matched;
} tb__path_slot_t;

typedef struct tb__path {
  int64_t budget_ns; /* 0: none */
  uint64_t inputs, outputs, matched;
  uint64_t repeated;        /* outputs of an input that had one already */
  tb__spread_t steady, ros; /* latencies */
  tb__path_state_t state;   /* as of the last window */
  /* Of windows that followed each other at about the same factor. */
  double factor, progress, slope; /* means, and seconds of latency that a second adds */
  double held_factor;             /* the highest at which it held; 0: none so far */
  double failed_factor;           /* the lowest at which there was backlog; 0: none so far */
  tb__path_window_t windows[TB__PATH_WINDOWS]; /* the last ones, oldest first */
  uint32_t window_count;
  uint32_t silent_windows; /* with inputs and without outputs */
  bool has_backlog;
  double peak_ns, base_ns; /* while there is backlog, and before it */
  /* The window that is open. */
  uint64_t window_inputs, window_outputs;
  double window_steady_ns, window_ros_ns;
  int64_t window_begin_ns, window_begin_ros_ns, last_ros_ns;
  int64_t first_output_ns, first_output_stamp_ns, last_output_ns, last_output_stamp_ns;
  uint32_t epoch;
  uint64_t order;
  tb__path_slot_t slots[TB__PATH_SLOTS]; /* by stamp, 8 for each */
} tb__path_t;

/* Large: 400 KiB. */
TB_PRIVATE_API void tb__path_init(tb__path_t *path, int64_t budget_ns);
TB_PRIVATE_API void tb__path_input(tb__path_t *path, const tb__path_sample_t *sample);
/* Either may come first, as two topics have no common order. */
TB_PRIVATE_API void tb__path_output(tb__path_t *path, const tb__path_sample_t *sample);
/* Ends a window, about once a second, and judges. */
TB_PRIVATE_API tb__path_state_t tb__path_end_window(tb__path_t *path, int64_t steady_ns,
                                                    int64_t ros_ns);

/* "holds", "cannot keep up", ... */
TB_PRIVATE_API const char *tb__path_state_text(tb__path_state_t state);

#endif

/* What `timebase record --manifest` adds to a recording: the manifest, and points at which all
 * clocks were read: at the start, when ROS time begins or jumps, each minute, and at the end. Both
 * go into the recording and, latched, to the graph, so that other recorders have them too. */
#ifndef TB_CLI_RECORD_EVIDENCE_H
#define TB_CLI_RECORD_EVIDENCE_H

#include <stdatomic.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/recorder.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "contract/manifest.h"
#include "contract/points.h"

typedef struct record_evidence {
  const command_t *command;
  char *text; /* of the manifest; NULL: nothing is added */
  tb__manifest_t manifest;
  tb_bag_note_t note; /* for the options of the bag */

  tb_recorder_t *recorder;
  tb_ros2_publisher_t *publishers[2]; /* of the manifest, of the points */
  size_t topics[2];                   /* of the recorder */
  tb_source_t *source;                /* of ROS time; NULL: that is system time */
  tb_clock_t *ros, *system;
  tb_steady_clock_t *steady;
  tb_jump_handler_t *handler;
  int jump_pipe[2]; /* a byte for each jump; -1: not open */
  _Atomic uint64_t jumps;
  _Atomic bool has_started; /* ROS time, since the last point */
  int64_t next_ns;          /* steady: when the next minute is over */
} record_evidence_t;

/* Reads the manifest, before anything is made. EXIT_OK, or a message was printed. Close it either
 * way. `path` NULL: nothing is added. */
int record_evidence_load(const command_t *command, const char *path, record_evidence_t *out);

/* Begins: the recorder has been made on the node. */
int record_evidence_begin(record_evidence_t *evidence, tb_recorder_t *recorder,
                          tb_ros2_context_t *context, tb_ros2_node_t *node);

/* To be waited for besides others; -1: nothing. */
int record_evidence_fd(const record_evidence_t *evidence);
/* At most `timeout_ms`, and not after the next minute. */
int record_evidence_timeout_ms(const record_evidence_t *evidence, int timeout_ms);
/* Adds what is due. */
void record_evidence_poll(record_evidence_t *evidence);
/* Adds the last point, before the recorder is stopped. */
void record_evidence_end(record_evidence_t *evidence);

/* After the recorder, before its node. */
void record_evidence_close(record_evidence_t *evidence);

#endif

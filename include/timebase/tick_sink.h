/* Where a clock server or a player sends its time: `/clock` of a graph, a timeline, a test. */
#ifndef TIMEBASE_TICK_SINK_H
#define TIMEBASE_TICK_SINK_H

#include <stdint.h>
#include <timebase/error.h>
#include <timebase/jump.h>

/** A tick of `time_ns`, nanoseconds of ROS time, never below 1 from our servers and players.
 * `reason` is TB_JUMP_REASON_TICK while time passes or is stopped; SEEK, LOOP or RESET for the
 * first tick after such a jump, in either direction. Called from one thread at a time, with no lock
 * of ours held; [must not block for long] time continues only after it. An error ends the playing
 * or serving. */
typedef tb_status_t (*tb_tick_callback_t)(void *self, int64_t time_ns, tb_jump_reason_t reason,
                                          tb_error_t *error);

/** A receiver of ticks. */
typedef struct tb_tick_sink {
  tb_tick_callback_t tick; /**< NULL: there is no clock to publish to */
  void *self;              /**< handed to `tick` */
} tb_tick_sink_t;

#endif

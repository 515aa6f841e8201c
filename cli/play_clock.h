/* Playing in the time of another clock: --use-sim-time. */
#ifndef TB_CLI_PLAY_CLOCK_H
#define TB_CLI_PLAY_CLOCK_H

#include <timebase/bag_reader.h>
#include <timebase/ros2_node.h>

#include "play_arguments.h"

/* The node's own clock must not be published where it is followed. TB_ERR_RANGE: it would be.
 * TB_ERR_INVALID: bad names. */
tb_status_t play_clock_check(const tb_ros2_node_t *node, const play_arguments_t *arguments,
                             tb_error_t *error);

/* Reports a clock in the recording, which is left out. */
void play_clock_report(const tb_bag_info_t *info);

/* Why time does not flow. NULL: it does, or no clock (NULL) is followed. */
const char *play_clock_note(const tb_clock_t *clock);

#endif

/* The clock of a command on a graph of ROS 1: --ros1. */
#ifndef TB_CLI_ROS1_CLOCK_H
#define TB_CLI_ROS1_CLOCK_H

#include "clocks.h"
#include "ros1_ticks.h"

/* Follows `topic`, whatever /use_sim_time is; a gauge that has begun is fed. The master need not
 * answer. EXIT_OK, or a message has been printed. Close it with ros_clock_close either way, before
 * the gauge. */
int ros1_clock_open(const command_t *command, const char *topic, clock_gauge_t *gauge,
                    ros_clock_t *out);

/* How many publishers of its topic are registered and answer; 0: the master does not. */
size_t ros1_clock_servers(const ros_clock_t *clock);

/* What is wrong with the graph's time, with the ticks of a gauge that listens: *rules gets a bit
 * for each rule that has found something, and what was not in *rules before is printed, a line
 * each, unless `is_quiet`. EXIT_OK, or a message has been printed. */
int ros1_clock_judge(const command_t *command, ros_clock_t *clock, clock_gauge_t *gauge,
                     uint64_t *rules, bool is_quiet);

/* "/sim_a and /sim_b": those that ticked, to standard error. */
void ros1_clock_print_publishers(clock_gauge_t *gauge);

/* What ROS 1 has not: --domain, and a limit of the error, as messages do not carry when they were
 * sent. EXIT_OK, or EXIT_USAGE and a message has been printed. */
int ros1_refuse_options(const command_t *command, int domain, int64_t max_error_ns);

#endif

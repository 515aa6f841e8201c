/* Ticks of /clock on a graph of ROS 1, for a gauge; and joining such a graph. */
#ifndef TB_CLI_ROS1_TICKS_H
#define TB_CLI_ROS1_TICKS_H

#include <getopt.h>
#include <timebase/duration.h>
#include <timebase/ros1_subscription.h>

#include "clock_gauge.h"
#include "command.h"

struct tb_ros1_context;

/* Whether an option of the command line is --ros1. Arguments of others may not be taken apart yet:
 * what follows "--" is none. */
bool ros1_is_asked(int argc, char **argv);

/* A node of its own name, which registers nothing. EXIT_OK, or a message has been printed. */
int ros1_join(const command_t *command, struct tb_ros1_context **out);
void ros1_leave(struct tb_ros1_context *context);

/* Whether the master answers now: within 5 s. */
bool ros1_has_master(struct tb_ros1_context *context);
/* Asks the master something, so that a wrong ROS_MASTER_URI is found. EXIT_OK, or EXIT_IO and a
 * message has been printed. */
int ros1_require_master(const command_t *command, struct tb_ros1_context *context);

/* The gauge listens to `topic`. EXIT_OK, or a message has been printed. Close it either way. */
int ros1_gauge_open(const command_t *command, struct tb_ros1_context *context, const char *topic,
                    clock_gauge_t *out);
/* A tb_ros1_sample_callback_t; `user` is a gauge that has begun. */
void ros1_gauge_feed(const tb_ros1_sample_t *sample, void *user);
/* Called by clock_gauge_close. */
void ros1_gauge_close(clock_gauge_t *gauge);

#endif

/* Stamps of sampled topics of a ROS 1 graph: a bounded number of them, each for a while. */
#ifndef TB_CLI_AUDIT_ROS1_STAMPS_H
#define TB_CLI_AUDIT_ROS1_STAMPS_H

#include "ros1_findings.h"

typedef struct ros1_stamps ros1_stamps_t;

/* Looks at the graph, and subscribes to topics of it. The look must be open and outlive it, and
 * gets what finds: see ros1_look_t. EXIT_OK, or a message has been printed. Close it either way. */
int ros1_stamps_open(ros1_look_t *look, ros1_stamps_t **out);
/* To be called about every 50 ms: topics that have been sampled make room for others. */
void ros1_stamps_step(ros1_stamps_t *stamps);
/* Nothing is sampled afterwards; before the look is taken. */
void ros1_stamps_end(ros1_stamps_t *stamps);
/* Accepts NULL. */
void ros1_stamps_close(ros1_stamps_t *stamps);

/* Topics with stamps. */
size_t ros1_stamps_sampled(const ros1_stamps_t *stamps);

#endif

/* The topics of a ROS 1 graph that have publishers, as the master knows them. */
#ifndef TIMEBASE_ROS1_TOPICS_H
#define TIMEBASE_ROS1_TOPICS_H

#include <stddef.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>

/** Asks the master again and again. */
typedef struct tb_ros1_topics tb_ros1_topics_t;

/** A topic with one publisher or more, which may have died: the master is told by nobody. */
typedef struct tb_ros1_topic {
  const char *name; /**< "/clock" */
  const char *type; /**< "rosgraph_msgs/Clock"; "*" if only such publishers are known */
} tb_ros1_topic_t;

/** Called on the context's thread with what the master has answered, valid during the call. It must
 * not block. Publishers and subscriptions can be created in it. */
typedef void (*tb_ros1_topics_callback_t)(const tb_ros1_topic_t *topics, size_t count, void *user);

TB_BEGIN_DECLS

/** Asks at once, and then `period` of steady time (0: 1 s) after each answer, also of a master that
 * is started later. A master that does not answer is reported to the log by the context.
 *
 *   TB_ERR_INVALID    `period` is negative
 *   TB_ERR_FORKED     this is a forked child
 *   TB_ERR_NO_MEMORY
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros1_topics_create(tb_ros1_context_t *context,
                                                        tb_duration_t period,
                                                        tb_ros1_topics_callback_t callback,
                                                        void *user, tb_ros1_topics_t **out,
                                                        tb_error_t *error);

/** No callback comes after it. Accepts NULL. [any thread but callbacks] */
TB_API void tb_ros1_topics_destroy(tb_ros1_topics_t *topics);

TB_END_DECLS

#endif

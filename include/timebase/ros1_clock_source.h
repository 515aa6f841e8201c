/* The time source of ROS 1 graphs: `/clock` (rosgraph_msgs/Clock), or system time, as
 * `/use_sim_time` says. */
#ifndef TIMEBASE_ROS1_CLOCK_SOURCE_H
#define TIMEBASE_ROS1_CLOCK_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/ros1_context.h>
#include <timebase/ros1_subscription.h>
#include <timebase/source.h>

/** What to do with ticks when several publishers tick at a time. Two that both ticked within the
 * last second are a fault in any case: counted, and reported to the log hook once until it is over,
 * with the nodes' names. */
typedef enum tb_ros1_clock_publishers {
  TB_ROS1_CLOCK_ACCEPT_ALL = 0,    /**< time follows each in turn, as in ROS */
  TB_ROS1_CLOCK_HOLD_TO_FIRST = 1, /**< it follows the first until that one is silent */
} tb_ros1_clock_publishers_t;

/** Whether time is that of the topic. */
typedef enum tb_ros1_sim_time {
  TB_ROS1_SIM_TIME_PARAMETER = 0, /**< if `/use_sim_time` is the boolean true when the source
                                       starts; else system time */
  TB_ROS1_SIM_TIME_ALWAYS = 1,    /**< whatever the parameter is */
} tb_ros1_sim_time_t;

/** What a ROS 1 source is made with. */
typedef struct tb_ros1_clock_source_options {
  const char *topic;                     /**< an absolute name; NULL: "/clock"; copied */
  tb_ros1_sim_time_t sim_time;           /**< whether to look at `/use_sim_time` */
  tb_ros1_clock_publishers_t publishers; /**< which publisher to follow when there are several */
  tb_duration_t hold_limit; /**< steady: after this silence the first publisher no longer holds the
                               clock; 0: 1 s */
  /** NULL, or called with each message that holds a time, before the clocks move, as the callback
   * of a subscription is: for those who measure `/clock`. A second subscription of the topic is no
   * way to do it: publishers of rospy keep one connection for each node. It must not wait, nor use
   * the source and its clocks. */
  tb_ros1_sample_callback_t observer;
  void *observer_user; /**< handed to the observer */
} tb_ros1_clock_source_options_t;

/** `/clock`, as nodes of ROS 1 follow it. */
#define TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT                                                          \
  {                                                                                                \
    NULL, TB_ROS1_SIM_TIME_PARAMETER, TB_ROS1_CLOCK_ACCEPT_ALL, {0}, NULL, NULL                    \
  }

/** What time the source gives. */
typedef enum tb_ros1_clock_mode {
  TB_ROS1_CLOCK_UNDECIDED = 0, /**< stopped, or the master has not answered yet: zero */
  TB_ROS1_CLOCK_TOPIC = 1,     /**< that of the topic; zero before the first message */
  TB_ROS1_CLOCK_SYSTEM = 2,    /**< system time: `/use_sim_time` is not set */
} tb_ros1_clock_mode_t;

/** What was received from the graph. */
typedef struct tb_ros1_clock_source_status {
  tb_ros1_clock_mode_t mode; /**< what time it gives */
  uint32_t connected;        /**< publishers that it has a connection to */
  int64_t first_sample_ns;   /**< steady time of the first message taken; 0: none yet */
  int64_t last_sample_ns;    /**< steady time of the last message taken; 0: none yet */
  uint64_t samples;          /**< messages taken in, also those that became no tick */
  uint64_t invalid;          /**< messages dropped because they hold no valid time */
  uint64_t refused;          /**< messages dropped because another publisher holds the clock */
  uint64_t faults;           /**< how often two publishers began to tick at a time */
} tb_ros1_clock_source_status_t;

TB_BEGIN_DECLS

/** Give the source to clocks with tb_clock_create or tb_clock_set_source. It starts when the first
 * clock comes to it, and asks the master for `/use_sim_time`: it waits for the answer, but for 1 s
 * at most and not for a master that cannot be reached, which it goes on to ask; the time is zero
 * until it is known what it is. It registers when the first clock comes, and unregisters when the
 * last has left. Masters and publishers may be restarted meanwhile.
 *
 * Plain ticks move the clocks on the context's thread; jump callbacks, and the waking of due
 * waiters, run on one thread of the source. Destroy it with tb_source_destroy, before its context.
 *
 *   TB_ERR_INVALID    the topic's name, an option or the limit is not valid: see the text
 *   TB_ERR_NO_MEMORY
 *
 * With the library in the program, "ros1" is a name of tb_source_create_from_name and of
 * TIMEBASE_SOURCE: a source with a context of its own, by the environment; "ros1:http://HOST:PORT"
 * names the master.
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros1_clock_source_create(
    tb_ros1_context_t *context, const tb_ros1_clock_source_options_t *options, tb_source_t **out,
    tb_error_t *error);

/** TB_ERR_INVALID: not a source made by tb_ros1_clock_source_create.
 * [any thread] [from callbacks] */
TB_INLINE tb_status_t tb_ros1_clock_source_status(tb_source_t *source,
                                                  tb_ros1_clock_source_status_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros1_clock_source_create_sized(tb_ros1_context_t *context,
                                                     const tb_ros1_clock_source_options_t *options,
                                                     size_t options_size, tb_source_t **out,
                                                     tb_error_t *error);
TB_INLINE tb_status_t tb_ros1_clock_source_create(tb_ros1_context_t *context,
                                                  const tb_ros1_clock_source_options_t *options,
                                                  tb_source_t **out, tb_error_t *error)
{
  return tb_ros1_clock_source_create_sized(context, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_ros1_clock_source_status_sized(tb_source_t *source,
                                                     tb_ros1_clock_source_status_t *out,
                                                     size_t out_size);
TB_INLINE tb_status_t tb_ros1_clock_source_status(tb_source_t *source,
                                                  tb_ros1_clock_source_status_t *out)
{
  return tb_ros1_clock_source_status_sized(source, out, sizeof *out);
}

TB_END_DECLS

#endif

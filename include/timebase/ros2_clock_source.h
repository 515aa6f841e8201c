/* The time source that follows `/clock` on a ROS 2 graph (rosgraph_msgs/msg/Clock). */
#ifndef TIMEBASE_ROS2_CLOCK_SOURCE_H
#define TIMEBASE_ROS2_CLOCK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_subscription.h>
#include <timebase/source.h>

/** What to do with ticks when several publishers tick at a time. Two that both ticked within the
 * last second are a fault in any case: counted, and reported to the log hook once until it is over,
 * with the nodes' names if the graph gives them within a second. */
typedef enum tb_ros2_clock_publishers {
  TB_ROS2_CLOCK_ACCEPT_ALL = 0,    /**< time follows each in turn, as in ROS */
  TB_ROS2_CLOCK_HOLD_TO_FIRST = 1, /**< it follows the first until that one is silent */
} tb_ros2_clock_publishers_t;

/** What a `/clock` source is made with. */
typedef struct tb_ros2_clock_source_options {
  const char *topic;                     /**< NULL: "/clock"; copied */
  const tb_qos_t *qos;                   /**< NULL: TB_QOS_INIT_CLOCK (rclcpp::ClockQoS); copied */
  tb_ros2_clock_publishers_t publishers; /**< which publisher to follow when there are several */
  tb_duration_t hold_limit; /**< steady: after this silence the first publisher no longer holds the
                               clock; 0: 1 s */
  uint32_t writers_max;     /**< publishers remembered for tb_ros2_clock_source_writers, at most
                                 4096; 0: 64. One more takes the place of the longest silent one */
  /** It has no thread: the program dispatches in its own loop, when tb_ros2_clock_source_fd is
   * readable, with tb_ros2_clock_source_run (rclcpp: use_clock_thread false). */
  bool own_loop;
  uint8_t padding[3]; /**< not used */
  /** NULL, or called with each message that becomes a tick, before time moves to it, as the
   * callback of a subscription is: for those who measure /clock without a subscription of their
   * own. It must not wait, nor use the source and its clocks. */
  tb_ros2_subscription_callback_t observer;
  void *observer_user; /**< handed to the observer */
} tb_ros2_clock_source_options_t;

/** `/clock`, as rclcpp subscribes to it. */
#define TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT                                                          \
  {                                                                                                \
    NULL, NULL, TB_ROS2_CLOCK_ACCEPT_ALL, {0}, 0, false, {0}, NULL, NULL                           \
  }

/** What was received from the graph. */
typedef struct tb_ros2_clock_source_status {
  uint32_t matched;        /**< publishers matched now; one that was killed stays for its lease */
  uint32_t publishers;     /**< publishers from which ticks have come since the source was made;
                                one that was forgotten for another (writers_max) counts again */
  int64_t first_sample_ns; /**< steady time of the first sample taken; 0: none yet */
  int64_t last_sample_ns;  /**< steady time of the last sample taken; 0: none yet */
  uint32_t incompatible;   /**< how often a publisher was refused for its QoS */
  const char *policy;      /**< the last such policy, "reliability"; NULL: none (static storage) */
  uint64_t reordered;      /**< samples dropped because a later one of the same writer came first */
  uint64_t invalid;        /**< samples dropped because they hold no valid time */
  uint64_t refused;        /**< samples dropped because another publisher holds the clock */
  uint64_t faults;         /**< how often two publishers began to tick at a time */
} tb_ros2_clock_source_status_t;

/** One publisher of the topic, as the source knows it. */
typedef struct tb_ros2_clock_writer {
  uint8_t guid[16];       /**< DDS GUID, network order */
  uint64_t samples;       /**< taken from it */
  int64_t last_steady_ns; /**< when the last one came */
  uint64_t reserved[2];   /**< 0 */
} tb_ros2_clock_writer_t;

TB_BEGIN_DECLS

/** Give the source to clocks with tb_clock_create or tb_clock_set_source: it subscribes when the
 * first clock comes to it and unsubscribes when the last has left. Plain ticks move the clocks on
 * the receive thread of DDS; jump callbacks, and the waking of due waiters, run on one thread of
 * the source. Destroy it with tb_source_destroy, before its context. Moving a clock to it returns
 * TB_ERR_TRANSPORT when DDS refuses; the reason goes to the log hook.
 *
 *   TB_ERR_INVALID    the topic's name, a QoS policy or the limit is not valid: see the text
 *   TB_ERR_NO_MEMORY
 *   TB_ERR_SYSTEM     with `own_loop`: no descriptors
 *
 * [any thread] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_ros2_clock_source_create(
    tb_ros2_context_t *context, const tb_ros2_clock_source_options_t *options, tb_source_t **out,
    tb_error_t *error);

/** TB_ERR_INVALID: not a source made by tb_ros2_clock_source_create.
 * [any thread] [from callbacks] */
TB_INLINE tb_status_t tb_ros2_clock_source_status(tb_source_t *source,
                                                  tb_ros2_clock_source_status_t *out);

/** Fills up to `size` publishers from which ticks have come, those that ticked last first;
 * *out_count gets how many are remembered (writers_max). TB_ERR_INVALID as above. [any thread]
 * [from callbacks] */
TB_API tb_status_t tb_ros2_clock_source_writers(tb_source_t *source, uint32_t size,
                                                tb_ros2_clock_writer_t *writers,
                                                uint32_t *out_count);

/** Of a source with `own_loop`: readable while tb_ros2_clock_source_run has something to do. It
 * belongs to the source and is the same for as long as that lives. -1 for any other source. [any
 * thread] [from callbacks] */
TB_API int tb_ros2_clock_source_fd(const tb_source_t *source);

/** Dispatches what has come: moves the clocks by the jumps that wait, a first tick among them,
 * calls their handlers on this thread, and wakes the waiters that are due. Until then every reader
 * gets the old time in the old epoch, also where there are no handlers; steps forward that no
 * handler asked for are seen at once, as with a thread, unless a jump waits before them. Does not
 * wait for messages. Threads that wait on such a clock are woken by this call alone, so a program
 * needs another thread for them; timers are run in the same loop, after it. *out_ticks (may be
 * NULL): how many ticks were taken from the queue. Without clocks on the source it does nothing.
 *
 *   TB_ERR_INVALID    not a source with `own_loop`
 *   TB_ERR_BUSY       another thread is in this call
 *   TB_ERR_DEADLOCK   in a jump callback or the log hook
 *   TB_ERR_FORKED
 *
 * [one thread at a time] [blocks: while jumps of the timeline by others are in progress] */
TB_API tb_status_t tb_ros2_clock_source_run(tb_source_t *source, uint32_t *out_ticks);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_ros2_clock_source_create_sized(tb_ros2_context_t *context,
                                                     const tb_ros2_clock_source_options_t *options,
                                                     size_t options_size, tb_source_t **out,
                                                     tb_error_t *error);
TB_INLINE tb_status_t tb_ros2_clock_source_create(tb_ros2_context_t *context,
                                                  const tb_ros2_clock_source_options_t *options,
                                                  tb_source_t **out, tb_error_t *error)
{
  return tb_ros2_clock_source_create_sized(context, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_ros2_clock_source_status_sized(tb_source_t *source,
                                                     tb_ros2_clock_source_status_t *out,
                                                     size_t out_size);
TB_INLINE tb_status_t tb_ros2_clock_source_status(tb_source_t *source,
                                                  tb_ros2_clock_source_status_t *out)
{
  return tb_ros2_clock_source_status_sized(source, out, sizeof *out);
}

TB_END_DECLS

#endif

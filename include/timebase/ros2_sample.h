/* A message as it came from a ROS 2 graph: serialized, with what DDS reports about it. */
#ifndef TIMEBASE_ROS2_SAMPLE_H
#define TIMEBASE_ROS2_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/export.h>

/** A received message. */
typedef struct tb_ros2_sample {
  /** The serialized message (CDR): encapsulation (4 bytes), the body, and zeros up to a multiple of
   * four bytes. The second byte is 1 for little endian and 0 for big endian. No alignment is
   * promised. */
  const void *cdr;
  size_t size;                 /**< of all that, at least 4 */
  int64_t source_timestamp_ns; /**< the writer's system time at publishing, since 1970 */
  /** System time at which DDS had the whole message from the network, before it was handed on; from
   * a publisher in the same process: at publishing. */
  int64_t receive_timestamp_ns;
  /** The publisher's number of the message, rising by one: a gap is what was lost on the way, or
   * was never meant for this subscription. 0: unknown, as within a process. */
  uint64_t sequence;
  uint8_t writer_guid[16];   /**< DDS GUID in network order; zeros if the writer is gone already */
  void *owner;               /**< internal */
  int64_t receive_steady_ns; /**< steady time of the same moment as `receive_timestamp_ns` */
} tb_ros2_sample_t;

TB_BEGIN_DECLS

/** Releases what tb_ros2_subscription_take filled in. Accepts NULL and a sample that is released or
 * zero. Not for samples of a callback, which end with the callback. [any thread] Also after the
 * subscription was destroyed, but before its context is. */
TB_API void tb_ros2_sample_release(tb_ros2_sample_t *sample);

TB_END_DECLS

#endif

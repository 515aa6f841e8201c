/* rosgraph_msgs/Clock as ROS 1 serialises it, also called roslib/Clock: uint32 seconds, uint32
 * nanoseconds, little endian. */
#ifndef TB_ROS1_CLOCK_MESSAGE_H
#define TB_ROS1_CLOCK_MESSAGE_H

#include <timebase/status.h>

#include "ros1/tcpros_header.h"

#define TB__ROS1_CLOCK_TYPE   "rosgraph_msgs/Clock"
#define TB__ROS1_CLOCK_FORMER "roslib/Clock"
#define TB__ROS1_CLOCK_MD5SUM "a9c97c1d230cfc112e270351a944ee47"
#define TB__ROS1_CLOCK_SIZE   8

/* TB_ERR_CORRUPT: another size; TB_ERR_RANGE: a second or more of nanoseconds, which roscpp and
 * rospy read as different times. */
static inline tb_status_t tb__ros1_clock_decode(const uint8_t *bytes, size_t size, int64_t *out_ns)
{
  if (size != TB__ROS1_CLOCK_SIZE) return TB_ERR_CORRUPT;
  uint32_t nanoseconds = tb__tcpros_read_u32(bytes + 4);
  if (nanoseconds >= UINT32_C(1000000000)) return TB_ERR_RANGE;
  *out_ns = (int64_t)tb__tcpros_read_u32(bytes) * INT64_C(1000000000) + nanoseconds;
  return TB_OK;
}

/* TB_ERR_NOT_SET: 0. TB_ERR_RANGE: negative, or more seconds than fit. */
static inline tb_status_t tb__ros1_clock_encode(int64_t time_ns, uint8_t out[TB__ROS1_CLOCK_SIZE])
{
  if (time_ns == 0) return TB_ERR_NOT_SET;
  if (time_ns < 0 || time_ns / INT64_C(1000000000) > UINT32_MAX) return TB_ERR_RANGE;
  tb__tcpros_write_u32((uint32_t)(time_ns / INT64_C(1000000000)), out);
  tb__tcpros_write_u32((uint32_t)(time_ns % INT64_C(1000000000)), out + 4);
  return TB_OK;
}

#endif

/* rosgraph_msgs/msg/Clock as CDR: 4 bytes of encapsulation, int32 sec, uint32 nanosec. Pure. */
#ifndef TB_ROS2_CLOCK_MESSAGE_H
#define TB_ROS2_CLOCK_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "base/private_api.h"

#define TB__CLOCK_MESSAGE_SIZE 12
#define TB__CLOCK_TYPE         "rosgraph_msgs/msg/Clock"
#define TB__CLOCK_TOPIC        "/clock"

/* Little endian. TB_ERR_NOT_SET: 0. TB_ERR_RANGE: negative, or more seconds than int32 holds. */
TB_WARN_UNUSED tb_status_t tb__clock_message_encode(int64_t time_ns,
                                                    uint8_t out[TB__CLOCK_MESSAGE_SIZE]);

/* Either byte order; bytes after the message are ignored. 0 is a value here.
 * TB_ERR_TRUNCATED, TB_ERR_CORRUPT: not CDR. TB_ERR_INVALID: nanoseconds of a second or more.
 * TB_ERR_RANGE: negative seconds. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__clock_message_decode(const void *cdr, size_t size,
                                                                   int64_t *out_time_ns);

#endif

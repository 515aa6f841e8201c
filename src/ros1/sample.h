/* A message of a connection as programs get it. */
#ifndef TB_ROS1_SAMPLE_H
#define TB_ROS1_SAMPLE_H

#include <timebase/ros1_subscription.h>

#include "platform/time.h"
#include "ros1/publisher_link.h"

/* Valid as long as the message and the link. */
static inline tb_ros1_sample_t tb__ros1_sample_of(const tb__publisher_link_t *link,
                                                  const uint8_t *bytes, size_t size)
{
  const tb__ros1_announced_t *announced = &link->announced;
  return (tb_ros1_sample_t){
      .message = bytes,
      .size = size,
      .received_ns = tb__system_now_ns(),
      .steady_ns = tb__steady_now_ns(),
      .connection = link->id,
      .publisher = link->publisher,
      .type = {announced->type, announced->md5sum, announced->definition},
      .latched = announced->is_latched,
  };
}

#endif

/* Names of topics. */
#ifndef TB_ROS1_TOPIC_NAME_H
#define TB_ROS1_TOPIC_NAME_H

#include <stdbool.h>
#include <string.h>

#include "ros1/publisher_link.h"

/* An absolute name, as the master takes it. */
static inline bool tb__ros1_topic_is_valid(const char *topic)
{
  static const char allowed[] = "/_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t length = strlen(topic);
  return topic[0] == '/' && length >= 2 && length < TB__ROS1_NAME_SIZE &&
         strspn(topic, allowed) == length;
}

#endif

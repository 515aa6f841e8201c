#include "play_clock.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

#define TOPIC "/clock"

tb_status_t play_clock_check(const tb_ros2_node_t *node, const play_arguments_t *arguments,
                             tb_error_t *error)
{
  char followed[TB_ROS2_NAME_SIZE], published[TB_ROS2_NAME_SIZE];
  const char *own = arguments->own_clock ? arguments->own_clock : TOPIC;
  tb_status_t status = tb_ros2_node_resolve_topic_name(node, TOPIC, followed, error);
  if (!status) status = tb_ros2_node_resolve_topic_name(node, own, published, error);
  if (status || strcmp(followed, published) != 0) return status;
  return tb_error_set(error, TB_ERR_RANGE,
                      "a clock cannot be published on %s, which --use-sim-time follows: use "
                      "another name, such as --remap /clock:=/replay_clock",
                      followed);
}

void play_clock_report(const tb_bag_info_t *info)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    const char *name = info->topics[i].name;
    if (strcmp(name + (*name == '/'), &TOPIC[1]) == 0)
      text_err("timebase play: the recorded " TOPIC
               " is left out: --use-sim-time follows the one of the graph\n");
  }
}

const char *play_clock_note(const tb_clock_t *clock)
{
  tb_clock_reading_t reading;
  if (!clock || tb_clock_read(clock, &reading) != TB_OK) return NULL;
  switch (reading.state) {
  case TB_CLOCK_NO_PUBLISHER:
    return "waiting for " TOPIC ": it has no publisher";
  case TB_CLOCK_QOS_MISMATCH:
    return "waiting for " TOPIC ": its publisher's QoS does not match";
  case TB_CLOCK_WAITING:
    return "waiting for the first tick of " TOPIC;
  case TB_CLOCK_PAUSED:
    return TOPIC " is paused";
  case TB_CLOCK_STALLED:
    return "waiting for " TOPIC ": no ticks arrive";
  case TB_CLOCK_LOST:
    return "waiting for " TOPIC ": its publisher is gone";
  default:
    return NULL;
  }
}

/* The clock that a command's options name: --ros, --system, --steady and --domain. */
#ifndef TB_CLI_CLOCKS_H
#define TB_CLI_CLOCKS_H

#include <timebase/clock.h>
#include <timebase/source.h>
#include <timebase/steady_clock.h>

#include "command.h"

typedef enum clock_choice {
  CLOCK_SYSTEM,
  CLOCK_ROS, /* follows /clock, or what TIMEBASE_SOURCE names */
  CLOCK_STEADY,
} clock_choice_t;

/* A ROS clock that follows /clock, or what TIMEBASE_SOURCE names, with what it stands on. */
typedef struct ros_clock {
  void *context;     /* tb_ros2_context_t; NULL: not on a topic */
  const char *topic; /* which one */
  tb_source_t *source;
  tb_clock_t *clock;
} ros_clock_t;

/* `domain` -1: ROS_DOMAIN_ID. False: a message has been printed. */
bool ros_clock_open(const command_t *command, int domain, ros_clock_t *out);
/* The same, on the topic (NULL: /clock) whatever the environment says. */
bool topic_clock_open(const command_t *command, int domain, const char *topic, ros_clock_t *out);
void ros_clock_close(ros_clock_t *clock);

/* Says why the clock has no time: nobody publishes, or with another QoS. */
void ros_clock_explain(const command_t *command, const ros_clock_t *clock);

#endif

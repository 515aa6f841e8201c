#include "clocks.h"

#include <stdio.h>
#include <stdlib.h>

/* NULL: /clock. */
static const char *source_name(void)
{
  const char *name = getenv("TIMEBASE_SOURCE");
  return name && name[0] ? name : NULL;
}

static tb_status_t clock_on_source(ros_clock_t *ros)
{
  tb_clock_options_t options = {TB_TIME_ROS, ros->source};
  return tb_clock_create(&options, &ros->clock);
}

static bool named_clock_open(const command_t *command, const char *name, ros_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  *out = (ros_clock_t){0};
  tb_status_t status = tb_source_create_from_name(name, &error, &out->source);
  if (!status) status = clock_on_source(out);
  if (!status) return true;
  command_failed(command, status, &error);
  ros_clock_close(out);
  return false;
}

#ifdef TB_CLI_ROS2
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>

bool topic_clock_open(const command_t *command, int domain, const char *topic, ros_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_clock_source_options_t source_options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  tb_ros2_context_t *context;
  options.domain_id = domain;
  source_options.topic = topic;
  *out = (ros_clock_t){.topic = topic ? topic : "/clock"};
  tb_status_t status = tb_ros2_context_create(&options, &context, &error);
  if (!status) {
    out->context = context;
    status = tb_ros2_clock_source_create(context, &source_options, &out->source, &error);
  }
  if (!status) status = clock_on_source(out);
  if (status) {
    command_failed(command, status, &error);
    ros_clock_close(out);
  }
  return status == TB_OK;
}

void ros_clock_close(ros_clock_t *clock)
{
  tb_clock_destroy(clock->clock);
  tb_source_destroy(clock->source);
  tb_ros2_context_destroy(clock->context);
  *clock = (ros_clock_t){0};
}

void ros_clock_explain(const command_t *command, const ros_clock_t *clock)
{
  tb_ros2_clock_source_status_t status;
  if (!clock->context) {
    fprintf(stderr, "timebase %s: TIMEBASE_SOURCE=%s: no tick came; is its publisher there?\n",
            command->name, source_name());
    return;
  }
  int domain = tb_ros2_context_domain_id(clock->context);
  if (tb_ros2_clock_source_status(clock->source, &status)) return;
  if (status.incompatible)
    fprintf(stderr,
            "timebase %s: a publisher of %s in domain %d offers another %s; nothing comes\n",
            command->name, clock->topic, domain, status.policy);
  else if (status.matched)
    fprintf(stderr, "timebase %s: %s in domain %d has a publisher, but no tick came\n",
            command->name, clock->topic, domain);
  else
    fprintf(stderr,
            "timebase %s: nobody publishes %s in domain %d; is it the right ROS_DOMAIN_ID?\n",
            command->name, clock->topic, domain);
}

#else

bool topic_clock_open(const command_t *command, int domain, const char *topic, ros_clock_t *out)
{
  (void)domain;
  (void)topic;
  (void)out;
  fprintf(
      stderr,
      "timebase %s: built without ROS 2: there is no /clock to follow; TIMEBASE_SOURCE can name "
      "another source\n",
      command->name);
  return false;
}

void ros_clock_close(ros_clock_t *clock)
{
  tb_clock_destroy(clock->clock);
  tb_source_destroy(clock->source);
  *clock = (ros_clock_t){0};
}

void ros_clock_explain(const command_t *command, const ros_clock_t *clock)
{
  (void)clock;
  fprintf(stderr, "timebase %s: TIMEBASE_SOURCE=%s: no tick came; is its publisher there?\n",
          command->name, source_name());
}

#endif

bool ros_clock_open(const command_t *command, int domain, ros_clock_t *out)
{
  const char *name = source_name();
  return name ? named_clock_open(command, name, out) : topic_clock_open(command, domain, NULL, out);
}

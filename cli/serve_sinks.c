#include "serve_sinks.h"

#include <stdio.h>

#ifdef TB_CLI_ROS2
#include <timebase/ros2_clock_publisher.h>

static bool open_topic(const command_t *command, const char *topic, int domain, serve_sinks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *publisher;
  options.domain_id = domain;
  tb_status_t status = tb_ros2_context_create(&options, &context, &error);
  if (!status) {
    out->context = context;
    status = tb_ros2_clock_publisher_create(context, topic, NULL, &publisher, &error);
  }
  if (status) {
    command_failed(command, status, &error);
    return false;
  }
  out->publisher = publisher;
  out->sinks[out->count++] = tb_ros2_clock_publisher_sink(publisher);
  return true;
}

static void close_topic(serve_sinks_t *sinks)
{
  tb_ros2_clock_publisher_destroy(sinks->publisher);
  tb_ros2_context_destroy(sinks->context);
}

#else

static bool open_topic(const command_t *command, const char *topic, int domain, serve_sinks_t *out)
{
  (void)topic, (void)domain, (void)out;
  fprintf(stderr, "timebase %s: built without ROS 2: use --no-topic\n", command->name);
  return false;
}

static void close_topic(serve_sinks_t *sinks)
{
  (void)sinks;
}

#endif

static bool open_shm(const command_t *command, const char *name, serve_sinks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_shm_publisher_open(name, NULL, &error, &out->shm);
  if (status) {
    command_failed(command, status, &error);
    return false;
  }
  out->sinks[out->count++] = tb_shm_publisher_sink(out->shm);
  return true;
}

bool serve_sinks_open(const command_t *command, const char *topic, int domain, const char *shm,
                      serve_sinks_t *out)
{
  *out = (serve_sinks_t){0};
  return (!shm || open_shm(command, shm, out)) &&
         (!topic || open_topic(command, topic, domain, out));
}

void serve_sinks_close(serve_sinks_t *sinks)
{
  close_topic(sinks);
  tb_shm_publisher_close(sinks->shm);
  *sinks = (serve_sinks_t){0};
}

#include "serve_sinks.h"

#include <stdio.h>
#include <stdlib.h>

#include "text.h"

#ifdef TB_CLI_ROS2
#include <timebase/ros2_arguments.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_simulation_services.h>

int serve_sinks_remove_ros_arguments(int argc, char **argv)
{
  return tb_ros2_remove_ros_arguments(argc, argv);
}

static int open_node(const command_t *command, const serve_places_t *places, serve_sinks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  options.has_domain_id = places->domain >= 0;
  options.domain_id = places->domain >= 0 ? places->domain : 0;
  options.argc = places->argc;
  options.argv = places->argv;
  tb_status_t status = tb_ros2_context_create(&options, &context, &error);
  if (status == TB_ERR_INVALID && places->argc)
    return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->context = context;
  status = tb_ros2_node_create(context, places->node, places->name_space, NULL, &node, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->node = node;
  return EXIT_OK;
}

static int open_topic(const command_t *command, const serve_places_t *places, serve_sinks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_clock_publisher_t *publisher;
  int result = open_node(command, places, out);
  if (result) return result;
  tb_status_t status =
      tb_ros2_node_create_clock_publisher(out->node, places->topic, NULL, &publisher, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->publisher = publisher;
  status = publishers_watch_open(&out->others, out->context, out->node, places->topic, "--topic",
                                 &error);
  if (status) return command_failed(command, status, &error);
  out->sinks[out->count++] = tb_ros2_clock_publisher_sink(publisher);
  return EXIT_OK;
}

int serve_sinks_offer_services(const command_t *command, serve_sinks_t *sinks,
                               tb_clock_server_t *server, tb_duration_t step,
                               void (*on_quit)(void *user), void *user)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_simulation_services_t *services;
  tb_ros2_simulation_services_options_t options = {step, on_quit, user};
  if (!sinks->node) return EXIT_OK;
  tb_status_t status =
      tb_ros2_simulation_services_create(sinks->node, server, &options, &services, &error);
  if (status) return command_failed(command, status, &error);
  sinks->services = services;
  return EXIT_OK;
}

void serve_sinks_end_services(serve_sinks_t *sinks)
{
  tb_ros2_simulation_services_destroy(sinks->services);
  sinks->services = NULL;
}

void serve_sinks_poll_publishers(const command_t *command, serve_sinks_t *sinks)
{
  char *warning = publishers_watch_poll(&sinks->others);
  if (!warning) return;
  command_begin_warning(command);
  text_err("%s\n", warning);
  free(warning);
}

static void close_topic(serve_sinks_t *sinks)
{
  publishers_watch_close(&sinks->others);
  tb_ros2_clock_publisher_destroy(sinks->publisher);
  tb_ros2_node_destroy(sinks->node);
  tb_ros2_context_destroy(sinks->context);
}

#else

int serve_sinks_remove_ros_arguments(int argc, char **argv)
{
  (void)argv;
  return argc;
}

static int open_topic(const command_t *command, const serve_places_t *places, serve_sinks_t *out)
{
  (void)places, (void)out;
  text_err(
      "timebase %s: built without ROS 2, so nothing can be published on a topic; use --no-topic\n",
      command->name);
  return EXIT_IO;
}

int serve_sinks_offer_services(const command_t *command, serve_sinks_t *sinks,
                               tb_clock_server_t *server, tb_duration_t step,
                               void (*on_quit)(void *user), void *user)
{
  (void)command, (void)sinks, (void)server, (void)step, (void)on_quit, (void)user;
  return EXIT_OK;
}

void serve_sinks_poll_publishers(const command_t *command, serve_sinks_t *sinks)
{
  (void)command, (void)sinks;
}

void serve_sinks_end_services(serve_sinks_t *sinks)
{
  (void)sinks;
}

static void close_topic(serve_sinks_t *sinks)
{
  (void)sinks;
}

#endif

static int open_shm(const command_t *command, const char *name, serve_sinks_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_shm_publisher_open(name, NULL, &out->shm, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->sinks[out->count++] = tb_shm_publisher_sink(out->shm);
  return EXIT_OK;
}

static int open_ros1(const command_t *command, const serve_places_t *places, serve_sinks_t *out)
{
  tb_tick_sink_t sink;
  int result =
      serve_ros1_open(command, places->node, places->name_space, places->topic, &out->ros1, &sink);
  if (!result) out->sinks[out->count++] = sink;
  return result;
}

int serve_sinks_open(const command_t *command, const serve_places_t *places, serve_sinks_t *out)
{
  int result = EXIT_OK;
  *out = (serve_sinks_t){0};
  if (places->shm) result = open_shm(command, places->shm, out);
  if (!result && places->ros1) result = open_ros1(command, places, out);
  if (!result && places->ros2) result = open_topic(command, places, out);
  return result;
}

void serve_sinks_close(serve_sinks_t *sinks)
{
  serve_sinks_end_services(sinks);
  close_topic(sinks);
  serve_ros1_close(&sinks->ros1);
  tb_shm_publisher_close(sinks->shm);
  *sinks = (serve_sinks_t){0};
}

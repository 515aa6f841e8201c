#include "serve_ros1.h"

#include <stdio.h>

#include "text.h"

#ifdef TB_CLI_ROS1
#include <string.h>
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_context.h>

/* "/space/name". */
static void name_node(const char *node, const char *name_space, char *out, size_t size)
{
  const char *space = name_space ? name_space : "";
  size_t length = strlen(space);
  if (length && space[length - 1] == '/') length--;
  snprintf(out, size, "%s%.*s/%s", *space && *space != '/' ? "/" : "", (int)length, space,
           node ? node : "clock_server");
}

int serve_ros1_open(const command_t *command, const char *node, const char *name_space,
                    const char *topic, serve_ros1_t *out, tb_tick_sink_t *out_sink)
{
  char name[512];
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_ros1_clock_publisher_options_t publishing = TB_ROS1_CLOCK_PUBLISHER_OPTIONS_INIT;
  tb_ros1_context_t *context;
  tb_ros1_clock_publisher_t *publisher;
  name_node(node, name_space, name, sizeof name);
  options.node_name = name;
  publishing.topic = topic;
  tb_status_t status = tb_ros1_context_create(&options, &context, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->context = context;
  status = tb_ros1_clock_publisher_create(context, &publishing, &publisher, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  if (status) return command_failed(command, status, &error);
  out->publisher = publisher;
  *out_sink = tb_ros1_clock_publisher_sink(publisher);
  return EXIT_OK;
}

void serve_ros1_close(serve_ros1_t *ros1)
{
  tb_ros1_clock_publisher_destroy(ros1->publisher);
  tb_ros1_context_destroy(ros1->context);
}

#else

int serve_ros1_open(const command_t *command, const char *node, const char *name_space,
                    const char *topic, serve_ros1_t *out, tb_tick_sink_t *out_sink)
{
  (void)node, (void)name_space, (void)topic, (void)out, (void)out_sink;
  text_err("timebase %s: built without ROS 1; build it with expat and libmicrohttpd\n",
           command->name);
  return EXIT_IO;
}

void serve_ros1_close(serve_ros1_t *ros1)
{
  (void)ros1;
}

#endif

/* Where timebase is built without ROS 1. */
#include "audit_ros1.h"
#include "nodes_ros1.h"
#include "param_ros1.h"
#include "ros1_clock.h"
#include "text.h"
#include "topic.h"
#include "topic_pub_ros1.h"

static int is_missing(const command_t *command)
{
  text_err("timebase %s: built without ROS 1; build it with expat and libmicrohttpd\n",
           command->name);
  return EXIT_IO;
}

int nodes_ros1_run(const command_t *command, int argc, char **argv)
{
  (void)argc, (void)argv;
  return is_missing(command);
}

int param_ros1_run(const command_t *command, int argc, char **argv)
{
  (void)argc, (void)argv;
  return is_missing(command);
}

int audit_ros1_run(const command_t *command, int argc, char **argv)
{
  (void)argc, (void)argv;
  return is_missing(command);
}

int ros1_refuse_options(const command_t *command, int domain, int64_t max_error_ns)
{
  (void)command, (void)domain, (void)max_error_ns;
  return EXIT_OK;
}

int ros1_clock_open(const command_t *command, const char *topic, clock_gauge_t *gauge,
                    ros_clock_t *out)
{
  (void)topic, (void)gauge;
  *out = (ros_clock_t){0};
  return is_missing(command);
}

int ros1_clock_judge(const command_t *command, ros_clock_t *clock, clock_gauge_t *gauge,
                     uint64_t *rules, bool is_quiet)
{
  (void)clock, (void)gauge, (void)rules, (void)is_quiet;
  return is_missing(command);
}

void ros1_clock_print_publishers(clock_gauge_t *gauge)
{
  (void)gauge;
}

static int list_none(const topic_arguments_t *arguments)
{
  return is_missing(arguments->command);
}

static int open_none(const topic_arguments_t *arguments, struct topic_queue *queue,
                     topic_feed_t **out)
{
  (void)queue, (void)out;
  return is_missing(arguments->command);
}

static void close_none(topic_feed_t *feed)
{
  (void)feed;
}

const topic_graph_t topic_ros1 = {.list = list_none, .open = open_none, .close = close_none};

size_t ros1_clock_servers(const ros_clock_t *clock)
{
  (void)clock;
  return 0;
}

bool ros1_has_master(struct tb_ros1_context *context)
{
  (void)context;
  return false;
}

int ros1_require_master(const command_t *command, struct tb_ros1_context *context)
{
  (void)context;
  return is_missing(command);
}

int ros1_gauge_open(const command_t *command, struct tb_ros1_context *context, const char *topic,
                    clock_gauge_t *out)
{
  (void)context, (void)topic, (void)out;
  return is_missing(command);
}

void ros1_gauge_close(clock_gauge_t *gauge)
{
  (void)gauge;
}

int topic_pub_ros1_open(const command_t *command, const topic_pub_arguments_t *arguments,
                        topic_pub_ros1_t *out)
{
  (void)arguments, (void)out;
  return is_missing(command);
}

int topic_pub_ros1_advertise(const command_t *command, const topic_pub_arguments_t *arguments,
                             topic_pub_ros1_t *pub)
{
  (void)arguments, (void)pub;
  return is_missing(command);
}

void topic_pub_ros1_close(topic_pub_ros1_t *pub)
{
  (void)pub;
}

uint32_t topic_pub_ros1_matched(const topic_pub_ros1_t *pub)
{
  (void)pub;
  return 0;
}

tb_status_t topic_pub_ros1_publish(const topic_pub_ros1_t *pub, const void *data, size_t size,
                                   tb_error_t *error)
{
  (void)pub, (void)data, (void)size, (void)error;
  return TB_ERR_UNSUPPORTED;
}

tb_status_t topic_pub_ros1_drain(const topic_pub_ros1_t *pub, tb_steady_clock_t *steady,
                                 tb_cancel_token_t *token)
{
  (void)pub, (void)steady, (void)token;
  return TB_ERR_UNSUPPORTED;
}

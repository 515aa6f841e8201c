#include "topic_pub_ros1.h"

#include <stdio.h>
#include <string.h>
#include <timebase/ros1_publisher.h>

#include "definition/parse.h"
#include "ros1_ticks.h"
#include "text.h"
#include "topic.h"

#define DRAIN_STEPS   100
#define DRAIN_STEP_NS (10 * TB_NS_PER_MS)

/* "std_msgs/msg/String" is "std_msgs/String" in ROS 1. */
static void type_of(const char *type, char out[TOPIC_PUB_TYPE_SIZE])
{
  const char *first = strchr(type, '/'), *last = strrchr(type, '/');
  snprintf(out, TOPIC_PUB_TYPE_SIZE, "%.*s%s", (int)(first - type), type, last);
}

static int find_definition(const command_t *command, const topic_pub_arguments_t *arguments,
                           topic_pub_ros1_t *out)
{
  char name[TOPIC_PUB_TYPE_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  type_of(arguments->type, name);
  const tb_reencoder_type_t type = {.name = name};
  tb_status_t status =
      tb_reencoder_find(&type, arguments->folders, arguments->folder_count, &out->types, &error);
  const tb_reencoder_type_t *found = status ? NULL : tb_reencoder_ros1(out->types);
  if (!status)
    status = tb__schema_parse(found->name, found->encoding, found->definition,
                              strlen(found->definition), &out->schema, &error);
  if (!status) return EXIT_OK;
  if (status == TB_ERR_NO_MEMORY) return command_failed(command, status, &error);
  text_err("timebase %s: the definition of %s is unknown: %s; source a workspace that has it "
           "(AMENT_PREFIX_PATH), or name its folder with --definitions\n",
           command->name, name, error.text);
  return EXIT_IO;
}

int topic_pub_ros1_open(const command_t *command, const topic_pub_arguments_t *arguments,
                        topic_pub_ros1_t *out)
{
  int result = ros1_join(command, &out->context);
  if (!result) result = ros1_require_master(command, out->context);
  return result ? result : find_definition(command, arguments, out);
}

int topic_pub_ros1_advertise(const command_t *command, const topic_pub_arguments_t *arguments,
                             topic_pub_ros1_t *pub)
{
  char topic[TOPIC_NAME_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_publisher_options_t options = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  const tb_reencoder_type_t *found = tb_reencoder_ros1(pub->types);
  const tb_ros1_message_type_t type = {found->name, tb_reencoder_md5sum(pub->types),
                                       found->definition};
  if (strlen(arguments->topic) >= TOPIC_NAME_SIZE - 1)
    return command_usage_error(command, "the name of the topic is too long");
  topic_full_name(arguments->topic, topic);
  options.latched = arguments->qos.durability == TB_QOS_TRANSIENT_LOCAL;
  tb_status_t status =
      tb_ros1_publisher_create(pub->context, topic, &type, &options, &pub->publisher, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void topic_pub_ros1_close(topic_pub_ros1_t *pub)
{
  tb_ros1_publisher_destroy(pub->publisher);
  tb__schema_destroy(pub->schema);
  tb_reencoder_destroy(pub->types);
  ros1_leave(pub->context);
}

uint32_t topic_pub_ros1_matched(const topic_pub_ros1_t *pub)
{
  return tb_ros1_publisher_matched(pub->publisher);
}

tb_status_t topic_pub_ros1_publish(const topic_pub_ros1_t *pub, const void *data, size_t size,
                                   tb_error_t *error)
{
  return tb_ros1_publisher_publish(pub->publisher, data, size, error);
}

tb_status_t topic_pub_ros1_drain(const topic_pub_ros1_t *pub, tb_steady_clock_t *steady,
                                 tb_cancel_token_t *token)
{
  tb_wait_options_t wait = TB_WAIT_OPTIONS_INIT;
  tb_status_t status = TB_OK;
  wait.token = token;
  for (int i = 0; !status && i < DRAIN_STEPS && tb_ros1_publisher_waiting(pub->publisher); i++)
    status = tb_steady_clock_sleep_for(steady, (tb_duration_t){DRAIN_STEP_NS}, &wait);
  return status;
}

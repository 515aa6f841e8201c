#include "ros1_ticks.h"

#include <stdio.h>
#include <string.h>
#include <timebase/ros1_context.h>
#include <timebase/ros1_parameter.h>
#include <timebase/ros1_subscription.h>

#include "contract/tick_history.h"
#include "definition/message.h"
#include "text.h"

#define CLOCK_MESSAGE_MAX 64
#define TICK_SIZE         8

int ros1_join(const command_t *command, tb_ros1_context_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_ros1_context_create(NULL, out, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void ros1_leave(tb_ros1_context_t *context)
{
  tb_ros1_context_destroy(context);
}

static tb_status_t ask_master(tb_ros1_context_t *context, tb_error_t *error)
{
  tb_ros1_parameter_t value = {.type = TB_ROS1_PARAMETER_OTHER};
  tb_status_t status = tb_ros1_parameter_get(context, "/use_sim_time", TB_NO_LIMIT, &value, error);
  if (!status) tb_ros1_parameter_release(&value);
  return status == TB_ERR_NOT_FOUND ? TB_OK : status;
}

bool ros1_has_master(tb_ros1_context_t *context)
{
  return ask_master(context, NULL) == TB_OK;
}

int ros1_require_master(const command_t *command, tb_ros1_context_t *context)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = ask_master(context, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

static uint32_t word_at(const uint8_t *bytes)
{
  uint32_t word = 0;
  for (int i = 3; i >= 0; i--)
    word = word << 8 | bytes[i];
  return word;
}

static void keep_name(clock_gauge_t *gauge, const tb_ros1_sample_t *sample)
{
  for (uint32_t i = 0; i < gauge->ticks.publisher_count; i++) {
    clock_gauge_name_t *name = &gauge->names[i];
    if (gauge->ticks.publishers[i].id != sample->connection || name->id == sample->connection)
      continue;
    name->id = sample->connection;
    snprintf(name->name, sizeof name->name, "%s", sample->publisher);
  }
}

static void feed(clock_gauge_t *gauge, const tb_ros1_sample_t *sample, int64_t tick_ns)
{
  pthread_mutex_lock(&gauge->mutex);
  tb__ticks_feed(&gauge->ticks, sample->connection, tick_ns, sample->steady_ns);
  keep_name(gauge, sample);
  if (gauge->recent && tick_ns > 0)
    tb__tick_history_add(gauge->recent, tick_ns, 0, sample->steady_ns);
  pthread_mutex_unlock(&gauge->mutex);
}

void ros1_gauge_feed(const tb_ros1_sample_t *sample, void *user)
{
  clock_gauge_t *gauge = user;
  const uint8_t *bytes = sample->message;
  if (sample->size < TICK_SIZE) return;
  int64_t tick_ns = tb__time_of_fields(word_at(bytes), word_at(bytes + 4));
  feed(gauge, sample, tick_ns);
  if (gauge->also) feed(gauge->also, sample, tick_ns);
}

int ros1_gauge_open(const command_t *command, tb_ros1_context_t *context, const char *topic,
                    clock_gauge_t *out)
{
  static const tb_ros1_message_type_t type = {.name = "rosgraph_msgs/Clock",
                                              .md5sum = "a9c97c1d230cfc112e270351a944ee47",
                                              .definition = "time clock\n"};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_subscription_options_t options = {
      .callback = ros1_gauge_feed, .user = out, .message_max = CLOCK_MESSAGE_MAX};
  int result = clock_gauge_begin(command, out);
  if (result) return result;
  tb_status_t status =
      tb_ros1_subscription_create(context, topic, &type, &options, &out->ros1, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error.text);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void ros1_gauge_close(clock_gauge_t *gauge)
{
  tb_ros1_subscription_destroy(gauge->ros1);
  gauge->ros1 = NULL;
}

#include "record_ros1.h"

#ifdef TB_CLI_ROS1
#include <stdio.h>
#include <timebase/ros1_recorder.h>

tb_status_t record_ros1_open(const char *path, const char *node,
                             const tb_ros2_recorder_options_t *options, record_ros1_t *out,
                             tb_recorder_t **out_core, tb_error_t *error)
{
  char name[256];
  tb_ros1_context_t *context;
  tb_ros1_recorder_t *recorder;
  tb_ros1_context_options_t joining = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_ros1_recorder_options_t recording = TB_ROS1_RECORDER_OPTIONS_INIT;
  snprintf(name, sizeof name, "%s%s", node && *node == '/' ? "" : "/", node ? node : "");
  joining.node_name = node ? name : NULL;
  recording.recorder = options->recorder;
  recording.all = options->all;
  recording.topics = options->topics;
  recording.topic_count = options->topic_count;
  recording.regex = options->regex;
  recording.exclude_regex = options->exclude_regex;
  recording.exclude_topics = options->exclude_topics;
  recording.exclude_topic_count = options->exclude_topic_count;
  tb_status_t status = tb_ros1_context_create(&joining, &context, error);
  if (status) return status;
  out->context = context;
  status = tb_ros1_recorder_create(context, path, &recording, &recorder, error);
  if (status) return status;
  out->recorder = recorder;
  *out_core = tb_ros1_recorder_core(recorder);
  return TB_OK;
}

tb_status_t record_ros1_stop(const record_ros1_t *ros1, tb_error_t *error)
{
  return tb_ros1_recorder_stop(ros1->recorder, error);
}

void record_ros1_close(record_ros1_t *ros1)
{
  tb_ros1_recorder_destroy(ros1->recorder);
  tb_ros1_context_destroy(ros1->context);
}

#else

tb_status_t record_ros1_open(const char *path, const char *node,
                             const tb_ros2_recorder_options_t *options, record_ros1_t *out,
                             tb_recorder_t **out_core, tb_error_t *error)
{
  (void)path, (void)node, (void)options, (void)out, (void)out_core;
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "built without ROS 1; build it with expat and libmicrohttpd");
}

tb_status_t record_ros1_stop(const record_ros1_t *ros1, tb_error_t *error)
{
  (void)ros1, (void)error;
  return TB_OK;
}

void record_ros1_close(record_ros1_t *ros1)
{
  (void)ros1;
}

#endif

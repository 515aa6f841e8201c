#include "rosbag2/graph_recorder.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <stdlib.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "clock/jump_wait.h"
#include "platform/time.h"

#define GAP_MAX      1000000
#define DISCOVERY_NS TB_NS_PER_S /* what is there already is found in that time */

static tb_status_t open_parts(tb_ros2_recorder_t *recorder, const char *path,
                              const tb_ros2_recorder_options_t *options, tb_error_t *error)
{
  tb_recorder_options_t core = options->recorder;
  core.bag.on_split = tb__recorder_events_split;
  core.bag.user = recorder;
  if (core.log_time == TB_RECORDER_TIME_ROS && !core.clock)
    core.clock = tb_ros2_node_clock(recorder->node);
  recorder->on_split = options->recorder.bag.on_split;
  recorder->on_split_user = options->recorder.bag.user;
  tb_status_t status = TB_OK;
  if (options->qos_overrides_path)
    status = tb_qos_overrides_load(options->qos_overrides_path, &recorder->overrides, error);
  tb_qos_overrides_set_depth_max(recorder->overrides, options->qos_depth_max);
  if (!status && !options->no_services) status = tb__recorder_events_create(recorder, error);
  if (!status) status = tb_recorder_create(path, &core, &recorder->core, error);
  if (!status && !options->no_services)
    status = tb__recorder_services_create(recorder, core.snapshot_mode, error);
  if (!status) tb__record_node_note(recorder);
  if (!status) status = tb__record_transport_start(recorder, error);
  return status;
}

tb_status_t tb_ros2_recorder_create_sized(tb_ros2_node_t *node, const char *path,
                                          const tb_ros2_recorder_options_t *options,
                                          size_t options_size, tb_ros2_recorder_t **out,
                                          tb_error_t *error)
{
  tb_ros2_recorder_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_recorder_options_t");
  if (!node || !options || !out)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: node, options or out is NULL");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "recorder: %s", tb_status_message(TB_ERR_FORKED));
  tb_ros2_recorder_t *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return tb__no_memory_for(error, "recorder");
  tb__mutex_init(&recorder->mutex);
  recorder->node = node;
  recorder->gap_max = options->gap_max ? options->gap_max : GAP_MAX;
  const tb__topic_choices_t choices = {
      .all = options->all,
      .include_hidden = options->include_hidden,
      .clock = options->recorder.log_time == TB_RECORDER_TIME_ROS,
      .topics = options->topics,
      .topic_count = options->topic_count,
      .regex = options->regex,
      .exclude_regex = options->exclude_regex,
      .exclude_topics = options->exclude_topics,
      .exclude_topic_count = options->exclude_topic_count,
      .types = options->types,
      .type_count = options->type_count,
      .exclude_types = options->exclude_types,
      .exclude_type_count = options->exclude_type_count,
      .all_services = options->all_services,
      .services = options->services,
      .service_count = options->service_count,
      .exclude_services = options->exclude_services,
      .exclude_service_count = options->exclude_service_count,
      .all_actions = options->all_actions,
      .actions = options->actions,
      .action_count = options->action_count,
      .exclude_actions = options->exclude_actions,
      .exclude_action_count = options->exclude_action_count,
  };
  recorder->include_unpublished = options->include_unpublished;
  recorder->ignore_leaf_topics = options->ignore_leaf_topics;
  recorder->no_new_after_ns =
      options->no_discovery ? tb__steady_now_ns() + DISCOVERY_NS : INT64_MAX;
  tb_status_t status = tb__topic_filter_init(&recorder->filter, &choices, error);
  if (!status) status = open_parts(recorder, path, options, error);
  if (status) {
    tb_ros2_recorder_destroy(recorder);
    return status;
  }
  *out = recorder;
  return TB_OK;
}

tb_recorder_t *tb_ros2_recorder_core(tb_ros2_recorder_t *recorder)
{
  if (!recorder) return NULL;
  return recorder->core;
}

tb_status_t tb_ros2_recorder_stop(tb_ros2_recorder_t *recorder, tb_error_t *error)
{
  if (!recorder) return tb__null_argument(error, __func__);
  if (!tb__is_forked() && tb__thread_may_not_wait())
    return tb_error_set(error, TB_ERR_DEADLOCK, "recorder: %s", tb_status_message(TB_ERR_DEADLOCK));
  tb__record_transport_stop(recorder);
  return tb_recorder_stop(recorder->core, error);
}

void tb_ros2_recorder_destroy(tb_ros2_recorder_t *recorder)
{
  if (!recorder || (!tb__is_forked() && tb__thread_may_not_wait())) return;
  tb__record_transport_stop(recorder);
  tb_status_t stopped = TB_OK; /* nobody is left to be given it */
  if (recorder->core)
    stopped = tb_recorder_stop(recorder->core, NULL); /* it answers what it has carried out */
  (void)stopped;
  tb__recorder_services_destroy(recorder); /* they use the core */
  tb_recorder_destroy(recorder->core);
  tb_ros2_publisher_destroy(recorder->events);
  tb_qos_overrides_destroy(recorder->overrides);
  tb__topic_filter_fini(&recorder->filter);
  free(recorder->publishers);
  tb__mutex_fini(&recorder->mutex);
  free(recorder);
}

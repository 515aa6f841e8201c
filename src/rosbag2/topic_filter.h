/* Which topics are recorded. Pure. */
#ifndef TB_ROSBAG2_TOPIC_FILTER_H
#define TB_ROSBAG2_TOPIC_FILTER_H

#include <regex.h>
#include <timebase/ros2_recorder.h>

typedef struct tb__topic_filter {
  bool all;
  bool include_hidden;
  bool clock; /* /clock in any case */
  bool has_regex, has_exclude_regex;
  regex_t regex, exclude_regex;
  char **topics, **excluded; /* up to NULL */
} tb__topic_filter_t;

/* TB_ERR_INVALID: an expression, or nothing is asked for. */
tb_status_t tb__topic_filter_init(tb__topic_filter_t *filter,
                                  const tb_ros2_recorder_options_t *options, tb_error_t *error);
void tb__topic_filter_fini(tb__topic_filter_t *filter);
bool tb__topic_filter_wants(const tb__topic_filter_t *filter, const char *topic);

#endif

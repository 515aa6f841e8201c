/* Which topics are recorded. It keeps no lock: one thread at a time. */
#ifndef TB_ROSBAG2_TOPIC_FILTER_H
#define TB_ROSBAG2_TOPIC_FILTER_H

#include <timebase/ros2_recorder.h>
#include <timebase/topic_expression.h>

typedef struct tb__topic_choice {
  tb_topic_expression_t *expression; /* NULL: none */
  const char *name;                  /* of the option */
  bool has_matched;
  bool has_failed; /* and was logged */
} tb__topic_choice_t;

typedef struct tb__topic_filter {
  bool all;
  bool include_hidden;
  bool clock; /* /clock in any case */
  tb__topic_choice_t include, exclude;
  char **topics, **excluded; /* up to NULL */
} tb__topic_filter_t;

/* TB_ERR_INVALID: a bad expression, or no topic is selected. */
tb_status_t tb__topic_filter_init(tb__topic_filter_t *filter,
                                  const tb_ros2_recorder_options_t *options,
                                  tb_error_t *error) TB_WARN_UNUSED;
void tb__topic_filter_fini(tb__topic_filter_t *filter);
/* A topic for which an expression cannot be evaluated is recorded, so that nothing is lost, and
 * logged.
 */
bool tb__topic_filter_wants(tb__topic_filter_t *filter, const char *topic);
/* Logs which expressions have matched none of the topics so far; `when` ends the message. */
void tb__topic_filter_report(const tb__topic_filter_t *filter, const char *when);

#endif

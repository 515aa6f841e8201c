/* The topics that a bridge carries besides /clock: chosen by name, found as they appear. */
#ifndef TB_CLI_BRIDGE_TOPICS_H
#define TB_CLI_BRIDGE_TOPICS_H

#include <timebase/topic_expression.h>

#include "bridge_topic.h"

#define BRIDGE_TOPICS_MAX 10000 /* each direction counts, and what is not carried does */

/* Names, with "*" and "**" as in manifests. */
typedef struct bridge_names {
  const char *const *items;
  size_t count;
} bridge_names_t;

typedef struct bridge_choice {
  bool is_given; /* topics are carried at all */
  bool all;      /* those that nothing excludes */
  bridge_folders_t folders;
  bridge_names_t names, to_ros1, to_ros2, exclude;
  tb_topic_expression_t *regex, *exclude_regex; /* NULL: none */
} bridge_choice_t;

typedef struct bridge_topics {
  const command_t *command;
  const bridge_choice_t *choice;
  bridge_queue_t queue;
  bridge_topic_t *first;
  size_t count; /* of the list */
  bool has_reported_limit;
} bridge_topics_t;

/* EXIT_OK, or a message has been printed. Close it either way. */
int bridge_topics_open(const command_t *command, const bridge_choice_t *choice,
                       bridge_topics_t *out);
/* Begins to carry what is new. EXIT_OK, or a message has been printed. */
int bridge_topics_look(bridge_topics_t *topics, const bridge_view_t *view);
/* Nothing is carried any more. */
void bridge_topics_end(bridge_topics_t *topics);
void bridge_topics_close(bridge_topics_t *topics);

/* Topics and directions that are carried, and messages so far. */
size_t bridge_topics_count(const bridge_topics_t *topics, uint64_t *out_messages);
/* A line for each. */
void bridge_topics_show(const bridge_topics_t *topics, bool json);

#endif

/* `timebase topic`: messages of one topic. */
#ifndef TB_CLI_TOPIC_H
#define TB_CLI_TOPIC_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/steady_clock.h>

#include "command.h"
#include "message_style.h"

struct topic_queue;
struct tb__schema;

typedef enum topic_verb { TOPIC_LIST, TOPIC_ECHO, TOPIC_HZ, TOPIC_BW, TOPIC_DELAY } topic_verb_t;

typedef struct topic_arguments {
  const command_t *command;
  topic_verb_t verb;
  const char *word; /* the topic; NULL: none */
  message_style_t style;
  bool ros1;
  int domain;             /* -1: ROS_DOMAIN_ID */
  int count;              /* messages; 0: any number */
  tb_duration_t duration; /* 0: until a signal */
} topic_arguments_t;

typedef struct topic_feed topic_feed_t;

/* What the two kinds of graphs do; status as of commands. */
typedef struct topic_graph {
  /* Prints the topics. */
  int (*list)(const topic_arguments_t *arguments);
  /* Subscribes, and feeds the queue until it is closed. EXIT_OK, or a message has been printed;
   * close it either way. */
  int (*open)(const topic_arguments_t *arguments, struct topic_queue *queue, topic_feed_t **out);
  void (*close)(topic_feed_t *feed);
  /* To be called each 50 ms; NULL: nothing is to be done. EXIT_OK, or a message has been printed.
   */
  int (*step)(topic_feed_t *feed);
  /* Prints why no message came, unless it was printed, or more time may bring one: before the end.
   */
  void (*explain)(topic_feed_t *feed, bool is_last);
  /* How far a stamp may be ahead: a tick of /clock, or 5 ms. */
  int64_t (*tolerance)(topic_feed_t *feed);
  /* The definition that a message fits, where it does not come with the message; NULL: unknown. */
  const struct tb__known_definition *(*definition)(topic_feed_t *feed, const void *data,
                                                   size_t size);
} topic_graph_t;

extern const topic_graph_t topic_ros1, topic_ros2;

/* "/name". */
#define TOPIC_NAME_SIZE 512
void topic_full_name(const char *word, char out[TOPIC_NAME_SIZE]);

#endif

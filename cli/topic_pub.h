/* `timebase topic pub`: its arguments. */
#ifndef TB_CLI_TOPIC_PUB_H
#define TB_CLI_TOPIC_PUB_H

#include <timebase/qos.h>

#include "command.h"

enum { TOPIC_PUB_FOLDERS_MAX = 16, TOPIC_PUB_TYPE_SIZE = 256 };

typedef struct topic_pub_arguments {
  const char *topic, *values, *node;
  const char *file; /* of messages in YAML, with --- between them; NULL: none */
  bool from_stdin;  /* the values are standard input */
  bool ros1;
  char type[TOPIC_PUB_TYPE_SIZE]; /* "package/msg/Name" */
  double hz;
  int times;                          /* messages; 0: any number */
  int print;                          /* each such message; 0: none */
  int wait_matching;                  /* subscriptions */
  tb_duration_t wait_max, keep_alive; /* 0: no limit, not at all */
  bool use_sim_time;
  int domain; /* -1: ROS_DOMAIN_ID */
  tb_qos_t qos;
  const char *folders[TOPIC_PUB_FOLDERS_MAX];
  size_t folder_count;
} topic_pub_arguments_t;

/* An exit status; a message was printed unless it is EXIT_OK. */
int topic_pub_parse(const command_t *command, int argc, char **argv, topic_pub_arguments_t *out,
                    bool *out_help);

extern const command_t command_topic_pub;
extern const char topic_pub_usage[], topic_pub_help[];

#endif

/* Known sentences on /rosout. */
#ifndef TB_CLI_AUDIT_LOG_H
#define TB_CLI_AUDIT_LOG_H

#include <pthread.h>
#include <timebase/message_definition.h>
#include <timebase/ros2_subscription.h>

#include "contract/log_sentence.h"

struct audit;

#define AUDIT_LOG_MAX       256 /* of a node and a sentence each */
#define AUDIT_LOG_TEXT_SIZE 256

typedef struct audit_log_entry {
  uint8_t writer[16];
  const tb__log_sentence_t *sentence;
  uint64_t count;
  char logger[AUDIT_LOG_TEXT_SIZE]; /* its name, as the message has it */
  char text[AUDIT_LOG_TEXT_SIZE];   /* of the first */
} audit_log_entry_t;

typedef struct audit_log {
  tb_ros2_subscription_t *subscription;
  tb_message_definition_t *definition;
  tb_message_field_t *name, *message;
  bool is_open;
  pthread_mutex_t mutex;
  audit_log_entry_t list[AUDIT_LOG_MAX];
  size_t count;
} audit_log_t;

/* Zeroes it and subscribes. EXIT_OK, or a message has been printed. Close it either way. */
int audit_log_open(struct audit *audit);
void audit_log_close(audit_log_t *log);
void audit_log_restart(audit_log_t *log);

/* Findings: nodes that log such sentences, below what explains them. */
void audit_log_find(struct audit *audit);

#endif
